//! SUBMOD-EXMP: exemplars, the rows that summarize a data set.
//!
//! Problem (Emara 2012, chapter IV, equation IV.16): of n rows choose a set E of a given size that maximizes
//!
//! G(E) = λ₃ Σ_E tₘ + λ₂ Σ_E bₘ − λ₁ Σ_{E,E} K,   tₘ = Σⱼ wⱼKₘⱼ (density),   bₘ = Σ_L Kᵢₘ (near labeled rows)
//!
//! by lazy greedy selection (the source prints the plain form, algorithm 6; the picks are the same). wⱼ is the number
//! of stream samples that row j represents. If rows of the next batch are given, η Σ K over them is added to tₘ, so
//! rows in regions that are sparse now and dense in the next batch are kept (the inter-batch dependence of the source,
//! which gives no formula for it).
//!
//! Weights. The source gives no values. Let N = Σw, where each row of the next batch adds η. With λ₃ = 1 and λ₁ =
//! N/(2s) at pick s, the greedy selection is kernel herding: each pick reduces the distance between the means of
//! exemplars and data in feature space (MMD) most, and the picks of a smaller summary are the first ones of a larger
//! one. Static weights: λ₁ = N/(2M), so that G = −(N·M/2)·MMD² + constant for M exemplars, but summaries are not
//! nested. λ₂ = 0.05·N/l.
//!
//! Departures: terms that depend on |E| only are dropped, and with them equation IV.21 of the source, whose sign is
//! wrong (`d − K` should be `d + K`); gains of kernels with negative values are bounded instead (quadratic.rs).

use super::facility::Facility;
use super::quadratic::{Diversity, Ground, Quadratic, check_kernel, min_value};
use crate::data::{Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{KernelGram, Packed};
use crate::solver::lazy_greedy::{self, Picks, SetFunction};
use crate::solver::partition_matroid::{GroupLimit, Partitioned};
use crate::solver::{Exit, Watch};
use serde::{Deserialize, Serialize};

/// Objective of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Makes the means of exemplars and data agree (SUBMOD-EXMP).
    #[default]
    Exemplars,
    /// Gives every row a similar exemplar.
    #[serde(alias = "facility")]
    FacilityLocation,
}

/// Weight of a term.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lambda {
    /// Derived from the number of rows; the weight of diversity decreases with each pick, so that summaries are nested.
    #[default]
    Auto,
    /// Derived from the number of rows and the number of exemplars requested.
    Static,
    /// A fixed number.
    Value(f64),
}

impl Lambda {
    pub(crate) fn check(self, name: &'static str) -> Result<()> {
        match self {
            Self::Value(v) if !(v >= 0.0 && v.is_finite()) => {
                Err(Error::parameter(name, v, "auto, static or a number from 0"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn or(self, auto: f64) -> f64 {
        if let Self::Value(v) = self { v } else { auto }
    }
}

/// Parameters of exemplar selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExemplarParams {
    /// Similarity of rows.
    pub kernel: Kernel,
    /// Objective to maximize; the three weights apply to [`Objective::Exemplars`].
    pub objective: Objective,
    /// λ₁: prefers exemplars that differ from each other.
    pub diversity: Lambda,
    /// λ₂: prefers exemplars near labeled rows.
    pub labeled: Lambda,
    /// λ₃: prefers exemplars in dense regions.
    pub density: Lambda,
    /// Maximum number of bytes for cached kernel values.
    pub cache_bytes: usize,
}

impl Default for ExemplarParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            objective: Objective::Exemplars,
            diversity: Lambda::Auto,
            labeled: Lambda::Auto,
            density: Lambda::Auto,
            cache_bytes: 512 << 20,
        }
    }
}

impl ExemplarParams {
    /// Returns an error for invalid parameters.
    pub fn check(&self) -> Result<()> {
        check_kernel(&self.kernel)?;
        self.diversity.check("diversity")?;
        self.labeled.check("labeled")?;
        self.density.check("density")
    }
}

/// The rows that exemplars are chosen from.
#[derive(Debug, Clone, Copy)]
pub struct Pool<'a> {
    /// The rows.
    pub x: MatrixView<'a>,
    /// Number of stream samples that each row represents; empty if each represents one.
    pub weight: &'a [f64],
    /// Labeled rows, which are stored separately. Facility location ignores them.
    pub labeled: Option<MatrixView<'a>>,
    /// Rows of the next batch, and the weight η of each.
    pub next_batch_weight: Option<(MatrixView<'a>, f64)>,
}

impl<'a> Pool<'a> {
    /// Unweighted rows, without labeled rows and without a next batch.
    pub fn of(x: MatrixView<'a>) -> Self {
        Self { x, weight: &[], labeled: None, next_batch_weight: None }
    }

