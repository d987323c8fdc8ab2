//! Application of records to a session, the same code live and in replay: planning, which may refuse a record, and
//! committing, which cannot fail.

use crate::label_protocol::ArrivingLabels;
use crate::random_baseline::RandomBaseline;
use crate::record::{Batch, Record};
use crate::session::Session;
use evermargin::data::Matrix;
use evermargin::engine::{Effects, Engine, Event, Plan};
use evermargin::error::{Error, Result};
use evermargin::solver::Watch;
use evermargin_io::RejectedRow;
use std::collections::BTreeSet;

/// Plan of a record that can be committed. Records that concern only the session have no plan of the engine.
#[derive(Debug, Default)]
pub(crate) struct SessionPlan {
    engine: Option<Plan>,
    /// The random baseline after the batch, if the batch was processed while it was planned.
    baseline: Option<RandomBaseline>,
}

impl Session {
    /// Checks a record and plans its application without changing the session. Committing the plan cannot fail.
    pub(crate) fn plan(&self, record: &Record) -> Result<SessionPlan> {
        let engine = self.event_of(record)?.map(|event| self.engine.plan(event)).transpose()?;
        Ok(SessionPlan { engine, baseline: None })
    }

    /// Like [`Session::plan`], but also does the work, so that the watch can interrupt it. The state is not changed.
    pub(crate) fn plan_watched(&mut self, record: &Record, watch: &dyn Watch) -> Result<SessionPlan> {
        let Some(event) = self.event_of(record)? else { return Ok(SessionPlan::default()) };
        let engine = Some(self.engine.plan_watched(event.clone(), watch)?);
        let (Some(baseline), Record::Batch(batch)) = (&mut self.random_baseline, record) else {
            return Ok(SessionPlan { engine, baseline: None });
        };
        // The session keeps the copy, which has no cached kernel values; the original is processed further.
        let copy = baseline.clone();
        let mut next = std::mem::replace(baseline, copy);
        next.process(event, batch, self.engine.now(), Some(watch))?;
        Ok(SessionPlan { engine, baseline: Some(next) })
    }

    /// Event of the engine that a record contains, if any.
    fn event_of(&self, record: &Record) -> Result<Option<Event>> {
        match record {
            Record::Begin(_) => Err(Error::Data("the session has begun already".into())),
            Record::Batch(batch) if batch.x.rows() == 0 => Ok(None),
            Record::Batch(batch) => {
                let labels = self.labels_on_arrival(batch, self.engine.rows());
                Ok(Some(Event::Batch { x: batch.x.clone(), labels }))
            }
            Record::Event(event) => Ok(Some(event.clone())),
            Record::RejectedRows(_) | Record::CpuLevel(_) => Ok(None),
        }
    }

    /// Labels that the engine is given together with a batch, whose first sample has the number `first_sample`.
    fn labels_on_arrival(&self, batch: &Batch, first_sample: u64) -> Vec<Option<String>> {
        let (protocol, seed) = (&self.config.label_protocol, self.config.params.seed);
        let arrives = |i: usize| protocol.delay == 0 && protocol.is_available(seed, first_sample + i as u64);
        batch.labels.iter().enumerate().map(|(i, label)| label.clone().filter(|_| arrives(i))).collect()
    }

    /// Queues the labels of a batch that arrive later; the engine keeps their rows.
    fn delay_labels(&mut self, batch: &Batch) {
        let (protocol, seed) = (self.config.label_protocol, self.config.params.seed);
        if protocol.delay == 0 {
            return;
        }
        let first = self.first_sample;
        let known = batch.labels.iter().enumerate().filter_map(|(i, label)| Some((i, label.clone()?)));
        let (rows, labels): (Vec<usize>, Vec<(u64, String)>) = known
            .map(|(i, label)| (i, (first + i as u64, label)))
            .filter(|(_, (sample, _))| protocol.is_available(seed, *sample))
            .unzip();
        // These are rows of the batch, so the engine never refuses the event.
        let _ = self.engine.apply(Event::Await { rows });
        self.delayed.send(self.engine.batches() + protocol.delay, labels);
    }

    /// Queues the answers to the open queries of a batch that is being closed.
    fn delay_answers(&mut self) {
        let delay = self.config.label_protocol.delay;
        if delay == 0 || !self.config.oracle.hides_labels() {
            return;
        }
        let answers = self.queries.iter().filter_map(|query| self.true_answer(query)).collect();
        self.delayed.send_answers(self.engine.batches() + delay, answers);
    }

