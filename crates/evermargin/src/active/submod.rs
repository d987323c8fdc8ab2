//! SUBMOD-ACTV: a batch of queries that are ambiguous, different from each other and, as in the source, outliers.
//!
//! Problem (Emara 2012, chapter V, equations V.7 and V.8): of n unlabeled rows choose a set V of the allowed size that
//! maximizes
//!
//! Jv(V) = −λ₂ Σ_V |aₘ| − λ₃ Σ_V tₘ − λ₁ Σ_{V,V} K,   aₘ = Σ_L yᵢKᵢₘ,   tₘ = Σ_U Kₘⱼ.
//!
//! |a| is small where the labels disagree or are far away. The source gives no weights; here the three terms are means
//! per sample: λ₁ = 1/(2M), λ₂ = 1/l, λ₃ = 1/n for M queries.
//!
//! Several classes: class c has the score Σ_{L, yᵢ=c} Kᵢₘ, and |aₘ| becomes the difference between the largest and the
//! second largest score. Classes without labels have no score; if only one class has labels, |aₘ| is the absolute value
//! of its score. With two classes the difference is |aₘ| ([`KnownLabels`]).
//!
//! Departures. With a linear kernel rows are scaled to unit length: otherwise every term is smallest for the shortest
//! rows, and the queries would be rows near zero. A row of zeros has no direction; it is queried last. The source
//! prefers outliers (λ₃ > 0); [`Seek::Dense`] changes the sign of that term. Terms that depend on |V| only are dropped.

use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{KernelGram, Packed};
use crate::solver::lazy_greedy::{self, Picks};
use crate::solver::partition_matroid::{GroupLimit, Partitioned};
use crate::solver::{Exit, Stop, Watch};
use crate::summary::quadratic::{Diversity, Ground, Quadratic, min_value};
use crate::summary::{Lambda, Relaxed, relax_merits};
use serde::{Deserialize, Serialize};

/// Preference of the density term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seek {
    /// Rows that are unlike most others.
    #[default]
    Outliers,
    /// Rows that are similar to many others.
    Dense,
}

/// Parameters of SUBMOD-ACTV.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubmodParams {
    /// Similarity of rows.
    pub kernel: Kernel,
    /// λ₁: prefers queries that differ from each other.
    pub diversity: Lambda,
    /// λ₂: prefers rows far from labeled rows or between labels.
    pub labeled: Lambda,
    /// λ₃: weight of the density term.
    pub density: Lambda,
    /// Sign of the density term.
    pub seek: Seek,
    /// Maximum number of bytes for cached kernel values.
    pub cache_bytes: usize,
}

impl Default for SubmodParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            diversity: Lambda::Auto,
            labeled: Lambda::Auto,
            density: Lambda::Auto,
            seek: Seek::Outliers,
            cache_bytes: 512 << 20,
        }
    }
}

/// Labels of the labeled rows.
#[derive(Debug, Clone, Copy)]
pub enum KnownLabels<'a> {
    /// −1 or +1 for each row, or any weight.
    Signs(&'a [f64]),
    /// The class of each row.
    Classes(&'a [u32]),
}

impl KnownLabels<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Signs(signs) => signs.len(),
            Self::Classes(classes) => classes.len(),
        }
    }

    /// An upper bound of |a| if no kernel value exceeds 1.
    fn score_bound(&self) -> f64 {
        match self {
            Self::Signs(signs) => signs.iter().map(|s| s.abs()).sum(),
            Self::Classes(classes) => classes.len() as f64,
        }
    }

    /// |a| of every row.
    fn ambiguities(&self, ground: &mut Ground<'_>, labeled: MatrixView<'_>, rows: usize) -> Result<Vec<f64>> {
        let mut score = vec![0.0; rows];
        match self {
            _ if labeled.rows() == 0 => {}
            Self::Signs(signs) => {
                ground.add_others(labeled, signs, &mut score)?;
                score.iter_mut().for_each(|a| *a = a.abs());
            }
            Self::Classes(classes) => {
                let mut present = classes.to_vec();
                present.sort_unstable();
                present.dedup();
                let mut best = vec![[f64::NEG_INFINITY; 2]; rows];
                for class in &present {
                    let own: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == *class).collect();
                    score.fill(0.0);
                    ground.add_others(labeled.select(&own).view(), &vec![1.0; own.len()], &mut score)?;
                    for (best, &a) in best.iter_mut().zip(&score) {
                        *best = if a > best[0] { [a, best[0]] } else { [best[0], a.max(best[1])] };
                    }
                }
                for (a, [first, second]) in score.iter_mut().zip(best) {
                    *a = if present.len() == 1 { first.abs() } else { first - second };
                }
            }
        }
        Ok(score)
    }
}

