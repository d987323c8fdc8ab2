//! Author disambiguation with a learned distance: which "J. Smith" wrote this paper? (Ertekin 2009, section 3.4.)
//!
//!     cargo run --release -p evermargin --example authors [SCALE] [SEED]
//!
//! Generates records of ten ambiguous names (SCALE 1 gives the sizes of table 3.4 of the thesis), trains a support vector
//! machine for "same author" on pairs of records of three names, uses its decision values as a distance, and clusters the
//! records of the other seven names into authors with DBSCAN. See docs/entity-disambiguation.md.

mod dbscan;
mod distance;
mod experiment;
mod records;
mod score;
mod similarity;
mod soft_tfidf;
mod world;

use distance::{Distance, Learned, Training};
use evermargin::active::StopRule;
use evermargin::{Error, Result};
use experiment::{Block, Choice, Outcome, Tuned, best, evaluate, learned, tune_similarity};
use records::{NAMES, blocks, generate};
use score::{Scores, same};
use similarity::{Profiler, SIMILARITIES};
use std::str::FromStr;
use std::time::Instant;

/// Training names, as in the thesis (4, 5 and 9 of its table).
const TRAIN: [&str; 3] = ["D. Johnson", "J. Anderson", "M. Jones"];

/// Training blocks and test blocks.
fn split(blocks: &[Block]) -> (Vec<&Block>, Vec<&Block>) {
    blocks.iter().partition(|b| TRAIN.contains(&b.name.as_str()))
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let scale =
        parse(arguments.next(), "SCALE", 0.4, "a number from 0.02 to 4", |s| (0.02..=4.0).contains(s))?;
    let seed = parse(arguments.next(), "SEED", 1, "a whole number", |_| true)?;
    let blocks = compare(scale, seed)?;
    let (train, test) = split(&blocks);
    header();
    use_similarities(&train, &test)?;
    let study = Study { train, test, seed };
    let (_, batch) = study.row("svc, all pairs", Training::Batch)?;
    study.row("lasvm, all pairs", Training::Random(0))?;
    let (tuned, active) = study.row("lasvm, active, margin", Training::Active(StopRule::Margin))?;
    study.row("lasvm, random, as many labels", Training::Random(labels(&tuned)))?;
    let untuned = Tuned { choice: Choice { eps: 0.5, min_points: 2, ..tuned.choice }, ..tuned };
    row("lasvm, active, margin, eps not tuned", &untuned, &evaluate(&untuned, &study.test)?, None);
    let (tuned, _) = study.row("lasvm, active, plateau", Training::Active(StopRule::Plateau))?;
    study.row("lasvm, random, as many labels", Training::Random(labels(&tuned)))?;
    println!("\nThe first active learner stopped because {}.", stop_reason(&untuned));
    compare_names(&study.test, &batch, &active);
    Ok(())
}

/// Parses an argument as a number, or returns its default; returns an error for any other value.
fn parse<T: FromStr>(
    text: Option<String>,
    name: &'static str,
    default: T,
    allowed: &str,
    is_allowed: fn(&T) -> bool,
) -> Result<T> {
    let Some(text) = text else { return Ok(default) };
    text.parse().ok().filter(is_allowed).ok_or_else(|| Error::parameter(name, text, allowed))
}

/// Number of pair labels that were queried.
fn labels(tuned: &Tuned) -> usize {
    tuned.distance.learned().map_or(0, |l| l.labels)
}

fn stop_reason(tuned: &Tuned) -> &'static str {
    tuned.distance.learned().map_or("nothing was learned", |l| l.stop_reason)
}

/// Prints rows of distances that need no training, only a threshold.
fn use_similarities(train: &[&Block], test: &[&Block]) -> Result<()> {
    let singles = (0..SIMILARITIES)
        .map(|i| tune_similarity(Distance::One(i), train))
        .collect::<Result<Vec<Tuned>>>()?;
    for (i, tuned) in singles.iter().enumerate() {
        let mark = if Some(i) == best(&singles) { " (best)" } else { "" };
        row(&format!("{}{mark}", similarity::NAMES[i]), tuned, &evaluate(tuned, test)?, None);
    }
    let tuned = tune_similarity(Distance::Mean, train)?;
    row("mean", &tuned, &evaluate(&tuned, test)?, None);
    Ok(())
}

