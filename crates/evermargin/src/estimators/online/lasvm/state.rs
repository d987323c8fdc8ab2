//! The state of an online support vector machine: points, one dual problem an output, and what was counted.

use super::{LasvmParams, LasvmVariant};
use crate::data::{Label, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::Targets;
use crate::kernel::gram::{Block, Gram, GrowingGram, Packed, Packing};
use crate::math::simd;
use crate::model::Model;
use crate::solver::smo::{Dual, GradientBounds};
use crate::solver::{Exit, Progress, Report, Stop, Watch};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Samples whose kernel values are computed together, to be learned from.
const CHUNK: usize = 64;

/// Samples that are scored together; they also meet each other, so their number is bounded.
pub(crate) const SCORED: usize = 256;

/// Steps of one variable before steps of two: the source has only the former, which are many when they are not few.
const SINGLE_STEPS: usize = 16;

/// Most rounds in which points change sides of the ramp at the end.
const ROUNDS: usize = 100;

/// Samples that decide how all are packed.
const FIRST: usize = 1000;

/// Where the margin of a sample lay on the ramp when it came: y·f below s, between, or above 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ramp {
    /// Below s: suspected of a wrong label.
    Left,
    /// Between s and 1.
    Slope,
    /// Above 1: nothing to learn.
    Right,
}

/// What was counted since the beginning. Positions on the ramp are those of the first output.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Samples learned from.
    pub seen: u64,
    /// Samples that were turned away: nothing to learn, filtered out.
    pub rejected: u64,
    /// Steps of candidates.
    pub process: u64,
    /// Steps among all points.
    pub reprocess: u64,
    /// Points admitted at each [`Ramp`] position.
    pub admitted: [u64; 3],
    /// Points dropped again, by the position they came with.
    pub dropped: [u64; 3],
    /// Points dropped because the cap was reached.
    pub over_cap: u64,
    /// Kernel values needed.
    pub evaluations: u64,
    /// Kernel values that a block held and nobody read.
    pub spare: u64,
}

/// A point of the expansion, beside its sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) id: u64,
    pub(crate) came: Ramp,
    pub(crate) dead: bool,
}

/// An online support vector machine. See [`super`] for the algorithms.
#[derive(Debug)]
pub struct Lasvm {
    pub(crate) params: LasvmParams,
    pub(crate) gram: GrowingGram,
    pub(crate) outputs: Vec<Dual>,
    /// Extremes of each output, as they are now.
    pub(crate) gradient_bounds: Vec<GradientBounds>,
    pub(crate) points: Vec<Point>,
    pub(crate) dead: usize,
    /// Points that are support vectors of an output.
    pub(crate) support: usize,
    pub(crate) members: HashSet<u64>,
    pub(crate) counts: Counts,
    pub(crate) block: Block,
    pub(crate) row: Vec<f32>,
}

impl Lasvm {
    /// A machine without points, for `outputs` problems on samples like the rows of `first`.
    pub fn new(params: &LasvmParams, first: MatrixView<'_>, outputs: usize) -> Result<Self> {
        params.check()?;
        let some: Vec<usize> = (0..first.rows().min(FIRST)).collect();
        let packing = Packed::new(first.select(&some).view(), params.kernel)?.packing();
        let sparse = matches!(first, MatrixView::Csr { .. });
        Ok(Self::with(params, &packing, sparse, outputs))
    }

    /// A machine without points, for samples that are packed so.
    pub(crate) fn with(params: &LasvmParams, packing: &Packing, sparse: bool, outputs: usize) -> Self {
        let gram =
            GrowingGram::new(params.kernel, packing, sparse, params.cache_bytes, params.max_points * 4 / 3);
        let dual = Dual::new(Vec::new(), Vec::new(), Vec::new());
        let dual = if params.variant.has_bias() { dual } else { dual.without_bias() };
        Self {
            params: params.clone(),
            gram,
            gradient_bounds: vec![dual.gradient_bounds(); outputs],
            outputs: vec![dual; outputs],
            points: Vec::new(),
            dead: 0,
            support: 0,
            members: HashSet::new(),
            counts: Counts::default(),
            block: Block::default(),
            row: Vec::new(),
        }
    }

