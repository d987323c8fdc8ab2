//! Streams of Emara (2012), chapters IV and V: batches with few labels, labeled with stored samples of earlier batches.
//!
//! [`Stream`] is a data set in random order, divided into batches, with a few labeled rows. [`engine_walk`] runs the engine of
//! `evermargin run` on it, with the defaults of the command line except for the settings that a figure compares;
//! [`walk`](mod@walk) runs only the transduction of the library. Statements: [`memory`] (figures IV.19 to IV.35), [`pairs`] (IV.13
//! to IV.16), [`asking`] (V.2 to V.4). The figures have no numbers, so the statements of the text are judged.
//!
//! The source leaves open, and is chosen here: the order of rows (random), the labeled rows (uniformly at random, redrawn until both
//! classes have one), κ (2ρl/n of each pool), and the "true" share of positives (that of the whole stream).

pub(crate) mod asking;
pub(crate) mod curves;
mod data;
mod engine_walk;
mod growth;
pub(crate) mod memory;
pub(crate) mod pairs;
mod shelf;
mod walk;

use crate::failure::{Failure, Result};
use crate::run::Bench;
use evermargin::Matrix;
use evermargin::engine::transduction::TransductionParams;
use evermargin::estimators::transductive::submod::Variant;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::ops::Range;

/// Rows in the order of their arrival.
#[derive(Debug, Clone)]
struct Stream {
    x: Matrix,
    /// Class of each row, 0 or 1.
    truth: Vec<u32>,
    /// Whether the label of each row is given.
    labeled: Vec<bool>,
    /// Number of rows per batch.
    batch: usize,
}

impl Stream {
    /// The first `batches` batches (0 is all) of a data set in random order, with `labels` labeled rows. Rows of an incomplete last
    /// batch are dropped.
    fn of(set: &data::Set, (batch, batches, labels): (usize, usize, usize), rng: &mut Pcg64) -> Result<Self> {
        let mut order: Vec<usize> = (0..set.truth.len()).collect();
        order.shuffle(rng);
        let most = set.truth.len() / batch.max(1);
        let count = if batches == 0 { most } else { batches.min(most) };
        order.truncate(count * batch);
        let truth: Vec<u32> = order.iter().map(|&i| set.truth[i]).collect();
        let labeled = place(&truth, labels, rng)?;
        Ok(Self { x: set.x.view().select(&order), truth, labeled, batch })
    }

    /// Number of batches.
    fn batches(&self) -> usize {
        self.truth.len() / self.batch
    }

    fn rows(&self, t: usize) -> Range<usize> {
        t * self.batch..(t + 1) * self.batch
    }

    /// Labeled and unlabeled rows of a batch.
    fn parts(&self, t: usize) -> (Vec<usize>, Vec<usize>) {
        self.rows(t).partition(|&i| self.labeled[i])
    }

    /// Share of each class.
    fn shares(&self) -> [f64; 2] {
        let positive = self.truth.iter().map(|c| f64::from(*c)).sum::<f64>() / self.truth.len().max(1) as f64;
        [1.0 - positive, positive]
    }
}

/// Selects `labels` rows uniformly at random, redrawn until both classes have one.
fn place(truth: &[u32], labels: usize, rng: &mut Pcg64) -> Result<Vec<bool>> {
    let both = truth.contains(&0) && truth.contains(&1);
    if !both || labels < 2 || labels > truth.len() {
        return Err(Failure::Content(format!(
            "{labels} labels cannot contain both classes of {} rows",
            truth.len()
        )));
    }
    let mut order: Vec<usize> = (0..truth.len()).collect();
    loop {
        let (drawn, _) = order.partial_shuffle(rng, labels);
        if drawn.iter().any(|&i| truth[i] == 0) && drawn.iter().any(|&i| truth[i] == 1) {
            let mut labeled = vec![false; truth.len()];
            drawn.iter().for_each(|&i| labeled[i] = true);
            return Ok(labeled);
        }
    }
}

/// Parameters of the transduction: the search of `evermargin run`, evicted rows with the weight of five batches, other defaults of the
/// product, and parameters from `--set`.
fn params(bench: &Bench<'_>) -> Result<TransductionParams> {
    let bad = |e: serde_json::Error| Failure::Unknown(format!("--set: {e}"));
    let params =
        TransductionParams { variant: Variant::Swift, evicted_weight: 5.0, ..TransductionParams::default() };
    let mut value = serde_json::to_value(params).map_err(bad)?;
    if let Some(fields) = value.as_object_mut() {
        fields.extend(bench.options.set.clone());
    }
    serde_json::from_value(value).map_err(bad)
}

/// Whether a data set is requested.
fn wanted(bench: &Bench<'_>, name: &str) -> bool {
    let sets = &bench.options.data_sets;
    sets.is_empty() || sets.iter().any(|s| s.eq_ignore_ascii_case(name))
}

/// Random generator of a repetition.
fn generator(bench: &Bench<'_>, repetition: usize) -> Pcg64 {
    Pcg64::seed_from_u64(crate::run::seed_of(bench.options.seed, repetition))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(rows: usize) -> data::Set {
        let values = (0..rows).map(|i| i as f64).collect();
        let truth = (0..rows).map(|i| u32::from(i % 3 == 0)).collect();
        data::Set { x: Matrix::dense(values, rows, 1).unwrap(), truth }
    }

    #[test]
    fn stream_has_every_row_once_and_its_labels() {
        let mut rng = Pcg64::seed_from_u64(4);
        let stream = Stream::of(&set(105), (10, 0, 7), &mut rng).unwrap();
        assert_eq!((stream.batches(), stream.x.rows()), (10, 100));
        let mut seen = Vec::new();
        for t in 0..stream.batches() {
            let (labeled, rest) = stream.parts(t);
            assert_eq!(labeled.len() + rest.len(), 10);
            stream
                .rows(t)
                .for_each(|i| stream.x.view().row(i).for_each(|_, v| seen.push((v as u32, stream.truth[i]))));
        }
        assert!(seen.iter().all(|(v, c)| *c == u32::from(v % 3 == 0)), "classes go with their rows");
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() >= 99, "sparse iteration skips only the row of zero");
        assert_eq!(stream.labeled.iter().filter(|t| **t).count(), 7);
        let positive = stream.truth.iter().filter(|c| **c == 1).count() as f64 / 100.0;
        assert!((stream.shares()[1] - positive).abs() < 1e-12);
    }

    /// All rows are labeled equally often: with 2000 draws of 5 of 50 rows, each is drawn 200 ± 13.4 times.
    #[test]
    fn labeled_rows_are_uniform_and_contain_both_classes() {
        let truth: Vec<u32> = (0..50).map(|i| u32::from(i < 25)).collect();
        let mut rng = Pcg64::seed_from_u64(9);
        let mut counts = vec![0u32; 50];
        for _ in 0..2000 {
            let labeled = place(&truth, 5, &mut rng).unwrap();
            assert_eq!(labeled.iter().filter(|t| **t).count(), 5);
            assert!((0..2).all(|c| (0..50).any(|i| labeled[i] && truth[i] == c)));
            counts.iter_mut().zip(&labeled).for_each(|(n, t)| *n += u32::from(*t));
        }
        assert!(counts.iter().all(|n| (140..=260).contains(n)), "{counts:?}");
        assert!(place(&[1; 20], 5, &mut rng).is_err());
        assert!(place(&truth, 1, &mut rng).is_err());
    }
}
