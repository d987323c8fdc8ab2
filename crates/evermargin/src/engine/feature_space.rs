//! Feature space of a stream: scaling, kernel and packing of the rows.
//!
//! It is estimated from the first batch, without its outliers (`outliers.rs`), so that results do not depend on the
//! position of an outlier, and then kept. It is estimated again, from the stored rows and the new batch, in two cases
//! that ordinary streams do not reach: the rows it was estimated from were all equal ([`FeatureSpace::degenerate`]), or
//! most new rows lie a factor of [`GROWTH`] outside its range.
//!
//! Invariant: a stored row is finite, at most [`MAX_SCALED_LENGTH`] long after scaling, and 0 or at least
//! [`MIN_SCALED_LENGTH`] long. Kernel values of such rows stay within single precision, so no learner refuses them.

use super::constant_columns::constant_columns;
use super::outliers::TypicalRange;
use super::params::{EngineParams, KernelChoice};
use crate::data::{MAX_ABS, Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{LARGEST_VALUE, Packed, Packing};
use crate::model::{Scaling, ScalingName};
use serde::{Deserialize, Serialize};

/// Maximum Euclidean length of a row after scaling; longer rows are rejected. It keeps squared lengths, and therefore
/// kernel values, in the range of single precision.
pub const MAX_SCALED_LENGTH: f64 = 1e14;

/// Minimum length of a row other than 0. Shorter rows are set to 0, because their squared length vanishes in single
/// precision.
const MIN_SCALED_LENGTH: f64 = 1e-14;

/// Multiple of the largest value from which a row is far outside the range that the space was estimated from.
pub(super) const GROWTH: f64 = 1e6;

/// Maximum number of rows of the first batch from which the packing is chosen.
const FIRST: usize = 1000;

/// Maximum number of columns.
pub(super) const MAX_COLUMNS: usize = 1 << 24;

/// Scaling, kernel and packing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FeatureSpace {
    pub scaling: Scaling,
    pub kernel: Kernel,
    pub packing: Packing,
    pub sparse: bool,
    /// Largest absolute value, after scaling, of the rows it was estimated from.
    pub reach: f64,
    /// Whether these rows were all equal, so that their range is unknown.
    pub degenerate: bool,
    /// Columns that have been constant so far, ascending; their factors are 1.
    pub constant: Vec<u32>,
}

impl FeatureSpace {
    /// Estimates the space from finite rows without their outliers, which are determined by the range of the rows
    /// `typical`; `None` if all rows are too long. `kind` overrides the scaling of the parameters.
    pub fn estimate(
        params: &EngineParams,
        x: &Matrix,
        typical: &Matrix,
        kind: Option<ScalingName>,
    ) -> Result<Option<Self>> {
        let inliers = TypicalRange::of(typical.view()).inliers(x.view());
        if inliers.len() < x.rows()
            && let Some(found) = Self::estimate_from(params, &x.view().select(&inliers), kind)?
        {
            return Ok(Some(found));
        }
        Self::estimate_from(params, x, kind)
    }

    fn estimate_from(params: &EngineParams, x: &Matrix, kind: Option<ScalingName>) -> Result<Option<Self>> {
        if x.rows() == 0 {
            return Ok(None);
        }
        let name = kind.or(params.scale).unwrap_or_else(|| Scaling::choose(x.view()).0);
        let mut scaling = Scaling::fit(name, x.view())?;
        scaling.shrink_huge_constants(x.view());
        let mut scaled = scaling.apply_to_any_values(x.clone())?;
        clear_short_rows(&mut scaled);
        let mut max_norm2 = match params.kernel {
            KernelChoice::Fixed(kernel) => max_squared_length(&kernel)?,
            _ => MAX_SCALED_LENGTH * MAX_SCALED_LENGTH,
        };
        // A width estimated from the rows changes when rows are omitted, and the maximum length with it.
        let kernel = loop {
            let usable: Vec<usize> =
                (0..scaled.rows()).filter(|&i| scaled.view().row(i).norm2() <= max_norm2).collect();
            if usable.is_empty() {
                return Ok(None);
            }
            if usable.len() < scaled.rows() {
                scaled = scaled.view().select(&usable);
            }
            let kernel = params.kernel_for(scaled.view())?;
            max_norm2 = max_squared_length(&kernel)?;
            if (0..scaled.rows()).all(|i| scaled.view().row(i).norm2() <= max_norm2) {
                break kernel;
            }
        };
        let some: Vec<usize> = (0..scaled.rows().min(FIRST)).collect();
        let packing = Packed::new(scaled.view().select(&some).view(), kernel)?.packing();
        Ok(Some(Self {
            constant: constant_columns(&scaling, scaled.view()),
            scaling,
            kernel,
            packing,
            sparse: matches!(scaled, Matrix::Csr { .. }),
            reach: (0..scaled.rows()).map(|i| largest(scaled.view().row(i)).1).fold(0.0, f64::max),
            degenerate: are_alike(scaled.view()),
        }))
    }

    /// Number of columns of a row.
    pub fn cols(&self) -> usize {
        self.packing.cols
    }

    /// Scales finite rows; the result may contain rows that are not [usable](FeatureSpace::is_usable).
    pub fn scale(&self, x: Matrix) -> Result<Matrix> {
        let mut x = self.scaling.apply_to_any_values(x)?;
        clear_short_rows(&mut x);
        Ok(x)
    }

    /// Whether a scaled row can be stored.
    pub fn is_usable(&self, row: Row<'_>) -> bool {
        row.norm2() <= max_squared_length(&self.kernel).unwrap_or(0.0)
    }

