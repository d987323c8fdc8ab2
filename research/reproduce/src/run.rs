//! Runs a table: draws samples, runs methods, judges every cell.

use crate::claims::{CLAIMS, Claim};
use crate::data::{Origin, Scaling, Split};
use crate::explain::explain;
use crate::failure::{Failure, Result};
use crate::findings::{Figure, Findings};
use crate::judge::{Counts, Judged, Verdict, judge};
use crate::keep::Keep;
use crate::methods::{Method, Outcome, ProtocolChoices, Task, run as run_method};
use crate::tables::{self, Availability, Column, Kind, Protocol, Row, Table};
use crate::work::{Progress, each};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Training rows above which a row is large, and `quick` leaves it out.
pub(crate) const LARGE: usize = 10_000;

/// Training rows above which `--large` says how often an online method is run: the 18 000 of Letter take a quarter of a
/// second, and its break-even point needs the mean of the protocol's ten divisions.
const LARGE_PASS: usize = 20_000;

/// Training rows above which slow methods are left out unless asked for.
const HUGE: usize = 50_000;

/// What to run and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Rows by name or data set; empty: all.
    pub data_sets: Vec<String>,
    /// Methods by name; empty: all.
    pub methods: Vec<String>,
    /// Repetitions, instead of the protocol's.
    pub repetitions: Option<usize>,
    /// Repetitions of rows with more than 10000 training rows.
    pub large: Option<usize>,
    /// One repetition, and no row with more than 10000 training rows.
    pub quick: bool,
    /// Slow methods on rows with more than 50000 training rows too.
    pub slow: bool,
    /// Features scaled otherwise than the protocol says (to find out what the authors did).
    pub scaling: Option<Scaling>,
    /// Another cost than the protocol's, for the same purpose.
    pub c: Option<f64>,
    /// Another kernel width than the protocol's, for the same purpose.
    pub gamma: Option<f64>,
    /// Other parameters of learners than the protocol's (few labels), for the same purpose.
    pub set: Map<String, Value>,
    /// A file for the picture of a claim that has one.
    pub plot: Option<PathBuf>,
    /// Where data files are.
    pub folder: PathBuf,
    /// Seed of every draw.
    pub seed: u64,
    /// What the protocols leave open.
    pub open: ProtocolChoices,
    /// Share of the training rows to score on in place of the test rows, which nothing may be chosen on.
    pub hold_out: Option<f64>,
    /// Data that come divided are divided anew each repetition, in the same sizes.
    pub resplit: bool,
    /// Several tables are asked for, so that a data set or method need not be in each of them.
    pub several: bool,
    /// Threads; 0: as many as there are processors.
    pub threads: usize,
    /// Where finished pieces are kept; none: nowhere.
    pub cache: Option<PathBuf>,
}

/// The runs of one method on one row, or why there are none.
pub type Runs = std::result::Result<Vec<Outcome>, (Verdict, String)>;

/// Runs what the options ask of a table; `say` hears of progress.
pub fn run(table: &Table, options: &Options, say: &Say<'_>) -> Result<Vec<Judged>> {
    Bench::new(options, say).table(table)
}

/// Hears of progress.
pub type Say<'s> = dyn Fn(&str) + Sync + 's;

/// What came of a table or a statement.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its name.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The table, if there is one.
    pub table: Option<Table>,
    /// Its cells, judged.
    pub cells: Vec<Judged>,
    /// Curves.
    pub figures: Vec<Figure>,
    /// Remarks, as Markdown.
    pub notes: String,
    /// How the cells came out.
    pub counts: Counts,
}

/// Data sets that stay open: one a thread.
const OPEN: usize = 2;

/// Runs methods on rows and keeps what came out, so that tables that share runs share them.
pub struct Bench<'a> {
    /// What to run and how.
    pub options: &'a Options,
    say: &'a Say<'a>,
    keep: Keep,
    progress: Progress,
    open: Mutex<Vec<(String, Arc<Origin>)>>,
}

impl<'a> Bench<'a> {
    /// Nothing run yet; `say` hears of progress.
    pub fn new(options: &'a Options, say: &'a Say<'a>) -> Self {
        let keep = Keep::new(options.cache.clone(), options.folder.clone());
        Self { options, say, keep, progress: Progress::default(), open: Mutex::default() }
    }

