//! State of query selection: a bandit over strategies, learned weights of SUBMOD-ACTV, and the learning curve.
//!
//! The arms of the bandit are random, small pool, diverse and SUBMOD-ACTV with density weights ([`ARMS`]); the bandit
//! and its reward are described in [`crate::active::Bandit`]. The prior means express that about half of the
//! predictions near the boundary are wrong, and fewer farther away.

use super::MAX_COUNT;
use super::priced_queries::LearningCurve;
use super::{QueryStrategy, SubmodWeights};
use crate::active::{Bandit, WeightFactors, learn_weights};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// Strategies of the bandit, with the prior mean of the fraction of useful queries of each.
pub(super) const ARMS: [(QueryStrategy, f64); 4] = [
    (QueryStrategy::Random, 0.2),
    (QueryStrategy::SmallPool, 0.45),
    (QueryStrategy::Diverse, 0.35),
    (QueryStrategy::Submod, 0.2),
];

/// Arm of queries that are drawn at random.
pub(super) const RANDOM_ARM: u8 = 0;

/// Query of an arm, and the class that the classifier predicted when it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArmTrial {
    pub(super) arm: u8,
    pub(super) class: u32,
}

/// State of query selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryState {
    /// Bandit over strategies; `None` with any other strategy.
    pub(super) bandit: Option<Bandit>,
    pub(super) curve: LearningCurve,
    /// Whether the latest query was suppressed by its price.
    pub(super) priced_out: bool,
    /// Learned weights of SUBMOD-ACTV, and the batch in which they were learned.
    weights: Option<(WeightFactors, u64)>,
}

impl QueryState {
    pub(super) fn new(strategy: QueryStrategy) -> Result<Self> {
        let bandit = match strategy {
            QueryStrategy::Bandit => Some(Bandit::new(&ARMS.map(|(_, prior)| prior))?),
            _ => None,
        };
        Ok(Self { bandit, curve: LearningCurve::default(), priced_out: false, weights: None })
    }

    /// Weights of SUBMOD-ACTV for this batch; they are learned at most once per batch.
    pub(super) fn weights(
        &mut self,
        how: SubmodWeights,
        (labeled, classes): (MatrixView<'_>, &[u32]),
        kernel: Kernel,
        (count, seed, batch): (usize, u64, u64),
        watch: &dyn Watch,
    ) -> WeightFactors {
        let default = WeightFactors::default();
        match how {
            SubmodWeights::Dense => default,
            SubmodWeights::Outliers => WeightFactors { density: 1.0, ..default },
            SubmodWeights::Learned => match self.weights {
                Some((weights, of)) if of == batch => weights,
                _ => {
                    // the default if the kernel cannot compare these rows
                    let learned = learn_weights(labeled, classes, kernel, count, seed, watch);
                    let weights = learned.unwrap_or(default);
                    self.weights = Some((weights, batch));
                    weights
                }
            },
        }
    }

    /// Returns an error if parts do not match the parameters (a file may hold anything).
    pub(super) fn check(&self, strategy: QueryStrategy) -> Result<()> {
        if self.bandit.is_some() != (strategy == QueryStrategy::Bandit) {
            return Err(Error::State("its bandit does not match its query strategy".into()));
        }
        self.bandit.as_ref().map_or(Ok(()), |bandit| bandit.check(ARMS.len()))?;
        if let Some((weights, batch)) = &self.weights {
            weights.check()?;
            if *batch > MAX_COUNT {
                return Err(Error::State("the batch of its query weights is out of range".into()));
            }
        }
        self.curve.check()
    }
}
