//! Emara's streams: batches with few labels, labeled by what is remembered of the batches before (Emara 2012, chapters IV
//! and V).
//!
//! [`Stream`] is a data set in random order, cut into batches, a few rows of which carry a label. The engine of `evermargin run`
//! goes along it ([`engine_walk`]) with the defaults of the command line and what a figure is about; [`walk`](mod@walk) is the
//! transduction of the library alone. The claims: [`memory`] (figures IV.19 to IV.35), [`pairs`] (IV.13 to IV.16), [`asking`]
//! (V.2 to V.4). The figures are pictures without numbers, so what the text says of them is judged.
//!
//! Left open by the source and chosen here: the order (random), where labels fall (uniformly at random, anew until both
//! classes have one), κ (2ρl/n of each pool), which share of positives is "true" (that of the whole stream).

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

/// Rows in the order in which they come.
#[derive(Debug, Clone)]
struct Stream {
    x: Matrix,
    /// The class of every row, 0 or 1.
    truth: Vec<u32>,
    /// Rows whose label comes with the stream.
    told: Vec<bool>,
    /// Rows of a batch.
    batch: usize,
}

impl Stream {
    /// The first `batches` batches of a data set in random order, `labels` of their rows with a label; 0 is all batches. Rows
    /// that fill no batch are left out.
    fn of(set: &data::Set, (batch, batches, labels): (usize, usize, usize), rng: &mut Pcg64) -> Result<Self> {
        let mut order: Vec<usize> = (0..set.truth.len()).collect();
        order.shuffle(rng);
        let most = set.truth.len() / batch.max(1);
        let count = if batches == 0 { most } else { batches.min(most) };
        order.truncate(count * batch);
        let truth: Vec<u32> = order.iter().map(|&i| set.truth[i]).collect();
        let told = place(&truth, labels, rng)?;
        Ok(Self { x: set.x.view().select(&order), truth, told, batch })
    }

    /// Number of batches.
    fn batches(&self) -> usize {
        self.truth.len() / self.batch
    }

    fn rows(&self, t: usize) -> Range<usize> {
        t * self.batch..(t + 1) * self.batch
    }

    /// The rows of a batch that come with a label, and those that do not.
    fn parts(&self, t: usize) -> (Vec<usize>, Vec<usize>) {
        self.rows(t).partition(|&i| self.told[i])
    }

    /// The share of each class.
    fn shares(&self) -> [f64; 2] {
        let positive = self.truth.iter().map(|c| f64::from(*c)).sum::<f64>() / self.truth.len().max(1) as f64;
        [1.0 - positive, positive]
    }
}

/// Marks `labels` rows uniformly at random, drawn again until both classes have one.
fn place(truth: &[u32], labels: usize, rng: &mut Pcg64) -> Result<Vec<bool>> {
    let both = truth.contains(&0) && truth.contains(&1);
    if !both || labels < 2 || labels > truth.len() {
        return Err(Failure::Content(format!(
            "{labels} labels cannot show both classes of {} rows",
            truth.len()
        )));
    }
    let mut order: Vec<usize> = (0..truth.len()).collect();
    loop {
        let (drawn, _) = order.partial_shuffle(rng, labels);
        if drawn.iter().any(|&i| truth[i] == 0) && drawn.iter().any(|&i| truth[i] == 1) {
            let mut told = vec![false; truth.len()];
            drawn.iter().for_each(|&i| told[i] = true);
            return Ok(told);
        }
    }
}

/// The search of `evermargin run`, rows that left memory counting as five batches (the defaults of the product otherwise), and
/// what `--set` says.
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

/// Whether a data set is asked for.
fn wanted(bench: &Bench<'_>, name: &str) -> bool {
    let sets = &bench.options.data_sets;
    sets.is_empty() || sets.iter().any(|s| s.eq_ignore_ascii_case(name))
}

/// The generator of a repetition.
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
    fn a_stream_has_every_row_once_and_its_labels() {
        let mut rng = Pcg64::seed_from_u64(4);
        let stream = Stream::of(&set(105), (10, 0, 7), &mut rng).unwrap();
        assert_eq!((stream.batches(), stream.x.rows()), (10, 100));
        let mut seen = Vec::new();
        for t in 0..stream.batches() {
            let (told, rest) = stream.parts(t);
            assert_eq!(told.len() + rest.len(), 10);
            stream
                .rows(t)
                .for_each(|i| stream.x.view().row(i).for_each(|_, v| seen.push((v as u32, stream.truth[i]))));
        }
        assert!(seen.iter().all(|(v, c)| *c == u32::from(v % 3 == 0)), "classes go with their rows");
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() >= 99, "only the row of zero shows no value");
        assert_eq!(stream.told.iter().filter(|t| **t).count(), 7);
        let positive = stream.truth.iter().filter(|c| **c == 1).count() as f64 / 100.0;
        assert!((stream.shares()[1] - positive).abs() < 1e-12);
    }

    /// Every row gets a label equally often: 2000 draws of 5 of 50 give each 200 ± 13.4.
    #[test]
    fn labels_fall_uniformly_and_show_both_classes() {
        let truth: Vec<u32> = (0..50).map(|i| u32::from(i < 25)).collect();
        let mut rng = Pcg64::seed_from_u64(9);
        let mut counts = vec![0u32; 50];
        for _ in 0..2000 {
            let told = place(&truth, 5, &mut rng).unwrap();
            assert_eq!(told.iter().filter(|t| **t).count(), 5);
            assert!((0..2).all(|c| (0..50).any(|i| told[i] && truth[i] == c)));
            counts.iter_mut().zip(&told).for_each(|(n, t)| *n += u32::from(*t));
        }
        assert!(counts.iter().all(|n| (140..=260).contains(n)), "{counts:?}");
        assert!(place(&[1; 20], 5, &mut rng).is_err());
        assert!(place(&truth, 1, &mut rng).is_err());
    }
}
