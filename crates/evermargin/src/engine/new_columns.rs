//! Columns that appear later in a stream become features.
//!
//! Problem: a word, a sensor or a category occurs for the first time long after the feature space was estimated. The new
//! columns stand after the known ones, and rows that were stored before hold 0 there. Their scaling is estimated from the
//! batch in which they appear, without its outliers, and never shifts: 0 stays 0, so that stored rows, rows of the new batch
//! and later rows without a value agree about what 0 means. Columns that were constant so far are treated alike when they
//! vary (`constant_columns.rs`).
//!
//! Invariant: kernel values of stored rows do not change, because they hold 0 in every new column. Hence the classifier is kept as
//! it is. The one exception is a width of the radial kernel that was estimated from the data and that more columns change by
//! more than a factor of [`MAX_WIDTH_CHANGE`]: then the classifier is built again from the remembered labels.
//!
//! Departure from the scaling of a first batch: `standard` divides by the root mean square of the values that are not 0, and
//! `tfidf` counts the documents of the batch in which a column appears.

use super::classifier::StreamClassifier;
use super::constant_columns::{ColumnSizes, constant_columns};
use super::feature_space::FeatureSpace;
use super::params::{EngineParams, KernelChoice};
use super::state::StreamState;
use super::{Effects, Engine, MAX_COUNT};
use crate::data::{Matrix, MatrixView};
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
    /// Columns that were constant at first and vary now.
    varying: usize,
    /// The same when it was noted last.
    varying_noted: usize,
}

impl ColumnGrowth {
    /// Refuses counts that no stream has (a file may say anything).
    pub fn check(&self) -> Result<()> {
        let counts = [self.noted, self.dropped, self.dropped_noted, self.varying, self.varying_noted];
        let fits = counts.iter().all(|n| *n as u64 <= MAX_COUNT);
        if fits { Ok(()) } else { Err(Error::State("its counters of columns".into())) }
    }

    /// Notes growth once, and again each time the columns have doubled: a vocabulary may grow with every batch.
    fn note(&mut self, before: usize, now: usize, effects: &mut Effects) {
        if now > before && (self.noted == 0 || now >= 2 * self.noted) {
            self.noted = now;
            effects.notes.push(if now == before + 1 {
                format!("column {now} is new: a feature from now on, 0 in earlier rows")
            } else {
                format!("columns {} to {now} are new: features from now on, 0 in earlier rows", before + 1)
            });
        }
    }

