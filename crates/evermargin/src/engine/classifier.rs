//! The classifier inside the engine: an online machine that meets every label once when it comes, meets remembered ones
//! again when a batch is closed, and is made anew from them when a label is changed, taken back or of a new class.

use super::Classes;
use super::label_memory::LabelMemory;
use super::params::{ClassWeighting, EngineParams, Forgetting};
use crate::data::{Labels, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::Targets;
use crate::estimators::online::lasvm::{Lasvm, Saved};
use crate::kernel::Kernel;
use crate::kernel::gram::Packing;
use crate::model::{Model, Scheme};
use crate::pipeline::preprocess::problems;
use crate::resampling::class_costs;
use serde::{Deserialize, Serialize};

/// Remembered labels that are met again at a time.
const AGAIN: usize = 1000;

/// Samples that meet the machine together.
const CHUNK: usize = 64;

/// The mark of an inferred label: the sample may get a true one later.
const INFERRED: u64 = 1 << 63;

/// What the machine is made of, whatever it has learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FeatureSpace {
    pub kernel: Kernel,
    pub packing: Packing,
    pub sparse: bool,
}

/// A classifier of the classes that have labels.
#[derive(Debug)]
pub(super) struct StreamClassifier {
    machine: Lasvm,
    /// Numbers of the classes that have labels.
    present: Vec<u32>,
}

/// What is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedClassifier {
    machine: Saved,
    present: Vec<u32>,
}

