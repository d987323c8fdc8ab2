//! Greedy selection, plain and lazy.
//!
//! Problem: choose elements one after the other, each time the one with the largest gain F(A + m) − F(A) among those
//! still allowed. Ties go to the lowest index, so the picks are a nested chain and do not depend on the search order.
//!
//! Method: [`plain`] computes every gain before every pick; [`lazy`] (Minoux 1978; Emara 2012, algorithms 4 and 5) only
//! those that could be the largest. A gain computed when the set had s elements is at most g + rise·(|A| − s) now,
//! where `rise` bounds how much one more element can add to the gain of another: 0 for a submodular F, κ·max K for the
//! cut of SUBMOD-S3VM, whose gains increase (the source subtracts κd|A| instead, which is the same bound).
//!
//! Departure: the bounds include a few units of rounding, so that lazy and plain picks are equal even where gains tie.
//! The set of allowed elements may shrink as elements are taken (one or several matroids).
//!
//! This is a solver of its own because it takes elements of a set and moves no numbers toward an optimum; neither the
//! dual solver nor Newton's method applies.

use super::{Exit, Progress, Watch};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A set function, evaluated relative to the set chosen so far.
pub trait SetFunction {
    /// Number of elements of the ground set.
    fn elements(&self) -> usize;

    /// Increase of F if `element` is added now.
    fn gain(&self, element: usize) -> f64;

    /// Adds an element to the set.
    fn add(&mut self, element: usize);

    /// Upper bound on how much taking one element adds to the gain of another; 0 if gains never increase.
    fn rise(&self) -> f64;

    /// Whether an element that has not been taken may still be taken; once false, it stays false.
    fn allowed(&self, element: usize) -> bool {
        let _ = element;
        true
    }

    /// Whether computing a gain costs as little as maintaining its bound and bounds are loose: [`lazy`] then computes
    /// every gain.
    fn prefers_plain(&self) -> bool {
        false
    }

    /// Number of gains that [`lazy`] requests at a time: more than 1 where a group is cheaper to compute than its
    /// members one by one.
    fn together(&self) -> usize {
        1
    }

    /// Announces the elements whose gains are requested next.
    fn prepare(&self, elements: &[usize]) {
        let _ = elements;
    }
}

/// The elements chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Picks {
    /// Elements in the order of choice.
    pub order: Vec<usize>,
    /// Gain of each element when it was taken; their sum is F(A) − F(∅).
    pub gains: Vec<f64>,
    /// Number of gains computed.
    pub evaluations: u64,
    /// Why the selection ended: converged if `count` elements were taken or no more are allowed.
    pub exit: Exit,
}

impl Picks {
    /// An empty selection.
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

/// Number of picks between two checks whether to continue.
const CHECK_EVERY: usize = 256;

fn interrupted(taken: usize, count: usize, watch: &dyn Watch) -> bool {
    let left = 1.0 - taken as f64 / count.max(1) as f64;
    taken.is_multiple_of(CHECK_EVERY)
        && !watch.proceed(&Progress { steps: taken as u64, violation: left, tolerance: 0.0 })
}

/// Greedy selection that computes every gain before every pick: kn − k(k−1)/2 evaluations if all elements are allowed.
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

/// An element and an upper bound on its gain, with `rise` subtracted per pick.
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

/// Greedy selection with the same picks as [`plain`] that computes only gains whose bound reaches the best one found in
/// this round.
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
    let mut heap: BinaryHeap<Bound> =
        (0..f.elements()).filter(|&m| f.allowed(m)).map(|m| bound(f.gain(m), 0, m)).collect();
    picks.evaluations = heap.len() as u64;
    let (mut evaluated, mut group, together) = (Vec::new(), Vec::new(), f.together().max(1));
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
            while let Some(&Bound { key, element }) = heap.peek() {
                let reaches =
                    |(gain, m): (f64, usize)| key > gain - drift || (key == gain - drift && element < m);
                if group.len() == together || !best.is_none_or(reaches) {
                    break;
                }
                heap.pop();
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
                evaluated.extend(loser.map(|(gain, m)| bound(gain, taken, m)));
            }
        }
        heap.extend(evaluated.drain(..));
        let Some((gain, m)) = best else { break };
        f.add(m);
        picks.push(m, gain);
    }
    picks
}