/// Rows scaled to unit length for the linear kernel, and which rows are zero.
struct Directions {
    rows: Option<Matrix>,
    zero: Vec<bool>,
}

impl Directions {
    fn of(x: MatrixView<'_>, kernel: Kernel) -> Self {
        if kernel != Kernel::Linear {
            return Self { rows: None, zero: Vec::new() };
        }
        let zero = (0..x.rows()).map(|i| largest(x, i) == 0.0).collect();
        Self { rows: Some(unit_rows(x)), zero }
    }

    fn view<'a>(&'a self, x: MatrixView<'a>) -> MatrixView<'a> {
        self.rows.as_ref().map_or(x, Matrix::view)
    }
}

fn largest(x: MatrixView<'_>, i: usize) -> f64 {
    let mut largest_value = 0.0f64;
    x.row(i).for_each(|_, v| largest_value = largest_value.max(v.abs()));
    largest_value
}

/// Every row divided by its length; rows of zeros stay.
pub(crate) fn unit_rows(x: MatrixView<'_>) -> Matrix {
    let mut out = Matrix::empty(x.cols(), matches!(x, MatrixView::Csr { .. }));
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for i in 0..x.rows() {
        let largest_value = largest(x, i);
        columns.clear();
        values.clear();
        x.row(i).for_each(|c, v| {
            columns.push(c as u32);
            values.push(v / largest_value);
        });
        let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        values.iter_mut().for_each(|v| *v /= length);
        out.push(Row::Sparse(&columns, &values));
    }
    out
}

/// The weights λ as numbers.
struct Weights {
    diversity: f64,
    labeled: f64,
    density: f64,
}

fn weights(params: &SubmodParams, n: usize, l: usize, count: usize) -> Result<Weights> {
    params.diversity.check("diversity")?;
    params.labeled.check("labeled")?;
    params.density.check("density")?;
    let size = params.density.or(1.0 / n.max(1) as f64);
    Ok(Weights {
        diversity: params.diversity.or(1.0 / (2.0 * count.max(1) as f64)),
        labeled: params.labeled.or(1.0 / l.max(1) as f64),
        density: if params.seek == Seek::Dense { -size } else { size },
    })
}

/// −λ₂|a| − λ₃t of every row; `None` if interrupted.
fn merits<'a>(
    x: MatrixView<'a>,
    labeled: MatrixView<'_>,
    known: KnownLabels<'_>,
    params: &SubmodParams,
    weights: &Weights,
    watch: &dyn Watch,
) -> Result<Option<(Ground<'a>, Vec<f64>)>> {
    let Some((mut ground, mut merit)) =
        Ground::new(x, params.kernel, &vec![1.0; x.rows()], params.cache_bytes, watch)?
    else {
        return Ok(None);
    };
    let ambiguities = known.ambiguities(&mut ground, labeled, x.rows())?;
    for (merit, score) in merit.iter_mut().zip(ambiguities) {
        *merit = -weights.labeled * score - weights.density * *merit;
    }
    Ok(Some((ground, merit)))
}

