//! The state of an online support vector machine: points, one dual problem per output, and counts.

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

/// Number of samples whose kernel values are computed in one block before they are learned.
const LEARN_BLOCK: usize = 64;

/// Maximum number of samples scored in one block. Kernel values among these samples are computed, too.
pub(crate) const SCORE_BLOCK: usize = 256;

/// Number of single-variable steps per sample before two-variable steps begin. The source has only single-variable steps,
/// of which a very large number may be needed.
const SINGLE_STEPS: usize = 16;

/// Maximum number of rounds of the concave-convex procedure in finishing.
const MAX_CCCP_ROUNDS: usize = 100;

/// Number of samples that determine the packing of all samples.
const PACKING_SAMPLE: usize = 1000;

/// Position of a sample's margin y·f on the ramp when the sample arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ramp {
    /// y·f < s: the label is probably wrong.
    Left,
    /// s ≤ y·f ≤ 1.
    Slope,
    /// y·f > 1: the sample has no loss.
    Right,
}

/// Counts since the state was created. Positions on the ramp are those of the first output.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Samples processed.
    pub seen: u64,
    /// Samples that were not admitted, because they have no loss or were filtered out.
    pub rejected: u64,
    /// PROCESS steps, on candidates.
    pub process: u64,
    /// REPROCESS steps, among all points.
    pub reprocess: u64,
    /// Points admitted, by [`Ramp`] position.
    pub admitted: [u64; 3],
    /// Points evicted, by the position on arrival.
    pub dropped: [u64; 3],
    /// Points evicted because of the limit on their number.
    pub over_cap: u64,
    /// Kernel values used.
    pub evaluations: u64,
    /// Kernel values that were computed in a block but never used.
    pub spare: u64,
}

/// A point of the expansion, without its sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) id: u64,
    /// Position on the ramp on arrival.
    pub(crate) came: Ramp,
    /// Whether the point was evicted and awaits removal by [`Lasvm::compact`].
    pub(crate) dead: bool,
}

/// An online support vector machine. See [`super`] for the algorithms.
#[derive(Debug)]
pub struct Lasvm {
    pub(crate) params: LasvmParams,
    pub(crate) gram: GrowingGram,
    pub(crate) outputs: Vec<Dual>,
    /// Current gradient bounds of each output.
    pub(crate) gradient_bounds: Vec<GradientBounds>,
    pub(crate) points: Vec<Point>,
    /// Number of dead points: evicted points that are still in memory.
    pub(crate) dead: usize,
    /// Number of points that are support vectors of at least one output.
    pub(crate) support: usize,
    /// Ids of the points that are not dead.
    pub(crate) members: HashSet<u64>,
    pub(crate) counts: Counts,
    pub(crate) block: Block,
    pub(crate) row: Vec<f32>,
}

impl Lasvm {
    /// An SVM without points, for `outputs` problems on samples like the rows of `first`.
    pub fn new(params: &LasvmParams, first: MatrixView<'_>, outputs: usize) -> Result<Self> {
        params.check()?;
        let some: Vec<usize> = (0..first.rows().min(PACKING_SAMPLE)).collect();
        let packing = Packed::new(first.select(&some).view(), params.kernel)?.packing();
        let sparse = matches!(first, MatrixView::Csr { .. });
        Ok(Self::with(params, &packing, sparse, outputs))
    }

    /// An SVM without points, for samples in the given packing.
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

