//! The session: its state, its operations, and the function `execute`, through which all events pass.

use crate::config::{Oracle, SessionConfig};
use crate::error::SessionError;
use crate::label_protocol::DelayedLabels;
use crate::log::{Durability, EventLog};
use crate::random_baseline::RandomBaseline;
use crate::record::{Batch, Record};
use crate::statistics::StreamStatistics;
use evermargin::engine::{Effects, Engine, Event, InferredLabel, Question};
use evermargin::model::{Classifier, InputSpec};
use evermargin::solver::{Progress, Watch};
use evermargin_io::{Position, RejectedRow, Schema};
use evermargin_store::Store;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of batches between two snapshots.
const SNAPSHOT_INTERVAL: u64 = 32;

/// Maximum number of rejected events that are listed; further ones are only counted.
const MAX_REJECTED_EVENTS: usize = 1000;

/// Event of the log that could not be applied and was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedEvent {
    /// Number of the event in the log.
    pub seq: u64,
    /// Kind of the event.
    pub kind: String,
    /// Reason why the event cannot be applied.
    pub reason: String,
}

/// Durable session: an engine, an optional random-query baseline, statistics, and the event store. See [`crate`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    pub(crate) config: SessionConfig,
    /// CPU feature level of the latest computation.
    pub(crate) cpu_level: String,
    /// Mapping of rows to features, with the columns that have appeared.
    pub(crate) schema: Schema,
    pub(crate) engine: Engine,
    pub(crate) random_baseline: Option<RandomBaseline>,
    pub(crate) statistics: StreamStatistics,
    /// The last batch, without its rows.
    pub(crate) batch: Option<Batch>,
    /// Number in the stream of the first row of the last batch, counted from 1.
    pub(crate) first_row: u64,
    /// Numbers in the stream of those rows of the last batch that the reader could not use, ascending.
    pub(crate) unread_rows: Vec<u64>,
    /// Number of the first sample of the last batch.
    pub(crate) first_sample: u64,
    /// Open queries about the last batch.
    pub(crate) queries: Vec<Question>,
    /// Texts of labeled samples of earlier batches, with which an annotator compares others; empty without an annotator.
    pub(crate) labeled_texts: BTreeMap<u64, String>,
    /// Rows of the last batch whose label the engine was given.
    pub(crate) given_rows: Vec<usize>,
    pub(crate) batch_closed: bool,
    /// Predictions for the last closed batch.
    pub(crate) predictions: Vec<InferredLabel>,
    /// Rejected rows of the last batch.
    pub(crate) rejected_rows: Vec<RejectedRow>,
    pub(crate) rejected_events: Vec<RejectedEvent>,
    pub(crate) rejected_event_count: u64,
    /// Labels of earlier batches that have not arrived yet.
    pub(crate) delayed: DelayedLabels,
    #[serde(skip)]
    pub(crate) notices: Vec<Effects>,
    #[serde(skip)]
    pub(crate) log: EventLog,
}

impl Session {
    /// Begins a new session. With a store, which must be empty, every event is on the disk before it takes effect.
    pub fn new(config: SessionConfig, store: Option<Store>) -> Result<Self, SessionError> {
        if store.as_ref().is_some_and(|store| store.next_seq() > 0) {
            return Err(SessionError::Config("the store of a new session must be empty".into()));
        }
        let mut session = Self::begin(config.clone(), EventLog::new(store))?;
        session.log.append(&Record::Begin(Box::new(config)), Durability::Now)?;
        Ok(session)
    }

    pub(crate) fn begin(config: SessionConfig, log: EventLog) -> Result<Self, SessionError> {
        let config_error = |e: evermargin::Error| SessionError::Config(e.to_string());
        config.label_protocol.check().map_err(SessionError::Config)?;
        Ok(Self {
            cpu_level: config.cpu_level.clone(),
            engine: Engine::new(&config.params).map_err(config_error)?,
            random_baseline: config
                .random_baseline
                .then(|| RandomBaseline::new(&config))
                .transpose()
                .map_err(config_error)?,
            schema: config.schema.clone(),
            config,
            statistics: StreamStatistics::default(),
            batch: None,
            first_row: 1,
            unread_rows: Vec::new(),
            first_sample: 0,
            queries: Vec::new(),
            labeled_texts: BTreeMap::new(),
            given_rows: Vec::new(),
            batch_closed: true,
            predictions: Vec::new(),
            rejected_rows: Vec::new(),
            rejected_events: Vec::new(),
            rejected_event_count: 0,
            delayed: DelayedLabels::default(),
            notices: Vec::new(),
            log,
        })
    }

