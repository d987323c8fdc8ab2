//! Sequential Laplacian MED as the classifier of the engine.
//!
//! Problem: that of [`crate::estimators::med`], one output per class against the rest. The posterior after the last
//! closed batch is N(G⁻¹h, G⁻¹). When a batch is closed, that posterior is updated with the labeled and unlabeled rows
//! of the batch together (Hou & Hero 2018, theorem 2). While a batch is open, answers must take effect at once.
//! Therefore a second posterior learns the labels alone as they arrive, starting from the first one. It makes the
//! decisions until the batch is closed and is then dropped.
//!
//! Departures: the weight of the graph decreases as β/t, because precisions add up over an endless stream. A graph has
//! at most [`MAX_ROWS`] rows: more rows are split into several batches, each with every k-th row, and more than
//! [`MAX_ROWS`] unlabeled rows are thinned evenly first. Landmarks and precision do not depend on labels, so a rebuilt
//! classifier keeps them and learns only h again.
//!
//! Invariants: the first posterior learns each label once. Two thirds of the maximum number of points are for the
//! landmarks of both posteriors, and one third for labels that wait for the end of the batch, at most [`MAX_ROWS`];
//! when more arrive, the first posterior learns the waiting ones early.

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

/// Maximum number of rows that are learned together.
pub(super) const MAX_ROWS: usize = 1000;

/// Number of labels that are learned together without a graph.
const CHUNK: usize = 100;

/// Posterior after the last closed batch, and everything learned since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SequentialMed {
    /// Posterior after the last closed batch.
    belief: Posterior,
    /// That posterior updated with the labels that arrived since.
    current: Posterior,
    /// Rows of these labels.
    recent: Matrix,
    /// Targets of these labels, one entry per output.
    targets: Vec<Targets>,
    /// Maximum number of these labels.
    max_recent: usize,
}

/// Posterior that is saved as plain data.
#[derive(Debug, Clone, PartialEq)]
struct Posterior(SeqMed);

impl Serialize for Posterior {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.save().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Posterior {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        if saved.cols > MAX_COLUMNS {
            return Err(D::Error::custom("the rows of its classifier have too many columns"));
        }
        SeqMed::resume(&saved).map(Self).map_err(D::Error::custom)
    }
}

impl SequentialMed {
    /// A learner without labels, for rows like `first`. Keeps the landmarks and the precision of `old`.
    pub fn new(
        feature_space: &FeatureSpace,
        params: &EngineParams,
        first: MatrixView<'_>,
        outputs: usize,
        old: Option<&Self>,
    ) -> Result<Self> {
        let some: Vec<usize> = (0..first.rows().min(MAX_ROWS)).collect();
        let posterior = match old {
            Some(old) => old.belief.0.without_labels(outputs),
            None => {
                SeqMed::new(&params.seq_lapmed(feature_space.kernel), first.select(&some).view(), outputs)?
            }
        };
        let empty = Matrix::empty(feature_space.cols(), feature_space.sparse);
        let targets = vec![Targets { y: Vec::new(), cost: Vec::new() }; outputs];
        Ok(Self {
            belief: Posterior(posterior.clone()),
            current: Posterior(posterior),
            recent: empty,
            targets,
            max_recent: max_recent(params),
        })
    }

    /// Updates the posterior with the labels that arrived since a batch was closed, together with unlabeled rows.
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
        self.set_posterior(next);
        Ok(())
    }

    fn set_posterior(&mut self, next: SeqMed) {
        self.current = Posterior(next.clone());
        self.belief = Posterior(next);
        self.recent = Matrix::empty(self.recent.cols(), matches!(self.recent, Matrix::Csr { .. }));
        self.targets.iter_mut().for_each(|t| *t = Targets { y: Vec::new(), cost: Vec::new() });
    }

    /// Learns labeled rows only, without a graph.
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
        self.set_posterior(next);
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
        self.set_posterior(next);
        true
    }

    fn fits(&self, feature_space: &FeatureSpace, params: &EngineParams) -> bool {
        let given = params.seq_lapmed(feature_space.kernel);
        let outputs = self.outputs();
        let matches = |b: &Posterior| {
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
            && matches(&self.belief)
            && matches(&self.current)
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