    /// Whether a scaled row lies far outside the range of the rows from which the space was estimated.
    pub fn is_outside(&self, row: Row<'_>) -> bool {
        let (_, value) = largest(row);
        value.is_nan() || value > GROWTH * self.reach.max(1.0)
    }

    /// Scaling to keep when the space is estimated again: `unit` and `tfidf` discard the lengths of rows, so stored
    /// rows cannot be scaled differently.
    pub fn kept_kind(&self, x: MatrixView<'_>) -> Option<ScalingName> {
        let (MatrixView::Dense { values, .. } | MatrixView::Csr { values, .. }) = x;
        match self.scaling {
            Scaling::None | Scaling::Affine { .. } => None,
            Scaling::Tfidf { .. } if values.iter().all(|v| *v >= 0.0) => Some(ScalingName::Tfidf),
            Scaling::Unit | Scaling::Tfidf { .. } => Some(ScalingName::Unit),
        }
    }

    /// Inverts the scaling of rows of this space.
    pub fn unscale(&self, x: MatrixView<'_>) -> Matrix {
        let mut x = self.scaling.invert(x.to_matrix());
        let (Matrix::Dense { values, .. } | Matrix::Csr { values, .. }) = &mut x;
        values.iter_mut().for_each(|v| *v = v.clamp(-MAX_ABS, MAX_ABS));
        x
    }

    /// Moves stored rows from the space `old` to this one; rows that would be too long are shortened.
    pub fn adopt(&self, old: &Self, x: &Matrix) -> Matrix {
        let mut raw = old.unscale(x.view());
        if self.scaling.shifts() {
            raw = raw.view().to_dense();
        }
        let Ok(mut scaled) = self.scale(raw) else { return Matrix::empty(x.cols(), self.sparse) };
        let max_length = max_squared_length(&self.kernel).unwrap_or(0.0).sqrt();
        for_each_row(&mut scaled, |row| shorten(row, max_length));
        scaled
    }

    /// Returns an error if parts do not fit together (a file may hold anything).
    pub fn check(&self) -> Result<()> {
        let (cols, center) = (self.packing.cols, &self.packing.center);
        self.kernel.check_of_samples()?;
        max_squared_length(&self.kernel)?;
        self.scaling.check(cols)?;
        let fits = (1..=MAX_COLUMNS).contains(&cols)
            && (center.is_empty() || center.len() == cols)
            && center.iter().map(|v| v * v).sum::<f64>() <= (2.0 * MAX_SCALED_LENGTH).powi(2)
            && !(self.sparse && self.scaling.shifts())
            && (0.0..=MAX_SCALED_LENGTH).contains(&self.reach)
            && self.constant.is_sorted_by(|a, b| a < b)
            && self.constant.last().is_none_or(|c| (*c as usize) < cols);
        if fits { Ok(()) } else { Err(Error::State("its scaling, kernel and columns do not match".into())) }
    }

    /// Returns an error for rows that the engine could not have stored.
    pub fn check_rows(&self, x: &Matrix) -> Result<()> {
        x.recheck()?;
        // means of evicted rows may be slightly longer because of rounding
        let max_norm2 = 1.001 * max_squared_length(&self.kernel)?;
        let view = x.view();
        let fits = x.cols() == self.cols() && (0..x.rows()).all(|i| view.row(i).norm2() <= max_norm2);
        if fits { Ok(()) } else { Err(Error::State("it contains unusable rows".into())) }
    }
}

/// Maximum squared length of a row whose kernel values stay in range.
fn max_squared_length(kernel: &Kernel) -> Result<f64> {
    let all = MAX_SCALED_LENGTH * MAX_SCALED_LENGTH;
    let Kernel::Poly { gamma, coef0, degree } = *kernel else { return Ok(all) };
    let max = ((0.1 * LARGEST_VALUE).powf(1.0 / f64::from(degree)) - coef0.abs()) / gamma;
    if max > 0.0 {
        Ok(all.min(max))
    } else {
        Err(Error::parameter("coef0", coef0, "smaller for this degree"))
    }
}

/// Column and absolute value of the largest value of a row; NaN counts as the largest.
pub(super) fn largest(row: Row<'_>) -> (usize, f64) {
    let mut found = (0, 0.0);
    row.for_each(|c, v| {
        if v.is_nan() || v.abs() > found.1 {
            found = (c, v.abs());
        }
    });
    found
}

fn are_alike(x: MatrixView<'_>) -> bool {
    let values = |i: usize| {
        let mut out = Vec::new();
        x.row(i).for_each(|c, v| out.push((c, v)));
        out
    };
    let first = if x.rows() > 0 { values(0) } else { Vec::new() };
    (1..x.rows()).all(|i| values(i) == first)
}

fn for_each_row(x: &mut Matrix, change: impl Fn(&mut [f64])) {
    match x {
        Matrix::Dense { values, cols, .. } => values.chunks_exact_mut((*cols).max(1)).for_each(change),
        Matrix::Csr { indptr, values, .. } => {
            indptr.windows(2).for_each(|span| change(&mut values[span[0]..span[1]]));
        }
    }
}

fn clear_short_rows(x: &mut Matrix) {
    for_each_row(x, |row| {
        let squared: f64 = row.iter().map(|v| v * v).sum();
        if squared < MIN_SCALED_LENGTH * MIN_SCALED_LENGTH {
            row.fill(0.0);
        }
    });
}

/// Shortens a row to slightly less than `max_length`, because of rounding; NaN becomes 0.
fn shorten(row: &mut [f64], max_length: f64) {
    row.iter_mut().for_each(|v| *v = if v.is_nan() { 0.0 } else { v.clamp(-max_length, max_length) });
    let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > max_length {
        row.iter_mut().for_each(|v| *v *= 0.999 * max_length / length);
    }
}