    /// Learns from the rows named, one after the other; row `r` is known as `base + r`, and one that is among the
    /// points already is passed over. Returns false when the watch said stop.
    pub fn learn(
        &mut self,
        x: MatrixView<'_>,
        rows: &[usize],
        base: u64,
        problems: &[Targets],
        watch: &dyn Watch,
    ) -> Result<bool> {
        if problems.len() != self.outputs.len() {
            let (expected, found) = (self.outputs.len(), problems.len());
            return Err(Error::Shape { what: "problems", expected, found });
        }
        for rows in rows.chunks(CHUNK) {
            if !watch.proceed(&self.progress()) {
                return Ok(false);
            }
            self.compute_kernel_block(x, rows)?;
            for (c, &r) in rows.iter().enumerate() {
                self.process(c, false, x, r, base + r as u64, problems)?;
            }
        }
        Ok(true)
    }

    /// An output that no sample has spoken to wakes up: every point is a negative of it, at the cost it has in the others.
    pub(crate) fn activate_output(&mut self, output: usize) {
        let n = self.points.len();
        let width = |s: usize| self.outputs.iter().map(|d| d.bounds(s).1 - d.bounds(s).0).fold(0.0, f64::max);
        let cost: Vec<f64> = (0..n).map(|s| if self.points[s].dead { 0.0 } else { width(s) }).collect();
        let dual = &mut self.outputs[output];
        dual.retarget(&vec![-1.0; n]);
        cost.iter().enumerate().for_each(|(s, c)| dual.set_bounds(s, -c, 0.0));
        self.gradient_bounds[output] = dual.gradient_bounds();
    }

