//! Default weight λ of |f|² if none is given (`lambda` = 0): a fixed fraction of the mean of K(x, x).
//!
//! If the rows of a function f = ⟨w, x⟩ are scaled by a, w is scaled by 1/a and |w|² by 1/a²: with λ ∝ mean |x|² the
//! objective, and therefore the labels, do not depend on the units of the columns. For rows of length 1 and for the rbf
//! kernel λ is the fraction itself. The mean is weighted, so that weight 2 equals two copies, and covers all rows that
//! take part in any problem, labeled or not.

use crate::data::MatrixView;
use crate::estimators::Targets;
use crate::kernel::Kernel;

/// λ if given, otherwise 0.01 of the mean squared length of the rows, which are `centered` or not.
pub(crate) fn linear(lambda: f64, x: MatrixView<'_>, problems: &[Targets], centered: bool) -> f64 {
    const SHARE: f64 = 0.01;
    if lambda != 0.0 {
        return lambda;
    }
    let weight = weights(x.rows(), problems);
    scaled(SHARE, if centered { spread(x, &weight) } else { mean(&weight, |i| x.row(i).norm2()) }, LINEAR)
}

/// λ if given, otherwise 0.01 of the mean of K(x, x).
pub(crate) fn kernel(lambda: f64, x: MatrixView<'_>, problems: &[Targets], kernel: Kernel) -> f64 {
    const SHARE: f64 = 0.01;
    if lambda != 0.0 {
        return lambda;
    }
    let square = |i: usize| match kernel {
        Kernel::Precomputed => {
            let mut diagonal = 0.0;
            x.row(i).for_each(|c, v| {
                if c == i {
                    diagonal = v;
                }
            });
            diagonal
        }
        kernel => kernel.eval(x.row(i), x.row(i)),
    };
    scaled(SHARE, mean(&weights(x.rows(), problems), square), KERNEL)
}

/// Range of λ.
const LINEAR: [f64; 2] = [1e-12, 1e12];
const KERNEL: [f64; 2] = [1e-15, 1e15];

/// A fraction of the mean, or the fraction itself if the mean is 0.
fn scaled(share: f64, mean: f64, [min, max]: [f64; 2]) -> f64 {
    if mean > 0.0 { (share * mean).clamp(min, max) } else { share }
}

/// Total weight of each row over all problems.
fn weights(rows: usize, problems: &[Targets]) -> Vec<f64> {
    let mut weight = vec![0.0; rows];
    for problem in problems {
        weight.iter_mut().zip(&problem.cost).for_each(|(w, c)| *w += c);
    }
    weight
}

fn mean(weight: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let used = || weight.iter().enumerate().filter(|(_, w)| **w > 0.0);
    used().map(|(i, w)| w * value(i)).sum::<f64>() / used().map(|(_, w)| w).sum::<f64>()
}

/// Mean squared distance to the mean row, by column, so that unstored zeros cost nothing.
fn spread(x: MatrixView<'_>, weight: &[f64]) -> f64 {
    let all: f64 = weight.iter().sum();
    let (mut center, mut sum, mut stored) = (vec![0.0; x.cols()], 0.0, vec![0.0; x.cols()]);
    let used = || weight.iter().enumerate().filter(|(_, w)| **w > 0.0);
    for (i, w) in used() {
        x.row(i).for_each(|c, v| {
            center[c] += w * v / all;
            stored[c] += w;
        });
    }
    for (i, w) in used() {
        x.row(i).for_each(|c, v| sum += w * (v - center[c]) * (v - center[c]));
    }
    let absent = |(m, s): (&f64, &f64)| (all - s).max(0.0) * m * m;
    (sum + center.iter().zip(&stored).map(absent).sum::<f64>()) / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Label, Matrix};

    fn targets(cost: &[f64]) -> Vec<Targets> {
        vec![Targets { y: vec![Label::Unknown; cost.len()], cost: cost.to_vec() }]
    }

    #[test]
    fn default_lambda_is_a_fraction_of_the_mean_square() {
        let x = Matrix::dense(vec![3.0, 4.0, 0.0, 1.0, 9.0, 9.0], 3, 2).unwrap();
        let problems = targets(&[1.0, 2.0, 0.0]);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        for x in [x.view(), x.view().to_csr().view()] {
            near(linear(0.0, x, &problems, false), 0.01 * 27.0 / 3.0);
            // the mean row is (1, 2): squared distances 8 and 2 (twice)
            near(linear(0.0, x, &problems, true), 0.01 * 12.0 / 3.0);
            near(linear(0.5, x, &problems, true), 0.5);
            near(kernel(0.0, x, &problems, Kernel::Linear), 0.01 * 9.0);
            near(kernel(0.0, x, &problems, Kernel::Rbf { gamma: 3.0 }), 0.01);
            near(kernel(2.0, x, &problems, Kernel::Linear), 2.0);
        }
        let zero = Matrix::dense(vec![0.0; 4], 2, 2).unwrap();
        near(linear(0.0, zero.view(), &targets(&[1.0; 2]), true), 0.01);
        near(kernel(0.0, zero.view(), &targets(&[1.0; 2]), Kernel::Linear), 0.01);
        let gram = Matrix::dense(vec![2.0, 1.0, 1.0, 6.0], 2, 2).unwrap();
        near(kernel(0.0, gram.view(), &targets(&[1.0; 2]), Kernel::Precomputed), 0.04);
    }
}
