//! Runs a table: draws samples, runs methods and judges all cells.

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

/// Number of training rows above which a row is large and `quick` skips it.
pub(crate) const LARGE: usize = 10_000;

/// Number of training rows above which `--large` sets the repetitions of online methods. It is above the 18,000 rows of Letter,
/// which take a quarter of a second and whose break-even point needs the mean over the ten splits of the protocol.
const LARGE_PASS: usize = 20_000;

/// Number of training rows above which slow methods are skipped without `--slow`.
const HUGE: usize = 50_000;

/// Options of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Rows to run, by name or data set; empty: all.
    pub data_sets: Vec<String>,
    /// Methods to run, by name; empty: all.
    pub methods: Vec<String>,
    /// Number of repetitions in place of that of the protocol.
    pub repetitions: Option<usize>,
    /// Number of repetitions of large rows.
    pub large: Option<usize>,
    /// Run one repetition, and skip rows with more than 10000 training rows.
    pub quick: bool,
    /// Also run slow methods on rows with more than 50000 training rows.
    pub slow: bool,
    /// Scaling in place of that of the protocol, to find out what the authors did.
    pub scaling: Option<Scaling>,
    /// Cost in place of that of the protocol, for the same purpose.
    pub c: Option<f64>,
    /// Kernel width in place of that of the protocol, for the same purpose.
    pub gamma: Option<f64>,
    /// Parameters of semi-supervised learners in place of those of the protocol, for the same purpose.
    pub set: Map<String, Value>,
    /// File for the figure of a statement that has one.
    pub plot: Option<PathBuf>,
    /// Folder of the data files.
    pub folder: PathBuf,
    /// Random seed of all draws.
    pub seed: u64,
    /// Choices that the protocols leave open.
    pub open: ProtocolChoices,
    /// Share of the training rows that replaces the test rows for scoring, since nothing may be chosen on test rows.
    pub hold_out: Option<f64>,
    /// Split data with a fixed test part at random in each repetition, with the same sizes.
    pub resplit: bool,
    /// Whether several tables are requested, so that a data set or method does not have to be in each of them.
    pub several: bool,
    /// Number of threads; 0: the number of processors.
    pub threads: usize,
    /// Folder of the cache; `None`: no cache on disk.
    pub cache: Option<PathBuf>,
}

/// Outcomes of the runs of one method on one row, or the reason why there are none.
pub type Runs = std::result::Result<Vec<Outcome>, (Verdict, String)>;

/// Runs the part of a table that the options select; `say` receives progress messages.
pub fn run(table: &Table, options: &Options, say: &Say<'_>) -> Result<Vec<Judged>> {
    Bench::new(options, say).table(table)
}

/// Function that receives progress messages.
pub type Say<'s> = dyn Fn(&str) + Sync + 's;

/// Result of a table or a statement.
#[derive(Debug, Clone)]
pub struct Report {
    /// Name of the table or statement.
    pub id: String,
    /// Title.
    pub title: String,
    /// The table, if there is one.
    pub table: Option<Table>,
    /// Judged cells of the table.
    pub cells: Vec<Judged>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Remarks in Markdown.
    pub notes: String,
    /// Counts of the verdicts.
    pub counts: Counts,
}

/// Number of data sets that stay in memory, one per thread.
const OPEN: usize = 2;

/// Runs methods on rows and caches the results, so that tables can share runs.
pub struct Bench<'a> {
    /// Options of the run.
    pub options: &'a Options,
    say: &'a Say<'a>,
    keep: Keep,
    progress: Progress,
    open: Mutex<Vec<(String, Arc<Origin>)>>,
}

impl<'a> Bench<'a> {
    /// Creates a bench; `say` receives progress messages.
    pub fn new(options: &'a Options, say: &'a Say<'a>) -> Self {
        let keep = Keep::new(options.cache.clone(), options.folder.clone());
        Self { options, say, keep, progress: Progress::default(), open: Mutex::default() }
    }

    /// Runs a table or a statement by name.
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

    /// Returns an error for unknown data sets and methods.
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

    /// Runs a statement; without its data all cells are missing.
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

    /// Runs the part of a table that the options select.
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

