//! Events in two steps: a plan, which can fail and changes nothing, and its commit, which changes the engine and cannot
//! fail. Between the two the caller may write the event to disk.
//!
//! Planning makes all checks that can refuse an event: those of samples and names, and of every row of a batch, which
//! is also scaled at that time. Commit works on rows that every learner accepts (`feature_space.rs`). If a step fails
//! nevertheless, for example because the kernel vanishes on all rows, a simpler step replaces it (`failures.rs`).
//!
//! With a watch, the work is done during planning, so that it can be interrupted: the plan holds the updated engine,
//! and a copy without the event remains in use until commit replaces it.

use super::prepare_batch::PreparedBatch;
use super::{Effects, Engine, Event};
use crate::error::{Error, Result};
use crate::estimators::transductive::Ratio;
use crate::solver::{Progress, Watch};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number that distinguishes an engine from all others of the program, including its copies.
#[derive(Debug)]
pub(super) struct Identity(u64);

impl Default for Identity {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Identity {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Always equal, so that engines in the same state are equal.
impl PartialEq for Identity {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Checked event, ready to be applied by the engine that planned it. Valid until another event is committed.
#[derive(Debug)]
pub struct Plan {
    /// Identity of the engine that made the plan.
    engine: u64,
    /// Number of events committed before.
    after: u64,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Batch(Box<PreparedBatch>),
    Other(Event),
    Done(Box<(Engine, Effects)>),
}

impl Engine {
    /// Checks an event and prepares it; changes nothing.
    pub fn plan(&self, event: Event) -> Result<Plan> {
        let step = match event {
            Event::Batch { x, labels } => Step::Batch(Box::new(self.prepare(x, labels)?)),
            other => {
                self.validate(&other)?;
                Step::Other(other)
            }
        };
        Ok(Plan { engine: self.identity.0, after: self.events, step })
    }

    /// As [`Engine::plan`], but also does the work, for events that may take long. The state does not change until the
    /// plan is committed; cached kernel values move to the plan, where they are needed. Returns [`Error::Interrupted`]
    /// if the watch ends the work.
    pub fn plan_watched(&mut self, event: Event, watch: &dyn Watch) -> Result<Plan> {
        let plan = self.plan(event)?;
        let latch = Latch { watch, stopped: AtomicBool::new(false) };
        let copy = self.clone();
        let mut next = std::mem::replace(self, copy);
        std::mem::swap(&mut self.identity, &mut next.identity);
        let effects = next.run(plan.step, &latch);
        if latch.stopped.into_inner() {
            return Err(Error::Interrupted);
        }
        let step = Step::Done(Box::new((next, effects)));
        Ok(Plan { engine: self.identity.0, after: self.events, step })
    }

    /// Applies a plan that this engine made and after which nothing else was committed. Any other plan changes nothing,
    /// and the only effect is a note.
    pub fn commit(&mut self, plan: Plan) -> Effects {
        if (plan.engine, plan.after) != (self.identity.0, self.events) {
            let note = "the plan was made by another engine or before another event; nothing was changed";
            return Effects { notes: vec![note.into()], ..Effects::default() };
        }
        match plan.step {
            Step::Done(done) => {
                let (mut engine, effects) = *done;
                std::mem::swap(&mut engine.identity, &mut self.identity);
                *self = engine;
                effects
            }
            step => self.run(step, &()),
        }
    }

    /// Plans and commits an event. A refused event is an error and changes nothing.
    pub fn apply(&mut self, event: Event) -> Result<Effects> {
        let plan = self.plan(event)?;
        Ok(self.commit(plan))
    }

    fn run(&mut self, step: Step, watch: &dyn Watch) -> Effects {
        let mut effects = Effects::default();
        let classes = self.classes.len();
        match step {
            Step::Batch(batch) => self.on_batch(*batch, &mut effects, watch),
            Step::Other(event) => self.apply_other(event, &mut effects, watch),
            Step::Done(_) => {}
        }
        effects.notes.extend(self.note_ratio(classes));
        effects.notes.append(&mut self.failures.take_notes());
        self.drifted |= effects.drift.is_some();
        self.events += 1;
        effects
    }

    fn apply_other(&mut self, event: Event, effects: &mut Effects, watch: &dyn Watch) {
        match event {
            Event::Batch { .. } => {}
            Event::Answer { sample, label } => self.answer(sample, &label, effects, watch),
            Event::Skip { sample } => self.skip(sample, effects, watch),
            Event::Correct { sample, label } => self.correct(sample, &label, effects, watch),
            Event::Withdraw { sample } => self.withdraw(sample, effects, watch),
            Event::Related { a, b, same } => self.relate(a, b, same, effects, watch),
            Event::Compare { sample } => self.compare(sample, effects),
            Event::Await { rows } => self.await_labels(&rows),
            Event::Labels { labels } => self.late_labels(&labels, effects, watch),
            Event::Ask { count } => self.ask_for(count, effects, watch),
            Event::SetBudget { budget } => self.params.budget = budget,
            Event::SetRatio { shares } => self.params.ratio = Ratio::Given(shares),
            Event::Tick { now } => {
                self.now = now;
                self.close(effects, watch);
            }
        }
    }
}

/// Watch that records whether the work was ended.
struct Latch<'w> {
    watch: &'w dyn Watch,
    stopped: AtomicBool,
}

impl Watch for Latch<'_> {
    fn proceed(&self, progress: &Progress) -> bool {
        let stopped = self.stopped.load(Ordering::Relaxed) || !self.watch.proceed(progress);
        if stopped {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !stopped
    }

    fn seconds(&self) -> Option<f64> {
        self.watch.seconds()
    }
}