    /// Runs a table or a statement by its name.
    pub fn report(&self, id: &str) -> Result<Report> {
        let start = Instant::now();
        self.progress.name(id);
        let claim = CLAIMS.iter().find(|c| c.id == id);
        let table = match (tables::find(id), claim) {
            (Ok(table), _) => Some(table),
            (Err(_), Some(_)) => None,
            (Err(unknown), None) => return Err(unknown),
        };
        if let Some(table) = &table {
            self.check_names(table)?;
        }
        let found = match (claim, &table) {
            (Some(claim), _) => self.claimed(claim)?,
            (None, Some(table)) => self.found(table)?,
            (None, None) => Findings::default(),
        };
        let cells = table.as_ref().map_or_else(Vec::new, |table| self.judged(table, &found));
        let kind = table.as_ref().map_or(Kind::Published, |t| t.kind);
        let counts = Counts::of(kind, &cells, start.elapsed().as_secs_f64());
        let title =
            table.as_ref().map_or_else(|| claim.map_or("", |c| c.title).to_string(), |t| t.title.clone());
        Ok(Report { id: id.into(), title, table, cells, figures: found.figures, notes: found.notes, counts })
    }

    /// Refuses data sets that no row, and methods that no column has.
    fn check_names(&self, table: &Table) -> Result<()> {
        chosen_rows(table, self.options)?;
        let has = |name: &String| table.columns.iter().any(|c| c.method.eq_ignore_ascii_case(name));
        let asked = &self.options.methods;
        let unknown = asked.iter().find(|name| !has(name));
        match unknown.filter(|_| !self.options.several || !asked.iter().any(has)) {
            Some(name) => Err(Failure::Unknown(format!("table {} has no method {name}", table.id))),
            None => Ok(()),
        }
    }

    /// Runs a statement; without its data all its cells are missing.
    fn claimed(&self, claim: &Claim) -> Result<Findings> {
        match (claim.check)(self) {
            Err(missing @ Failure::Missing { .. }) => {
                let mut found = Findings::notes(format!("{missing}.\n"));
                found.missing("", &missing.to_string());
                Ok(found)
            }
            found => found,
        }
    }

    /// Runs what the options ask of a table.
    pub fn table(&self, table: &Table) -> Result<Vec<Judged>> {
        Ok(self.judged(table, &self.found(table)?))
    }

    fn judged(&self, table: &Table, found: &Findings) -> Vec<Judged> {
        let some = |asked: &[String], names: &[&str]| {
            asked.is_empty() || asked.iter().any(|a| names.iter().any(|n| a.eq_ignore_ascii_case(n)))
        };
        let wanted = |row: &Row, column: &Column| {
            some(&self.options.data_sets, &[&row.name, &row.data_set])
                && some(&self.options.methods, &[&column.method])
        };
        let mut judged = judge(table, found, wanted);
        judged.iter_mut().for_each(|cell| explain(&table.id, cell));
        judged
    }

    fn found(&self, table: &Table) -> Result<Findings> {
        if table.has_few_labels() {
            return crate::few::table(self, table);
        }
        let methods = chosen_methods(table, self.options)?;
        let mut pieces = Vec::new();
        for row in chosen_rows(table, self.options)? {
            pieces.extend(methods.iter().filter(|m| has_cells(table, row, **m)).map(|m| (row, *m)));
        }
        let runs = self.each(&pieces, |(row, method)| self.runs(row, *method));
        let mut found = Findings::default();
        for ((row, method), runs) in pieces.iter().zip(&runs) {
            put(&mut found, table, row, method.name(), runs);
        }
        Ok(found)
    }

