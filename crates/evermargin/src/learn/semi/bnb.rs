//! `bnb-s3vm`: the global optimum of the semi-supervised support vector machine by branch and bound (Chapelle, Sindhwani &
//! Keerthi 2006; Sindhwani 2007, section 3.2), for few unlabelled rows.
//!
//! Problem: that of `semi::s3vm` with the hinge loss, exactly round(r·u) labels y' positive; minimised over all of them.
//!
//! Method: a tree of partial labelings, depth first. A node is bounded below by the dual value of the machine on the rows
//! labelled so far (any feasible α gives a valid bound, so that inexact solutions prune nothing wrongly; the bound grows down
//! the tree). It is dropped when its bound reaches (1 − ε)·best, and completed when one class has all its rows. Branching: the
//! row and label whose addition would cost most, by one step of its variable that the free support vectors follow; the
//! opposite, confident label is explored first. Following matters: it makes a row next to labelled ones stiff, so that labels
//! spread from neighbour to neighbour, where the outputs alone begin with the rows far out on either side.
//! Rows that are equal are interchangeable, and of labelings that differ by an exchange one is searched.
//! Solutions start from the parent's. The first upper bound is that of label switching ([`super::tsvm`]).
//!
//! The lower bound that is reported is the least over all nodes dropped or left, so the gap is valid also when the limit of
//! nodes ends the search. This is a loop of its own because it is a search over trees, not a descent; what it does at a node is
//! the dual loop.

use super::super::{Fit, Fitted, Targets};
use super::s3vm::{self, Function, Machine, Problem, Problems};
use super::tsvm::Switching;
use super::{Ratio, scale};
use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::gram::Gram;
use crate::kernel::Kernel;
use crate::linalg::Cholesky;
use crate::solve::smo::Dual;
use crate::solve::{Exit, Progress, Report, Watch};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::rc::Rc;

/// Parameters of [`bnb-s3vm`](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BnbParams {
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of |f|²; 0 means 0.01 times the mean of K(x, x).
    pub lambda: f64,
    /// Weight of the loss of the unlabelled rows beside that of the labelled ones; 0 leaves them out.
    pub lambda_u: f64,
    /// Share of positives among the unlabelled rows.
    pub ratio: Ratio,
    /// The objective found is at most this share above the optimum.
    pub epsilon: f64,
    /// Most nodes; 0 means no limit.
    pub max_nodes: u64,
    /// Largest violation of the optimality conditions at a node.
    pub tolerance: f64,
    /// Whether to learn a constant, not regularised.
    pub bias: bool,
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
            bias: true,
            cache_bytes: 1 << 30,
        }
    }
}

/// Most unlabelled rows; beyond, the tree is hopeless unless clusters are far apart.
pub const MOST_UNLABELED: usize = 300;

/// A labeling with what it costs.
struct Best {
    upper: f64,
    y: Vec<f64>,
    function: Function,
}

/// A partial labeling to look at.
struct Node {
    y: Vec<f64>,
    /// Positives and negatives still to be given.
    left: [usize; 2],
    /// The parent's solution and bound.
    from: Rc<Dual>,
    bound: f64,
}

/// The outcome of a search.
struct Found {
    best: Best,
    lower: f64,
    nodes: u64,
    report: Report,
}