    /// Gives the engine the labels that arrive with the end of a batch. They follow from the records, so they are not
    /// recorded themselves.
    fn receive_labels(&mut self) {
        let labels = self.delayed.arriving(self.engine.batches());
        for effects in deliver(&mut self.engine, labels, self.config.oracle.hides_labels()) {
            self.notify(&effects);
        }
    }

    /// Applies a record that was planned.
    pub(crate) fn commit(&mut self, record: Record, plan: SessionPlan) -> Effects {
        match (record, plan.engine) {
            (Record::Batch(batch), engine) => self.commit_batch(*batch, engine, plan.baseline),
            (Record::Event(event), Some(plan)) => {
                let effects = self.engine.commit(plan);
                if let (Event::SetBudget { .. }, Some(baseline)) = (&event, &mut self.random_baseline) {
                    baseline.set_budget(self.engine.params().budget);
                }
                self.record_outcome(&event, &effects);
                effects
            }
            (Record::RejectedRows(_), _) => {
                self.log.drop_deferred_rejected_rows();
                Effects::default()
            }
            (Record::CpuLevel(level), _) => {
                self.cpu_level = level;
                Effects::default()
            }
            (Record::Begin(_) | Record::Event(_), _) => Effects::default(),
        }
    }

    fn commit_batch(
        &mut self,
        mut batch: Batch,
        plan: Option<Plan>,
        baseline: Option<RandomBaseline>,
    ) -> Effects {
        let x = std::mem::replace(&mut batch.x, Matrix::empty(0, false));
        self.schema.extend(&std::mem::take(&mut batch.new_columns), x.cols());
        self.first_row = self.statistics.current.stream_rows() + 1;
        let no_rows = plan.is_none();
        self.keep_labeled_texts();
        let effects = if let Some(plan) = plan {
            self.commit_rows(x, &batch, plan, baseline)
        } else {
            self.predictions.clear();
            Effects::default()
        };
        let mut rejected = std::mem::take(&mut batch.rejected);
        self.unread_rows = rejected.iter().map(|row| row.row).collect();
        self.statistics.current.rejected_rows += (rejected.len() + rejected_count(&effects)) as u64;
        rejected.extend(self.rejected_by_engine(&effects, &batch));
        rejected.sort_by_key(|row| row.row);
        self.rejected_rows = rejected;
        // If the batch has only rejected rows, they are stored together with the batch.
        if !self.rejected_rows.is_empty() && !no_rows {
            self.log.defer(Record::RejectedRows(self.rejected_rows.clone()));
        }
        batch.places = evermargin_io::RowPlaces::default();
        self.batch = Some(batch);
        effects
    }

    fn commit_rows(
        &mut self,
        x: Matrix,
        batch: &Batch,
        plan: Plan,
        baseline: Option<RandomBaseline>,
    ) -> Effects {
        let first_sample = self.engine.rows();
        let labels = self.labels_on_arrival(batch, first_sample);
        let effects = self.engine.commit(plan);
        (self.first_sample, self.batch_closed) = (first_sample, false);
        self.given_rows = (0..labels.len()).filter(|&i| labels[i].is_some()).collect();
        self.delay_labels(batch);
        self.statistics.record_arrival(&effects, self.engine.classes(), batch.reference_labels());
        self.queries.clone_from(&effects.questions);
        if baseline.is_some() {
            self.random_baseline = baseline;
        } else if let Some(baseline) = &mut self.random_baseline {
            let event = Event::Batch { x, labels };
            let _ = baseline.process(event, batch, self.engine.now(), None); // without a watch nothing interrupts it
        }
        self.notify(&effects);
        effects
    }

    /// Updates queries, statistics and predictions after an event that is not a batch.
    fn record_outcome(&mut self, event: &Event, effects: &Effects) {
        self.notify(effects);
        let answered = match event {
            Event::Answer { sample, .. } | Event::Skip { sample } => Some(*sample),
            _ => None,
        };
        self.queries.retain(|q| Some(q.sample) != answered);
        self.update_queries(effects);
        let implied = effects.implied.iter().filter(|implied| implied.label.is_some());
        let rows = implied.filter_map(|implied| implied.sample.checked_sub(self.first_sample));
        self.given_rows.extend(rows.map(|row| row as usize));
        if let Event::Answer { sample, .. } = event
            && let Some(row) = sample.checked_sub(self.first_sample)
        {
            self.given_rows.push(row as usize);
        }
        if let Event::Tick { .. } = event {
            self.batch_closed = true;
            self.delay_answers();
            self.queries.clear();
            self.predictions.clone_from(&effects.labels);
            if !effects.labels.is_empty() {
                let reference = self.batch.as_ref().map_or(&[] as &[_], Batch::reference_labels);
                self.statistics.record_close(&effects.labels, &self.engine, reference, &self.given_rows);
            }
            self.receive_labels();
        }
    }

