//! The random baseline: a second engine with the same budget that chooses its queries at random.

use crate::config::SessionConfig;
use crate::record::Batch;
use crate::statistics::StreamStatistics;
use evermargin::engine::{Effects, Engine, Event, QueryStrategy};
use evermargin::error::{Error, Result};
use evermargin::solver::Watch;
use serde::{Deserialize, Serialize};

/// The engine that queries at random, and its statistics.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomBaseline {
    engine: Engine,
    pub(crate) statistics: StreamStatistics,
}

impl RandomBaseline {
    pub(crate) fn new(config: &SessionConfig) -> Result<Self> {
        let params = evermargin::engine::EngineParams {
            query_strategy: QueryStrategy::Random,
            ..config.params.clone()
        };
        Ok(Self { engine: Engine::new(&params)?, statistics: StreamStatistics::default() })
    }

    /// Processes a batch from its arrival to its end. The batch's hidden labels answer the queries. A batch that the
    /// engine refuses is left out. The only error is [`Error::Interrupted`], after which the baseline is of no use.
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
        let mut queries = effects.questions;
        let mut given = Vec::new();
        while let Some(query) = queries.pop() {
            let sample = query.sample;
            let answer = batch.truth.get(query.row).cloned().flatten();
            let answer = answer.map(|label| Event::Answer { sample, label });
            let event =
                answer.filter(|e| self.engine.plan(e.clone()).is_ok()).unwrap_or(Event::Skip { sample });
            given.push(query.row);
            if let Ok(effects) = self.engine.apply(event) {
                queries.extend(effects.questions);
            }
        }
        match self.apply(Event::Tick { now }, watch) {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => {}
            Ok(effects) => {
                self.statistics.record_close(&effects.labels, &self.engine, reference, &given);
            }
        }
        Ok(())
    }

    fn apply(&mut self, event: Event, watch: Option<&dyn Watch>) -> Result<Effects> {
        let plan = match watch {
            Some(watch) => self.engine.plan_watched(event, watch)?,
            None => self.engine.plan(event)?,
        };
        Ok(self.engine.commit(plan))
    }
}
