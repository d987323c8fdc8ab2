//! The loop that never ends, as a state machine: [`Engine::apply`] takes an [`Event`] and gives [`Effects`].
//!
//! Problem: samples arrive in batches without end, few with labels. Label each batch, ask a person about the few samples
//! worth it, keep a classifier current, in memory that the parameters bound. Source: Emara 2012 (digest section 12: the
//! loop is implied there, never printed); Ertekin 2009 for the classifier and the questions.
//!
//! A batch is labelled when it arrives, before anything is known about it: by the classifier ([`inductive`]) or by
//! transduction over the batch, the one before and exemplars of all older ones ([`transduction`]), if that was right more
//! often, by more than chance, on labels that were not chosen. Then questions go out in rounds; every answer is learnt at once, and the
//! next round is chosen by the classifier as it is then. When the batch is closed (by a tick, or by the next batch) the
//! classifier meets remembered labels again and is solved, the batch is labelled once more with all that is known, the past
//! is summarised, and a new version of the model is published.
//!
//! Departures: what is fed to the classifier beside true labels (the source leaves it open) are labels inferred with
//! enough confidence, at the cost C*, and only if that is set. A label that is corrected or taken back makes the
//! classifier anew from the labels remembered; so does a class that appears later.
//!
//! Invariants: the same events give the same state and the same effects, whatever the number of threads; an event that is
//! refused changes nothing; a state that was saved goes on bit by bit; labels of a batch are never looked at before the
//! batch was labelled. There is no clock and no ambient randomness: time is told by ticks, and every draw follows from
//! the seed and the number of the draw.

mod asking;
mod classes;
mod event;
mod inductive;
mod memory;
mod meter;
mod params;
mod relations;
mod saved;
pub mod transduction;

pub use asking::Spent;
pub use classes::Classes;
pub use event::{Drift, DriftSign, Effects, Event, Inferred, Question, Why};
pub use memory::{Memory, Told};
pub use meter::{Detector, Duel, Meter, Rate};
pub use params::{Asking, Budget, EngineParams, Forget, KernelChoice, Labelling, Weighing};
pub use saved::EngineState;

use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::gram::Packed;
use crate::model::{Classifier, Scaling};
use crate::query::{Stopped, closeness};
use crate::summary::ExemplarParams;
use asking::{Chosen, Scene};
use classes::{LONGEST, Place};
use inductive::{Frame, Inductive};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use relations::Relations;
use serde::{Deserialize, Serialize};
use transduction::{Absorbed, Given, Known, Transduction};

/// Batches in a row without a sample worth asking about after which asking is advised against.
const MISSES: u32 = 3;

/// Labels that were not chosen before their shares are believed.
const ENOUGH: usize = 20;

/// Standard deviations of chance by which one way to label must be ahead of the other to be believed.
const AHEAD: f64 = 1.0;

/// Batches between two tries of a way to label that is behind.
const TRY_EVERY: u64 = 16;

/// Rows of the first batch that decide how samples are packed.
const FIRST: usize = 1000;

/// What was said about a sample when it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Said {
    given: Option<u32>,
    model: Option<u32>,
    transduction: Option<u32>,
}

impl Said {
    fn renumber(&mut self, now: &[u32]) {
        for said in [&mut self.given, &mut self.model, &mut self.transduction] {
            *said = said.map(|c| now[c as usize]);
        }
    }
}

/// The batch that is being asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Current {
    /// Number of its first sample.
    base: u64,
    x: Matrix,
    /// Classes of the rows that are known.
    truth: Vec<Option<u32>>,
    asked: Vec<bool>,
    /// What was said about the rows when they arrived.
    said: Vec<Said>,
    closed: bool,
    /// Whether a label came since it was labelled.
    news: bool,
}

/// Questions that wait for an answer: each with a copy of its sample, which may be forgotten meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Open {
    rows: Matrix,
    of: Vec<Asked>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Asked {
    sample: u64,
    why: Why,
    said: Said,
    /// Whether it is one of the batch that is being asked about.
    round: bool,
}

impl Open {
    fn find(&self, sample: u64) -> Option<usize> {
        self.of.iter().position(|q| q.sample == sample)
    }

