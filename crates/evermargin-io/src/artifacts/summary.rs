//! The summary file: exemplars with their weights and origins, in the same container as a model file.
//!
//! `description` is JSON of everything that is small. Tensors, for m exemplars: the points as in a model file, most
//! important first; `weights` `[m]`, the number of samples that each represents; `source` `[m]`, the number of its file in
//! the list of the description; `row` `[m]`, the number of its row in that file, counted from 1; the scaling as in a model
//! file. The same summary always gives the same bytes.

use crate::artifacts::container::{self, Kind};
use crate::artifacts::head::Head;
use crate::artifacts::tensor_parts::{self, Restored};
use crate::artifacts::tensors::Bundle;
use crate::artifacts::validate::{check_input, check_scaling};
use crate::decompress::display_name;
use crate::error::{Error, Result};
use crate::limits::{Limits, over};
use crate::output::write_atomic;
use crate::remedy::Limit;
use evermargin::model::{InputSpec, Scaling};
use evermargin::summary::{ExemplarParams, Summary};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A summary with the settings that are needed to extend it.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedSummary {
    /// The exemplars, scaled, and their weights.
    pub summary: Summary,
    /// Scaling of the samples.
    pub scaling: Scaling,
    /// Mapping of files to features.
    pub input: InputSpec,
    /// Files of the exemplars.
    pub sources: Vec<String>,
    /// For each exemplar the index of its file in `sources` and the number of its row in that file, counted from 1.
    pub origin: Vec<(u32, usize)>,
}

/// Body of the description of a summary.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SummaryBody {
    params: ExemplarParams,
    cap: usize,
    seen: u64,
    cols: usize,
    sparse: bool,
    sources: Vec<String>,
}

/// Writes a summary file atomically; `-` is standard output.
pub fn save(path: impl AsRef<Path>, saved: &SavedSummary) -> Result<()> {
    write_atomic(path, &to_bytes(saved)?)
}

/// Reads and checks a summary file; `-` is standard input.
pub fn load(path: impl AsRef<Path>, limits: &Limits) -> Result<SavedSummary> {
    let path = path.as_ref();
    let (name, bytes) = (display_name(path), tensor_parts::read_raw(path, limits)?);
    restore(&bytes, limits).map_err(|what| Error::content(&name, what))
}

/// Decodes the bytes of a summary file; `name` is the name of the file in error messages.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<SavedSummary> {
    restore(bytes, &Limits::default()).map_err(|what| Error::content(name, what))
}

/// Encodes a summary as a summary file.
pub fn to_bytes(saved: &SavedSummary) -> Result<Vec<u8>> {
    check(saved).map_err(Error::inexpressible)?;
    let (summary, mut bundle) = (&saved.summary, Bundle::default());
    let scaling = tensor_parts::save_scaling(&saved.scaling, &mut bundle);
    let body = SummaryBody {
        params: summary.params().clone(),
        cap: summary.cap(),
        seen: summary.seen(),
        cols: summary.exemplars().cols(),
        sparse: tensor_parts::save_points(summary.exemplars(), "", &mut bundle),
        sources: saved.sources.clone(),
    };
    let m = saved.origin.len();
    bundle.f64("weights", &[m], summary.weights());
    bundle.u32("source", &[m], &saved.origin.iter().map(|o| o.0).collect::<Vec<_>>());
    bundle.u64("row", &[m], &saved.origin.iter().map(|o| o.1).collect::<Vec<_>>());
    Head::new(&saved.input, scaling, body).write(Kind::Summary, bundle)
}

fn restore(bytes: &[u8], limits: &Limits) -> Restored<SavedSummary> {
    let mut tensors = container::open(Kind::Summary, bytes)?;
    let Head { input, scaling, body, .. }: Head<SummaryBody> = tensors.description()?;
    if body.cols > limits.columns() {
        return Err(over(body.cols, "columns", limits.columns(), Limit::Columns));
    }
    let points = tensor_parts::load_points(body.cols, body.sparse, "", &mut tensors)?;
    let scaling = tensor_parts::load_scaling(scaling, &mut tensors)?;
    let weights = tensors.f64("weights", 1)?.1;
    let (source, row) = (tensors.u32("source")?, tensors.u64("row")?);
    tensors.refuse_unused()?;
    if source.len() != row.len() {
        return Err(format!("{} files for {} rows", source.len(), row.len()).into());
    }
    let summary =
        Summary::of(body.params, body.cap, points, weights, body.seen).map_err(|e| e.to_string())?;
    let origin = source.into_iter().zip(row).collect();
    let saved = SavedSummary { summary, scaling, input, sources: body.sources, origin };
    check(&saved)?;
    Ok(saved)
}

/// Returns an error for a summary whose parts contradict each other; the message names them.
fn check(saved: &SavedSummary) -> Restored<()> {
    let cols = saved.summary.exemplars().cols();
    if cols == 0 {
        return Err("its exemplars have no columns".into());
    }
    check_scaling(&saved.scaling, cols)?;
    check_input(&saved.input, cols)?;
    let rows = saved.summary.exemplars().rows();
    if saved.origin.len() != rows {
        return Err(format!("{} source rows are listed for {rows} exemplars", saved.origin.len()).into());
    }
    match saved.origin.iter().find(|(source, row)| *source as usize >= saved.sources.len() || *row == 0) {
        Some((source, row)) => Err(format!("row {row} of file {source} does not exist").into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermargin::data::Matrix;
    use evermargin::model::Column;

    fn saved(sparse: bool) -> SavedSummary {
        let rows = Matrix::dense(vec![1.0, 0.1, 0.0, 4.0, -2.5, 1e-9], 3, 2).unwrap();
        let rows = if sparse { rows.view().to_csr() } else { rows };
        let summary = Summary::of(ExemplarParams::default(), 5, rows, vec![2.0, 0.1 + 0.2, 4.0], 9).unwrap();
        SavedSummary {
            summary,
            scaling: Scaling::Affine {
                name: "standard".into(),
                shift: vec![0.5, 1.0],
                factor: vec![0.1, 3.0],
            },
            input: InputSpec::new(
                ["a", "b"].map(|name| Column::Number { name: name.into() }).to_vec(),
                None,
                None,
            ),
            sources: vec!["a.csv".into(), "b \"c\".csv".into()],
            origin: vec![(1, 7), (0, 1), (1, 2)],
        }
    }

    #[test]
    fn reads_back_what_was_written() {
        for sparse in [false, true] {
            let (saved, bytes) = (saved(sparse), to_bytes(&saved(sparse)).unwrap());
            assert_eq!(from_bytes("s", &bytes).unwrap(), saved);
            assert_eq!(to_bytes(&saved).unwrap(), bytes);
        }
    }

    #[test]
    fn refuses_every_damaged_byte_and_truncation() {
        let bytes = to_bytes(&saved(true)).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(from_bytes("s", &damaged).is_err(), "byte {at}");
            assert!(from_bytes("s", &bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn refuses_inconsistent_origins() {
        let mut wrong = saved(false);
        wrong.origin[0] = (2, 1);
        assert!(to_bytes(&wrong).is_err());
        let mut wrong = saved(false);
        wrong.origin.pop();
        assert!(to_bytes(&wrong).is_err());
    }
}
