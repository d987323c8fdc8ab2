//! Checkpoints: everything needed to resume with bit-identical results.

use super::state::{Point, Ramp};
use super::{Counts, Lasvm, LasvmParams};
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::kernel::gram::{Block, Packing};
use crate::solver::smo::Dual;
use serde::{Deserialize, Serialize};

/// Everything needed to resume with bit-identical results, as plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Parameters.
    pub params: LasvmParams,
    /// Packing of the samples.
    pub packing: Packing,
    /// Samples of the points, in the order of arrival.
    pub points: Matrix,
    /// Id of each point, given by the caller.
    pub ids: Vec<u64>,
    /// Position of each point on the ramp when it arrived.
    pub came: Vec<Ramp>,
    /// Whether each point was evicted and awaits removal.
    pub dead: Vec<bool>,
    /// Dual problems, one per output.
    pub outputs: Vec<Dual>,
    /// Counts since the state was created.
    pub counts: Counts,
}

impl Lasvm {
    /// The checkpoint of the current state.
    pub fn save(&self) -> Saved {
        Saved {
            params: self.params.clone(),
            packing: self.gram.packed().packing(),
            points: self.gram.points().clone(),
            ids: self.points.iter().map(|p| p.id).collect(),
            came: self.points.iter().map(|p| p.came).collect(),
            dead: self.points.iter().map(|p| p.dead).collect(),
            outputs: self.outputs.clone(),
            counts: self.counts(),
        }
    }

    /// A copy with the same points and coefficients, but with empty caches.
    pub(crate) fn copy(&self) -> Self {
        Self {
            params: self.params.clone(),
            gram: self.gram.copy(),
            outputs: self.outputs.clone(),
            gradient_bounds: self.gradient_bounds.clone(),
            points: self.points.clone(),
            dead: self.dead,
            support: self.support,
            members: self.members.clone(),
            counts: self.counts.clone(),
            block: Block::default(),
            row: Vec::new(),
        }
    }

    /// Whether no count exceeds `max`.
    pub(crate) fn counts_at_most(&self, max: u64) -> bool {
        let c = &self.counts;
        let some = [c.seen, c.rejected, c.process, c.reprocess, c.over_cap, c.evaluations, c.spare];
        some.iter().chain(&c.admitted).chain(&c.dropped).all(|n| *n <= max)
    }

    /// Restores a state from a checkpoint; inconsistent parts are an error.
    pub fn resume(saved: &Saved) -> Result<Self> {
        saved.check()?;
        let sparse = matches!(saved.points, Matrix::Csr { .. });
        let mut state = Self::with(&saved.params, &saved.packing, sparse, saved.outputs.len());
        state.gram.restore(saved.points.view())?;
        state.outputs.clone_from(&saved.outputs);
        state.gradient_bounds = state.outputs.iter().map(Dual::gradient_bounds).collect();
        let parts = saved.ids.iter().zip(&saved.came).zip(&saved.dead);
        state.points = parts.map(|((&id, &came), &dead)| Point { id, came, dead }).collect();
        state.dead = saved.dead.iter().filter(|d| **d).count();
        state.members = state.ids().map(|(_, id)| id).collect();
        state.support = state.count_support();
        state.counts = saved.counts.clone();
        Ok(state)
    }
}

impl Saved {
    /// Checks that all parts are consistent, because a file may contain anything.
    pub fn check(&self) -> Result<()> {
        self.params.check()?;
        self.points.recheck()?;
        let n = self.points.rows();
        let wrong = |what: &str| Err(Error::State(what.into()));
        if self.ids.len() != n || self.came.len() != n || self.dead.len() != n {
            return wrong("its points and their ids differ in number");
        }
        let width = self.packing.center.len();
        if self.packing.cols > u32::MAX as usize {
            return wrong("its points have too many columns");
        }
        if self.packing.cols != self.points.cols() || (width != 0 && width != self.packing.cols) {
            return wrong("its points have another number of columns");
        }
        if self.outputs.is_empty()
            || self.outputs.iter().any(|d| !d.is_sound(n, self.params.variant.has_bias()))
        {
            return wrong("its coefficients do not fit its points");
        }
        Ok(())
    }
}