    /// Computes the kernel values that [`Lasvm::take`] and [`Lasvm::scores`] need, for candidates.
    pub(crate) fn compute_kernel_block(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<()> {
        if x.cols() != self.gram.packed().cols() {
            let (expected, found) = (self.gram.packed().cols(), x.cols());
            return Err(Error::Shape { what: "columns", expected, found });
        }
        self.gram.compute_kernel_block(x, rows, &mut self.block)
    }

    /// The decisions of candidate `c`, one an output; `bias` are the constants.
    pub(crate) fn scores(&mut self, c: usize, bias: &[f64]) -> Vec<f64> {
        let mut row = std::mem::take(&mut self.row);
        self.gram.candidate(&self.block, c, &mut row);
        self.gram.read(self.support);
        let f = self.outputs.iter().zip(bias).map(|(d, b)| simd::dot(&row, d.alpha()) + b).collect();
        self.row = row;
        f
    }

    /// Whether candidate `c`, which is row `r` of the problems, lies inside the margin of an output.
    pub(crate) fn is_inside_margin(&mut self, c: usize, r: usize, problems: &[Targets]) -> bool {
        let bias = self.biases();
        let f = self.scores(c, &bias);
        problems
            .iter()
            .zip(&f)
            .any(|(p, f)| p.cost[r] > 0.0 && p.y[r].sign() * f < 1.0 && p.y[r] != Label::Unknown)
    }

    /// The decisions of the rows named, by the points as they are.
    pub fn decisions(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        let bias = self.biases();
        let mut out = Vec::with_capacity(rows.len());
        for rows in rows.chunks(SCORED) {
            self.compute_kernel_block(x, rows)?;
            out.extend((0..rows.len()).map(|c| self.scores(c, &bias)));
        }
        Ok(out)
    }

    /// Learns from candidate `c`, which is row `r` of `x`; `scored` says whether its scores were asked for before.
    pub(crate) fn process(
        &mut self,
        c: usize,
        scored: bool,
        x: MatrixView<'_>,
        r: usize,
        id: u64,
        problems: &[Targets],
    ) -> Result<()> {
        let wants = problems.iter().any(|p| p.y[r] != Label::Unknown && p.cost[r] > 0.0);
        if !wants || self.members.contains(&id) {
            return Ok(());
        }
        self.counts.seen += 1;
        let mut row = std::mem::take(&mut self.row);
        self.gram.candidate(&self.block, c, &mut row);
        let candidate = self.candidate(&row, r, problems);
        // whoever is turned away needed its kernel with the support vectors alone
        let needed = if candidate.wanted { self.len() + 1 } else { self.support };
        self.gram.read(needed - if scored { self.support } else { 0 });
        if candidate.wanted {
            self.gram.admit(&mut self.block, c, x.row(r), &row)?;
            self.points.push(Point { id, came: candidate.came, dead: false });
            self.members.insert(id);
            self.counts.admitted[candidate.came as usize] += 1;
            self.optimize(&candidate)?;
            if self.params.retrain {
                self.solve((100 * self.len() as u64).max(10_000_000), &());
            }
        } else {
            self.counts.rejected += 1;
            if self.params.variant.has_bias() {
                (0..self.outputs.len()).for_each(|j| self.settle_pairs(j));
            }
        }
        self.evict_idle();
        self.row = row;
        Ok(())
    }

    /// What a sample is to each output before it is admitted.
    fn candidate(&self, row: &[f32], r: usize, problems: &[Targets]) -> Candidate {
        let (mut sides, mut wanted, mut came) = (Vec::with_capacity(problems.len()), false, Ramp::Right);
        for (j, (dual, p)) in self.outputs.iter().zip(problems).enumerate() {
            let (y, cost) = (p.y[r].sign(), self.params.c * p.cost[r]);
            let gradient = y - simd::dot(row, dual.alpha());
            let z = 1.0 - y * (gradient - self.middle(j));
            if j == 0 {
                came = position(z, self.params.s);
            }
            let mut bounds = ((y * cost).min(0.0), (y * cost).max(0.0));
            let stays = y != 0.0 && cost > 0.0 && self.is_wanted(j, y, gradient, z);
            if !stays && self.params.variant == LasvmVariant::Filter {
                bounds = (0.0, 0.0); // passed over by this output, whatever the others do
            } else if self.params.variant == LasvmVariant::Ramp && z < self.params.s && self.is_warm(dual) {
                bounds = (bounds.0 - y * cost, bounds.1 - y * cost);
            }
            wanted |= stays;
            sides.push(Side { y, bounds, gradient });
        }
        Candidate { sides, wanted, came }
    }

    /// The constant of an output in the middle of its extremes; 0 when it has none yet.
    pub(crate) fn middle(&self, output: usize) -> f64 {
        let GradientBounds { max_up, min_down } = self.gradient_bounds[output];
        let b = f64::midpoint(max_up, min_down);
        if self.params.variant.has_bias() && b.is_finite() { b } else { 0.0 }
    }

    /// Whether an output has use for a sample.
    fn is_wanted(&self, output: usize, y: f64, gradient: f64, z: f64) -> bool {
        let (dual, e) = (&self.outputs[output], self.gradient_bounds[output]);
        match self.params.variant {
            // beyond the extremes on the closed side: it would be evicted at once
            LasvmVariant::Hinge => {
                !(e.min_down < e.max_up && if y > 0.0 { gradient < e.min_down } else { gradient > e.max_up })
            }
            LasvmVariant::Filter => !self.is_warm(dual) || (z <= 1.0 && z >= self.params.s),
            LasvmVariant::Gap | LasvmVariant::Ramp | LasvmVariant::Full | LasvmVariant::Local => true,
        }
    }

    /// Whether there are enough support vectors, of both signs, to trust the model.
    pub(crate) fn is_warm(&self, dual: &Dual) -> bool {
        let alpha = dual.alpha();
        let both = alpha.iter().any(|a| *a > 0.0) && alpha.iter().any(|a| *a < 0.0);
        (both || self.params.warm_up == 0) && dual.support() >= self.params.warm_up
    }

    /// Steps of the candidate, then of all points.
    fn optimize(&mut self, candidate: &Candidate) -> Result<()> {
        if self.params.variant == LasvmVariant::Local {
            return self.settle_near(candidate);
        }
        let tolerance = self.params.tolerance;
        let k = self.points.len() - 1;
        for (j, side) in candidate.sides.iter().enumerate() {
            let dual = &mut self.outputs[j];
            let gap = !self.params.variant.has_bias();
            let cost = side.bounds.1 - side.bounds.0;
            let threshold =
                if gap { dual.gap_and_target().1.max(dual.largest_cost()).max(cost) } else { 0.0 };
            dual.push(side.y, side.bounds, side.gradient);
            if side.bounds != (0.0, 0.0) {
                self.counts.process +=
                    u64::from(dual.process(&mut self.gram, k, self.gradient_bounds[j], tolerance));
            }
            if gap {
                self.settle_gap(j, threshold);
            } else {
                self.settle_pairs(j);
            }
        }
        Ok(())
    }

    /// LASVM: one step, and more while the spread of the extremes is above delta_max.
    pub(crate) fn settle_pairs(&mut self, j: usize) {
        let (dual, most) = (&mut self.outputs[j], 10 * self.points.len());
        let mut e = dual.gradient_bounds();
        for _ in 0..most {
            let moved = dual.reprocess(&mut self.gram, e, self.params.tolerance);
            if moved {
                self.counts.reprocess += 1;
                e = dual.gradient_bounds();
            }
            if !moved || self.params.delta_max == 0.0 || e.max_up - e.min_down <= self.params.delta_max {
                break;
            }
        }
        self.gradient_bounds[j] = e;
    }

    /// LASVM-G: steps while the duality gap is above the threshold.
    pub(crate) fn settle_gap(&mut self, j: usize, threshold: f64) {
        let (dual, most) = (&mut self.outputs[j], 10 * self.points.len());
        for step in 0..most {
            let (gap, _, e) = dual.standing();
            if gap <= threshold {
                break;
            }
            let tolerance = self.params.tolerance;
            let moved = if step < SINGLE_STEPS {
                dual.reprocess(&mut self.gram, e, tolerance)
            } else {
                dual.reprocess_two(&mut self.gram, e, tolerance)
            };
            if !moved {
                break;
            }
            self.counts.reprocess += 1;
        }
    }

    /// FINISHING: solves the problems of the points there are to the tolerance, and drops those it leaves idle. With
    /// ramp loss the points that now lie beyond the ramp are let go and those that came back are taken in, until none
    /// changes sides.
    pub fn finish(&mut self, watch: &dyn Watch) -> Vec<Report> {
        self.finish_within((100 * self.len() as u64).max(10_000_000), watch)
    }

    /// [`Lasvm::finish`] in at most `max_steps` steps of each output, and of each round with ramp loss.
    pub(crate) fn finish_within(&mut self, max_steps: u64, watch: &dyn Watch) -> Vec<Report> {
        self.compact();
        // without the memory the rows stay as they are
        let _ = self.gram.fit();
        let mut reports = self.solve(max_steps, watch);
        if self.params.variant == LasvmVariant::Ramp {
            self.settle_sides(&mut reports, max_steps, watch);
        }
        if !matches!(self.params.variant, LasvmVariant::Full | LasvmVariant::Local) {
            self.clean(0);
        }
        self.compact();
        self.support = self.count_support();
        reports
    }

    /// Rounds of the concave-convex procedure from a solution: the ramp loss of the points never rises.
    fn settle_sides(&mut self, reports: &mut [Report], max_steps: u64, watch: &dyn Watch) {
        for _ in 0..ROUNDS {
            if reports.iter().any(|r| r.exit != Exit::Converged) || !self.reassess() {
                break;
            }
            for (all, round) in reports.iter_mut().zip(self.solve(max_steps, watch)) {
                let (steps, evaluations) = (all.steps, all.kernel_evaluations);
                *all = round;
                all.steps += steps;
                all.kernel_evaluations += evaluations;
            }
        }
    }

    /// Solves the problems of the points to the tolerance.
    fn solve(&mut self, max_steps: u64, watch: &dyn Watch) -> Vec<Report> {
        let stop = Stop { tolerance: self.params.tolerance, max_steps: Some(max_steps) };
        let mut reports = Vec::with_capacity(self.outputs.len());
        for (dual, e) in self.outputs.iter_mut().zip(&mut self.gradient_bounds) {
            reports.push(dual.run(&mut self.gram, stop, watch));
            *e = dual.gradient_bounds();
        }
        reports
    }

    /// What stands for a report when there was no finishing.
    pub fn report(&self, output: usize, exit: Exit) -> Report {
        let dual = &self.outputs[output];
        Report { steps: 0, objective: dual.objective(), gap: dual.duality_gap(), kernel_evaluations: 0, exit }
    }

    /// The model as it stands.
    pub fn model(&self) -> Model {
        let support: Vec<usize> =
            (0..self.points.len()).filter(|&s| self.outputs.iter().any(|d| d.alpha()[s] != 0.0)).collect();
        Model::Expansion {
            kernel: self.params.kernel,
            points: self.gram.points().view().select(&support),
            coef: self.outputs.iter().map(|d| support.iter().map(|&s| d.alpha()[s]).collect()).collect(),
            bias: self.outputs.iter().map(Dual::bias).collect(),
        }
    }

    /// Points kept, support vectors or not.
    pub fn len(&self) -> usize {
        self.points.len() - self.dead
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Points that are support vectors of an output.
    pub fn support_count(&self) -> usize {
        self.support
    }

    pub(crate) fn count_support(&self) -> usize {
        if let [only] = self.outputs.as_slice() {
            return only.support();
        }
        (0..self.points.len()).filter(|&s| self.outputs.iter().any(|d| d.alpha()[s] != 0.0)).count()
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// The problem of an output.
    pub fn output(&self, j: usize) -> &Dual {
        &self.outputs[j]
    }

    /// Extremes of an output.
    pub fn gradient_bounds(&self, j: usize) -> GradientBounds {
        self.gradient_bounds[j]
    }

    /// Numbers of the points kept, in the order of the variables of [`Lasvm::output`] that are not held at 0.
    pub fn ids(&self) -> impl Iterator<Item = (usize, u64)> {
        self.points.iter().enumerate().filter(|(_, p)| !p.dead).map(|(s, p)| (s, p.id))
    }

    /// Parameters.
    pub fn params(&self) -> &LasvmParams {
        &self.params
    }

    /// What was counted since the beginning.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.evaluations += self.gram.evaluations();
        counts.spare += self.gram.spare();
        counts
    }

    /// The constants of the outputs.
    pub fn biases(&self) -> Vec<f64> {
        self.outputs.iter().map(Dual::bias).collect()
    }

    /// Largest spread of the extremes of an output, where finite: a sample is admitted up to half of it beyond the
    /// margin.
    pub fn admission_slack(&self) -> f64 {
        if !self.params.variant.has_bias() {
            return 0.0;
        }
        let spread = self.gradient_bounds.iter().map(|e| e.max_up - e.min_down);
        spread.filter(|d| d.is_finite()).fold(0.0, f64::max)
    }

    /// Whether the sample known by `id` is a support vector of an output.
    pub fn is_support(&self, id: u64) -> bool {
        if !self.members.contains(&id) {
            return false;
        }
        let place = self.points.iter().rposition(|p| p.id == id && !p.dead);
        place.is_some_and(|s| self.outputs.iter().any(|d| d.alpha()[s] != 0.0))
    }

    /// Samples of the points, dead ones included, in the order of the variables.
    pub fn points(&self) -> &Matrix {
        self.gram.points()
    }

    /// How samples are packed.
    pub fn packing(&self) -> Packing {
        self.gram.packed().packing()
    }

    /// Counts kernel values computed outside.
    pub(crate) fn count(&mut self, evaluations: u64) {
        self.gram.count(evaluations);
    }

    pub(crate) fn progress(&self) -> Progress {
        let spread = |e: &GradientBounds| e.max_up - e.min_down;
        let violation = self.gradient_bounds.iter().map(spread).filter(|v| v.is_finite()).fold(0.0, f64::max);
        Progress { steps: self.counts.seen, violation, tolerance: self.params.tolerance }
    }
}

/// A sample on its way in.
pub(crate) struct Candidate {
    pub(crate) sides: Vec<Side>,
    wanted: bool,
    came: Ramp,
}

/// What a sample is to one output.
pub(crate) struct Side {
    pub(crate) y: f64,
    pub(crate) bounds: (f64, f64),
    pub(crate) gradient: f64,
}

fn position(z: f64, s: f64) -> Ramp {
    if z < s {
        Ramp::Left
    } else if z > 1.0 {
        Ramp::Right
    } else {
        Ramp::Slope
    }
}
