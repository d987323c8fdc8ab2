//! `bnb-s3vm`: the global optimum of the semi-supervised support vector machine by branch and bound (Chapelle,
//! Sindhwani & Keerthi 2006; Sindhwani 2007, section 3.2), for few unlabeled rows.
//!
//! Problem: that of `transductive::s3vm` with the hinge loss and exactly round(r·u) labels y' positive, minimized over
//! all such labelings. For several classes, with one SVM each against the rest, the sum of the objectives is
//! minimized over all labelings that give each row one class.
//!
//! Method: a tree of partial labelings, searched in plunges: a plunge follows first choices down to a complete labeling
//! or a bound; the next one starts from the open node with the lowest estimated cost of its deviations from first
//! choices (`open`). The source searches depth first, where a wrong label high up is not revised in reasonable time.
//!
//! A node is bounded below by the dual values of the SVMs on the rows labeled so far (any feasible α gives a valid
//! bound, so inexact solutions never prune wrongly; the bound grows down the tree). It is dropped when its bound
//! reaches (1 − ε)·best, and completed when all classes but one have all their rows. Branching: the row whose second
//! choice would cost most, estimated by one step of its variables with the free support vectors following; its first
//! choice is explored first. The free support vectors matter: they make the curvature of a row small next to labeled
//! ones, so that labels spread from neighbor to neighbor, whereas the outputs alone would start with the rows far out
//! on either side. For two classes, identical rows are interchangeable, and of labelings that differ by an exchange
//! only one is searched. Solutions start from that of the parent, or from 0 for old nodes. The first upper bound is
//! that of label switching ([`super::tsvm`]); for several classes it is that of the outputs of the labels alone, the
//! largest first.
//!
//! The reported lower bound is the minimum over all nodes dropped or left open, so the gap is valid even when the node
//! limit ends the search. This is a solver of its own because it searches a tree and does not descend; each node is
//! solved by the dual solver.

mod open;

use self::open::{Caps, Node, OpenNodes};
use super::s3vm::{self, Function, KernelProblem, Problem, Problems};
use super::tsvm::Switching;
use super::{Ratio, default_lambda};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::registry::{EstimatorSpec, Parameters};
use crate::estimators::{Fit, Fitted, Targets};
use crate::kernel::Kernel;
use crate::kernel::gram::Gram;
use crate::math::linalg::Cholesky;
use crate::params::shared::{
    CACHE_BYTES, COEF0, DEGREE, FIT_INTERCEPT, GAMMA, KERNEL, KERNEL_LAMBDA, LAMBDA_U, RATIO,
    RELATIVE_TOLERANCE,
};
use crate::params::{End, FloatRange, ParamSpec};
use crate::solver::smo::Dual;
use crate::solver::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::rc::Rc;

/// The specification of `bnb-s3vm`.
pub static SPEC: EstimatorSpec = EstimatorSpec::semi_supervised(
    "bnb-s3vm",
    "the global optimum of a semi-supervised support vector machine, for few rows",
    &[
        KERNEL,
        GAMMA,
        DEGREE,
        COEF0,
        KERNEL_LAMBDA,
        LAMBDA_U,
        RATIO,
        ParamSpec::float(
            "epsilon",
            FloatRange::new(End::Closed(0.0), End::Open(1.0)),
            "0.001",
            "maximum relative difference between the objective and the global optimum",
        ),
        ParamSpec::count("max_nodes", 0, "100000", "maximum number of nodes of the search; 0 = no limit"),
        RELATIVE_TOLERANCE
            .default_of("0.0001")
            .help_of("largest violation of the optimality conditions at a node"),
        FIT_INTERCEPT,
        CACHE_BYTES,
    ],
);

impl Parameters for BnbParams {}

/// Parameters of [`bnb-s3vm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BnbParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|²; 0 means 0.01 times the mean of K(x, x).
    pub lambda: f64,
    /// Weight of the loss of the unlabeled rows relative to that of the labeled ones; 0 leaves them out.
    pub lambda_u: f64,
    /// Share of positives among the unlabeled rows.
    pub ratio: Ratio,
    /// The objective found exceeds the optimum by at most this fraction.
    pub epsilon: f64,
    /// Maximum number of nodes; 0 means no limit.
    pub max_nodes: u64,
    /// Largest violation of the optimality conditions at a node.
    pub tolerance: f64,
    /// Whether to fit an intercept, which is not regularized.
    pub fit_intercept: bool,
    /// Bytes for cached kernel rows.
    pub cache_bytes: usize,
}

