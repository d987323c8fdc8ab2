//! The random baseline: a second engine with the same budget that chooses its queries at random.

use crate::commit::deliver;
use crate::config::SessionConfig;
use crate::label_protocol::{DelayedLabels, LabelProtocol};
use crate::record::Batch;
use crate::statistics::StreamStatistics;
use evermargin::engine::{Budget, Effects, Engine, Event, QueryStrategy, Question};
use evermargin::error::{Error, Result};
use evermargin::solver::Watch;
use serde::{Deserialize, Serialize};

/// The engine that queries at random, and its statistics.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomBaseline {
    engine: Engine,
    pub(crate) statistics: StreamStatistics,
    protocol: LabelProtocol,
    delayed: DelayedLabels,
}

impl RandomBaseline {
    pub(crate) fn new(config: &SessionConfig) -> Result<Self> {
        let params = evermargin::engine::EngineParams {
            query_strategy: QueryStrategy::Random,
            ..config.params.clone()
        };
        Ok(Self {
            engine: Engine::new(&params)?,
            statistics: StreamStatistics::default(),
            protocol: config.label_protocol,
            delayed: DelayedLabels::default(),
        })
    }

    /// Processes a batch from its arrival to its end. The hidden labels of the batch answer the queries. A batch that the
    /// engine refuses is skipped. The only error is [`Error::Interrupted`], after which the baseline must be discarded.
    pub(crate) fn process(
        &mut self,
        event: Event,
        batch: &Batch,
        now: u64,
        watch: Option<&dyn Watch>,
    ) -> Result<()> {
        let effects = match self.apply(event, watch) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => return Ok(()),
            Ok(effects) => effects,
        };
        let reference = batch.reference_labels();
        self.statistics.record_arrival(&effects, self.engine.classes(), reference);
        let given = self.answer(effects.questions, batch);
        match self.apply(Event::Tick { now }, watch) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => {}
            Ok(effects) => {
                self.statistics.record_close(&effects.labels, &self.engine, reference, &given);
            }
        }
        let labels = self.delayed.arriving(self.engine.batches());
        deliver(&mut self.engine, labels, true);
        Ok(())
    }

    /// Answers queries from the available hidden labels, or queues the answers if labels are delayed. Returns the rows whose
    /// queries were answered or skipped.
    fn answer(&mut self, mut queries: Vec<Question>, batch: &Batch) -> Vec<usize> {
        let protocol = self.protocol;
        if protocol.delay > 0 {
            let count = self.engine.params().budget.per_batch;
            queries.extend(self.engine.apply(Event::Ask { count }).map(|e| e.questions).unwrap_or_default());
        }
        let (mut given, mut delayed) = (Vec::new(), Vec::new());
        while let Some(query) = queries.pop() {
            let sample = query.sample;
            let answer = protocol.answer(&query, batch.truth.get(query.row).cloned().flatten(), &self.engine);
            if let Some(answer) = answer.clone().filter(|_| protocol.delay > 0) {
                delayed.push(answer);
                continue;
            }
            let event =
                answer.filter(|e| self.engine.plan(e.clone()).is_ok()).unwrap_or(Event::Skip { sample });
            given.push(query.row);
            if let Ok(effects) = self.engine.apply(event) {
                queries.extend(effects.questions);
            }
        }
        self.delayed.send_answers(self.engine.batches() + protocol.delay, delayed);
        given
    }

    /// Sets a query budget that the main engine has accepted.
    pub(crate) fn set_budget(&mut self, budget: Budget) {
        // Both engines have the same limits, so this one accepts the budget, too.
        let _ = self.engine.apply(Event::SetBudget { budget });
    }

    fn apply(&mut self, event: Event, watch: Option<&dyn Watch>) -> Result<Effects> {
        let plan = match watch {
            Some(watch) => self.engine.plan_watched(event, watch)?,
            None => self.engine.plan(event)?,
        };
        Ok(self.engine.commit(plan))
    }
}
