//! Classifier of the engine: an online learner that learns every label on arrival and is optimized when a batch is
//! closed. It is rebuilt from the remembered labels if a label is changed or withdrawn, or if a label of a new class
//! arrives.
//!
//! [`super::params::ClassifierChoice`] selects the learner: `lasvm` or `local` (`svm.rs`), or `seq-lapmed`
//! (`seq_lapmed.rs`). With more than two classes there is one output per class, against all others.

mod seq_lapmed;
mod svm;

use super::Classes;
use super::feature_space::FeatureSpace;
use super::label_memory::LabelMemory;
use super::params::{ClassifierChoice, EngineParams, Forgetting};
use crate::data::{Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::{ClassWeight, Targets};
use crate::kernel::gram::Packing;
use crate::model::{Model, MulticlassScheme};
use crate::pipeline::preprocess::problems;
use crate::solver::Watch;
use seq_lapmed::SequentialMed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use svm::OnlineSvm;

/// Maximum number of remembered labels that are reviewed when a batch is closed.
const REVIEWED: usize = 250;

/// Bit that is set in the ids of samples with an inferred label. A true label of the sample replaces the inferred one.
const INFERRED: u64 = 1 << 63;

/// Maximum number of inferred labels in the published classifier; the oldest are removed first.
pub(super) const MAX_INFERRED: usize = 1000;

/// Some rows of a matrix, with one problem per output.
struct Rows<'a> {
    x: MatrixView<'a>,
    chosen: &'a [usize],
    /// Id of the sample of each row of `chosen`.
    ids: &'a [u64],
    problems: &'a [Targets],
}

