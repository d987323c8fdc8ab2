//! Problems for `svc`, and checks of its solutions.
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::estimators::{Fit, Fitted, Targets};
use evermargin::kernel::gram::{Gram, KernelGram, Packed};
use evermargin::solver::smo::Dual;
use evermargin::solver::{Exit, Stop};
use evermargin::{Kernel, Label, Matrix, Model};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

pub const KERNELS: [Kernel; 4] = [
    Kernel::Linear,
    Kernel::Rbf { gamma: 0.7 },
    Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
    Kernel::Rbf { gamma: 0.05 },
];

pub struct Problem {
    pub x: Matrix,
    pub targets: Targets,
}

pub fn uniform(rng: &mut Pcg64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Two overlapping clouds.
pub fn clouds(rows: usize, cols: usize, seed: u64) -> Problem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let y: Vec<Label> = (0..rows).map(|i| if i % 3 == 0 { Label::Pos } else { Label::Neg }).collect();
    let values = (0..rows * cols).map(|k| 2.0 * uniform(&mut rng) - 1.0 + 0.4 * y[k / cols].sign()).collect();
    let cost = vec![1.0; rows];
    Problem { x: Matrix::dense(values, rows, cols).unwrap(), targets: Targets { y, cost } }
}

pub fn fit(params: &SvcParams, p: &Problem) -> Fitted {
    params.fit(p.x.view(), std::slice::from_ref(&p.targets), &()).unwrap()
}

pub fn params(kernel: Kernel, c: f64) -> SvcParams {
    SvcParams { kernel, c, tolerance: 1e-6, ..Default::default() }
}

pub fn decisions(fitted: &Fitted, x: &Matrix) -> Vec<f64> {
    fitted.model.decision(x.view()).unwrap()
}

pub fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "entry {i}: {a} against {b}");
    }
}

pub fn kernel_matrix(x: &Matrix, kernel: Kernel) -> Vec<Vec<f64>> {
    let v = x.view();
    (0..v.rows()).map(|i| (0..v.rows()).map(|j| kernel.eval(v.row(i), v.row(j))).collect()).collect()
}

/// Checks feasibility and the optimality conditions with a kernel matrix and margins computed here in double precision.
pub fn check_optimality(p: &Problem, kernel: Kernel, c: f64, alpha: &[f64], bias: f64, slack: f64) {
    let k = kernel_matrix(&p.x, kernel);
    assert!(alpha.iter().sum::<f64>().abs() < 1e-9 * c * alpha.len() as f64);
    for i in 0..alpha.len() {
        let y = p.targets.y[i].sign();
        let (a, bound) = (alpha[i] * y, c * p.targets.cost[i]);
        assert!((0.0..=bound).contains(&a), "alpha {a} outside [0, {bound}]");
        let f: f64 = k[i].iter().zip(alpha).map(|(k, a)| k * a).sum::<f64>() + bias;
        let margin = y * f - 1.0;
        if a < bound {
            assert!(margin >= -slack, "row {i}: margin {margin} at alpha {a}");
        }
        if a > 0.0 {
            assert!(margin <= slack, "row {i}: margin {margin} at alpha {a}");
        }
    }
}

pub fn solve_dual(
    p: &Problem,
    kernel: Kernel,
    c: f64,
    tolerance: f64,
    bytes: usize,
) -> (Dual, Box<dyn Gram>) {
    let bound: Vec<f64> = p.targets.y.iter().zip(&p.targets.cost).map(|(y, w)| y.sign() * w * c).collect();
    let mut dual = Dual::new(
        p.targets.y.iter().map(|y| y.sign()).collect(),
        bound.iter().map(|b| b.min(0.0)).collect(),
        bound.iter().map(|b| b.max(0.0)).collect(),
    );
    let mut gram: Box<dyn Gram> =
        Box::new(KernelGram::new(Packed::new(p.x.view(), kernel).unwrap(), bytes).unwrap());
    let report = dual.run(gram.as_mut(), Stop { tolerance, max_steps: Some(10_000_000) }, &());
    assert_eq!(report.exit, Exit::Converged);
    (dual, gram)
}

pub fn sparsify(x: &Matrix, zeros: f64) -> Matrix {
    let Matrix::Dense { values, rows, cols, .. } = x.view().to_dense() else { panic!("dense") };
    let mut rng = Pcg64::seed_from_u64(77);
    let thin = values.into_iter().map(|v| if uniform(&mut rng) < zeros { 0.0 } else { v }).collect();
    Matrix::dense(thin, rows, cols).unwrap().view().to_csr()
}

/// Σ αᵢK(xᵢ, ·), which is unique. The bias is not unique when no variable lies strictly inside its bounds.
pub fn without_bias(fitted: &Fitted, x: &Matrix) -> Vec<f64> {
    let Model::Expansion { bias, .. } = &fitted.model else { panic!("expansion") };
    decisions(fitted, x).iter().map(|f| f - bias[0]).collect()
}
