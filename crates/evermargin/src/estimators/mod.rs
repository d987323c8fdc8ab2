//! Estimators. Each one builds the input of one of the solvers in [`crate::solver`].

pub mod auto;
pub mod baselines;
pub mod class_weight;
mod estimator_params;
pub mod folds;
pub mod manifold;
pub mod med;
pub mod multiview;
pub mod online;
pub mod registry;
pub mod supervised;
pub mod transductive;

pub use class_weight::ClassWeight;
pub use estimator_params::{ESTIMATORS, EstimatorParams, estimator};
pub use registry::EstimatorSpec;

use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::model::Model;
use crate::solver::{Report, Watch};
use online::lasvm::Online;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use transductive::Transduced;

/// One two-class problem on the rows of a matrix: a label and a cost per row. Class weights and sample weights are
/// already multiplied into `cost` (1 = the learner's own C or lambda).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// Label of each row; [`Label::Unknown`] rows take no part in supervised learning.
    pub y: Vec<Label>,
    /// Weight of each row, finite and not negative; a row of weight 0 is ignored.
    pub cost: Vec<f64>,
}

/// Result of a fit: a model with one output per problem, and one report per problem.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Decision functions f₁ … fₖ; fⱼ > 0 means [`Label::Pos`] of problem j.
    pub model: Model,
    /// One report per problem.
    pub reports: Vec<Report>,
    /// Additional results of an online learner.
    pub online: Option<Online>,
    /// The labels a semi-supervised learner gave to the rows.
    pub transduced: Option<Transduced>,
}

impl Fitted {
    /// A result without the parts of online and semi-supervised learners.
    pub fn new(model: Model, reports: Vec<Report>) -> Self {
        Self { model, reports, online: None, transduced: None }
    }
}

/// A learner with its parameters. Several problems on one matrix are fitted together so that kernel rows,
/// graphs and factorizations are shared.
pub trait Fit: Send + Sync + std::fmt::Debug {
    /// Checks parameters and data, then fits the model.
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted>;

    /// For learners that use unlabeled rows: the same learner on labeled rows only, for comparison. Such a learner is
    /// called with either one problem or one problem per class (each class against the rest).
    fn supervised(&self) -> Option<Box<dyn Fit>> {
        None
    }

    /// Scores of the training rows. Skips the model for other rows where computing it costs more.
    fn transduce(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Transduced> {
        let fitted = self.fit(x, problems, watch)?;
        if let Some(transduced) = fitted.transduced {
            return Ok(transduced);
        }
        let (decisions, width) = (fitted.model.decision(x)?, problems.len());
        let scores = (0..width).map(|j| decisions.iter().skip(j).step_by(width).copied().collect()).collect();
        Ok(Transduced { scores, ..Transduced::default() })
    }

    /// For learners that use a graph of all rows: the same learner with this graph instead of one of nearest neighbors.
    fn along(&self, _graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        None
    }
}

impl Targets {
    /// Rows that take part in supervised learning: those with a label and a positive weight.
    pub fn used(&self) -> Vec<usize> {
        (0..self.y.len()).filter(|&i| self.y[i] != Label::Unknown && self.cost[i] > 0.0).collect()
    }

    /// The problem on the given rows only.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            y: rows.iter().map(|&i| self.y[i]).collect(),
            cost: rows.iter().map(|&i| self.cost[i]).collect(),
        }
    }

    /// Checks that there is one label and one valid weight per row and that both classes have rows of positive weight.
    pub fn check(&self, rows: usize) -> Result<()> {
        self.check_rows(rows)?;
        for class in [Label::Neg, Label::Pos] {
            if !self.y.iter().zip(&self.cost).any(|(y, c)| *y == class && *c > 0.0) {
                return Err(Error::Data(
                    "training needs labeled rows of two classes; only one class (or none) has any".into(),
                ));
            }
        }
        Ok(())
    }

    /// Checks that there is one label and one valid weight per row.
    fn check_rows(&self, rows: usize) -> Result<()> {
        for (what, found) in [("labels", self.y.len()), ("weights", self.cost.len())] {
            if found != rows {
                return Err(Error::Shape { what, expected: rows, found });
            }
        }
        if let Some(i) = self.cost.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(Error::Data(format!(
                "weight {} of row {}: must be a finite number, 0 or more",
                self.cost[i],
                i + 1
            )));
        }
        Ok(())
    }
}
