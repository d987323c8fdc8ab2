//! Eviction of points: those that no output needs, and those above the limit on their number.

use super::{Lasvm, LasvmVariant};
use crate::solver::smo::{Dual, GradientBounds};

impl Lasvm {
    /// Evicts points that no output needs, and points above the limit on their number.
    pub(crate) fn evict_idle(&mut self) {
        match self.params.variant {
            LasvmVariant::Hinge if !self.params.retrain => self.evict(),
            LasvmVariant::Hinge | LasvmVariant::Full | LasvmVariant::Local => {}
            LasvmVariant::Gap | LasvmVariant::Ramp | LasvmVariant::Filter => {
                if self.params.clean_every > 0 && self.counts.seen.is_multiple_of(self.params.clean_every) {
                    self.clean(self.params.allowance(self.support_count()));
                }
            }
        }
        while self.len() > self.params.max_points {
            let k = self.least_useful();
            for dual in &mut self.outputs {
                dual.remove_variable(&mut self.gram, k);
            }
            self.drop_point(k);
            self.counts.over_cap += 1;
            for (e, dual) in self.gradient_bounds.iter_mut().zip(&self.outputs) {
                *e = dual.gradient_bounds();
            }
        }
        self.support = self.count_support();
        if self.dead >= 16 && self.dead * 4 > self.points.len() {
            self.compact();
        }
    }

    /// Removes the points whose ids satisfy `is_removed`; their coefficients move to other points.
    pub(crate) fn remove_points(&mut self, is_removed: impl Fn(u64) -> bool) {
        let removed: Vec<usize> = self.ids().filter(|&(_, id)| is_removed(id)).map(|(s, _)| s).collect();
        for &s in &removed {
            for dual in &mut self.outputs {
                dual.remove_variable(&mut self.gram, s);
            }
            self.drop_point(s);
        }
        if !removed.is_empty() {
            for (e, dual) in self.gradient_bounds.iter_mut().zip(&self.outputs) {
                *e = dual.gradient_bounds();
            }
            self.support = self.count_support();
            self.compact();
        }
    }

    /// Eviction of `lasvm`: removes the points that no step can currently move in any output.
    fn evict(&mut self) {
        let both =
            |e: &GradientBounds| e.min_down < e.max_up && e.min_down.is_finite() && e.max_up.is_finite();
        let is_inactive = |e: &GradientBounds| e.max_up == f64::NEG_INFINITY && e.min_down == f64::INFINITY;
        if !self.gradient_bounds.iter().all(|e| both(e) || is_inactive(e)) {
            return;
        }
        let Some((first, others)) = self.outputs.split_first() else { return };
        let idle = |s: usize| others.iter().zip(&self.gradient_bounds[1..]).all(|(d, e)| d.is_idle(s, *e));
        let idle: Vec<usize> = first
            .zeros()
            .filter(|&s| !self.points[s].dead && first.is_idle(s, self.gradient_bounds[0]) && idle(s))
            .collect();
        idle.into_iter().for_each(|s| self.drop_point(s));
    }

    /// CLEAN (Ertekin 2009, 6.2, corrected): of the points that are not support vectors, keeps the `allowance` nearest to
    /// becoming one.
    pub fn clean(&mut self, allowance: usize) {
        let zero = |s: usize| self.outputs.iter().all(|d| d.alpha()[s] == 0.0);
        let idle = (0..self.points.len()).filter(|&s| !self.points[s].dead && zero(s));
        let bias = self.biases();
        let mut idle: Vec<(f64, usize)> = idle.map(|s| (self.slack(s, &bias), s)).collect();
        if idle.len() <= allowance {
            return;
        }
        idle.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        idle[allowance..].iter().for_each(|&(_, s)| self.drop_point(s));
    }

    /// Ramp loss: determines which points now lie beyond the ramp and sets their bounds, one step of the concave-convex
    /// procedure on the remaining points. Returns whether any bound changed.
    pub(crate) fn update_ramp_bounds(&mut self) -> bool {
        let mut changed = false;
        for j in 0..self.outputs.len() {
            if !self.is_warm(&self.outputs[j]) {
                continue;
            }
            let dual = &mut self.outputs[j];
            let moved = |i: usize| {
                let ((lo, hi), y) = (dual.bounds(i), dual.target()[i]);
                let cost = y * (hi - lo);
                let shift = if 1.0 - y * dual.gradient()[i] < self.params.s { -cost } else { 0.0 };
                (cost.min(0.0) + shift, cost.max(0.0) + shift)
            };
            let bounds: Vec<(f64, f64)> = (0..dual.len()).map(moved).collect();
            if (0..dual.len()).any(|i| dual.bounds(i) != bounds[i]) {
                changed = true;
                dual.move_bounds(&mut self.gram, &bounds);
            }
        }
        changed
    }

    /// Distance of a point from becoming a support vector, the smallest over all outputs; `bias` holds the intercepts.
    fn slack(&self, s: usize, bias: &[f64]) -> f64 {
        self.outputs.iter().zip(bias).map(|(d, b)| d.slack(s, *b)).fold(f64::INFINITY, f64::min)
    }

    /// The point to evict above the limit: of those that are not support vectors the farthest from becoming one. If all are
    /// support vectors, the one that the model fits worst, with the largest Σ α(g − b): a point that is not fitted with all
    /// points will not be fitted with one less either.
    fn least_useful(&self) -> usize {
        let bias = self.biases();
        let pull = |(d, b): (&Dual, &f64), s: usize| d.alpha()[s] * (d.gradient()[s] - b);
        let mut worst: Option<(bool, f64, usize)> = None;
        for s in (0..self.points.len()).filter(|&s| !self.points[s].dead) {
            let idle = self.outputs.iter().all(|d| d.alpha()[s] == 0.0);
            let key = if idle {
                self.slack(s, &bias)
            } else {
                self.outputs.iter().zip(&bias).map(|o| pull(o, s)).sum()
            };
            if worst.is_none_or(|(was_idle, max_key, _)| {
                (idle && !was_idle) || (idle == was_idle && key > max_key)
            }) {
                worst = Some((idle, key, s));
            }
        }
        worst.map_or(0, |(.., s)| s)
    }

    /// Evicts a point whose coefficients are all 0: marks it as dead, which leaves it in memory for now.
    fn drop_point(&mut self, s: usize) {
        let point = &mut self.points[s];
        point.dead = true;
        self.dead += 1;
        self.members.remove(&point.id);
        self.counts.dropped[point.came as usize] += 1;
        for dual in &mut self.outputs {
            dual.set_bounds(s, 0.0, 0.0);
        }
    }

    /// Removes the dead points from memory.
    pub(crate) fn compact(&mut self) {
        let keep: Vec<usize> = (0..self.points.len()).filter(|&s| !self.points[s].dead).collect();
        self.gram.keep(&keep, &mut self.block);
        self.outputs.iter_mut().for_each(|d| d.keep(&keep));
        self.points.retain(|p| !p.dead);
        self.dead = 0;
    }
}