    /// Counts columns that vary for the first time; noted like growth.
    fn count_varying(&mut self, columns: &[u32], effects: &mut Effects) {
        self.varying += columns.len();
        if !columns.is_empty() && (self.varying_noted == 0 || self.varying >= 2 * self.varying_noted) {
            self.varying_noted = self.varying;
            effects.notes.push(match columns {
                [one] => format!("column {} varies for the first time: scaled by this batch", one + 1),
                several => {
                    format!("{} columns vary for the first time: scaled by this batch", several.len())
                }
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

    /// Takes columns in that are new or vary for the first time: stored rows hold 0 there.
    pub(super) fn grow_space(
        &mut self,
        state: &mut StreamState,
        feature_space: FeatureSpace,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let (before, now) = (state.feature_space.cols(), feature_space.cols());
        let varying = state.feature_space.no_longer_constant(&feature_space);
        let same_kernel = state.feature_space.kernel == feature_space.kernel;
        if now > before {
            state.map_rows(|x| {
                let rows = std::mem::replace(x, Matrix::empty(0, false));
                *x = rows.with_cols(now);
            });
        }
        state.feature_space = feature_space;
        let packing = &state.feature_space.packing;
        let keep = |c: StreamClassifier| if now > before { c.with_packing(packing) } else { Some(c) };
        let inferred = state.inferred.take().filter(|_| same_kernel).and_then(keep);
        state.classifier = state.classifier.take().filter(|_| same_kernel).and_then(keep);
        if state.classifier.is_none() {
            self.rebuild_classifier(state, watch);
        }
        state.inferred = inferred;
        state.transduction.iter_mut().for_each(|t| t.set_kernel(state.feature_space.kernel));
        if !same_kernel {
            self.publish_rebuilt(state, effects);
        }
        self.growth.note(before, now, effects);
        self.growth.count_varying(&varying, effects);
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
    /// The space in which columns of `x`, rows before scaling, that are new or vary for the first time are scaled by
    /// them; none if there are no such columns.
    pub fn grown(&self, params: &EngineParams, x: &Matrix) -> Result<Option<Self>> {
        let wide = (x.cols() > self.cols()).then(|| self.widened(x));
        let varied = wide.as_ref().unwrap_or(self).with_varying(x)?;
        let Some(mut grown) = varied.or(wide) else { return Ok(None) };
        grown.update_width(params, x)?;
        Ok(Some(grown))
    }

    /// The space of rows with more columns, of which `x` are the first ones.
    fn widened(&self, x: &Matrix) -> Self {
        let (before, cols) = (self.cols(), x.cols());
        let mut wide = self.clone();
        wide.scaling = with_new_columns(&self.scaling, x.view(), before);
        // new columns are not shifted, so that those without a value are constant before scaling as well
        let empty = constant_columns(&wide.scaling, x.view()).into_iter().filter(|c| *c as usize >= before);
        wide.constant.extend(empty);
        wide.packing.cols = cols;
        if !wide.packing.center.is_empty() {
            wide.packing.center.resize(cols, 0.0);
        }
        wide
    }

    /// Estimates the kernel width again, and replaces it if it has changed much.
    fn update_width(&mut self, params: &EngineParams, x: &Matrix) -> Result<()> {
        let (Kernel::Rbf { gamma }, KernelChoice::Auto | KernelChoice::Rbf(Gamma::Scale)) =
            (self.kernel, params.kernel)
        else {
            return Ok(());
        };
        if x.rows() < ENOUGH_ROWS {
            return Ok(());
        }
        let scaled = self.scale(x.clone())?;
        let usable: Vec<usize> =
            (0..scaled.rows()).filter(|&i| self.is_usable(scaled.view().row(i))).collect();
        if usable.len() >= ENOUGH_ROWS {
            let new = Gamma::Scale.on(scaled.view().select(&usable).view());
            let estimated = Kernel::Rbf { gamma: new };
            let near = (MAX_WIDTH_CHANGE.recip()..=MAX_WIDTH_CHANGE).contains(&(new / gamma));
            if !near && estimated.check_of_samples().is_ok() {
                self.kernel = estimated;
            }
        }
        Ok(())
    }
}

/// A scaling for more columns than it was fitted on: the known ones are scaled as before.
fn with_new_columns(scaling: &Scaling, x: MatrixView<'_>, known: usize) -> Scaling {
    let columns: Vec<u32> = (known as u32..x.cols() as u32).collect();
    match scaling {
        Scaling::None => Scaling::None,
        Scaling::Unit => Scaling::Unit,
        Scaling::Tfidf { idf } => {
            let rows = x.rows() as f64;
            let sizes = ColumnSizes::of(x, &columns);
            let new = sizes.count.iter().map(|n| ((1.0 + rows) / (1.0 + n)).ln() + 1.0);
            Scaling::Tfidf { idf: idf.iter().copied().chain(new).collect() }
        }
        Scaling::Affine { name, shift, factor } => {
            let sizes = ColumnSizes::of(x, &columns);
            let common = factor.first().copied().unwrap_or(1.0);
            let new =
                (0..columns.len()).map(|c| if name == "range" { common } else { sizes.factor(c, name) });
            let factor: Vec<f64> = factor.iter().copied().chain(new).collect();
            let mut shift = shift.clone();
            if !shift.is_empty() {
                shift.resize(factor.len(), 0.0);
            }
            Scaling::Affine { name: name.clone(), shift, factor }
        }
    }
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
