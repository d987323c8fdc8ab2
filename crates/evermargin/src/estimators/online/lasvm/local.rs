//! `local-svc`: each sample is learned among its neighbors.
//!
//! Problem: that of [`crate::estimators::supervised::svc`] on the samples kept so far. When sample c comes with y_c·f(x_c) < 1, the dual is
//! solved for the coefficients of a neighborhood N of c, all others held; then, in the default mode, N grows until the
//! optimality conditions of *all* samples hold to `gap`. A kernel that falls with distance makes this cheap: what c
//! changes, it changes near x_c, but for the share that Σα = 0 spreads over all (Emara 2012, chapter VI, whose lemma on
//! the radius does not hold; the growth by the violation is the repair).
//!
//! Neighbors are near in the space of the kernel, |φ(x) − φ(z)|² = K(x,x) + K(z,z) − 2K(x,z); for rbf that is their order
//! in the space of the samples, and |x − z| ≤ νσ, σ = 1/√(2·gamma), means K ≥ exp(−ν²/2).
//!
//! Departures: N always holds the nearest sample that can move against c, without which no pair step is possible; growth
//! in the iterative modes is by eight samples, for one at a time mostly changes nothing and would end it, and "no
//! significant change" is a number, `change`.
//!
//! Invariants: the dual objective never falls; only coefficients of N move.

use super::Lasvm;
use super::state::{Candidate, Side};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::Gram;
use crate::solver::Stop;
use serde::{Deserialize, Serialize};

/// Neighbors at the start of the adaptive mode.
const FEW: usize = 16;

/// Neighbors by which the iterative modes grow.
const GROWTH: usize = 8;

/// How the neighborhood is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// 16 nearest, doubled until the violation among all samples is at most `gap`.
    Adaptive,
    /// All within `radius_factor` widths of the rbf kernel.
    Radius,
    /// The nearest, eight more at a time until no coefficient moves by more than `change`.
    Iterative,
    /// As [`Mode::Iterative`], starting from the radius.
    RadiusIterative,
    /// The `nearest` nearest.
    Nearest,
    /// All samples.
    Full,
}

/// Who moves when a sample comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Neighborhood {
    /// How it is found.
    pub mode: Mode,
    /// Largest violation among all samples that ends the adaptive mode.
    pub gap: f64,
    /// Radius, in widths σ = 1/√(2·gamma) of the rbf kernel.
    pub radius_factor: f64,
    /// Largest move of a coefficient, as a share of its cost, that ends the iterative modes.
    pub change: f64,
    /// Number of neighbors of [`Mode::Nearest`].
    pub nearest: usize,
    /// Maximum number of steps in a neighborhood: rows of very different lengths keep the solver from its tolerance.
    pub max_steps: u64,
}

impl Default for Neighborhood {
    fn default() -> Self {
        Self {
            mode: Mode::Adaptive,
            gap: 0.2,
            radius_factor: 1.0,
            change: 0.01,
            nearest: 50,
            max_steps: 10_000_000,
        }
    }
}

impl Neighborhood {
    pub(crate) fn check(&self, kernel: Kernel) -> Result<()> {
        for (name, value) in
            [("gap", self.gap), ("radius_factor", self.radius_factor), ("change", self.change)]
        {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "a positive number"));
            }
        }
        if self.nearest == 0 {
            return Err(Error::parameter("nearest", self.nearest, "1 or more"));
        }
        let radius = matches!(self.mode, Mode::Radius | Mode::RadiusIterative);
        if radius && !matches!(kernel, Kernel::Rbf { .. }) {
            return Err(Error::parameter(
                "kernel",
                kernel.name(),
                "rbf for a radius in widths of the kernel",
            ));
        }
        Ok(())
    }

    /// Neighbors to begin with.
    fn start(&self, around: &Around) -> usize {
        match self.mode {
            Mode::Adaptive => FEW,
            Mode::Iterative => GROWTH,
            Mode::Radius | Mode::RadiusIterative => {
                around.within(2.0 - 2.0 * (-0.5 * self.radius_factor * self.radius_factor).exp())
            }
            Mode::Nearest => self.nearest,
            Mode::Full => usize::MAX,
        }
    }

    /// Neighbors after `size`, or none when these were enough.
    fn next(&self, size: usize, violation: f64, moved: f64) -> Option<usize> {
        match self.mode {
            Mode::Adaptive if violation > self.gap => Some(2 * size),
            Mode::Iterative | Mode::RadiusIterative if moved > self.change => Some(size + GROWTH),
            _ => None,
        }
    }
}

