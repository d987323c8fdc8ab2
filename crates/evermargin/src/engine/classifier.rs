//! The classifier inside the engine: an online machine that meets every label once when it comes, meets remembered ones
//! again when a batch is closed, and is made anew from them when a label is changed, taken back or of a new class.

use super::feature_space::{FeatureSpace, MAX_COLUMNS};
use super::label_memory::LabelMemory;
use super::params::{EngineParams, Forgetting};
use super::{Classes, MAX_COUNT};
use crate::data::{Labels, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::online::lasvm::{Lasvm, Saved};
use crate::estimators::{ClassWeight, Targets};
use crate::model::{Model, MulticlassScheme};
use crate::pipeline::preprocess::problems;
use crate::solver::Watch;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Remembered labels that are met again at a time.
const AGAIN: usize = 1000;

/// Samples that meet the machine together.
const CHUNK: usize = 64;

/// Steps per point after which solving ends: far more than rows of one size take. A row that is longer than the others by
/// many orders of magnitude keeps the solver from its tolerance, and a batch must not take forever.
const MAX_STEPS_PER_POINT: u64 = 1000;

/// The same for few points.
const MIN_STEPS: u64 = 100_000;

/// The mark of an inferred label: the sample may get a true one later.
const INFERRED: u64 = 1 << 63;

/// A classifier of the classes that have labels. A copy, or one that was loaded, has the same points and coefficients but
/// none of the cached kernel values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamClassifier {
    svm: OnlineSvm,
    /// Numbers of the classes that have labels.
    present: Vec<u32>,
}

/// The online machine, saved without what depends on its caches.
#[derive(Debug)]
struct OnlineSvm(Lasvm);

impl OnlineSvm {
    fn saved(&self) -> Saved {
        let mut saved = self.0.save();
        // how often kernel values were computed depends on what was in memory, not on what was learned
        (saved.counts.evaluations, saved.counts.spare) = (0, 0);
        saved
    }
}

impl Clone for OnlineSvm {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl PartialEq for OnlineSvm {
    fn eq(&self, other: &Self) -> bool {
        self.saved() == other.saved()
    }
}

impl Serialize for OnlineSvm {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.saved().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OnlineSvm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        if saved.packing.cols > MAX_COLUMNS {
            return Err(D::Error::custom("its points have too many columns"));
        }
        Lasvm::resume(&saved).map(Self).map_err(D::Error::custom)
    }
}

