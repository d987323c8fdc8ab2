//! Going on: an online learner that was kept meets more samples.
//!
//! A checkpoint is the learner before finishing, with all that turns rows of a table into samples: classes, scheme,
//! scaling, columns. Going on maps labels to the classes there are, applies the scaling as it was fitted at the
//! beginning, poses the same two-class problems and learns the rows in a random order that follows from the seed and
//! the number of samples seen. The state is kept as it is then; only the model that is handed out is finished.
//!
//! [`OnlineCheckpoint::begin`] is the state before the first row. The first rows are then learned in the order in which
//! training takes them, so that beginning and going on is training, bit by bit, where they hold every class.
//!
//! Departures from learning all at once: scaling, kernel width and the classes are those of the first rows, and rows
//! are taken as they come, whatever `select` was in the beginning (they have labels already). Class weights that follow
//! from counts follow from the rows of all times.

use crate::active::{Stopped, Strategy};
use crate::data::{Labels, Matrix};
use crate::error::{Error, Result};
use crate::estimators::ClassWeight;
use crate::estimators::Targets;
use crate::estimators::online::active::ActiveReport;
use crate::estimators::online::lasvm::{Lasvm, LasvmParams, LasvmVariant, Online, Saved};
use crate::model::{Classifier, Model, MulticlassScheme};
use crate::pipeline::checkpoint_head::CheckpointHead;
use crate::pipeline::preprocess::problems;
use crate::pipeline::train::Trained;
use crate::solver::Watch;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// An online learner that can go on: plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineCheckpoint {
    /// The learner, and how rows become samples.
    pub head: CheckpointHead,
    /// Rows so far, those that were made included: the number the next row is known by.
    pub rows: u64,
    /// The learner, not finished.
    pub saved: Saved,
}

/// How to go on.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartialFitOptions<'a> {
    /// One weight a row.
    pub weights: Option<&'a [f64]>,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// Whether to finish the model; `None` is as in the beginning.
    pub finish: Option<bool>,
    /// Memory for kernel rows; `None` is as in the beginning. What is learned along the stream does not depend on it.
    pub cache_bytes: Option<usize>,
}

/// Learners that can go on, and what they are inside.
pub const ONLINE: [(&str, LasvmVariant); 6] = [
    ("lasvm", LasvmVariant::Hinge),
    ("lasvm-g", LasvmVariant::Gap),
    ("lasvm-nc", LasvmVariant::Ramp),
    ("lasvm-i", LasvmVariant::Filter),
    ("full-svm", LasvmVariant::Full),
    ("local-svc", LasvmVariant::Local),
];

/// Most rows a learner is followed for: numbers stay exact everywhere.
const MAX_ROWS: u64 = 1 << 53;

impl OnlineCheckpoint {
    /// What is to be kept of a training. A threshold is not: it belongs to the model, and was found on rows held out.
    pub fn new(classifier: &Classifier, online: &Online, counts: &[usize]) -> Self {
        let mut learner = classifier.learner_info();
        learner.params.remove("threshold");
        learner.params.remove("threshold_value");
        Self {
            head: CheckpointHead {
                learner,
                scaling: classifier.scaling.clone(),
                input: classifier.input.clone(),
                counts: counts.to_vec(),
            },
            rows: (counts.iter().sum::<usize>() + online.virtual_points[0]) as u64,
            saved: online.saved.clone(),
        }
    }

