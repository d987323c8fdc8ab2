//! A batch of uncertain rows that represents all uncertain rows.
//!
//! Problem: the rows nearest to the boundary are often copies of each other, and one label would do for all of them.
//! Let D be the rows inside the margin (closeness below 1), with uncertainty uᵢ = 1 − closenessᵢ. Choose V ⊆ D to
//! maximize
//!
//! F(V) = Σ_{i∈D} uᵢ max_{e∈V} s(i, e):
//!
//! each uncertain row counts by its similarity to the most similar query. That is facility location with uncertainties
//! as weights: uncertainty and coverage in one monotone submodular function without a trade-off parameter, solved by
//! lazy greedy selection (within 1 − 1/e). s is the kernel if it is RBF, else (1 + cosine)/2 of the rows, which is
//! never negative.
//!
//! At most [`MAX_DOUBTFUL`] rows are considered, the most uncertain ones, so that the cost of a batch does not depend
//! on the size of the pool. If fewer rows than requested lie within the margin, the nearest of the others follow.

use super::submod::unit_rows;
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::solver::lazy_greedy::{self, Picks, SetFunction};
use crate::solver::partition_matroid::{GroupLimit, Partitioned};
use crate::solver::{Exit, Watch};
use crate::summary::quadratic::check_kernel;
use crate::summary::{ExemplarParams, represent};

/// Maximum number of rows from which a batch is chosen.
pub const MAX_DOUBTFUL: usize = 4096;

/// Chooses `count` rows to query, or all rows if there are fewer; `closeness` is the distance of each row from the
/// boundary, with 1 at the margin ([`super::closeness`]).
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
    let uncertain = &near[..inside.min(MAX_DOUBTFUL.max(count))];
    let uncertainties: Vec<f64> = uncertain.iter().map(|&i| 1.0 - closeness[i].max(0.0)).collect();
    let rows = x.select(uncertain);
    let (rows, kernel) = match kernel {
        Kernel::Rbf { .. } => (rows, kernel),
        _ => (half_cosines(rows.view()), Kernel::Linear),
    };
    let params = ExemplarParams { kernel, ..Default::default() };
    let max_picks = count.min(uncertain.len());
    let picks = if max_picks == 0 {
        Some(Picks::none(Exit::Converged))
    } else {
        let take = |f: &mut dyn SetFunction, count: usize, watch: &dyn Watch| match limit {
            Some(limit) => lazy_greedy::lazy(&mut Partitioned::of(f, limit, uncertain), count, watch),
            None => lazy_greedy::lazy(f, count, watch),
        };
        represent(rows.view(), rows.rows(), &uncertainties, &params, max_picks, watch, &take)?
    };
    let Some(mut picks) = picks else { return Ok(Picks::none(Exit::Interrupted)) };
    picks.order.iter_mut().for_each(|k| *k = uncertain[*k]);
    if picks.exit == Exit::Converged && inside == uncertain.len() {
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

/// Rows whose inner products are (1 + cosine)/2: unit rows with an additional constant column, divided by √2.
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