    pub(super) fn check(&self) -> Result<()> {
        let (rows, cols) = (self.x.rows(), self.x.cols());
        if !self.weight.is_empty() && self.weight.len() != rows {
            return Err(Error::Shape { what: "weights of rows", expected: rows, found: self.weight.len() });
        }
        if let Some(w) = self.weight.iter().find(|w| !(**w >= 0.0 && **w <= 1e100)) {
            return Err(Error::parameter("weight", w, "a number from 0 to 1e100"));
        }
        for other in self.labeled.iter().chain(self.next_batch_weight.iter().map(|(x, _)| x)) {
            if other.cols() != cols {
                return Err(Error::Shape { what: "columns", expected: cols, found: other.cols() });
            }
        }
        match self.next_batch_weight {
            Some((_, eta)) if !(0.0..=1e100).contains(&eta) => {
                Err(Error::parameter("eta", eta, "a number from 0 to 1e100"))
            }
            _ => Ok(()),
        }
    }

    /// Number of samples that each row represents.
    pub(super) fn weights(&self) -> Vec<f64> {
        if self.weight.is_empty() { vec![1.0; self.x.rows()] } else { self.weight.to_vec() }
    }

    /// N: number of samples that all rows represent.
    pub(super) fn total(&self, weight: &[f64]) -> f64 {
        weight.iter().sum::<f64>() + self.next_batch_weight.map_or(0.0, |(x, eta)| eta * x.rows() as f64)
    }
}

/// Chooses `count` rows of the pool, or all rows if it has fewer, in an order whose first rows are the smaller summaries
/// (except with a static λ₁). If `watch` ends the work, it returns the picks so far.
pub fn choose(params: &ExemplarParams, pool: &Pool<'_>, count: usize, watch: &dyn Watch) -> Result<Picks> {
    Ok(choose_and_score(params, pool, count, watch)?.0)
}

/// The same, with the [`objective`] of the chosen rows.
pub fn choose_and_score(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    watch: &dyn Watch,
) -> Result<(Picks, f64)> {
    run(params, pool, count, watch, lazy_greedy::lazy)
}

/// The same with a maximum number of rows per group; λ₁ counts as if `count` rows were chosen.
pub fn choose_within(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    limit: &GroupLimit<'_>,
    watch: &dyn Watch,
) -> Result<(Picks, f64)> {
    limit.check(pool.x.rows())?;
    run(params, pool, count, watch, |f, count, watch| {
        lazy_greedy::lazy(&mut Partitioned::new(f, limit), count, watch)
    })
}

/// The same, computing every gain before every pick: slow, for comparison.
pub fn choose_plainly(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    watch: &dyn Watch,
) -> Result<Picks> {
    Ok(run(params, pool, count, watch, lazy_greedy::plain)?.0)
}

/// Objective value (facility location F or exemplar objective G) of the given rows; G with λ₁ = N/(2·number of rows)
/// unless λ₁ is fixed.
pub fn objective(params: &ExemplarParams, pool: &Pool<'_>, rows: &[usize]) -> Result<f64> {
    if let Some(row) = rows.iter().find(|r| **r >= pool.x.rows()) {
        return Err(Error::Shape { what: "rows chosen from", expected: row + 1, found: pool.x.rows() });
    }
    let evaluate = |f: &mut dyn SetFunction, _: usize, _: &dyn Watch| {
        let mut gains = Vec::with_capacity(rows.len());
        for &m in rows {
            gains.push(f.gain(m));
            f.add(m);
        }
        Picks { order: rows.to_vec(), gains, evaluations: rows.len() as u64, exit: Exit::Converged }
    };
    Ok(run(params, pool, rows.len(), &(), evaluate)?.1)
}

/// An algorithm that picks elements.
pub(crate) type Picker<'l> = &'l dyn Fn(&mut dyn SetFunction, usize, &dyn Watch) -> Picks;

fn run(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    watch: &dyn Watch,
    pick: impl Fn(&mut dyn SetFunction, usize, &dyn Watch) -> Picks,
) -> Result<(Picks, f64)> {
    params.check()?;
    pool.check()?;
    let count = count.min(pool.x.rows());
    let picks = if count == 0 {
        Some((Picks::none(Exit::Converged), 0.0))
    } else if params.objective == Objective::FacilityLocation {
        let picks = choose_by_facility_location(params, pool, count, watch, &pick)?;
        picks.map(|picks| {
            let value = picks.gains.iter().sum();
            (picks, value)
        })
    } else {
        choose_by_herding(params, pool, count, watch, &pick)?
    };
    Ok(picks.unwrap_or_else(|| (Picks::none(Exit::Interrupted), 0.0)))
}

fn choose_by_herding(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    watch: &dyn Watch,
    pick: Picker<'_>,
) -> Result<Option<(Picks, f64)>> {
    let Some((ground, merit)) = merits(params, pool, watch)? else { return Ok(None) };
    let total = pool.total(&pool.weights());
    let diversity = match params.diversity {
        Lambda::Auto => Diversity::Falling(total),
        Lambda::Static => Diversity::Fixed(total / (2.0 * count as f64)),
        Lambda::Value(v) => Diversity::Fixed(v),
    };
    let least = min_value(&params.kernel, pool.x);
    let mut f = Quadratic::new(ground, merit, diversity, least, count);
    let mut picks = pick(&mut f, count, watch);
    picks.gains.iter_mut().enumerate().for_each(|(k, gain)| *gain /= f.scale(k + 1));
    let lambda = params.diversity.or(total / (2.0 * picks.order.len().max(1) as f64));
    let value = f.value(&picks.order, lambda);
    Ok(Some((picks, value)))
}

/// λ₂b + λ₃t of every row; `None` if interrupted.
pub(super) fn merits<'a>(
    params: &ExemplarParams,
    pool: &Pool<'a>,
    watch: &dyn Watch,
) -> Result<Option<(Ground<'a>, Vec<f64>)>> {
    let weight = pool.weights();
    let total = pool.total(&weight);
    let density = params.density.or(1.0);
    let Some((mut ground, mut merit)) =
        Ground::new(pool.x, params.kernel, &weight, params.cache_bytes, watch)?
    else {
        return Ok(None);
    };
    merit.iter_mut().for_each(|m| *m *= density);
    if let Some((next_batch_weight, eta)) = pool.next_batch_weight {
        ground.add_others(next_batch_weight, &vec![density * eta; next_batch_weight.rows()], &mut merit)?;
    }
    if let Some(labeled) = pool.labeled.filter(|l| l.rows() > 0) {
        let near = params.labeled.or(0.05 * total / labeled.rows() as f64);
        ground.add_others(labeled, &vec![near; labeled.rows()], &mut merit)?;
    }
    Ok(Some((ground, merit)))
}