impl StreamClassifier {
    /// A machine that has met all labels, and whether it could learn them; none unless two classes have some.
    pub fn of(
        memory: &LabelMemory,
        classes: &Classes,
        now: u64,
        feature_space: &FeatureSpace,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Option<(Self, Result<()>)> {
        let counts = memory.counts(classes.len());
        let present: Vec<u32> = (0..classes.len() as u32).filter(|&c| counts[c as usize] > 0).collect();
        if present.len() < 2 {
            return None;
        }
        let outputs = if present.len() == 2 { 1 } else { present.len() };
        let svm = Lasvm::with(
            &params.lasvm(feature_space.kernel),
            &feature_space.packing,
            feature_space.sparse,
            outputs,
        );
        let mut made = Self { svm: OnlineSvm(svm), present };
        let all: Vec<usize> = (0..memory.len()).collect();
        let learned = made.learn(memory, &all, now, classes, params, watch);
        made.optimize(watch);
        Some((made, learned))
    }

    /// Whether it knows just the classes that have labels.
    pub fn knows(&self, memory: &LabelMemory, classes: usize) -> bool {
        let counts = memory.counts(classes);
        (0..classes as u32).filter(|&c| counts[c as usize] > 0).eq(self.present.iter().copied())
    }

    /// Meets remembered labels, once each.
    pub fn learn(
        &mut self,
        memory: &LabelMemory,
        rows: &[usize],
        now: u64,
        classes: &Classes,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        let labeled = memory.labeled();
        let of = labeled.iter().map(|t| self.place(t.class)).collect();
        let weight = self.class_weights(memory, classes, params);
        let cost: Vec<f64> = labeled
            .iter()
            .map(|t| {
                self.place(t.class).map_or(1.0, |c| weight[c as usize]) * fresh(now - t.batch, params.forget)
            })
            .collect();
        let problems = self.problems(of, &cost);
        self.process_rows(memory.rows(), rows, |r| labeled[r].sample, &problems, watch)
    }

    /// Meets rows in chunks. Rows in memory are usable, so that none is refused; without memory for more points no more
    /// are learned.
    fn process_rows(
        &mut self,
        x: MatrixView<'_>,
        rows: &[usize],
        id: impl Fn(usize) -> u64,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<()> {
        let svm = &mut self.svm.0;
        for rows in rows.chunks(CHUNK) {
            if !watch.proceed(&svm.progress()) {
                return Ok(());
            }
            svm.compute_kernel_block(x, rows)?;
            for (c, &r) in rows.iter().enumerate() {
                svm.process(c, false, x, r, id(r), problems)?;
            }
        }
        Ok(())
    }

    /// Meets some remembered labels again, in turns if there are many, then solves the problem of its points.
    pub fn review(
        &mut self,
        memory: &LabelMemory,
        now: u64,
        classes: &Classes,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        let n = memory.len();
        let start = if n > AGAIN { (now as usize).wrapping_mul(AGAIN) % n } else { 0 };
        let rows: Vec<usize> = (0..n.min(AGAIN)).map(|i| (start + i) % n).collect();
        let learned = self.learn(memory, &rows, now, classes, params, watch);
        self.optimize(watch);
        learned
    }

    /// Meets inferred labels at the cost C*; `sample` gives the number of a row's sample.
    pub fn infer(
        &mut self,
        x: MatrixView<'_>,
        labels: &[(usize, u32)],
        sample: impl Fn(usize) -> u64,
        params: &EngineParams,
        watch: &dyn Watch,
    ) -> Result<()> {
        let mut of = vec![None; x.rows()];
        labels.iter().for_each(|&(row, class)| of[row] = self.place(class));
        let cost = vec![params.c_inferred / params.c; x.rows()];
        let problems = self.problems(of, &cost);
        let rows: Vec<usize> = labels.iter().map(|(row, _)| *row).collect();
        let learned = self.process_rows(x, &rows, |r| INFERRED | sample(r), &problems, watch);
        self.optimize(watch);
        learned
    }

    fn optimize(&mut self, watch: &dyn Watch) {
        let steps = MAX_STEPS_PER_POINT * self.svm.0.len() as u64;
        self.svm.0.finish_within(steps.max(MIN_STEPS), watch);
    }

    /// Decisions of the rows of a batch, rows × outputs; what overflows says nothing.
    pub fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        let mut f = self.svm.0.model().decision(x)?;
        f.iter_mut().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        Ok(f)
    }

    /// Decisions of some rows by the machine as it is this moment.
    pub fn decisions_now(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        let mut f = self.svm.0.decisions(x, rows)?;
        f.iter_mut().flatten().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        Ok(f)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.svm.0.outputs()
    }

    /// The class that the outputs of a row speak for.
    pub fn vote(&self, f: &[f64]) -> u32 {
        self.present[self.scheme().vote(self.present.len(), f) as usize]
    }

    /// How outputs make classes.
    pub fn scheme(&self) -> MulticlassScheme {
        if self.present.len() == 2 { MulticlassScheme::Binary } else { MulticlassScheme::OneVsRest }
    }

    pub fn present(&self) -> &[u32] {
        &self.present
    }

    pub fn model(&self) -> Model {
        self.svm.0.model()
    }

    pub fn support_count(&self) -> usize {
        self.svm.0.support_count()
    }

    /// Points it keeps.
    pub fn len(&self) -> usize {
        self.svm.0.len()
    }

    /// Renumbers the classes.
    pub fn renumber(&mut self, now: &[u32]) -> bool {
        let sorted: Vec<u32> = self.present.iter().map(|&c| now[c as usize]).collect();
        let same_order = sorted.is_sorted();
        self.present = sorted;
        same_order
    }

    /// Refuses parts that do not fit together (a file may say anything).
    pub fn check(&self, classes: usize, feature_space: &FeatureSpace, params: &EngineParams) -> Result<()> {
        let outputs = if self.present.len() == 2 { 1 } else { self.present.len() };
        let svm = &self.svm.0;
        let fits = self.present.len() >= 2
            && self.present.is_sorted_by(|a, b| a < b)
            && self.present.iter().all(|&c| (c as usize) < classes)
            && svm.outputs() == outputs
            && svm.packing() == feature_space.packing
            && *svm.params() == params.lasvm(feature_space.kernel)
            && svm.len() <= params.max_points
            && svm.points().rows() <= 2 * params.max_points + CHUNK
            && svm.counts_at_most(MAX_COUNT);
        if !fits {
            return Err(Error::State("its classifier and its classes differ".into()));
        }
        feature_space.check_rows(svm.points())
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

/// What a label weighs after so many batches.
fn fresh(age: u64, forget: Forgetting) -> f64 {
    match forget {
        Forgetting::HalfLife(batches) => 0.5f64.powf(age as f64 / batches as f64).max(1e-6),
        _ => 1.0,
    }
}