impl StreamClassifier {
    /// A machine that has met all labels; none unless two classes have some.
    pub fn of(
        memory: &LabelMemory,
        classes: &Classes,
        now: u64,
        frame: &FeatureSpace,
        params: &EngineParams,
    ) -> Result<Option<Self>> {
        let counts = memory.counts(classes.len());
        let present: Vec<u32> = (0..classes.len() as u32).filter(|&c| counts[c as usize] > 0).collect();
        if present.len() < 2 {
            return Ok(None);
        }
        let outputs = if present.len() == 2 { 1 } else { present.len() };
        let machine = Lasvm::with(&params.machine(frame.kernel), &frame.packing, frame.sparse, outputs)?;
        let mut made = Self { machine, present };
        let all: Vec<usize> = (0..memory.len()).collect();
        made.learn(memory, &all, now, classes, params)?;
        made.optimize();
        Ok(Some(made))
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
        for rows in rows.chunks(CHUNK) {
            self.machine.compute_kernel_block(memory.rows(), rows)?;
            for (c, &r) in rows.iter().enumerate() {
                self.machine.process(c, false, memory.rows(), r, labeled[r].sample, &problems)?;
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
    ) -> Result<()> {
        let n = memory.len();
        let start = if n > AGAIN { (now as usize).wrapping_mul(AGAIN) % n } else { 0 };
        let rows: Vec<usize> = (0..n.min(AGAIN)).map(|i| (start + i) % n).collect();
        self.learn(memory, &rows, now, classes, params)?;
        self.optimize();
        Ok(())
    }

    /// Meets inferred labels at the cost C*.
    pub fn infer(
        &mut self,
        x: MatrixView<'_>,
        labels: &[(usize, u32)],
        base: u64,
        params: &EngineParams,
    ) -> Result<()> {
        let mut of = vec![None; x.rows()];
        labels.iter().for_each(|&(row, class)| of[row] = self.place(class));
        let cost = vec![params.c_inferred / params.c; x.rows()];
        let problems = self.problems(of, &cost);
        let rows: Vec<usize> = labels.iter().map(|(row, _)| *row).collect();
        for rows in rows.chunks(CHUNK) {
            self.machine.compute_kernel_block(x, rows)?;
            for (c, &r) in rows.iter().enumerate() {
                self.machine.process(c, false, x, r, INFERRED | (base + r as u64), &problems)?;
            }
        }
        self.optimize();
        Ok(())
    }

    fn optimize(&mut self) {
        self.machine.finish(&());
    }

    /// Decisions of the rows of a batch, rows × outputs; what overflows says nothing.
    pub fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        let mut f = self.machine.model().decision(x)?;
        f.iter_mut().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        Ok(f)
    }

    /// Decisions of some rows by the machine as it is this moment.
    pub fn decisions_now(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        let mut f = self.machine.decisions(x, rows)?;
        f.iter_mut().flatten().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        Ok(f)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.machine.outputs()
    }

    /// The class that the outputs of a row speak for.
    pub fn vote(&self, f: &[f64]) -> u32 {
        self.present[self.scheme().vote(self.present.len(), f) as usize]
    }

    /// How outputs make classes.
    pub fn scheme(&self) -> Scheme {
        if self.present.len() == 2 { Scheme::Binary } else { Scheme::OneVsRest }
    }

    pub fn present(&self) -> &[u32] {
        &self.present
    }

    pub fn model(&self) -> Model {
        self.machine.model()
    }

    pub fn support_count(&self) -> usize {
        self.machine.support_count()
    }

    /// Points it keeps.
    pub fn len(&self) -> usize {
        self.machine.len()
    }

    /// Renumbers the classes.
    pub fn renumber(&mut self, now: &[u32]) -> bool {
        let sorted: Vec<u32> = self.present.iter().map(|&c| now[c as usize]).collect();
        let same_order = sorted.is_sorted();
        self.present = sorted;
        same_order
    }

    pub fn save(&self) -> SavedClassifier {
        let mut machine = self.machine.save();
        // how often kernel values were computed depends on what was in memory, not on what was learned
        (machine.counts.evaluations, machine.counts.spare) = (0, 0);
        SavedClassifier { machine, present: self.present.clone() }
    }

    /// Goes on from what was saved; refuses what does not fit.
    pub fn resume(saved: &SavedClassifier, classes: usize, frame: &FeatureSpace) -> Result<Self> {
        let outputs = if saved.present.len() == 2 { 1 } else { saved.present.len() };
        let fits = saved.present.len() >= 2
            && saved.present.is_sorted_by(|a, b| a < b)
            && saved.present.iter().all(|&c| (c as usize) < classes)
            && saved.machine.outputs.len() == outputs
            && saved.machine.packing == frame.packing;
        if !fits {
            return Err(Error::State("its classifier and its classes differ".into()));
        }
        let machine = Lasvm::resume(&saved.machine)?;
        Ok(Self { machine, present: saved.present.clone() })
    }

    fn place(&self, class: u32) -> Option<u32> {
        self.present.binary_search(&class).ok().map(|c| c as u32)
    }

    fn problems(&self, of: Vec<Option<u32>>, cost: &[f64]) -> Vec<Targets> {
        let labels = Labels { classes: vec![String::new(); self.present.len()], of };
        problems(&labels, self.scheme(), cost)
    }

    fn class_weights(&self, memory: &LabelMemory, classes: &Classes, params: &EngineParams) -> Vec<f64> {
        let mut counts = vec![0; self.present.len()];
        memory.labeled().iter().filter_map(|t| self.place(t.class)).for_each(|c| counts[c as usize] += 1);
        let mut weights = match params.class_weight {
            ClassWeighting::None => vec![1.0; counts.len()],
            ClassWeighting::Ratio => class_costs(&counts),
            ClassWeighting::Balanced => {
                let share = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
                counts.iter().map(|&n| share / n.max(1) as f64).collect::<Vec<f64>>()
            }
        };
        for (w, &class) in weights.iter_mut().zip(&self.present) {
            *w *= params.class_weights.get(&classes.names()[class as usize]).unwrap_or(&1.0);
        }
        weights
    }
}

/// What a label weighs after so many batches.
fn fresh(age: u64, forget: Forgetting) -> f64 {
    match forget {
        Forgetting::HalfLife(batches) => 0.5f64.powf(age as f64 / batches as f64).max(1e-6),
        _ => 1.0,
    }
}