impl BnbParams {
    fn search(&self, gram: &mut dyn Gram, problem: &Problem, alike: &[usize], watch: &dyn Watch) -> Found {
        let switching = Switching {
            bias: self.bias,
            tolerance: self.tolerance,
            switch: 0,
            lambda: self.lambda,
            lambda_u: self.lambda_u,
        };
        let start = switching.solve(gram, problem, watch);
        let mut y = problem.y.clone();
        problem.open.iter().zip(&start.labels).for_each(|(&i, l)| y[i] = *l);
        let mut best = Best { upper: start.report.objective / self.lambda, y, function: start.function };
        let mut report = start.report;
        let mut machine =
            Machine::new(gram, problem.y.clone(), problem.cost.clone(), self.bias, self.tolerance);
        let positives = problem.positives;
        let root = Node {
            y: problem.y.clone(),
            left: [positives, problem.open.len() - positives],
            from: Rc::new(machine.dual.clone()),
            bound: 0.0,
        };
        let mut stack = vec![root];
        let (mut lower, mut nodes) = (f64::INFINITY, 0);
        let mut exit = report.exit;
        while let Some(mut node) = stack.pop() {
            if node.bound >= self.cutoff(&best) {
                lower = lower.min(node.bound);
                continue;
            }
            let violation = 1.0 - node.bound / best.upper.max(f64::MIN_POSITIVE);
            let progress = Progress { steps: nodes, violation, tolerance: self.epsilon };
            if exit == Exit::Interrupted || !watch.proceed(&progress) {
                exit = Exit::Interrupted;
            } else if self.max_nodes > 0 && nodes >= self.max_nodes {
                exit = Exit::Limit;
            } else {
                exit = Exit::Converged;
            }
            if exit != Exit::Converged {
                lower = stack.iter().map(|n| n.bound).fold(lower.min(node.bound), f64::min);
                break;
            }
            nodes += 1;
            let leaf = complete(&mut node, problem);
            machine.dual = node.from.as_ref().clone();
            machine.pose(&node.y, &problem.cost);
            if !machine.run(watch) {
                exit = Exit::Interrupted;
                lower = stack.iter().map(|n| n.bound).fold(lower.min(node.bound), f64::min);
                break;
            }
            node.bound = node.bound.max(machine.lower_bound());
            if leaf {
                lower = lower.min(node.bound);
                let upper = machine.primal();
                if upper < best.upper {
                    best = Best { upper, y: node.y, function: machine.function() };
                }
            } else if node.bound >= self.cutoff(&best) {
                lower = lower.min(node.bound);
            } else {
                stack.extend(self.branch(&node, &mut machine, problem, alike));
            }
        }
        report.steps += machine.report.steps;
        report.kernel_evaluations += machine.report.kernel_evaluations;
        report.exit = exit;
        lower = lower.min(best.upper);
        report.objective = self.lambda * best.upper;
        report.gap = self.lambda * (best.upper - lower);
        Found { best, lower, nodes, report }
    }

    fn cutoff(&self, best: &Best) -> f64 {
        (1.0 - self.epsilon) * best.upper
    }

    /// The two children of the row whose label is plainest, the plain label last, so that it is taken first. Of rows that are
    /// alike only the number of labels counts: one at least has the plain label, or all have the other (if so many are left).
    fn branch(
        &self,
        node: &Node,
        machine: &mut Machine<'_>,
        problem: &Problem,
        alike: &[usize],
    ) -> Vec<Node> {
        let f = machine.dual.decisions();
        let open: Vec<usize> = problem.open.iter().copied().filter(|&i| node.y[i] == 0.0).collect();
        let mut best = (f64::NEG_INFINITY, 0, 1.0);
        for (&i, stiff) in open.iter().zip(stiffness(node, machine, &open, self.bias)) {
            for y in [1.0, -1.0] {
                let violation = 1.0 + y * f[i]; // of the label −y
                let step = (violation / stiff.max(1e-12)).clamp(0.0, problem.cost[i]);
                let cost = step * violation - 0.5 * step * step * stiff;
                if cost > best.0 {
                    best = (cost, i, y);
                }
            }
        }
        let (_, row, plain) = best;
        let from = Rc::new(machine.dual.clone());
        let child = |rows: &[usize], label: f64| {
            let (mut y, mut left) = (node.y.clone(), node.left);
            rows.iter().for_each(|&i| y[i] = label);
            let side = usize::from(label < 0.0);
            left[side] = left[side].checked_sub(rows.len())?;
            Some(Node { y, left, from: Rc::clone(&from), bound: node.bound })
        };
        let all: Vec<usize> = open.into_iter().filter(|&i| alike[i] == alike[row]).collect();
        [child(&all, -plain), child(&[row], plain)].into_iter().flatten().collect()
    }
}

/// Gives the rest of the rows the one label that is left, if only one is; true if nothing is open then.
fn complete(node: &mut Node, problem: &Problem) -> bool {
    if node.left[0] > 0 && node.left[1] > 0 {
        return false;
    }
    let rest = if node.left[0] > 0 { 1.0 } else { -1.0 };
    for &i in &problem.open {
        if node.y[i] == 0.0 {
            node.y[i] = rest;
        }
    }
    true
}

/// For each place the first open one with the same row and cost: their labels may be exchanged.
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

/// Free support vectors that are followed; with more, rows are taken as if none were free.
const FOLLOWED: usize = 512;
/// The free constant as a function of so wide a prior, in means of K(x, x).
const CONSTANT: f64 = 10.0;
/// Added to the diagonal of the free support vectors' matrix, and least that is left of a row, in means of K(x, x).
const LEAST: f64 = 1e-6;

