//! Parts that artifacts of several kinds have in common: scaling, points, rows of numbers.

use crate::artifacts::tensors::{Bundle, Loaded};
use crate::decompress::display_name;
use crate::error::{Error, Result};
use crate::limits::{Limits, too_many_bytes};
use crate::remedy::Message;
use evermargin::data::Matrix;
use evermargin::model::Scaling;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

/// Decoded value, or the message of an error.
pub(crate) type Restored<T> = std::result::Result<T, Message>;

/// A scaling without its vectors.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum ScalingHead {
    None,
    Affine { name: String, shifted: bool },
    Unit,
    Tfidf,
}

pub(crate) fn save_scaling(scaling: &Scaling, bundle: &mut Bundle) -> ScalingHead {
    match scaling {
        Scaling::None => ScalingHead::None,
        Scaling::Unit => ScalingHead::Unit,
        Scaling::Affine { name, shift, factor } => {
            if !shift.is_empty() {
                bundle.f64("scaling.shift", &[shift.len()], shift);
            }
            bundle.f64("scaling.factor", &[factor.len()], factor);
            ScalingHead::Affine { name: name.clone(), shifted: !shift.is_empty() }
        }
        Scaling::Tfidf { idf } => {
            bundle.f64("scaling.idf", &[idf.len()], idf);
            ScalingHead::Tfidf
        }
    }
}

pub(crate) fn load_scaling(head: ScalingHead, tensors: &mut Loaded<'_>) -> Restored<Scaling> {
    Ok(match head {
        ScalingHead::None => Scaling::None,
        ScalingHead::Unit => Scaling::Unit,
        ScalingHead::Affine { name, shifted } => {
            let shift = if shifted { tensors.f64("scaling.shift", 1)?.1 } else { Vec::new() };
            Scaling::Affine { name, shift, factor: tensors.f64("scaling.factor", 1)?.1 }
        }
        ScalingHead::Tfidf => Scaling::Tfidf { idf: tensors.f64("scaling.idf", 1)?.1 },
    })
}

/// Adds points under names that begin with `prefix`; returns whether they are sparse.
pub(crate) fn save_points(points: &Matrix, prefix: &str, bundle: &mut Bundle) -> bool {
    let name = |what: &str| format!("{prefix}points.{what}");
    match points {
        Matrix::Dense { values, rows, cols, .. } => {
            bundle.narrow(&name("values"), &[*rows, *cols], values);
            false
        }
        Matrix::Csr { indptr, indices, values, .. } => {
            bundle.u64(&name("indptr"), &[indptr.len()], indptr);
            bundle.u32(&name("indices"), &[indices.len()], indices);
            bundle.narrow(&name("values"), &[values.len()], values);
            true
        }
    }
}

pub(crate) fn load_points(
    cols: usize,
    sparse: bool,
    prefix: &str,
    tensors: &mut Loaded<'_>,
) -> Restored<Matrix> {
    let name = |what: &str| format!("{prefix}points.{what}");
    let points = if sparse {
        let indptr = tensors.u64(&name("indptr"))?;
        let indices = tensors.u32(&name("indices"))?;
        Matrix::csr(indptr, indices, tensors.f64(&name("values"), 1)?.1, cols)
    } else {
        let (shape, values) = tensors.f64(&name("values"), 2)?;
        if shape[1] != cols {
            return Err(format!("points have {} columns, but {cols} in the description", shape[1]).into());
        }
        Matrix::dense(values, shape[0], cols)
    };
    points.map_err(|e| format!("points: {e}").into())
}

/// Splits values into `count` rows of `width` values. The size of the file bounds `count` unless the rows are empty.
pub(crate) fn rows(values: &[f64], count: usize, width: usize) -> Vec<Vec<f64>> {
    if width == 0 {
        return vec![Vec::new(); count.min(1 << 16)];
    }
    values.chunks_exact(width).map(<[f64]>::to_vec).collect()
}

/// Reads a file of at most `limits.max_bytes`; `-` is standard input. The file is not decompressed, so that the error for a
/// compressed file can name its format.
pub(crate) fn read_raw(path: &Path, limits: &Limits) -> Result<Vec<u8>> {
    let name = display_name(path);
    let mut bytes = Vec::new();
    let mut reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::fs::File::open(path).map_err(|e| Error::read(&name, e))?)
    };
    reader
        .by_ref()
        .take(limits.max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|e| Error::read(&name, e))?;
    if bytes.len() as u64 > limits.max_bytes {
        return Err(Error::content(&name, too_many_bytes(limits.max_bytes)));
    }
    Ok(bytes)
}