    /// Works on all items, two at a time on two processors; results in their order.
    pub fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let threads = match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        each(items, threads, &self.progress, work)
    }

    /// A piece of work that was done before, or is done and kept now. The key names all it depends on but code and data.
    #[track_caller]
    pub fn cached<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.keep.or_do(&format!("{key}{}", self.otherwise()), work)
    }

    /// What the options change about samples and learners; empty: nothing. Part of every key, so that none forgets it.
    fn otherwise(&self) -> String {
        let (asked, usual) = (self.options, Options::default());
        let of = |o: &Options| {
            format!(
                " {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                o.scaling, o.c, o.gamma, o.set, o.open, o.hold_out, o.resplit
            )
        };
        if of(asked) == of(&usual) { String::new() } else { of(asked) }
    }

    /// Runs a method on a row as often as the options or the protocol say.
    pub fn runs(&self, row: &Row, method: Method) -> Runs {
        if row.data == Availability::Missing {
            return Err((Verdict::Missing, String::new()));
        }
        if self.options.quick && row.protocol.train > LARGE {
            return Err((Verdict::NotRun, "left out by --quick".into()));
        }
        if !self.options.slow && row.protocol.train > HUGE && method.is_slow() {
            return Err((Verdict::NotRun, "takes minutes: left out without --slow".into()));
        }
        let mut done = Vec::new();
        for repetition in 0..self.repetitions(row) {
            match self.repeat(row, repetition, method) {
                Ok(outcome) => done.extend(outcome),
                Err(failure) => return Err((verdict_of(&failure), failure.to_string())),
            }
        }
        Ok(done)
    }

    /// How often a row is run.
    pub fn repetitions(&self, row: &Row) -> usize {
        let options = self.options;
        let large = options.large.filter(|_| row.protocol.train > LARGE_PASS);
        let usual = if options.quick { 1 } else { row.protocol.repetitions };
        large.or(options.repetitions).unwrap_or(usual).max(1)
    }

    /// One repetition, if it differs from those before.
    fn repeat(&self, row: &Row, repetition: usize, method: Method) -> Result<Option<Outcome>> {
        let protocol = self.protocol(row);
        let (all, seed) = (self.repetitions(row), seed_of(self.options.seed, repetition));
        let same =
            method.is_deterministic() && !self.draws() && self.origin(&row.data_set)?.is_fixed(&protocol);
        if repetition > 0 && (same || (method.is_slow() && protocol.train > LARGE)) {
            return Ok(None);
        }
        let options = self.options;
        let undersampling = protocol.undersampling.filter(|_| method == Method::Us);
        let protocol = Protocol { undersampling, ..protocol };
        let key = format!(
            "{} {protocol:?} {seed} {} {:?} {:?} {}",
            row.data_set,
            method.name(),
            options.open,
            options.hold_out,
            options.resplit
        );
        let outcome = self.cached(&key, || {
            let outcome = run_method(method, &self.task(row, repetition)?, seed)?;
            self.say(&format!(
                "{}: {} {}/{all}: error {:.2} %, {} support vectors, {:.1} s",
                row.name,
                method.name(),
                repetition + 1,
                100.0 * outcome.error,
                outcome.support_count,
                outcome.seconds
            ));
            Ok(outcome)
        })?;
        Ok(Some(outcome))
    }

    /// Whether the samples differ between repetitions though the data come divided.
    fn draws(&self) -> bool {
        self.options.hold_out.is_some() || self.options.resplit
    }

    /// Tells of progress.
    pub fn say(&self, line: &str) {
        (self.say)(&format!("{} {line}", self.progress.told()));
    }

    /// The samples and parameters of a repetition.
    pub fn task(&self, row: &Row, repetition: usize) -> Result<Task> {
        let protocol = self.protocol(row);
        let rng = &mut Pcg64::seed_from_u64(seed_of(self.options.seed, repetition));
        let origin = self.origin(&row.data_set)?;
        let mut split = match &*origin {
            Origin::Fixed(fixed) if self.options.resplit => {
                Origin::Fixed(Box::new(divided_anew(fixed, rng))).draw(&protocol, rng)?
            }
            origin => origin.draw(&protocol, rng)?,
        };
        if let Some(share) = self.options.hold_out {
            split = held_out(&split, share, rng);
        }
        Task::new(split, &protocol, self.options.open)
    }

    /// The protocol of a row with what the options replace. The number of repetitions does not matter to a run.
    fn protocol(&self, row: &Row) -> Protocol {
        let protocol = &row.protocol;
        Protocol {
            scaling: self.options.scaling.unwrap_or(protocol.scaling),
            c: self.options.c.unwrap_or(protocol.c),
            gamma: self.options.gamma.unwrap_or(protocol.gamma),
            repetitions: 0,
            ..protocol.clone()
        }
    }

    /// A data set; those asked for last stay open.
    fn origin(&self, name: &str) -> Result<Arc<Origin>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, origin)) = open.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(origin));
        }
        self.say(&format!("reading {name}"));
        let origin = Arc::new(Origin::open(name, &self.options.folder)?);
        open.insert(0, (name.to_string(), Arc::clone(&origin)));
        open.truncate(OPEN);
        Ok(origin)
    }
}

