//! Columns that were constant when the feature space was estimated become features once they vary.
//!
//! Problem: a sensor is connected, or a fixed price starts to vary, long after the first batch. A constant column has
//! no spread, so its scaling factor is 1, and the influence of later values would depend on their unit. Therefore the
//! factor is estimated from the first batch in which the column varies, from the nonzero differences from the constant.
//! The shift, which is the constant, stays.
//!
//! Invariant: stored rows hold 0 in such a column, up to rounding, and 0 stays 0, so kernel values of stored rows do
//! not change, as with a new column (`new_columns.rs`).

use super::feature_space::FeatureSpace;
use super::outliers::TypicalRange;
use crate::data::{Matrix, MatrixView, Row};
use crate::error::Result;
use crate::model::Scaling;

/// Differences from the constant below this share of it are rounding errors.
const ROUNDING: f64 = 1e-12;

/// Minimum difference of a value from the constant, as a share of the constant.
const MIN_CHANGE: f64 = 1e-6;

/// Minimum number of rows of a batch that must differ, because a single value may be an error.
const ENOUGH: u32 = 4;

/// Columns that are constant in scaled rows, ascending; empty for a scaling that treats all columns alike.
pub(super) fn constant_columns(scaling: &Scaling, scaled: MatrixView<'_>) -> Vec<u32> {
    let Some(shift) = shift_by_column(scaling) else { return Vec::new() };
    let Scaling::Affine { factor, .. } = scaling else { return Vec::new() };
    let mut varies = vec![false; factor.len()];
    for i in 0..scaled.rows() {
        scaled.row(i).for_each(|c, v| varies[c] |= v.abs() > ROUNDING * shift(c).abs());
    }
    (0..factor.len()).filter(|&c| factor[c] == 1.0 && !varies[c]).map(|c| c as u32).collect()
}

/// Shift of each column; `None` for a scaling without a factor per column.
fn shift_by_column(scaling: &Scaling) -> Option<impl Fn(usize) -> f64 + '_> {
    match scaling {
        Scaling::Affine { name, shift, .. } if name != "range" => {
            Some(|c: usize| shift.get(c).copied().unwrap_or(0.0))
        }
        _ => None,
    }
}

impl FeatureSpace {
    /// Feature space in which the columns that were constant and vary in `x` (rows before scaling) are scaled by these
    /// rows; `None` if there are no such columns.
    pub(super) fn with_varying(&self, x: &Matrix) -> Result<Option<Self>> {
        let Some(shift) = shift_by_column(&self.scaling).filter(|_| !self.constant.is_empty()) else {
            return Ok(None);
        };
        let differing = self.count_differing(x.view(), shift);
        let columns: Vec<u32> =
            self.constant.iter().copied().filter(|&c| differing[c as usize] >= ENOUGH).collect();
        if columns.is_empty() {
            return Ok(None);
        }
        let scaled = self.scaling.apply_to_any_values(x.clone())?;
        let mut space = self.clone();
        space.constant.retain(|c| columns.binary_search(c).is_err());
        if let Scaling::Affine { name, shift, factor } = &mut space.scaling {
            let sizes = ColumnSizes::above(scaled.view(), &columns, |c| {
                ROUNDING * shift.get(columns[c] as usize).map_or(0.0, |s| s.abs())
            });
            for (at, &c) in columns.iter().enumerate() {
                factor[c as usize] = sizes.factor(at, name);
            }
        }
        Ok(Some(space))
    }

    /// Number of rows that differ from the constant of each column, by column number.
    fn count_differing(&self, x: MatrixView<'_>, shift: impl Fn(usize) -> f64) -> Vec<u32> {
        let mut count = vec![0; self.cols()];
        let mut add = |c: usize, v: f64| {
            let constant = shift(c);
            count[c] += u32::from((v - constant).abs() > MIN_CHANGE * constant.abs());
        };
        for i in 0..x.rows() {
            match x.row(i) {
                Row::Dense(values) => self.constant.iter().for_each(|&c| add(c as usize, values[c as usize])),
                Row::Sparse(columns, values) => {
                    columns.iter().zip(values).for_each(|(&c, &v)| add(c as usize, v));
                }
            }
        }
        count
    }

    /// Columns that are constant in this space and not in a later one.
    pub(super) fn no_longer_constant(&self, later: &Self) -> Vec<u32> {
        self.constant.iter().copied().filter(|c| later.constant.binary_search(c).is_err()).collect()
    }
}

/// Statistics of some columns for their scaling, from the rows that are no outliers in them.
pub(super) struct ColumnSizes {
    /// Number of nonzero values of each column.
    pub(super) count: Vec<f64>,
    largest: Vec<f64>,
    /// Sum of squares of the values of each column, each divided by the largest.
    squares: Vec<f64>,
}

impl ColumnSizes {
    /// Computes the statistics of some columns, which must be ascending.
    pub(super) fn of(x: MatrixView<'_>, columns: &[u32]) -> Self {
        Self::above(x, columns, |_| 0.0)
    }

