//! Manifold regularization with many weights and draws on one graph and in one space.
//!
//! `lapsvm` and `laprls` compute the graph, the space and RᵀL^pR in each fit. Here they are computed once for all γ_A, γ_I, losses
//! and draws, by the same functions of the library; a test compares the results.

use super::many::{Draw, Pool, Scores};
use crate::failure::{Failure, Result};
use evermargin::estimators::manifold::deformed_kernel::DeformedKernel;
use evermargin::estimators::manifold::landmark_space::LandmarkSpace;
use evermargin::estimators::manifold::lap::Loss;
use evermargin::estimators::manifold::penalty::Penalty;
use evermargin::estimators::supervised::rls::RlsParams;
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Targets};
use evermargin::{Kernel, Label, Matrix, Model};

/// The two losses with the names of their learners.
pub(super) const LOSSES: [Loss; 2] = [Loss::Hinge, Loss::Square];

/// The rows of a pool in the space of a kernel, and the penalty in it.
pub(super) struct KernelSpace {
    span: LandmarkSpace,
    quadratic: Vec<f64>,
}

/// The space with the kernel deformed by γ_I/γ_A times the penalty, for some draws.
pub(super) struct DeformedSpace<'p> {
    warp: DeformedKernel<'p>,
    span: &'p LandmarkSpace,
    rows: Vec<usize>,
    gram: Matrix,
    problems: Vec<Targets>,
    width: usize,
}

impl KernelSpace {
    /// Creates the space; without a penalty, learning is supervised.
    pub fn new(x: &Matrix, kernel: Kernel, penalty: Option<&Penalty>) -> Result<Self> {
        let span = LandmarkSpace::new(x.view(), kernel, x.rows(), 1, &())?;
        let quadratic = penalty.map_or_else(|| vec![0.0; span.dim() * span.dim()], |p| p.quadratic(&span));
        Ok(Self { span, quadratic })
    }

    /// The same space with another penalty.
    pub fn along(&mut self, penalty: &Penalty) {
        self.quadratic = penalty.quadratic(&self.span);
    }

    pub fn deform<'p>(&'p self, ratio: f64, pool: &Pool, draws: &[Draw]) -> Result<DeformedSpace<'p>> {
        let problems = pool.problems(draws);
        let known = |i: &usize| problems.iter().any(|p| p.y[*i] != Label::Unknown);
        let rows: Vec<usize> = (0..self.span.rows()).filter(known).collect();
        let warp = DeformedKernel::new(&self.span, &self.quadratic, ratio)?;
        let gram = warp.gram(&rows)?;
        let problems = problems.iter().map(|p| p.select(&rows)).collect();
        Ok(DeformedSpace { warp, span: &self.span, rows, gram, problems, width: pool.width() })
    }
}

impl DeformedSpace<'_> {
    /// Functions of all draws, one vector per problem, without intercept. γ_A refers to the sum over rows.
    pub fn solve(&self, loss: Loss, gamma_a: f64) -> Result<Vec<Vec<f64>>> {
        self.solve_but_constant(loss, gamma_a, false)
    }

    /// Like `solve`, for learners with an optional intercept, which is dropped because rankings do not need it.
    pub fn solve_but_constant(&self, loss: Loss, gamma_a: f64, bias: bool) -> Result<Vec<Vec<f64>>> {
        let kernel = Kernel::Precomputed;
        let svc = SvcParams {
            kernel,
            c: 0.5 / gamma_a,
            fit_intercept: bias,
            tolerance: 1e-4,
            ..SvcParams::default()
        };
        let rls = RlsParams { kernel, c: 1.0 / gamma_a, fit_intercept: bias, ..RlsParams::default() };
        let machine: &dyn Fit = if loss == Loss::Hinge { &svc } else { &rls };
        match machine.fit(self.gram.view(), &self.problems, &())?.model {
            Model::Linear { weights, .. } => {
                Ok(weights.iter().map(|a| self.warp.function(&self.rows, a)).collect())
            }
            _ => Err(Failure::Content("a learner on a kernel matrix returned no weights".into())),
        }
    }

    /// Scores of the rows of the space.
    pub fn inside(&self, functions: &[Vec<f64>]) -> Scores {
        Scores { width: self.width, of: functions.iter().map(|v| self.span.outputs(v)).collect() }
    }

    /// Scores of other rows; `x` are the rows of the space.
    pub fn outside(&self, x: &Matrix, functions: &[Vec<f64>], other: &Matrix) -> Result<Scores> {
        let model = self.span.model(x.view(), functions, vec![0.0; functions.len()]);
        let (decisions, width) = (model.decision(other.view())?, functions.len());
        let column = |k: usize| decisions.iter().skip(k).step_by(width).copied().collect();
        Ok(Scores { width: self.width, of: (0..width).map(column).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermargin::datasets::{GenerateParams, generate};
    use evermargin::estimators::manifold::lap::LapParams;
    use evermargin::estimators::manifold::penalty::PenaltyParams;

    #[test]
    fn results_equal_those_of_the_learners() {
        let params = GenerateParams { rows: 60, noise: Some(0.1), seed: 3, ..GenerateParams::default() };
        let (x, labels) = generate("two-moons", &params).unwrap();
        let (rest, _) = generate("two-moons", &GenerateParams { seed: 4, ..params }).unwrap();
        let pool = Pool::new(x, &labels);
        let draws: Vec<Draw> = (0..3)
            .map(|k| {
                let first = |c: u32| (0..60).filter(|&i| pool.class[i] == c).nth(k).unwrap();
                Draw::of(vec![first(0), first(1)])
            })
            .collect();
        let graph = PenaltyParams { n_neighbors: 6, ..PenaltyParams::default() };
        let kernel = Kernel::Rbf { gamma: 4.0 };
        let penalty = graph.penalty(pool.x.view(), &()).unwrap().unwrap();
        let space = KernelSpace::new(&pool.x, kernel, Some(&penalty)).unwrap();
        let deformed = space.deform(100.0, &pool, &draws).unwrap();
        for loss in LOSSES {
            let functions = deformed.solve(loss, 0.01).unwrap();
            let inside = deformed.inside(&functions);
            let outside = deformed.outside(&pool.x, &functions, &rest).unwrap();
            let learner = LapParams {
                loss,
                kernel,
                gamma_a: 0.01,
                gamma_i: 1.0,
                penalty: graph.clone(),
                ..LapParams::default()
            };
            for (k, draw) in draws.iter().enumerate() {
                let own = pool.learn(&learner, std::slice::from_ref(draw)).unwrap();
                let there = own.outside(&rest).unwrap();
                let pairs = inside.of[k].iter().zip(&own.inside.of[0]);
                for (a, b) in pairs.chain(outside.of[k].iter().zip(&there.of[0])) {
                    assert!((a - b).abs() < 1e-3, "{loss:?}: {a} {b}"); // the hinge is solved to 1e-4
                }
            }
        }
    }
}
