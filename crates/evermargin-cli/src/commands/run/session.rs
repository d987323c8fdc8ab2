//! A session: the engine, the one beside it that asks at random, what was counted, and the store under them.
//!
//! Every record is committed before it is applied; replay applies the same records. What the labels of the data answer can
//! be told again from the batch, so those answers are committed together with the end of their batch: a crash between them
//! loses nothing, the questions are asked again.

use super::record::{Batch, Begin, LARGE, Oracle, Record, pack_kept, unpack_kept};
use super::tally::Tally;
use crate::failure::Failure;
use evermargin::engine::{Effects, Engine, EngineState, Event, InferredLabel, QueryStrategy, Question};
use evermargin_io::Position;
use evermargin_store::{Open, Store};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Batches between two snapshots.
const SNAPSHOT_EVERY: u64 = 32;

/// Everything that is needed to go on, beside the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    begin: Begin,
    engine: EngineState,
    beside: Option<EngineState>,
    tally: Tally,
    random: Tally,
    batch: Option<Batch>,
    base: u64,
    questions: Vec<Question>,
    told: Vec<usize>,
    closed: bool,
    last: Vec<InferredLabel>,
}

/// A session.
pub struct Session {
    pub begin: Begin,
    pub engine: Engine,
    beside: Option<Engine>,
    pub tally: Tally,
    pub random: Tally,
    /// The batch that is being asked about, without its samples.
    batch: Option<Batch>,
    /// Number of its first sample.
    base: u64,
    /// Questions about it that are open.
    pub questions: Vec<Question>,
    /// Rows of it whose label was told.
    told: Vec<usize>,
    /// Whether the last batch is done with.
    pub closed: bool,
    /// Labels of the batch that was closed last.
    pub last: Vec<InferredLabel>,
    /// What is to be told to people.
    news: Vec<Effects>,
    store: Option<Store>,
    /// Records that wait to be committed.
    waiting: Vec<Record>,
}

impl Session {
    /// A session from its beginning.
    pub fn new(begin: Begin, store: Option<Store>) -> Result<Self, Failure> {
        let mut session = Self::empty(begin.clone(), store)?;
        session.commit(Record::Begin(Box::new(begin)));
        session.flush()?;
        Ok(session)
    }

    fn empty(begin: Begin, store: Option<Store>) -> Result<Self, Failure> {
        let engine = Engine::new(&begin.params)?;
        let beside = begin.beside.then(|| {
            let mut params = begin.params.clone();
            params.query_strategy = QueryStrategy::Random;
            Engine::new(&params)
        });
        Ok(Self {
            engine,
            beside: beside.transpose()?,
            begin,
            tally: Tally::default(),
            random: Tally::default(),
            batch: None,
            base: 0,
            questions: Vec::new(),
            told: Vec::new(),
            closed: true,
            last: Vec::new(),
            news: Vec::new(),
            store,
            waiting: Vec::new(),
        })
    }

    /// The session of a store, as it was left; none if the store is new.
    pub fn resume(directory: &Path) -> Result<Result<Self, Store>, Failure> {
        let store = Store::open(directory, Open::Either)?;
        if store.next_seq() == 0 {
            return Ok(Err(store));
        }
        let snapshot = store.newest_snapshot()?;
        let (mut session, from) = match snapshot {
            Some(s) => {
                let place = format!("{}: snapshot before event {}", directory.display(), s.seq);
                let kept = unpack_kept(&s.body, &place)?;
                (Some(Self::from_kept(kept).map_err(|e| at(&place, e))?), s.seq)
            }
            None => (None, 0),
        };
        for record in store.events(from) {
            let record = record?;
            let place = format!("{}: event {}", directory.display(), record.seq);
            let body = record.body.as_deref().ok_or_else(|| {
                Failure::Failed(format!("{place}: its body was forgotten, and no snapshot stands in for it"))
            })?;
            let record = Record::read(&record.kind, body, &place)?;
            match (&mut session, record) {
                (None, Record::Begin(begin)) => session = Some(Self::empty(*begin, None)?),
                (Some(session), record) => {
                    session.apply(record).map_err(|e| at(&place, e))?;
                }
                (None, _) => {
                    return Err(Failure::Failed(format!("{place}: a session begins with its parameters")));
                }
            }
        }
        let Some(mut session) = session else {
            return Err(Failure::Failed(format!("{}: holds no session", directory.display())));
        };
        session.news.clear(); // told when it happened
        session.store = Some(store);
        Ok(Ok(session))
    }

