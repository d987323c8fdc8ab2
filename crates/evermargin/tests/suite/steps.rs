//! Steps of the dual solver, one by one: what each gains. Numbers in brackets are those of the list of invariants in the
//! digest of Ertekin's thesis.
use crate::common::clouds;
use evermargin::data::Matrix;
use evermargin::estimators::Targets;
use evermargin::kernel::Kernel;
use evermargin::kernel::gram::{Gram, KernelGram, Packed};
use evermargin::solver::Stop;
use evermargin::solver::smo::Dual;

const RBF: Kernel = Kernel::Rbf { gamma: 0.5 };
const TOLERANCE: f64 = 1e-3;

/// A problem at 0 and its kernel matrix, as the solver has it.
struct Bench {
    dual: Dual,
    gram: KernelGram<'static>,
    k: Vec<Vec<f64>>,
}

impl Bench {
    fn new(x: &Matrix, targets: &Targets, c: f64, bias: bool) -> Self {
        let y: Vec<f64> = targets.y.iter().map(|y| y.sign()).collect();
        let (lo, hi) = y.iter().map(|y| ((c * y).min(0.0), (c * y).max(0.0))).unzip();
        let dual = Dual::new(y, lo, hi);
        let dual = if bias { dual } else { dual.without_bias() };
        let mut gram = KernelGram::new(Packed::new(x.view(), RBF).unwrap(), 1 << 24).unwrap();
        let n = x.rows();
        gram.fetch(&(0..n).collect::<Vec<_>>());
        // the rows, of single precision, are what gradients are kept by; their diagonal is 1 only to rounding
        let k = (0..n).map(|i| gram.row(i).iter().map(|k| f64::from(*k)).collect()).collect();
        Self { dual, gram, k }
    }

    /// tᵀα − ½αᵀKα from its definition.
    fn value(&self) -> f64 {
        let (a, t) = (self.dual.alpha(), self.dual.target());
        let f = |i: usize| self.k[i].iter().zip(a).map(|(k, a)| k * a).sum::<f64>();
        (0..a.len()).map(|i| a[i] * (t[i] - 0.5 * f(i))).sum()
    }

    /// What moving by these steps gains: Σ λg − ½ ΣΣ λλK, which for a pair is λ(g_i − g_j) − ½λ²κ.
    fn gain(&self, steps: &[(usize, f64)], gradient: &[f64]) -> f64 {
        let linear: f64 = steps.iter().map(|(i, s)| s * gradient[*i]).sum();
        let square: f64 =
            steps.iter().flat_map(|(i, s)| steps.iter().map(move |(j, t)| s * t * self.k[*i][*j])).sum();
        linear - 0.5 * square
    }

    /// Does something and says what it moved; checks that the objective rose by just what that must gain.
    fn watch(&mut self, what: impl FnOnce(&mut Dual, &mut KernelGram<'static>) -> bool) -> Vec<(usize, f64)> {
        let (alpha, gradient, before) =
            (self.dual.alpha().to_vec(), self.dual.gradient().to_vec(), self.value());
        let moved = what(&mut self.dual, &mut self.gram);
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

/// [4] PROCESS and REPROCESS gain λ(g_i − g_j) − ½λ²κ exactly, and more than nothing.
#[test]
fn every_step_gains_what_its_formula_says() {
    let (mut processed, mut stepped) = (0, 0);
    for seed in 0..6 {
        let (x, problems) = clouds(50, 3, seed);
        for c in [0.1, 1.0, 50.0] {
            for bias in [true, false] {
                let mut bench = Bench::new(&x, &problems[0], c, bias);
                for k in 0..50 {
                    if bench.dual.alpha()[k] == 0.0 {
                        let e = bench.dual.gradient_bounds();
                        let steps = bench.watch(|d, g| d.process(g, k, e, TOLERANCE));
                        assert!(steps.len() <= if bias { 2 } else { 1 });
                        assert!(steps.is_empty() || steps.iter().any(|(i, _)| *i == k));
                        processed += usize::from(!steps.is_empty());
                    }
                    for two in [false, true] {
                        let e = bench.dual.gradient_bounds();
                        let violation = bench.dual.violation();
                        let steps = bench.watch(|d, g| {
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
                        assert!(bench.dual.alpha().iter().sum::<f64>().abs() <= 1e-9 * c * 50.0);
                    }
                }
            }
        }
    }
    assert!(processed > 300 && stepped > 600, "{processed} {stepped}");
}

/// [4] So do the steps of finishing, taken one at a time.
#[test]
fn every_step_of_finishing_gains() {
    let (x, problems) = clouds(60, 3, 9);
    for bias in [true, false] {
        let mut bench = Bench::new(&x, &problems[0], 2.0, bias);
        let mut steps = 0;
        while bench.dual.violation() > TOLERANCE {
            let one = Stop { tolerance: TOLERANCE, max_steps: Some(1) };
            bench.watch(|d, g| d.run(g, one, &()).steps > 0);
            steps += 1;
            assert!(steps < 100_000);
        }
        assert!(steps > 20);
    }
}
