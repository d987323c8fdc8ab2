//! Queries that compare a sample with a labeled one, and the labels that follow from the answers.
//!
//! Problem: an annotator may know whether two samples are of the same class, but not the name of the class, and
//! answering yes or no takes less time than choosing among many classes. Emara 2012 names such relational feedback as
//! future work (digest, feature checklist, row 48); pairwise queries with must-link and cannot-link answers are those
//! of Basu, Banerjee and Mooney 2004.
//!
//! The sample is compared with the nearest labeled sample of its predicted class. The answer "same" gives the label.
//! The answer "different" excludes the class permanently: the next comparison is with the most likely remaining class,
//! and if only one class remains, it is the label (`pairwise_closure.rs`).
//!
//! Departure: random checks always ask for the class. The outcome of a comparison depends on the class with which the
//! sample is compared, so it does not measure accuracy.

use super::event::ImpliedLabel;
use super::labeling::ExcludedClasses;
use super::params::PairwiseQueries;
use super::state::{LabeledReference, PendingQuery, StreamState};
use super::{Effects, Engine, LabeledSample, QueryReason};
use crate::error::{Error, Result};
use crate::solver::Watch;

/// Maximum share of labels that are the only one of their class, up to which queries become comparisons without a
/// request. This share is the Good-Turing estimate of the probability that the next label is of a new class. A
/// comparison cannot find a new class, and elimination would assign its samples to a known one.
const MAX_UNSEEN_SHARE: f64 = 0.05;

/// Maximum number of comparisons of a sample without a request; each further one is less likely to find the class.
const MAX_COMPARISONS: u32 = 2;

const CONTRADICTION: &str =
    "statements about pairs contradict each other or given labels; they imply no labels in that group";

const NO_CLASS_LEFT: &str =
    "statements about pairs exclude every class for a sample: its class is new, or one statement is wrong";

impl Engine {
    /// Returns an error for a comparison that is impossible.
    pub(super) fn validate_comparison(&self, sample: u64) -> Result<()> {
        let refused = |reason: &str| Err(Error::Data(format!("sample {sample} {reason}")));
        let found = self.state.as_ref().and_then(|state| Some((state, state.pending.find(sample)?)));
        let Some((state, at)) = found else {
            return refused("is not asked about; its query may have lapsed or been answered");
        };
        if state.pending.of[at].reference.is_some() {
            return refused("is compared already");
        }
        match state.choose_reference(at) {
            Some(_) => Ok(()),
            None if state.memory.labeled().iter().all(|l| l.follows.is_some()) => {
                refused("cannot be compared: no class has a labeled sample")
            }
            None => refused("cannot be compared: no other class has a labeled sample"),
        }
    }

    /// Changes the query about a sample into a comparison.
    pub(super) fn compare(&mut self, sample: u64, effects: &mut Effects) {
        let Some(mut state) = self.state.take() else { return };
        if let Some(at) = state.pending.find(sample) {
            self.make_comparison(&mut state, at, effects);
        }
        self.state = Some(state);
    }

    /// Changes a query into a comparison; returns whether that was possible. The query had no answer, so it is not
    /// counted again.
    pub(super) fn make_comparison(&self, state: &mut StreamState, at: usize, effects: &mut Effects) -> bool {
        let Some(reference) = state.choose_reference(at) else { return false };
        state.compare_with(at, reference);
        effects.questions.push(state.pending.of[at].question(None, &self.classes));
        true
    }

    /// Changes the newest query into a comparison if the parameters make comparisons first.
    pub(super) fn compare_first(&self, state: &mut StreamState) {
        let Some(at) = state.pending.of.len().checked_sub(1) else { return };
        let first = self.params.pairwise_queries == PairwiseQueries::Always
            && state.pending.of[at].why == QueryReason::Informative
            && state.classifier.is_some()
            && self.are_new_classes_rare(state);
        if let Some(reference) = state.choose_reference(at).filter(|_| first) {
            state.compare_with(at, reference);
        }
    }

    /// Whether queries may become comparisons without a request. One additional label that is the only one of its class
    /// is assumed, so that a few labels are not enough to conclude that new classes are rare.
    pub(super) fn are_new_classes_rare(&self, state: &StreamState) -> bool {
        let mut counts = vec![0u32; self.classes.len()];
        let named = state.memory.labeled().iter().filter(|l| l.follows.is_none());
        named.for_each(|l| counts[l.class as usize] += 1);
        let single = counts.iter().filter(|count| **count == 1).count();
        (single + 1) as f64 <= MAX_UNSEEN_SHARE * (counts.iter().sum::<u32>() + 1) as f64
    }

