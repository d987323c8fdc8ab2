//! Queries about the open batch, in rounds.

use super::failures::Step;
use super::query_context::{QueryContext, Selection};
use super::query_state::{ARMS, ArmTrial, RANDOM_ARM};
use super::state::StreamState;
use super::{Effects, Engine, QueryReason, QueryStrategy, draw};
use crate::active::{Stopped, WeightFactors};
use crate::solver::Watch;
use rand::RngExt;

/// Number of successive batches without a sample worth a query after which the engine advises against further queries.
const MISSES: u32 = 3;

impl Engine {
    /// Starts the next round of queries about the batch, if all queries of the current round are answered.
    pub(super) fn ask(&mut self, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        if !self.params.budget.rounds_on_request && !state.pending.of.iter().any(|q| q.in_round) {
            self.ask_about(&mut state, self.params.budget.queries_per_round, effects, watch);
        }
        self.state = Some(state);
    }

    /// Makes `count` queries about the batch, or fewer if the budget is spent or no more samples are worth a query.
    pub(super) fn ask_for(&mut self, count: usize, effects: &mut Effects, watch: &dyn Watch) {
        let Some(mut state) = self.state.take() else { return };
        let count = count.min(self.params.max_open);
        while effects.questions.len() < count {
            let before = effects.questions.len();
            self.ask_about(&mut state, count - before, effects, watch);
            if effects.questions.len() == before {
                break;
            }
        }
        self.state = Some(state);
    }

    /// Number of queries of this batch that are drawn at random: a fraction `exploration_rate` of its budget, rounded
    /// randomly.
    fn check_count(&self) -> usize {
        let share = if self.params.query_strategy == QueryStrategy::Random {
            1.0
        } else {
            self.params.exploration_rate
        };
        let wanted = share * self.params.budget.per_batch as f64;
        let more = draw(!self.params.seed, self.batches).random::<f64>() < wanted.fract();
        (wanted as usize).saturating_add(usize::from(more))
    }

    /// Records a query of an arm, with the current prediction of the classifier for its row.
    fn trial(&self, state: &mut StreamState, arm: u8, row: usize) -> Option<ArmTrial> {
        let classifier = state.classifier.as_mut()?;
        let f = classifier.decisions_now(state.current.x.view(), &[row]);
        let f = self.failures.ok(Step::QueryScores, f)?;
        Some(ArmTrial { arm, class: classifier.vote(f.first()?) })
    }

    fn ask_about(
        &mut self,
        state: &mut StreamState,
        max_count: usize,
        effects: &mut Effects,
        watch: &dyn Watch,
    ) {
        let current = &state.current;
        if current.closed || self.params.query_strategy == QueryStrategy::None {
            return;
        }
        let mut count = self.budget_usage.left(&self.params.budget, self.now).min(max_count);
        let free: Vec<usize> =
            (0..current.x.rows()).filter(|&i| current.truth[i].is_none() && !current.asked[i]).collect();
        if count == 0 || free.is_empty() {
            return;
        }
        if self.is_worth_its_price() {
            self.query_state.priced_out = false;
        } else {
            // advise once, until a label is worth its price again
            if !std::mem::replace(&mut self.query_state.priced_out, true) {
                effects.advice = Some(Stopped::Price);
            }
            return;
        }
        if self.params.label_price.is_some() {
            count = 1;
        }
        let known: Vec<u32> = state.memory.labeled().iter().map(|t| t.class).collect();
        let mut context = QueryContext {
            x: &current.x,
            free,
            labeled: (state.memory.rows(), &known),
            pending: state.pending.rows.view(),
            kernel: state.feature_space.kernel,
            pool: self.params.pool,
            max_margin_distance: self.params.max_margin_distance,
            watch,
        };
        self.draws += 1;
        let mut rng = draw(self.params.seed, self.draws);
        let reserved = current.reserved();
        let checks = self.check_count().min(self.params.budget.per_batch.saturating_sub(reserved.len()));
        let is_check_due = state.classifier.is_some() && self.budget_usage.checks < checks;
        let query_strategy = self.params.query_strategy;
        let factors = match query_strategy {
            QueryStrategy::Submod => self.query_state.weights(
                self.params.submod_weights,
                context.labeled,
                context.kernel,
                (self.params.budget.per_batch.clamp(1, 10), self.params.seed, self.batches),
                watch,
            ),
            _ => WeightFactors::default(),
        };
        let novel = |row| Selection { row, why: QueryReason::Novel, closeness: None };
        let mut arm = None;
        let chosen = match &mut state.classifier {
            _ if !is_check_due && !reserved.is_empty() => {
                reserved.iter().take(count).map(|&row| novel(row)).collect()
            }
            None if self.params.query_strategy != QueryStrategy::Random => context.representatives(count),
            None => context.random_checks(count, &mut rng),
            // random checks come first: rows that the strategy left over are not a random sample of the batch
            Some(_) if is_check_due => {
                arm = Some(RANDOM_ARM);
                context.random_checks(count.min(checks - self.budget_usage.checks), &mut rng)
            }
            Some(classifier) => {
                let x = current.x.view();
                let failures = &self.failures;
                let mut decide = |rows: &[usize]| {
                    let found = failures.ok(Step::QueryScores, classifier.decisions_now(x, rows));
                    found.unwrap_or_else(|| vec![vec![0.0; classifier.outputs()]; rows.len()])
                };
                let (query_strategy, factors) = match &self.query_state.bandit {
                    Some(bandit) => {
                        let drawn = bandit.draw(&mut rng);
                        arm = Some(drawn as u8);
                        (ARMS[drawn].0, WeightFactors::default())
                    }
                    None => (query_strategy, factors),
                };
                let chosen = context.choose(query_strategy, factors, count, &mut rng, &mut decide);
                if self.budget_usage.batch == self.budget_usage.checks {
                    self.misses = if chosen.is_empty() { self.misses + 1 } else { 0 };
                    if self.misses == MISSES {
                        effects.advice = Some(Stopped::Margin);
                    }
                }
                chosen
            }
        };
        self.budget_usage.checks += chosen.iter().filter(|c| c.why == QueryReason::RandomCheck).count();
        self.budget_usage.note(chosen.len());
        let arm = arm.filter(|_| self.query_state.bandit.is_some());
        for c in chosen {
            let trial = arm.and_then(|arm| self.trial(state, arm, c.row));
            state.add_query(c, trial);
            self.compare_first(state);
            let question = state.pending.of.last().map(|q| q.question(c.closeness, &self.classes));
            effects.questions.extend(question);
        }
        state.pending.cap(self.params.max_open);
    }
}
