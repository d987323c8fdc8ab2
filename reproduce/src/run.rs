//! Runs a table: draws samples, runs methods, judges every cell.

use crate::data::{Origin, Scaling, Split};
use crate::failure::{Failure, Result};
use crate::methods::{Method, Open, Outcome, Task, run as run_method};
use crate::tables::{Availability, Better, Cell, Column, Protocol, Row, Table, Unit};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde::Serialize;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

/// Training rows above which a row is large, and `quick` leaves it out.
pub(crate) const LARGE: usize = 10_000;

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
    pub open: Open,
    /// Share of the training rows to score on in place of the test rows, which nothing may be chosen on.
    pub hold_out: Option<f64>,
    /// Data that come divided are divided anew each repetition, in the same sizes.
    pub resplit: bool,
}

/// How a cell came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the tolerance.
    Reproduced,
    /// Outside, on the good side.
    Better,
    /// Outside, on the bad side.
    Worse,
    /// Outside, where no side is good or bad.
    Different,
    /// Data that nobody has, or a file that is not there.
    Missing,
    /// Left out by choice, or refused by the library.
    NotRun,
    /// Measured, but a difference means nothing.
    NotJudged,
}

/// A cell with what we measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Row.
    pub data_set: String,
    /// Column.
    pub column: Column,
    /// Published.
    pub cell: Cell,
    /// Our runs, in the unit of the column; empty if there was none.
    pub ours: Vec<f64>,
    /// How it came out.
    pub verdict: Verdict,
    /// What to know.
    pub remark: String,
}

impl Judged {
    /// Mean and standard deviation of our runs.
    pub fn summary(&self) -> Option<(f64, f64)> {
        let n = self.ours.len() as f64;
        if self.ours.is_empty() {
            return None;
        }
        let mean = self.ours.iter().sum::<f64>() / n;
        let squares: f64 = self.ours.iter().map(|v| (v - mean).powi(2)).sum();
        Some((mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 }))
    }
}

/// The runs of one method on one row, or why there are none.
pub type Runs = std::result::Result<Vec<Outcome>, (Verdict, String)>;

/// Runs what the options ask of a table; `say` hears of progress.
pub fn run(table: &Table, options: &Options, say: &dyn Fn(&str)) -> Result<Vec<Judged>> {
    Bench::new(options, say).table(table)
}

/// Runs methods on rows and remembers what came out, so that tables that share runs share them.
pub struct Bench<'a> {
    /// What to run and how.
    pub options: &'a Options,
    say: &'a dyn Fn(&str),
    pub(crate) memo: RefCell<BTreeMap<String, Outcome>>,
    open: RefCell<Option<(String, Rc<Origin>)>>,
}

impl<'a> Bench<'a> {
    /// Nothing run yet; `say` hears of progress.
    pub fn new(options: &'a Options, say: &'a dyn Fn(&str)) -> Self {
        Self { options, say, memo: RefCell::default(), open: RefCell::default() }
    }

    /// Runs what the options ask of a table.
    pub fn table(&self, table: &Table) -> Result<Vec<Judged>> {
        if table.has_few_labels() {
            return crate::few::table(self, table);
        }
        let methods = chosen_methods(table, self.options)?;
        let rows = chosen_rows(table, self.options)?;
        let mut judged = Vec::new();
        for row in rows {
            let wanted: Vec<Method> = methods.iter().copied().filter(|m| has_cells(table, row, *m)).collect();
            let runs = self.row(row, &wanted);
            for cell in &row.cells {
                let column = &table.columns[cell.column];
                if let Some(runs) = Method::by_name(&column.method).ok().and_then(|m| runs.get(&m)) {
                    judged.push(judge(row, column, cell, runs));
                }
            }
        }
        Ok(judged)
    }

    /// Runs methods on a row as often as the options or the protocol say.
    pub fn row(&self, row: &Row, methods: &[Method]) -> BTreeMap<Method, Runs> {
        let same = |verdict, why: String| methods.iter().map(|m| (*m, Err((verdict, why.clone())))).collect();
        if row.data == Availability::Missing {
            return same(Verdict::Missing, String::new());
        }
        if self.options.quick && row.protocol.train > LARGE {
            return same(Verdict::NotRun, "left out by --quick".into());
        }
        let mut runs: BTreeMap<Method, Runs> = methods.iter().map(|m| (*m, Ok(Vec::new()))).collect();
        if !self.options.slow && row.protocol.train > HUGE {
            let left_out = || Err((Verdict::NotRun, "takes minutes: left out without --slow".to_string()));
            runs.iter_mut().filter(|(m, _)| m.is_slow()).for_each(|(_, runs)| *runs = left_out());
        }
        for repetition in 0..self.repetitions(row) {
            if let Err(failure) = self.repeat(row, repetition, &mut runs) {
                return same(verdict_of(&failure), failure.to_string());
            }
        }
        runs
    }