    /// Learns the given rows one after the other. Row `r` has the id `base + r`; a row that is already a point is skipped.
    /// Returns false if the watch stopped it.
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
        for rows in rows.chunks(LEARN_BLOCK) {
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

    /// Activates the output of a class seen for the first time: all stored points become negatives, with the cost they have
    /// in the other outputs.
    pub(crate) fn activate_output(&mut self, output: usize) {
        let n = self.points.len();
        let width = |s: usize| self.outputs.iter().map(|d| d.bounds(s).1 - d.bounds(s).0).fold(0.0, f64::max);
        let cost: Vec<f64> = (0..n).map(|s| if self.points[s].dead { 0.0 } else { width(s) }).collect();
        let dual = &mut self.outputs[output];
        dual.retarget(&vec![-1.0; n]);
        cost.iter().enumerate().for_each(|(s, c)| dual.set_bounds(s, -c, 0.0));
        self.gradient_bounds[output] = dual.gradient_bounds();
    }

    /// Computes the kernel values of the candidates `rows`, which [`Lasvm::process`] and [`Lasvm::scores`] need.
    pub(crate) fn compute_kernel_block(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<()> {
        if x.cols() != self.gram.packed().cols() {
            let (expected, found) = (self.gram.packed().cols(), x.cols());
            return Err(Error::Shape { what: "columns", expected, found });
        }
        self.gram.compute_kernel_block(x, rows, &mut self.block)
    }

    /// Decision values of candidate `c`, one per output; `bias` holds the intercepts.
    pub(crate) fn scores(&mut self, c: usize, bias: &[f64]) -> Vec<f64> {
        let mut row = std::mem::take(&mut self.row);
        self.gram.candidate(&self.block, c, &mut row);
        self.gram.read(self.support);
        let f = self.outputs.iter().zip(bias).map(|(d, b)| simd::dot(&row, d.alpha()) + b).collect();
        self.row = row;
        f
    }

    /// Whether candidate `c`, row `r` of the problems, lies inside the margin of at least one output.
    pub(crate) fn is_inside_margin(&mut self, c: usize, r: usize, problems: &[Targets]) -> bool {
        let bias = self.biases();
        let f = self.scores(c, &bias);
        problems
            .iter()
            .zip(&f)
            .any(|(p, f)| p.cost[r] > 0.0 && p.y[r].sign() * f < 1.0 && p.y[r] != Label::Unknown)
    }

    /// Decision values of the given rows with the current coefficients.
    pub fn decisions(&mut self, x: MatrixView<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>> {
        let bias = self.biases();
        let mut out = Vec::with_capacity(rows.len());
        for rows in rows.chunks(SCORE_BLOCK) {
            self.compute_kernel_block(x, rows)?;
            out.extend((0..rows.len()).map(|c| self.scores(c, &bias)));
        }
        Ok(out)
    }

    /// Learns candidate `c`, which is row `r` of `x`. `scored` means that its scores were computed before, so that kernel
    /// values are not counted twice.
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
        // a rejected sample needed only its kernel values with the support vectors
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
                (0..self.outputs.len()).for_each(|j| self.reprocess_pairs(j));
            }
        }
        self.evict_idle();
        self.row = row;
        Ok(())
    }

    /// The dual variables that a sample would have in each output, and whether any output needs it.
    fn candidate(&self, row: &[f32], r: usize, problems: &[Targets]) -> Candidate {
        let (mut variables, mut wanted, mut came) = (Vec::with_capacity(problems.len()), false, Ramp::Right);
        for (j, (dual, p)) in self.outputs.iter().zip(problems).enumerate() {
            let (y, cost) = (p.y[r].sign(), self.params.c * p.cost[r]);
            let gradient = y - simd::dot(row, dual.alpha());
            let z = 1.0 - y * (gradient - self.provisional_bias(j));
            if j == 0 {
                came = ramp_position(z, self.params.s);
            }
            let mut bounds = ((y * cost).min(0.0), (y * cost).max(0.0));
            let stays = y != 0.0 && cost > 0.0 && self.is_wanted(j, y, gradient, z);
            if !stays && self.params.variant == LasvmVariant::Filter {
                bounds = (0.0, 0.0); // skipped in this output even if another output admits it
            } else if self.params.variant == LasvmVariant::Ramp && z < self.params.s && self.is_warm(dual) {
                bounds = (bounds.0 - y * cost, bounds.1 - y * cost);
            }
            wanted |= stays;
            variables.push(NewVariable { y, bounds, gradient });
        }
        Candidate { variables, wanted, came }
    }

    /// Provisional intercept of an output: the midpoint of its gradient bounds; 0 if it has none yet.
    pub(crate) fn provisional_bias(&self, output: usize) -> f64 {
        let GradientBounds { max_up, min_down } = self.gradient_bounds[output];
        let b = f64::midpoint(max_up, min_down);
        if self.params.variant.has_bias() && b.is_finite() { b } else { 0.0 }
    }

