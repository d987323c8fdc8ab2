//! QP-EXMP and QP-ACTV: convex relaxations, used to check greedy picks on small pools.
//!
//! Problem (Emara 2012, sections IV and V, equation V.1): maximize cᵀe − λ eᵀKe subject to Σe = M, 0 ≤ e ≤ 1, with the
//! c of exemplars or of queries. Divided by −2λ it is ½eᵀKe − (c/2λ)ᵀe with bounds, one fixed sum and a kernel matrix,
//! which is the problem of the dual solver ([`crate::solver::smo`]).
//!
//! The maximum is an upper bound for any M rows, because their indicator vectors are feasible. The source calls the two
//! problems equivalent, but the optimum is mostly fractional. It is rounded to the M largest entries; the source gives
//! no rounding.

use super::exemplars::{ExemplarParams, Lambda, Pool, merits};
use super::quadratic::Ground;
use crate::error::{Error, Result};
use crate::kernel::gram::{Gram, KernelGram, Packed};
use crate::solver::smo::Dual;
use crate::solver::{Report, Stop, Watch};

/// The solution of a relaxation.
#[derive(Debug, Clone, PartialEq)]
pub struct Relaxed {
    /// e, one value per row, from 0 to 1.
    pub share: Vec<f64>,
    /// The M rows with the largest e, largest first, ties to the lowest row.
    pub rows: Vec<usize>,
    /// cᵀe − λ eᵀKe: at least that of any M rows, up to the tolerance.
    pub objective: f64,
    /// Report of the solver; its objective is that of the problem divided by −2λ.
    pub report: Report,
}

/// The relaxation of choosing `count` exemplars, with λ₁ = N/(2·count) unless λ₁ is fixed.
pub fn relax(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    stop: Stop,
    watch: &dyn Watch,
) -> Result<Relaxed> {
    params.check()?;
    pool.check()?;
    let count = count.min(pool.x.rows());
    let lambda = match params.diversity {
        Lambda::Value(v) => v,
        _ => pool.total(&pool.weights()) / (2.0 * count.max(1) as f64),
    };
    let Some((ground, merit)) = merits(params, pool, &())? else {
        return Err(Error::Data("interrupted before the problem was built".into()));
    };
    let mut gram = match ground {
        Ground::Kernel(gram) => *gram,
        Ground::Linear(_) => KernelGram::new(Packed::new(pool.x, params.kernel)?, params.cache_bytes)?,
    };
    solve(&mut gram, &merit, lambda, count, stop, watch)
}

/// Maximizes cᵀe − λ eᵀKe from e = M/n.
pub(crate) fn solve(
    gram: &mut KernelGram<'static>,
    merit: &[f64],
    lambda: f64,
    count: usize,
    stop: Stop,
    watch: &dyn Watch,
) -> Result<Relaxed> {
    let n = gram.len();
    if !(lambda > 0.0 && lambda.is_finite()) {
        return Err(Error::parameter("diversity", lambda, "above 0 for the relaxation"));
    }
    let target = merit.iter().map(|c| c / (2.0 * lambda)).collect();
    let mut dual = Dual::new(target, vec![0.0; n], vec![1.0; n]);
    dual.set_alpha(gram, &vec![count as f64 / n.max(1) as f64; n]);
    let report = dual.run(gram, stop, watch);
    let share = dual.alpha().to_vec();
    let mut rows: Vec<usize> = (0..n).collect();
    rows.sort_by(|&a, &b| share[b].total_cmp(&share[a]).then(a.cmp(&b)));
    rows.truncate(count);
    Ok(Relaxed { share, rows, objective: -2.0 * lambda * report.objective, report })
}
