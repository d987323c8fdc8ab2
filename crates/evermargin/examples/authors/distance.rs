//! Distances between records: one minus a similarity, or learned from labeled pairs.
//!
//! The learned distance is d = 1/(1 + exp f), f being the decision of a support vector machine for "same author"
//! (rbf kernel, C = 1, γ = 0.05 as in Ertekin 2009, section 3.4): symmetric because the features are, in (0, 1), ½ on
//! the boundary.

use crate::similarity::{FEATURES, mean};
use evermargin::active::StopRule;
use evermargin::model::{Classifier, ScalingName};
use evermargin::params::structs::to_value;
use evermargin::params::{ParamValue, ParamValues};
use evermargin::pipeline::train::{Gamma, ScalingChoice, TrainOptions, train};
use evermargin::{Labels, Matrix, MatrixView, Result};

/// How pairs are taught to the support vector machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teaching {
    /// `svc` on all pairs: the batch solver, the thesis's LIBSVM.
    Batch,
    /// `lasvm` on pairs in a random order, until so many labels were looked at; 0 = all.
    Random(usize),
    /// `lasvm` that asks for the label of the pair nearest to its boundary among 59 drawn, until a rule says stop.
    Active(StopRule),
}

/// A way to tell how far two records are apart.
#[derive(Debug, Clone)]
pub enum Distance {
    /// One similarity, by number.
    One(usize),
    /// The mean of the similarities that are there.
    Mean,
    /// What was learned.
    Learned(Box<Learned>),
}

/// A learned distance and what it cost.
#[derive(Debug, Clone)]
pub struct Learned {
    /// The support vector machine.
    pub classifier: Classifier,
    /// Labels of pairs it asked for.
    pub labels: usize,
    /// Why it asked for no more.
    pub why: &'static str,
}

impl Distance {
    /// Learns from pairs, the rows of `x`, and whether each is of one author.
    pub fn learn(teaching: Teaching, x: Matrix, same: &[bool], seed: u64) -> Result<Self> {
        let token = |&same: &bool| Some(if same { "1" } else { "0" });
        let labels = Labels::from_tokens(same.iter().map(token));
        let trained = train(x, &labels, &options(teaching, seed), &())?;
        let (asked, why) = match trained.online {
            Some(online) => (online.labels, online.stopped.why()),
            None => (same.len(), "every sample was used"),
        };
        Ok(Self::Learned(Box::new(Learned { classifier: trained.classifier, labels: asked, why })))
    }

    /// How alike the records of each pair are: larger is more alike. One batch, so that the learned distance goes
    /// through its support vectors in blocks of pairs.
    pub fn alike(&self, pairs: MatrixView<'_>) -> Result<Vec<f64>> {
        match self {
            Self::One(which) => Ok(each(pairs, |row| row[*which])),
            Self::Mean => Ok(each(pairs, mean)),
            Self::Learned(learned) => Ok(learned.classifier.predict(pairs.to_matrix())?.decision),
        }
    }

    /// The distance, in [0, 1], of records that are so much alike.
    pub fn of(&self, alike: f64) -> f64 {
        match self {
            Self::One(_) | Self::Mean => 1.0 - alike,
            Self::Learned(_) => 1.0 / (1.0 + alike.exp()),
        }
    }

    /// What was learned, if it is.
    pub fn learned(&self) -> Option<&Learned> {
        match self {
            Self::One(_) | Self::Mean => None,
            Self::Learned(learned) => Some(learned),
        }
    }
}

/// A number for each row.
fn each(pairs: MatrixView<'_>, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut row = [0.0; FEATURES];
    let one = |i| {
        row.fill(0.0);
        pairs.row(i).for_each(|j, v| row[j] = v);
        of(&row)
    };
    (0..pairs.rows()).map(one).collect()
}

/// What the learner is told.
fn options(teaching: Teaching, seed: u64) -> TrainOptions {
    let words = |words: &[(&str, ParamValue)]| -> ParamValues {
        words.iter().map(|(name, value)| ((*name).to_string(), value.clone())).collect()
    };
    let (learner, params) = match teaching {
        Teaching::Batch => ("svc", ParamValues::new()),
        Teaching::Random(labels) => {
            let seed = ("seed", seed.into());
            let labels = ("labels", labels.into());
            ("lasvm", words(&[seed, ("select", "random".into()), labels, ("stop", "never".into())]))
        }
        Teaching::Active(stop) => {
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
