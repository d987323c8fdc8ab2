//! The weight λ of |f|² that suits the data, where none is given (`lambda` = 0): a share of the mean of K(x, x).
//!
//! Of a function f = ⟨w, x⟩ of rows a times as long, w is a times as short and |w|² smaller by a²: with λ ∝ mean |x|² the
//! objective, and so the labels, stay what they are whatever the units of the columns. For rows of length 1 and for the rbf
//! kernel it is the share itself. The mean is by weight, so that weight 2 is two copies, over all rows with a part in any
//! problem, labeled or not.

use crate::data::MatrixView;
use crate::estimators::Targets;
use crate::kernel::Kernel;

/// λ where it is given, else 0.01 of the mean squared length of rows, which are `centered` or not.
pub(crate) fn linear(lambda: f64, x: MatrixView<'_>, problems: &[Targets], centered: bool) -> f64 {
    const SHARE: f64 = 0.01;
    if lambda != 0.0 {
        return lambda;
    }
    let weight = weights(x.rows(), problems);
    times(SHARE, if centered { spread(x, &weight) } else { mean(&weight, |i| x.row(i).norm2()) }, LINEAR)
}

/// λ where it is given, else 0.01 of the mean of K(x, x).
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
    times(SHARE, mean(&weights(x.rows(), problems), square), KERNEL)
}

/// What λ may be.
const LINEAR: [f64; 2] = [1e-12, 1e12];
const KERNEL: [f64; 2] = [1e-15, 1e15];

/// The share of a mean, or of 1 where there is no length to go by.
fn times(share: f64, mean: f64, [least, most]: [f64; 2]) -> f64 {
    if mean > 0.0 { (share * mean).clamp(least, most) } else { share }
}

/// What each row weighs in all problems together.
fn weights(rows: usize, problems: &[Targets]) -> Vec<f64> {
    let mut weight = vec![0.0; rows];
    for problem in problems {
        weight.iter_mut().zip(&problem.cost).for_each(|(w, c)| *w += c);
    }
    weight
}

fn mean(weight: &[f64], value: impl Fn(usize) -> f64) -> f64 {
    let taking = || weight.iter().enumerate().filter(|(_, w)| **w > 0.0);
    taking().map(|(i, w)| w * value(i)).sum::<f64>() / taking().map(|(_, w)| w).sum::<f64>()
}

/// Mean squared distance to the mean row: by column, so that zeros that are not stored cost nothing.
fn spread(x: MatrixView<'_>, weight: &[f64]) -> f64 {
    let all: f64 = weight.iter().sum();
    let (mut middle, mut sum, mut stored) = (vec![0.0; x.cols()], 0.0, vec![0.0; x.cols()]);
    let taking = || weight.iter().enumerate().filter(|(_, w)| **w > 0.0);
    for (i, w) in taking() {
        x.row(i).for_each(|c, v| {
            middle[c] += w * v / all;
            stored[c] += w;
        });
    }
    for (i, w) in taking() {
        x.row(i).for_each(|c, v| sum += w * (v - middle[c]) * (v - middle[c]));
    }
    let absent = |(m, s): (&f64, &f64)| (all - s).max(0.0) * m * m;
    (sum + middle.iter().zip(&stored).map(absent).sum::<f64>()) / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Label, Matrix};

    fn targets(cost: &[f64]) -> Vec<Targets> {
        vec![Targets { y: vec![Label::Unknown; cost.len()], cost: cost.to_vec() }]
    }

    #[test]
    fn lambda_is_a_share_of_the_mean_square() {
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