    fn remove(&mut self, at: usize) -> (Asked, Matrix) {
        let row = self.rows.view().select(&[at]);
        let keep: Vec<usize> = (0..self.of.len()).filter(|&i| i != at).collect();
        self.rows = self.rows.view().select(&keep);
        (self.of.remove(at), row)
    }

    /// Only the newest stay open.
    fn cap(&mut self, most: usize) {
        if self.of.len() > most {
            let keep: Vec<usize> = (self.of.len() - most..self.of.len()).collect();
            self.rows = self.rows.view().select(&keep);
            self.of.drain(..self.of.len() - most);
        }
    }
}

/// All that depends on what samples look like, fixed by the first batch.
#[derive(Debug)]
struct Body {
    scaling: Scaling,
    frame: Frame,
    memory: Memory,
    inductive: Option<Inductive>,
    transduction: Option<Transduction>,
    current: Current,
    open: Open,
    relations: Relations,
}

/// The engine. See [`self`](crate::engine).
#[derive(Debug)]
pub struct Engine {
    params: EngineParams,
    classes: Classes,
    body: Option<Body>,
    meter: Meter,
    spent: Spent,
    rows: u64,
    batches: u64,
    version: u64,
    draws: u64,
    misses: u32,
    now: u64,
    absorbed: Absorbed,
    /// Labels of each class that came by themselves or were asked for at random.
    unchosen: Vec<u64>,
}

impl Engine {
    /// An engine that has seen nothing.
    pub fn new(params: &EngineParams) -> Result<Self> {
        params.check()?;
        Ok(Self {
            params: params.clone(),
            classes: Classes::default(),
            body: None,
            meter: Meter::default(),
            spent: Spent::default(),
            rows: 0,
            batches: 0,
            version: 0,
            draws: 0,
            misses: 0,
            now: 0,
            absorbed: Absorbed::default(),
            unchosen: Vec::new(),
        })
    }

    /// Takes an event in. One that is refused changes nothing.
    pub fn apply(&mut self, event: Event) -> Result<Effects> {
        self.admit(&event)?;
        let mut effects = Effects::default();
        match event {
            Event::Batch { x, labels } => self.arrive(x, &labels, &mut effects)?,
            Event::Answer { sample, label } => self.answer(sample, &label, &mut effects)?,
            Event::Skip { sample } => self.skip(sample, &mut effects)?,
            Event::Correct { sample, label } => self.correct(sample, &label, &mut effects)?,
            Event::Withdraw { sample } => self.withdraw(sample, &mut effects)?,
            Event::Related { a, b, same } => self.relate(a, b, same, &mut effects)?,
            Event::Tick { now } => {
                self.now = now;
                self.close(&mut effects)?;
            }
        }
        Ok(effects)
    }

    /// Refuses what cannot be applied, before anything is changed.
    pub fn admit(&self, event: &Event) -> Result<()> {
        let unknown = |sample: u64, what: &str| {
            Err(Error::Data(format!("sample {sample} {what}; it may have lapsed, or have an answer already")))
        };
        let body = self.body.as_ref();
        match event {
            Event::Batch { x, labels } => self.admit_batch(x, labels),
            Event::Answer { sample, label } => {
                self.admit_name(label)?;
                if body.is_some_and(|b| b.open.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "is not asked about")
            }
            Event::Skip { sample } => {
                if body.is_some_and(|b| b.open.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "is not asked about")
            }
            Event::Correct { sample, label } => {
                self.admit_name(label)?;
                if body.is_some_and(|b| b.memory.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "has no label that could be changed")
            }
            Event::Withdraw { sample } => {
                if body.is_some_and(|b| b.memory.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "has no label that could be taken back")
            }
            Event::Related { a, b, .. } => {
                if a == b {
                    return Err(Error::Data(format!("sample {a} cannot be related to itself")));
                }
                match [a, b].into_iter().find(|s| !body.is_some_and(|body| body.holds(**s))) {
                    None => Ok(()),
                    Some(missing) => unknown(*missing, "is not at hand"),
                }
            }
            Event::Tick { now } if *now < self.now => {
                Err(Error::Data(format!("time went back from {} to {now} seconds", self.now)))
            }
            Event::Tick { .. } => Ok(()),
        }
    }

