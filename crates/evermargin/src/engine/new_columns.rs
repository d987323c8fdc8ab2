//! Columns that appear later in a stream become features.
//!
//! Problem: a word, a sensor or a category occurs for the first time long after the feature space was estimated. The new
//! columns stand after the known ones, and rows that were stored before hold 0 there. Their scaling is estimated from the
//! batch in which they appear, without its outliers, and never shifts: 0 stays 0, so that stored rows, rows of the new batch
//! and later rows without a value agree about what 0 means.
//!
//! Invariant: kernel values of stored rows do not change, because they hold 0 in every new column. Hence the classifier is kept as
//! it is. The one exception is a width of the radial kernel that was estimated from the data and that more columns change by
//! more than a factor of [`MAX_WIDTH_CHANGE`]: then the classifier is built again from the remembered labels.
//!
//! Departure from the scaling of a first batch: `standard` divides by the root mean square of the values that are not 0, and
//! `tfidf` counts the documents of the batch in which a column appears.

use super::feature_space::FeatureSpace;
use super::outliers::TypicalRange;
use super::params::{EngineParams, KernelChoice};
use super::state::StreamState;
use super::{Effects, Engine, MAX_COUNT};
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::Scaling;
use crate::pipeline::options::Gamma;
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// The maximum number of columns that a sparse stream grows to, unless the parameters set one.
const MAX_SPARSE: usize = 1 << 20;

/// The same for dense rows, each of which holds every column.
const MAX_DENSE: usize = 1 << 12;

/// The factor by which an estimated kernel width must change to replace the present one.
const MAX_WIDTH_CHANGE: f64 = 2.0;

/// The minimum number of rows from which a kernel width is estimated.
const ENOUGH_ROWS: usize = 20;

/// How the columns of a stream have grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnGrowth {
    /// Columns when growth was noted last; 0 if it never was.
    noted: usize,
    /// The largest number of columns of a batch past the maximum.
    pub dropped: usize,
    /// Dropped columns when that was noted last.
    dropped_noted: usize,
}

impl ColumnGrowth {
    /// Refuses counts that no stream has (a file may say anything).
    pub fn check(&self) -> Result<()> {
        let fits = [self.noted, self.dropped, self.dropped_noted].iter().all(|n| *n as u64 <= MAX_COUNT);
        if fits { Ok(()) } else { Err(Error::State("its counters of columns".into())) }
    }

    /// Notes growth once, and again each time the columns have doubled: a vocabulary may grow with every batch.
    fn note(&mut self, before: usize, now: usize, effects: &mut Effects) {
        if self.noted == 0 || now >= 2 * self.noted {
            self.noted = now;
            effects.notes.push(if now == before + 1 {
                format!("column {now} is new: a feature from now on, 0 in earlier rows")
            } else {
                format!("columns {} to {now} are new: features from now on, 0 in earlier rows", before + 1)
            });
        }
    }

    /// Counts columns that were left out; noted like growth.
    pub fn drop_columns(&mut self, count: usize, max: usize, effects: &mut Effects) {
        self.dropped = self.dropped.max(count);
        if self.dropped > 0 && (self.dropped_noted == 0 || self.dropped >= 2 * self.dropped_noted) {
            self.dropped_noted = self.dropped;
            effects.notes.push(format!(
                "{} columns past the maximum of {max} are left out (max_features)",
                self.dropped
            ));
        }
    }
}

impl EngineParams {
    /// The maximum number of columns that a stream may grow to. A first batch may have more.
    pub fn column_cap(&self, sparse: bool) -> usize {
        self.max_features.unwrap_or(if sparse { MAX_SPARSE } else { MAX_DENSE })
    }
}

/// A batch in the columns of the stream.
#[derive(Debug)]
pub(super) struct FittedColumns {
    pub x: Matrix,
    /// Columns that were left out because there are too many.
    pub dropped: usize,
}

impl Engine {
    /// Brings a batch to the columns of the stream, or to more where new ones appear. Sparse rows leave out trailing columns;
    /// dense rows that do are refused.
    pub(super) fn fit_columns(&self, x: Matrix) -> Result<FittedColumns> {
        let Some(state) = &self.state else { return Ok(FittedColumns { x, dropped: 0 }) };
        let (known, found) = (state.feature_space.cols(), x.cols());
        if found == known {
            return Ok(FittedColumns { x, dropped: 0 });
        }
        if found < known && matches!(x, Matrix::Dense { .. }) {
            return Err(Error::Shape { what: "columns", expected: known, found });
        }
        let cap = self.params.column_cap(state.feature_space.sparse).max(known);
        let cols = found.clamp(known, cap);
        Ok(FittedColumns { x: x.with_cols(cols), dropped: found.saturating_sub(cols) })
    }

