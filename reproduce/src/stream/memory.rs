//! Figures IV.19 to IV.30: is a stream with a bounded memory labelled as well as one that is kept whole, at a cost that does
//! not grow?

use super::data::Set;
use super::growth::slope;
use super::walk::{Mode, Step, Way, all_at_once, walk};
use super::{Stream, generator, mean, params, wanted};
use crate::failure::{Failure, Result};
use crate::run::Bench;
use crate::show::markdown::spread;
use evermargin::engine::transduction::{Remember, TransductionParams};
use std::fmt::Write;

/// A stream: its name, its data, rows of a batch, labels, repetitions, batches at which batch learning is looked at.
pub(super) struct Plan {
    pub name: &'static str,
    pub set: &'static str,
    pub batch: usize,
    pub labels: usize,
    pub repetitions: usize,
    pub looks: usize,
}

/// Labels of table IV.1: 50 for newsgroups, 30 for news wires, 9 for connections; its sets themselves are not at hand. The
/// newsgroups come in small batches too, so that there are a hundred of them.
pub(super) const PLANS: [Plan; 7] = [
    Plan { name: "newsgroups", set: "news-comp-rec", batch: 80, labels: 50, repetitions: 2, looks: 4 },
    Plan { name: "newsgroups-440", set: "news-comp-rec", batch: 440, labels: 50, repetitions: 2, looks: 4 },
    Plan { name: "reuters", set: "reuters-earn", batch: 100, labels: 30, repetitions: 2, looks: 4 },
    Plan { name: "mnist", set: "mnist-odd", batch: 500, labels: 50, repetitions: 1, looks: 6 },
    Plan { name: "kdd-2000", set: "kdd99", batch: 2000, labels: 9, repetitions: 1, looks: 4 },
    Plan { name: "kdd-4000", set: "kdd99", batch: 4000, labels: 9, repetitions: 1, looks: 4 },
    Plan { name: "kdd-8000", set: "kdd99", batch: 8000, labels: 9, repetitions: 1, looks: 4 },
];

/// Batches of a `--quick` run.
const FEW: usize = 12;