    /// As [`ColumnSizes::of`], but values up to a threshold count as 0. `threshold` takes a position in `columns`.
    fn above(x: MatrixView<'_>, columns: &[u32], threshold: impl Fn(usize) -> f64) -> Self {
        let part = columns_of(x, columns);
        let view = part.view();
        let rows = TypicalRange::of(view).inliers(view);
        let cols = columns.len();
        let mut found = Self { count: vec![0.0; cols], largest: vec![0.0; cols], squares: vec![0.0; cols] };
        for &i in &rows {
            view.row(i).for_each(|c, v| {
                found.count[c] += f64::from(u8::from(v.abs() > threshold(c)));
                found.largest[c] = v.abs().max(found.largest[c]);
            });
        }
        for &i in &rows {
            view.row(i).for_each(|c, v| {
                if v.abs() > threshold(c) {
                    found.squares[c] += (v / found.largest[c]).powi(2);
                }
            });
        }
        found
    }

    /// Factor of the column at a position: the reciprocal of its root mean square for `standard`, else of its largest
    /// value; 1 if that is not finite.
    pub(super) fn factor(&self, c: usize, scaling: &str) -> f64 {
        let size = match scaling {
            "standard" => self.largest[c] * (self.squares[c] / self.count[c].max(1.0)).sqrt(),
            _ => self.largest[c],
        };
        if size > 0.0 && size.is_finite() && size.recip().is_finite() { size.recip() } else { 1.0 }
    }
}

/// Some columns of a matrix, ascending.
fn columns_of(x: MatrixView<'_>, columns: &[u32]) -> Matrix {
    let mut out = Matrix::empty(columns.len(), matches!(x, MatrixView::Csr { .. }));
    for i in 0..x.rows() {
        match x.row(i) {
            Row::Dense(values) => {
                let own: Vec<f64> = columns.iter().map(|&c| values[c as usize]).collect();
                out.push(Row::Dense(&own));
            }
            Row::Sparse(indices, values) => {
                let own = indices
                    .iter()
                    .zip(values)
                    .filter_map(|(c, v)| columns.binary_search(c).ok().map(|at| (at as u32, *v)));
                let (own, values): (Vec<u32>, Vec<f64>) = own.unzip();
                out.push(Row::Sparse(&own, &values));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::EngineParams;
    use crate::model::ScalingName;

    fn rows(values: impl Fn(usize) -> [f64; 3]) -> Matrix {
        Matrix::dense((0..40).flat_map(values).collect(), 40, 3).unwrap()
    }

    fn space(scale: ScalingName, x: &Matrix) -> FeatureSpace {
        let params = EngineParams { scale: Some(scale), ..EngineParams::default() };
        FeatureSpace::estimate(&params, x, x, None).unwrap().unwrap()
    }

    fn first(i: usize) -> [f64; 3] {
        [(i % 7) as f64, 0.1, 5e8]
    }

    #[test]
    fn a_column_that_starts_to_vary_is_scaled_and_stored_rows_stay() {
        let x = rows(first);
        let later = rows(|i| [(i % 7) as f64, 0.1 + 1e-3 * (i % 5) as f64, 5e8]);
        for name in [ScalingName::Standard, ScalingName::Minmax] {
            let before = space(name, &x);
            assert_eq!(before.constant, [1, 2]);
            assert!(before.with_varying(&x).unwrap().is_none());
            let after = before.with_varying(&later).unwrap().unwrap();
            assert_eq!((after.constant.as_slice(), before.no_longer_constant(&after)), (&[2][..], vec![1]));
            let column = |m: &Matrix, i: usize| {
                let mut at = 0.0;
                m.view().row(i).for_each(|c, v| {
                    if c == 1 {
                        at = v;
                    }
                });
                at
            };
            let (old, new) = (after.scale(x.clone()).unwrap(), after.scale(later.clone()).unwrap());
            assert!((0..40).all(|i| column(&old, i).abs() < 1e-9));
            let sum: f64 = (0..40).map(|i| column(&new, i).powi(2)).sum();
            // 8 of 40 rows equal the constant; the others have a root mean square of 1, or a maximum of 1
            let expected =
                if name == ScalingName::Standard { 32.0 } else { 8.0 * (1.0 + 4.0 + 9.0 + 16.0) / 16.0 };
            assert!((sum - expected).abs() < 1e-6, "{} {sum}", name.name());
        }
        assert!(space(ScalingName::Range, &x).constant.is_empty());
        assert!(space(ScalingName::Unit, &x).constant.is_empty());
    }

    #[test]
    fn single_values_and_rounding_errors_do_not_count_as_variation() {
        let before = space(ScalingName::Standard, &rows(first));
        let odd = rows(|i| [0.0, if i < 3 { 1e6 } else { 0.1 }, 5e8 * (1.0 + 1e-9 * i as f64)]);
        assert!(before.with_varying(&odd).unwrap().is_none());
    }

    #[test]
    fn sparse_columns_without_values_are_constant() {
        let sparse = rows(|i| [(i % 7) as f64, 0.0, 3.0]).view().to_csr();
        let before = space(ScalingName::Minmax, &sparse);
        assert_eq!(before.constant, [1]);
        let later = rows(|i| [0.0, 500.0 * (i % 2) as f64, 3.0]).view().to_csr();
        let after = before.with_varying(&later).unwrap().unwrap();
        let Scaling::Affine { factor, .. } = &after.scaling else { unreachable!() };
        assert_eq!(factor[1], 1.0 / 500.0);
    }
}