impl Default for BnbParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf { gamma: 1.0 },
            lambda: 0.0,
            lambda_u: 1.0,
            ratio: Ratio::Labels,
            epsilon: 1e-3,
            max_nodes: 100_000,
            tolerance: 1e-4,
            fit_intercept: true,
            cache_bytes: 1 << 30,
        }
    }
}

/// Maximum number of unlabeled rows; with more, the search is infeasible unless clusters are far apart.
pub const MAX_UNLABELED: usize = 300;

/// Maximum number of open nodes among which the start of a plunge is chosen.
const MAX_OPEN: usize = 4096;
/// Maximum number of coefficients in the stored solutions of open nodes, over all binary SVMs.
const WARM_ROWS: usize = 1 << 19;

/// The binary SVMs that are searched jointly: one for two classes, of which the first is the positive one, or one per
/// class.
struct JointMachines<'p> {
    problems: Vec<&'p Problem>,
    /// Number of unlabeled rows of each class.
    wanted: Vec<usize>,
}

impl<'p> JointMachines<'p> {
    /// Groups problems that separate the classes of the same rows, one against the rest; otherwise each problem is a
    /// group.
    fn groups(problems: &'p [Problem]) -> Vec<Self> {
        let same = |p: &Problem| p.open == problems[0].open && p.cost == problems[0].cost;
        let one = |k: usize| {
            let positive = problems.iter().filter(|p| p.y[k] > 0.0).count();
            positive == usize::from(problems[0].y[k] != 0.0)
        };
        let joint = problems.len() > 1
            && problems.iter().all(same)
            && (0..problems.first().map_or(0, |p| p.y.len())).all(one);
        if !joint {
            let alone = |p: &'p Problem| Self {
                problems: vec![p],
                wanted: vec![p.positives, p.open.len() - p.positives],
            };
            return problems.iter().map(alone).collect();
        }
        let shares: Vec<f64> = problems.iter().map(|p| p.ratio).collect();
        let wanted = apportion(&shares, problems[0].open.len());
        vec![Self { problems: problems.iter().collect(), wanted }]
    }

    fn open(&self) -> &'p [usize] {
        &self.problems[0].open
    }

    /// Targets of a binary SVM: known labels, and those of the assigned classes.
    fn targets(&self, machine: usize, class: &[Option<usize>]) -> Vec<f64> {
        let mut y = self.problems[machine].y.clone();
        for (&i, class) in self.open().iter().zip(class) {
            y[i] = class.map_or(0.0, |c| sign(machine, c));
        }
        y
    }
}

/// Distributes rows in proportion to shares: integer parts first, the rest by largest remainder, and in ties to the
/// larger share.
fn apportion(shares: &[f64], rows: usize) -> Vec<usize> {
    let total = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let exact: Vec<f64> = shares.iter().map(|s| s / total * rows as f64).collect();
    let mut wanted: Vec<usize> = exact.iter().map(|e| e.floor() as usize).collect();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let left = |c: usize| exact[c] - exact[c].floor();
    order.sort_by(|&a, &b| left(b).total_cmp(&left(a)).then(shares[b].total_cmp(&shares[a])));
    let missing = rows.saturating_sub(wanted.iter().sum());
    order.into_iter().cycle().take(missing).for_each(|c| wanted[c] += 1);
    wanted
}

fn sign(machine: usize, class: usize) -> f64 {
    if machine == class { 1.0 } else { -1.0 }
}

/// A labeling with its total cost and the cost of each binary SVM.
struct Best {
    upper: f64,
    class: Vec<Option<usize>>,
    functions: Vec<Function>,
    each: Vec<f64>,
}

/// Result of a search.
struct Incumbent {
    best: Best,
    lower: f64,
    nodes: u64,
    report: Report,
}