    fn from_kept(kept: Artifact) -> Result<Self, Failure> {
        Ok(Self {
            engine: Engine::resume(kept.engine)?,
            beside: kept.beside.map(Engine::resume).transpose()?,
            begin: kept.begin,
            tally: kept.tally,
            random: kept.random,
            batch: kept.batch,
            base: kept.base,
            questions: kept.questions,
            told: kept.told,
            closed: kept.closed,
            last: kept.last,
            news: Vec::new(),
            store: None,
            waiting: Vec::new(),
        })
    }

    fn kept(&self) -> Artifact {
        Artifact {
            begin: self.begin.clone(),
            engine: self.engine.save(),
            beside: self.beside.as_ref().map(Engine::save),
            tally: self.tally.clone(),
            random: self.random.clone(),
            batch: self.batch.clone(),
            base: self.base,
            questions: self.questions.clone(),
            told: self.told.clone(),
            closed: self.closed,
            last: self.last.clone(),
        }
    }

    /// The state as bytes: the same for the same records, however often the program was stopped.
    pub fn bytes(&self) -> Result<Vec<u8>, Failure> {
        pack_kept(&self.kept())
    }

    /// Where the stream stands.
    pub fn position(&self) -> Option<&Position> {
        self.batch.as_ref().map(|b| &b.position)
    }

    /// What a person is shown of a sample of the batch.
    pub fn shown(&self, sample: u64) -> Option<&str> {
        let row = sample.checked_sub(self.base)? as usize;
        self.batch.as_ref()?.shown.get(row).map(String::as_str)
    }

    /// A batch arrives.
    pub fn arrive(&mut self, batch: Batch) -> Result<(), Failure> {
        self.engine.admit_batch(&batch.x, &batch.labels)?;
        self.commit(Record::Batch(Box::new(batch.clone())));
        self.flush()?;
        self.apply(Record::Batch(Box::new(batch)))
    }

    /// A person says something: it is kept before it is done. What the engine would refuse is not kept.
    pub fn say(&mut self, event: Event) -> Result<(), Failure> {
        self.engine.admit(&event)?;
        self.commit(Record::Said(event.clone()));
        self.flush()?;
        self.apply(Record::Said(event))
    }

    /// Answers all open questions by the labels of the data.
    pub fn answer_by_truth(&mut self) -> Result<(), Failure> {
        while let Some(question) = self.questions.first() {
            let (sample, row) = (question.sample, question.row);
            let truth = self.batch.as_ref().and_then(|b| b.truth.get(row).cloned().flatten());
            // a name the engine would refuse is passed over
            let answer = truth.map(|label| Event::Answer { sample, label });
            let event = answer.filter(|e| self.engine.admit(e).is_ok()).unwrap_or(Event::Skip { sample });
            self.commit(Record::Said(event.clone()));
            self.apply(Record::Said(event))?;
        }
        Ok(())
    }

    /// The batch is done with.
    pub fn close(&mut self, now: u64) -> Result<(), Failure> {
        // a clock that was set back has no say
        let tick = Record::Said(Event::Tick { now: now.max(self.engine.now()) });
        self.commit(tick.clone());
        self.flush()?;
        self.apply(tick)?;
        if self.engine.batches().is_multiple_of(SNAPSHOT_EVERY) {
            self.keep()?;
        }
        Ok(())
    }

    /// Keeps a snapshot, and forgets samples that two snapshots stand in for.
    pub fn keep(&mut self) -> Result<(), Failure> {
        if self.store.is_none() {
            return Ok(());
        }
        let body = self.bytes()?;
        let Some(store) = &mut self.store else { return Ok(()) };
        store.keep_snapshot(store.next_seq(), &body)?;
        let covered = store.covered();
        store.forget_bodies(&LARGE, covered)?;
        Ok(())
    }

    fn commit(&mut self, record: Record) {
        if self.store.is_some() {
            self.waiting.push(record);
        }
    }

