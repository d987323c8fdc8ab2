//! Start of an online learner whose classes are declared before they occur.
//!
//! Problem: the first rows of a stream need not contain every class. Scaling, kernel width and packing are fitted on
//! the first rows, as in training; there is a decision function for every declared class. Until a class occurs, its
//! one-vs-rest output is inactive: it needs no points, so points can be evicted. Nothing is lost by that, because all
//! stored points become negatives of the output when the class first occurs ([`Lasvm::activate_output`]). An output
//! with samples on one side only predicts that side, and a class that has not occurred is never predicted.
//!
//! With one-vs-one pairs, an output that lacks a side keeps the rows of the other side: while a declared class is
//! missing, points are evicted only at their maximum number.

use crate::data::{Label, Labels, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::online::lasvm::Lasvm;
use crate::estimators::{Targets, estimator};
use crate::model::{InputSpec, LearnerInfo, Model, MulticlassScheme, Scaling};
use crate::pipeline::checkpoint_head::CheckpointHead;
use crate::pipeline::options::{ScalingChoice, TrainOptions};
use crate::pipeline::partial_fit::{ONLINE, OnlineCheckpoint};
use crate::pipeline::preprocess::{MAX_CLASSES, Prepared, scheme_for};
use crate::pipeline::train::{described, with_gamma};

/// The decision value for a class that has not occurred: below all others, with a finite square.
const UNSEEN_DECISION: f64 = -1e100;

impl OnlineCheckpoint {
    /// An untrained learner for samples like the rows of `first`, none of which is learned.
    pub fn begin(options: &TrainOptions, classes: &[String], first: MatrixView<'_>) -> Result<Self> {
        let learner = estimator(&options.learner)?;
        let Some(&(name, _)) = ONLINE.iter().find(|(name, _)| *name == learner.name) else {
            let names: Vec<&str> = ONLINE.iter().map(|(name, _)| *name).collect();
            let allowed = format!("an online learner: {}", names.join(", "));
            return Err(Error::parameter("learner", learner.name, allowed));
        };
        learner.make(&options.params)?;
        refuse_batch_only_options(options)?;
        check_classes(classes)?;
        if first.rows() == 0 || first.cols() == 0 {
            return Err(Error::Data("the first rows of a stream are missing, or have no columns".into()));
        }
        let mut notes = Vec::new();
        let scheme = scheme_for(classes.len(), learner, options, &mut notes);
        let choice = options.scaling.unwrap_or_else(|| ScalingChoice::Named(Scaling::choose(first).0));
        let scaling = choice.fit(first)?;
        let x = scaling.apply(first.to_matrix())?;
        let labels = Labels { classes: classes.to_vec(), of: Vec::new() };
        let class_weight = vec![1.0; classes.len()];
        let problems = Vec::new();
        let prepared = Prepared { x, labels, scheme, problems, scaling, class_weight, weights: None, notes };
        let params = with_gamma(&prepared, learner, options, &mut Vec::new())?;
        let made = learner.make(&params)?;
        let machine =
            made.as_lasvm().ok_or_else(|| Error::State(format!("{name} is not an online learner")))?;
        let outputs = match scheme {
            MulticlassScheme::Binary => 1,
            MulticlassScheme::OneVsRest => classes.len(),
            MulticlassScheme::OneVsOne => classes.len() * (classes.len() - 1) / 2,
        };
        let params = described(&made, options)?;
        let learner = LearnerInfo { name: name.into(), params, classes: classes.to_vec(), scheme };
        let saved = Lasvm::new(machine, prepared.x.view(), outputs)?.save();
        let (input, counts) = (InputSpec::default(), vec![0; classes.len()]);
        Ok(Self {
            head: CheckpointHead { learner, scaling: prepared.scaling, input, counts },
            rows: 0,
            saved,
        })
    }

    /// One-vs-rest outputs whose class occurs in these rows for the first time.
    pub(crate) fn newly_seen(&self, labels: &Labels) -> Vec<usize> {
        let fresh = |&j: &usize| self.head.counts[j] == 0 && labels.of.contains(&Some(j as u32));
        let LearnerInfo { classes, scheme, .. } = &self.head.learner;
        let outputs = if *scheme == MulticlassScheme::OneVsRest { classes.len() } else { 0 };
        (0..outputs).filter(fresh).collect()
    }

    /// Deactivates the one-vs-rest outputs whose class has not occurred.
    pub(crate) fn mask_unseen(&self, counts: &[usize], problems: &mut [Targets]) {
        if self.head.learner.scheme == MulticlassScheme::OneVsRest {
            let unseen = problems.iter_mut().zip(counts).filter(|(_, n)| **n == 0);
            unseen.for_each(|(p, _)| p.y.fill(Label::Unknown));
        }
    }
}

/// The model restricted to predicting classes that have rows.
pub(crate) fn restricted_to_seen(mut model: Model, scheme: MulticlassScheme, counts: &[usize]) -> Model {
    if counts.iter().all(|n| *n > 0) {
        return model;
    }
    let cols = model.cols();
    let (Model::Expansion { coef: rows, bias, .. } | Model::Linear { weights: rows, bias }) = &mut model
    else {
        return model;
    };
    for ((row, bias), sides) in rows.iter_mut().zip(&mut *bias).zip(seen_sides(scheme, counts)) {
        let answer = match sides {
            (true, true) => continue,
            (false, true) => 1.0,
            (_, false) if scheme == MulticlassScheme::OneVsRest => UNSEEN_DECISION,
            (_, false) => -1.0,
        };
        row.fill(0.0);
        *bias = answer;
    }
    if rows.iter().flatten().all(|c| *c == 0.0) {
        let bias = std::mem::take(bias);
        return Model::Linear { weights: vec![vec![0.0; cols]; bias.len()], bias };
    }
    model
}

/// For each output, whether there were negatives and whether there were positives.
fn seen_sides(scheme: MulticlassScheme, counts: &[usize]) -> Vec<(bool, bool)> {
    let seen = |c: usize| counts[c] > 0;
    let k = counts.len();
    match scheme {
        MulticlassScheme::Binary => vec![(seen(0), seen(1))],
        MulticlassScheme::OneVsRest => (0..k).map(|j| ((0..k).any(|c| c != j && seen(c)), seen(j))).collect(),
        MulticlassScheme::OneVsOne => {
            (0..k).flat_map(|a| (a + 1..k).map(move |b| (seen(a), seen(b)))).collect()
        }
    }
}

/// Returns an error for options that need a training on all rows and do not apply to the start of a stream.
pub(crate) fn refuse_batch_only_options(options: &TrainOptions) -> Result<()> {
    let given = [
        ("probability", options.calibration.is_some()),
        ("threshold", options.threshold.is_some()),
        ("warp", options.warp.is_some()),
        ("graph", options.graph.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::parameter(name, "given", "omitted when learning from a stream")),
        None => Ok(()),
    }
}

/// Returns an error for invalid lists of classes.
pub(crate) fn check_classes(classes: &[String]) -> Result<()> {
    if !(2..=MAX_CLASSES).contains(&classes.len()) {
        return Err(Error::parameter("classes", classes.len(), format!("from 2 to {MAX_CLASSES} of them")));
    }
    let mut names: Vec<&String> = classes.iter().collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => Err(Error::parameter("classes", twice[0], "named once each")),
        None => Ok(()),
    }
}
