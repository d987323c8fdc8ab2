//! LOOP 3: greedy selection.
//!
//! Problem: choose elements one after the other, each time the one with the largest gain F(A + m) − F(A) among those
//! still allowed; ties go to the lowest index, so the picks are a nested chain and do not depend on how they were found.
//!
//! Method: [`plain`] looks at every gain before every pick; [`lazy`] (Minoux 1978; Emara 2012, algorithms 4 and 5) only at
//! those that could win. A gain seen when the set had s elements is at most g + rise·(|A| − s) now, where `rise` bounds
//! what one more element can add to the gain of another: 0 for a submodular F, κ·max K for the cut of SUBMOD-S3VM, whose
//! gains rise (the source subtracts κd|A| instead, which is the same bound).
//!
//! Departure: the bounds carry a few units of rounding, so that lazy and plain picks are equal also where gains tie.
//! What is allowed may shrink as elements are taken (a matroid, or several).
//!
//! Why a loop of its own: it moves no numbers toward an optimum, it takes elements of a set; neither dual steps nor
//! Newton's can.

use super::{Exit, Progress, Watch};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A function of sets, seen from the set chosen so far.
pub trait SetFunction {
    /// Number of elements there are.
    fn elements(&self) -> usize;

    /// What taking `element` now would add.
    fn gain(&self, element: usize) -> f64;

    /// Adds an element to the set.
    fn add(&mut self, element: usize);

    /// The most that taking one element adds to the gain of another; 0 if gains never rise.
    fn rise(&self) -> f64;

    /// Whether an element that is not taken may still be; once refused, always refused.
    fn allowed(&self, element: usize) -> bool {
        let _ = element;
        true
    }

    /// Whether a gain costs as little as keeping its bound, and bounds are wide: [`lazy`] then looks at every gain.
    fn prefers_plain(&self) -> bool {
        false
    }

    /// How many gains [`lazy`] asks for at a time: more than 1 where computing some together costs less than apart.
    fn together(&self) -> usize {
        1
    }

    /// Told which gains are asked for next.
    fn prepare(&self, elements: &[usize]) {
        let _ = elements;
    }
}

/// The elements chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Picks {
    /// In the order of choice.
    pub order: Vec<usize>,
    /// The gain of each when it was taken; their sum is F(A) − F(∅).
    pub gains: Vec<f64>,
    /// Gains computed.
    pub evaluations: u64,
    /// Why it ended: converged when `count` were taken or nothing more is allowed.
    pub exit: Exit,
}

impl Picks {
    /// Nothing chosen.
    pub fn none(exit: Exit) -> Self {
        Self { exit, ..Self::new(0) }
    }

    fn new(count: usize) -> Self {
        let (order, gains) = (Vec::with_capacity(count), Vec::with_capacity(count));
        Self { order, gains, evaluations: 0, exit: Exit::Converged }
    }

    fn push(&mut self, element: usize, gain: f64) {
        self.order.push(element);
        self.gains.push(gain);
    }
}

/// Picks between two questions whether to go on.
const ASK_EVERY: usize = 256;

fn interrupted(taken: usize, count: usize, watch: &dyn Watch) -> bool {
    let left = 1.0 - taken as f64 / count.max(1) as f64;
    taken.is_multiple_of(ASK_EVERY)
        && !watch.proceed(&Progress { steps: taken as u64, violation: left, tolerance: 0.0 })
}

/// Every gain before every pick: kn − k(k−1)/2 evaluations if all is allowed.
pub fn plain(f: &mut dyn SetFunction, count: usize, watch: &dyn Watch) -> Picks {
    let mut picks = Picks::new(count);
    let mut free: Vec<usize> = (0..f.elements()).collect();
    while picks.order.len() < count {
        if interrupted(picks.order.len(), count, watch) {
            picks.exit = Exit::Interrupted;
            break;
        }
        free.retain(|&m| f.allowed(m));
        let mut best: Option<(f64, usize)> = None;
        for (at, &m) in free.iter().enumerate() {
            let gain = f.gain(m);
            if best.is_none_or(|(g, _)| gain > g) {
                best = Some((gain, at));
            }
        }
        picks.evaluations += free.len() as u64;
        let Some((gain, at)) = best else { break };
        let m = free.remove(at);
        f.add(m);
        picks.push(m, gain);
    }
    picks
}

/// An element and the most its gain can be, less `rise` a pick.
#[derive(Debug, Clone, Copy)]
struct Bound {
    key: f64,
    element: usize,
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.total_cmp(&other.key).then(other.element.cmp(&self.element))
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bound {}

/// The picks of [`plain`], looking only at gains whose bound reaches the best one seen in this round.
pub fn lazy(f: &mut dyn SetFunction, count: usize, watch: &dyn Watch) -> Picks {
    if f.prefers_plain() {
        return plain(f, count, watch);
    }
    let rise = f.rise();
    let mut picks = Picks::new(count);
    let bound = |gain: f64, taken: usize, element: usize| {
        let drift = rise * taken as f64;
        Bound { key: gain - drift + 8.0 * f64::EPSILON * (gain.abs() + drift + rise), element }
    };
    let mut waiting: BinaryHeap<Bound> =
        (0..f.elements()).filter(|&m| f.allowed(m)).map(|m| bound(f.gain(m), 0, m)).collect();
    picks.evaluations = waiting.len() as u64;
    let (mut seen, mut group, together) = (Vec::new(), Vec::new(), f.together().max(1));
    while picks.order.len() < count {
        let taken = picks.order.len();
        if interrupted(taken, count, watch) {
            picks.exit = Exit::Interrupted;
            break;
        }
        let drift = rise * taken as f64;
        let mut best: Option<(f64, usize)> = None;
        loop {
            group.clear();
            while let Some(&Bound { key, element }) = waiting.peek() {
                let reaches =
                    |(gain, m): (f64, usize)| key > gain - drift || (key == gain - drift && element < m);
                if group.len() == together || !best.is_none_or(reaches) {
                    break;
                }
                waiting.pop();
                if f.allowed(element) {
                    group.push(element);
                }
            }
            if group.is_empty() {
                break;
            }
            f.prepare(&group);
            for &element in &group {
                let gain = f.gain(element);
                picks.evaluations += u64::from(taken > 0);
                let better = best.is_none_or(|(g, m)| gain > g || (gain == g && element < m));
                let loser = if better { best.replace((gain, element)) } else { Some((gain, element)) };
                seen.extend(loser.map(|(gain, m)| bound(gain, taken, m)));
            }
        }
        waiting.extend(seen.drain(..));
        let Some((gain, m)) = best else { break };
        f.add(m);
        picks.push(m, gain);
    }
    picks
}
