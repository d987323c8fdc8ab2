//! A batch of doubtful rows that speak for all doubtful rows.
//!
//! Problem: the rows nearest to the boundary are often copies of each other, and one answer would do for all of them. Let
//! D be the rows inside the margin (closeness below 1) and their doubt uᵢ = 1 − closenessᵢ. Choose V ⊆ D to maximize
//!
//! F(V) = Σ_{i∈D} uᵢ max_{e∈V} s(i, e):
//!
//! each doubt counts as far as a question is like it. That is facility location with doubts for weights: uncertainty and
//! coverage in one monotone submodular function, with no number to set between them, solved by lazy greedy (within 1 − 1/e).
//! s is the kernel where it is RBF, else (1 + cosine)/2 of the rows, which is never negative.
//!
//! At most [`MAX_DOUBTFUL`] rows are looked at, those of most doubt, so that a batch costs the same however long the pool
//! is. Should fewer rows lie within the margin than are asked for, the nearest of the others follow.

use super::submod::unit_rows;
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::solver::lazy_greedy::{self, Picks, SetFunction};
use crate::solver::partition_matroid::{GroupLimit, Partitioned};
use crate::solver::{Exit, Watch};
use crate::summary::quadratic::check_kernel;
use crate::summary::{ExemplarParams, represent};

/// Most rows a batch is chosen from.
pub const MAX_DOUBTFUL: usize = 4096;

/// Chooses `count` rows to ask about, or all if there are fewer; `closeness` is how near each is to the boundary, 1 at the
/// margin ([`super::closeness`]).
pub fn diverse_batch(
    x: MatrixView<'_>,
    closeness: &[f64],
    kernel: Kernel,
    count: usize,
    watch: &dyn Watch,
) -> Result<Picks> {
    diverse_batch_within(x, closeness, kernel, count, None, watch)
}

/// [`diverse_batch`] with a maximum number of rows per group.
pub fn diverse_batch_within(
    x: MatrixView<'_>,
    closeness: &[f64],
    kernel: Kernel,
    count: usize,
    limit: Option<&GroupLimit<'_>>,
    watch: &dyn Watch,
) -> Result<Picks> {
    check_kernel(&kernel)?;
    limit.map_or(Ok(()), |limit| limit.check(x.rows()))?;
    if closeness.len() != x.rows() {
        return Err(Error::Shape { what: "closeness of rows", expected: x.rows(), found: closeness.len() });
    }
    if let Some(row) = closeness.iter().position(|c| c.is_nan()) {
        return Err(Error::Data(format!("row {}: its closeness is not a number", row + 1)));
    }
    let mut near: Vec<usize> = (0..x.rows()).collect();
    near.sort_by(|&a, &b| closeness[a].total_cmp(&closeness[b]).then(a.cmp(&b)));
    let inside = near.partition_point(|&i| closeness[i] < 1.0);
    let doubtful = &near[..inside.min(MAX_DOUBTFUL.max(count))];
    let doubts: Vec<f64> = doubtful.iter().map(|&i| 1.0 - closeness[i].max(0.0)).collect();
    let rows = x.select(doubtful);
    let (rows, kernel) = match kernel {
        Kernel::Rbf { .. } => (rows, kernel),
        _ => (half_cosines(rows.view()), Kernel::Linear),
    };
    let params = ExemplarParams { kernel, ..Default::default() };
    let most = count.min(doubtful.len());
    let picks = if most == 0 {
        Some(Picks::none(Exit::Converged))
    } else {
        let take = |f: &mut dyn SetFunction, count: usize, watch: &dyn Watch| match limit {
            Some(limit) => lazy_greedy::lazy(&mut Partitioned::of(f, limit, doubtful), count, watch),
            None => lazy_greedy::lazy(f, count, watch),
        };
        represent(rows.view(), rows.rows(), &doubts, &params, most, watch, &take)?
    };
    let Some(mut picks) = picks else { return Ok(Picks::none(Exit::Interrupted)) };
    picks.order.iter_mut().for_each(|k| *k = doubtful[*k]);
    if picks.exit == Exit::Converged && inside == doubtful.len() {
        let mut counter = limit.map(GroupLimit::counter);
        let mut room = |row: usize| counter.as_mut().is_none_or(|counter| counter.take(row));
        picks.order.iter().for_each(|&row| {
            room(row);
        });
        let wanted = count.saturating_sub(picks.order.len());
        picks.order.extend(near[inside..].iter().copied().filter(|&row| room(row)).take(wanted));
        picks.gains.resize(picks.order.len(), 0.0);
    }
    Ok(picks)
}

/// Rows whose inner products are (1 + cosine)/2: the directions and a constant column, over √2.
fn half_cosines(x: MatrixView<'_>) -> Matrix {
    let unit = unit_rows(x);
    let mut out = Matrix::empty(x.cols() + 1, matches!(x, MatrixView::Csr { .. }));
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for i in 0..unit.rows() {
        columns.clear();
        values.clear();
        unit.view().row(i).for_each(|c, v| {
            columns.push(c as u32);
            values.push(v * std::f64::consts::FRAC_1_SQRT_2);
        });
        columns.push(x.cols() as u32);
        values.push(std::f64::consts::FRAC_1_SQRT_2);
        out.push(Row::Sparse(&columns, &values));
    }
    out
}