    /// Refuses parts that do not fit together (a file may say anything).
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::State(what.into()));
        self.saved.check()?;
        if !ONLINE.contains(&(self.head.learner.name.as_str(), self.saved.params.variant)) {
            return wrong("its name and its loss differ");
        }
        let classes = self.head.learner.classes.len();
        let outputs = match self.head.learner.scheme {
            MulticlassScheme::Binary => 1,
            MulticlassScheme::OneVsRest => classes,
            MulticlassScheme::OneVsOne => classes.saturating_mul(classes.saturating_sub(1)) / 2,
        };
        if outputs != self.saved.outputs.len() {
            return wrong("its classes and its decision functions differ");
        }
        if self.head.counts.len() != classes {
            return wrong("its classes and their counts differ");
        }
        let rows = self.rows <= MAX_ROWS && self.head.counts.iter().all(|n| *n as u64 <= MAX_ROWS);
        if !rows || self.saved.ids.iter().any(|id| *id >= self.rows) {
            return wrong("its rows are not numbered as they came");
        }
        self.class_weight().map(|_| ())
    }

    /// The weights of classes as they were described.
    fn class_weight(&self) -> Result<ClassWeight> {
        ClassWeight::from_value(self.head.learner.params.get("class_weight"))
            .map_err(|e| Error::State(format!("unknown class weights: {e}")))
    }

    /// Number of features a sample has.
    pub fn features(&self) -> usize {
        self.saved.packing.cols
    }

    /// The classifier around a model of this learner.
    pub fn classifier(&self, model: Model) -> Classifier {
        self.head.classifier(model)
    }

    /// The number of each class name among the classes there are; numbers that are equal are one class.
    fn numbers(&self, labels: &Labels) -> Result<Vec<u32>> {
        let number = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite());
        let same = |a: &str, b: &str| a == b || number(a).is_some_and(|v| number(b) == Some(v));
        let known = &self.head.learner.classes;
        let find = |(name, rows): (&String, usize)| match known.iter().position(|c| same(c, name)) {
            Some(at) => Ok(at as u32),
            None if rows == 0 => Ok(0),
            None => Err(Error::Data(format!(
                "class {name} is new: the state knows {}; classes cannot be added, so train on all rows again",
                known.join(", ")
            ))),
        };
        labels.classes.iter().zip(labels.counts()).map(find).collect()
    }

    /// The labeled rows: samples, classes, weights.
    fn labeled(&self, x: Matrix, labels: &Labels, weights: Option<&[f64]>) -> Result<Batch> {
        let numbers = self.numbers(labels)?;
        let keep: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i].is_some()).collect();
        if keep.is_empty() {
            return Err(Error::Data("no row has a label; there is nothing to go on with".into()));
        }
        let of = keep.iter().map(|&i| labels.of[i].map(|c| numbers[c as usize])).collect();
        let weights = match weights {
            Some(w) => keep.iter().map(|&i| w[i]).collect(),
            None => vec![1.0; keep.len()],
        };
        let dropped = labels.of.len() - keep.len();
        let x = if dropped > 0 { x.view().select(&keep) } else { x };
        let x = self.head.scaling.apply(x)?;
        let x = match (&self.saved.points, &x) {
            (Matrix::Csr { .. }, Matrix::Dense { .. }) => x.view().to_csr(),
            (Matrix::Dense { .. }, Matrix::Csr { .. }) => x.view().to_dense(),
            _ => x,
        };
        Ok(Batch { x, labels: Labels { classes: self.head.learner.classes.clone(), of }, weights, dropped })
    }

    /// The two-class problems of new rows.
    fn problems(&self, batch: &Batch) -> Result<Vec<Targets>> {
        let (counts, weight) = (self.counts_with(&batch.labels), self.class_weight()?);
        let sums: Vec<f64> = counts.iter().map(|&n| n as f64).collect();
        let class_weight = weight.of(&self.head.learner.classes, &sums)?;
        let class = |c: Option<u32>| c.map_or(1.0, |c| class_weight[c as usize]);
        let cost: Vec<f64> = batch.weights.iter().zip(&batch.labels.of).map(|(w, c)| w * class(*c)).collect();
        if let Some(i) = cost.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            let row = i + 1;
            return Err(Error::Data(format!("weight {} of labeled row {row}: must be 0 or more", cost[i])));
        }
        let mut problems = problems(&batch.labels, self.head.learner.scheme, &cost);
        self.mask_unseen(&counts, &mut problems);
        Ok(problems)
    }

    fn counts_with(&self, labels: &Labels) -> Vec<usize> {
        self.head.counts.iter().zip(labels.counts()).map(|(a, b)| a + b).collect()
    }
}