/// The data of one plan after the other; the last is kept, and what is not at hand is passed over.
#[derive(Default)]
pub(super) struct Shelf(Option<(&'static str, Set)>);

impl Shelf {
    /// The stream of a repetition, cut to `most` batches (0 is all); `None` if its data are missing.
    pub(super) fn stream(
        &mut self,
        bench: &Bench<'_>,
        plan: &Plan,
        repetition: usize,
        most: usize,
    ) -> Result<Option<Stream>> {
        if self.0.as_ref().is_none_or(|(name, _)| *name != plan.set) {
            self.0 = match Set::open(plan.set, &bench.options.folder) {
                Err(Failure::Missing { .. }) => return Ok(None),
                set => Some((plan.set, set?)),
            };
        }
        let Some((_, set)) = &self.0 else { return Ok(None) };
        let batches = if bench.options.quick { FEW } else { most };
        Stream::of(set, (plan.batch, batches, plan.labels), &mut generator(bench, repetition)).map(Some)
    }
}

/// How often a plan is repeated.
pub(super) fn repetitions(bench: &Bench<'_>, plan: &Plan) -> usize {
    let usual = if bench.options.quick { 1 } else { plan.repetitions };
    bench.options.repetitions.unwrap_or(usual).max(1)
}

/// What one walk gives, in percent but for seconds.
#[derive(Default)]
struct Found {
    all: Vec<f64>,
    late: Vec<f64>,
    behind: Vec<f64>,
    cost: Vec<f64>,
    dearest: f64,
    kept: f64,
    exemplars: Vec<f64>,
    seconds: Vec<f64>,
    /// Slope of seconds over batches and its error, of each walk.
    slopes: Vec<(f64, f64)>,
}

struct Line {
    name: &'static str,
    mode: Mode,
    remember: Remember,
    tolerance: f64,
    true_share: bool,
    labels_alone: bool,
}

const fn line(name: &'static str, mode: Mode, remember: Remember, tolerance: f64) -> Line {
    Line { name, mode, remember, tolerance, true_share: true, labels_alone: false }
}

static LINES: [Line; 8] = [
    line("incremental, tolerant", Mode::Incremental, Remember::Exemplars, 0.05),
    line("incremental, strict", Mode::Incremental, Remember::Exemplars, 0.0),
    line("online, tolerant", Mode::Online, Remember::Exemplars, 0.05),
    line("online, strict", Mode::Online, Remember::Exemplars, 0.0),
    line("incremental, random rows", Mode::Incremental, Remember::Random, 0.05),
    line("incremental, last batch alone", Mode::Incremental, Remember::Nothing, 0.0),
    Line {
        labels_alone: true,
        ..line("incremental, labels alone (ρ = 0)", Mode::Incremental, Remember::Nothing, 0.0)
    },
    Line {
        true_share: false,
        ..line("incremental, tolerant, share of labels", Mode::Incremental, Remember::Exemplars, 0.05)
    },
];

impl Line {
    fn way(&self, params: &TransductionParams, seed: u64) -> Way {
        let rho = if self.labels_alone { 0.0 } else { params.rho };
        let params =
            TransductionParams { remember: self.remember, tolerance: self.tolerance, rho, ..params.clone() };
        Way { mode: self.mode, params, true_share: self.true_share, ask: None, seed }
    }
}

/// Batches of the last half at which batch learning is looked at.
fn looked_at(batches: usize, looks: usize) -> Vec<usize> {
    let (first, looks) = (batches / 2, looks.min(batches - batches / 2).max(1));
    (1..=looks).map(|k| first + (batches - first) * k / looks - 1).collect()
}

fn percent(steps: &[Step], truth: &[u32]) -> Vec<f64> {
    steps.iter().filter_map(|s| s.accuracy(truth)).map(|a| 100.0 * a).collect()
}

impl Found {
    fn add(&mut self, stream: &Stream, steps: &[Step], reference: &[(usize, f64)]) {
        let half = &steps[steps.len() / 2..];
        self.all.push(mean(&percent(steps, &stream.truth)));
        self.late.push(mean(&percent(half, &stream.truth)));
        let behind =
            reference.iter().filter_map(|(t, r)| Some(100.0 * steps[*t].accuracy(&stream.truth)? - r));
        self.behind.push(mean(&behind.collect::<Vec<_>>()));
        let costs: Vec<f64> = steps.iter().map(|s| 100.0 * s.cost).collect();
        self.dearest = costs.iter().copied().fold(self.dearest, f64::max);
        self.cost.push(mean(&costs));
        self.kept = steps.iter().map(|s| s.kept).fold(self.kept, f64::max);
        self.exemplars.push(half.iter().map(|s| s.exemplars as f64).sum::<f64>() / half.len() as f64);
        let seconds: Vec<f64> = half.iter().map(|s| s.seconds).collect();
        self.seconds.push(mean(&seconds));
        self.slopes.push(slope(&seconds));
    }

    /// Mean slope of the walks and its error, as change over the batches in parts of the mean.
    fn growth(&self, batches: usize) -> (f64, f64) {
        let (n, unit) =
            (self.slopes.len() as f64, (batches - batches / 2) as f64 / mean(&self.seconds).max(1e-12));
        let along = self.slopes.iter().map(|s| s.0).sum::<f64>() / n;
        let error = self.slopes.iter().map(|s| s.1 * s.1).sum::<f64>().sqrt() / n;
        (100.0 * along * unit, 100.0 * error * unit)
    }
}

/// The ways of a plan. Those that label a batch up to ten times are left out where that takes many minutes, unless `--slow`
/// asks for them.
fn ways(bench: &Bench<'_>, plan: &Plan) -> Vec<&'static Line> {
    let long = plan.set == "kdd99" && plan.batch < 8000 && !bench.options.slow && !bench.options.quick;
    LINES.iter().filter(|l| !long || l.remember != Remember::Exemplars || l.tolerance > 0.0).collect()
}

/// The claim.
pub(crate) fn streams(bench: &Bench<'_>) -> Result<String> {
    let params = params(bench)?;
    let mut out = format!(
        "Accuracy in percent of the rows of each batch, mean of the batches; ρ = {}. *Behind*: difference to batch learning with \
         the same labels and share, at the batches of the last half at which that was looked at. *Cost*: labels of the batch that \
         the summary would change. *Kept*: most samples held at once, in batches. *Growth*: slope of the processor time of a batch \
         in the last half, as change from its begin to its end, with its standard error.\n",
        params.rho
    );
    let mut shelf = Shelf::default();
    for plan in PLANS.iter().filter(|p| wanted(bench, p.name)) {
        out.push_str(&stream(bench, plan, &params, &mut shelf)?);
    }
    Ok(out)
}

fn stream(bench: &Bench<'_>, plan: &Plan, params: &TransductionParams, shelf: &mut Shelf) -> Result<String> {
    let mut whole = Found::default();
    let mut found: Vec<(&Line, Found)> =
        ways(bench, plan).into_iter().map(|l| (l, Found::default())).collect();
    let (mut batches, mut share) = (0, 0.0);
    let count = repetitions(bench, plan);
    for repetition in 0..count {
        let Some(stream) = shelf.stream(bench, plan, repetition, 0)? else {
            return Ok(format!("\n### {}\n\nThe data are missing.\n", plan.name));
        };
        (batches, share) = (stream.batches(), stream.shares()[1]);
        let at = looked_at(batches, plan.looks);
        let mut references = Vec::new();
        for true_share in [true, false] {
            let way = Way { true_share, ..LINES[0].way(params, repetition as u64) };
            let steps = all_at_once(&stream, &way, &at)?;
            let rates =
                at.iter().zip(&steps).filter_map(|(t, s)| Some((*t, 100.0 * s.accuracy(&stream.truth)?)));
            references.push(rates.collect::<Vec<_>>());
            if true_share {
                whole.late.push(mean(&percent(&steps, &stream.truth)));
                whole.seconds.push(mean(&steps.iter().map(|s| s.seconds).collect::<Vec<_>>()));
            }
        }
        for (line, found) in &mut found {
            let steps = walk(&stream, &line.way(params, repetition as u64))?;
            found.add(&stream, &steps, &references[usize::from(!line.true_share)]);
            bench.say(&format!(
                "{} {}/{count} {}: {:.2}",
                plan.name,
                repetition + 1,
                line.name,
                mean(&found.late)
            ));
        }
    }
    let head = format!(
        "\n### {}\n\n{batches} batches of {}, {} labels, {:.1} % positive, {count} orders and placements; batch learning at {} of \
         the last {} batches: {} %, {:.3} s a batch.\n\n",
        plan.name,
        plan.batch,
        plan.labels,
        100.0 * share,
        looked_at(batches, plan.looks).len(),
        batches - batches / 2,
        spread(&whole.late, 2),
        mean(&whole.seconds)
    );
    Ok(head + &table(&found, batches) + &verdict(&found, batches))
}

fn table(found: &[(&Line, Found)], batches: usize) -> String {
    let mut out = String::from(
        "| | all | last half | behind | cost mean | cost most | kept | exemplars | s a batch | growth % |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (line, f) in found {
        let (along, error) = f.growth(batches);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.0} | {:.4} | {along:+.1} ± {error:.1} |",
            line.name,
            spread(&f.all, 2),
            spread(&f.late, 2),
            spread(&f.behind, 2),
            mean(&f.cost),
            f.dearest,
            f.kept,
            mean(&f.exemplars),
            mean(&f.seconds)
        );
    }
    out
}

/// What the text of the source says, for the ways it says it of.
fn verdict(found: &[(&Line, Found)], batches: usize) -> String {
    let names = |holds: &dyn Fn(&Found) -> bool| {
        let ours = found.iter().filter(|(l, _)| l.remember == Remember::Exemplars && l.true_share);
        let told = ours.map(|(l, f)| (l.name, holds(f)));
        let failing: Vec<&str> = told.filter(|(_, holds)| !holds).map(|(name, _)| name).collect();
        if failing.is_empty() { "holds".to_string() } else { format!("not for {}", failing.join("; ")) }
    };
    format!(
        "\n- Within 2 points of batch learning: {}.\n- Mean cost of summarising at most 5 %: {}; never more: {}.\n- At most 3 \
         batches kept: {}.\n- Time a batch flat (growth within 2 standard errors): {}.\n",
        names(&|f| mean(&f.behind) >= -2.0),
        names(&|f| mean(&f.cost) <= 5.0),
        names(&|f| f.dearest <= 5.0),
        names(&|f| f.kept <= 3.0),
        names(&|f| {
            let (along, error) = f.growth(batches);
            along.abs() <= 2.0 * error
        })
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_learning_is_looked_at_in_the_last_half_and_at_the_end() {
        assert_eq!(looked_at(10, 2), [6, 9]);
        assert_eq!(looked_at(10, 99), [5, 6, 7, 8, 9]);
        let at = looked_at(247, 6);
        assert!(at[0] >= 123 && at[5] == 246 && at.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn growth_is_the_change_over_the_last_half() {
        // 2 s at its begin, 3 s at its end, in 11 batches
        let found = Found { seconds: vec![2.5], slopes: vec![(0.1, 0.01)], ..Found::default() };
        let (along, error) = found.growth(20);
        assert!((along - 40.0).abs() < 1e-9 && (error - 4.0).abs() < 1e-9);
    }
}