    /// Stores a statement about a pair of samples.
    pub(super) fn relate(&mut self, a: u64, b: u64, same: bool, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        state.constraints.add(a, b, same);
        state.current.on_arrival = None;
        for sample in [a, b] {
            if let Some(class) = state.named_class(sample) {
                state.constraints.set_class(sample, class);
            }
        }
        if let Some(at) = state.pending.find_comparison(a, b) {
            let query = &mut state.pending.of[at];
            let (reference, trial) = (query.reference, query.trial);
            if let Some(r) = reference.filter(|r| state.memory.find(r.sample).is_none()) {
                state.constraints.set_class(r.sample, r.class);
            }
            if let (Some(trial), Some(r), Some(bandit)) = (trial, reference, &mut self.query_state.bandit) {
                // "Same" gives the class; "different" shows only whether it is the one that the classifier predicted.
                if same || r.class == trial.class {
                    bandit.record(trial.arm.into(), same != (r.class == trial.class));
                    query.trial = None;
                }
            }
        }
        self.infer_from_pairs(&mut state, &[a, b], effects, watch);
        // An answer without effect, because it contradicts others, still ends the query.
        if let Some(at) = state.pending.find_comparison(a, b).filter(|&at| !state.is_excluded(at)) {
            state.pending.remove(at);
        }
        self.replace_answered(&mut state, effects);
        self.evict_labels(&mut state, watch);
        self.state = Some(state);
        self.ask(effects, watch);
    }

    /// Replaces comparisons that were answered or whose reference has another label now. If no further query is
    /// possible, the sample has no pending query any more.
    pub(super) fn replace_answered(&mut self, state: &mut StreamState, effects: &mut Effects) {
        let mut at = 0;
        while let Some(query) = state.pending.of.get(at).copied() {
            let answered = state.is_excluded(at);
            let stays = !answered && query.reference.is_none_or(|r| state.still_has_class(r));
            if stays || self.replace_comparison(state, at, answered, effects) {
                at += 1;
            }
        }
    }

    /// Replaces comparisons with a sample whose label was withdrawn.
    pub(super) fn drop_reference(&mut self, state: &mut StreamState, sample: u64, effects: &mut Effects) {
        let refers = |q: &PendingQuery| q.reference.is_some_and(|r| r.sample == sample);
        while let Some(at) = state.pending.of.iter().position(refers) {
            self.replace_comparison(state, at, false, effects);
        }
    }

    /// Replaces a comparison by the next query about its sample; returns whether there is one. After an answer the new
    /// query counts again for the budget.
    fn replace_comparison(
        &mut self,
        state: &mut StreamState,
        at: usize,
        answered: bool,
        effects: &mut Effects,
    ) -> bool {
        let query = &mut state.pending.of[at];
        query.reference = None;
        query.compared += u32::from(answered);
        let mode = self.params.pairwise_queries;
        let continues = mode == PairwiseQueries::OnRequest || query.compared < MAX_COMPARISONS;
        // Comparisons without a request concern only the open batch: late answers cause no further queries.
        let is_open = !state.current.closed && state.current.row_of(query.sample).is_some();
        let wanted = mode == PairwiseQueries::OnRequest || is_open;
        let allowed = !answered || wanted && self.budget_usage.left(&self.params.budget, self.now) > 0;
        let compared = allowed && continues && self.make_comparison(state, at, effects);
        let replaced = compared || allowed && mode == PairwiseQueries::Always;
        if !replaced {
            state.pending.remove(at);
        } else if !compared {
            // The sample is not of a likely class; it may be of a new one.
            effects.questions.push(state.pending.of[at].question(None, &self.classes));
        }
        if replaced && answered {
            self.budget_usage.note(1);
        }
        replaced
    }

    /// Updates the labels implied by pairs: adds, changes or removes those of all samples that pairs connect to
    /// `samples`. A new class may be the one that is not excluded, so it affects all pairs.
    pub(super) fn infer_from_pairs(
        &mut self,
        state: &mut StreamState,
        samples: &[u64],
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let all = state.constraints.set_class_count(self.classes.len()) && !state.constraints.is_empty();
        if !all && samples.is_empty() {
            return;
        }
        for &sample in samples {
            if let Some(class) = state.named_class(sample) {
                state.constraints.set_class(sample, class);
            }
        }
        let implied = state.constraints.implications();
        if samples.iter().any(|s| implied.contradicts(*s)) {
            effects.notes.push(CONTRADICTION.into());
        } else if samples.iter().any(|s| implied.excluded(*s).len() == self.classes.len()) {
            effects.notes.push(NO_CLASS_LEFT.into());
        }
        let concerned = |sample: u64| all || samples.iter().any(|s| implied.connects(*s, sample));
        let name = |class: u32| self.classes.names()[class as usize].clone();
        let mut changed = false;
        let followed: Vec<LabeledSample> =
            state.memory.labeled().iter().filter(|l| l.follows.is_some()).copied().collect();
        for label in followed.iter().filter(|l| concerned(l.sample)) {
            let now = implied.class(label.sample);
            if now.map(|n| n.0) == Some(label.class) {
                continue;
            }
            changed = true;
            state.change_implied_label(label.sample, now);
            let label = ImpliedLabel { sample: label.sample, label: now.map(|n| name(n.0)) };
            effects.implied.push(label);
        }
        if changed {
            self.replace_labels(state, watch);
        }
        for &sample in implied.samples().iter().filter(|s| concerned(**s)) {
            let Some((class, from)) = implied.class(sample) else { continue };
            if state.memory.find(sample).is_some() || state.constraints.class(sample).is_some() {
                continue;
            }
            let Some(row) = state.sample(sample) else { continue };
            let why = state.pending.find(sample).map(|at| state.pending.remove(at).0.why);
            let why =
                why.map(|why| if why == QueryReason::RandomCheck { QueryReason::Informative } else { why });
            self.remember_label(state, sample, row.view().row(0), class, (why, Some(from)), watch);
            effects
                .implied
                .push(ImpliedLabel { sample, label: Some(self.classes.names()[class as usize].clone()) });
        }
    }
}