    /// Whether an output admits a sample with this label, gradient and margin `z` = y·f.
    fn is_wanted(&self, output: usize, y: f64, gradient: f64, z: f64) -> bool {
        let (dual, e) = (&self.outputs[output], self.gradient_bounds[output]);
        match self.params.variant {
            // outside the gradient bounds, on the side where its own bound is closed: it would be evicted at once
            LasvmVariant::Hinge => {
                !(e.min_down < e.max_up && if y > 0.0 { gradient < e.min_down } else { gradient > e.max_up })
            }
            LasvmVariant::Filter => !self.is_warm(dual) || (z <= 1.0 && z >= self.params.s),
            LasvmVariant::Gap | LasvmVariant::Ramp | LasvmVariant::Full | LasvmVariant::Local => true,
        }
    }

    /// Whether the warm-up is over: there are enough support vectors, and of both signs.
    pub(crate) fn is_warm(&self, dual: &Dual) -> bool {
        let alpha = dual.alpha();
        let both = alpha.iter().any(|a| *a > 0.0) && alpha.iter().any(|a| *a < 0.0);
        (both || self.params.warm_up == 0) && dual.support() >= self.params.warm_up
    }

    /// PROCESS for the candidate, then REPROCESS among all points.
    fn optimize(&mut self, candidate: &Candidate) -> Result<()> {
        if self.params.variant == LasvmVariant::Local {
            return self.optimize_neighborhoods(candidate);
        }
        let tolerance = self.params.tolerance;
        let k = self.points.len() - 1;
        for (j, variable) in candidate.variables.iter().enumerate() {
            let dual = &mut self.outputs[j];
            let gap = !self.params.variant.has_bias();
            let cost = variable.bounds.1 - variable.bounds.0;
            let threshold =
                if gap { dual.gap_and_target().1.max(dual.largest_cost()).max(cost) } else { 0.0 };
            dual.push(variable.y, variable.bounds, variable.gradient);
            if variable.bounds != (0.0, 0.0) {
                self.counts.process +=
                    u64::from(dual.process(&mut self.gram, k, self.gradient_bounds[j], tolerance));
            }
            if gap {
                self.reprocess_to_gap(j, threshold);
            } else {
                self.reprocess_pairs(j);
            }
        }
        Ok(())
    }

