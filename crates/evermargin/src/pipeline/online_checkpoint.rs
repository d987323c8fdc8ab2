//! The beginning of an online learner whose classes are declared before they are met.
//!
//! Problem: the first rows of a stream need not hold every class. Scaling, kernel width and packing are those of the first
//! rows, as in training; the decision functions are those of all classes declared. Until a class is met, its output
//! against the rest sleeps: it wants no point, so that points can be dropped, and nothing is lost, for when the class comes
//! every point there is becomes a negative of it ([`Lasvm::activate_output`]). An output that has met one side alone answers that
//! side, and no class is answered that was not met.
//!
//! Of pairs, one that lacks a side keeps the rows of the other: while a class declared is missing, points are dropped only at
//! their cap.

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

/// The decision for a class that was not met: below all others, and its square is a number.
const NEVER: f64 = -1e100;

impl OnlineCheckpoint {
    /// A learner that has met nothing, for samples like the rows of `first`, of which none is learned.
    pub fn begin(options: &TrainOptions, classes: &[String], first: MatrixView<'_>) -> Result<Self> {
        let learner = estimator(&options.learner)?;
        let Some(&(name, _)) = ONLINE.iter().find(|(name, _)| *name == learner.name) else {
            let names: Vec<&str> = ONLINE.iter().map(|(name, _)| *name).collect();
            let allowed = format!("one that learns online: {}", names.join(", "));
            return Err(Error::parameter("learner", learner.name, allowed));
        };
        learner.make(&options.params)?;
        refuse_around(options)?;
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
        let machine = made.as_lasvm().ok_or_else(|| Error::State(format!("{name} is no online learner")))?;
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

    /// Outputs against the rest whose class was not met before and is met in these rows.
    pub(crate) fn newly_met(&self, labels: &Labels) -> Vec<usize> {
        let fresh = |&j: &usize| self.head.counts[j] == 0 && labels.of.contains(&Some(j as u32));
        let LearnerInfo { classes, scheme, .. } = &self.head.learner;
        let outputs = if *scheme == MulticlassScheme::OneVsRest { classes.len() } else { 0 };
        (0..outputs).filter(fresh).collect()
    }

    /// Lets the outputs against the rest sleep whose class was not met.
    pub(crate) fn mask_unseen(&self, counts: &[usize], problems: &mut [Targets]) {
        if self.head.learner.scheme == MulticlassScheme::OneVsRest {
            let unmet = problems.iter_mut().zip(counts).filter(|(_, n)| **n == 0);
            unmet.for_each(|(p, _)| p.y.fill(Label::Unknown));
        }
    }
}

/// The model, speaking for classes alone of which there were rows.
pub(crate) fn among_met(mut model: Model, scheme: MulticlassScheme, counts: &[usize]) -> Model {
    if counts.iter().all(|n| *n > 0) {
        return model;
    }
    let cols = model.cols();
    let (Model::Expansion { coef: rows, bias, .. } | Model::Linear { weights: rows, bias }) = &mut model
    else {
        return model;
    };
    for ((row, bias), sides) in rows.iter_mut().zip(&mut *bias).zip(sides_met(scheme, counts)) {
        let answer = match sides {
            (true, true) => continue,
            (false, true) => 1.0,
            (_, false) if scheme == MulticlassScheme::OneVsRest => NEVER,
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

/// Whether there were negatives and positives of each output.
fn sides_met(scheme: MulticlassScheme, counts: &[usize]) -> Vec<(bool, bool)> {
    let met = |c: usize| counts[c] > 0;
    let k = counts.len();
    match scheme {
        MulticlassScheme::Binary => vec![(met(0), met(1))],
        MulticlassScheme::OneVsRest => (0..k).map(|j| ((0..k).any(|c| c != j && met(c)), met(j))).collect(),
        MulticlassScheme::OneVsOne => {
            (0..k).flat_map(|a| (a + 1..k).map(move |b| (met(a), met(b)))).collect()
        }
    }
}

/// What belongs to a training on all rows has no place at the beginning of a stream.
pub(crate) fn refuse_around(options: &TrainOptions) -> Result<()> {
    let given = [
        ("probability", options.calibration.is_some()),
        ("threshold", options.threshold.is_some()),
        ("warp", options.warp.is_some()),
        ("graph", options.graph.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            Err(Error::parameter(name, "given", "left out where rows come one after the other"))
        }
        None => Ok(()),
    }
}

/// Refuses lists of classes that are none.
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
