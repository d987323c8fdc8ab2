//! The state file: an online learner that will go on, in the same container as a model file.
//!
//! Metadata: `format` = `evermargin-state`, `format_version` = `2`, `state` = JSON of everything that is small, `crc32` =
//! CRC-32 of the whole file with `00000000` in the place of these eight digits (version 1 has none, and is read without).
//! Tensors, for m points and k outputs: the points as in a model file; `ids` `[m]`, the number each point came with;
//! `came` `[m]`, its place on the ramp then (0 left, 1 slope, 2 right); `dead` `[m]`, 1 for points that wait to be
//! forgotten; `alpha`, `lo`, `hi`, `target`, `gradient` `[k, m]` of the dual problems; `center` `[d]`, what is taken
//! from each column in kernel values; the scaling as in a model file. Every number comes back bit by bit, so that
//! learning goes on as if it had never been interrupted. The same state always gives the same bytes.

use crate::artifacts::model::{self, foreign};
use crate::artifacts::tensor_parts::{self, Restored, ScalingHead, rows};
use crate::artifacts::tensors::{Bundle, Loaded, UNSEALED, check_seal, seal};
use crate::artifacts::validate::{check_classes, check_columns, check_scaling};
use crate::decompress::display_name;
use crate::error::{Error, Result, shown};
use crate::limits::{Limits, over};
use crate::output::write_atomic;
use evermargin::data::Matrix;
use evermargin::estimators::online::lasvm::{Counts, LasvmParams, Ramp, Saved};
use evermargin::estimators::online::partial_fit::OnlineCheckpoint;
use evermargin::kernel::gram::Packing;
use evermargin::model::{Column, Scheme};
use evermargin::solver::smo::Dual;
use serde::{Deserialize, Serialize};
use std::path::Path;

pub(crate) const FORMAT: &str = "evermargin-state";
const VERSION: u32 = 2;

/// The version before there were checksums, which is still read.
const UNSUMMED: u32 = 1;

/// Everything of a state but the large arrays.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    learner: String,
    params: serde_json::Value,
    classes: Vec<String>,
    class_counts: Vec<usize>,
    rows: u64,
    scheme: Scheme,
    scaling: ScalingHead,
    columns: Vec<Column>,
    machine: LasvmParams,
    packing: PackingHead,
    sparse: bool,
    counts: Counts,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackingHead {
    cols: usize,
    centered: bool,
    sparse: bool,
    double: bool,
}

const PARTS: [&str; 5] = ["alpha", "lo", "hi", "target", "gradient"];

/// Counts above this were not counted.
const MOST: u64 = 1 << 60;

/// Writes a state file; `-` is standard output. The file appears whole or not at all.
pub fn save(path: impl AsRef<Path>, checkpoint: &OnlineCheckpoint) -> Result<()> {
    write_atomic(path, &to_bytes(checkpoint)?)
}

/// Reads and checks a state file; `-` is standard input.
pub fn load(path: impl AsRef<Path>) -> Result<OnlineCheckpoint> {
    load_within(path, &Limits::default())
}

/// Reads and checks a state file within limits on its bytes and columns.
pub fn load_within(path: impl AsRef<Path>, limits: &Limits) -> Result<OnlineCheckpoint> {
    let path = path.as_ref();
    let (name, bytes) = (display_name(path), tensor_parts::read_raw(path, limits)?);
    from_bytes_within(&name, &bytes, limits)
}

/// The state in the bytes of a state file; `name` stands for the file in messages.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<OnlineCheckpoint> {
    from_bytes_within(name, bytes, &Limits::default())
}

/// The same within limits on its columns.
pub(crate) fn from_bytes_within(name: &str, bytes: &[u8], limits: &Limits) -> Result<OnlineCheckpoint> {
    restore(bytes, limits).map_err(|what| Error::content(name, what))
}

/// Whether bytes say that they are a state.
pub(crate) fn is_state(bytes: &[u8]) -> bool {
    foreign(bytes).is_none()
        && Loaded::parse(bytes, "state").is_ok_and(|tensors| tensors.metadata("format") == Some(FORMAT))
}

