//! Distances between records: one minus a similarity, or learned from labeled pairs.
//!
//! The learned distance is d = 1/(1 + exp f), where f is the decision value of a support vector machine for "same
//! author" (rbf kernel, C = 1, γ = 0.05 as in Ertekin 2009, section 3.4). It is symmetric because the features are,
//! lies in (0, 1), and is ½ on the boundary.

use crate::similarity::{FEATURES, mean};
use evermargin::active::StopRule;
use evermargin::model::{Classifier, ScalingName};
use evermargin::params::structs::to_value;
use evermargin::params::{ParamValue, ParamValues};
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, train};
use evermargin::{Labels, Matrix, MatrixView, Result};

/// Training method of the support vector machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Training {
    /// `svc` on all pairs: the batch solver, LIBSVM in the thesis.
    Batch,
    /// `lasvm` on pairs in random order, up to this number of labels; 0 = all.
    Random(usize),
    /// `lasvm` that queries the label of the pair nearest to its boundary among 59 drawn, until a stopping rule applies.
    Active(StopRule),
}

/// A distance between two records.
#[derive(Debug, Clone)]
pub enum Distance {
    /// One similarity, by index.
    One(usize),
    /// The mean of the similarities whose attributes are present.
    Mean,
    /// A learned distance.
    Learned(Box<Learned>),
}

/// A learned distance and its cost in labels.
#[derive(Debug, Clone)]
pub struct Learned {
    /// The support vector machine.
    pub classifier: Classifier,
    /// Number of pair labels that were queried.
    pub labels: usize,
    /// Reason why queries ended.
    pub stop_reason: &'static str,
}

impl Distance {
    /// Trains on pairs, the rows of `x`, with whether both records of each pair have the same author.
    pub fn learn(training: Training, x: Matrix, same: &[bool], seed: u64) -> Result<Self> {
        let token = |&same: &bool| Some(if same { "1" } else { "0" });
        let labels = Labels::from_tokens(same.iter().map(token));
        let trained = train(x, &labels, &options(training, seed), &())?;
        let (asked, stop_reason) = match trained.online {
            Some(online) => (online.labels, online.stopped.why()),
            None => (same.len(), "every sample was used"),
        };
        Ok(Self::Learned(Box::new(Learned { classifier: trained.classifier, labels: asked, stop_reason })))
    }

    /// Similarity of the records of each pair; larger is more similar. All pairs are one batch, so that the learned
    /// distance processes its support vectors in blocks of pairs.
    pub fn similarity(&self, pairs: MatrixView<'_>) -> Result<Vec<f64>> {
        match self {
            Self::One(which) => Ok(each(pairs, |row| row[*which])),
            Self::Mean => Ok(each(pairs, mean)),
            Self::Learned(learned) => Ok(learned.classifier.predict(pairs.to_matrix())?.decision),
        }
    }

    /// The distance, in [0, 1], of records with this similarity.
    pub fn of(&self, similarity: f64) -> f64 {
        match self {
            Self::One(_) | Self::Mean => 1.0 - similarity,
            Self::Learned(_) => 1.0 / (1.0 + similarity.exp()),
        }
    }

    /// The learned distance, if this is one.
    pub fn learned(&self) -> Option<&Learned> {
        match self {
            Self::One(_) | Self::Mean => None,
            Self::Learned(learned) => Some(learned),
        }
    }
}

/// A value for each row.
fn each(pairs: MatrixView<'_>, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut row = [0.0; FEATURES];
    let one = |i| {
        row.fill(0.0);
        pairs.row(i).for_each(|j, v| row[j] = v);
        of(&row)
    };
    (0..pairs.rows()).map(one).collect()
}

/// Training options for the method.
fn options(training: Training, seed: u64) -> TrainOptions {
    let words = |words: &[(&str, ParamValue)]| -> ParamValues {
        words.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect()
    };
    let (learner, params) = match training {
        Training::Batch => ("svc", ParamValues::new()),
        Training::Random(labels) => {
            let seed = ("seed", seed.into());
            let labels = ("labels", labels.into());
            ("lasvm", words(&[seed, ("select", "random".into()), labels, ("stop", "never".into())]))
        }
        Training::Active(stop) => {
            let seed = ("seed", seed.into());
            (
                "lasvm",
                words(&[
                    seed,
                    ("select", "active".into()),
                    ("pool", 59.into()),
                    ("stop", to_value(&stop).unwrap_or_else(|_| "margin".into())),
                ]),
            )
        }
    };
    let mut options = TrainOptions::new(learner);
    options.params = params;
    options.gamma = Some(Gamma::Value(0.05));
    options.scaling = Some(ScalingChoice::Named(ScalingName::Standard));
    options
}
