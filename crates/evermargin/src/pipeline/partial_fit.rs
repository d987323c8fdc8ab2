//! Further training of a saved online learner.
//!
//! A checkpoint is the learner before finishing, with the mapping of table rows to samples: classes, scheme, scaling,
//! columns. Further training maps labels to the existing classes, applies the scaling fitted at the start, builds the
//! same two-class problems and learns the rows in a random order that depends on the seed and the number of samples
//! seen. The saved state is the one before finishing; only the returned model is finished.
//!
//! [`OnlineCheckpoint::begin`] returns the state before the first row. The first rows are then learned in the order of
//! training, so that starting empty and continuing is bit-identical to training if the first rows contain every class.
//!
//! Departures from learning all rows at once: scaling, kernel width and classes are those of the first rows, and rows
//! are learned in stream order, whatever `select` was at the start (their labels are known). Class weights derived from
//! counts use the counts of all rows so far.

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

/// State of an online learner that can be trained further, as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineCheckpoint {
    /// The learner and the mapping of rows to samples.
    pub head: CheckpointHead,
    /// Number of rows so far, synthetic rows included; it is the id of the next row.
    pub rows: u64,
    /// The learner before finishing.
    pub saved: Saved,
}

/// Options of further training.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartialFitOptions<'a> {
    /// One weight per row.
    pub weights: Option<&'a [f64]>,
    /// Random seed for the order of the rows.
    pub seed: u64,
    /// Whether to finish the model; `None` keeps the setting of the checkpoint.
    pub finish: Option<bool>,
    /// Memory for kernel rows; `None` keeps the setting of the checkpoint. It does not change what is learned.
    pub cache_bytes: Option<usize>,
}

/// Learners that support further training, and their LASVM variants.
pub const ONLINE: [(&str, LasvmVariant); 6] = [
    ("lasvm", LasvmVariant::Hinge),
    ("lasvm-g", LasvmVariant::Gap),
    ("lasvm-nc", LasvmVariant::Ramp),
    ("lasvm-i", LasvmVariant::Filter),
    ("full-svm", LasvmVariant::Full),
    ("local-svc", LasvmVariant::Local),
];

/// Maximum number of rows of a learner: counts stay exact in `f64`.
const MAX_ROWS: u64 = 1 << 53;

impl OnlineCheckpoint {
    /// The checkpoint of a training. It has no threshold, which belongs to the model and was chosen on held-out rows.
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

    /// Returns an error if parts of the checkpoint do not fit together (a file may hold anything).
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::State(what.into()));
        self.saved.check()?;
        if !ONLINE.contains(&(self.head.learner.name.as_str(), self.saved.params.variant)) {
            return wrong("the learner name and its variant do not match");
        }
        let classes = self.head.learner.classes.len();
        let outputs = match self.head.learner.scheme {
            MulticlassScheme::Binary => 1,
            MulticlassScheme::OneVsRest => classes,
            MulticlassScheme::OneVsOne => classes.saturating_mul(classes.saturating_sub(1)) / 2,
        };
        if outputs != self.saved.outputs.len() {
            return wrong("the number of classes and the number of decision functions do not match");
        }
        if self.head.counts.len() != classes {
            return wrong("the number of classes and the number of counts differ");
        }
        let rows = self.rows <= MAX_ROWS && self.head.counts.iter().all(|n| *n as u64 <= MAX_ROWS);
        if !rows || self.saved.ids.iter().any(|id| *id >= self.rows) {
            return wrong("row ids or counts are out of range");
        }
        self.class_weight().map(|_| ())
    }

    /// The class weights in the parameters of the learner.
    fn class_weight(&self) -> Result<ClassWeight> {
        ClassWeight::from_value(self.head.learner.params.get("class_weight"))
            .map_err(|e| Error::State(format!("unknown class weights: {e}")))
    }

    /// Number of features of a sample.
    pub fn features(&self) -> usize {
        self.saved.packing.cols
    }

    /// The classifier with a model of this learner.
    pub fn classifier(&self, model: Model) -> Classifier {
        self.head.classifier(model)
    }

    /// The index of each class name among the existing classes; equal numbers are one class.
    fn class_indices(&self, labels: &Labels) -> Result<Vec<u32>> {
        let number = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite());
        let same = |a: &str, b: &str| a == b || number(a).is_some_and(|v| number(b) == Some(v));
        let known = &self.head.learner.classes;
        let find = |(name, rows): (&String, usize)| match known.iter().position(|c| same(c, name)) {
            Some(at) => Ok(at as u32),
            None if rows == 0 => Ok(0),
            None => Err(Error::Data(format!(
                "class {name} is new: the state has {}; classes cannot be added, so train on all rows again",
                known.join(", ")
            ))),
        };
        labels.classes.iter().zip(labels.counts()).map(find).collect()
    }

    /// The labeled rows: samples, classes and weights.
    fn labeled(&self, x: Matrix, labels: &Labels, weights: Option<&[f64]>) -> Result<Batch> {
        let class_indices = self.class_indices(labels)?;
        let keep: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i].is_some()).collect();
        if keep.is_empty() {
            return Err(Error::Data("no row has a label, so there is nothing to learn".into()));
        }
        let of = keep.iter().map(|&i| labels.of[i].map(|c| class_indices[c as usize])).collect();
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

    /// The two-class problems of the new rows.
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

/// New rows with labels.
struct Batch {
    x: Matrix,
    labels: Labels,
    weights: Vec<f64>,
    /// Number of rows dropped because they have no label.
    dropped: usize,
}

/// Learns more samples; returns the finished model and the checkpoint from which training can continue.
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
        notes.push("the saved learner selected its samples; this update uses every labeled row".into());
    }
    let mut saved = checkpoint.saved.clone();
    if let Some(bytes) = how.cache_bytes {
        saved.params.cache_bytes = bytes;
    }
    let params = saved.params.clone();
    let mut state = Lasvm::resume(&saved)?;
    checkpoint.newly_seen(&batch.labels).into_iter().for_each(|j| state.activate_output(j));
    let asked = pass(&mut state, &params, &batch, &problems, (checkpoint.rows, how.seed), watch)?;
    let ending = LasvmParams { finish: how.finish.unwrap_or(params.finish), ..params };
    let fitted = ending.end(state, asked, usize::MAX, watch);
    let online = fitted.online.ok_or_else(|| Error::State("the online learner returned no state".into()))?;
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

/// Runs all epochs over the new rows, each in its own order.
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