    /// [`Engine::admit`] of a batch.
    pub fn admit_batch(&self, x: &Matrix, labels: &[Option<String>]) -> Result<()> {
        if x.rows() != labels.len() {
            return Err(Error::Shape { what: "labels", expected: x.rows(), found: labels.len() });
        }
        if x.rows() > self.params.most_rows {
            let (rows, most) = (x.rows(), self.params.most_rows);
            return Err(Error::Data(format!("a batch of {rows} rows; {most} are the most: use smaller batches")));
        }
        if x.cols() == 0 || (x.rows() == 0 && self.body.is_none()) {
            return Err(Error::Data("the first batch has no rows or no columns".into()));
        }
        if let Some(body) = &self.body
            && body.memory.rows().cols() != x.cols()
        {
            let expected = body.memory.rows().cols();
            return Err(Error::Shape { what: "columns", expected, found: x.cols() });
        }
        let mut names: Vec<&str> = labels.iter().flatten().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let mut known = self.classes.clone();
        for name in names {
            self.admit_name(name)?;
            known.place(name);
        }
        if known.len() > self.params.most_classes {
            return Err(self.too_many(known.len()));
        }
        Ok(())
    }

    fn admit_name(&self, name: &str) -> Result<()> {
        if name.trim().is_empty() || name.len() > LONGEST {
            return Err(Error::Data(format!("a class needs a name of 1 to {LONGEST} bytes")));
        }
        if self.classes.find(name).is_none() && self.classes.len() >= self.params.most_classes {
            return Err(self.too_many(self.classes.len() + 1));
        }
        Ok(())
    }

    fn too_many(&self, classes: usize) -> Error {
        let most = self.params.most_classes;
        Error::Data(format!("{classes} classes; {most} are the most: is the label in another column?"))
    }

    fn arrive(&mut self, x: Matrix, labels: &[Option<String>], effects: &mut Effects) -> Result<()> {
        if self.body.is_none() {
            self.body = Some(self.begin(&x)?);
        }
        self.close(effects)?;
        *effects = Effects { notes: std::mem::take(&mut effects.notes), drift: effects.drift, ..Default::default() };
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let done = self.arrive_at(&mut body, x, labels, effects);
        self.body = Some(body);
        done?;
        self.ask(effects)
    }

    /// Fixes scaling, kernel and packing by the first batch.
    fn begin(&self, x: &Matrix) -> Result<Body> {
        let name = self.params.scale.unwrap_or_else(|| Scaling::choose(x.view()).0);
        let scaling = Scaling::fit(name, x.view())?;
        let scaled = scaling.apply(x.clone())?;
        let kernel = self.params.kernel_for(scaled.view())?;
        let some: Vec<usize> = (0..scaled.rows().min(FIRST)).collect();
        let packing = Packed::new(scaled.view().select(&some).view(), kernel)?.packing();
        let (cols, sparse) = (scaled.cols(), matches!(scaled, Matrix::Csr { .. }));
        let transduction =
            self.params.transduction.as_ref().map(|p| Transduction::new(p, cols, sparse)).transpose()?;
        let none = Matrix::empty(cols, sparse);
        Ok(Body {
            scaling,
            frame: Frame { kernel, packing, sparse },
            memory: Memory::new(cols, sparse),
            inductive: None,
            transduction,
            current: Current {
                base: 0,
                x: none.clone(),
                truth: Vec::new(),
                asked: Vec::new(),
                said: Vec::new(),
                closed: true,
                news: false,
            },
            open: Open { rows: none, of: Vec::new() },
            relations: Relations::default(),
        })
    }