/// Generates records, blocks them and compares all pairs of each block.
fn compare(scale: f64, seed: u64) -> Result<Vec<Block>> {
    let records = generate(scale, seed);
    let (count, started) = (records.len(), Instant::now());
    let profiler = Profiler::new(&records);
    let compared = blocks(records)
        .iter()
        .map(|(name, records)| Block::new(name, records, &profiler))
        .collect::<Result<Vec<Block>>>()?;
    let seconds = started.elapsed().as_secs_f64();
    let pairs: usize = compared.iter().map(|b| b.pairs.rows()).sum();
    println!(
        "{count} records, {pairs} pairs within blocks of {}, compared in {seconds:.1} s",
        count * (count - 1) / 2
    );
    println!("\n| id | name | use | records | authors | pairs | same author |");
    println!("|---|---|---|---|---|---|---|");
    for name in &NAMES {
        let title = format!("{}. {}", name.initial, name.last);
        for block in compared.iter().filter(|b| b.name == title) {
            describe(name.id, block);
        }
    }
    Ok(compared)
}

fn describe(id: usize, block: &Block) {
    let mut authors = block.truth.clone();
    authors.sort_unstable();
    authors.dedup();
    let purpose = if TRAIN.contains(&block.name.as_str()) { "train" } else { "test" };
    let (pairs, same) = (block.pairs.rows(), same(&block.truth).iter().filter(|s| **s).count());
    println!(
        "| {id} | {} | {purpose} | {} | {} | {pairs} | {:.1} % |",
        block.name,
        block.truth.len(),
        authors.len(),
        100.0 * same as f64 / pairs.max(1) as f64
    );
}

/// Training names and test names.
struct Study<'a> {
    train: Vec<&'a Block>,
    test: Vec<&'a Block>,
    seed: u64,
}

impl Study<'_> {
    /// Trains a distance, applies it to the test names and prints its row.
    fn row(&self, name: &str, training: Training) -> Result<(Tuned, Outcome)> {
        let started = Instant::now();
        let tuned = learned(training, &self.train, self.seed)?;
        let seconds = started.elapsed().as_secs_f64();
        let outcome = evaluate(&tuned, &self.test)?;
        row(name, &tuned, &outcome, Some(seconds));
        Ok((tuned, outcome))
    }
}

fn header() {
    println!("\nTest names, mean of seven:\n");
    println!(
        "| distance | pair error % | pair F1 | cluster F1 | B-cubed F1 | eps | min points | support vectors | labels \
         | learn s | predict s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
}

fn row(name: &str, tuned: &Tuned, outcome: &Outcome, seconds: Option<f64>) {
    let Scores { error, f1, cluster_f1, b_cubed } = Scores::mean(&outcome.scores);
    let learned = tuned.distance.learned();
    let count = |of: fn(&Learned) -> usize| learned.map_or("–".to_string(), |l| of(l).to_string());
    println!(
        "| {name} | {:.2} | {f1:.3} | {cluster_f1:.3} | {b_cubed:.3} | {:.2} | {} | {} | {} | {} | {:.2} |",
        100.0 * error,
        tuned.choice.eps,
        tuned.choice.min_points,
        count(|l| l.classifier.model.support_count()),
        count(|l| l.labels),
        seconds.map_or("–".to_string(), |s| format!("{s:.1}")),
        outcome.seconds.iter().sum::<f64>(),
    );
}

/// Table 3.5 of the thesis: batch and active learning compared name by name.
fn compare_names(test: &[&Block], batch: &Outcome, active: &Outcome) {
    println!(
        "\n| name | svc error % | active error % | svc cluster F1 | active cluster F1 | svc predict s | active predict s |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (i, block) in test.iter().enumerate() {
        let (a, b) = (&batch.scores[i], &active.scores[i]);
        println!(
            "| {} | {:.2} | {:.2} | {:.3} | {:.3} | {:.2} | {:.2} |",
            block.name,
            100.0 * a.error,
            100.0 * b.error,
            a.cluster_f1,
            b.cluster_f1,
            batch.seconds[i],
            active.seconds[i]
        );
    }
}