    /// Plans, stores and commits a record; every change of the session passes through this function. A record that is
    /// refused changes nothing and is not stored. A record that cannot be stored does not take effect.
    ///
    /// With a watch, the work is done while the record is planned. If the watch ends the work, nothing has changed.
    fn execute(
        &mut self,
        record: Record,
        durability: Durability,
        watch: Option<&dyn Watch>,
    ) -> Result<Effects, SessionError> {
        let plan = match watch.filter(|_| self.may_take_long(&record)) {
            Some(watch) => self.plan_watched(&record, watch)?,
            None => self.plan(&record)?,
        };
        match &record {
            // Such a batch is never closed, so no later record of the batch would store its rejected rows.
            Record::Batch(batch) if batch.x.rows() == 0 && !batch.rejected.is_empty() => {
                self.log.append_both(&record, &Record::RejectedRows(batch.rejected.clone()))?;
            }
            _ => self.log.append(&record, durability)?,
        }
        Ok(self.commit(record, plan))
    }

    /// Whether a record may take long enough to justify the copy of the state that an interruption requires. An answer is
    /// learned quickly unless its class is new.
    fn may_take_long(&self, record: &Record) -> bool {
        match record {
            Record::Event(Event::Answer { label, .. }) => self.engine.classes().find(label).is_none(),
            Record::Event(Event::Skip { .. } | Event::Compare { .. } | Event::Related { .. }) => false,
            _ => true,
        }
    }

    /// Processes a batch: predicts its rows, scores the predictions with its labels, learns from it, and selects queries.
    /// Returns the predictions on arrival and the other effects. A batch without usable rows is only recorded.
    pub fn ingest(&mut self, batch: Batch) -> Result<Effects, SessionError> {
        self.execute(Record::Batch(Box::new(batch)), Durability::Now, None)
    }

    /// Like [`Session::ingest`], but the watch can end it, which returns [`SessionError::Interrupted`].
    pub fn ingest_watched(&mut self, batch: Batch, watch: &dyn Watch) -> Result<Effects, SessionError> {
        self.execute(Record::Batch(Box::new(batch)), Durability::Now, Some(watch))
    }

    /// Processes a batch, or records all its rows as rejected if the engine refuses the whole batch. Returns the reason of
    /// such a refusal.
    pub fn ingest_or_reject(
        &mut self,
        batch: Batch,
        watch: &dyn Watch,
    ) -> Result<Option<evermargin::Error>, SessionError> {
        match self.ingest_watched(batch.clone(), watch) {
            Ok(_) => Ok(None),
            Err(SessionError::Rejected(reason)) => {
                let first_row = self.statistics.current.stream_rows() + 1;
                self.ingest(batch.into_rejected(first_row, &reason.to_string()))?;
                Ok(Some(reason))
            }
            Err(error) => Err(error),
        }
    }

    /// Applies an answer, a correction or another event that is not a batch.
    pub fn submit(&mut self, event: Event) -> Result<Effects, SessionError> {
        self.submit_with(event, None)
    }

    /// Like [`Session::submit`], but the watch can end it, which returns [`SessionError::Interrupted`].
    pub fn submit_watched(&mut self, event: Event, watch: &dyn Watch) -> Result<Effects, SessionError> {
        self.submit_with(event, Some(watch))
    }

    fn submit_with(&mut self, event: Event, watch: Option<&dyn Watch>) -> Result<Effects, SessionError> {
        if matches!(event, Event::Batch { .. }) {
            return Err(SessionError::Config("submit does not accept a batch; use ingest".into()));
        }
        self.execute(Record::Event(event), Durability::Now, watch)
    }

    /// Answers all open queries from the hidden labels of the batch, in the order of [`Session::queries`]. The answers follow
    /// from the batch, so they are stored together with its end; after a crash before that, the queries are open again.
    pub fn answer_from_truth(&mut self) -> Result<(), SessionError> {
        self.answer_from_truth_watched(&())
    }

