//! `local-svc`: a new sample changes only the coefficients of its neighbors.
//!
//! Problem: that of [`crate::estimators::supervised::svc`] on all stored samples. When a sample c arrives with
//! y_c·f(x_c) < 1, the dual is solved for the coefficients of a neighborhood N of c, with all others fixed. In the default
//! mode N then grows until the optimality conditions of *all* samples hold to `gap`. This is cheap with a kernel that falls
//! with distance: c changes the solution near x_c, except for the part that the condition Σα = 0 spreads over all samples
//! (Emara 2012, chapter VI; its lemma on the radius does not hold, and growing N by the violation replaces it).
//!
//! Distance is measured in the feature space of the kernel, |φ(x) − φ(z)|² = K(x,x) + K(z,z) − 2K(x,z). For rbf this gives
//! the same order as the distance of the samples, and |x − z| ≤ νσ, σ = 1/√(2·gamma), means K ≥ exp(−ν²/2).
//!
//! Departures: N always contains the nearest sample that can move against c, because no pair step is possible without it.
//! In the iterative modes N grows by eight samples: a single new sample mostly changes nothing, which would end the growth.
//! The source's "no significant change" is the parameter `change`.
//!
//! Invariants: the dual objective never falls; only coefficients of N move.

use super::Lasvm;
use super::state::{Candidate, NewVariable};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::Gram;
use crate::solver::Stop;
use serde::{Deserialize, Serialize};

/// Number of neighbors at the start of the adaptive mode.
const START_SIZE: usize = 16;

/// Number of neighbors by which the iterative modes grow.
const GROWTH: usize = 8;

/// Rule that determines the neighborhood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The 16 nearest samples, doubled until the violation among all samples is at most `gap`.
    Adaptive,
    /// All samples within `radius_factor` widths of the rbf kernel.
    Radius,
    /// The eight nearest samples, and eight more at a time until no coefficient moves by more than `change`.
    Iterative,
    /// As [`Mode::Iterative`], but starting with the samples within the radius.
    RadiusIterative,
    /// The `nearest` nearest samples.
    Nearest,
    /// All samples.
    Full,
}

/// The neighborhood whose coefficients may move when a sample arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Neighborhood {
    /// Rule that determines it.
    pub mode: Mode,
    /// Adaptive mode: the neighborhood grows while the violation among all samples is larger.
    pub gap: f64,
    /// Radius, in widths σ = 1/√(2·gamma) of the rbf kernel.
    pub radius_factor: f64,
    /// Iterative modes: the neighborhood grows while a coefficient moves by more than this fraction of its cost.
    pub change: f64,
    /// Number of neighbors of [`Mode::Nearest`].
    pub nearest: usize,
    /// Maximum number of solver steps per neighborhood. Without it, samples of very different norms could keep the solver
    /// from reaching its tolerance.
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

    /// Number of neighbors to start with.
    fn start(&self, distances: &Distances) -> usize {
        match self.mode {
            Mode::Adaptive => START_SIZE,
            Mode::Iterative => GROWTH,
            Mode::Radius | Mode::RadiusIterative => {
                distances.within(2.0 - 2.0 * (-0.5 * self.radius_factor * self.radius_factor).exp())
            }
            Mode::Nearest => self.nearest,
            Mode::Full => usize::MAX,
        }
    }

    /// The next larger number of neighbors; `None` if `size` neighbors were enough.
    fn next(&self, size: usize, violation: f64, moved: f64) -> Option<usize> {
        match self.mode {
            Mode::Adaptive if violation > self.gap => Some(2 * size),
            Mode::Iterative | Mode::RadiusIterative if moved > self.change => Some(size + GROWTH),
            _ => None,
        }
    }
}

/// Distances of the samples that an output may move from one of them.
struct Distances {
    /// Squared distance and index; the first `sorted` entries are nearer than all others.
    keyed: Vec<(f64, usize)>,
    sorted: usize,
}

impl Distances {
    /// Number of samples up to a squared distance.
    fn within(&self, limit: f64) -> usize {
        self.keyed.iter().filter(|(d, _)| *d <= limit).count()
    }

    /// Indices, in ascending order, of the `size` nearest samples (ties to the older one) and of the two in `also`.
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
    /// Adds the candidate, which is the last point, to every output. Solves for its neighborhood in outputs where it lies
    /// inside the margin.
    pub(crate) fn optimize_neighborhoods(&mut self, candidate: &Candidate) -> Result<()> {
        for (j, variable) in candidate.variables.iter().enumerate() {
            self.outputs[j].push(variable.y, variable.bounds, variable.gradient);
            let inside = variable.y * (variable.gradient - self.provisional_bias(j)) > 0.0;
            if inside && variable.bounds != (0.0, 0.0) {
                self.solve_neighborhood(j, variable)?;
            }
            self.gradient_bounds[j] = self.outputs[j].gradient_bounds();
        }
        Ok(())
    }

    /// Solves for the neighborhood of the last point in output `j`, and enlarges it as the mode requires.
    fn solve_neighborhood(&mut self, j: usize, variable: &NewVariable) -> Result<()> {
        let c = self.points.len() - 1;
        let mut distances = self.distances(j, c);
        let Some(partner) = self.partner(j, variable, &distances) else { return Ok(()) };
        let stop = Stop { tolerance: self.params.tolerance, max_steps: Some(self.params.local.max_steps) };
        let near = self.params.local.clone();
        let mut size = near.start(&distances);
        loop {
            let dual = &mut self.outputs[j];
            let all = size >= distances.keyed.len();
            let rows = distances.rows(size, [c, partner]);
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

    /// Distances from point `c` of the points that an output may move.
    fn distances(&mut self, j: usize, c: usize) -> Distances {
        self.gram.fetch(&[c]);
        let (row, own) = (self.gram.row(c), self.gram.diag(c));
        let distance = |s: usize| self.gram.diag(s) + own - 2.0 * f64::from(row[s]);
        let dual = &self.outputs[j];
        let free = (0..c).filter(|&s| dual.bounds(s) != (0.0, 0.0));
        Distances { keyed: free.map(|s| (distance(s), s)).collect(), sorted: 0 }
    }

    /// The nearest point that forms a violating pair with the candidate.
    fn partner(&self, j: usize, variable: &NewVariable, distances: &Distances) -> Option<usize> {
        let (dual, up) = (&self.outputs[j], variable.y > 0.0);
        let violates = |s: usize| {
            let ((lo, hi), a, g) = (dual.bounds(s), dual.alpha()[s], dual.gradient()[s]);
            let apart = if up { variable.gradient - g } else { g - variable.gradient };
            apart > self.params.tolerance && if up { a > lo } else { a < hi }
        };
        let some = distances.keyed.iter().filter(|(_, s)| violates(*s));
        some.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, s)| *s)
    }
}
