//! Bounds on the share of each class among the unlabeled rows, and the shifts of scores that enforce them.
//!
//! The labels are a sample of the classes. If they were drawn at random, the share of a class lies within the Wilson
//! interval of its count. If they were chosen, the interval is usually wide, because they are few, and has little
//! effect.

use super::{Scores, largest};
use crate::estimators::transductive::class_shares::{evidence_of_counts, wilson};

/// Maximum number of steps of the search for shifts of several classes.
const MAX_SHIFTS: usize = 60;

/// Lowest and highest share of each class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShareBounds {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl ShareBounds {
    /// Bounds from the Wilson interval of each class.
    pub(super) fn of_counts(counts: &[usize]) -> Self {
        let n = counts.iter().sum::<usize>().max(1) as f64;
        Self::of_shares(
            &counts.iter().map(|c| *c as f64 / n).collect::<Vec<_>>(),
            evidence_of_counts(counts).max(1.0),
        )
    }

    /// Bounds from the Wilson interval of the share of each class among `n` labels; the shares themselves if `n` is
    /// infinite.
    pub(crate) fn of_shares(shares: &[f64], n: f64) -> Self {
        let (low, high) = shares.iter().map(|&s| if n.is_infinite() { (s, s) } else { wilson(s, n) }).unzip();
        Self { low, high }
    }

    /// Bounds equal to given shares: that of the second of two classes, or one share per class.
    pub(super) fn exact(shares: &[f64], classes: usize) -> Self {
        let all = match shares {
            [second] if classes == 2 => vec![1.0 - second, *second],
            several => several.to_vec(),
        };
        Self { low: all.clone(), high: all }
    }

    fn is_exact(&self) -> bool {
        self.low == self.high
    }

    /// Shift of the scores of each class that brings the class shares of the rows within the bounds.
    pub(super) fn shifts(&self, scores: &Scores, rows: &[usize]) -> Vec<f64> {
        let mut shift = vec![0.0; scores.classes];
        if rows.is_empty() {
            return shift;
        }
        if scores.classes == 2 {
            shift[1] = self.shift_of_second(scores, rows);
            return shift;
        }
        let step = 0.3 * spread(scores, rows);
        for _ in 0..MAX_SHIFTS {
            let shares = shares(scores, rows, &shift);
            let missing = |c: usize| {
                if shares[c] < self.low[c] {
                    self.low[c] - shares[c]
                } else {
                    (self.high[c] - shares[c]).min(0.0)
                }
            };
            let missing: Vec<f64> = (0..shift.len()).map(missing).collect();
            if missing.iter().all(|m| *m == 0.0) {
                break;
            }
            let classes = shift.len() as f64;
            for (s, m) in shift.iter_mut().zip(missing) {
                *s += step * m.signum() * (m.abs() * classes).min(1.0) * f64::from(u8::from(m != 0.0));
            }
        }
        shift
    }

    /// Shift of the scores of the second of two classes: the threshold moves between the two rows that the nearest
    /// bound separates. A threshold between two modes of the scores does not move, because the rows then show the
    /// shares better than few labels do.
    fn shift_of_second(&self, scores: &Scores, rows: &[usize]) -> f64 {
        let mut margin: Vec<f64> = rows.iter().map(|&i| scores.row(i)[1] - scores.row(i)[0]).collect();
        let n = margin.len();
        let share = margin.iter().filter(|m| **m > 0.0).count() as f64 / n as f64;
        let wanted = share.clamp(self.low[1], self.high[1]);
        margin.sort_unstable_by(|a, b| b.total_cmp(a));
        if wanted == share || (!self.is_exact() && is_between_modes(&margin)) {
            return 0.0;
        }
        let positive = ((wanted * n as f64).round() as usize).min(n);
        let above = margin[positive.saturating_sub(1)];
        let below = margin[positive.min(n - 1)];
        -f64::midpoint(above, below)
    }
}

/// Minimum share of rows on each side of the threshold for two modes; fewer may be only rows near a few labels.
const MIN_MODE_SHARE: f64 = 0.05;

/// Half the width of the window in which scores are counted, relative to the median of their absolute values.
const MODE_WINDOW: f64 = 0.25;

/// Number of standard deviations by which the count of scores at a mode must exceed that at the threshold.
const MODE_DEVIATIONS: f64 = 3.0;