/// The bytes of a state file.
pub fn to_bytes(checkpoint: &OnlineCheckpoint) -> Result<Vec<u8>> {
    check(checkpoint).map_err(Error::inexpressible)?;
    let saved = &checkpoint.saved;
    let mut bundle = Bundle::default();
    let head = Head {
        learner: checkpoint.learner.clone(),
        params: checkpoint.params.clone(),
        classes: checkpoint.classes.clone(),
        class_counts: checkpoint.counts.clone(),
        rows: checkpoint.rows,
        scheme: checkpoint.scheme,
        scaling: tensor_parts::save_scaling(&checkpoint.scaling, &mut bundle),
        columns: checkpoint.columns.clone(),
        machine: saved.params.clone(),
        packing: save_packing(&saved.packing, &mut bundle),
        sparse: tensor_parts::save_points(&saved.points, "", &mut bundle),
        counts: saved.counts.clone(),
    };
    save_variables(saved, &mut bundle);
    let text = serde_json::to_string(&head).map_err(|e| Error::inexpressible(e.to_string()))?;
    // JSON has no infinities; a state that would not come back is not written.
    let back = serde_json::from_str::<Head>(&text).map_err(|e| Error::inexpressible(e.to_string()))?;
    if back.machine != head.machine || back.params != head.params {
        return Err(Error::inexpressible("the parameters of the learner cannot be written as JSON"));
    }
    let version = VERSION.to_string();
    let metadata =
        [("format", FORMAT), ("format_version", &*version), ("state", &*text), ("crc32", UNSEALED)];
    let mut bytes = bundle.into_bytes(&metadata);
    seal(&mut bytes);
    Ok(bytes)
}

/// Gives the bytes of a state file that were changed the checksum they should have: for tests of what lies behind it.
pub fn reseal(bytes: &mut [u8]) {
    seal(bytes);
}

fn save_packing(packing: &Packing, bundle: &mut Bundle) -> PackingHead {
    let centered = !packing.center.is_empty();
    if centered {
        bundle.f64("center", &[packing.center.len()], &packing.center);
    }
    PackingHead { cols: packing.cols, centered, sparse: packing.sparse, double: packing.double }
}

fn save_variables(saved: &Saved, bundle: &mut Bundle) {
    let (k, m) = (saved.outputs.len(), saved.points.rows());
    let ids: Vec<usize> = saved.ids.iter().map(|id| *id as usize).collect();
    bundle.u64("ids", &[m], &ids);
    let came: Vec<u32> = saved.came.iter().map(|r| *r as u32).collect();
    bundle.u32("came", &[m], &came);
    let dead: Vec<u32> = saved.dead.iter().map(|d| u32::from(*d)).collect();
    bundle.u32("dead", &[m], &dead);
    for name in PARTS {
        let part = |dual: &Dual| match name {
            "alpha" => dual.alpha().to_vec(),
            "lo" => (0..m).map(|i| dual.bounds(i).0).collect(),
            "hi" => (0..m).map(|i| dual.bounds(i).1).collect(),
            "target" => dual.target().to_vec(),
            _ => dual.gradient().to_vec(),
        };
        let all: Vec<f64> = saved.outputs.iter().flat_map(part).collect();
        bundle.f64(name, &[k, m], &all);
    }
}

