//! Sequential Laplacian MED as the classifier of the loop.
//!
//! Problem: that of [`crate::estimators::med`], one output per class against the rest. The belief after the last closed
//! batch is N(G⁻¹h, G⁻¹). When a batch is closed, its labeled and unlabeled rows are learned together from that belief
//! (Hou & Hero 2018, theorem 2). While it is open, answers must show at once: a second belief, made from the first by
//! learning labels alone as they come, decides until then and is dropped when the batch is closed.
//!
//! Departures: the weight of the graph falls as β/t, because precisions add up over a stream without end. A graph has at
//! most [`MAX_ROWS`] rows; of more rows every k-th is one batch, and more than [`MAX_ROWS`] unlabeled ones are thinned
//! evenly. Landmarks and precision do not depend on labels, so a rebuilt machine keeps them and relearns h.
//!
//! Invariants: a label is learned once by the belief. Two thirds of the cap on points are for the landmarks of both beliefs,
//! one third for labels that wait for the end of the batch, at most [`MAX_ROWS`]; when more come, those that wait are
//! learned.

use super::{Machine, Rows};
use crate::data::{Label, Matrix, MatrixView};
use crate::engine::MAX_COUNT;
use crate::engine::feature_space::{FeatureSpace, MAX_COLUMNS};
use crate::engine::params::{ClassifierChoice, EngineParams};
use crate::error::Result;
use crate::estimators::Targets;
use crate::estimators::med::{Saved, SeqMed};
use crate::model::Model;
use crate::solver::{Progress, Watch};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Rows that are learned together.
pub(super) const MAX_ROWS: usize = 1000;

/// Labels that are learned together without a graph.
const CHUNK: usize = 100;

/// The belief, and what was learned since a batch was closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SequentialMed {
    /// The belief after the last closed batch.
    belief: Belief,
    /// The belief with the labels that came since.
    current: Belief,
    /// These labels: rows, and one target per output.
    recent: Matrix,
    targets: Vec<Targets>,
    /// The maximum number of them.
    max_recent: usize,
}

/// A belief that is saved as plain data.
#[derive(Debug, Clone, PartialEq)]
struct Belief(SeqMed);

impl Serialize for Belief {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.save().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Belief {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        if saved.cols > MAX_COLUMNS {
            return Err(D::Error::custom("its rows have too many columns"));
        }
        SeqMed::resume(&saved).map(Self).map_err(D::Error::custom)
    }
}

impl SequentialMed {
    /// A machine without labels, for rows like `first`. It keeps the landmarks and the precision of `old`.
    pub fn new(
        feature_space: &FeatureSpace,
        params: &EngineParams,
        first: MatrixView<'_>,
        outputs: usize,
        old: Option<&Self>,
    ) -> Result<Self> {
        let some: Vec<usize> = (0..first.rows().min(MAX_ROWS)).collect();
        let belief = match old {
            Some(old) => old.belief.0.without_labels(outputs),
            None => {
                SeqMed::new(&params.seq_lapmed(feature_space.kernel), first.select(&some).view(), outputs)?
            }
        };
        let empty = Matrix::empty(feature_space.cols(), feature_space.sparse);
        let targets = vec![Targets { y: Vec::new(), cost: Vec::new() }; outputs];
        Ok(Self {
            belief: Belief(belief.clone()),
            current: Belief(belief),
            recent: empty,
            targets,
            max_recent: max_recent(params),
        })
    }

    /// Learns the labels that came since a batch was closed, and unlabeled rows with them, from the belief.
    fn absorb(&mut self, unlabeled: MatrixView<'_>, watch: &dyn Watch) -> Result<()> {
        let step = unlabeled.rows().div_ceil(MAX_ROWS).max(1);
        let some: Vec<usize> = (0..unlabeled.rows()).step_by(step).collect();
        let (labeled, rows) = (self.recent.rows(), self.recent.rows() + some.len());
        let batches = rows.div_ceil(MAX_ROWS);
        let mut next = self.belief.0.clone();
        for k in 0..batches {
            if !watch.proceed(&progress(&next)) {
                return Ok(());
            }
            let mut x = Matrix::empty(self.recent.cols(), matches!(self.recent, Matrix::Csr { .. }));
            let mut targets = vec![Targets { y: Vec::new(), cost: Vec::new() }; self.targets.len()];
            for i in (k..rows).step_by(batches) {
                let known = i < labeled;
                x.push(if known { self.recent.view().row(i) } else { unlabeled.row(some[i - labeled]) });
                for (out, all) in targets.iter_mut().zip(&self.targets) {
                    let (y, cost) = if known { (all.y[i], all.cost[i]) } else { (Label::Unknown, 1.0) };
                    out.y.push(y);
                    out.cost.push(cost);
                }
            }
            next.learn(x.view(), &targets, &())?;
        }
        self.believe(next);
        Ok(())
    }