/// Whether the scores, in descending order, have a mode on each side of 0 where they are at least twice as dense as at
/// 0.
fn is_between_modes(margin: &[f64]) -> bool {
    let n = margin.len();
    let positive = margin.partition_point(|m| *m > 0.0);
    if (positive.min(n - positive) as f64) < MIN_MODE_SHARE * n as f64 {
        return false;
    }
    let mut size: Vec<f64> = margin.iter().map(|m| m.abs()).collect();
    let (_, median, _) = size.select_nth_unstable_by(n / 2, f64::total_cmp);
    let width = MODE_WINDOW * *median;
    let count = |at: f64| {
        let from = margin.partition_point(|m| *m > at + width);
        margin.partition_point(|m| *m >= at - width) - from
    };
    let here = count(0.0) as f64;
    let beyond = |m: &&f64| m.abs() > 2.0 * width;
    let mode = |side: &[f64]| side.iter().filter(beyond).map(|m| count(*m)).max().unwrap_or(0) as f64;
    let lower = mode(&margin[..positive]).min(mode(&margin[positive..]));
    lower >= 2.0 * here && lower - here >= MODE_DEVIATIONS * (lower + here).sqrt()
}

/// Wilson interval of a share observed in `n` trials.
pub(super) fn interval(share: f64, n: f64) -> (f64, f64) {
    wilson(share, n.max(1.0))
}

fn shares(scores: &Scores, rows: &[usize], shift: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; shift.len()];
    let mut shifted = vec![0.0; shift.len()];
    for &i in rows {
        for ((out, s), b) in shifted.iter_mut().zip(scores.row(i)).zip(shift) {
            *out = s + b;
        }
        shares[largest(&shifted)] += 1.0 / rows.len() as f64;
    }
    shares
}

/// Root mean square of the scores of the rows.
fn spread(scores: &Scores, rows: &[usize]) -> f64 {
    let squares: f64 = rows.iter().flat_map(|&i| scores.row(i)).map(|s| s * s).sum();
    (squares / (rows.len() * scores.classes) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margins(margins: &[f64]) -> Scores {
        Scores { values: margins.iter().flat_map(|m| [-0.5 * m, 0.5 * m]).collect(), classes: 2 }
    }

    #[test]
    fn shares_within_the_bounds_are_not_changed() {
        let bounds = ShareBounds { low: vec![0.3, 0.3], high: vec![0.7, 0.7] };
        let scores = margins(&[-2.0, -1.0, 1.0, 2.0]);
        assert_eq!(bounds.shifts(&scores, &[0, 1, 2, 3]), [0.0, 0.0]);
    }

    #[test]
    fn a_class_with_all_rows_is_reduced_to_its_bound() {
        let bounds = ShareBounds { low: vec![0.25, 0.25], high: vec![0.75, 0.75] };
        let scores = margins(&[-4.0, -3.0, -2.0, -1.0]);
        let shift = bounds.shifts(&scores, &[0, 1, 2, 3]);
        let positive = (0..4).filter(|&i| scores.row(i)[1] + shift[1] > scores.row(i)[0] + shift[0]).count();
        assert_eq!(positive, 1);
    }

    #[test]
    fn a_threshold_between_two_modes_stays() {
        let bounds = ShareBounds { low: vec![0.3, 0.3], high: vec![0.7, 0.7] };
        let rows: Vec<usize> = (0..500).collect();
        let spread = |i: usize| 0.5 * ((i as f64 * 0.618_034).fract() - 0.5);
        // a tenth of the rows at 1, the others at -1
        let two: Vec<f64> =
            rows.iter().map(|&i| if i % 10 == 0 { 1.0 + spread(i) } else { spread(i) - 1.0 }).collect();
        assert_eq!(bounds.shifts(&margins(&two), &rows), [0.0, 0.0]);
        // a single mode, whose tail crosses the threshold
        let one: Vec<f64> = rows.iter().map(|&i| -1.0 + 1.2 * (i as f64 / 500.0)).collect();
        assert!(bounds.shifts(&margins(&one), &rows)[1] > 0.1);
        // given shares are enforced nevertheless
        let exact = ShareBounds::exact(&[0.3], 2);
        let shift = exact.shifts(&margins(&two), &rows)[1];
        assert_eq!(two.iter().filter(|m| **m + shift > 0.0).count(), 150);
    }

    #[test]
    fn several_classes_reach_their_bounds() {
        // class 0 has the largest score in all rows; class 2 has the second largest in half of them
        let values = (0..100).flat_map(|i| [2.0, 0.01 * f64::from(i), 1.0 - 0.01 * f64::from(i)]).collect();
        let scores = Scores { values, classes: 3 };
        let bounds = ShareBounds { low: vec![0.2; 3], high: vec![0.6; 3] };
        let rows: Vec<usize> = (0..100).collect();
        let found = shares(&scores, &rows, &bounds.shifts(&scores, &rows));
        assert!(found.iter().all(|s| (0.15..=0.65).contains(s)), "{found:?}");
    }
}