    /// Takes new columns in: stored rows hold 0 there.
    pub(super) fn add_columns(
        &mut self,
        state: &mut StreamState,
        feature_space: FeatureSpace,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let (before, now) = (state.feature_space.cols(), feature_space.cols());
        let same_kernel = state.feature_space.kernel == feature_space.kernel;
        state.map_rows(|x| {
            let rows = std::mem::replace(x, Matrix::empty(0, false));
            *x = rows.with_cols(now);
        });
        state.feature_space = feature_space;
        let kept = state.classifier.take().filter(|_| same_kernel);
        state.classifier = kept.and_then(|c| c.with_packing(&state.feature_space.packing));
        let inferred = state.inferred.take().filter(|_| same_kernel);
        if state.classifier.is_none() {
            self.rebuild_classifier(state, watch);
        }
        state.inferred = inferred.and_then(|c| c.with_packing(&state.feature_space.packing));
        state.transduction.iter_mut().for_each(|t| t.set_kernel(state.feature_space.kernel));
        if !same_kernel {
            self.publish_rebuilt(state, effects);
        }
        self.growth.note(before, now, effects);
    }

    /// A new version of a classifier that was built again.
    fn publish_rebuilt(&mut self, state: &StreamState, effects: &mut Effects) {
        if state.classifier.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }
}

impl FeatureSpace {
    /// The space of rows with more columns, of which `x` are the first ones, before scaling.
    pub fn widened(&self, params: &EngineParams, x: &Matrix) -> Result<Self> {
        let (before, cols) = (self.cols(), x.cols());
        let mut wide = self.clone();
        wide.scaling = with_new_columns(&self.scaling, x.view(), before);
        wide.packing.cols = cols;
        if !wide.packing.center.is_empty() {
            wide.packing.center.resize(cols, 0.0);
        }
        if let (Kernel::Rbf { gamma }, KernelChoice::Auto | KernelChoice::Rbf(Gamma::Scale)) =
            (self.kernel, params.kernel)
            && x.rows() >= ENOUGH_ROWS
        {
            let scaled = wide.scale(x.clone())?;
            let usable: Vec<usize> =
                (0..scaled.rows()).filter(|&i| wide.is_usable(scaled.view().row(i))).collect();
            if usable.len() >= ENOUGH_ROWS {
                let anew = Kernel::Rbf { gamma: Gamma::Scale.on(scaled.view().select(&usable).view()) };
                let ratio = if let Kernel::Rbf { gamma: new } = anew { new / gamma } else { 1.0 };
                let near = (MAX_WIDTH_CHANGE.recip()..=MAX_WIDTH_CHANGE).contains(&ratio);
                if !near && anew.check_of_samples().is_ok() {
                    wide.kernel = anew;
                }
            }
        }
        Ok(wide)
    }
}

/// A scaling for more columns than it was fitted on: the known ones are scaled as before.
fn with_new_columns(scaling: &Scaling, x: MatrixView<'_>, known: usize) -> Scaling {
    match scaling {
        Scaling::None => Scaling::None,
        Scaling::Unit => Scaling::Unit,
        Scaling::Tfidf { idf } => {
            let rows = x.rows() as f64;
            let columns = NewColumns::of(x, known);
            let new = columns.count.iter().map(|n| ((1.0 + rows) / (1.0 + n)).ln() + 1.0);
            Scaling::Tfidf { idf: idf.iter().copied().chain(new).collect() }
        }
        Scaling::Affine { name, shift, factor } => {
            let columns = NewColumns::of(x, known);
            let new = (0..columns.count.len()).map(|c| {
                let size = match name.as_str() {
                    "range" => factor.first().map_or(1.0, |f| f.recip()),
                    "standard" => columns.root_mean_square(c),
                    _ => columns.largest[c],
                };
                if size > 0.0 && size.is_finite() && size.recip().is_finite() { size.recip() } else { 1.0 }
            });
            let factor: Vec<f64> = factor.iter().copied().chain(new).collect();
            let mut shift = shift.clone();
            if !shift.is_empty() {
                shift.resize(factor.len(), 0.0);
            }
            Scaling::Affine { name: name.clone(), shift, factor }
        }
    }
}