    /// A batch is labelled, then its own labels are looked at.
    fn arrive_at(
        &mut self,
        body: &mut Body,
        x: Matrix,
        labels: &[Option<String>],
        effects: &mut Effects,
    ) -> Result<()> {
        let x = body.scaling.apply(x)?;
        let rows = x.rows();
        let (said, given, within) = self.label(body, &x)?;
        if self.params.watch_drift
            && let Some(within) = within
        {
            effects.drift = self.meter.margin(within, rows as u64);
        }
        effects.labels = given;
        let base = self.rows;
        self.rows += rows as u64;
        self.batches += 1;
        self.spent.batch = 0;
        body.open.of.iter_mut().for_each(|q| q.round = false);
        body.current = Current {
            base,
            x,
            truth: vec![None; rows],
            asked: vec![false; rows],
            said,
            closed: false,
            news: false,
        };
        let mut fresh = Vec::new();
        for (row, name) in labels.iter().enumerate() {
            let Some(name) = name else { continue };
            let class = self.class(body, name, effects);
            if let Some(drift) = self.hear(body.current.said[row], class) {
                effects.drift = Some(drift);
            }
            fresh.push((row, class));
        }
        // numbers of classes may have changed while names came in
        for (row, name) in labels.iter().enumerate() {
            body.current.truth[row] = name.as_deref().and_then(|n| self.classes.find(n));
        }
        for &(row, _) in &fresh {
            let Some(class) = body.current.truth[row] else { continue };
            let told = Told { sample: base + row as u64, class, batch: self.batches, why: None };
            body.memory.push(body.current.x.view().row(row), told);
        }
        self.learn_last(body, fresh.len())?;
        self.thin(body)
    }

    /// What is said about the rows of a batch, the labels given out, and how many lie within the margin.
    fn label(&self, body: &Body, x: &Matrix) -> Result<(Vec<Said>, Vec<Inferred>, Option<u64>)> {
        let rows = x.rows();
        let mut said = vec![Said::default(); rows];
        let mut near = vec![0.0; rows];
        let mut within = None;
        if let Some(machine) = &body.inductive {
            let f = machine.decisions(x.view())?;
            for ((said, near), f) in said.iter_mut().zip(&mut near).zip(f.chunks(machine.outputs())) {
                said.model = Some(machine.vote(f));
                *near = closeness(f);
            }
            within = Some(near.iter().filter(|c| **c < 1.0).count() as u64);
        }
        let transduced = self.transduce(body, x.view(), &said)?;
        for (said, given) in said.iter_mut().zip(transduced.iter().flatten()) {
            said.transduction = Some(given.class);
        }
        let by_model = self.by_model(&said);
        let mut labels = Vec::with_capacity(rows);
        for (i, said) in said.iter_mut().enumerate() {
            let (class, confidence) = match (by_model, &transduced) {
                (false, Some(given)) => (said.transduction, given[i].confidence),
                _ => (said.model, near[i]),
            };
            said.given = class;
            labels.push(Inferred { class, confidence });
        }
        Ok((said, labels, within))
    }

    /// Whether labels are given out by the classifier.
    fn by_model(&self, said: &[Said]) -> bool {
        let both = said.first().is_some_and(|s| s.model.is_some() && s.transduction.is_some());
        match self.params.labelling {
            _ if !both => said.first().is_some_and(|s| s.model.is_some()),
            Labelling::Model => true,
            Labelling::Transduction => false,
            Labelling::Auto => self.meter.duel.lead() < AHEAD,
        }
    }

    fn transduce(&self, body: &Body, x: MatrixView<'_>, said: &[Said]) -> Result<Option<Vec<Given>>> {
        let Some(t) = body.transduction.as_ref().filter(|_| self.wants_transduction()) else {
            return Ok(None);
        };
        let class: Vec<u32> = body.memory.told().iter().map(|t| t.class).collect();
        let shares = self.shares(said);
        t.label(self.known(body, &class, &shares), x, &())
    }

    /// Whether transduction is of use: always if asked for; else unless it is clearly behind the classifier, and then
    /// now and again, for that may change.
    fn wants_transduction(&self) -> bool {
        match self.params.labelling {
            Labelling::Transduction => true,
            Labelling::Model => self.params.c_inferred > 0.0,
            Labelling::Auto => {
                self.meter.duel.lead() > -AHEAD
                    || self.params.c_inferred > 0.0
                    || self.batches.is_multiple_of(TRY_EVERY)
            }
        }
    }