    /// Runs the work on all items in parallel; the results have the order of the items.
    pub fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let threads = match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        each(items, threads, &self.progress, work)
    }

    /// Returns the cached result of a piece of work, or computes and caches it. The key identifies everything that the result
    /// depends on except code and data.
    #[track_caller]
    pub fn cached<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.keep.or_do(&format!("{key}{}", self.changed_options()), work)
    }

    /// Options that change samples or learners, as a part of every key; empty if all have their defaults.
    fn changed_options(&self) -> String {
        let (asked, usual) = (self.options, Options::default());
        let of = |o: &Options| {
            format!(
                " {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                o.scaling, o.c, o.gamma, o.set, o.open, o.hold_out, o.resplit
            )
        };
        if of(asked) == of(&usual) { String::new() } else { of(asked) }
    }

    /// Runs all repetitions of a method on a row.
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

    /// Number of repetitions of a row.
    pub fn repetitions(&self, row: &Row) -> usize {
        let options = self.options;
        let large = options.large.filter(|_| row.protocol.train > LARGE_PASS);
        let usual = if options.quick { 1 } else { row.protocol.repetitions };
        large.or(options.repetitions).unwrap_or(usual).max(1)
    }

    /// Runs one repetition; `None` if its result would equal that of an earlier one.
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

    /// Whether the samples differ between repetitions although the data have a fixed test part.
    fn draws(&self) -> bool {
        self.options.hold_out.is_some() || self.options.resplit
    }

    /// Prints a message with the progress.
    pub fn say(&self, line: &str) {
        (self.say)(&format!("{} {line}", self.progress.text()));
    }

    /// Samples and parameters of a repetition.
    pub fn task(&self, row: &Row, repetition: usize) -> Result<Task> {
        let protocol = self.protocol(row);
        let rng = &mut Pcg64::seed_from_u64(seed_of(self.options.seed, repetition));
        let origin = self.origin(&row.data_set)?;
        let mut split = match &*origin {
            Origin::Fixed(fixed) if self.options.resplit => {
                Origin::Fixed(Box::new(random_split(fixed, rng))).draw(&protocol, rng)?
            }
            origin => origin.draw(&protocol, rng)?,
        };
        if let Some(share) = self.options.hold_out {
            split = held_out(&split, share, rng);
        }
        Task::new(split, &protocol, self.options.open)
    }

    /// The protocol of a row with the replacements of the options. The number of repetitions is 0, since a run does not depend
    /// on it.
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

    /// Opens a data set; the most recent ones stay in memory.
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

/// Adds the measures of the runs of a method on a row, for all columns that have one.
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

/// Splits all rows at random into parts of the same sizes.
fn random_split(split: &Split, rng: &mut Pcg64) -> Split {
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

/// Splits the training rows: a share of them replaces the test rows.
fn held_out(split: &Split, share: f64, rng: &mut Pcg64) -> Split {
    let mut rows: Vec<usize> = (0..split.train.rows()).collect();
    rows.shuffle(rng);
    let (test, train) = rows.split_at((share * rows.len() as f64) as usize);
    Split { train: split.train.select(train), test: split.train.select(test) }
}

/// Seed of a repetition; the seeds are far apart, so that runs with neighboring seeds share none.
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
    fn generated_row_runs_reproducibly() {
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
    fn random_splits_have_every_row_once() {
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
        let random = random_split(&split, rng);
        assert_eq!((random.train.rows(), random.test.rows()), (30, 10));
        let mut seen = values(&random);
        assert_ne!(seen, values(&split));
        seen.sort_unstable();
        // sparse iteration skips the value 0
        assert_eq!(seen, (40 - seen.len()..40).collect::<Vec<_>>());
        let held = held_out(&split, 0.2, rng);
        assert_eq!((held.train.rows(), held.test.rows()), (24, 6));
        assert!(values(&held).iter().all(|v| *v < 30), "no test row is used");
    }

    #[test]
    fn absent_data_gives_missing_cells() {
        let table = find("ertekin-6.3").unwrap();
        let judged = run(&table, &options(&["adult"], &["libsvm"]), &|_| ()).unwrap();
        assert!(judged.iter().all(|j| j.verdict == Verdict::Missing && j.ours.is_empty()));
        let counts = Counts::of(table.kind, &judged, 0.0);
        assert_eq!((counts.cells_missing, counts.cells_run), (3, 0));
    }

    #[test]
    fn unknown_names_are_errors() {
        let table = find("ertekin-6.3").unwrap();
        assert!(run(&table, &options(&["nowhere"], &[]), &|_| ()).is_err());
        assert!(run(&table, &options(&[], &["magic"]), &|_| ()).is_err());
        assert!(run(&table, &options(&[], &["US"]), &|_| ()).is_err());
    }
}