/// The samples an output may move, and how far they are from one of them.
struct Around {
    /// Squared distance and place; the first `sorted` are nearer than all others.
    keyed: Vec<(f64, usize)>,
    sorted: usize,
}

impl Around {
    /// Samples no further than a squared distance.
    fn within(&self, limit: f64) -> usize {
        self.keyed.iter().filter(|(d, _)| *d <= limit).count()
    }

    /// The `size` nearest, ties to the older, and the two others named: their places in ascending order.
    fn rows(&mut self, size: usize, also: [usize; 2]) -> Vec<usize> {
        let size = size.min(self.keyed.len());
        if self.sorted < size && size < self.keyed.len() {
            self.keyed[self.sorted..]
                .select_nth_unstable_by(size - self.sorted, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        self.sorted = self.sorted.max(size);
        let mut rows: Vec<usize> = self.keyed[..size].iter().map(|(_, s)| *s).chain(also).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }
}

impl Lasvm {
    /// The candidate, the last point, joins every output; where it lies inside the margin, its neighborhood moves.
    pub(crate) fn settle_near(&mut self, candidate: &Candidate) -> Result<()> {
        for (j, side) in candidate.sides.iter().enumerate() {
            self.outputs[j].push(side.y, side.bounds, side.gradient);
            let inside = side.y * (side.gradient - self.middle(j)) > 0.0;
            if inside && side.bounds != (0.0, 0.0) {
                self.solve_near(j, side)?;
            }
            self.gradient_bounds[j] = self.outputs[j].gradient_bounds();
        }
        Ok(())
    }

    fn solve_near(&mut self, j: usize, side: &Side) -> Result<()> {
        let c = self.points.len() - 1;
        let mut around = self.around(j, c);
        let Some(partner) = self.partner(j, side, &around) else { return Ok(()) };
        let stop = Stop { tolerance: self.params.tolerance, max_steps: Some(self.params.local.max_steps) };
        let near = self.params.local.clone();
        let mut size = near.start(&around);
        loop {
            let dual = &mut self.outputs[j];
            let all = size >= around.keyed.len();
            let rows = around.rows(size, [c, partner]);
            let before: Vec<f64> = rows.iter().map(|&s| dual.alpha()[s]).collect();
            let done = dual.run_among(&mut self.gram, &rows, stop)?;
            self.counts.reprocess += done.steps;
            self.gram.count(done.kernel_evaluations);
            let share = |(&s, &was): (&usize, &f64)| {
                let (lo, hi) = dual.bounds(s);
                (dual.alpha()[s] - was).abs() / (hi - lo)
            };
            let moved = rows.iter().zip(&before).map(share).fold(0.0, f64::max);
            match near.next(size, dual.violation(), moved) {
                Some(more) if !all => size = more,
                _ => return Ok(()),
            }
        }
    }

    /// The points an output may move, by their distance from point `c`.
    fn around(&mut self, j: usize, c: usize) -> Around {
        self.gram.fetch(&[c]);
        let (row, own) = (self.gram.row(c), self.gram.diag(c));
        let distance = |s: usize| self.gram.diag(s) + own - 2.0 * f64::from(row[s]);
        let dual = &self.outputs[j];
        let free = (0..c).filter(|&s| dual.bounds(s) != (0.0, 0.0));
        Around { keyed: free.map(|s| (distance(s), s)).collect(), sorted: 0 }
    }

    /// The nearest point with which the candidate makes a pair that violates.
    fn partner(&self, j: usize, side: &Side, around: &Around) -> Option<usize> {
        let (dual, up) = (&self.outputs[j], side.y > 0.0);
        let violates = |s: usize| {
            let ((lo, hi), a, g) = (dual.bounds(s), dual.alpha()[s], dual.gradient()[s]);
            let apart = if up { side.gradient - g } else { g - side.gradient };
            apart > self.params.tolerance && if up { a > lo } else { a < hi }
        };
        let some = around.keyed.iter().filter(|(_, s)| violates(*s));
        some.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, s)| *s)
    }
}
