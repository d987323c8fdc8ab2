//! Fits many draws of labels at once: the draws of a data set are problems on the same rows, which a learner fits together, so that
//! graphs, kernel rows and factorizations are computed once. Two classes need one problem per draw, more need one per class.

use crate::failure::Result;
use evermargin::estimators::{Fit, Targets};
use evermargin::{Label, Labels, Matrix, Model};

/// Rows and their classes.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub x: Matrix,
    pub class: Vec<u32>,
    pub classes: usize,
}

/// Labeled rows, and rows that are not used.
#[derive(Debug, Clone, Default)]
pub(super) struct Draw {
    pub known: Vec<usize>,
    pub absent: Vec<usize>,
}

impl Draw {
    pub fn of(known: Vec<usize>) -> Self {
        Self { known, absent: Vec::new() }
    }
}

impl Pool {
    /// Creates a pool of rows with known classes.
    pub fn new(x: Matrix, labels: &Labels) -> Self {
        let class = labels.of.iter().map(|c| c.unwrap_or(0)).collect();
        Self { x, class, classes: labels.classes.len() }
    }

    /// Number of problems per draw.
    pub fn width(&self) -> usize {
        if self.classes == 2 { 1 } else { self.classes }
    }

    /// The pool of some of the rows.
    pub fn part(&self, rows: &[usize]) -> Self {
        let class = rows.iter().map(|&i| self.class[i]).collect();
        Self { x: self.x.view().select(rows), class, classes: self.classes }
    }

    /// Problems of all draws.
    pub fn problems(&self, draws: &[Draw]) -> Vec<Targets> {
        let mut out = Vec::with_capacity(draws.len() * self.width());
        for draw in draws {
            for k in 0..self.width() as u32 {
                let positive = if self.classes == 2 { 1 } else { k };
                let mut y = vec![Label::Unknown; self.class.len()];
                let label = |i: usize| if self.class[i] == positive { Label::Pos } else { Label::Neg };
                draw.known.iter().for_each(|&i| y[i] = label(i));
                let mut cost = vec![1.0; y.len()];
                draw.absent.iter().for_each(|&i| cost[i] = 0.0);
                out.push(Targets { y, cost });
            }
        }
        out
    }

    /// True share of each class among the unlabeled rows of a draw; with two classes that of the second.
    pub fn shares(&self, draw: &Draw) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes];
        self.open(draw).iter().for_each(|&i| counts[self.class[i] as usize] += 1.0);
        let total: f64 = counts.iter().sum();
        counts.iter_mut().for_each(|c| *c = (*c / total).clamp(1e-9, 1.0 - 1e-9));
        if self.classes == 2 { vec![counts[1]] } else { counts }
    }

    /// Unlabeled rows that are used.
    pub fn open(&self, draw: &Draw) -> Vec<usize> {
        let mut open = vec![true; self.class.len()];
        draw.known.iter().chain(&draw.absent).for_each(|&i| open[i] = false);
        (0..open.len()).filter(|&i| open[i]).collect()
    }

    /// Fits all draws together.
    pub fn learn(&self, fit: &dyn Fit, draws: &[Draw]) -> Result<Learned> {
        let fitted = fit.fit(self.x.view(), &self.problems(draws), &())?;
        let inside = match fitted.transduced {
            Some(transduced) => transduced.scores,
            None => by_problem(&fitted.model, &self.x)?,
        };
        Ok(Learned { model: fitted.model, inside: Scores { width: self.width(), of: inside } })
    }
}

/// Result of fitting all draws.
#[derive(Debug)]
pub(super) struct Learned {
    pub model: Model,
    /// Scores of the training rows.
    pub inside: Scores,
}

impl Learned {
    /// Scores of other rows.
    pub fn outside(&self, x: &Matrix) -> Result<Scores> {
        Ok(Scores { width: self.inside.width, of: by_problem(&self.model, x)? })
    }
}

fn by_problem(model: &Model, x: &Matrix) -> Result<Vec<Vec<f64>>> {
    let (decisions, width) = (model.decision(x.view())?, model.outputs());
    Ok((0..width).map(|k| decisions.iter().skip(k).step_by(width).copied().collect()).collect())
}

/// Scores of rows, one vector per problem; the problems of a draw are adjacent.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub width: usize,
    pub of: Vec<Vec<f64>>,
}

impl Scores {
    /// Predicted class of a row in a draw.
    pub fn class(&self, draw: usize, row: usize) -> u32 {
        let of = &self.of[draw * self.width..(draw + 1) * self.width];
        if let [two] = of {
            return u32::from(two[row] > 0.0);
        }
        let better = |best: usize, k: usize| if of[k][row] > of[best][row] { k } else { best };
        (1..of.len()).fold(0, better) as u32
    }

    /// Share of rows with a wrong class in a draw.
    pub fn error(&self, draw: usize, truth: &[u32], rows: &[usize]) -> f64 {
        let wrong = rows.iter().filter(|&&i| self.class(draw, i) != truth[i]).count();
        wrong as f64 / rows.len().max(1) as f64
    }
}

/// Mean of the values; NaN if there are none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermargin::estimators::supervised::rls::RlsParams;

    /// Three groups on a line: fits together equal separate fits, and unused rows act as if they were absent.
    #[test]
    fn draws_fitted_together_equal_separate_fits() {
        let x: Vec<f64> = (0..30).map(|i| f64::from(i % 3) * 3.0 + 0.1 * f64::from(i)).collect();
        let pool =
            Pool { x: Matrix::dense(x, 30, 1).unwrap(), class: (0..30).map(|i| i % 3).collect(), classes: 3 };
        let draws = [Draw::of(vec![0, 1, 2, 7]), Draw { known: vec![3, 4, 5], absent: vec![9, 10] }];
        let fit = RlsParams { kernel: evermargin::Kernel::Rbf { gamma: 0.5 }, ..RlsParams::default() };
        let together = pool.learn(&fit, &draws).unwrap();
        assert_eq!(together.inside.of.len(), 6);
        for (k, draw) in draws.iter().enumerate() {
            let apart = pool.learn(&fit, std::slice::from_ref(draw)).unwrap();
            for j in 0..3 {
                for (a, b) in together.inside.of[3 * k + j].iter().zip(&apart.inside.of[j]) {
                    assert!((a - b).abs() < 1e-9);
                }
            }
        }
        assert_eq!(pool.open(&draws[1]).len(), 25);
        let shares = pool.shares(&draws[0]);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((shares[0] - 9.0 / 26.0).abs() < 1e-12);
        let all: Vec<usize> = (0..30).collect();
        assert!(together.inside.error(0, &pool.class, &all) < 0.5);
    }
}
