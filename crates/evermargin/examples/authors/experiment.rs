//! From blocks of records to scores: parameters are chosen on the training names, scores computed on the test names.

use crate::dbscan::{Clusters, dbscan};
use crate::distance::{Distance, Training};
use crate::records::Record;
use crate::score::{Scores, b_cubed, pairwise, same};
use crate::similarity::{Profiler, pairs};
use evermargin::metrics::{Criterion, best_threshold};
use evermargin::{Matrix, Result};
use std::time::Instant;

/// The records of one ambiguous name and the features of their pairs.
#[derive(Debug, Clone)]
pub struct Block {
    /// The name.
    pub name: String,
    /// The true author of each record.
    pub truth: Vec<usize>,
    /// Features of all pairs, in the order (0,1), (0,2), …, (1,2), …
    pub pairs: Matrix,
}

impl Block {
    /// Compares all records of a block.
    pub fn new(name: &str, records: &[Record], profiler: &Profiler) -> Result<Self> {
        let profiles: Vec<_> = records.iter().map(|r| profiler.profile(r)).collect();
        let truth = records.iter().map(|r| r.author).collect();
        Ok(Self { name: name.into(), truth, pairs: pairs(&profiles)? })
    }
}

/// Parameters chosen on the training names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Similarity above which a pair counts as the same author (before clustering).
    pub cut: f64,
    /// Radius of DBSCAN.
    pub eps: f64,
    /// Number of neighbors, including the record itself, that makes a record a core record.
    pub min_points: usize,
    /// Mean B-cubed F1 of the clusters of the training names.
    pub f1: f64,
}

/// A distance with its chosen parameters.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// The distance.
    pub distance: Distance,
    /// The choices.
    pub choice: Choice,
}

/// Result of a distance on the test names.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Scores of each block.
    pub scores: Vec<Scores>,
    /// Seconds to compute the similarities of all pairs, for each block.
    pub seconds: Vec<f64>,
}

/// The distance matrix of a block from the similarities of its pairs.
fn distance_matrix(distance: &Distance, similarity: &[f64], n: usize) -> Vec<f64> {
    let mut square = vec![0.0; n * n];
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    for ((i, j), similarity) in pairs.zip(similarity) {
        let d = distance.of(*similarity);
        (square[i * n + j], square[j * n + i]) = (d, d);
    }
    square
}

fn cluster(square: &[f64], n: usize, eps: f64, min_points: usize) -> Clusters {
    dbscan(n, eps, min_points, |i, j| square[i * n + j])
}

/// Radius and minimum number of points with the best B-cubed F1 over blocks, given the similarities of their pairs.
fn choose(distance: &Distance, blocks: &[&Block], similarity: &[Vec<f64>], cut: f64) -> Choice {
    let squares: Vec<Vec<f64>> =
        blocks.iter().zip(similarity).map(|(b, a)| distance_matrix(distance, a, b.truth.len())).collect();
    let mut best = Choice { cut, eps: 0.0, min_points: 2, f1: f64::NEG_INFINITY };
    for min_points in 2..=4 {
        for eps in (1..50).map(|i| f64::from(i) * 0.02) {
            let f1 = |(square, block): (&Vec<f64>, &&Block)| {
                let n = block.truth.len();
                b_cubed(&block.truth, &cluster(square, n, eps, min_points).label)
            };
            let f1 = squares.iter().zip(blocks).map(f1).sum::<f64>() / blocks.len().max(1) as f64;
            if f1 > best.f1 {
                best = Choice { eps, min_points, f1, ..best };
            }
        }
    }
    best
}

/// A similarity, with the threshold and the clustering that are best on the training names.
pub fn tune_similarity(distance: Distance, train: &[&Block]) -> Result<Tuned> {
    let similarity = train.iter().map(|b| distance.similarity(b.pairs.view())).collect::<Result<Vec<_>>>()?;
    let truth: Vec<bool> = train.iter().flat_map(|b| same(&b.truth)).collect();
    let cut = best_threshold(&similarity.concat(), &truth, &[], Criterion::F1).map_or(1.0, |t| t.value);
    let choice = choose(&distance, train, &similarity, cut);
    Ok(Tuned { distance, choice })
}

/// A learned distance. The clustering for each training name is chosen with a distance learned from the other names,
/// because pairs of a name used in training would look better than those of new names.
pub fn learned(training: Training, train: &[&Block], seed: u64) -> Result<Tuned> {
    let mut similarity = Vec::new();
    for held in 0..train.len() {
        let others: Vec<&Block> =
            train.iter().enumerate().filter(|(i, _)| *i != held).map(|(_, b)| *b).collect();
        similarity.push(learn(training, &others, seed)?.similarity(train[held].pairs.view())?);
    }
    let distance = learn(training, train, seed)?;
    let choice = choose(&distance, train, &similarity, 0.0);
    Ok(Tuned { distance, choice })
}