/// Online learner, as the engine uses it.
trait Machine {
    /// Learns labels that have just arrived.
    fn learn(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()>;

    /// Learns all remembered labels; the learner has none yet.
    fn rebuild(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()>;

    /// Learns inferred labels after a batch is closed.
    fn infer(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()>;

    /// Closes a batch: may review some remembered labels and learn the unlabeled rows of the batch.
    fn close(&mut self, review: &Rows<'_>, unlabeled: MatrixView<'_>, watch: &dyn Watch) -> Result<()>;

    /// Ids of the stored samples; empty if single samples cannot be removed.
    fn ids(&self) -> Vec<u64>;

    /// Removes samples by their ids.
    fn remove(&mut self, is_removed: &dyn Fn(u64) -> bool);

    /// Whether the learner also learns unlabeled rows, so that batches without new labels must be closed, too.
    fn wants_unlabeled(&self) -> bool;

    /// Decisions of rows, rows × outputs.
    fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>>;

    /// Decisions of some rows; may use and fill caches.
    fn decisions_now(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>>;

    fn outputs(&self) -> usize;

    fn model(&self) -> Model;

    /// Number of support vectors or landmarks.
    fn support_count(&self) -> usize;

    /// Number of stored samples.
    fn len(&self) -> usize;

    /// Removes everything learned from labels; returns false if nothing is left then.
    fn forget_labels(&mut self) -> bool;

    /// Whether a loaded learner matches the feature space and the parameters of the engine.
    fn fits(&self, feature_space: &FeatureSpace, params: &EngineParams) -> bool;

    /// All stored samples.
    fn points(&self) -> Vec<&Matrix>;
}

/// Online learner, selected by [`ClassifierChoice`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OnlineMachine {
    Svm(Box<OnlineSvm>),
    SeqLapmed(Box<SequentialMed>),
}

impl OnlineMachine {
    fn get(&self) -> &dyn Machine {
        match self {
            Self::Svm(svm) => svm.as_ref(),
            Self::SeqLapmed(med) => med.as_ref(),
        }
    }

    fn get_mut(&mut self) -> &mut dyn Machine {
        match self {
            Self::Svm(svm) => svm.as_mut(),
            Self::SeqLapmed(med) => med.as_mut(),
        }
    }
}

/// Classifier for the classes that have labels. A copied or loaded classifier has the same points and coefficients, but
/// no cached kernel values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamClassifier {
    machine: OnlineMachine,
    /// Numbers of the classes that have labels.
    present: Vec<u32>,
}

impl StreamClassifier {
    /// Trains a classifier on all remembered labels and returns it with the result of learning; `None` unless at least
    /// two classes have labels. Keeps what `old` learned from unlabeled rows.
    pub fn of(
        memory: &LabelMemory,
        classes: &Classes,
        now: u64,
        feature_space: &FeatureSpace,
        params: &EngineParams,
        old: Option<&Self>,
        watch: &dyn Watch,
    ) -> Option<(Self, Result<()>)> {
        let counts = memory.counts(classes.len());
        let present: Vec<u32> = (0..classes.len() as u32).filter(|&c| counts[c as usize] > 0).collect();
        if present.len() < 2 {
            return None;
        }
        let outputs = if present.len() == 2 { 1 } else { present.len() };
        let machine = match params.classifier {
            ClassifierChoice::Lasvm | ClassifierChoice::Local => {
                OnlineMachine::Svm(Box::new(OnlineSvm::new(feature_space, params, outputs)))
            }
            ClassifierChoice::SeqLapmed => {
                let old = old.and_then(|old| match &old.machine {
                    OnlineMachine::SeqLapmed(med) => Some(med.as_ref()),
                    OnlineMachine::Svm(_) => None,
                });
                let med = SequentialMed::new(feature_space, params, memory.rows(), outputs, old);
                OnlineMachine::SeqLapmed(Box::new(med.ok()?))
            }
        };
        let mut made = Self { machine, present };
        let all: Vec<usize> = (0..memory.len()).collect();
        let learned = made.with_remembered(memory, &all, now, classes, params, |machine, rows| {
            machine.rebuild(rows, watch)
        });
        Some((made, learned))
    }

    /// Whether the classes of the classifier are exactly those that have labels.
    pub fn matches_classes(&self, memory: &LabelMemory, classes: usize) -> bool {
        let counts = memory.counts(classes);
        (0..classes as u32).filter(|&c| counts[c as usize] > 0).eq(self.present.iter().copied())
    }

    /// Learns some remembered labels, which have just arrived.
    pub fn learn(
        &mut self,
        memory: &LabelMemory,
        rows: &[usize],
        now: u64,
        classes: &Classes,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        self.with_remembered(memory, rows, now, classes, params, |machine, rows| machine.learn(rows, watch))
    }

    /// Whether the learner also learns unlabeled rows, so that batches without new labels must be closed, too.
    pub fn wants_unlabeled(&self) -> bool {
        self.machine.get().wants_unlabeled()
    }

    /// Closes a batch: reviews some remembered labels, others each time if there are many, and learns the unlabeled
    /// rows.
    pub fn close(
        &mut self,
        memory: &LabelMemory,
        unlabeled: MatrixView<'_>,
        now: u64,
        classes: &Classes,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        let n = memory.len();
        let start = if n > REVIEWED { (now as usize).wrapping_mul(REVIEWED) % n } else { 0 };
        let rows: Vec<usize> = (0..n.min(REVIEWED)).map(|i| (start + i) % n).collect();
        self.with_remembered(memory, &rows, now, classes, params, |machine, rows| {
            machine.close(rows, unlabeled, watch)
        })
    }

    /// Passes remembered labels to the learner, with their current costs.
    fn with_remembered(
        &mut self,
        memory: &LabelMemory,
        rows: &[usize],
        now: u64,
        classes: &Classes,
        params: &EngineParams,
        learn: impl FnOnce(&mut dyn Machine, &Rows<'_>) -> Result<()>,
    ) -> Result<()> {
        let labeled = memory.labeled();
        let weight = self.class_weights(memory, classes, params);
        let of: Vec<Option<u32>> = rows.iter().map(|&r| self.place(labeled[r].class)).collect();
        let decay = |r: usize| age_weight(now - labeled[r].batch, params.forget);
        let class = |c: &Option<u32>| c.map_or(1.0, |c| weight[c as usize]);
        let cost: Vec<f64> = of.iter().zip(rows).map(|(c, &r)| class(c) * decay(r)).collect();
        let problems = self.problems(of, &cost);
        let ids: Vec<u64> = rows.iter().map(|&r| labeled[r].sample).collect();
        let x = memory.rows().select(rows);
        let all: Vec<usize> = (0..rows.len()).collect();
        learn(self.machine.get_mut(), &Rows { x: x.view(), chosen: &all, ids: &ids, problems: &problems })
    }

    /// The same classifier for rows with more columns, in which its points are 0; `None` if that is impossible.
    pub fn with_packing(self, packing: &Packing) -> Option<Self> {
        let OnlineMachine::Svm(svm) = self.machine else { return None };
        Some(Self {
            machine: OnlineMachine::Svm(Box::new(svm.with_packing(packing)?)),
            present: self.present,
        })
    }

    /// Learns inferred labels (row, class, confidence), each at the cost C* times its confidence; `sample` returns the
    /// sample number of a row.
    pub fn infer(
        &mut self,
        x: MatrixView<'_>,
        labels: &[(usize, u32, f64)],
        sample: impl Fn(usize) -> u64,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        let mut of = vec![None; x.rows()];
        let mut cost = vec![0.0; x.rows()];
        for &(row, class, confidence) in labels {
            of[row] = self.place(class);
            cost[row] = params.c_inferred / params.c * confidence;
        }
        let problems = self.problems(of, &cost);
        let rows: Vec<usize> = labels.iter().map(|(row, ..)| *row).collect();
        let ids: Vec<u64> = rows.iter().map(|&r| INFERRED | sample(r)).collect();
        self.machine.get_mut().infer(&Rows { x, chosen: &rows, ids: &ids, problems: &problems }, watch)
    }

    /// Removes the inferred labels of samples that have a true label.
    pub fn remove_labeled(&mut self, memory: &LabelMemory) {
        let labeled: BTreeSet<u64> = memory.labeled().iter().map(|l| INFERRED | l.sample).collect();
        self.machine.get_mut().remove(&|id| labeled.contains(&id));
    }

    /// Removes the oldest inferred labels, so that `more` can be added without exceeding [`MAX_INFERRED`].
    pub fn make_room(&mut self, more: usize) {
        let mut ids = self.machine.get().ids();
        ids.retain(|id| id & INFERRED != 0);
        let excess = (ids.len() + more).saturating_sub(MAX_INFERRED).min(ids.len());
        if excess > 0 {
            ids.sort_unstable();
            let last = ids[excess - 1];
            self.machine.get_mut().remove(&|id| id & INFERRED != 0 && id <= last);
        }
    }

    /// Replaces the true labels learned so far by all remembered labels; inferred labels stay.
    pub fn replace_labels(
        &mut self,
        memory: &LabelMemory,
        now: u64,
        classes: &Classes,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        self.machine.get_mut().remove(&|id| id & INFERRED == 0);
        self.remove_labeled(memory);
        let all: Vec<usize> = (0..memory.len()).collect();
        self.with_remembered(memory, &all, now, classes, params, |machine, rows| machine.rebuild(rows, watch))
    }

    /// Decisions of the rows of a batch, rows × outputs; decisions that overflow become 0.
    pub fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        let mut f = self.machine.get().decisions(x)?;
        f.iter_mut().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        Ok(f)
    }

    /// Decisions of some rows; may use and fill caches. Decisions that overflow become 0.
    pub fn decisions_now(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        let mut f = self.machine.get_mut().decisions_now(x, rows)?;
        f.iter_mut().flatten().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        Ok(f)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.machine.get().outputs()
    }

    /// Class that the outputs of a row predict.
    pub fn vote(&self, f: &[f64]) -> u32 {
        self.present[self.scheme().vote(self.present.len(), f) as usize]
    }

    /// Classes ordered by the outputs of a row, the most likely first.
    pub fn ranking(&self, f: &[f64]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.present.len()).collect();
        match (self.scheme(), f) {
            (MulticlassScheme::Binary, [f]) if *f > 0.0 => order.reverse(),
            (MulticlassScheme::Binary, _) => {}
            _ => order.sort_by(|&a, &b| f.get(b).unwrap_or(&0.0).total_cmp(f.get(a).unwrap_or(&0.0))),
        }
        order.into_iter().map(|i| self.present[i]).collect()
    }

    /// Scheme by which outputs determine the class.
    pub fn scheme(&self) -> MulticlassScheme {
        if self.present.len() == 2 { MulticlassScheme::Binary } else { MulticlassScheme::OneVsRest }
    }

    pub fn present(&self) -> &[u32] {
        &self.present
    }

    pub fn model(&self) -> Model {
        self.machine.get().model()
    }

    pub fn support_count(&self) -> usize {
        self.machine.get().support_count()
    }

    /// Number of stored points.
    pub fn len(&self) -> usize {
        self.machine.get().len()
    }

    /// Changes the number of class c to `now[c]`. If this changes the order of the outputs, everything learned from
    /// labels is removed, until the new label rebuilds the classifier. Returns false if nothing is left then.
    pub fn renumber(&mut self, now: &[u32]) -> bool {
        self.present.iter_mut().for_each(|c| *c = now[*c as usize]);
        if self.present.is_sorted() {
            return true;
        }
        self.present.sort_unstable();
        self.machine.get_mut().forget_labels()
    }

    /// Returns an error if parts do not fit together (a file may hold anything).
    pub fn check(&self, classes: usize, feature_space: &FeatureSpace, params: &EngineParams) -> Result<()> {
        let outputs = if self.present.len() == 2 { 1 } else { self.present.len() };
        let machine = self.machine.get();
        let fits = self.present.len() >= 2
            && self.present.is_sorted_by(|a, b| a < b)
            && self.present.iter().all(|&c| (c as usize) < classes)
            && machine.outputs() == outputs
            && machine.fits(feature_space, params);
        if !fits {
            return Err(Error::State("its classifier does not match its classes or parameters".into()));
        }
        machine.points().into_iter().try_for_each(|points| feature_space.check_rows(points))
    }

    fn place(&self, class: u32) -> Option<u32> {
        self.present.binary_search(&class).ok().map(|c| c as u32)
    }

    fn problems(&self, of: Vec<Option<u32>>, cost: &[f64]) -> Vec<Targets> {
        let labels = Labels { classes: vec![String::new(); self.present.len()], of };
        problems(&labels, self.scheme(), cost)
    }

    fn class_weights(&self, memory: &LabelMemory, classes: &Classes, params: &EngineParams) -> Vec<f64> {
        let mut counts = vec![0.0; self.present.len()];
        memory.labeled().iter().filter_map(|t| self.place(t.class)).for_each(|c| counts[c as usize] += 1.0);
        match &params.class_weight {
            ClassWeight::Explicit(weights) => {
                let weight = |class: &u32| weights.get(&classes.names()[*class as usize]);
                self.present.iter().map(|class| weight(class).copied().unwrap_or(1.0)).collect()
            }
            by_size => by_size.of_sizes(&counts),
        }
    }
}

/// Factor of the weight of a label that arrived `age` batches ago.
fn age_weight(age: u64, forget: Forgetting) -> f64 {
    match forget {
        Forgetting::HalfLife(batches) => 0.5f64.powf(age as f64 / batches as f64).max(1e-6),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::{GenerateParams, generate};
    use crate::engine::{Engine, Event, LabelSource};

    /// Ids of the inferred labels in the published classifier.
    fn inferred_ids(engine: &Engine) -> Vec<u64> {
        let inferred = engine.state.as_ref().and_then(|state| state.inferred.as_ref());
        let mut ids = inferred.map_or_else(Vec::new, |classifier| classifier.machine.get().ids());
        ids.retain(|id| id & INFERRED != 0);
        ids
    }

    #[test]
    fn inferred_labels_are_bounded_and_replaced_by_true_ones() {
        let params = EngineParams {
            classifier: ClassifierChoice::Local, // keeps every label
            label_source: LabelSource::Graph,
            ..EngineParams::default()
        };
        let mut engine = Engine::new(&params).unwrap();
        let (mut pending, mut names) = (None, Vec::new());
        for batch in 0..5 {
            let rows = GenerateParams { rows: 300, seed: batch, ..GenerateParams::default() };
            let (x, truth) = generate("two-moons", &rows).unwrap();
            names.extend(truth.of.iter().map(|class| truth.classes[class.unwrap() as usize].clone()));
            let labels =
                (0..300).map(|row| Some(names[row].clone()).filter(|_| batch == 0 && row < 30)).collect();
            engine.apply(Event::Batch { x, labels }).unwrap();
            engine.apply(Event::Tick { now: batch }).unwrap();
            let ids = inferred_ids(&engine);
            assert!(ids.len() <= MAX_INFERRED, "{}", ids.len());
            if let Some(sample) = pending.take() {
                assert!(!ids.contains(&(INFERRED | sample)), "a true label replaces the inferred one");
            }
            if batch == 1 {
                let sample = engine.pending_queries().iter().copied().find(|s| ids.contains(&(INFERRED | s)));
                let sample = sample.expect("a pending query about a row with an inferred label");
                engine.apply(Event::Answer { sample, label: names[sample as usize].clone() }).unwrap();
                pending = Some(sample);
            }
        }
        let ids = inferred_ids(&engine);
        assert_eq!(ids.len(), MAX_INFERRED);
        assert!(ids.iter().all(|id| (id & !INFERRED) >= 300), "the oldest are removed first");
    }
}
