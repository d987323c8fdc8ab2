//! Columns that appear later in a stream become features.
//!
//! Problem: a word, a sensor or a category occurs for the first time long after the feature space was estimated. The
//! new columns follow the known ones, and rows stored earlier hold 0 there. Their scaling is estimated from the batch
//! in which they appear, without its outliers. It has no shift, so 0 stays 0 and means the same in stored rows, in rows
//! of the new batch and in later rows without a value. Columns that were constant so far are treated in the same way
//! when they start to vary (`constant_columns.rs`).
//!
//! Invariant: kernel values of stored rows do not change, because the rows hold 0 in every new column. Therefore the
//! classifier is kept. There is one exception: if a width of the radial kernel that was estimated from the data changes
//! by more than a factor of [`MAX_WIDTH_CHANGE`], the classifier is rebuilt from the remembered labels.
//!
//! Departure from the scaling of a first batch: `standard` divides by the root mean square of the values that are not
//! 0, and `tfidf` counts the documents of the batch in which a column appears.

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

/// Maximum number of columns that a sparse stream may grow to, unless the parameters set it.
const MAX_SPARSE: usize = 1 << 20;

/// Maximum number of columns that a dense stream may grow to, unless the parameters set it: each row stores every
/// column.
const MAX_DENSE: usize = 1 << 12;

/// Factor by which an estimated kernel width must change to replace the current one.
const MAX_WIDTH_CHANGE: f64 = 2.0;

/// Minimum number of rows from which a kernel width is estimated.
const ENOUGH_ROWS: usize = 20;

/// Growth of the columns of a stream, and the notes about it so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnGrowth {
    /// Number of columns at the latest note about growth; 0 before the first one.
    noted: usize,
    /// Largest number of columns of a batch that were left out.
    pub dropped: usize,
    /// Number of dropped columns at the latest note about them.
    dropped_noted: usize,
    /// Number of columns that were constant at first and vary now.
    varying: usize,
    /// Number of such columns at the latest note about them.
    varying_noted: usize,
}

impl ColumnGrowth {
    /// Returns an error for counts that no stream has (a file may hold anything).
    pub fn check(&self) -> Result<()> {
        let counts = [self.noted, self.dropped, self.dropped_noted, self.varying, self.varying_noted];
        let fits = counts.iter().all(|n| *n as u64 <= MAX_COUNT);
        if fits { Ok(()) } else { Err(Error::State("its column counts are out of range".into())) }
    }

    /// Adds a note about growth, and another one only when the number of columns has doubled: a vocabulary may grow
    /// with every batch.
    fn note(&mut self, before: usize, now: usize, effects: &mut Effects) {
        if now > before && (self.noted == 0 || now >= 2 * self.noted) {
            self.noted = now;
            effects.notes.push(if now == before + 1 {
                format!("column {now} is new; it is a feature from now on, and earlier rows count as 0 in it")
            } else {
                format!("columns {} to {now} are new; they are features from now on, and earlier rows count as 0 in them", before + 1)
            });
        }
    }

    /// Counts columns that vary for the first time, with notes like those about growth.
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

    /// Counts columns that were left out, with notes like those about growth.
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
    /// Maximum number of columns that a stream may grow to. The first batch may have more.
    pub fn column_cap(&self, sparse: bool) -> usize {
        self.max_features.unwrap_or(if sparse { MAX_SPARSE } else { MAX_DENSE })
    }
}

/// Batch with the columns of the stream.
#[derive(Debug)]
pub(super) struct FittedColumns {
    pub x: Matrix,
    /// Number of columns that were left out because they exceed the maximum.
    pub dropped: usize,
}

impl Engine {
    /// Extends a batch to the columns of the stream, and drops columns beyond the maximum. Sparse rows may have fewer
    /// columns than the stream; for dense rows this is an error.
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

    /// Adds columns that are new or vary for the first time; stored rows hold 0 there.
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

    /// Publishes a new version of a classifier that was rebuilt.
    fn publish_rebuilt(&mut self, state: &StreamState, effects: &mut Effects) {
        if state.classifier.is_some() {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }
}

impl FeatureSpace {
    /// Feature space in which the columns of `x` (rows before scaling) that are new or vary for the first time are
    /// scaled by these rows; `None` if there are no such columns.
    pub fn grown(&self, params: &EngineParams, x: &Matrix) -> Result<Option<Self>> {
        let wide = (x.cols() > self.cols()).then(|| self.widened(x));
        let varied = wide.as_ref().unwrap_or(self).with_varying(x)?;
        let Some(mut grown) = varied.or(wide) else { return Ok(None) };
        grown.update_width(params, x)?;
        Ok(Some(grown))
    }

    /// Feature space of rows with more columns; `x` are the first such rows.
    fn widened(&self, x: &Matrix) -> Self {
        let (before, cols) = (self.cols(), x.cols());
        let mut wide = self.clone();
        wide.scaling = with_new_columns(&self.scaling, x.view(), before);
        // new columns have no shift, so columns without values are constant before scaling, too
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

/// Extends a scaling to more columns: the known ones are scaled as before.
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
    fn new_columns_are_scaled_to_the_size_of_the_known_ones() {
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