    /// How often a row is run.
    pub fn repetitions(&self, row: &Row) -> usize {
        let options = self.options;
        let large = options.large.filter(|_| row.protocol.train > LARGE);
        let usual = if options.quick { 1 } else { row.protocol.repetitions };
        large.or(options.repetitions).unwrap_or(usual).max(1)
    }

    /// One repetition of the methods that have not failed yet.
    fn repeat(&self, row: &Row, repetition: usize, runs: &mut BTreeMap<Method, Runs>) -> Result<()> {
        let protocol = self.protocol(row);
        let (all, seed) = (self.repetitions(row), seed_of(self.options.seed, repetition));
        let mut task = None;
        for (method, runs) in runs {
            let Ok(done) = runs else { continue };
            let key = format!("{} {protocol:?} {seed} {}", row.data_set, method.name());
            let known = self.memo.borrow().get(&key).cloned();
            if let Some(outcome) = known {
                done.push(outcome);
                continue;
            }
            let origin = self.origin(&row.data_set)?;
            let same = method.is_deterministic() && origin.is_fixed(&protocol) && !self.draws();
            if repetition > 0 && (same || (method.is_slow() && protocol.train > LARGE)) {
                continue;
            }
            if task.is_none() {
                task = Some(self.task(row, repetition)?);
            }
            let Some(task) = &task else { continue };
            match run_method(*method, task, seed) {
                Ok(outcome) => {
                    (self.say)(&format!(
                        "{}: {} {}/{all}: error {:.2} %, {} support vectors, {:.1} s",
                        row.name,
                        method.name(),
                        repetition + 1,
                        100.0 * outcome.error,
                        outcome.support_count,
                        outcome.seconds
                    ));
                    self.memo.borrow_mut().insert(key, outcome.clone());
                    done.push(outcome);
                }
                Err(failure) => *runs = Err((verdict_of(&failure), failure.to_string())),
            }
        }
        Ok(())
    }

    /// Whether the samples differ between repetitions though the data come divided.
    fn draws(&self) -> bool {
        self.options.hold_out.is_some() || self.options.resplit
    }

    /// Tells of progress.
    pub fn say(&self, line: &str) {
        (self.say)(line);
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

    /// A data set; the one asked for last stays open.
    fn origin(&self, name: &str) -> Result<Rc<Origin>> {
        if let Some((open, origin)) = &*self.open.borrow()
            && open == name
        {
            return Ok(Rc::clone(origin));
        }
        (self.say)(&format!("reading {name}"));
        let origin = Rc::new(Origin::open(name, &self.options.folder)?);
        *self.open.borrow_mut() = Some((name.to_string(), Rc::clone(&origin)));
        Ok(origin)
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
    for name in &options.methods {
        if !found.contains(&Method::by_name(name)?) {
            return Err(Failure::Unknown(format!("table {} has no method {name}", table.id)));
        }
    }
    found.retain(|m| options.methods.iter().any(|name| name.eq_ignore_ascii_case(m.name())));
    Ok(found)
}

pub(crate) fn chosen_rows<'t>(table: &'t Table, options: &Options) -> Result<Vec<&'t Row>> {
    let is = |row: &Row, name: &str| {
        row.name.eq_ignore_ascii_case(name) || row.data_set.eq_ignore_ascii_case(name)
    };
    if let Some(name) = options.data_sets.iter().find(|name| !table.rows.iter().any(|row| is(row, name))) {
        let known: Vec<&str> = table.rows.iter().map(|r| r.name.as_str()).collect();
        return Err(Failure::Unknown(format!(
            "table {} has no data set {name}; there are {}",
            table.id,
            known.join(", ")
        )));
    }
    let wanted =
        |row: &&Row| options.data_sets.is_empty() || options.data_sets.iter().any(|name| is(row, name));
    Ok(table.rows.iter().filter(wanted).collect())
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

/// Seeds of repetitions lie far apart, so that neighbouring seeds of a user share none.
pub fn seed_of(seed: u64, repetition: usize) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ repetition as u64
}

pub(crate) fn verdict_of(failure: &Failure) -> Verdict {
    if matches!(failure, Failure::Missing { .. }) { Verdict::Missing } else { Verdict::NotRun }
}

