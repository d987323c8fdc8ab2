//! Optimal step of one or two variables within their bounds.

use crate::math::simd::TINY;

/// Result of [`best_of_pair`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairStep {
    /// Size of the step, equal for both variables.
    pub size: f64,
    /// New value of the variable that increases.
    pub up: f64,
    /// New value of the variable that decreases.
    pub down: f64,
}

/// Optimal step of a pair along Σα = constant: one increases from α to at most its upper bound (`up`), the other
/// decreases to at least its lower bound (`down`). `slope` is the difference of their gradients, `kernel` their K_ii,
/// K_jj, K_ij. A variable that ends at a bound is exactly equal to it.
#[inline]
pub(crate) fn best_of_pair(
    slope: f64,
    [ii, jj, ij]: [f64; 3],
    (rising, hi): (f64, f64),
    (falling, lo): (f64, f64),
) -> PairStep {
    let curve = (ii + jj - 2.0 * ij).max(TINY);
    let (room_up, room_down) = (hi - rising, falling - lo);
    let size = (slope / curve).min(room_up).min(room_down);
    PairStep {
        size,
        up: if size >= room_up { hi } else { rising + size },
        down: if size >= room_down { lo } else { falling - size },
    }
}

/// A variable that may move alone: gradient, room to decrease (≤ 0) and increase (≥ 0), diagonal of K.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Free {
    pub g: f64,
    pub room: [f64; 2],
    pub curve: f64,
}

impl Free {
    /// Optimal step if the gradient has changed by `shift`.
    fn best(&self, shift: f64) -> f64 {
        ((self.g + shift) / self.curve.max(TINY)).clamp(self.room[0], self.room[1])
    }
}

/// Steps (a, b) of two variables that maximize g·step − ½ stepᵀK step within their room; `k` is K of the two. The
/// optimum lies inside, or on an edge where one variable is at a bound and the other at its optimum.
pub(crate) fn best_of_two(i: Free, j: Free, k: f64, same: bool) -> (f64, f64) {
    if same {
        return (i.best(0.0), 0.0);
    }
    let gain = |(a, b): (f64, f64)| i.g * a + j.g * b - 0.5 * (i.curve * a * a + j.curve * b * b) - k * a * b;
    let det = i.curve * j.curve - k * k;
    if det > 1e-9 * i.curve * j.curve {
        let (a, b) = ((i.g * j.curve - j.g * k) / det, (j.g * i.curve - i.g * k) / det);
        if (i.room[0]..=i.room[1]).contains(&a) && (j.room[0]..=j.room[1]).contains(&b) {
            return (a, b);
        }
    }
    let edges = [0, 1].map(|side| (i.room[side], j.best(-k * i.room[side])));
    let others = [0, 1].map(|side| (i.best(-k * j.room[side]), j.room[side]));
    let alone = [(i.best(0.0), 0.0), (0.0, j.best(0.0))];
    let mut best = (0.0, 0.0);
    for step in edges.into_iter().chain(others).chain(alone) {
        if gain(step) > gain(best) {
            best = step;
        }
    }
    best
}

/// Rounds a value that is within rounding error of a bound or 0 to that value.
pub(crate) fn snapped(value: f64, lo: f64, hi: f64) -> f64 {
    let near = 1e-14 * (hi - lo);
    if value >= hi - near {
        hi
    } else if value <= lo + near {
        lo
    } else if value.abs() <= near {
        0.0
    } else {
        value
    }
}