impl BnbParams {
    fn search(
        &self,
        gram: &mut dyn Gram,
        all: &JointMachines<'_>,
        alike: &[usize],
        caps: Caps,
        watch: &dyn Watch,
    ) -> Incumbent {
        let problem = all.problems[0];
        let (mut best, mut report) = if all.problems.len() == 1 {
            self.switched(gram, problem, watch)
        } else {
            self.ranked(gram, all, watch)
        };
        let mut machine = self.machine(gram, problem);
        let mut open = OpenNodes::new(self.root(&mut machine, all), caps);
        let (mut nodes, mut exit) = (0, report.exit);
        while let Some(mut node) = open.next() {
            if node.bound >= self.cutoff(&best) {
                open.drop(node.bound);
                continue;
            }
            exit = self.exit_before(exit, nodes, &node, &best, watch);
            if exit != Exit::Converged {
                open.drop(node.bound);
                break;
            }
            nodes += 1;
            let leaf = complete(&mut node);
            let Some(solved) = solve(&mut machine, all, &node, watch) else {
                exit = Exit::Interrupted;
                open.drop(node.bound);
                break;
            };
            node.bound = node.bound.max(solved.lower);
            if !leaf && node.bound < self.cutoff(&best) {
                open.extend(self.branch(&node, solved.duals, &mut machine, all, alike));
                continue;
            }
            open.drop(node.bound);
            if leaf && solved.each.iter().sum::<f64>() < best.upper {
                best = solved.best(node.class);
                open.sweep(self.cutoff(&best));
            }
        }
        report.steps += machine.report.steps;
        report.kernel_evaluations += machine.report.kernel_evaluations;
        report.exit = exit;
        let lower = open.lower().min(best.upper);
        report.gap = self.lambda * (best.upper - lower);
        Incumbent { best, lower, nodes, report }
    }

    /// Reason why the search ends before a node; `Converged` if it continues.
    fn exit_before(&self, exit: Exit, nodes: u64, node: &Node, best: &Best, watch: &dyn Watch) -> Exit {
        let violation = 1.0 - node.bound / best.upper.max(f64::MIN_POSITIVE);
        let progress = Progress { steps: nodes, violation, tolerance: self.epsilon };
        if exit == Exit::Interrupted || !watch.proceed(&progress) {
            Exit::Interrupted
        } else if self.max_nodes > 0 && nodes >= self.max_nodes {
            Exit::Limit
        } else {
            Exit::Converged
        }
    }

    fn cutoff(&self, best: &Best) -> f64 {
        (1.0 - self.epsilon) * best.upper
    }

    /// The labeling found by label switching.
    fn switched(&self, gram: &mut dyn Gram, problem: &Problem, watch: &dyn Watch) -> (Best, Report) {
        let switching = Switching {
            fit_intercept: self.fit_intercept,
            tolerance: self.tolerance,
            switch: 0,
            lambda: self.lambda,
            lambda_u: self.lambda_u,
            max_steps: None,
            fast: false,
        };
        let start = switching.solve(gram, problem, watch);
        let class = start.labels.iter().map(|l| Some(usize::from(*l < 0.0))).collect();
        let upper = start.report.objective / self.lambda;
        (Best { upper, class, functions: vec![start.function], each: vec![upper] }, start.report)
    }