/// Trains on all pairs of all blocks.
fn learn(training: Training, blocks: &[&Block], seed: u64) -> Result<Distance> {
    let mut x = Matrix::empty(crate::similarity::FEATURES, false);
    for block in blocks {
        (0..block.pairs.rows()).for_each(|i| x.push(block.pairs.view().row(i)));
    }
    let truth: Vec<bool> = blocks.iter().flat_map(|b| same(&b.truth)).collect();
    Distance::learn(training, x, &truth, seed)
}

/// Predictions for blocks, scored.
pub fn evaluate(tuned: &Tuned, blocks: &[&Block]) -> Result<Outcome> {
    let (mut scores, mut seconds) = (Vec::new(), Vec::new());
    for block in blocks {
        let started = Instant::now();
        let similarity = tuned.distance.similarity(block.pairs.view())?;
        seconds.push(started.elapsed().as_secs_f64());
        scores.push(score(tuned, block, &similarity));
    }
    Ok(Outcome { scores, seconds })
}

fn score(tuned: &Tuned, block: &Block, similarity: &[f64]) -> Scores {
    let (n, choice, truth) = (block.truth.len(), tuned.choice, same(&block.truth));
    let predicted: Vec<bool> = similarity.iter().map(|a| *a > choice.cut).collect();
    let (error, f1) = pairwise(&truth, &predicted);
    let found = cluster(&distance_matrix(&tuned.distance, similarity, n), n, choice.eps, choice.min_points);
    let (_, cluster_f1) = pairwise(&truth, &same(&found.label));
    Scores { error, f1, cluster_f1, b_cubed: b_cubed(&block.truth, &found.label) }
}

/// The tuned distance with the best clusters on the training names.
pub fn best(all: &[Tuned]) -> Option<usize> {
    (0..all.len()).reduce(|a, b| if all[b].choice.f1 > all[a].choice.f1 { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Learned;
    use crate::records::{blocks, generate};
    use crate::similarity::SIMILARITIES;
    use crate::{TRAIN, split};
    use evermargin::active::StopRule;

    fn instance() -> Vec<Block> {
        let records = generate(0.12, 1);
        let profiler = Profiler::new(&records);
        let blocks = blocks(records);
        blocks.iter().map(|(name, records)| Block::new(name, records, &profiler).unwrap()).collect()
    }

    #[test]
    fn the_learned_distance_beats_the_best_similarity() {
        let all = instance();
        let (train, test) = split(&all);
        assert_eq!((train.len(), test.len()), (TRAIN.len(), 7));
        let singles: Vec<Tuned> =
            (0..SIMILARITIES).map(|i| tune_similarity(Distance::One(i), &train).unwrap()).collect();
        let single = evaluate(&singles[best(&singles).unwrap()], &test).unwrap();
        let single = Scores::mean(&single.scores);
        for training in [Training::Batch, Training::Active(StopRule::Margin)] {
            let learned =
                Scores::mean(&evaluate(&learned(training, &train, 1).unwrap(), &test).unwrap().scores);
            assert!(learned.f1 > single.f1 + 0.05, "{training:?}: {learned:?} {single:?}");
            assert!(learned.error < single.error, "{training:?}: {learned:?} {single:?}");
        }
    }

    #[test]
    fn active_learning_needs_fewer_labels_and_support_vectors_than_batch() {
        let all = instance();
        let (train, _) = split(&all);
        let active = learn(Training::Active(StopRule::Margin), &train, 1).unwrap();
        let batch = learn(Training::Batch, &train, 1).unwrap();
        let (active, batch) = (active.learned().unwrap(), batch.learned().unwrap());
        assert_eq!(batch.labels, train.iter().map(|b| b.pairs.rows()).sum::<usize>());
        assert!(3 * active.labels < batch.labels, "{} {}", active.labels, batch.labels);
        let count = |l: &Learned| l.classifier.model.support_count();
        assert!(count(active) < count(batch), "{} {}", count(active), count(batch));
        assert_eq!(active.stop_reason, "no sample is left within the margin");
    }

    #[test]
    fn learned_distances_are_symmetric_and_between_0_and_1() {
        let all = instance();
        let (train, test) = split(&all);
        let distance = learn(Training::Batch, &train, 1).unwrap();
        let similarity = distance.similarity(test[0].pairs.view()).unwrap();
        assert!(similarity.iter().map(|a| distance.of(*a)).all(|d| d > 0.0 && d < 1.0));
        assert_eq!(distance.of(0.0), 0.5);
        assert!(distance.of(1.0) < 0.5 && distance.of(-1.0) > 0.5);
        assert_eq!((distance.of(-1e4), distance.of(1e4)), (1.0, 0.0));
    }
}
