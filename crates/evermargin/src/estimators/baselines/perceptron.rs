//! `perceptron`: the kernel perceptron, the averaged perceptron and the budget perceptron, for comparison.
//!
//! Problem: f = Σ αᵢK(xᵢ, ·) without intercept. A sample with y·f ≤ β is a mistake and becomes a point with α = y
//! (Rosenblatt; Aizerman et al. 1964). `average`: the model is the mean of the functions after each sample (Freund &
//! Schapire 1999). `budget`: with more than N points, the point that is classified best without its own contribution,
//! with the largest yᵢ(f(xᵢ) − αᵢK(xᵢ, xᵢ)), is evicted (Crammer, Kandola & Singer 2003; Ertekin 2009, 2.4).
//!
//! Several outputs share points and kernel rows. A step changes α by y times the weight of the sample.

use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::online::lasvm::seeds_first;
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::{Block, Gram, GrowingGram, Packed};
use crate::math::simd;
use crate::model::Model;
use crate::params::shared::{CACHE_BYTES, COEF0, DEGREE, EPOCHS, GAMMA, KERNEL, SEED};
use crate::params::{FloatRange, ParamSpec};
use crate::solver::{Exit, Progress, Report, Watch};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The specification of `perceptron`.
pub static SPEC: EstimatorSpec = EstimatorSpec::supervised(
    "perceptron",
    "kernel perceptron, optionally averaged or with a budget of points",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        EPOCHS,
        ParamSpec::flag("average", "false", "whether the model is the mean of the models after each sample"),
        ParamSpec::count("budget", 0, "0", "maximum number of points; 0 = no limit"),
        ParamSpec::float("beta", FloatRange::ANY, "0", "a sample with y·f at most this is a mistake"),
        CACHE_BYTES,
        SEED,
    ],
)
.baseline();

impl Parameters for PerceptronParams {}

/// Parameters of [`perceptron`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PerceptronParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of passes over the data.
    pub epochs: usize,
    /// Whether the model is the mean of the models after each sample.
    pub average: bool,
    /// Maximum number of points; 0 = no limit.
    pub budget: usize,
    /// A sample with y·f at most this is a mistake.
    pub beta: f64,
    /// Memory limit for cached kernel rows, in bytes.
    pub cache_bytes: usize,
    /// Seed of the order of the samples.
    pub seed: u64,
}

impl Default for PerceptronParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            epochs: 1,
            average: false,
            budget: 0,
            beta: 0.0,
            cache_bytes: 1 << 30,
            seed: 1,
        }
    }
}

/// Number of samples whose kernel values are computed in one block.
const CHUNK: usize = 64;

/// One decision function.
#[derive(Debug, Clone, Default)]
struct Output {
    alpha: Vec<f64>,
    /// Σ step·(time of the step), which the mean is computed from.
    delayed: Vec<f64>,
    /// Decision values of the points; stored only with a budget.
    decision: Vec<f64>,
    mistakes: u64,
}

struct State<'a> {
    params: &'a PerceptronParams,
    gram: GrowingGram,
    block: Block,
    outputs: Vec<Output>,
    /// Row of each point.
    rows: Vec<usize>,
    /// Point of each row.
    place: BTreeMap<usize, usize>,
    /// Number of samples processed.
    time: f64,
}

impl PerceptronParams {
    fn check(&self) -> Result<()> {
        self.kernel.check_of_samples()?;
        if self.epochs == 0 {
            return Err(Error::parameter("epochs", self.epochs, "1 or more"));
        }
        if !self.beta.is_finite() {
            return Err(Error::parameter("beta", self.beta, "a finite number"));
        }
        if self.average && self.budget > 0 {
            return Err(Error::parameter("budget", self.budget, "0 together with average"));
        }
        Ok(())
    }
}

impl Fit for PerceptronParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        self.check()?;
        problems.iter().try_for_each(|p| p.check(x.rows()))?;
        let mut state = State::new(self, x, problems.len())?;
        let mut rng = rand_pcg::Pcg64::seed_from_u64(self.seed);
        let mut exit = Exit::Limit;
        'epochs: for epoch in 0..self.epochs {
            let before: u64 = state.outputs.iter().map(|o| o.mistakes).sum();
            let mut order: Vec<usize> = (0..x.rows()).collect();
            order.shuffle(&mut rng);
            if epoch == 0 {
                seeds_first(&mut order, problems, 1);
            }
            for rows in order.chunks(CHUNK) {
                let progress = Progress { steps: state.time as u64, violation: 0.0, tolerance: 0.0 };
                if !watch.proceed(&progress) {
                    exit = Exit::Interrupted;
                    break 'epochs;
                }
                state.learn(x, rows, problems)?;
            }
            if state.outputs.iter().map(|o| o.mistakes).sum::<u64>() == before {
                exit = Exit::Converged;
                break;
            }
        }
        Ok(state.fitted(exit))
    }
}

impl<'a> State<'a> {
    fn new(params: &'a PerceptronParams, x: MatrixView<'_>, outputs: usize) -> Result<Self> {
        let some: Vec<usize> = (0..x.rows().min(1000)).collect();
        let packing = Packed::new(x.select(&some).view(), params.kernel)?.packing();
        let max_points =
            if params.budget > 0 { params.budget.saturating_mul(2).max(128).min(x.rows()) } else { x.rows() };
        let sparse = matches!(x, MatrixView::Csr { .. });
        Ok(Self {
            params,
            gram: GrowingGram::new(params.kernel, &packing, sparse, params.cache_bytes, max_points),
            block: Block::default(),
            outputs: vec![Output::default(); outputs],
            rows: Vec::new(),
            place: BTreeMap::new(),
            time: 0.0,
        })
    }