    fn machine<'g>(&self, gram: &'g mut dyn Gram, problem: &Problem) -> KernelProblem<'g> {
        KernelProblem::new(gram, problem.y.clone(), problem.cost.clone(), self.fit_intercept, self.tolerance)
    }

    /// The root: no labels are assigned, and all functions are f = 0.
    fn root(&self, machine: &mut KernelProblem<'_>, all: &JointMachines<'_>) -> Node {
        let flat = all.problems.iter().map(|p| self.machine(machine.gram, p).dual).collect();
        let class = vec![None; all.open().len()];
        Node { class, left: all.wanted.clone(), from: Rc::new(flat), bound: 0.0, deviation: 0.0 }
    }

    /// The labeling by the outputs of SVMs trained on the known labels: the largest output first, while its class
    /// has rows left.
    fn ranked(&self, gram: &mut dyn Gram, all: &JointMachines<'_>, watch: &dyn Watch) -> (Best, Report) {
        let mut machine = self.machine(gram, all.problems[0]);
        let mut node = self.root(&mut machine, all);
        if let Some(known) = solve(&mut machine, all, &node, watch) {
            node.from = Rc::new(known.duals);
        }
        let mut outputs = Vec::new();
        for (m, dual) in node.from.iter().enumerate() {
            let f = dual.decisions();
            outputs.extend(all.open().iter().enumerate().map(|(k, &i)| (f[i], k, m)));
        }
        outputs.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, k, m) in outputs {
            if node.class[k].is_none() && node.left[m] > 0 {
                node.class[k] = Some(m);
                node.left[m] -= 1;
            }
        }
        let best = match solve(&mut machine, all, &node, watch) {
            Some(solved) => solved.best(node.class),
            None => zero_solution(all, node.class),
        };
        (best, machine.report)
    }

    /// Creates one child for each class of the row whose second-best class costs most. The child with the best class
    /// comes last, so that it is explored first. With two classes, identical rows are interchangeable: either this row
    /// gets its best class, or this row and all open rows identical to it get the
    /// other class, if that class has enough rows left.
    fn branch(
        &self,
        node: &Node,
        duals: Vec<Dual>,
        machine: &mut KernelProblem<'_>,
        all: &JointMachines<'_>,
        alike: &[usize],
    ) -> Vec<Node> {
        let places: Vec<usize> = (0..node.class.len()).filter(|&k| node.class[k].is_none()).collect();
        let open: Vec<usize> = places.iter().map(|&k| all.open()[k]).collect();
        let classes: Vec<usize> = (0..node.left.len()).filter(|c| node.left[*c] > 0).collect();
        let mut costs = vec![vec![0.0; open.len()]; node.left.len()];
        for (m, problem) in all.problems.iter().enumerate() {
            let f = duals[m].decisions();
            let y = all.targets(m, &node.class);
            let stiff = stiffness((&y, &problem.cost, &duals[m]), machine, &open, self.fit_intercept);
            for &c in &classes {
                for ((&i, stiff), cost) in open.iter().zip(&stiff).zip(&mut costs[c]) {
                    let violation = 1.0 - sign(m, c) * f[i];
                    let step = (violation / stiff.max(1e-12)).clamp(0.0, problem.cost[i]);
                    *cost += step * violation - 0.5 * step * step * stiff;
                }
            }
        }
        let mut best = (f64::NEG_INFINITY, 0, classes.clone());
        for k in 0..open.len() {
            let mut order = classes.clone();
            order.sort_by(|a, b| costs[*a][k].total_cmp(&costs[*b][k]));
            let second = costs[order[1]][k];
            if second > best.0 {
                best = (second, k, order);
            }
        }
        let (_, row, order) = best;
        let from = Rc::new(duals);
        let same: Vec<usize> = (0..open.len()).filter(|&k| alike[open[k]] == alike[open[row]]).collect();
        let child = |(rank, &c): (usize, &usize)| {
            let rows = if rank == 1 && node.left.len() == 2 { &same[..] } else { std::slice::from_ref(&row) };
            let (mut class, mut left) = (node.class.clone(), node.left.clone());
            rows.iter().for_each(|&k| class[places[k]] = Some(c));
            left[c] = left[c].checked_sub(rows.len())?;
            let cost = if rank == 0 { 0.0 } else { rows.iter().map(|&k| costs[c][k]).sum() };
            let deviation = node.deviation + cost;
            Some(Node { class, left, from: Rc::clone(&from), bound: node.bound, deviation })
        };
        order.iter().enumerate().rev().filter_map(child).collect()
    }
}

/// Solutions of the binary SVMs of a node.
struct NodeSolution {
    lower: f64,
    duals: Vec<Dual>,
    each: Vec<f64>,
}

impl NodeSolution {
    fn best(self, class: Vec<Option<usize>>) -> Best {
        let function = |d: &Dual| Function { alpha: d.alpha().to_vec(), bias: d.bias() };
        let functions = self.duals.iter().map(function).collect();
        Best { upper: self.each.iter().sum(), class, functions, each: self.each }
    }
}

/// Solves the binary SVMs of a node, starting from the parent's solutions; `None` if interrupted.
fn solve(
    machine: &mut KernelProblem<'_>,
    all: &JointMachines<'_>,
    node: &Node,
    watch: &dyn Watch,
) -> Option<NodeSolution> {
    let mut out = NodeSolution { lower: 0.0, duals: Vec::new(), each: Vec::new() };
    for (m, problem) in all.problems.iter().enumerate() {
        machine.dual = node.from[m].clone();
        machine.set_targets(&all.targets(m, &node.class), &problem.cost);
        if !machine.run(watch) {
            return None;
        }
        out.lower += machine.lower_bound();
        out.each.push(machine.primal());
        out.duals.push(machine.dual.clone());
    }
    Some(out)
}

/// A labeling with the functions f = 0, whose hinge loss is 1 everywhere.
fn zero_solution(all: &JointMachines<'_>, class: Vec<Option<usize>>) -> Best {
    let each: Vec<f64> = all.problems.iter().map(|p| p.cost.iter().sum()).collect();
    let zero = Function { alpha: vec![0.0; all.problems[0].y.len()], bias: 0.0 };
    Best { upper: each.iter().sum(), class, functions: vec![zero; each.len()], each }
}

