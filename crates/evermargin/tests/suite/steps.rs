//! Gain of each single step of the dual solver. Numbers in brackets refer to the list of invariants for Ertekin's thesis.
use crate::common::clouds;
use evermargin::data::Matrix;
use evermargin::estimators::Targets;
use evermargin::kernel::Kernel;
use evermargin::kernel::gram::{Gram, KernelGram, Packed};
use evermargin::solver::Stop;
use evermargin::solver::smo::Dual;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };
const TOLERANCE: f64 = 1e-3;

/// A problem that starts at α = 0, and its kernel matrix as the solver computes it.
struct DualProblem {
    dual: Dual,
    gram: KernelGram<'static>,
    k: Vec<Vec<f64>>,
}

impl DualProblem {
    fn new(x: &Matrix, targets: &Targets, c: f64, bias: bool) -> Self {
        let y: Vec<f64> = targets.y.iter().map(|y| y.sign()).collect();
        let (lo, hi) = y.iter().map(|y| ((c * y).min(0.0), (c * y).max(0.0))).unzip();
        let dual = Dual::new(y, lo, hi);
        let dual = if bias { dual } else { dual.without_bias() };
        let mut gram = KernelGram::new(Packed::new(x.view(), RBF).unwrap(), 1 << 24).unwrap();
        let n = x.rows();
        gram.fetch(&(0..n).collect::<Vec<_>>());
        // The solver updates gradients with these single-precision rows; their diagonal is 1 only up to rounding.
        let k = (0..n).map(|i| gram.row(i).iter().map(|k| f64::from(*k)).collect()).collect();
        Self { dual, gram, k }
    }

    /// tᵀα − ½αᵀKα, from its definition.
    fn value(&self) -> f64 {
        let (a, t) = (self.dual.alpha(), self.dual.target());
        let f = |i: usize| self.k[i].iter().zip(a).map(|(k, a)| k * a).sum::<f64>();
        (0..a.len()).map(|i| a[i] * (t[i] - 0.5 * f(i))).sum()
    }

    /// Gain of the given steps: Σ λg − ½ ΣΣ λλK, which for a pair is λ(g_i − g_j) − ½λ²κ.
    fn gain(&self, steps: &[(usize, f64)], gradient: &[f64]) -> f64 {
        let linear: f64 = steps.iter().map(|(i, s)| s * gradient[*i]).sum();
        let square: f64 =
            steps.iter().flat_map(|(i, s)| steps.iter().map(move |(j, t)| s * t * self.k[*i][*j])).sum();
        linear - 0.5 * square
    }

    /// Runs `take_step` and returns the changes of α. Checks that the objective increased by exactly the gain of these
    /// changes.
    fn checked_step(
        &mut self,
        take_step: impl FnOnce(&mut Dual, &mut KernelGram<'static>) -> bool,
    ) -> Vec<(usize, f64)> {
        let (alpha, gradient, before) =
            (self.dual.alpha().to_vec(), self.dual.gradient().to_vec(), self.value());
        let moved = take_step(&mut self.dual, &mut self.gram);
        let steps: Vec<(usize, f64)> = (0..alpha.len())
            .filter(|&i| self.dual.alpha()[i] != alpha[i])
            .map(|i| (i, self.dual.alpha()[i] - alpha[i]))
            .collect();
        assert_eq!(moved, !steps.is_empty());
        if moved {
            let (gain, after) = (self.gain(&steps, &gradient), self.value());
            assert!(gain > 0.0, "a step with a violation gains: {gain}");
            assert!(
                (after - before - gain).abs() <= 1e-12 * (1.0 + after.abs()),
                "{after} - {before} is not {gain}"
            );
        }
        steps
    }
}

/// [4] PROCESS and REPROCESS gain exactly λ(g_i − g_j) − ½λ²κ, and this gain is positive.
#[test]
fn process_and_reprocess_gain_exactly_their_formula() {
    let (mut processed, mut stepped) = (0, 0);
    for seed in 0..6 {
        let (x, problems) = clouds(50, 3, seed);
        for c in [0.1, 1.0, 50.0] {
            for bias in [true, false] {
                let mut fixture = DualProblem::new(&x, &problems[0], c, bias);
                for k in 0..50 {
                    if fixture.dual.alpha()[k] == 0.0 {
                        let e = fixture.dual.gradient_bounds();
                        let steps = fixture.checked_step(|d, g| d.process(g, k, e, TOLERANCE));
                        assert!(steps.len() <= if bias { 2 } else { 1 });
                        assert!(steps.is_empty() || steps.iter().any(|(i, _)| *i == k));
                        processed += usize::from(!steps.is_empty());
                    }
                    for two in [false, true] {
                        let e = fixture.dual.gradient_bounds();
                        let violation = fixture.dual.violation();
                        let steps = fixture.checked_step(|d, g| {
                            if two && !bias {
                                d.reprocess_two(g, e, TOLERANCE)
                            } else {
                                d.reprocess(g, e, TOLERANCE)
                            }
                        });
                        assert_eq!(!steps.is_empty(), violation > TOLERANCE);
                        stepped += usize::from(!steps.is_empty());
                    }
                    if bias {
                        assert!(fixture.dual.alpha().iter().sum::<f64>().abs() <= 1e-9 * c * 50.0);
                    }
                }
            }
        }
    }
    assert!(processed > 300 && stepped > 600, "{processed} {stepped}");
}

/// [4] The same holds for single steps of the final optimization.
#[test]
fn every_step_of_the_final_optimization_gains() {
    let (x, problems) = clouds(60, 3, 9);
    for bias in [true, false] {
        let mut fixture = DualProblem::new(&x, &problems[0], 2.0, bias);
        let mut steps = 0;
        while fixture.dual.violation() > TOLERANCE {
            let one = Stop { tolerance: TOLERANCE, max_steps: Some(1) };
            fixture.checked_step(|d, g| d.run(g, one, &()).steps > 0);
            steps += 1;
            assert!(steps < 100_000);
        }
        assert!(steps > 20);
    }
}
