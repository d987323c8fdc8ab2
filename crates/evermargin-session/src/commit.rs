//! How records change a session, live and in replay alike: the plan that may refuse, and the commit, which cannot fail.

use crate::record::{Batch, Record};
use crate::session::Session;
use evermargin::data::Matrix;
use evermargin::engine::{Effects, Event, Plan};
use evermargin::error::{Error, Result};
use evermargin_io::RejectedRow;

impl Session {
    /// Plans a record: everything that can refuse it happens here, and nothing is changed. Records that the engine does
    /// not see have no plan.
    pub(crate) fn plan(&self, record: &Record) -> Result<Option<Plan>> {
        match record {
            Record::Begin(_) => Err(Error::Data("a session begins once".into())),
            Record::Batch(batch) if batch.x.rows() == 0 => Ok(None),
            Record::Batch(batch) => {
                let event = Event::Batch { x: batch.x.clone(), labels: batch.labels.clone() };
                self.engine.plan(event).map(Some)
            }
            Record::Event(event) => self.engine.plan(event.clone()).map(Some),
            Record::RejectedRows(_) | Record::CpuLevel(_) => Ok(None),
        }
    }

    /// Applies a record that was planned.
    pub(crate) fn commit(&mut self, record: Record, plan: Option<Plan>) -> Effects {
        match (record, plan) {
            (Record::Batch(batch), plan) => self.commit_batch(*batch, plan),
            (Record::Event(event), Some(plan)) => {
                let effects = self.engine.commit(plan);
                self.record_outcome(&event, &effects);
                effects
            }
            (Record::RejectedRows(_), _) => {
                self.log.rejected_rows_are_stored();
                Effects::default()
            }
            (Record::CpuLevel(level), _) => {
                self.cpu_level = level;
                Effects::default()
            }
            (Record::Begin(_) | Record::Event(_), _) => Effects::default(),
        }
    }

    fn commit_batch(&mut self, mut batch: Batch, plan: Option<Plan>) -> Effects {
        let x = std::mem::replace(&mut batch.x, Matrix::empty(0, false));
        let effects = match plan {
            Some(plan) => self.commit_rows(x, &batch, plan),
            None => Effects::default(),
        };
        let mut rejected = std::mem::take(&mut batch.rejected);
        // A row whose label alone is rejected is used.
        let by_engine = effects.rejected.iter().filter(|r| !r.reason.concerns_label()).count();
        self.statistics.current.rejected_rows += (rejected.len() + by_engine) as u64;
        rejected.extend(self.rejected_by_engine(&effects, &batch));
        rejected.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        self.rejected_rows = rejected;
        if !self.rejected_rows.is_empty() {
            self.log.defer(Record::RejectedRows(self.rejected_rows.clone()));
        }
        batch.places = evermargin_io::RowPlaces::default();
        self.batch = Some(batch);
        effects
    }

    fn commit_rows(&mut self, x: Matrix, batch: &Batch, plan: Plan) -> Effects {
        let first_sample = self.engine.rows();
        let effects = self.engine.commit(plan);
        (self.first_sample, self.batch_closed) = (first_sample, false);
        self.given_rows = (0..batch.labels.len()).filter(|&i| batch.labels[i].is_some()).collect();
        self.statistics.record_arrival(&effects.labels, self.engine.classes(), batch.reference_labels());
        self.queries.clone_from(&effects.questions);
        if let Some(baseline) = &mut self.random_baseline {
            baseline.process(Event::Batch { x, labels: batch.labels.clone() }, batch, self.engine.now());
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
        self.queries.extend(effects.questions.iter().cloned());
        if let Event::Answer { sample, .. } = event
            && let Some(row) = sample.checked_sub(self.first_sample)
        {
            self.given_rows.push(row as usize);
        }
        if let Event::Tick { .. } = event {
            self.batch_closed = true;
            self.queries.clear();
            self.predictions.clone_from(&effects.labels);
            if !effects.labels.is_empty() {
                let reference = self.batch.as_ref().map_or(&[] as &[_], Batch::reference_labels);
                self.statistics.record_close(&effects.labels, &self.engine, reference, &self.given_rows);
            }
        }
    }

    fn notify(&mut self, effects: &Effects) {
        if effects.drift.is_some() || !effects.notes.is_empty() || effects.advice.is_some() {
            self.notices.push(Effects { labels: Vec::new(), questions: Vec::new(), ..effects.clone() });
        }
    }

    /// Rows of a batch that the engine rejected, with their places in the files.
    fn rejected_by_engine(&self, effects: &Effects, batch: &Batch) -> Vec<RejectedRow> {
        let place = |r: &evermargin::engine::RejectedRow| {
            let column = r.column.map(|feature| self.column_name(feature));
            let value = r.value.map(|v| if v.abs() < 1e15 { v.to_string() } else { format!("{v:e}") });
            batch.places.rejected(r.row, column, value, r.reason.text())
        };
        effects.rejected.iter().map(place).collect()
    }

    /// The name of the column that a feature comes from, or its number, counted from 1.
    fn column_name(&self, feature: usize) -> String {
        let mut end = 0;
        let column = self.config.schema.columns.iter().find(|column| {
            end += column.features();
            feature < end
        });
        column.map_or_else(|| (feature + 1).to_string(), |column| column.name().to_string())
    }
}