/// Assigns the remaining rows to the only class left, if there is only one; returns true if no row is open then.
fn complete(node: &mut Node) -> bool {
    let mut left = (0..node.left.len()).filter(|c| node.left[*c] > 0);
    let rest = left.next().unwrap_or(0);
    if left.next().is_some() {
        return false;
    }
    node.class.iter_mut().for_each(|class| *class = class.or(Some(rest)));
    true
}

/// For each position the first unlabeled one with the same row and cost, whose labels are interchangeable.
fn alike(x: MatrixView<'_>, rows: &[usize], problem: &Problem) -> Vec<usize> {
    let mut first: HashMap<Vec<(usize, u64)>, usize> = HashMap::new();
    let mut alike: Vec<usize> = (0..rows.len()).collect();
    for &k in &problem.open {
        let mut key = vec![(usize::MAX, problem.cost[k].to_bits())];
        x.row(rows[k]).for_each(|c, v| {
            if v != 0.0 {
                key.push((c, v.to_bits()));
            }
        });
        alike[k] = *first.entry(key).or_insert(k);
    }
    alike
}

/// Maximum number of free support vectors in the estimate; with more, rows are treated as if none were free.
const MAX_FREE_VECTORS: usize = 512;
/// Prior variance of the free constant, treated as a function, in units of the mean of K(x, x).
const CONSTANT_VARIANCE: f64 = 10.0;
/// Ridge on the diagonal of the free support vectors' matrix, and minimum curvature of a row, in units of the mean of
/// K(x, x).
const MIN_CURVATURE: f64 = 1e-6;

/// Curvature of the dual along each unlabeled row when the free support vectors F follow: Kᵢᵢ − kᵢᵀ(K_F)⁻¹kᵢ. It is
/// small next to labeled rows. Only the order of the rows depends on it, so it may be inexact.
fn stiffness(
    (y, cost, dual): (&[f64], &[f64], &Dual),
    machine: &mut KernelProblem<'_>,
    open: &[usize],
    fit_intercept: bool,
) -> Vec<f64> {
    let diagonal: Vec<f64> = open.iter().map(|&i| machine.gram.diag(i)).collect();
    let alpha = dual.alpha();
    let is_free = |i: &usize| y[*i] != 0.0 && (1e-9..1.0 - 1e-9).contains(&(alpha[*i].abs() / cost[*i]));
    let free: Vec<usize> = (0..y.len()).filter(is_free).collect();
    if free.is_empty() || free.len() > MAX_FREE_VECTORS {
        return diagonal;
    }
    let mean = diagonal.iter().sum::<f64>() / diagonal.len() as f64;
    let constant = if fit_intercept { CONSTANT_VARIANCE * mean } else { 0.0 };
    let (mut among, mut across) = (Vec::with_capacity(free.len() * free.len()), vec![Vec::new(); open.len()]);
    for (k, &j) in free.iter().enumerate() {
        machine.gram.fetch(&[j]);
        let row = machine.gram.row(j);
        among.extend(free.iter().map(|&i| f64::from(row[i]) + constant));
        among[k * free.len() + k] = machine.gram.diag(j) + constant + MIN_CURVATURE * mean;
        open.iter().zip(&mut across).for_each(|(&i, of)| of.push(f64::from(row[i]) + constant));
    }
    let Ok(factor) = Cholesky::new(among, free.len()) else { return diagonal };
    let mut across = across.concat();
    factor.lower().solve_rows(&mut across);
    let rest = |(d, of): (&f64, &[f64])| d + constant - of.iter().map(|v| v * v).sum::<f64>();
    diagonal
        .iter()
        .zip(across.chunks_exact(free.len()))
        .map(rest)
        .map(|v| v.max(MIN_CURVATURE * mean))
        .collect()
}

