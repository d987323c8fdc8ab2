//! Effect of the unlabeled rows: the labels assigned by a semi-supervised learner, compared with those of its supervised
//! baseline, and the accuracy of both on held-out labeled rows.

use crate::data::{Labels, MatrixView};
use crate::error::Result;
use crate::estimators::transductive::{SupervisedAnswer, Transduced};
use crate::estimators::{Fit, Targets};
use crate::model::MulticlassScheme;
use crate::params::ParamValues;
use crate::pipeline::cross_validation::{held_out_by_fold, stratified_folds};
use crate::pipeline::options::TrainOptions;
use crate::pipeline::preprocess::Prepared;
use crate::solver::{Progress, Watch};

/// The labels of all rows as classes.
#[derive(Debug, Clone)]
pub struct Semi {
    /// The class of each row; given labels are kept.
    pub class: Vec<u32>,
    /// The score of the class in `class`: the distance from the boundary in margins, negative where the learner
    /// contradicts a given label.
    pub score: Vec<f64>,
    /// Confidence between 0 and 1: eˢ over the sum of eˢ of all classes (±s with two classes). Not calibrated.
    pub confidence: Vec<f64>,
    /// Whether the label of each row was given.
    pub given: Vec<bool>,
    /// Target fraction of the unlabeled rows for each problem.
    pub ratio: Vec<f64>,
    /// Further facts reported by the learner.
    pub facts: ParamValues,
    /// The supervised baseline; `None` if not requested or interrupted.
    pub baseline: Option<Baseline>,
}

/// Result of the same learner without the unlabeled rows.
#[derive(Debug, Clone)]
pub struct Baseline {
    /// The class of each row; given labels are kept.
    pub class: Vec<u32>,
    /// Fraction of the unlabeled rows on which both agree.
    pub agreement: f64,
    /// Accuracy on held-out labeled rows without and with the unlabeled rows; `None` if some class has too few labels.
    pub cross_validated: Option<[f64; 2]>,
    /// Number of folds of that cross-validation.
    pub folds: usize,
    /// Number of labels, each of which was held out once.
    pub labels: usize,
}

impl Semi {
    /// Computes classes from scores, and the comparison.
    pub(crate) fn new(
        transduced: Transduced,
        fit: &dyn Fit,
        prepared: &Prepared,
        options: &TrainOptions,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let labels = &prepared.labels;
        let rows = prepared.x.rows();
        let width = transduced.scores.len();
        let score = |i: usize, j: usize| transduced.scores[j][i];
        let (mut class, mut own, mut confidence) = (vec![0; rows], vec![0.0; rows], vec![0.0; rows]);
        for i in 0..rows {
            let scores: Vec<f64> = match prepared.scheme {
                MulticlassScheme::Binary => vec![-score(i, 0), score(i, 0)],
                _ => (0..width).map(|j| score(i, j)).collect(),
            };
            let c = labels.of[i].unwrap_or_else(|| highest(&scores));
            class[i] = c;
            own[i] = scores[c as usize];
            confidence[i] = 1.0 / scores.iter().map(|s| (s - own[i]).exp()).sum::<f64>();
        }
        watch.learned();
        let wanted = options.compare && watch.proceed(&START);
        let baseline = match transduced.alone {
            _ if !wanted => None,
            Some(alone) => Some(Baseline::found(&alone, &class, labels, prepared.scheme)),
            None => Baseline::new(fit, prepared, &class, options, watch)?,
        };
        Ok(Self {
            class,
            score: own,
            confidence,
            given: labels.of.iter().map(Option::is_some).collect(),
            ratio: transduced.ratio,
            facts: transduced.facts,
            baseline,
        })
    }
}

const START: Progress = Progress { steps: 0, violation: 1.0, tolerance: 0.0 };

impl Baseline {
    /// Whether the accuracy on held-out labels is lower with the unlabeled rows, by more than one standard error.
    #[must_use]
    pub fn shows_harm(&self) -> bool {
        self.cross_validated.is_some_and(|[without, with]| {
            let variance = with * (1.0 - with) + without * (1.0 - without);
            without - with > (variance / self.labels.max(1) as f64).sqrt()
        })
    }

