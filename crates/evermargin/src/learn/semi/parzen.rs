//! `parzen`: the k rows most similar to the positive labels, less to the negative ones. A baseline that is hard to beat.
//!
//! f(x) = Σ_L cᵢyᵢK(xᵢ, x); the k = round(ratio·n) unlabelled rows with the largest f are positive. It is
//! [`submod`](super::submod) with κ = 0: the unlabelled rows give the threshold and, centred, the origin, nothing else.
//! With centred rows and balanced weights it is the nearest class mean with its threshold moved to the ratio.

use super::super::{Fit, Fitted, Targets};
use super::submod::space::Space;
use super::submod::{CutParams, LabelWeights, settle};
use super::{FewLabels, Ratio, Transduced, largest};
use crate::data::{Label, MatrixView};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::model::Model;
use crate::solve::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};

/// Parameters of [`parzen`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParzenParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Share of positives among the unlabelled rows.
    pub ratio: Ratio,
    /// Whether the linear kernel is that of centred rows.
    pub center: bool,
    /// Weights of the labels.
    pub weights: LabelWeights,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

impl Default for ParzenParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            ratio: Ratio::Labels,
            center: true,
            weights: LabelWeights::None,
            cache_bytes: 1 << 28,
        }
    }
}

impl Fit for ParzenParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.score(x, problems, FewLabels::of(x, problems, &self.ratio)?, watch)
    }

    fn supervised(&self, _: usize) -> Option<Box<dyn Fit>> {
        Some(Box::new(LabelsAlone(Self { ratio: Ratio::Labels, ..self.clone() })))
    }
}

/// The same without unlabelled rows: the threshold is where as many labelled rows lie above as are positive.
#[derive(Debug)]
struct LabelsAlone(ParzenParams);

impl Fit for LabelsAlone {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        let mut few = FewLabels::of(x, problems, &Ratio::Labels)?;
        few.iter_mut().for_each(|f| f.unlabeled.clear());
        self.0.score(x, problems, few, watch)
    }
}

impl ParzenParams {
    fn cut(&self) -> CutParams {
        CutParams {
            kernel: self.kernel,
            center: self.center,
            weights: self.weights,
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
        few: Vec<FewLabels>,
        watch: &dyn Watch,
    ) -> Result<Fitted> {
        let params = self.cut();
        params.check(x)?;
        let all: Vec<u32> = (0..x.rows() as u32).collect();
        let (mut functions, mut bias, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        let mut given = Transduced::default();
        for (few, targets) in few.iter().zip(problems) {
            let seeds = params.seeds(few, targets);
            let mut space = params.space(x, &CutParams::taking_part(&seeds))?;
            let (mut f, mut scores) = (space.zero(), vec![0.0; x.rows()]);
            space.add(&seeds.labeled, 1.0, &seeds.pull, &mut f);
            space.values(&f, &all, &mut scores);
            let (rows, k) = match few.unlabeled.is_empty() {
                true => (&few.labeled, targets.y.iter().filter(|y| **y == Label::Pos).count()),
                false => (&few.unlabeled, few.positives),
            };
            let open: Vec<f64> = rows.iter().map(|&i| scores[i]).collect();
            let (middle, factor) = settle(&mut scores, rows, &largest(&open, k.min(rows.len())));
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
