//! Preparation of a batch: unusable rows and labels are rejected, the other rows are scaled. The engine is not changed.

use super::classes::{MAX_NAME_BYTES, Place};
use super::feature_space::{FeatureSpace, MAX_COLUMNS, largest};
use super::new_columns::FittedColumns;
use super::state::StreamState;
use super::{Engine, RejectReason, RejectedRow};
use crate::data::{MAX_ABS, Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// Number of rows far outside the feature space after which it is estimated again. Counted over successive batches in
/// which they are at least half of the rows.
const ENOUGH_OUTSIDE: usize = 8;

/// A batch whose rows can all be stored.
#[derive(Debug, Clone)]
pub(super) struct PreparedBatch {
    /// Scaled rows, without the rejected ones.
    pub x: Matrix,
    /// Number of rows of the batch, including rejected ones.
    pub rows: usize,
    /// Numbers of the rejected rows, ascending.
    pub skipped: Vec<u32>,
    /// Class name of each row of `x`; `None` for unlabeled rows.
    pub labels: Vec<Option<String>>,
    /// Rejected rows and labels, ordered by row.
    pub rejected: Vec<RejectedRow>,
    /// Feature space of `x`, if it is not the current one.
    pub feature_space: Option<FeatureSpace>,
    /// Current feature space extended by columns that are new or vary for the first time, if there are any.
    pub grown_space: Option<FeatureSpace>,
    /// Number of columns that were left out because they exceed the maximum.
    pub dropped_columns: usize,
    /// Number of rows far outside the feature space, over the latest batches.
    pub outside: usize,
}

/// Rows of a batch in a feature space.
struct ScaledBatch {
    /// Feature space of the rows, if it is not the current one.
    feature_space: Option<FeatureSpace>,
    /// Scaled rows; `None` if no row of the stream is usable so far.
    scaled: Option<Matrix>,
    outside: usize,
}

impl Engine {
    /// Prepares a batch. Returns an error for a batch that cannot be used as a whole.
    pub(super) fn prepare(&self, x: Matrix, mut labels: Vec<Option<String>>) -> Result<PreparedBatch> {
        self.check_batch(&x, labels.len())?;
        let FittedColumns { x, dropped: dropped_columns } = self.fit_columns(x)?;
        let rows = x.rows();
        let mut rejected: Vec<RejectedRow> = (0..rows).filter_map(|i| unusable(i, x.view().row(i))).collect();
        let mut numbers = rows_except(rows, &rejected);
        let x = if rejected.is_empty() { x } else { x.view().select(&numbers) };
        let known = self.state.as_ref().map(|b| &b.feature_space);
        let grown_space = known.map(|known| known.grown(&self.params, &x)).transpose()?.flatten();
        let ScaledBatch { feature_space, scaled, outside } =
            self.scale_batch(&x, grown_space.as_ref().or(known))?;
        let space = feature_space.as_ref().or(grown_space.as_ref()).or(known);
        let (Some(space), Some(mut scaled)) = (space, scaled) else {
            // no row of the stream is usable so far
            rejected
                .extend(numbers.iter().enumerate().map(|(i, &row)| too_large(row, x.view().row(i), None)));
            rejected.sort_by_key(|r| r.row);
            let (skipped, x) = ((0..rows as u32).collect(), Matrix::empty(x.cols(), false));
            return Ok(PreparedBatch {
                x,
                rows,
                skipped,
                labels: Vec::new(),
                rejected,
                feature_space,
                grown_space,
                dropped_columns,
                outside,
            });
        };
        let usable: Vec<usize> =
            (0..scaled.rows()).filter(|&i| space.is_usable(scaled.view().row(i))).collect();
        if usable.len() < scaled.rows() {
            for i in (0..scaled.rows()).filter(|i| usable.binary_search(i).is_err()) {
                rejected.push(too_large(numbers[i], x.view().row(i), Some(scaled.view().row(i))));
            }
            scaled = scaled.view().select(&usable);
            numbers = usable.iter().map(|&i| numbers[i]).collect();
        }
        let mut skipped: Vec<u32> = rejected.iter().map(|r| r.row as u32).collect();
        skipped.sort_unstable();
        let mut labels: Vec<Option<String>> = numbers.iter().map(|&i| labels[i].take()).collect();
        self.reject_labels(&mut labels, &numbers, &mut rejected);
        rejected.sort_by_key(|r| r.row);
        Ok(PreparedBatch {
            x: scaled,
            rows,
            skipped,
            labels,
            rejected,
            feature_space,
            grown_space,
            dropped_columns,
            outside,
        })
    }

    fn check_batch(&self, x: &Matrix, labels: usize) -> Result<()> {
        x.check_structure()?;
        let (rows, cols) = (x.rows(), x.cols());
        if rows != labels {
            return Err(Error::Shape { what: "labels", expected: rows, found: labels });
        }
        if rows > self.params.max_rows {
            let max = self.params.max_rows;
            return Err(Error::Data(format!(
                "a batch has {rows} rows, the maximum is {max}: use smaller batches"
            )));
        }
        if cols == 0 || (rows == 0 && self.state.is_none()) {
            return Err(Error::Data("the first batch has no rows or no columns".into()));
        }
        if cols > MAX_COLUMNS {
            return Err(Error::Data(format!("a batch has {cols} columns, the maximum is {MAX_COLUMNS}")));
        }
        Ok(())
    }

    /// Scales rows. Estimates a new feature space if there is none yet or if the current one does not suit them.
    fn scale_batch(&self, x: &Matrix, known: Option<&FeatureSpace>) -> Result<ScaledBatch> {
        let (Some(state), Some(known)) = (&self.state, known) else {
            let feature_space = FeatureSpace::estimate(&self.params, x, x, None)?;
            let scaled = feature_space.as_ref().map(|f| f.scale(x.clone())).transpose()?;
            return Ok(ScaledBatch { feature_space, scaled, outside: 0 });
        };
        let scaled = known.scale(x.clone())?;
        let far = (0..scaled.rows()).filter(|&i| known.is_outside(scaled.view().row(i))).count();
        let outside = match scaled.rows() {
            0 => self.outside,
            n if far > 0 && 2 * far >= n => self.outside + far,
            _ => 0,
        };
        if scaled.rows() > 0
            && (known.degenerate || outside >= ENOUGH_OUTSIDE)
            && let Some(feature_space) = self.estimate_again(state, x)
        {
            let scaled = Some(feature_space.scale(x.clone())?);
            return Ok(ScaledBatch { feature_space: Some(feature_space), scaled, outside: 0 });
        }
        Ok(ScaledBatch { feature_space: None, scaled: Some(scaled), outside: outside.min(ENOUGH_OUTSIDE) })
    }

    /// Feature space estimated from the stored rows and those of a batch; `None` if it would be no better than the
    /// current one.
    fn estimate_again(&self, state: &StreamState, x: &Matrix) -> Option<FeatureSpace> {
        let pool = state.unscaled_rows(x)?;
        let kind = state.feature_space.kept_kind(pool.view());
        let found = FeatureSpace::estimate(&self.params, &pool, x, kind).ok().flatten()?;
        let better =
            !found.degenerate && found != state.feature_space && found.sparse == state.feature_space.sparse;
        better.then_some(found)
    }

    /// Removes unusable labels and adds the reasons to `rejected`.
    fn reject_labels(
        &self,
        labels: &mut [Option<String>],
        numbers: &[usize],
        rejected: &mut Vec<RejectedRow>,
    ) {
        let mut classes = self.classes.clone();
        let mut known: HashMap<String, Option<RejectReason>> = HashMap::new();
        for (label, &row) in labels.iter_mut().zip(numbers) {
            let Some(name) = label.as_deref() else { continue };
            let reason = if let Some(reason) = known.get(name) {
                *reason
            } else {
                let reason = unusable_name(name).or_else(|| {
                    let full = classes.len() >= self.params.max_classes;
                    if classes.find(name).is_none() && full {
                        return Some(RejectReason::TooManyClasses);
                    }
                    let (Place::Existing(_) | Place::New(..)) = classes.place(name);
                    None
                });
                known.insert(name.to_string(), reason);
                reason
            };
            if let Some(reason) = reason {
                *label = None;
                rejected.push(RejectedRow { row, reason, column: None, value: None });
            }
        }
    }
}

/// Reason why no class can have this name; `None` if the name is usable.
pub(super) fn unusable_name(name: &str) -> Option<RejectReason> {
    match name {
        _ if name.trim().is_empty() => Some(RejectReason::EmptyClassName),
        _ if name.len() > MAX_NAME_BYTES => Some(RejectReason::ClassNameTooLong),
        _ => None,
    }
}

fn rows_except(rows: usize, rejected: &[RejectedRow]) -> Vec<usize> {
    (0..rows).filter(|i| rejected.binary_search_by_key(i, |r| r.row).is_err()).collect()
}

/// Rejection of a row that is unusable under any scaling; `None` if its values are usable.
fn unusable(row: usize, values: Row<'_>) -> Option<RejectedRow> {
    let (Row::Dense(all) | Row::Sparse(_, all)) = values;
    let at = all.iter().position(|v| v.is_nan() || v.abs() > MAX_ABS)?;
    let value = all[at];
    let reason = match value {
        v if v.is_nan() => RejectReason::NotANumber,
        v if v.is_infinite() => RejectReason::Infinite,
        _ => RejectReason::TooLarge,
    };
    let column = if let Row::Sparse(columns, _) = values { columns[at] as usize } else { at };
    Some(RejectedRow { row, reason, column: Some(column), value: Some(value).filter(|v| !v.is_nan()) })
}

/// Rejection of a row that is too long after scaling; it names the largest value of the row.
fn too_large(row: usize, values: Row<'_>, scaled: Option<Row<'_>>) -> RejectedRow {
    let (column, _) = largest(scaled.unwrap_or(values));
    let value = match values {
        Row::Dense(all) => all.get(column).copied(),
        Row::Sparse(columns, all) => columns.binary_search(&(column as u32)).ok().map(|at| all[at]),
    };
    RejectedRow {
        row,
        reason: RejectReason::TooLarge,
        column: Some(column),
        value: Some(value.unwrap_or(0.0)),
    }
}

/// Maximum number of cells of the stored rows and a batch together, in dense layout.
const MAX_DENSE_CELLS: usize = 1 << 28;

impl StreamState {
    /// All stored rows and those of a batch, before scaling; `None` if they have too many cells in dense layout.
    fn unscaled_rows(&self, x: &Matrix) -> Option<Matrix> {
        let mut stored = vec![self.memory.rows(), self.current.x.view(), self.pending.rows.view()];
        if let Some(t) = &self.transduction {
            stored.extend(t.rows());
        }
        let rows = stored.iter().map(MatrixView::rows).sum::<usize>() + x.rows();
        if !self.feature_space.sparse && rows.saturating_mul(x.cols()) > MAX_DENSE_CELLS {
            return None;
        }
        let raw = self.feature_space.unscale(Matrix::stacked(&stored).view()).with_cols(x.cols());
        Some(Matrix::stacked(&[raw.view(), x.view()]))
    }
}
