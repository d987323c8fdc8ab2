//! `parzen`: Parzen-window classifier with a threshold set by the class ratio; a strong baseline.
//!
//! f(x) = Σ_L cᵢyᵢK(xᵢ, x); the k = round(ratio·n) unlabeled rows with the largest f are labeled positive. This is
//! [`submod`](crate::estimators::transductive::submod) with κ = 0: the unlabeled rows determine only the threshold and, if
//! rows are centered, the origin. With centered rows and balanced weights it is the nearest-centroid classifier with the
//! threshold moved to the ratio.

use crate::data::MatrixView;
use crate::error::Result;
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::transductive::submod::space::Space;
use crate::estimators::transductive::submod::spec::{CENTER, LABEL_WEIGHTS, SMALL_CACHE};
use crate::estimators::transductive::submod::{CutParams, LabelWeights, move_to, normalize_scores, total};
use crate::estimators::transductive::{FewLabels, Ratio, Transduced, largest};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::params::shared::{COEF0, DEGREE, GAMMA, LINEAR_KERNEL, RATIO};
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};

/// The specification of `parzen`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "parzen",
    "Parzen-window classifier with a threshold set by the class ratio, a baseline (semi-supervised)",
    &[LINEAR_KERNEL, GAMMA, DEGREE, COEF0, RATIO, CENTER, LABEL_WEIGHTS, SMALL_CACHE],
)
.baseline();

impl Parameters for ParzenParams {}

/// Parameters of [`parzen`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParzenParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Fraction of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// Whether the rows are centered; linear kernel only.
    pub center: bool,
    /// Weights of the labels.
    pub label_weights: LabelWeights,
    /// Memory limit for cached kernel rows, in bytes.
    pub cache_bytes: usize,
}

impl Default for ParzenParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            ratio: Ratio::Labels,
            center: true,
            label_weights: LabelWeights::None,
            cache_bytes: 1 << 28,
        }
    }
}

impl Fit for ParzenParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.score(x, problems, &FewLabels::of(x, problems, &self.ratio, watch)?, watch)
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(LabelsOnly(Self { ratio: Ratio::Labels, ..self.clone() })))
    }
}

/// The same classifier without unlabeled rows. Its threshold is such that the labeled rows above it have the total weight
/// of the positive ones.
#[derive(Debug)]
struct LabelsOnly(ParzenParams);

impl Fit for LabelsOnly {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let mut few = FewLabels::of(x, problems, &Ratio::Labels, watch)?;
        few.iter_mut().for_each(|f| f.unlabeled.clear());
        self.0.score(x, problems, &few, watch)
    }
}

impl ParzenParams {
    /// Equivalent parameters of `submod`, with κ = 0.
    fn cut(&self) -> CutParams {
        CutParams {
            kernel: self.kernel,
            center: self.center,
            label_weights: self.label_weights,
            c: 1.0,
            c_unlabeled: 0.0,
            kappa: 0.0,
            rho: 0.0,
            cache_bytes: self.cache_bytes,
        }
    }

    fn score(
        &self,
        x: MatrixView<'_>,
        problems: &[Targets],
        few: &[FewLabels],
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        let params = self.cut();
        params.check(x)?;
        let all: Vec<u32> = (0..x.rows() as u32).collect();
        let (mut functions, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        let mut given =
            Transduced { facts: few.iter().flat_map(FewLabels::facts).collect(), ..Default::default() };
        for (few, targets) in few.iter().zip(problems) {
            let seeds = params.seeds(few, targets);
            let mut space = params.space(x, &CutParams::taking_part(&seeds))?;
            let (mut f, mut scores) = (space.zero(), vec![0.0; x.rows()]);
            space.add(&seeds.labeled, 1.0, &seeds.pull, &mut f);
            space.values(&f, &all, &mut scores);
            let (middle, factor) = if few.unlabeled.is_empty() {
                let middle = threshold(&scores, few, targets);
                (middle, move_to(&mut scores, &few.labeled, &targets.cost, middle))
            } else {
                let open: Vec<f64> = few.unlabeled.iter().map(|&i| scores[i]).collect();
                normalize_scores(&mut scores, &few.unlabeled, &targets.cost, &largest(&open, few.positives))
            };
            let (weights, constant) = match &space {
                Space::Linear(space) => space.function(&f),
                Space::Kernel(_) => (seeds.pull.clone(), 0.0),
            };
            functions.push(weights.iter().map(|w| w * factor).collect::<Vec<f64>>());
            bias.push((constant - middle) * factor);
            given.scores.push(scores);
            given.ratio.push(few.ratio);
            let asked = Progress { steps: 0, violation: 0.0, tolerance: 0.0 };
            let exit = if watch.proceed(&asked) { Exit::Converged } else { Exit::Interrupted };
            reports.push(Report { steps: 1, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit });
        }
        let model = match self.kernel {
            Kernel::Linear | Kernel::Precomputed => Model::Linear { weights: functions, bias },
            kernel => {
                let points: Vec<usize> =
                    (0..x.rows()).filter(|&i| functions.iter().any(|f| f[i] != 0.0)).collect();
                let coef = functions.iter().map(|f| points.iter().map(|&i| f[i]).collect()).collect();
                Model::Expansion { kernel, points: x.select(&points), coef, bias }
            }
        };
        Ok(Fitted { transduced: Some(given), ..Fitted::new(model, reports) })
    }
}

/// The threshold above which the labeled rows have the total weight of the positive ones: the midpoint between two rows, or
/// the score of a row if its weight belongs partly to each side.
fn threshold(scores: &[f64], few: &FewLabels, targets: &Targets) -> f64 {
    let mut rows = few.labeled.clone();
    rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let own = few.labeled.iter().zip(&few.y).filter(|(_, y)| **y > 0.0);
    let positive: f64 = own.map(|(&i, _)| targets.cost[i]).sum();
    // sums in another order differ by rounding errors
    let (slack, mut above) = (1e-12 * total(&few.labeled, targets), 0.0);
    for (k, &i) in rows.iter().enumerate() {
        above += targets.cost[i];
        if above >= positive - slack {
            let next = rows.get(k + 1).filter(|_| above <= positive + slack);
            return next.map_or(scores[i], |&j| f64::midpoint(scores[i], scores[j]));
        }
    }
    0.0
}
