//! Learners: each a way to build the input of one of the loops in [`crate::solver`].

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

/// One two-class problem on the rows of a matrix. Target and cost per example are the only knobs between data
/// and solver: class weight and sample weight are already in `cost` (1 = the learner's own C or lambda).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// Label of each row; [`Label::Unknown`] rows take no part in supervised learning.
    pub y: Vec<Label>,
    /// Weight of each row, finite and not negative; 0 means absent.
    pub cost: Vec<f64>,
}

/// What a fit gives: a model with one output a problem, and one report a problem.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// Decision functions f₁ … fₖ; fⱼ > 0 means [`Label::Pos`] of problem j.
    pub model: Model,
    /// One report a problem.
    pub reports: Vec<Report>,
    /// What an online learner tells beside it.
    pub online: Option<Online>,
    /// The labels a semi-supervised learner gave to the rows.
    pub transduced: Option<Transduced>,
}

impl Fitted {
    /// A model and its reports, and nothing beside.
    pub fn new(model: Model, reports: Vec<Report>) -> Self {
        Self { model, reports, online: None, transduced: None }
    }
}

/// A learner with its parameters. Several problems on one matrix are fitted together so that kernel rows,
/// graphs and factorizations are shared.
pub trait Fit: Send + Sync + std::fmt::Debug {
    /// Checks parameters and data, then learns.
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted>;

    /// For learners that use unlabeled rows: the same parameters for the labeled rows alone, to compare with. Such a learner is given either one problem or one a class (each against the rest), nothing else.
    fn supervised(&self) -> Option<Box<dyn Fit>> {
        None
    }

    /// Scores of the rows it is trained on, without a model for others where that costs more.
    fn transduce(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Transduced> {
        let fitted = self.fit(x, problems, watch)?;
        if let Some(transduced) = fitted.transduced {
            return Ok(transduced);
        }
        let (decisions, width) = (fitted.model.decision(x)?, problems.len());
        let scores = (0..width).map(|j| decisions.iter().skip(j).step_by(width).copied().collect()).collect();
        Ok(Transduced { scores, ..Transduced::default() })
    }

    /// For learners along a graph of all rows: the same with this graph in place of one of neighbors.
    fn along(&self, _graph: &Arc<Graph>) -> Option<Box<dyn Fit>> {
        None
    }
}

impl Targets {
    /// The rows that take part in supervised learning: labeled, with weight.
    pub fn used(&self) -> Vec<usize> {
        (0..self.y.len()).filter(|&i| self.y[i] != Label::Unknown && self.cost[i] > 0.0).collect()
    }

    /// The rows named.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            y: rows.iter().map(|&i| self.y[i]).collect(),
            cost: rows.iter().map(|&i| self.cost[i]).collect(),
        }
    }

    /// Checks that there is one usable label and weight a row and that both classes occur with weight.
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

    /// Checks that there is one usable label and weight a row.
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