    /// Like [`Session::answer_from_truth`], but the watch can end it between two answers, which returns
    /// [`SessionError::Interrupted`]. The remaining queries stay open.
    ///
    /// With delayed labels, all queries of the batch are asked at once, and those with an available label stay open; the
    /// answers arrive at the end of a later batch.
    pub fn answer_from_truth_watched(&mut self, watch: &dyn Watch) -> Result<(), SessionError> {
        if self.config.label_protocol.delay > 0 {
            return self.ask_for_delayed_answers();
        }
        while let Some(query) = self.queries.first() {
            let progress = Progress { steps: query.sample, violation: 0.0, tolerance: 0.0 };
            if !watch.proceed(&progress) {
                return Err(SessionError::Interrupted);
            }
            let sample = query.sample;
            let answer = self.true_answer(query);
            let answered =
                answer.map(|event| self.execute(Record::Event(event), Durability::WithNext, Some(watch)));
            match answered {
                Some(Ok(_)) => {}
                // The row has no label, or the engine refuses the label as a class name.
                None | Some(Err(SessionError::Rejected(_))) => {
                    self.execute(Record::Event(Event::Skip { sample }), Durability::WithNext, None)?;
                }
                Some(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Asks as many queries as the budget of the batch allows, and skips those without an available label.
    fn ask_for_delayed_answers(&mut self) -> Result<(), SessionError> {
        let count = self.config.params.budget.per_batch;
        self.execute(Record::Event(Event::Ask { count }), Durability::WithNext, None)?;
        let mut next = 0;
        while let Some(query) = self.queries.get(next) {
            let sample = query.sample;
            if self.true_answer(query).is_some() {
                next += 1;
            } else {
                self.execute(Record::Event(Event::Skip { sample }), Durability::WithNext, None)?;
            }
        }
        Ok(())
    }

    /// Answer to a query about the last batch from the hidden labels, if the protocol makes the label available.
    pub(crate) fn true_answer(&self, query: &Question) -> Option<Event> {
        let label = self.batch.as_ref()?.truth.get(query.row).cloned().flatten();
        self.config.label_protocol.answer(query, label, &self.engine)
    }

    /// Closes the batch at the time `now`, in seconds of the caller's clock. A time before that of the last call is replaced
    /// by the time of the last call.
    pub fn close_batch(&mut self, now: u64) -> Result<(), SessionError> {
        self.close_batch_with(now, None)
    }

    /// Like [`Session::close_batch`], but the watch can end it, which returns [`SessionError::Interrupted`] and leaves the
    /// batch open.
    pub fn close_batch_watched(&mut self, now: u64, watch: &dyn Watch) -> Result<(), SessionError> {
        self.close_batch_with(now, Some(watch))
    }

    fn close_batch_with(&mut self, now: u64, watch: Option<&dyn Watch>) -> Result<(), SessionError> {
        let tick = Event::Tick { now: now.max(self.engine.now()) };
        self.execute(Record::Event(tick), Durability::Now, watch)?;
        if self.engine.batches().is_multiple_of(SNAPSHOT_INTERVAL) {
            // The batch is closed and stored. A snapshot only shortens the next start, so its failure causes a notice and no
            // error. A store that cannot be written refuses the next event.
            if let Err(error) = self.save_snapshot() {
                let notes = vec![format!("no snapshot was saved: {error}")];
                self.notices.push(Effects { notes, ..Effects::default() });
            }
        }
        Ok(())
    }

    /// Stores answers from hidden labels now instead of at the end of their batch; see [`Session::answer_from_truth`]. Does
    /// nothing without a store.
    pub fn store_answers(&mut self) -> Result<(), SessionError> {
        self.log.flush()
    }

    /// Records that the session continues on another CPU feature level.
    pub(crate) fn set_cpu_level(&mut self, level: &str) -> Result<(), SessionError> {
        self.execute(Record::CpuLevel(level.to_string()), Durability::Now, None)?;
        self.save_snapshot()
    }

    pub(crate) fn mark_rejected(&mut self, seq: u64, kind: &str, reason: &dyn std::fmt::Display) {
        self.rejected_event_count += 1;
        if self.rejected_events.len() < MAX_REJECTED_EVENTS {
            let (kind, reason) = (kind.to_string(), reason.to_string());
            self.rejected_events.push(RejectedEvent { seq, kind, reason });
        }
    }

    /// Parameters that were fixed when the session began.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// Engine of the session.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Current classifier with the description of its input; `None` until labels of two classes are known.
    pub fn classifier(&self) -> Option<Classifier> {
        let mut classifier = self.engine.classifier()?;
        classifier.set_input(self.input_spec());
        Some(classifier)
    }

    /// Mapping of rows to features and labels, to be stored in a model. Columns that appeared only in a batch that the engine
    /// refused are not included.
    fn input_spec(&self) -> InputSpec {
        let mut schema = self.schema.clone();
        while !schema.columns.is_empty() && schema.features > self.engine.columns() {
            schema.features -= schema.columns.pop().map_or(0, |column| column.features());
            schema.optional_columns = schema.optional_columns.saturating_sub(1);
        }
        schema.input_spec().with_positive(self.config.positive.clone())
    }

    /// Mapping of rows of the stream to features, with the columns that have appeared.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Numbers of labels that arrived after their batch, and of labels that have not arrived yet.
    pub fn delayed_labels(&self) -> (u64, usize) {
        (self.delayed.arrived, self.delayed.waiting())
    }

    /// Identifiers of all rows of the last batch, in the order of [`Session::numbered_predictions`]; empty for rows that have
    /// none or that the reader could not use.
    pub fn row_ids(&self) -> Vec<&str> {
        let mut ids = self.batch.iter().flat_map(|batch| batch.ids.iter().map(String::as_str));
        let rows = (self.predictions.len() + self.unread_rows.len()) as u64;
        let id = |row: u64| match self.unread_rows.binary_search(&row) {
            Ok(_) => "",
            Err(_) => ids.next().unwrap_or(""),
        };
        (self.first_row..self.first_row + rows).map(id).collect()
    }

    /// Statistics of the stream.
    pub fn statistics(&self) -> &StreamStatistics {
        &self.statistics
    }

    /// Statistics of the random baseline, if there is one.
    pub fn random_statistics(&self) -> Option<&StreamStatistics> {
        self.random_baseline.as_ref().map(|baseline| &baseline.statistics)
    }

    /// Open queries, in the order in which they should be asked.
    pub fn queries(&self) -> &[Question] {
        &self.queries
    }

    /// Whether the last batch is closed, so that the next one can be processed.
    pub fn is_batch_closed(&self) -> bool {
        self.batch_closed
    }

    /// Predictions for the last closed batch.
    pub fn predictions(&self) -> &[InferredLabel] {
        &self.predictions
    }

    /// Number in the stream of the first row of the last batch, counted from 1. Rejected rows have numbers too.
    pub fn first_row(&self) -> u64 {
        self.first_row
    }

    /// Numbers in the stream and predictions of all rows of the last batch, in the order of the stream; empty until the batch
    /// is closed. A row that the reader could not use has no prediction; a row that the engine rejected has a prediction
    /// without a class.
    pub fn numbered_predictions(&self) -> Vec<(u64, Option<InferredLabel>)> {
        if !self.batch_closed {
            return Vec::new();
        }
        let mut predictions = self.predictions.iter().copied();
        let rows = (self.predictions.len() + self.unread_rows.len()) as u64;
        let numbered = |row: u64| match self.unread_rows.binary_search(&row) {
            Ok(_) => (row, None),
            Err(_) => (row, predictions.next()),
        };
        (self.first_row..self.first_row + rows).map(numbered).collect()
    }

    /// Rows of the last batch that could not be used, in the order of the stream.
    pub fn rejected_rows(&self) -> &[RejectedRow] {
        &self.rejected_rows
    }

    /// Events of the log that could not be applied, oldest first, at most 1,000 of them.
    pub fn rejected_events(&self) -> &[RejectedEvent] {
        &self.rejected_events
    }

    /// Number of events of the log that could not be applied.
    pub fn rejected_event_count(&self) -> u64 {
        self.rejected_event_count
    }

    /// Position in the stream after the last batch.
    pub fn position(&self) -> Option<&Position> {
        self.batch.as_ref().map(|b| &b.position)
    }

    /// Text of a sample of the last batch or of a labeled sample, shown to an annotator.
    pub fn text_of(&self, sample: u64) -> Option<&str> {
        let row = sample.checked_sub(self.first_sample).map(|row| row as usize);
        let recent = row.and_then(|row| self.batch.as_ref()?.texts.get(row));
        recent.or_else(|| self.labeled_texts.get(&sample)).map(String::as_str)
    }

    /// Copies the texts of labeled samples of the last batch, which is about to be replaced.
    pub(crate) fn keep_labeled_texts(&mut self) {
        let labeled: BTreeSet<u64> = self
            .engine
            .memory()
            .map_or_else(BTreeSet::new, |m| m.labeled().iter().map(|l| l.sample).collect());
        let texts: Vec<(u64, String)> = labeled
            .range(self.first_sample..)
            .filter_map(|sample| Some((*sample, self.text_of(*sample)?.to_string())))
            .collect();
        self.labeled_texts.extend(texts);
        self.labeled_texts.retain(|sample, _| labeled.contains(sample));
    }

    /// Returns the effects to report to the user (drift, notes, advice) since the last call.
    pub fn take_notices(&mut self) -> Vec<Effects> {
        std::mem::take(&mut self.notices)
    }

    /// Whether events are stored.
    pub fn is_durable(&self) -> bool {
        self.log.is_durable()
    }

    /// The source of answers to queries.
    pub fn oracle(&self) -> Oracle {
        self.config.oracle
    }
}