/// The measures of a method's runs on a row, for every column that shows one.
pub(crate) fn put(found: &mut Findings, table: &Table, row: &Row, method: &str, runs: &Runs) {
    match runs {
        Err((Verdict::Missing, why)) => found.missing(&row.name, why),
        Err((_, why)) => found.left_out(&row.name, method, why),
        Ok(outcomes) => {
            for column in table.columns.iter().filter(|c| c.method == method) {
                let values = outcomes.iter().filter_map(|o| o.get(&column.metric)).collect();
                found.add(&row.name, method, &column.metric, values);
            }
        }
    }
}

fn chosen_methods(table: &Table, options: &Options) -> Result<Vec<Method>> {
    let mut found: Vec<Method> =
        table.columns.iter().map(|c| Method::by_name(&c.method)).collect::<Result<_>>()?;
    found.sort_unstable();
    found.dedup();
    if options.methods.is_empty() {
        return Ok(found);
    }
    let asked: Vec<Method> = options.methods.iter().map(|n| Method::by_name(n)).collect::<Result<_>>()?;
    let known = found.clone();
    found.retain(|m| asked.contains(m));
    let unknown = asked.iter().find(|m| !known.contains(m));
    if let Some(method) = unknown.filter(|_| !options.several || found.is_empty()) {
        return Err(Failure::Unknown(format!("table {} has no method {}", table.id, method.name())));
    }
    Ok(found)
}

pub(crate) fn chosen_rows<'t>(table: &'t Table, options: &Options) -> Result<Vec<&'t Row>> {
    let is = |row: &Row, name: &str| {
        row.name.eq_ignore_ascii_case(name) || row.data_set.eq_ignore_ascii_case(name)
    };
    let wanted =
        |row: &&Row| options.data_sets.is_empty() || options.data_sets.iter().any(|name| is(row, name));
    let found: Vec<&Row> = table.rows.iter().filter(wanted).collect();
    let unknown = options.data_sets.iter().find(|name| !table.rows.iter().any(|row| is(row, name)));
    if let Some(name) = unknown.filter(|_| !options.several || found.is_empty()) {
        let known: Vec<&str> = table.rows.iter().map(|r| r.name.as_str()).collect();
        return Err(Failure::Unknown(format!(
            "table {} has no data set {name}; there are {}",
            table.id,
            known.join(", ")
        )));
    }
    Ok(found)
}

fn has_cells(table: &Table, row: &Row, method: Method) -> bool {
    row.cells.iter().any(|c| table.columns[c.column].method == method.name())
}

/// All rows, divided at random into parts of the same sizes.
fn divided_anew(split: &Split, rng: &mut Pcg64) -> Split {
    let mut all = split.train.clone();
    for i in 0..split.test.rows() {
        all.x.push(split.test.x.view().row(i));
    }
    all.y.extend(&split.test.y);
    let mut rows: Vec<usize> = (0..all.rows()).collect();
    rows.shuffle(rng);
    let (train, test) = rows.split_at(split.train.rows());
    Split { train: all.select(train), test: all.select(test) }
}

/// The training rows alone, divided: a share of them takes the place of the test rows.
fn held_out(split: &Split, share: f64, rng: &mut Pcg64) -> Split {
    let mut rows: Vec<usize> = (0..split.train.rows()).collect();
    rows.shuffle(rng);
    let (test, train) = rows.split_at((share * rows.len() as f64) as usize);
    Split { train: split.train.select(train), test: split.train.select(test) }
}