/// What a scaling needs to know of columns that are new, from the rows that are no outliers in them.
struct NewColumns {
    /// Values that are not 0.
    count: Vec<f64>,
    largest: Vec<f64>,
    /// Sum of the squares of values divided by the largest.
    squares: Vec<f64>,
}

impl NewColumns {
    fn of(x: MatrixView<'_>, known: usize) -> Self {
        let part = columns_from(x, known);
        let view = part.view();
        let rows = TypicalRange::of(view).inliers(view);
        let cols = part.cols();
        let mut found = Self { count: vec![0.0; cols], largest: vec![0.0; cols], squares: vec![0.0; cols] };
        for &i in &rows {
            view.row(i).for_each(|c, v| {
                found.count[c] += f64::from(u8::from(v != 0.0));
                found.largest[c] = v.abs().max(found.largest[c]);
            });
        }
        for &i in &rows {
            view.row(i).for_each(|c, v| {
                if v != 0.0 {
                    found.squares[c] += (v / found.largest[c]).powi(2);
                }
            });
        }
        found
    }

    fn root_mean_square(&self, c: usize) -> f64 {
        self.largest[c] * (self.squares[c] / self.count[c].max(1.0)).sqrt()
    }
}

/// The columns of a matrix from `first` on.
fn columns_from(x: MatrixView<'_>, first: usize) -> Matrix {
    let mut out = Matrix::empty(x.cols() - first, matches!(x, MatrixView::Csr { .. }));
    for i in 0..x.rows() {
        match x.row(i) {
            Row::Dense(values) => out.push(Row::Dense(&values[first..])),
            Row::Sparse(columns, values) => {
                let at = columns.partition_point(|c| (*c as usize) < first);
                let columns: Vec<u32> = columns[at..].iter().map(|c| c - first as u32).collect();
                out.push(Row::Sparse(&columns, &values[at..]));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Scaling, with_new_columns};
    use crate::data::Matrix;
    use crate::model::ScalingName;

    fn wide(values: &[f64]) -> Matrix {
        Matrix::dense(values.to_vec(), values.len() / 3, 3).unwrap()
    }

    #[test]
    fn known_columns_are_scaled_as_before_and_zero_stays_zero() {
        let narrow = Matrix::dense(vec![1.0, 5.0, 3.0, 9.0], 2, 2).unwrap();
        let x = wide(&[1.0, 5.0, -4.0, 3.0, 9.0, 0.0, 2.0, 6.0, 2.0]);
        for name in ScalingName::ALL {
            let before = Scaling::fit(name, narrow.view()).unwrap();
            let after = with_new_columns(&before, x.view(), 2);
            after.check(3).unwrap();
            let zero = wide(&[3.0, 9.0, 0.0]);
            let (old, new) = (before.apply(narrow.clone()).unwrap(), after.apply(zero).unwrap());
            let Matrix::Dense { values: old, .. } = old.view().to_dense() else { unreachable!() };
            let Matrix::Dense { values: new, .. } = new.view().to_dense() else { unreachable!() };
            assert_eq!(new, [old[2], old[3], 0.0], "{}", name.name());
        }
    }

    #[test]
    fn new_columns_are_brought_to_the_size_of_the_known_ones() {
        let narrow = Matrix::dense(vec![1.0, 5.0, 3.0, 9.0], 2, 2).unwrap();
        let x = wide(&[1.0, 5.0, -40.0, 3.0, 9.0, 0.0, 2.0, 6.0, 30.0]);
        let factor = |name| match with_new_columns(&Scaling::fit(name, narrow.view()).unwrap(), x.view(), 2) {
            Scaling::Affine { factor, .. } => factor[2],
            Scaling::Tfidf { idf } => idf[2],
            _ => f64::NAN,
        };
        assert!((factor(ScalingName::Minmax) - 1.0 / 40.0).abs() < 1e-15);
        assert!((factor(ScalingName::Standard) - 1.0 / 1250f64.sqrt()).abs() < 1e-15);
        assert_eq!(factor(ScalingName::Range), 1.0 / 8.0);
        assert!((factor(ScalingName::Tfidf) - ((4.0f64 / 3.0).ln() + 1.0)).abs() < 1e-15);
    }
}
