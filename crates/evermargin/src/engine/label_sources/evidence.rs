//! Evaluation of label sources on held-out labels.

use super::{Pool, Source};
use crate::error::{Error, Result};
use crate::estimators::auto::{DEFAULT_SLOPE, largest, softmax};
use crate::solver::Watch;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Number of folds of the labels.
pub(super) const FOLDS: usize = 5;

/// Results of one source on held-out labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine) struct Evidence {
    pub(super) source: Source,
    pub(super) accuracy: Option<f64>,
    pub(super) held_out: u64,
    pub(super) correct: u64,
    pub(super) loss: f64,
    pub(super) slope: f64,
}

/// Held-out label: its class, its weight, and the scores that a source gave to its row.
struct HeldOut {
    class: usize,
    weight: f64,
    scores: Vec<f64>,
}

impl Pool<'_> {
    /// Compares the sources on held-out labels. Returns the evidence of each source that has usable scores, and the
    /// number of held-out labels, weighted by how well they represent the stream. A source that fails is omitted, and
    /// its error is passed to `failed`.
    pub(in crate::engine) fn compare(
        &mut self,
        seed: u64,
        failed: &dyn Fn(Error),
        watch: &dyn Watch,
    ) -> (Vec<Evidence>, f64) {
        let folds = self.deal(seed);
        self.share_kernel_values();
        let mut found = Vec::new();
        for source in self.sources() {
            let held = self.prepare(source, watch).and_then(|()| self.held_out(source, &folds, watch));
            match held {
                Ok(Some(held)) => found.push(evidence(source, &held)),
                Ok(None) => {}
                Err(error) => failed(error),
            }
        }
        let counted = folds.iter().flatten().map(|&i| self.weight[i]).sum();
        (found, counted)
    }

    /// Splits the labels into folds, class by class; a class with a single label keeps it.
    fn deal(&self, seed: u64) -> Vec<Vec<usize>> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut folds = vec![Vec::new(); FOLDS];
        let mut next = 0;
        for class in 0..self.present.len() {
            let mut own: Vec<usize> = (0..self.labels()).filter(|&i| self.class[i] == class).collect();
            own.shuffle(&mut rng);
            if own.len() > 1 {
                for i in own {
                    folds[next % FOLDS].push(i);
                    next += 1;
                }
            }
        }
        folds.retain(|fold| !fold.is_empty());
        folds
    }

    fn held_out(
        &self,
        source: Source,
        folds: &[Vec<usize>],
        watch: &dyn Watch,
    ) -> Result<Option<Vec<HeldOut>>> {
        let mut held = Vec::new();
        for fold in folds {
            let Some(raw) = self.scores(source, fold, watch)? else { return Ok(None) };
            let scores = self.standardized(source, &raw, fold);
            held.extend(fold.iter().map(|&i| HeldOut {
                class: self.class[i],
                weight: self.weight[i],
                scores: scores.row(i).to_vec(),
            }));
        }
        Ok(Some(held))
    }
}

/// Evidence with the slope that minimizes the log-loss under a weak prior.
fn evidence(source: Source, held: &[HeldOut]) -> Evidence {
    let n: f64 = held.iter().map(|h| h.weight).sum();
    let is_correct = |h: &&HeldOut| largest(&h.scores) == h.class;
    let (held_out, correct) = (held.len() as u64, held.iter().filter(is_correct).count() as u64);
    if n <= 0.0 {
        return Evidence { source, accuracy: None, held_out, correct, loss: 0.0, slope: DEFAULT_SLOPE };
    }
    let log_loss = |slope: f64| {
        held.iter().map(|h| -h.weight * softmax(&h.scores, slope)[h.class].max(1e-9).ln()).sum::<f64>() / n
    };
    let penalized = |slope: f64| log_loss(slope) + 0.5 * (slope / DEFAULT_SLOPE).ln().powi(2) / n.max(1.0);
    let slopes = (0..13).map(|k| 0.25 * 64f64.powf(f64::from(k) / 12.0));
    let (slope, _) = slopes
        .map(|slope| (slope, penalized(slope)))
        .fold((DEFAULT_SLOPE, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best });
    let right: f64 = held.iter().filter(is_correct).map(|h| h.weight).sum();
    let loss = log_loss(slope) + 1.0 - right / n;
    Evidence { source, accuracy: Some(right / n), held_out, correct, loss, slope }
}