    fn believe(&mut self, next: SeqMed) {
        self.current = Belief(next.clone());
        self.belief = Belief(next);
        self.recent = Matrix::empty(self.recent.cols(), matches!(self.recent, Matrix::Csr { .. }));
        self.targets.iter_mut().for_each(|t| *t = Targets { y: Vec::new(), cost: Vec::new() });
    }

    /// Learns labels of a belief without a graph.
    fn learn_alone(to: &mut SeqMed, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        for chunk in rows.chosen.chunks(CHUNK) {
            if !watch.proceed(&progress(to)) {
                return Ok(());
            }
            let targets: Vec<Targets> = rows.problems.iter().map(|p| p.select(chunk)).collect();
            to.learn_labels(rows.x.select(chunk).view(), &targets, &())?;
        }
        Ok(())
    }
}

fn max_recent(params: &EngineParams) -> usize {
    (params.max_points / 3).clamp(1, MAX_ROWS)
}

fn progress(of: &SeqMed) -> Progress {
    Progress { steps: of.batches(), violation: 1.0, tolerance: 0.0 }
}

impl Machine for SequentialMed {
    fn learn(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        for chunk in rows.chosen.chunks(CHUNK.min(self.max_recent)) {
            let part = Rows { chosen: chunk, ..*rows };
            if self.recent.rows() + chunk.len() > self.max_recent {
                let none = Matrix::empty(self.recent.cols(), matches!(self.recent, Matrix::Csr { .. }));
                self.absorb(none.view(), watch)?;
            }
            Self::learn_alone(&mut self.current.0, &part, watch)?;
            for &r in chunk {
                self.recent.push(rows.x.row(r));
                for (to, from) in self.targets.iter_mut().zip(rows.problems) {
                    to.y.push(from.y[r]);
                    to.cost.push(from.cost[r]);
                }
            }
        }
        Ok(())
    }

    fn rebuild(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        let mut next = self.belief.0.clone();
        let learned = Self::learn_alone(&mut next, rows, watch);
        self.believe(next);
        learned
    }

    fn infer(&mut self, rows: &Rows<'_>, watch: &dyn Watch) -> Result<()> {
        self.rebuild(rows, watch)
    }

    fn close(&mut self, _review: &Rows<'_>, unlabeled: MatrixView<'_>, watch: &dyn Watch) -> Result<()> {
        self.absorb(unlabeled, watch)
    }

    fn ids(&self) -> Vec<u64> {
        Vec::new()
    }

    fn remove(&mut self, _: &dyn Fn(u64) -> bool) {}

    fn wants_unlabeled(&self) -> bool {
        true
    }

    fn decisions(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        self.current.0.decisions(x)
    }

    fn decisions_now(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        let f = self.current.0.decisions(x.select(rows).view())?;
        Ok(f.chunks(self.outputs()).map(<[f64]>::to_vec).collect())
    }

    fn outputs(&self) -> usize {
        self.current.0.bias().len()
    }

    fn model(&self) -> Model {
        self.current.0.model()
    }

    fn support_count(&self) -> usize {
        self.current.0.landmark_count()
    }

    fn len(&self) -> usize {
        self.belief.0.landmark_count() + self.current.0.landmark_count() + self.recent.rows()
    }

    fn forget_labels(&mut self) -> bool {
        let next = self.belief.0.without_labels(self.outputs());
        self.believe(next);
        true
    }

    fn fits(&self, feature_space: &FeatureSpace, params: &EngineParams) -> bool {
        let given = params.seq_lapmed(feature_space.kernel);
        let outputs = self.outputs();
        let belief = |b: &Belief| {
            let saved = b.0.save();
            saved.params == given
                && saved.cols == feature_space.cols()
                && saved.bias.len() == outputs
                && saved.batches <= MAX_COUNT
                && saved.rows <= MAX_COUNT
                && b.0.landmark_count() <= given.n_landmarks
        };
        let target = |t: &Targets| {
            t.y.len() == self.recent.rows()
                && t.cost.len() == self.recent.rows()
                && t.cost.iter().all(|c| (0.0..=1e15).contains(c))
        };
        params.classifier == ClassifierChoice::SeqLapmed
            && belief(&self.belief)
            && belief(&self.current)
            && self.targets.len() == outputs
            && self.max_recent == max_recent(params)
            && self.recent.rows() <= self.max_recent
            && matches!(self.recent, Matrix::Csr { .. }) == feature_space.sparse
            && self.targets.iter().all(target)
    }

    fn points(&self) -> Vec<&Matrix> {
        [self.belief.0.landmarks(), self.current.0.landmarks(), Some(&self.recent)]
            .into_iter()
            .flatten()
            .collect()
    }
}