impl Fit for BnbParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        s3vm::check(x, self.kernel, self.lambda, self.lambda_u, self.tolerance)?;
        if !(0.0..1.0).contains(&self.epsilon) {
            return Err(Error::parameter("epsilon", self.epsilon, "a number from 0, below 1"));
        }
        let this =
            Self { lambda: default_lambda::kernel(self.lambda, x, problems, self.kernel), ..self.clone() };
        let problems = Problems::new(x, problems, &this.ratio, this.lambda, this.lambda_u, watch)?;
        if let Some(many) = problems.each.iter().map(|p| p.open.len()).find(|u| *u > MAX_UNLABELED) {
            return Err(Error::Data(format!(
                "bnb-s3vm searches the labels of at most {MAX_UNLABELED} unlabeled rows, and there are {many}; \
                 use tsvm or da"
            )));
        }
        let mut gram = problems.gram(x, this.kernel, this.cache_bytes)?;
        let groups = JointMachines::groups(&problems.each);
        let search = |all: &JointMachines<'_>| {
            let caps =
                Caps { max: MAX_OPEN, warm: WARM_ROWS / (problems.rows.len() * all.problems.len()).max(1) };
            this.search(gram.as_mut(), all, &alike(x, &problems.rows, all.problems[0]), caps, watch)
        };
        let found: Vec<Incumbent> = groups.iter().map(search).collect();
        let record = |f: &Incumbent| {
            let (lower, upper) = (this.lambda * f.lower, this.lambda * f.best.upper);
            let bounds = [("lower_bound", lower.into()), ("upper_bound", upper.into())];
            s3vm::facts(this.lambda, [("nodes", f.nodes.into()), bounds[0].clone(), bounds[1].clone()])
        };
        let facts = found.iter().map(record).collect();
        let (mut labels, mut functions, mut reports) = (Vec::new(), Vec::new(), Vec::new());
        for found in found {
            for (m, (function, upper)) in found.best.functions.into_iter().zip(&found.best.each).enumerate() {
                let label = |class: &Option<usize>| class.map_or(-1.0, |c| sign(m, c));
                labels.push(found.best.class.iter().map(label).collect::<Vec<f64>>());
                functions.push(function);
                // the gap is that of all binary SVMs together, and the work is reported once
                let mut report = found.report;
                report.objective = this.lambda * upper;
                if m > 0 {
                    (report.steps, report.kernel_evaluations) = (0, 0);
                }
                reports.push(report);
            }
        }
        s3vm::fitted(x, this.kernel, &problems, &functions, Some(&labels), (facts, reports))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Label, Matrix};

    /// Points of three overlapping groups, the first of each with a label.
    fn three(rows: usize, seed: u32) -> (Matrix, Vec<Targets>) {
        let noise = |k: u32| f64::from((k * 7919 + seed * 104_729) % 1000) / 500.0 - 1.0;
        let point = |i: usize| {
            let (k, side) = (2 * i as u32, (i % 3) as f64);
            [side + 0.8 * noise(k), (side - 1.0).powi(2) + 0.8 * noise(k + 1)]
        };
        let x = Matrix::dense((0..rows).flat_map(point).collect(), rows, 2).unwrap();
        let of = |c: usize| {
            let label = |i: usize| match i {
                i if i > 2 => Label::Unknown,
                i if i == c => Label::Pos,
                _ => Label::Neg,
            };
            Targets { y: (0..rows).map(label).collect(), cost: vec![1.0; rows] }
        };
        (x, (0..3).map(of).collect())
    }

    /// For every limit of open and warm nodes the optimum is found, and the lower bound is valid.
    #[test]
    fn caps_change_the_order_and_not_the_optimum() {
        for seed in 1..6 {
            let (x, targets) = three(15, seed);
            for several in [false, true] {
                let targets = if several { &targets[..] } else { &targets[..1] };
                let ratio = Ratio::Labels;
                let params =
                    BnbParams { lambda: 0.05, epsilon: 1e-9, tolerance: 1e-7, ..BnbParams::default() };
                let problems = Problems::new(x.view(), targets, &ratio, 0.05, 1.0, &()).unwrap();
                let mut gram = problems.gram(x.view(), params.kernel, 1 << 20).unwrap();
                let all = JointMachines::groups(&problems.each).remove(0);
                let alike = alike(x.view(), &problems.rows, all.problems[0]);
                let mut found = |max, warm| {
                    let found = params.search(gram.as_mut(), &all, &alike, Caps { max, warm }, &());
                    assert!(found.lower <= found.best.upper && found.report.exit == Exit::Converged);
                    assert!(found.best.upper - found.lower < 1e-3 * found.best.upper);
                    (found.best.upper, found.nodes)
                };
                let (optimum, nodes) = found(MAX_OPEN, 1 << 9);
                assert!(nodes > 20, "only {nodes} nodes");
                for (max, warm) in [(0, 0), (2, 2), (8, 0), (MAX_OPEN, 0)] {
                    let (upper, _) = found(max, warm);
                    assert!((upper - optimum).abs() < 1e-4 * optimum, "{max} {warm}: {upper} {optimum}");
                }
            }
        }
    }
}