    /// Adds new queries, replaces a query by a new one about the same sample, and removes queries that are no longer
    /// pending because other statements answered them.
    fn update_queries(&mut self, effects: &Effects) {
        let pending: BTreeSet<u64> = self.engine.pending_queries().into_iter().collect();
        for question in effects.questions.iter().filter(|q| pending.contains(&q.sample)) {
            match self.queries.iter_mut().find(|q| q.sample == question.sample) {
                Some(query) => query.clone_from(question),
                None => self.queries.push(question.clone()),
            }
        }
        self.queries.retain(|q| pending.contains(&q.sample));
    }

    fn notify(&mut self, effects: &Effects) {
        if effects.drift.is_some() || !effects.notes.is_empty() || effects.advice.is_some() {
            self.notices.push(Effects { labels: Vec::new(), questions: Vec::new(), ..effects.clone() });
        }
    }

    /// Rows of a batch that the engine rejected, with their places in the files.
    fn rejected_by_engine(&self, effects: &Effects, batch: &Batch) -> Vec<RejectedRow> {
        let unread = &self.unread_rows;
        let place = |r: &evermargin::engine::RejectedRow| {
            let column = r.column.map(|feature| self.column_name(feature));
            let value = r.value.map(|v| if v.abs() < 1e15 { v.to_string() } else { format!("{v:e}") });
            let number = row_number(self.first_row, unread, r.row);
            batch.places.rejected(r.row, number, column, value, r.reason.text())
        };
        effects.rejected.iter().map(place).collect()
    }

    /// Name of the column that a feature comes from, or the number of the feature, counted from 1.
    fn column_name(&self, feature: usize) -> String {
        let mut end = 0;
        let column = self.schema.columns.iter().find(|column| {
            end += column.features();
            feature < end
        });
        column.map_or_else(|| (feature + 1).to_string(), |column| column.name().to_string())
    }
}

/// Gives an engine labels that arrive late: answers to queries, or labels of rows that it keeps for this purpose. Labels that
/// the engine refuses are ignored.
pub(crate) fn deliver(engine: &mut Engine, arriving: ArrivingLabels, answers: bool) -> Vec<Effects> {
    let ArrivingLabels { labels, pairs } = arriving;
    if answers {
        let labels = labels.into_iter().map(|(sample, label)| Event::Answer { sample, label });
        let pairs = pairs.into_iter().map(|(a, b, same)| Event::Related { a, b, same });
        return labels.chain(pairs).filter_map(|event| engine.apply(event).ok()).collect();
    }
    if labels.is_empty() {
        return Vec::new();
    }
    if let Ok(effects) = engine.apply(Event::Labels { labels: labels.clone() }) {
        return vec![effects];
    }
    // The engine refuses all labels because of one invalid class name: try them one by one.
    let one = |label| engine.apply(Event::Labels { labels: vec![label] }).ok();
    labels.into_iter().filter_map(one).collect()
}

/// Number of rows that the engine rejected. A row of which only the label is rejected is used.
pub(crate) fn rejected_count(effects: &Effects) -> usize {
    effects.rejected.iter().filter(|r| !r.reason.concerns_label()).count()
}

/// Number in the stream of row `index` of a batch that begins with row number `first`. `unread` are the numbers of the rows
/// that the reader rejected, ascending.
fn row_number(first: u64, unread: &[u64], index: usize) -> u64 {
    let mut number = first + index as u64;
    for &row in unread {
        if row > number {
            break;
        }
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::row_number;

    #[test]
    fn counts_rows_rejected_by_reader_in_row_numbers() {
        let numbers = |unread: &[u64]| (0..4).map(|i| row_number(11, unread, i)).collect::<Vec<_>>();
        assert_eq!(numbers(&[]), [11, 12, 13, 14]);
        assert_eq!(numbers(&[11, 12, 15]), [13, 14, 16, 17]);
        assert_eq!(numbers(&[14, 16]), [11, 12, 13, 15]);
    }
}