    /// The baseline computed by the learner itself.
    fn found(alone: &SupervisedAnswer, class: &[u32], labels: &Labels, scheme: MulticlassScheme) -> Self {
        let width = alone.scores.len();
        let decisions: Vec<f64> =
            (0..class.len()).flat_map(|i| (0..width).map(move |j| alone.scores[j][i])).collect();
        let alone_class = classes(&decisions, labels, scheme);
        let agreement = agreement(&alone_class, class, labels);
        let (cross_validated, folds) = (alone.cross_validated, alone.folds);
        Self { class: alone_class, agreement, cross_validated, folds, labels: labels.labeled() }
    }

    fn new(
        fit: &dyn Fit,
        prepared: &Prepared,
        class: &[u32],
        options: &TrainOptions,
        watch: &dyn Watch,
    ) -> Result<Option<Self>> {
        let labels = &prepared.labels;
        let Some(supervised) = fit.supervised() else { return Ok(None) };
        let x = prepared.x.view();
        let alone = supervised.fit(x, &prepared.problems, watch)?;
        let decisions = alone.model.decision(x)?;
        let alone = classes(&decisions, labels, prepared.scheme);
        let folds = options.folds.min(labels.counts().into_iter().min().unwrap_or(0));
        let cross_validated = match folds {
            0 | 1 => None,
            _ => {
                let folds = stratified_folds(labels, folds, options.seed)?;
                let accuracy = |fit: &dyn Fit| {
                    held_accuracy(fit, x, &prepared.problems, &folds, labels, prepared.scheme, watch)
                };
                Some([accuracy(supervised.as_ref())?, accuracy(fit)?])
            }
        };
        if !watch.proceed(&START) {
            return Ok(None);
        }
        let agreement = agreement(&alone, class, labels);
        Ok(Some(Self { class: alone, agreement, cross_validated, folds, labels: labels.labeled() }))
    }
}

/// Fraction of the unlabeled rows on which two labelings agree.
fn agreement(a: &[u32], b: &[u32], labels: &Labels) -> f64 {
    let unlabeled = || (0..a.len()).filter(|&i| labels.of[i].is_none());
    let same = unlabeled().filter(|&i| a[i] == b[i]).count();
    if unlabeled().next().is_none() { 1.0 } else { same as f64 / unlabeled().count() as f64 }
}

/// Fraction of the held-out rows that are predicted correctly.
fn held_accuracy(
    fit: &dyn Fit,
    x: MatrixView<'_>,
    problems: &[Targets],
    folds: &[Option<u32>],
    labels: &Labels,
    scheme: MulticlassScheme,
    watch: &dyn Watch,
) -> Result<f64> {
    let (decisions, _) = held_out_by_fold(fit, x, problems, folds, watch)?;
    let unseen = Labels { classes: labels.classes.clone(), of: vec![None; labels.of.len()] };
    let found = classes(&decisions, &unseen, scheme);
    let held: Vec<usize> = (0..found.len()).filter(|&i| folds[i].is_some()).collect();
    let correct = held.iter().filter(|&&i| labels.of[i] == Some(found[i])).count();
    Ok(correct as f64 / held.len().max(1) as f64)
}

/// The class of each row from its decision values; known labels are kept.
fn classes(decisions: &[f64], labels: &Labels, scheme: MulticlassScheme) -> Vec<u32> {
    let width = decisions.len() / labels.of.len().max(1);
    let found =
        |f: &[f64]| if scheme == MulticlassScheme::Binary { u32::from(f[0] > 0.0) } else { highest(f) };
    decisions
        .chunks(width.max(1))
        .zip(&labels.of)
        .map(|(f, known)| known.unwrap_or_else(|| found(f)))
        .collect()
}

/// The index of the largest score; ties go to the first.
fn highest(scores: &[f64]) -> u32 {
    let mut best = 0;
    for (j, s) in scores.iter().enumerate() {
        if *s > scores[best] {
            best = j;
        }
    }
    best as u32
}