fn choose_by_facility_location(
    params: &ExemplarParams,
    pool: &Pool<'_>,
    count: usize,
    watch: &dyn Watch,
    pick: Picker<'_>,
) -> Result<Option<Picks>> {
    let mut weight = pool.weights();
    let stacked = pool.next_batch_weight.filter(|(next_batch_weight, _)| next_batch_weight.rows() > 0).map(
        |(next_batch_weight, eta)| {
            weight.resize(pool.x.rows() + next_batch_weight.rows(), eta);
            Matrix::stacked(&[pool.x, next_batch_weight])
        },
    );
    let x = stacked.as_ref().map_or(pool.x, Matrix::view);
    if min_value(&params.kernel, x) < 0.0 {
        return Err(Error::Data(format!(
            "facility location needs similarities from 0 on, and the {} kernel of this data can be negative: use the rbf \
             kernel, or the exemplars objective",
            params.kernel.name()
        )));
    }
    represent(x, pool.x.rows(), &weight, params, count, watch, pick)
}

/// Facility location for similarities known to be at least 0: all rows are represented by some of the first `choosable`.
pub(crate) fn represent(
    x: MatrixView<'_>,
    choosable: usize,
    weight: &[f64],
    params: &ExemplarParams,
    count: usize,
    watch: &dyn Watch,
    pick: Picker<'_>,
) -> Result<Option<Picks>> {
    let packed = Packed::new(x, params.kernel)?;
    let summed = KernelGram::summed(packed, weight, params.cache_bytes, watch)?;
    Ok(summed.map(|(gram, alone)| pick(&mut Facility::new(gram, alone, weight, choosable), count, watch)))
}
