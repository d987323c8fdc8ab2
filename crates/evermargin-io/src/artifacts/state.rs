//! The state file: an online learner that can be trained further, in the same container as a model file.
//!
//! `description` is JSON of everything that is small, `cpu` the CPU level of the machine that wrote the file. Tensors, for m
//! points and k outputs: the points as in a model file; `ids` `[m]`, the numbers of the points; `came` `[m]`, the segment of
//! the ramp loss of each point when it arrived (0 left, 1 slope, 2 right); `dead` `[m]`, 1 for points marked for removal;
//! `alpha`, `lo`, `hi`, `target`, `gradient` `[k, m]` of the dual problems; `center` `[d]`, which is subtracted from the
//! columns in kernel values; the scaling as in a model file. All numbers keep their bits, so that resumed training is
//! bit-identical to uninterrupted training. The same state always gives the same bytes.

use crate::artifacts::container::{self, Kind, LoadOptions};
use crate::artifacts::head::Head;
use crate::artifacts::tensor_parts::{self, Restored, rows};
use crate::artifacts::tensors::{Bundle, Loaded};
use crate::artifacts::validate::{check_classes, check_input, check_scaling};
use crate::decompress::display_name;
use crate::error::{Error, Result};
use crate::limits::{Limits, over};
use crate::output::write_atomic;
use crate::remedy::Limit;
use evermargin::data::Matrix;
use evermargin::estimators::online::lasvm::{Counts, LasvmParams, Ramp, Saved};
use evermargin::kernel::gram::Packing;
use evermargin::model::LearnerInfo;
use evermargin::pipeline::checkpoint_head::CheckpointHead;
use evermargin::pipeline::partial_fit::OnlineCheckpoint;
use evermargin::solver::smo::Dual;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Body of the description of a state.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateBody {
    learner: LearnerInfo,
    class_counts: Vec<usize>,
    rows: u64,
    machine: LasvmParams,
    packing: PackingHead,
    sparse: bool,
    counts: Counts,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PackingHead {
    cols: usize,
    centered: bool,
    sparse: bool,
    double: bool,
}

/// Tensors of the dual problems.
const PARTS: [&str; 5] = ["alpha", "lo", "hi", "target", "gradient"];

/// Maximum of a count; larger ones cannot result from training.
const MAX_COUNT: u64 = 1 << 60;

/// Writes a state file atomically; `-` is standard output.
pub fn save(path: impl AsRef<Path>, checkpoint: &OnlineCheckpoint) -> Result<()> {
    write_atomic(path, &to_bytes(checkpoint)?)
}

/// Reads and checks a state file; `-` is standard input.
pub fn load(path: impl AsRef<Path>) -> Result<OnlineCheckpoint> {
    load_with(path, &LoadOptions::default())
}

/// Reads and checks a state file within limits on its bytes and columns.
pub fn load_within(path: impl AsRef<Path>, limits: &Limits) -> Result<OnlineCheckpoint> {
    load_with(path, &LoadOptions::within(limits))
}

/// Reads and checks a state file with options.
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<OnlineCheckpoint> {
    let path = path.as_ref();
    let (name, bytes) = (display_name(path), tensor_parts::read_raw(path, &options.limits)?);
    from_bytes_with(&name, &bytes, options)
}

/// Decodes the bytes of a state file; `name` is the name of the file in error messages.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<OnlineCheckpoint> {
    from_bytes_with(name, bytes, &LoadOptions::default())
}