/// Puts published and measured side by side.
pub(crate) fn judge(row: &Row, column: &Column, cell: &Cell, runs: &Runs) -> Judged {
    let mut judged = Judged {
        data_set: row.name.clone(),
        column: column.clone(),
        cell: cell.clone(),
        ours: Vec::new(),
        verdict: Verdict::NotRun,
        remark: cell.remark.clone().unwrap_or_default(),
    };
    match runs {
        Err((verdict, why)) => {
            judged.verdict = *verdict;
            judged.remark = [why.as_str(), &judged.remark].map(str::trim).join(" ").trim().to_string();
        }
        Ok(outcomes) => {
            let values = outcomes.iter().filter_map(|o| o.get(&column.metric));
            judged.ours = values.map(|v| in_unit(v, column.unit)).collect();
            if let Some((mean, _)) = judged.summary() {
                judged.verdict = verdict(column, cell, mean);
            }
        }
    }
    judged
}

fn in_unit(value: f64, unit: Unit) -> f64 {
    match unit {
        Unit::Percent => 100.0 * value,
        Unit::Millions => value / 1e6,
        Unit::Fraction | Unit::Count | Unit::Seconds | Unit::Ratio => value,
    }
}

fn verdict(column: &Column, cell: &Cell, mean: f64) -> Verdict {
    let difference = mean - cell.target();
    match column.better {
        _ if !column.judged => Verdict::NotJudged,
        _ if difference.abs() <= cell.tolerance => Verdict::Reproduced,
        Better::Higher if difference > 0.0 => Verdict::Better,
        Better::Lower if difference < 0.0 => Verdict::Better,
        Better::Neither => Verdict::Different,
        Better::Higher | Better::Lower => Verdict::Worse,
    }
}

/// How many cells came out how.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Counts {
    /// Cells with a measured number, judged or not.
    pub cells_run: usize,
    /// Cells of each verdict.
    pub cells_reproduced: usize,
    /// Better than published, beyond the tolerance.
    pub cells_better: usize,
    /// Worse than published, beyond the tolerance.
    pub cells_worse: usize,
    /// Unlike what was published, beyond the tolerance, where no side is good or bad.
    pub cells_different: usize,
    /// Without data.
    pub cells_missing: usize,
    /// Not asked for.
    pub cells_not_run: usize,
    /// Measured, but not judged.
    pub cells_not_judged: usize,
    /// Time of everything.
    pub seconds: f64,
}

impl Counts {
    /// Counts verdicts.
    pub fn of(judged: &[Judged], start: Instant) -> Self {
        let count = |v: Verdict| judged.iter().filter(|j| j.verdict == v).count();
        Self {
            cells_run: judged.iter().filter(|j| !j.ours.is_empty()).count(),
            cells_reproduced: count(Verdict::Reproduced),
            cells_better: count(Verdict::Better),
            cells_worse: count(Verdict::Worse),
            cells_different: count(Verdict::Different),
            cells_missing: count(Verdict::Missing),
            cells_not_run: count(Verdict::NotRun),
            cells_not_judged: count(Verdict::NotJudged),
            seconds: start.elapsed().as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::find;

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
        let (wanted, said) = (options(&["Waveform IR 8"], &["DC"]), RefCell::new(0));
        let say = |line: &str| *said.borrow_mut() += usize::from(line.contains("error"));
        let bench = Bench::new(&wanted, &say);
        assert_eq!(bench.table(&table).unwrap(), bench.table(&table).unwrap());
        assert_eq!(*said.borrow(), 2);
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
        let counts = Counts::of(&judged, Instant::now());
        assert_eq!((counts.cells_missing, counts.cells_run), (3, 0));
    }

    #[test]
    fn unknown_names_are_refused() {
        let table = find("ertekin-6.3").unwrap();
        assert!(run(&table, &options(&["nowhere"], &[]), &|_| ()).is_err());
        assert!(run(&table, &options(&[], &["magic"]), &|_| ()).is_err());
        assert!(run(&table, &options(&[], &["US"]), &|_| ()).is_err());
    }

    #[test]
    fn verdicts_have_a_side() {
        let table = find("ertekin-6.3").unwrap();
        let cell = &table.rows[0].cells[0];
        let column = &table.columns[cell.column];
        assert_eq!(verdict(column, cell, cell.value), Verdict::Reproduced);
        assert_eq!(verdict(column, cell, cell.value + 5.0), Verdict::Better);
        assert_eq!(verdict(column, cell, cell.value - 5.0), Verdict::Worse);
        let neither = Column { better: Better::Neither, ..column.clone() };
        assert_eq!(verdict(&neither, cell, cell.value + 5.0), Verdict::Different);
        let time = table.columns.iter().find(|c| c.metric == "seconds").unwrap();
        assert_eq!(verdict(time, cell, 0.0), Verdict::NotJudged);
    }
}