    /// Commits what waits.
    fn flush(&mut self) -> Result<(), Failure> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let bodies: Vec<(&str, Vec<u8>)> =
            self.waiting.iter().map(|r| Ok((r.kind(), r.body()?))).collect::<Result<_, Failure>>()?;
        let events: Vec<evermargin_store::Event<'_>> =
            bodies.iter().map(|(kind, body)| evermargin_store::Event { kind, body }).collect();
        store.append(&events)?;
        self.waiting.clear();
        Ok(())
    }

    /// Applies a record: the one way, live and in replay.
    fn apply(&mut self, record: Record) -> Result<(), Failure> {
        match record {
            Record::Begin(_) => Err(Failure::Failed("a session begins once".into())),
            Record::Batch(batch) => self.apply_batch(*batch),
            Record::Said(event) => {
                let effects = self.engine.apply(event.clone())?;
                self.note(&event, &effects);
                Ok(())
            }
        }
    }

    fn apply_batch(&mut self, mut batch: Batch) -> Result<(), Failure> {
        let none = evermargin::Matrix::empty(0, false);
        let event = Event::Batch { x: std::mem::replace(&mut batch.x, none), labels: batch.labels.clone() };
        let base = self.engine.rows();
        let beside = self.beside.is_some().then(|| event.clone());
        let effects = self.engine.apply(event)?;
        (self.base, self.closed) = (base, false);
        self.told = (0..batch.labels.len()).filter(|&i| batch.labels[i].is_some()).collect();
        self.tally.arrived(&effects.labels, self.engine.classes(), judged_by(&batch));
        self.questions.clone_from(&effects.questions);
        if let (Some(engine), Some(event)) = (&mut self.beside, beside) {
            at_random(engine, event, &batch, &mut self.random, self.engine.now())?;
        }
        self.batch = Some(batch);
        self.hear(&effects);
        Ok(())
    }

    /// What happened that people should hear of, since this was asked last.
    pub fn take_news(&mut self) -> Vec<Effects> {
        std::mem::take(&mut self.news)
    }

    fn hear(&mut self, effects: &Effects) {
        if effects.drift.is_some() || !effects.notes.is_empty() || effects.advice.is_some() {
            self.news.push(Effects { labels: Vec::new(), questions: Vec::new(), ..effects.clone() });
        }
    }

    /// Follows what comes of an event that is no batch.
    fn note(&mut self, event: &Event, effects: &Effects) {
        self.hear(effects);
        let gone = match event {
            Event::Answer { sample, .. } | Event::Skip { sample } => Some(*sample),
            _ => None,
        };
        self.questions.retain(|q| Some(q.sample) != gone);
        self.questions.extend(effects.questions.iter().cloned());
        if let Event::Answer { sample, .. } = event
            && let Some(row) = sample.checked_sub(self.base)
        {
            self.told.push(row as usize);
        }
        if let Event::Tick { .. } = event {
            self.closed = true;
            self.questions.clear();
            let truth = self.batch.as_ref().map_or(&[] as &[_], judged_by);
            self.last.clone_from(&effects.labels);
            if !effects.labels.is_empty() {
                count(&mut self.tally, &self.engine);
                self.tally.closed(&effects.labels, self.engine.classes(), truth, &self.told);
            }
        }
    }
}

/// The labels a batch is judged by.
fn judged_by(batch: &Batch) -> &[Option<String>] {
    if batch.truth.is_empty() { &batch.labels } else { &batch.truth }
}

fn count(tally: &mut Tally, engine: &Engine) {
    let now = &mut tally.now;
    now.labels = engine.spent().total;
    now.remembered = engine.memory().map_or(0, |m| m.len() as u64);
    now.exemplars = engine.transduction().map_or(0, |t| t.exemplars().rows() as u64);
    now.support = engine.support_count() as u64;
    now.cost = engine.absorbed().cost;
    now.drifts = engine.meter().drifts;
}

/// The batch as the engine sees it that asks at random.
fn at_random(
    engine: &mut Engine,
    event: Event,
    batch: &Batch,
    tally: &mut Tally,
    now: u64,
) -> Result<(), Failure> {
    let effects = engine.apply(event)?;
    tally.arrived(&effects.labels, engine.classes(), judged_by(batch));
    let mut questions = effects.questions;
    let mut told = Vec::new();
    while let Some(q) = questions.pop() {
        let answer = batch.truth.get(q.row).cloned().flatten();
        let answer = answer.map(|label| Event::Answer { sample: q.sample, label });
        let event = answer.filter(|e| engine.admit(e).is_ok()).unwrap_or(Event::Skip { sample: q.sample });
        told.push(q.row);
        questions.extend(engine.apply(event)?.questions);
    }
    let effects = engine.apply(Event::Tick { now })?;
    count(tally, engine);
    tally.closed(&effects.labels, engine.classes(), judged_by(batch), &told);
    Ok(())
}

fn at(place: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Failed(what) | Failure::Usage(what) => Failure::Failed(format!("{place}: {what}")),
        Failure::BrokenPipe => Failure::BrokenPipe,
    }
}

/// Whether the labels of the data are hidden from the engine.
pub fn hides(oracle: Oracle) -> bool {
    oracle == Oracle::Truth
}