    fn known<'a>(&self, body: &'a Body, class: &'a [u32], shares: &'a [f64]) -> Known<'a> {
        Known { x: body.memory.rows(), class, classes: self.classes.len(), shares }
    }

    /// Shares of the classes: of labels that were not chosen if there are enough, else as the classifier sees them;
    /// empty if there is none.
    fn shares(&self, said: &[Said]) -> Vec<f64> {
        let mut counts: Vec<f64> = vec![1.0; self.classes.len()];
        if self.unchosen.iter().sum::<u64>() >= ENOUGH as u64 {
            counts.iter_mut().zip(&self.unchosen).for_each(|(c, n)| *c += *n as f64);
        } else if said.iter().any(|s| s.model.is_some()) {
            said.iter().filter_map(|s| s.model).for_each(|c| counts[c as usize] += 1.0);
        } else {
            return Vec::new();
        }
        let all: f64 = counts.iter().sum();
        counts.iter().map(|c| c / all).collect()
    }

    /// The number of a class, new or not.
    fn class(&mut self, body: &mut Body, name: &str, effects: &mut Effects) -> u32 {
        match self.classes.place(name) {
            Place::Known(class) => class,
            Place::New(class, now) => {
                effects.notes.push(format!("class {} is new", self.classes.names()[class as usize]));
                let mut unchosen = vec![0; self.classes.len()];
                now.iter().zip(&self.unchosen).for_each(|(&c, &n)| unchosen[c as usize] = n);
                self.unchosen = unchosen;
                for label in &mut effects.labels {
                    label.class = label.class.map(|c| now[c as usize]);
                }
                body.renumber(&now);
                class
            }
        }
    }

    /// A label that was not chosen is held against what was said.
    fn hear(&mut self, said: Said, class: u32) -> Option<Drift> {
        self.unchosen[class as usize] += 1;
        let given = said.given?;
        let right = |said: Option<u32>| said.map(|c| c == class);
        let drift = self.meter.label(given == class, right(said.model), right(said.transduction));
        drift.filter(|_| self.params.watch_drift)
    }

    /// Learns the last `count` labels, or makes the machine anew if the classes have changed.
    fn learn_last(&mut self, body: &mut Body, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        body.current.news = true;
        let n = body.memory.len();
        match &mut body.inductive {
            Some(machine) if machine.knows(&body.memory, self.classes.len()) => {
                let rows: Vec<usize> = (n - count..n).collect();
                machine.learn(&body.memory, &rows, self.batches, &self.params)
            }
            _ => self.make_anew(body),
        }
    }

    fn make_anew(&self, body: &mut Body) -> Result<()> {
        let classes = self.classes.len();
        body.inductive = Inductive::of(&body.memory, classes, self.batches, &body.frame, &self.params)?;
        Ok(())
    }

    /// The next round of questions about the batch, if the last one is over.
    fn ask(&mut self, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let asked = self.ask_about(&mut body, effects);
        self.body = Some(body);
        asked
    }

    fn ask_about(&mut self, body: &mut Body, effects: &mut Effects) -> Result<()> {
        let current = &body.current;
        if current.closed || body.open.of.iter().any(|q| q.round) || self.params.asking == Asking::None {
            return Ok(());
        }
        let count = self.spent.left(&self.params.budget, self.now);
        let free: Vec<usize> = (0..current.x.rows())
            .filter(|&i| current.truth[i].is_none() && !current.asked[i])
            .collect();
        if count == 0 || free.is_empty() {
            return Ok(());
        }
        let signs: Vec<f64> = body.memory.told().iter().map(|t| if t.class == 0 { -1.0 } else { 1.0 }).collect();
        let mut scene = Scene {
            x: &current.x,
            free,
            labelled: (body.memory.rows(), &signs),
            kernel: body.frame.kernel,
            pool: self.params.pool,
            explore: self.params.explore,
            worth: self.params.worth + body.inductive.as_ref().map_or(0.0, Inductive::slack),
        };
        self.draws += 1;
        let mut rng = draw(self.params.seed, self.draws);
        let chosen = match &mut body.inductive {
            None if self.params.asking == Asking::Random => {
                scene.choose(Asking::Random, count, &mut rng, &mut |_| Ok(Vec::new()))?
            }
            None => scene.typical(count)?,
            Some(machine) => {
                let x = current.x.view();
                scene.choose(self.params.asking, count, &mut rng, &mut |rows| machine.decisions_now(x, rows))?
            }
        };
        if chosen.is_empty() && self.spent.batch == 0 {
            self.misses += 1;
            if self.misses == MISSES {
                effects.advice = Some(Stopped::Margin);
            }
        } else if !chosen.is_empty() {
            self.misses = 0;
        }
        self.spent.note(chosen.len());
        for c in chosen {
            effects.questions.push(body.question(c, &self.classes));
        }
        body.open.cap(self.params.most_open);
        Ok(())
    }

    fn answer(&mut self, sample: u64, label: &str, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let done = self.answer_to(&mut body, sample, label, effects);
        self.body = Some(body);
        done?;
        self.ask(effects)
    }

    fn answer_to(&mut self, body: &mut Body, sample: u64, label: &str, effects: &mut Effects) -> Result<()> {
        let class = self.class(body, label, effects);
        let Some(at) = body.open.find(sample) else { return Ok(()) };
        let (asked, row) = body.open.remove(at);
        if asked.why == Why::Check {
            effects.drift = self.hear(asked.said, class).or(effects.drift);
        }
        self.tell(body, sample, row.view().row(0), class, Some(asked.why))?;
        self.follow(body, sample)?;
        self.thin(body)
    }

    /// Remembers a label and learns it.
    fn tell(&mut self, body: &mut Body, sample: u64, row: Row<'_>, class: u32, why: Option<Why>) -> Result<()> {
        body.memory.push(row, Told { sample, class, batch: self.batches, why });
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = Some(class);
        }
        self.learn_last(body, 1)
    }

    fn skip(&mut self, sample: u64, effects: &mut Effects) -> Result<()> {
        if let Some(body) = &mut self.body
            && let Some(at) = body.open.find(sample)
        {
            body.open.remove(at);
        }
        self.ask(effects)
    }

    fn correct(&mut self, sample: u64, label: &str, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let class = self.class(&mut body, label, effects);
        if let Some(at) = body.memory.find(sample) {
            body.memory.relabel(at, class);
        }
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = Some(class);
        }
        body.current.news = true;
        let done = self.make_anew(&mut body);
        self.body = Some(body);
        done?;
        self.publish(effects);
        Ok(())
    }

    fn withdraw(&mut self, sample: u64, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        if let Some(at) = body.memory.find(sample) {
            body.memory.remove(at);
        }
        body.relations.forget(sample);
        if let Some(row) = body.current.row_of(sample) {
            body.current.truth[row] = None;
        }
        body.current.news = true;
        let done = self.make_anew(&mut body);
        self.body = Some(body);
        done?;
        self.publish(effects);
        Ok(())
    }

    fn relate(&mut self, a: u64, b: u64, same: bool, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        body.relations.add(a, b, same);
        let mut done = Ok(());
        for sample in [a, b] {
            if done.is_ok() && body.memory.find(sample).is_some() {
                done = self.follow(&mut body, sample);
            }
        }
        self.body = Some(body);
        done?;
        self.ask(effects)
    }

    /// Labels that follow from that of a sample through what was said of pairs. Of two classes "different" says which.
    fn follow(&mut self, body: &mut Body, sample: u64) -> Result<()> {
        let mut waiting = vec![sample];
        while let Some(known) = waiting.pop() {
            let Some(class) = body.memory.find(known).map(|at| body.memory.told()[at].class) else { continue };
            for (other, same) in body.relations.of(known) {
                let implied = match (same, self.classes.len()) {
                    (true, _) => class,
                    (false, 2) => 1 - class,
                    (false, _) => continue,
                };
                if body.memory.find(other).is_some() {
                    continue;
                }
                let Some(row) = body.sample(other) else { continue };
                if let Some(at) = body.open.find(other) {
                    body.open.remove(at);
                }
                self.tell(body, other, row.view().row(0), implied, None)?;
                waiting.push(other);
            }
        }
        Ok(())
    }

    /// The batch is done with.
    fn close(&mut self, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let done = if body.current.closed { Ok(()) } else { self.close_at(&mut body, effects) };
        self.body = Some(body);
        done
    }

    fn close_at(&mut self, body: &mut Body, effects: &mut Effects) -> Result<()> {
        body.current.closed = true;
        self.forget(body, effects.drift.is_some())?;
        if body.current.news
            && let Some(machine) = &mut body.inductive
        {
            machine.review(&body.memory, self.batches, &self.params)?;
        }
        let (said, labels, _) = self.label(body, &body.current.x)?;
        self.infer(body, &said, &labels)?;
        self.absorb(body, &said)?;
        effects.labels = labels;
        for (label, truth) in effects.labels.iter_mut().zip(&body.current.truth) {
            label.class = truth.or(label.class);
        }
        self.version += u64::from(body.current.news && body.inductive.is_some());
        if body.current.news && body.inductive.is_some() {
            effects.published = Some(self.version);
        }
        Ok(())
    }

    /// Feeds labels inferred with confidence to the classifier.
    fn infer(&self, body: &mut Body, said: &[Said], labels: &[Inferred]) -> Result<()> {
        let Some(machine) = body.inductive.as_mut().filter(|_| self.params.c_inferred > 0.0) else {
            return Ok(());
        };
        let sure = |i: &usize| {
            let (s, l) = (&said[*i], &labels[*i]);
            let agree = s.model == s.transduction || s.transduction.is_none() || s.model.is_none();
            body.current.truth[*i].is_none() && agree && l.confidence >= self.params.confidence
        };
        let chosen: Vec<(usize, u32)> = (0..said.len())
            .filter(sure)
            .filter_map(|i| labels[i].class.map(|c| (i, c)))
            .collect();
        if chosen.is_empty() {
            return Ok(());
        }
        machine.infer(body.current.x.view(), &chosen, body.current.base, &self.params)
    }

    /// Summarises the past; the samples of the batch without a label are the last batch now.
    fn absorb(&mut self, body: &mut Body, said: &[Said]) -> Result<()> {
        let Some(mut t) = body.transduction.take() else { return Ok(()) };
        if self.wants_transduction() {
            let class: Vec<u32> = body.memory.told().iter().map(|t| t.class).collect();
            let shares = self.shares(said);
            let open: Vec<usize> =
                (0..body.current.x.rows()).filter(|&i| body.current.truth[i].is_none()).collect();
            let given: Option<Vec<Given>> = open
                .iter()
                .map(|&i| said[i].transduction.map(|class| Given { class, confidence: 0.0 }))
                .collect();
            let batch = body.current.x.view().select(&open);
            let known = self.known(body, &class, &shares);
            let told = t.absorb(known, batch, given.as_deref(), self.params.seed, &());
            body.transduction = Some(t);
            self.absorbed = told?;
        } else {
            body.transduction = Some(t);
        }
        Ok(())
    }

    /// Drops labels that are to be forgotten.
    fn forget(&mut self, body: &mut Body, drifted: bool) -> Result<()> {
        let (n, told) = (body.memory.len(), body.memory.told());
        let keep: Vec<usize> = match self.params.forget {
            Forget::Window(most) if n > most => (n - most..n).collect(),
            Forget::OnDrift(batches) if drifted => {
                (0..n).filter(|&i| told[i].batch + batches > self.batches).collect()
            }
            Forget::HalfLife(_) if n > 0 => (0..n).collect(),
            _ => return Ok(()),
        };
        body.memory.keep(&keep);
        self.make_anew(body)
    }

    fn thin(&self, body: &mut Body) -> Result<()> {
        let how = ExemplarParams { kernel: body.frame.kernel, ..Default::default() };
        body.memory.thin(self.params.most_labels, self.classes.len(), &how)?;
        Ok(())
    }

    fn publish(&mut self, effects: &mut Effects) {
        if self.body.as_ref().is_some_and(|b| b.inductive.is_some()) {
            self.version += 1;
            effects.published = Some(self.version);
        }
    }

    /// The classifier as it is; none while labels of two classes are missing.
    pub fn classifier(&self) -> Option<Classifier> {
        let body = self.body.as_ref()?;
        let machine = body.inductive.as_ref()?;
        let params = serde_json::json!({
            "kernel": body.frame.kernel.name(), "c": self.params.c, "version": self.version,
            "labels": body.memory.len(), "rows": self.rows,
        });
        Some(Classifier {
            learner: if self.params.loss == crate::learn::lasvm::Loss::Ramp { "lasvm-nc" } else { "lasvm" }.into(),
            params,
            classes: machine.present().iter().map(|&c| self.classes.names()[c as usize].clone()).collect(),
            scheme: machine.scheme(),
            model: machine.model().clone(),
            scaling: body.scaling.clone(),
            columns: Vec::new(),
            calibration: Vec::new(),
        })
    }

    /// Parameters.
    pub fn params(&self) -> &EngineParams {
        &self.params
    }

    /// Names of the classes so far.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// What it knows about itself.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Questions asked so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Samples so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Batches so far.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// Version of the model.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// True labels remembered.
    pub fn memory(&self) -> Option<&Memory> {
        self.body.as_ref().map(|b| &b.memory)
    }

    /// What the last summary told.
    pub fn absorbed(&self) -> Absorbed {
        self.absorbed
    }

    /// What is remembered of samples without a label.
    pub fn transduction(&self) -> Option<&Transduction> {
        self.body.as_ref()?.transduction.as_ref()
    }

    /// Support vectors of the classifier.
    pub fn support_count(&self) -> usize {
        self.body.as_ref().and_then(|b| b.inductive.as_ref()).map_or(0, Inductive::support_count)
    }

    /// Samples kept in all: labels, exemplars, batches, questions, points.
    pub fn kept(&self) -> usize {
        self.body.as_ref().map_or(0, |b| {
            b.memory.len()
                + b.transduction.as_ref().map_or(0, Transduction::len)
                + b.current.x.rows()
                + b.open.of.len()
                + b.inductive.as_ref().map_or(0, Inductive::len)
        })
    }

    /// Numbers of the samples that wait for an answer, oldest first.
    pub fn open(&self) -> Vec<u64> {
        self.body.as_ref().map_or_else(Vec::new, |b| b.open.of.iter().map(|q| q.sample).collect())
    }
}

