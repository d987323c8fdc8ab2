//! Distances between records: one minus a similarity, or learned from labelled pairs.
//!
//! The learned distance is d = 1/(1 + exp f), f being the decision of a support vector machine for "same author"
//! (rbf kernel, C = 1, γ = 0.05 as in Ertekin 2009, section 3.4): symmetric because the features are, in (0, 1), ½ on
//! the boundary.

use crate::similarity::{FEATURES, mean};
use evermargin::data::Row;
use evermargin::learn::train::{Gamma, ScalingChoice, TrainOptions, train};
use evermargin::model::{Classifier, ScalingName};
use evermargin::{Labels, Matrix, MatrixView, Result};

/// How pairs are taught to the support vector machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teaching {
    /// `svc` on all pairs: the batch solver, the thesis's LIBSVM.
    Batch,
    /// `lasvm` on all pairs, one at a time in a random order.
    Random,
    /// `lasvm` that asks for the label of the pair nearest to its boundary among 59 drawn, until none is inside the
    /// margin.
    Active,
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
}

impl Distance {
    /// Learns from pairs, the rows of `x`, and whether each is of one author.
    pub fn learn(teaching: Teaching, x: Matrix, same: &[bool], seed: u64) -> Result<Self> {
        let token = |&same: &bool| Some(if same { "1" } else { "0" });
        let labels = Labels::from_tokens(same.iter().map(token));
        let trained = train(x, &labels, &options(teaching, seed), &())?;
        Ok(Self::Learned(Box::new(Learned { classifier: trained.classifier, labels: same.len() })))
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

    /// Support vectors, if it has any.
    pub fn support_count(&self) -> Option<usize> {
        match self {
            Self::One(_) | Self::Mean => None,
            Self::Learned(learned) => Some(learned.classifier.model.support_count()),
        }
    }

    /// Labels of pairs that learning asked for.
    pub fn labels(&self) -> Option<usize> {
        match self {
            Self::One(_) | Self::Mean => None,
            Self::Learned(learned) => Some(learned.labels),
        }
    }
}

/// A number for each row.
fn each(pairs: MatrixView<'_>, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut row = [0.0; FEATURES];
    let one = |i| {
        row.fill(0.0);
        Row::for_each(pairs.row(i), |j, v| row[j] = v);
        of(&row)
    };
    (0..pairs.rows()).map(one).collect()
}

/// What the learner is told.
fn options(teaching: Teaching, seed: u64) -> TrainOptions {
    let learner = if teaching == Teaching::Batch { "svc" } else { "lasvm" };
    let mut options = TrainOptions::new(learner);
    options.gamma = Some(Gamma::Value(0.05));
    options.scaling = Some(ScalingChoice::Named(ScalingName::Standard));
    options.params.insert("c".into(), 1.0.into());
    options.seed = seed;
    if teaching != Teaching::Batch {
        options.params.insert("seed".into(), seed.into());
    }
    options
}
