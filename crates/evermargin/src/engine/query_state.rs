//! What the engine has learned about asking: a bandit over strategies, weights of SUBMOD-ACTV, the learning curve.
//!
//! The arms of the bandit are random, small pool, diverse and SUBMOD-ACTV in its density form ([`ARMS`]); the bandit and its reward
//! are described in [`crate::active::Bandit`]. The prior means say that half of the answers near the boundary are mistakes, fewer
//! further away.

use super::MAX_COUNT;
use super::priced_queries::LearningCurve;
use super::{QueryStrategy, SubmodWeights};
use crate::active::{Bandit, WeightFactors, learn_weights};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::solver::Watch;
use serde::{Deserialize, Serialize};

/// The strategies of the bandit, and the share of useful questions expected of each before any answer.
pub(super) const ARMS: [(QueryStrategy, f64); 4] = [
    (QueryStrategy::Random, 0.2),
    (QueryStrategy::SmallPool, 0.45),
    (QueryStrategy::Diverse, 0.35),
    (QueryStrategy::Submod, 0.2),
];

/// The arm of questions that are drawn at random.
pub(super) const RANDOM_ARM: u8 = 0;

/// A question of an arm, and the class that the classifier gave its row when it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArmTrial {
    pub(super) arm: u8,
    pub(super) class: u32,
}

/// What was learned about asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryState {
    /// None where the strategy is no bandit.
    pub(super) bandit: Option<Bandit>,
    pub(super) curve: LearningCurve,
    /// Whether asking was last refused by its price.
    pub(super) priced_out: bool,
    /// Learned weights of SUBMOD-ACTV, and the batch they were learned in.
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

    /// Weights of SUBMOD-ACTV for this batch; learned ones are learned once per batch.
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
                    // where the kernel cannot compare these rows, the default
                    let learned = learn_weights(labeled, classes, kernel, count, seed, watch);
                    let weights = learned.unwrap_or(default);
                    self.weights = Some((weights, batch));
                    weights
                }
            },
        }
    }

    /// Refuses parts that do not fit the parameters (a file may say anything).
    pub(super) fn check(&self, strategy: QueryStrategy) -> Result<()> {
        if self.bandit.is_some() != (strategy == QueryStrategy::Bandit) {
            return Err(Error::State("its query strategy and its bandit differ".into()));
        }
        self.bandit.as_ref().map_or(Ok(()), |bandit| bandit.check(ARMS.len()))?;
        if let Some((weights, batch)) = &self.weights {
            weights.check()?;
            if *batch > MAX_COUNT {
                return Err(Error::State("its query weights".into()));
            }
        }
        self.curve.check()
    }
}