fn restore(bytes: &[u8], limits: &Limits) -> Restored<OnlineCheckpoint> {
    if let Some(kind) = foreign(bytes) {
        return Err(format!("{kind}, not the state of an evermargin learner"));
    }
    let mut tensors = Loaded::parse(bytes, "state")?;
    let head = head(bytes, &tensors)?;
    if head.packing.cols > limits.columns() {
        return Err(over(head.packing.cols, "columns", limits.columns(), "--max-columns"));
    }
    let points = tensor_parts::load_points(head.packing.cols, head.sparse, "", &mut tensors)?;
    let scaling = tensor_parts::load_scaling(head.scaling, &mut tensors)?;
    let center = if head.packing.centered { tensors.f64("center", 1)?.1 } else { Vec::new() };
    if center.iter().any(|v| !v.is_finite()) {
        return Err("tensor center: values must be finite".into());
    }
    let PackingHead { cols, sparse, double, .. } = head.packing;
    let ids = tensors.u64("ids")?.into_iter().map(|id| id as u64).collect();
    let came = tensors.u32("came")?.into_iter().map(ramp).collect::<Restored<_>>()?;
    let dead = tensors.u32("dead")?.into_iter().map(flag).collect::<Restored<_>>()?;
    let outputs = load_outputs(&points, head.machine.loss.has_bias(), &mut tensors)?;
    tensors.refuse_unused()?;
    let packing = Packing { cols, center, sparse, double };
    let saved =
        Saved { params: head.machine, packing, points, ids, came, dead, outputs, counts: head.counts };
    let checkpoint = OnlineCheckpoint {
        learner: head.learner,
        params: head.params,
        classes: head.classes,
        scheme: head.scheme,
        scaling,
        columns: head.columns,
        counts: head.class_counts,
        rows: head.rows,
        saved,
    };
    check(&checkpoint)?;
    Ok(checkpoint)
}

fn head(bytes: &[u8], tensors: &Loaded<'_>) -> Restored<Head> {
    match tensors.metadata("format") {
        Some(FORMAT) => {}
        Some(model::FORMAT) => {
            return Err(
                "a model, which cannot go on learning; states are written by `evermargin fit --state`".into(),
            );
        }
        Some(other) => return Err(format!("a file of '{}', not of evermargin", shown(other.as_bytes()))),
        None => return Err("a safetensors file, but not the state of an evermargin learner".into()),
    }
    if tensors.version(UNSUMMED..=VERSION)? > UNSUMMED || tensors.metadata("crc32").is_some() {
        check_seal(bytes)?;
    }
    let text = tensors.metadata("state").ok_or("the description of the state is missing")?;
    serde_json::from_str(text).map_err(|e| format!("the description of the state is damaged: {e}"))
}

fn ramp(code: u32) -> Restored<Ramp> {
    match code {
        0 => Ok(Ramp::Left),
        1 => Ok(Ramp::Slope),
        2 => Ok(Ramp::Right),
        other => Err(format!("tensor came: {other} is no place on the ramp")),
    }
}

fn flag(code: u32) -> Restored<bool> {
    match code {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!("tensor dead: {other} instead of 0 or 1")),
    }
}

fn load_outputs(points: &Matrix, bias: bool, tensors: &mut Loaded<'_>) -> Restored<Vec<Dual>> {
    let mut parts: Vec<Vec<Vec<f64>>> = Vec::with_capacity(PARTS.len());
    for name in PARTS {
        let (shape, values) = tensors.f64(name, 2)?;
        if shape[1] != points.rows() {
            return Err(format!("tensor {name}: {} values for {} points", shape[1], points.rows()));
        }
        parts.push(rows(&values, shape[0], shape[1]));
    }
    let outputs = parts.first().map_or(0, Vec::len);
    if parts.iter().any(|p| p.len() != outputs) {
        return Err("the parts of the dual problems have different numbers of outputs".into());
    }
    let mut take = |part: usize, output: usize| std::mem::take(&mut parts[part][output]);
    Ok((0..outputs).map(|j| Dual::from_parts([0, 1, 2, 3, 4].map(|part| take(part, j)), bias)).collect())
}

/// Refuses a state whose parts do not fit together; the sentence says which.
fn check(checkpoint: &OnlineCheckpoint) -> Restored<()> {
    let saved = &checkpoint.saved;
    let cols = checkpoint.features();
    if cols == 0 {
        return Err("its samples have no columns".into());
    }
    check_classes(&checkpoint.classes, checkpoint.scheme, saved.outputs.len())?;
    check_scaling(&checkpoint.scaling, cols)?;
    check_columns(&checkpoint.columns, cols)?;
    let c = &saved.counts;
    let single = [c.seen, c.rejected, c.process, c.reprocess, c.over_cap, c.evaluations, c.spare];
    if single.iter().chain(&c.admitted).chain(&c.dropped).any(|n| *n > MOST) {
        return Err("its counts are not possible".into());
    }
    checkpoint.check().map_err(|e| e.to_string())
}