fn check(x: MatrixView<'_>, labeled: MatrixView<'_>, known: KnownLabels<'_>) -> Result<()> {
    if labeled.rows() != known.len() {
        return Err(Error::Shape {
            what: "signs of labeled rows",
            expected: labeled.rows(),
            found: known.len(),
        });
    }
    if labeled.rows() > 0 && labeled.cols() != x.cols() {
        return Err(Error::Shape {
            what: "columns of labeled rows",
            expected: x.cols(),
            found: labeled.cols(),
        });
    }
    match known {
        KnownLabels::Signs(signs) => match signs.iter().find(|s| s.is_nan() || s.abs() > 1e100) {
            Some(sign) => Err(Error::parameter("sign", sign, "a number")),
            None => Ok(()),
        },
        KnownLabels::Classes(_) => Ok(()),
    }
}

/// Chooses `count` rows of `x` to query, or all rows if there are fewer. `labeled` are the labeled rows (possibly none),
/// and `signs` has ±1 or any weight for each.
pub fn submod_batch(
    x: MatrixView<'_>,
    labeled: MatrixView<'_>,
    signs: &[f64],
    params: &SubmodParams,
    count: usize,
    watch: &dyn Watch,
) -> Result<Picks> {
    submod_batch_within(x, labeled, KnownLabels::Signs(signs), params, count, None, watch)
}

/// [`submod_batch`] for any number of classes, with a maximum number of rows per group.
pub fn submod_batch_within(
    x: MatrixView<'_>,
    labeled: MatrixView<'_>,
    known: KnownLabels<'_>,
    params: &SubmodParams,
    count: usize,
    limit: Option<&GroupLimit<'_>>,
    watch: &dyn Watch,
) -> Result<Picks> {
    check(x, labeled, known)?;
    limit.map_or(Ok(()), |limit| limit.check(x.rows()))?;
    let count = count.min(x.rows());
    let weights = weights(params, x.rows(), labeled.rows(), count)?;
    let (own, others) = (Directions::of(x, params.kernel), Directions::of(labeled, params.kernel));
    let (x, labeled) = (own.view(x), others.view(labeled));
    if count == 0 {
        return Ok(Picks::none(Exit::Converged));
    }
    let Some((ground, mut merit)) = merits(x, labeled, known, params, &weights, watch)? else {
        return Ok(Picks::none(Exit::Interrupted));
    };
    // below the lowest value of any row with a direction
    let lowest = weights.labeled * known.score_bound()
        + weights.density.abs() * x.rows() as f64
        + weights.diversity * (2 * count + 2) as f64;
    merit.iter_mut().zip(&own.zero).filter(|(_, zero)| **zero).for_each(|(m, _)| *m = -2.0 * lowest);
    let least = min_value(&params.kernel, x);
    let mut f = Quadratic::new(ground, merit, Diversity::Fixed(weights.diversity), least, count);
    Ok(match limit {
        Some(limit) => lazy_greedy::lazy(&mut Partitioned::new(&mut f, limit), count, watch),
        None => lazy_greedy::lazy(&mut f, count, watch),
    })
}

/// QP-ACTV: the convex relaxation of [`submod_batch`], used to check it on small pools.
pub fn relaxed_batch(
    x: MatrixView<'_>,
    labeled: MatrixView<'_>,
    signs: &[f64],
    params: &SubmodParams,
    count: usize,
    stop: Stop,
    watch: &dyn Watch,
) -> Result<Relaxed> {
    let known = KnownLabels::Signs(signs);
    check(x, labeled, known)?;
    let count = count.min(x.rows());
    let weights = weights(params, x.rows(), labeled.rows(), count)?;
    let (own, others) = (Directions::of(x, params.kernel), Directions::of(labeled, params.kernel));
    let (x, labeled) = (own.view(x), others.view(labeled));
    let Some((ground, merit)) = merits(x, labeled, known, params, &weights, &())? else {
        return Err(Error::Data("interrupted before the problem was built".into()));
    };
    let mut gram = match ground {
        Ground::Kernel(gram) => *gram,
        Ground::Linear(_) => KernelGram::new(Packed::new(x, params.kernel)?, params.cache_bytes)?,
    };
    relax_merits(&mut gram, &merit, weights.diversity, count, stop, watch)
}