    fn learn(&mut self, x: MatrixView<'_>, rows: &[usize], problems: &[Targets]) -> Result<()> {
        self.gram.compute_kernel_block(x, rows, &mut self.block)?;
        let mut kernel = Vec::new();
        for (c, &r) in rows.iter().enumerate() {
            self.time += 1.0;
            self.gram.candidate(&self.block, c, &mut kernel);
            self.gram.read(kernel.len());
            let steps: Vec<f64> =
                self.outputs.iter().zip(problems).map(|(o, p)| self.step(o, p, r, &kernel)).collect();
            if steps.iter().any(|s| *s != 0.0) {
                self.process(x, c, r, &kernel, &steps)?;
            }
        }
        Ok(())
    }

    /// Change of a sample's coefficient: 0 unless the sample is a mistake.
    fn step(&self, output: &Output, p: &Targets, r: usize, kernel: &[f32]) -> f64 {
        let y = p.y[r].sign();
        let mistake = p.y[r] != Label::Unknown && y * simd::dot(kernel, &output.alpha) <= self.params.beta;
        if mistake { y * p.cost[r] } else { 0.0 }
    }

    fn process(
        &mut self,
        x: MatrixView<'_>,
        c: usize,
        r: usize,
        kernel: &[f32],
        steps: &[f64],
    ) -> Result<()> {
        let at = match self.place.get(&r) {
            Some(&at) => at,
            None => self.admit(x, c, r, kernel)?,
        };
        self.gram.fetch(&[at]);
        for (o, &step) in self.outputs.iter_mut().zip(steps) {
            o.alpha[at] += step;
            o.delayed[at] += step * self.time;
            o.mistakes += u64::from(step != 0.0);
            if self.params.budget > 0 {
                simd::add_rows(&mut o.decision, &[self.gram.row(at)], &[step]);
            }
        }
        if self.params.budget > 0 && self.place.len() > self.params.budget {
            self.drop_best();
        }
        Ok(())
    }

    fn admit(&mut self, x: MatrixView<'_>, c: usize, r: usize, kernel: &[f32]) -> Result<usize> {
        let at = self.rows.len();
        self.gram.admit(&mut self.block, c, x.row(r), kernel)?;
        self.gram.read(1);
        self.rows.push(r);
        self.place.insert(r, at);
        for o in &mut self.outputs {
            if self.params.budget > 0 {
                o.decision.push(simd::dot(kernel, &o.alpha));
            }
            o.alpha.push(0.0);
            o.delayed.push(0.0);
        }
        Ok(at)
    }

    /// Removes the point that is classified best without its own contribution. Its memory is freed later, in bulk.
    fn drop_best(&mut self) {
        let without = |o: &Output, i: usize| {
            let y = o.alpha[i].signum();
            if o.alpha[i] == 0.0 {
                f64::INFINITY
            } else {
                y * (o.decision[i] - o.alpha[i] * self.gram.diag(i))
            }
        };
        let key = |i: usize| self.outputs.iter().map(|o| without(o, i)).fold(f64::INFINITY, f64::min);
        let best = self.place.values().copied().max_by(|&a, &b| key(a).total_cmp(&key(b)).then(b.cmp(&a)));
        let Some(best) = best else { return };
        self.gram.fetch(&[best]);
        for o in &mut self.outputs {
            simd::add_rows(&mut o.decision, &[self.gram.row(best)], &[-o.alpha[best]]);
            (o.alpha[best], o.delayed[best]) = (0.0, 0.0);
        }
        self.place.remove(&self.rows[best]);
        if self.rows.len() > self.place.len() + self.params.budget.max(64) / 4 {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut keep: Vec<usize> = self.place.values().copied().collect();
        keep.sort_unstable();
        for o in &mut self.outputs {
            for v in [&mut o.alpha, &mut o.delayed, &mut o.decision] {
                *v = keep.iter().map(|&i| v[i]).collect();
            }
        }
        self.gram.keep(&keep, &mut self.block);
        self.rows = keep.iter().map(|&i| self.rows[i]).collect();
        self.place = self.rows.iter().enumerate().map(|(at, &r)| (r, at)).collect();
    }

    fn fitted(self, exit: Exit) -> Fitted {
        let time = self.time.max(1.0);
        let mean = |o: &Output| -> Vec<f64> {
            o.alpha.iter().zip(&o.delayed).map(|(a, d)| a - (d - a) / time).collect()
        };
        let coef: Vec<Vec<f64>> = self
            .outputs
            .iter()
            .map(|o| if self.params.average { mean(o) } else { o.alpha.clone() })
            .collect();
        let support: Vec<usize> =
            (0..self.rows.len()).filter(|&i| coef.iter().any(|c| c[i] != 0.0)).collect();
        let report = |(j, o): (usize, &Output)| Report {
            steps: o.mistakes,
            objective: o.mistakes as f64,
            gap: 0.0,
            kernel_evaluations: if j == 0 { self.gram.evaluations() } else { 0 },
            exit,
        };
        Fitted {
            reports: self.outputs.iter().enumerate().map(report).collect(),
            model: Model::Expansion {
                kernel: self.params.kernel,
                points: self.gram.points().view().select(&support),
                coef: coef.iter().map(|c| support.iter().map(|&i| c[i]).collect()).collect(),
                bias: vec![0.0; self.outputs.len()],
            },
            online: None,
            transduced: None,
        }
    }
}