/// Like [`from_bytes`], with options.
pub fn from_bytes_with(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<OnlineCheckpoint> {
    let wrong = |what| Error::content(name, what);
    let tensors = container::open(Kind::State, bytes).map_err(wrong)?;
    container::check_cpu(name, &tensors, options)?;
    restore(tensors, &options.limits).map_err(wrong)
}

/// Encodes the state of an online learner as a state file.
pub fn to_bytes(checkpoint: &OnlineCheckpoint) -> Result<Vec<u8>> {
    check(checkpoint).map_err(Error::inexpressible)?;
    let saved = &checkpoint.saved;
    let mut bundle = Bundle::default();
    let scaling = tensor_parts::save_scaling(&checkpoint.head.scaling, &mut bundle);
    let body = StateBody {
        learner: checkpoint.head.learner.clone(),
        class_counts: checkpoint.head.counts.clone(),
        rows: checkpoint.rows,
        machine: saved.params.clone(),
        packing: save_packing(&saved.packing, &mut bundle),
        sparse: tensor_parts::save_points(&saved.points, "", &mut bundle),
        counts: saved.counts.clone(),
    };
    save_variables(saved, &mut bundle);
    Head::new(&checkpoint.head.input, scaling, body).write(Kind::State, bundle)
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

fn restore(mut tensors: Loaded<'_>, limits: &Limits) -> Restored<OnlineCheckpoint> {
    let Head { input, scaling, body, .. }: Head<StateBody> = tensors.description()?;
    if body.packing.cols > limits.columns() {
        return Err(over(body.packing.cols, "columns", limits.columns(), Limit::Columns));
    }
    let points = tensor_parts::load_points(body.packing.cols, body.sparse, "", &mut tensors)?;
    let scaling = tensor_parts::load_scaling(scaling, &mut tensors)?;
    let center = if body.packing.centered { tensors.f64("center", 1)?.1 } else { Vec::new() };
    if center.iter().any(|v| !v.is_finite()) {
        return Err("tensor center: values must be finite".into());
    }
    let PackingHead { cols, sparse, double, .. } = body.packing;
    let ids = tensors.u64("ids")?.into_iter().map(|id| id as u64).collect();
    let came = tensors.u32("came")?.into_iter().map(ramp).collect::<Restored<_>>()?;
    let dead = tensors.u32("dead")?.into_iter().map(flag).collect::<Restored<_>>()?;
    let outputs = load_outputs(&points, body.machine.variant.has_bias(), &mut tensors)?;
    tensors.refuse_unused()?;
    let packing = Packing { cols, center, sparse, double };
    let saved =
        Saved { params: body.machine, packing, points, ids, came, dead, outputs, counts: body.counts };
    let head = CheckpointHead { learner: body.learner, scaling, input, counts: body.class_counts };
    let checkpoint = OnlineCheckpoint { head, rows: body.rows, saved };
    check(&checkpoint)?;
    Ok(checkpoint)
}

fn ramp(code: u32) -> Restored<Ramp> {
    match code {
        0 => Ok(Ramp::Left),
        1 => Ok(Ramp::Slope),
        2 => Ok(Ramp::Right),
        other => Err(format!("tensor came: {other} instead of 0, 1 or 2").into()),
    }
}

fn flag(code: u32) -> Restored<bool> {
    match code {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!("tensor dead: {other} instead of 0 or 1").into()),
    }
}

fn load_outputs(points: &Matrix, bias: bool, tensors: &mut Loaded<'_>) -> Restored<Vec<Dual>> {
    let mut parts: Vec<Vec<Vec<f64>>> = Vec::with_capacity(PARTS.len());
    for name in PARTS {
        let (shape, values) = tensors.f64(name, 2)?;
        if shape[1] != points.rows() {
            return Err(format!("tensor {name}: {} values for {} points", shape[1], points.rows()).into());
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

/// Returns an error for a state whose parts contradict each other; the message names them.
fn check(checkpoint: &OnlineCheckpoint) -> Restored<()> {
    let saved = &checkpoint.saved;
    let cols = checkpoint.features();
    if cols == 0 {
        return Err("its samples have no columns".into());
    }
    check_classes(&checkpoint.head.learner.classes, checkpoint.head.learner.scheme, saved.outputs.len())?;
    check_scaling(&checkpoint.head.scaling, cols)?;
    check_input(&checkpoint.head.input, cols)?;
    let c = &saved.counts;
    let single = [c.seen, c.rejected, c.process, c.reprocess, c.over_cap, c.evaluations, c.spare];
    if single.iter().chain(&c.admitted).chain(&c.dropped).any(|n| *n > MAX_COUNT) {
        return Err("its counts are impossible".into());
    }
    checkpoint.check().map_err(|e| e.to_string().into())
}