/// Seeds of repetitions lie far apart, so that neighboring seeds of a user share none.
pub fn seed_of(seed: u64, repetition: usize) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ repetition as u64
}

pub(crate) fn verdict_of(failure: &Failure) -> Verdict {
    if matches!(failure, Failure::Missing { .. }) { Verdict::Missing } else { Verdict::NotRun }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::find;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn options(data_sets: &[&str], methods: &[&str]) -> Options {
        let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Options {
            data_sets: strings(data_sets),
            methods: strings(methods),
            repetitions: Some(2),
            folder: PathBuf::from("/nonexistent"),
            seed: 7,
            ..Options::default()
        }
    }

    #[test]
    fn a_generated_row_runs_and_repeats() {
        let mut table = find("ertekin-waveform-imbalance").unwrap();
        table.rows.iter_mut().for_each(|r| r.protocol.train = 400);
        let wanted = options(&["Waveform IR 8"], &["batch", "DC", "AL"]);
        let judged = run(&table, &wanted, &|_| ()).unwrap();
        assert_eq!(judged.len(), 3);
        assert_eq!(judged[0].ours.len(), 2);
        assert_eq!(judged[1].ours.len(), 2);
        assert!(judged[2].summary().unwrap().0 > judged[0].summary().unwrap().0);
        assert_eq!(run(&table, &wanted, &|_| ()).unwrap(), judged);
    }

    #[test]
    fn tables_share_runs() {
        let mut table = find("ertekin-waveform-imbalance").unwrap();
        table.rows.iter_mut().for_each(|r| r.protocol.train = 300);
        let (wanted, error_count) = (options(&["Waveform IR 8"], &["DC"]), AtomicUsize::new(0));
        let say = |line: &str| {
            error_count.fetch_add(usize::from(line.contains("error")), Ordering::Relaxed);
        };
        let bench = Bench::new(&wanted, &say);
        assert_eq!(bench.table(&table).unwrap(), bench.table(&table).unwrap());
        assert_eq!(error_count.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn samples_drawn_anew_keep_every_row_once() {
        let line = |from: usize, n: usize| {
            let x = evermargin::Matrix::dense((from..from + n).map(|i| i as f64).collect(), n, 1).unwrap();
            crate::data::Sample::new(x, vec![evermargin::Label::Pos; n]).unwrap()
        };
        let split = Split { train: line(0, 30), test: line(30, 10) };
        let rng = &mut Pcg64::seed_from_u64(1);
        let values = |s: &Split| {
            let mut all = Vec::new();
            for part in [&s.train, &s.test] {
                (0..part.rows()).for_each(|i| part.x.view().row(i).for_each(|_, v| all.push(v as usize)));
            }
            all
        };
        let anew = divided_anew(&split, rng);
        assert_eq!((anew.train.rows(), anew.test.rows()), (30, 10));
        let mut seen = values(&anew);
        assert_ne!(seen, values(&split));
        seen.sort_unstable();
        // a value of 0 is no entry of a row
        assert_eq!(seen, (40 - seen.len()..40).collect::<Vec<_>>());
        let held = held_out(&split, 0.2, rng);
        assert_eq!((held.train.rows(), held.test.rows()), (24, 6));
        assert!(values(&held).iter().all(|v| *v < 30), "no test row is looked at");
    }

    #[test]
    fn absent_data_is_missing_not_a_crash() {
        let table = find("ertekin-6.3").unwrap();
        let judged = run(&table, &options(&["adult"], &["libsvm"]), &|_| ()).unwrap();
        assert!(judged.iter().all(|j| j.verdict == Verdict::Missing && j.ours.is_empty()));
        let counts = Counts::of(table.kind, &judged, 0.0);
        assert_eq!((counts.cells_missing, counts.cells_run), (3, 0));
    }

    #[test]
    fn unknown_names_are_refused() {
        let table = find("ertekin-6.3").unwrap();
        assert!(run(&table, &options(&["nowhere"], &[]), &|_| ()).is_err());
        assert!(run(&table, &options(&[], &["magic"]), &|_| ()).is_err());
        assert!(run(&table, &options(&[], &["US"]), &|_| ()).is_err());
    }
}