/// The curvature of the dual along each open row when the free support vectors F follow: Kᵢᵢ − kᵢᵀ(K_F)⁻¹kᵢ. It is small next to
/// rows that are labelled. An order is all that is taken from it, so it may be inexact.
fn stiffness(node: &Node, machine: &mut Machine<'_>, open: &[usize], bias: bool) -> Vec<f64> {
    let diagonal: Vec<f64> = open.iter().map(|&i| machine.gram.diag(i)).collect();
    let alpha = machine.dual.alpha();
    let is_free =
        |i: &usize| node.y[*i] != 0.0 && (1e-9..1.0 - 1e-9).contains(&(alpha[*i].abs() / machine.cost[*i]));
    let free: Vec<usize> = (0..node.y.len()).filter(is_free).collect();
    if free.is_empty() || free.len() > FOLLOWED {
        return diagonal;
    }
    let mean = diagonal.iter().sum::<f64>() / diagonal.len() as f64;
    let constant = if bias { CONSTANT * mean } else { 0.0 };
    let (mut among, mut across) = (Vec::with_capacity(free.len() * free.len()), vec![Vec::new(); open.len()]);
    for (k, &j) in free.iter().enumerate() {
        machine.gram.fetch(&[j]);
        let row = machine.gram.row(j);
        among.extend(free.iter().map(|&i| f64::from(row[i]) + constant));
        among[k * free.len() + k] = machine.gram.diag(j) + constant + LEAST * mean;
        open.iter().zip(&mut across).for_each(|(&i, of)| of.push(f64::from(row[i]) + constant));
    }
    let Ok(factor) = Cholesky::new(among, free.len()) else { return diagonal };
    let mut across = across.concat();
    factor.lower().solve_rows(&mut across);
    let rest = |(d, of): (&f64, &[f64])| d + constant - of.iter().map(|v| v * v).sum::<f64>();
    diagonal.iter().zip(across.chunks_exact(free.len())).map(rest).map(|v| v.max(LEAST * mean)).collect()
}

impl Fit for BnbParams {
    fn fit(&self, x: MatrixView<'_>, problems: &[Targets], watch: &dyn Watch) -> Result<Fitted> {
        s3vm::check(x, self.kernel, self.lambda, self.lambda_u, self.tolerance)?;
        if !(0.0..1.0).contains(&self.epsilon) {
            return Err(Error::parameter("epsilon", self.epsilon, "a number from 0, below 1"));
        }
        let this = Self { lambda: scale::kernel(self.lambda, x, problems, self.kernel), ..self.clone() };
        let problems = Problems::new(x, problems, &this.ratio, this.lambda, this.lambda_u, watch)?;
        if let Some(many) = problems.each.iter().map(|p| p.open.len()).find(|u| *u > MOST_UNLABELED) {
            return Err(Error::Data(format!(
                "bnb-s3vm searches the labels of at most {MOST_UNLABELED} unlabelled rows, and there are {many}; \
                 use tsvm or da"
            )));
        }
        let mut gram = problems.gram(x, this.kernel, this.cache_bytes)?;
        let search = |p: &Problem| this.search(gram.as_mut(), p, &alike(x, &problems.rows, p), watch);
        let found: Vec<Found> = problems.each.iter().map(search).collect();
        let told = |f: &Found| {
            let (lower, upper) = (this.lambda * f.lower, this.lambda * f.best.upper);
            let bounds = [("lower_bound", lower.into()), ("upper_bound", upper.into())];
            s3vm::facts(this.lambda, [("nodes", f.nodes.into()), bounds[0].clone(), bounds[1].clone()])
        };
        let facts = found.iter().map(told).collect();
        let reports = found.iter().map(|f| f.report).collect();
        let label = |(f, p): (&Found, &Problem)| p.open.iter().map(|&i| f.best.y[i]).collect();
        let labels: Vec<Vec<f64>> = found.iter().zip(&problems.each).map(label).collect();
        let functions: Vec<Function> = found.into_iter().map(|f| f.best.function).collect();
        s3vm::fitted(x, this.kernel, &problems, &functions, Some(&labels), (facts, reports))
    }

    fn supervised(&self) -> Option<Box<dyn Fit>> {
        Some(Box::new(Self { lambda_u: 0.0, ..self.clone() }))
    }
}
