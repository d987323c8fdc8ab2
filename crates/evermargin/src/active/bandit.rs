//! A bandit over query strategies.
//!
//! Problem: no query strategy is best on every stream. Each query is chosen by one of several strategies (the arms),
//! selected by the usefulness of their previous queries. Emara 2012 lists a bandit as future work; Hsu & Lin 2015
//! (ALBL) choose among strategies for a fixed pool.
//!
//! Reward. A query is useful if the prediction was wrong when it was asked, so that the label corrects a mistake. The
//! fraction of useful queries of the random arm estimates the error rate; an arm below it is worse than random. ALBL
//! rewards an arm with the importance-weighted accuracy of the classifier on the queried labels. On a stream with 10 to
//! 50 labels that estimate rests on the few labels drawn at random, because the weights of labels near the boundary are
//! close to 0; the differences between queries are then smaller than the noise of a single label.
//!
//! Method: Thompson sampling (Thompson 1933; Chapelle & Li 2011). An arm has counts of useful and other queries, which
//! start at a prior of [`PRIOR_QUESTIONS`] and fade by [`FADE`] with every answer to a query of the bandit, so that the
//! bandit follows changes of the stream. A value is drawn from the normal approximation of each arm's Beta
//! distribution, and the arm with the largest value is selected.
//!
//! Departure: the caller sets the prior mean of each arm, instead of 1/2 for all: close to the boundary half of the
//! predictions are expected to be wrong, and 10 labels are too few to learn that.

use crate::error::{Error, Result};
use rand::RngExt;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Number of queries that the prior of an arm is worth.
pub const PRIOR_QUESTIONS: f64 = 6.0;

/// Factor by which the weight of an answer decreases with every later answer.
pub const FADE: f64 = 0.99;

/// Maximum number of arms.
const MAX_ARMS: usize = 16;

/// Counts of one arm, without its prior.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    useful: f64,
    other: f64,
    /// Prior mean of the fraction of useful queries.
    prior: f64,
    /// Number of answered queries so far, without fading.
    pub answers: u64,
}

impl Arm {
    /// Posterior mean of the fraction of useful queries.
    pub fn usefulness(&self) -> f64 {
        (self.useful + PRIOR_QUESTIONS * self.prior) / self.questions()
    }

    fn questions(&self) -> f64 {
        self.useful + self.other + PRIOR_QUESTIONS
    }
}

/// Counts of all arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bandit {
    arms: Vec<Arm>,
}

impl Bandit {
    /// One arm per prior mean; returns an error for means outside (0, 1).
    pub fn new(priors: &[f64]) -> Result<Self> {
        let bandit = Self { arms: priors.iter().map(|&prior| Arm { prior, ..Default::default() }).collect() };
        bandit.check(priors.len())?;
        Ok(bandit)
    }

    /// The arms.
    pub fn arms(&self) -> &[Arm] {
        &self.arms
    }

    /// Selects the arm for the next query.
    pub fn draw(&self, rng: &mut Pcg64) -> usize {
        let mut best = (f64::NEG_INFINITY, 0);
        for (k, arm) in self.arms.iter().enumerate() {
            let mean = arm.usefulness();
            let deviation = (mean * (1.0 - mean) / (arm.questions() + 1.0)).max(0.0).sqrt();
            let value = mean + deviation * standard_normal(rng);
            if value > best.0 {
                best = (value, k);
            }
        }
        best.1
    }

    /// Records the answer to a query of an arm; ignored if the arm does not exist.
    pub fn record(&mut self, arm: usize, useful: bool) {
        if arm >= self.arms.len() {
            return;
        }
        for arm in &mut self.arms {
            (arm.useful, arm.other) = (FADE * arm.useful, FADE * arm.other);
        }
        let own = &mut self.arms[arm];
        own.answers = own.answers.saturating_add(1);
        *(if useful { &mut own.useful } else { &mut own.other }) += 1.0;
    }

    /// Returns an error for counts that no answers produce (a file may hold anything).
    pub fn check(&self, arms: usize) -> Result<()> {
        let max_count = 1.0 / (1.0 - FADE) + 1.0;
        let fits = |arm: &Arm| {
            (0.0..=max_count).contains(&arm.useful)
                && (0.0..=max_count).contains(&arm.other)
                && arm.prior > 0.0
                && arm.prior < 1.0
                && arm.answers <= 1 << 53
        };
        let fits = self.arms.len() == arms && (1..=MAX_ARMS).contains(&arms) && self.arms.iter().all(fits);
        if fits { Ok(()) } else { Err(Error::State("query bandit counts are out of range".into())) }
    }
}

/// A standard normal deviate (Box & Muller 1958).
fn standard_normal(rng: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Fraction of the draws of each arm over `steps` answers, where the queries of arm k are useful with probability
    /// `chance[k]`.
    fn draw_fractions(bandit: &mut Bandit, chance: &[f64], steps: usize, rng: &mut Pcg64) -> Vec<f64> {
        let mut drawn = vec![0.0; chance.len()];
        for _ in 0..steps {
            let arm = bandit.draw(rng);
            drawn[arm] += 1.0 / steps as f64;
            bandit.record(arm, rng.random::<f64>() < chance[arm]);
        }
        drawn
    }

    #[test]
    fn draws_the_best_arm_most_often_and_follows_a_change() {
        for seed in 0..10 {
            let mut rng = Pcg64::seed_from_u64(seed);
            let mut bandit = Bandit::new(&[0.3; 3]).unwrap();
            let before = draw_fractions(&mut bandit, &[0.1, 0.5, 0.2], 600, &mut rng);
            assert!(before[1] > 0.6, "{before:?}");
            draw_fractions(&mut bandit, &[0.6, 0.1, 0.2], 600, &mut rng);
            let after = draw_fractions(&mut bandit, &[0.6, 0.1, 0.2], 300, &mut rng);
            assert!(after[0] > 0.6, "{after:?}");
        }
    }

    #[test]
    fn reward_is_close_to_that_of_the_best_arm() {
        let (mut gained, steps, runs) = (0.0, 400, 40);
        let chance = [0.45, 0.1, 0.3, 0.2];
        for seed in 0..runs {
            let mut rng = Pcg64::seed_from_u64(100 + seed);
            let mut bandit = Bandit::new(&[0.3; 4]).unwrap();
            let drawn = draw_fractions(&mut bandit, &chance, steps, &mut rng);
            gained += drawn.iter().zip(chance).map(|(d, c)| d * c).sum::<f64>() / runs as f64;
        }
        // uniformly drawn arms gain 0.2625, the best arm alone 0.45
        assert!(gained > 0.38, "{gained}");
    }

    #[test]
    fn counts_are_bounded_and_draws_are_reproducible() {
        let mut bandit = Bandit::new(&[0.5, 0.2]).unwrap();
        (0..100_000).for_each(|k| bandit.record(k % 2, k % 3 == 0));
        bandit.check(2).unwrap();
        assert!(bandit.arms()[0].questions() < 100.0 + 1.0 + PRIOR_QUESTIONS);
        bandit.record(9, true);
        let draws = |seed| {
            let mut rng = Pcg64::seed_from_u64(seed);
            (0..50).map(|_| bandit.draw(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(draws(3), draws(3));
        assert!(Bandit::new(&[]).is_err() && Bandit::new(&[0.0]).is_err() && bandit.check(3).is_err());
    }
}