impl StreamState {
    /// Changes the pending query at a position into a comparison.
    fn compare_with(&mut self, at: usize, reference: LabeledReference) {
        let query = &mut self.pending.of[at];
        query.reference = Some(reference);
        if query.why == QueryReason::RandomCheck {
            query.why = QueryReason::Informative;
        }
    }

    /// Labeled sample with which to compare a pending sample: the nearest one of its predicted class, or else of the
    /// most likely class by the classifier; `None` if all classes with labels are excluded.
    fn choose_reference(&self, at: usize) -> Option<LabeledReference> {
        let query = &self.pending.of[at];
        let excluded = self.constraints.excluded(query.sample);
        let fits = |l: &LabeledSample| {
            l.follows.is_none() && l.sample != query.sample && !excluded.contains(&l.class)
        };
        let labeled = self.memory.labeled();
        let usable: Vec<usize> = (0..labeled.len()).filter(|&i| fits(&labeled[i])).collect();
        let has = |class: &u32| usable.iter().any(|&i| labeled[i].class == *class);
        let likely = query.predictions.given.filter(has).or_else(|| {
            let row = self.pending.rows.view().select(&[at]);
            let classifier = self.classifier.as_ref()?;
            let decisions = classifier.decisions(row.view()).ok()?;
            classifier.ranking(&decisions).into_iter().find(has)
        });
        let row = self.pending.rows.view().row(at);
        let kernel = self.feature_space.kernel;
        let distance = |i: usize| {
            let other = self.memory.rows().row(i);
            kernel.eval(other, other) - 2.0 * kernel.eval(row, other)
        };
        let of_class = usable.into_iter().filter(|&i| likely.is_none_or(|class| labeled[i].class == class));
        let nearest = of_class.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
        Some(LabeledReference { sample: labeled[nearest].sample, class: labeled[nearest].class })
    }

    /// Class of a sample by its own label, if it is stored and not implied by pairs.
    fn named_class(&self, sample: u64) -> Option<u32> {
        let label = self.memory.labeled()[self.memory.find(sample)?];
        label.follows.is_none().then_some(label.class)
    }

    /// Changes or removes a label implied by pairs.
    fn change_implied_label(&mut self, sample: u64, now: Option<(u32, u64)>) {
        self.current.has_new_labels = true;
        if let Some(at) = self.memory.find(sample) {
            match now {
                Some((class, from)) => self.memory.relabel(at, class, Some(from)),
                None => self.memory.remove(at),
            }
        }
        if let Some(row) = self.current.row_of(sample) {
            self.current.truth[row] = now.map(|n| n.0);
        }
    }

    /// Whether the class of a reference is the same as when the query was asked; true if its label is forgotten.
    fn still_has_class(&self, reference: LabeledReference) -> bool {
        let label = self.memory.find(reference.sample).map(|at| self.memory.labeled()[at].class);
        let class = label.or_else(|| self.constraints.class(reference.sample));
        class.is_none_or(|class| class == reference.class)
    }

    /// Whether the class with which a pending sample is compared is excluded for it.
    fn is_excluded(&self, at: usize) -> bool {
        let query = &self.pending.of[at];
        query.reference.is_some_and(|r| self.constraints.excluded(query.sample).contains(&r.class))
    }

    /// Excluded classes of the rows of the current batch.
    pub(super) fn excluded_classes(&self) -> ExcludedClasses {
        if self.constraints.is_empty() {
            return ExcludedClasses::new();
        }
        let implied = self.constraints.implications();
        let row = |sample: &u64| Some((self.current.row_of(*sample)?, implied.excluded(*sample)));
        implied.samples().iter().filter_map(row).filter(|(_, classes)| !classes.is_empty()).collect()
    }
}
