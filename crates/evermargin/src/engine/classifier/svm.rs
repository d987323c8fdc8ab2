//! Online support vector machines as the classifier of the engine: `lasvm`, and `local`, the choice of Emara.
//!
//! Problem: that of [`crate::estimators::online::lasvm`], one output per class against the rest, on shared points.
//! `lasvm` keeps the points that its steps need; `local` keeps every label up to the maximum and changes the
//! coefficients in the neighborhood of a new label (Emara 2012, chapter VI). Both are solved to the tolerance when a
//! batch is closed.
//!
//! Departure: when a batch is closed, remembered labels outside the margin of every output are not processed again,
//! because LASVM would reject them after a pass over all points. `local` still has all of its labels and reviews none.

use super::{Machine, Rows};
use crate::data::{Matrix, MatrixView};
use crate::engine::MAX_COUNT;
use crate::engine::feature_space::{FeatureSpace, MAX_COLUMNS};
use crate::engine::params::{ClassifierChoice, EngineParams};
use crate::error::Result;
use crate::estimators::online::lasvm::{Lasvm, LasvmVariant, Saved};
use crate::kernel::gram::Packing;
use crate::model::Model;
use crate::solver::Watch;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number of samples whose kernel values are computed together.
pub(super) const CHUNK: usize = 64;

/// Maximum number of solver steps per point, far more than rows of similar length need. A row that is longer than the
/// others by many orders of magnitude can prevent convergence to the tolerance, and the time per batch must be bounded.
const MAX_STEPS_PER_POINT: u64 = 1000;

/// Lower bound of the maximum number of solver steps, for few points. `local` uses a tenth of the steps per point and a
/// twentieth of this bound, because it keeps rows that LASVM drops.
const MIN_STEPS: u64 = 100_000;

/// Online SVM, saved without the counts that depend on its caches.
#[derive(Debug)]
pub(super) struct OnlineSvm(Lasvm);

impl OnlineSvm {
    /// An SVM without points.
    pub fn new(feature_space: &FeatureSpace, params: &EngineParams, outputs: usize) -> Self {
        let machine = params.lasvm(feature_space.kernel);
        Self(Lasvm::with(&machine, &feature_space.packing, feature_space.sparse, outputs))
    }

    /// The same SVM for rows with more columns; `None` if that is impossible.
    pub fn with_packing(&self, packing: &Packing) -> Option<Self> {
        let mut saved = self.0.save();
        saved.points = saved.points.with_cols(packing.cols);
        saved.packing = packing.clone();
        Lasvm::resume(&saved).ok().map(Self)
    }

    fn saved(&self) -> Saved {
        let mut saved = self.0.save();
        // the number of computed kernel values depends on what was cached, not on what was learned
        (saved.counts.evaluations, saved.counts.spare) = (0, 0);
        saved
    }

    /// Processes rows in chunks, either all of them or only those inside the margin of an output. Stored rows are
    /// usable, so none is refused; if memory for another point is missing, the remaining rows are not learned.
    fn process(&mut self, rows: &Rows<'_>, all: bool, watch: &dyn Watch) -> Result<()> {
        let svm = &mut self.0;
        for (start, chunk) in (0..).step_by(CHUNK).zip(rows.chosen.chunks(CHUNK)) {
            if !watch.proceed(&svm.progress()) {
                return Ok(());
            }
            svm.compute_kernel_block(rows.x, chunk)?;
            for (c, &r) in chunk.iter().enumerate() {
                if all || svm.is_inside_margin(c, r, rows.problems) {
                    svm.process(c, false, rows.x, r, rows.ids[start + c], rows.problems)?;
                }
            }
        }
        Ok(())
    }

    fn optimize(&mut self, watch: &dyn Watch) {
        let local = self.0.params().variant == LasvmVariant::Local;
        let (per_point, min) =
            if local { (MAX_STEPS_PER_POINT / 10, MIN_STEPS / 20) } else { (MAX_STEPS_PER_POINT, MIN_STEPS) };
        self.0.finish_within((per_point * self.0.len() as u64).max(min), watch);
    }
}

impl Machine for OnlineSvm {
    fn learn(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        self.process(rows, true, watch)
    }

    fn rebuild(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        let learned = self.process(rows, true, watch);
        self.optimize(watch);
        learned
    }

    fn infer(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        let learned = self.process(rows, true, watch);
        self.optimize(watch);
        learned
    }

    fn close(&mut self, review: &Rows<'_>, _unlabeled: MatrixView<'_>, watch: &dyn Watch) -> Result<()> {
        let reviews = self.0.params().variant != LasvmVariant::Local;
        let learned = if reviews { self.process(review, false, watch) } else { Ok(()) };
        self.optimize(watch);
        learned
    }

    fn ids(&self) -> Vec<u64> {
        self.0.ids().map(|(_, id)| id).collect()
    }

    fn remove(&mut self, is_removed: &dyn Fn(u64) -> bool) {
        self.0.remove_points(is_removed);
    }

    fn wants_unlabeled(&self) -> bool {
        false
    }

    fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        self.0.model().decision(x)
    }

    fn decisions_now(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        self.0.decisions(x, rows)
    }

    fn outputs(&self) -> usize {
        self.0.outputs()
    }

    fn model(&self) -> Model {
        self.0.model()
    }

    fn support_count(&self) -> usize {
        self.0.support_count()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn forget_labels(&mut self) -> bool {
        false
    }

    fn fits(&self, feature_space: &FeatureSpace, params: &EngineParams) -> bool {
        let svm = &self.0;
        params.classifier != ClassifierChoice::SeqLapmed
            && svm.packing() == feature_space.packing
            && *svm.params() == params.lasvm(feature_space.kernel)
            && svm.len() <= params.max_points
            && svm.points().rows() <= 2 * params.max_points + CHUNK
            && svm.counts_at_most(MAX_COUNT)
    }

    fn points(&self) -> Vec<&Matrix> {
        vec![self.0.points()]
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
            return Err(D::Error::custom("the points of its classifier have too many columns"));
        }
        Lasvm::resume(&saved).map(Self).map_err(D::Error::custom)
    }
}