    /// REPROCESS of `lasvm`: one step, and more while the spread of the gradient bounds is above `delta_max`.
    pub(crate) fn reprocess_pairs(&mut self, j: usize) {
        let (dual, max_steps) = (&mut self.outputs[j], 10 * self.points.len());
        let mut e = dual.gradient_bounds();
        for _ in 0..max_steps {
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

    /// REPROCESS of the variants that control the duality gap: steps while it is above the threshold.
    pub(crate) fn reprocess_to_gap(&mut self, j: usize, threshold: f64) {
        let (dual, max_steps) = (&mut self.outputs[j], 10 * self.points.len());
        for step in 0..max_steps {
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

    /// FINISHING: solves the problems of the remaining points to the tolerance, then evicts the points that are not support
    /// vectors. With ramp loss, the bounds of points that moved beyond the ramp or back are changed and the problems solved
    /// again, until no point changes its side of the ramp.
    pub fn finish(&mut self, watch: &dyn Watch) -> Vec<Report> {
        self.finish_within((100 * self.len() as u64).max(10_000_000), watch)
    }

    /// [`Lasvm::finish`] with at most `max_steps` steps per output, and with ramp loss per round.
    pub(crate) fn finish_within(&mut self, max_steps: u64, watch: &dyn Watch) -> Vec<Report> {
        self.compact();
        // without enough memory the cached rows keep their length
        let _ = self.gram.fit();
        let mut reports = self.solve(max_steps, watch);
        if self.params.variant == LasvmVariant::Ramp {
            self.run_cccp(&mut reports, max_steps, watch);
        }
        if !matches!(self.params.variant, LasvmVariant::Full | LasvmVariant::Local) {
            self.clean(0);
        }
        self.compact();
        self.support = self.count_support();
        reports
    }

    /// Rounds of the concave-convex procedure, starting at a solution. The ramp-loss objective of the points never rises.
    fn run_cccp(&mut self, reports: &mut [Report], max_steps: u64, watch: &dyn Watch) {
        for _ in 0..MAX_CCCP_ROUNDS {
            if reports.iter().any(|r| r.exit != Exit::Converged) || !self.update_ramp_bounds() {
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

    /// Report of an output that was not finished.
    pub fn report(&self, output: usize, exit: Exit) -> Report {
        let dual = &self.outputs[output];
        Report { steps: 0, objective: dual.objective(), gap: dual.duality_gap(), kernel_evaluations: 0, exit }
    }

    /// The current model.
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

    /// Number of points, support vectors or not.
    pub fn len(&self) -> usize {
        self.points.len() - self.dead
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of points that are support vectors of at least one output.
    pub fn support_count(&self) -> usize {
        self.support
    }

    /// Counts the support vectors; see [`Lasvm::support_count`].
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

    /// The dual problem of an output.
    pub fn output(&self, j: usize) -> &Dual {
        &self.outputs[j]
    }

    /// Gradient bounds of an output.
    pub fn gradient_bounds(&self, j: usize) -> GradientBounds {
        self.gradient_bounds[j]
    }

    /// Index and id of every point that is not dead; the index is that of its variable in [`Lasvm::output`].
    pub fn ids(&self) -> impl Iterator<Item = (usize, u64)> {
        self.points.iter().enumerate().filter(|(_, p)| !p.dead).map(|(s, p)| (s, p.id))
    }

    /// Parameters.
    pub fn params(&self) -> &LasvmParams {
        &self.params
    }

    /// Counts since the state was created.
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        counts.evaluations += self.gram.evaluations();
        counts.spare += self.gram.spare();
        counts
    }

    /// Intercepts of the outputs.
    pub fn biases(&self) -> Vec<f64> {
        self.outputs.iter().map(Dual::bias).collect()
    }

    /// Largest finite spread of an output's gradient bounds; 0 without intercept. A sample is admitted up to half of it
    /// beyond the margin.
    pub fn admission_slack(&self) -> f64 {
        if !self.params.variant.has_bias() {
            return 0.0;
        }
        let spread = self.gradient_bounds.iter().map(|e| e.max_up - e.min_down);
        spread.filter(|d| d.is_finite()).fold(0.0, f64::max)
    }

    /// Whether the sample with this id is a support vector of at least one output.
    pub fn is_support(&self, id: u64) -> bool {
        if !self.members.contains(&id) {
            return false;
        }
        let place = self.points.iter().rposition(|p| p.id == id && !p.dead);
        place.is_some_and(|s| self.outputs.iter().any(|d| d.alpha()[s] != 0.0))
    }

    /// Samples of the points in the order of the variables. Evicted points that are still in memory (dead points) are
    /// included.
    pub fn points(&self) -> &Matrix {
        self.gram.points()
    }

    /// Packing of the samples.
    pub fn packing(&self) -> Packing {
        self.gram.packed().packing()
    }

    /// Adds kernel values that were computed elsewhere to the count.
    pub(crate) fn count(&mut self, evaluations: u64) {
        self.gram.count(evaluations);
    }

    pub(crate) fn progress(&self) -> Progress {
        let spread = |e: &GradientBounds| e.max_up - e.min_down;
        let violation = self.gradient_bounds.iter().map(spread).filter(|v| v.is_finite()).fold(0.0, f64::max);
        Progress { steps: self.counts.seen, violation, tolerance: self.params.tolerance }
    }
}

/// A sample that may become a point.
pub(crate) struct Candidate {
    pub(crate) variables: Vec<NewVariable>,
    wanted: bool,
    came: Ramp,
}

/// Dual variable of a candidate in one output.
pub(crate) struct NewVariable {
    pub(crate) y: f64,
    pub(crate) bounds: (f64, f64),
    pub(crate) gradient: f64,
}

/// Position of the margin `z` = y·f on the ramp that ends at `s`.
fn ramp_position(z: f64, s: f64) -> Ramp {
    if z < s {
        Ramp::Left
    } else if z > 1.0 {
        Ramp::Right
    } else {
        Ramp::Slope
    }
}