/// New rows that have labels.
struct Batch {
    x: Matrix,
    labels: Labels,
    weights: Vec<f64>,
    /// Rows that had none.
    dropped: usize,
}

/// Learns more samples: gives the model as it is then, and the checkpoint from which learning can go on again.
pub fn partial_fit(
    checkpoint: &OnlineCheckpoint,
    x: Matrix,
    labels: &Labels,
    how: PartialFitOptions<'_>,
    watch: &dyn Watch,
) -> Result<(Trained, OnlineCheckpoint)> {
    checkpoint.check()?;
    let (rows, cols) = (x.rows(), x.cols());
    let given = how.weights.map_or(rows, <[f64]>::len);
    for (what, expected, found) in [
        ("labels", rows, labels.of.len()),
        ("weights", rows, given),
        ("columns", checkpoint.features(), cols),
    ] {
        if expected != found {
            return Err(Error::Shape { what, expected, found });
        }
    }
    let batch = checkpoint.labeled(x, labels, how.weights)?;
    let problems = checkpoint.problems(&batch)?;
    let mut notes = Vec::new();
    if batch.dropped > 0 {
        notes.push(format!("{} rows without a label are left out", batch.dropped));
    }
    if checkpoint.saved.params.select != Strategy::Random {
        notes.push("the state chose its samples; now every labeled row is learned from".into());
    }
    let mut saved = checkpoint.saved.clone();
    if let Some(bytes) = how.cache_bytes {
        saved.params.cache_bytes = bytes;
    }
    let params = saved.params.clone();
    let mut state = Lasvm::resume(&saved)?;
    checkpoint.newly_met(&batch.labels).into_iter().for_each(|j| state.activate_output(j));
    let asked = pass(&mut state, &params, &batch, &problems, (checkpoint.rows, how.seed), watch)?;
    let ending = LasvmParams { finish: how.finish.unwrap_or(params.finish), ..params };
    let fitted = ending.end(state, asked, usize::MAX, watch);
    let online = fitted.online.ok_or_else(|| Error::State("an online learner gave none".into()))?;
    let next = OnlineCheckpoint {
        head: CheckpointHead { counts: checkpoint.counts_with(&batch.labels), ..checkpoint.head.clone() },
        rows: checkpoint.rows + batch.x.rows() as u64,
        saved: online.saved.clone(),
    };
    let trained = Trained {
        classifier: next.classifier(fitted.model),
        reports: fitted.reports,
        online: Some(online),
        semi: None,
        notes,
        counts: batch.labels.counts(),
    };
    Ok((trained, next))
}

/// All epochs over the new rows, each in an order of its own.
fn pass(
    state: &mut Lasvm,
    params: &LasvmParams,
    batch: &Batch,
    problems: &[Targets],
    (base, seed): (u64, u64),
    watch: &dyn Watch,
) -> Result<ActiveReport> {
    let rows = batch.x.rows();
    let mut asked = ActiveReport { labels: rows, stopped: Stopped::Exhausted, curve: Vec::new(), made: None };
    let mut rng = Pcg64::seed_from_u64(seed ^ base.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut order: Vec<usize> = (0..rows).collect();
    let before = state.counts().seen;
    for epoch in 0..params.epochs {
        if base == 0 {
            order = params.order(problems, epoch, &mut rng);
        } else {
            order.shuffle(&mut rng);
        }
        if !state.learn(batch.x.view(), &order, base, problems, watch)? {
            asked.stopped = Stopped::Interrupted;
            asked.labels = rows.min((state.counts().seen - before) as usize);
            break;
        }
    }
    Ok(asked)
}
