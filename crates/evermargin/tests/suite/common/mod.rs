//! Small random problems, and quantities of a solver state recomputed from their definitions.
pub mod svc;

use evermargin::data::{Label, Matrix};
use evermargin::estimators::Targets;
use evermargin::estimators::online::lasvm::Lasvm;
use evermargin::kernel::Kernel;
use rand::{RngExt, SeedableRng};

/// Two overlapping clouds; 10 % of the labels are wrong.
pub fn clouds(n: usize, d: usize, seed: u64) -> (Matrix, Vec<Targets>) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let (mut values, mut y) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let positive = rng.random_bool(0.5);
        let shift = if positive { 0.7 } else { -0.7 };
        values.extend((0..d).map(|_| shift + rng.random_range(-1.5..1.5)));
        y.push(if positive == rng.random_bool(0.1) { Label::Neg } else { Label::Pos });
    }
    (Matrix::dense(values, n, d).unwrap(), vec![Targets { y, cost: vec![1.0; n] }])
}

/// Small integers: a linear kernel of them is exact in single precision.
pub fn small_integers(n: usize, d: usize, seed: u64) -> (Matrix, Vec<Targets>) {
    let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
    let values: Vec<f64> = (0..n * d).map(|_| f64::from(rng.random_range(-4i32..=4))).collect();
    let y: Vec<Label> = (0..n)
        .map(|i| {
            if values[i * d] + values[i * d + 1] > rng.random_range(-3.0..3.0) {
                Label::Pos
            } else {
                Label::Neg
            }
        })
        .collect();
    (Matrix::dense(values, n, d).unwrap(), vec![Targets { y, cost: vec![1.0; n] }])
}

/// Quantities of a state, recomputed in double precision.
pub struct Recomputed {
    /// target − Kα.
    pub gradient: Vec<f64>,
    /// tᵀα − ½αᵀKα.
    pub dual: f64,
    /// Σ|α|.
    pub l1_norm: f64,
}

pub fn recompute(state: &Lasvm, kernel: Kernel) -> Recomputed {
    let (points, dual) = (state.points().view(), state.output(0));
    let (n, alpha, target) = (dual.len(), dual.alpha(), dual.target());
    let mut k = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            k[i * n + j] = kernel.eval(points.row(i), points.row(j));
        }
    }
    let f: Vec<f64> = (0..n).map(|i| (0..n).map(|j| k[i * n + j] * alpha[j]).sum()).collect();
    Recomputed {
        gradient: (0..n).map(|i| target[i] - f[i]).collect(),
        dual: (0..n).map(|i| alpha[i] * (target[i] - 0.5 * f[i])).sum(),
        l1_norm: alpha.iter().map(|a| a.abs()).sum(),
    }
}

/// Trains on one row.
pub fn learn(state: &mut Lasvm, x: &Matrix, problems: &[Targets], row: usize) {
    assert!(state.learn(x.view(), &[row], 0, problems, &()).unwrap());
}

/// Gaussian elimination with pivoting; `None` if the matrix is singular.
pub fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs()))?;
        if a[pivot][c].abs() < 1e-11 {
            return None;
        }
        a.swap(c, pivot);
        b.swap(c, pivot);
        for r in c + 1..n {
            let f = a[r][c] / a[c][c];
            for k in c..n {
                a[r][k] -= f * a[c][k];
            }
            b[r] -= f * b[c];
        }
    }
    for c in (0..n).rev() {
        b[c] = (b[c] - (c + 1..n).map(|k| a[c][k] * b[k]).sum::<f64>()) / a[c][c];
    }
    Some(b)
}