impl Current {
    fn row_of(&self, sample: u64) -> Option<usize> {
        sample.checked_sub(self.base).map(|r| r as usize).filter(|r| *r < self.truth.len())
    }
}

impl Body {
    /// Whether a sample is at hand.
    fn holds(&self, sample: u64) -> bool {
        self.memory.find(sample).is_some()
            || self.open.find(sample).is_some()
            || self.current.row_of(sample).is_some()
    }

    /// The row of a sample that has no label yet.
    fn sample(&self, sample: u64) -> Option<Matrix> {
        if let Some(at) = self.open.find(sample) {
            return Some(self.open.rows.view().select(&[at]));
        }
        self.current.row_of(sample).map(|row| self.current.x.view().select(&[row]))
    }

    fn renumber(&mut self, now: &[u32]) {
        self.memory.renumber(now);
        self.open.of.iter_mut().for_each(|q| q.said.renumber(now));
        self.current.truth.iter_mut().for_each(|t| *t = t.map(|c| now[c as usize]));
        self.current.said.iter_mut().for_each(|s| s.renumber(now));
        if let Some(machine) = &mut self.inductive
            && !machine.renumber(now)
        {
            self.inductive = None; // its outputs are in another order; it is made anew with the label that comes
        }
    }

    /// Opens a question.
    fn question(&mut self, chosen: Chosen, classes: &Classes) -> Question {
        let Chosen { row, why, closeness } = chosen;
        let (sample, said) = (self.current.base + row as u64, self.current.said[row]);
        self.current.asked[row] = true;
        self.open.rows.push(self.current.x.view().row(row));
        self.open.of.push(Asked { sample, why, said, round: true });
        let guess = said.given.map(|c| classes.names()[c as usize].clone());
        Question { sample, row, why, guess, closeness }
    }
}

/// The generator of draw number `draw`.
fn draw(seed: u64, draw: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed ^ draw.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn shuffle(order: &mut [usize], seed: u64, number: u64) {
    order.shuffle(&mut draw(seed, number));
}
