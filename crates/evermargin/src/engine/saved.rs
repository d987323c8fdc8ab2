//! Checkpoints of the engine: everything that is needed to go on bit by bit, as plain data.

use super::classifier::{FeatureSpace, SavedClassifier, StreamClassifier};
use super::label_memory::LabelMemory;
use super::pairwise_constraints::PairwiseConstraints;
use super::state::{CurrentBatch, PendingQueries, StreamState};
use super::transduction::{SummaryReport, Transduction};
use super::{BudgetUsage, Classes, Engine, EngineParams, StreamMetrics};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::model::Scaling;
use serde::{Deserialize, Serialize};

/// An engine as plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineState {
    params: EngineParams,
    classes: Classes,
    body: Option<SavedStreamState>,
    meter: StreamMetrics,
    spent: BudgetUsage,
    rows: u64,
    batches: u64,
    version: u64,
    draws: u64,
    misses: u32,
    drifted: bool,
    now: u64,
    absorbed: SummaryReport,
    unchosen: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedStreamState {
    scaling: Scaling,
    frame: FeatureSpace,
    memory: LabelMemory,
    inductive: Option<SavedClassifier>,
    transduction: Option<Transduction>,
    current: CurrentBatch,
    open: PendingQueries,
    relations: PairwiseConstraints,
}

impl Engine {
    /// Everything that is needed to go on.
    pub fn save(&self) -> EngineState {
        EngineState {
            params: self.params.clone(),
            classes: self.classes.clone(),
            body: self.body.as_ref().map(|b| SavedStreamState {
                scaling: b.scaling.clone(),
                frame: b.frame.clone(),
                memory: b.memory.clone(),
                inductive: b.inductive.as_ref().map(StreamClassifier::save),
                transduction: b.transduction.clone(),
                current: b.current.clone(),
                open: b.open.clone(),
                relations: b.relations.clone(),
            }),
            meter: self.meter,
            spent: self.spent,
            rows: self.rows,
            batches: self.batches,
            version: self.version,
            draws: self.draws,
            misses: self.misses,
            drifted: self.drifted,
            now: self.now,
            absorbed: self.absorbed,
            unchosen: self.unchosen.clone(),
        }
    }

    /// Goes on from what was saved; refuses parts that do not fit together.
    pub fn resume(state: EngineState) -> Result<Self> {
        state.params.check()?;
        let classes = state.classes.len();
        if state.unchosen.len() != classes {
            return Err(Error::State("its classes and their counts differ".into()));
        }
        Ok(Self {
            body: state.body.map(|b| b.resume(classes)).transpose()?,
            params: state.params,
            classes: state.classes,
            meter: state.meter,
            spent: state.spent,
            rows: state.rows,
            batches: state.batches,
            version: state.version,
            draws: state.draws,
            misses: state.misses,
            drifted: state.drifted,
            now: state.now,
            absorbed: state.absorbed,
            unchosen: state.unchosen,
        })
    }
}

impl SavedStreamState {
    fn resume(self, classes: usize) -> Result<StreamState> {
        let cols = self.frame.packing.cols;
        self.memory.check(cols, classes)?;
        if let Some(t) = &self.transduction {
            t.check(cols, classes)?;
        }
        let (current, open) = (&self.current, &self.open);
        let rows = current.x.rows();
        let lengths = [current.truth.len(), current.asked.len(), current.predictions.len()];
        let predictions = current.predictions.iter().chain(open.of.iter().map(|q| &q.predictions));
        let named =
            predictions.flat_map(|s| [s.given, s.model, s.transduction]).chain(current.truth.iter().copied());
        let fits = lengths == [rows; 3]
            && current.x.cols() == cols
            && open.rows.rows() == open.of.len()
            && open.rows.cols() == cols
            && named.flatten().all(|c| (c as usize) < classes);
        if !fits {
            return Err(Error::State("its batch and what is known about it differ".into()));
        }
        let matrices = [Some(&current.x), Some(&open.rows)];
        matrices.into_iter().flatten().try_for_each(Matrix::recheck)?;
        let inductive =
            self.inductive.as_ref().map(|i| StreamClassifier::resume(i, classes, &self.frame)).transpose()?;
        Ok(StreamState {
            scaling: self.scaling,
            frame: self.frame,
            memory: self.memory,
            inductive,
            transduction: self.transduction,
            current: self.current,
            open: self.open,
            relations: self.relations,
        })
    }
}
