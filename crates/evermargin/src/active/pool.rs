//! Small random pools: their best sample is among the best of all with a probability that does not depend on the number
//! of samples.

use crate::error::{Error, Result};
use rand::RngExt;
use rand_pcg::Pcg64;

/// Default number of samples in a small pool: [`pool_size`] for p = 5 % and η = 5 %.
pub const POOL: usize = 59;

/// Number of samples that a pool needs so that, with probability 1 − `eta`, its best sample is among the best fraction
/// `p` of all: ⌈ln η / ln(1 − p)⌉, which is 59 for 5 % and 5 %.
pub fn pool_size(p: f64, eta: f64) -> Result<usize> {
    for (name, value) in [("p", p), ("eta", eta)] {
        if !(value > 0.0 && value < 1.0) {
            return Err(Error::parameter(name, value, "between 0 and 1"));
        }
    }
    Ok((eta.ln() / (-p).ln_1p()).ceil().max(1.0) as usize)
}

/// Draws a pool of `size` samples without replacement to the front of `left`; with size 0 the pool is all of them, in
/// their order. Returns the size of the pool.
pub fn draw_pool(left: &mut [usize], size: usize, rng: &mut Pcg64) -> usize {
    if size == 0 {
        return left.len();
    }
    let size = size.min(left.len());
    for k in 0..size {
        let other = rng.random_range(k..left.len());
        left.swap(k, other);
    }
    size
}

/// Draws a pool and removes the sample with the smallest `near` value from `left`, ties to the lower number; `None` if
/// `left` is empty.
pub fn take_nearest(left: &mut Vec<usize>, size: usize, near: &[f64], rng: &mut Pcg64) -> Option<usize> {
    let size = draw_pool(left, size, rng);
    let better =
        |a: &usize, b: &usize| near[left[*a]].total_cmp(&near[left[*b]]).then(left[*a].cmp(&left[*b]));
    let best = (0..size).min_by(better)?;
    Some(left.swap_remove(best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The best of 59 is among the best 5 % in at least 95 % of the pools.
    #[test]
    fn best_of_a_small_pool_is_among_the_best_5_percent() {
        assert_eq!(pool_size(0.05, 0.05).unwrap(), POOL);
        assert!(pool_size(0.0, 0.5).is_err() && pool_size(0.5, 1.0).is_err());
        let mut rng = Pcg64::seed_from_u64(7);
        for n in [100, 1000, 20_000] {
            let near: Vec<f64> = (0..n).map(|i| ((i * 7919) % n) as f64).collect();
            let (trials, mut hits, mut left) = (4000, 0, (0..n).collect::<Vec<usize>>());
            for _ in 0..trials {
                let taken = take_nearest(&mut left, POOL, &near, &mut rng).unwrap();
                hits += u32::from(near[taken] < 0.05 * n as f64);
                left.push(taken);
            }
            let deviation = (0.95f64 * 0.05 / f64::from(trials)).sqrt();
            assert!(f64::from(hits) / f64::from(trials) >= 0.95 - 3.0 * deviation, "{n}: {hits}");
        }
    }

    #[test]
    fn draw_pool_permutes_without_replacement() {
        let mut rng = Pcg64::seed_from_u64(1);
        for size in [0, 1, 5, 40, 41, 1000] {
            let mut left: Vec<usize> = (0..40).rev().collect();
            let drawn = draw_pool(&mut left, size, &mut rng);
            assert_eq!(drawn, if size == 0 { 40 } else { size.min(40) });
            left.sort_unstable();
            assert_eq!(left, (0..40).collect::<Vec<_>>());
        }
        assert_eq!(take_nearest(&mut Vec::new(), 5, &[], &mut rng), None);
    }

    /// A pool of all samples gives the result of a full search.
    #[test]
    fn a_pool_of_all_samples_equals_a_full_search() {
        let near: Vec<f64> = (0..50).map(|i| f64::from((i * 17) % 23)).collect();
        let mut full: Vec<usize> = (0..50).collect();
        full.sort_by(|&a, &b| near[a].total_cmp(&near[b]).then(a.cmp(&b)));
        for size in [0, 50, 99] {
            let (mut left, mut rng) = ((0..50).collect::<Vec<usize>>(), Pcg64::seed_from_u64(3));
            let taken: Vec<usize> =
                std::iter::from_fn(|| take_nearest(&mut left, size, &near, &mut rng)).collect();
            assert_eq!(taken, full);
        }
    }
}
