//! Open nodes of a tree search: choice of the next node in bounded memory, and the lower bound of dropped nodes.
//!
//! A plunge follows first choices. When it ends, the next one starts at the node with the smallest estimated cost of
//! deviations from first choices; with more than `max` open nodes the last node is next, as in depth-first search, so
//! that no more than one path down is added. The last `warm` nodes keep the solutions of their parents as a warm start;
//! older ones start cold.

use crate::solver::smo::Dual;
use std::rc::Rc;

/// A node of the tree: a partial labeling.
pub(crate) struct Node {
    /// Class of each unlabeled row, if one is assigned.
    pub class: Vec<Option<usize>>,
    /// Number of rows of each class still to be assigned.
    pub left: Vec<usize>,
    /// Initial solutions, one per binary SVM.
    pub from: Rc<Vec<Dual>>,
    /// Lower bound of the parent.
    pub bound: f64,
    /// Estimated cost of all labels on the path that are not first choices.
    pub deviation: f64,
}

/// Limits of the open nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    /// Maximum number of nodes among which the next plunge is chosen.
    pub max: usize,
    /// Number of nodes that keep the solutions of their parents.
    pub warm: usize,
}

/// Open nodes in the order in which they were added.
pub(crate) struct OpenNodes {
    nodes: Vec<Node>,
    cold: Rc<Vec<Dual>>,
    caps: Caps,
    /// Smallest bound of all nodes that were dropped.
    dropped: f64,
    plunging: bool,
}

impl OpenNodes {
    pub fn new(root: Node, caps: Caps) -> Self {
        let cold = Rc::clone(&root.from);
        Self { nodes: vec![root], cold, caps, dropped: f64::INFINITY, plunging: true }
    }

    /// During a plunge, the child that was added last; otherwise the node with the smallest deviation, the first in
    /// ties; or the last node if there are too many.
    pub fn next(&mut self) -> Option<Node> {
        if std::mem::take(&mut self.plunging) || self.nodes.len() > self.caps.max {
            return self.nodes.pop();
        }
        let deviation = |k: &usize| self.nodes[*k].deviation;
        let least = (0..self.nodes.len()).min_by(|a, b| deviation(a).total_cmp(&deviation(b)))?;
        Some(self.nodes.remove(least))
    }

    /// Adds the children of a node, with the first choice last: the plunge continues there.
    pub fn extend(&mut self, children: Vec<Node>) {
        self.nodes.extend(children);
        self.plunging = true;
        let old = self.nodes.len().saturating_sub(self.caps.warm.max(1));
        let warm = self.nodes[..old].iter_mut().rev().take_while(|n| !Rc::ptr_eq(&n.from, &self.cold));
        warm.for_each(|n| n.from = Rc::clone(&self.cold));
    }

    /// Records that a node with this lower bound is not explored further.
    pub fn drop(&mut self, bound: f64) {
        self.dropped = self.dropped.min(bound);
    }

    /// Drops every node that cannot improve on `cutoff`.
    pub fn sweep(&mut self, cutoff: f64) {
        let least = |least: f64, n: &Node| if n.bound >= cutoff { least.min(n.bound) } else { least };
        self.dropped = self.nodes.iter().fold(self.dropped, least);
        self.nodes.retain(|n| n.bound < cutoff);
    }

    /// Lower bound of the cost of all labelings that were not explored.
    pub fn lower(&self) -> f64 {
        self.nodes.iter().map(|n| n.bound).fold(self.dropped, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { max: 3, warm: 2 };

    fn node(deviation: f64, bound: f64) -> Node {
        Node { class: Vec::new(), left: Vec::new(), from: Rc::new(Vec::new()), bound, deviation }
    }

    fn open(nodes: &[(f64, f64)]) -> OpenNodes {
        let mut open = OpenNodes::new(node(0.0, 0.0), CAPS);
        open.next();
        open.extend(nodes.iter().map(|(d, b)| node(*d, *b)).collect());
        open
    }

    #[test]
    fn next_plunge_starts_at_the_smallest_deviation() {
        let mut open = open(&[(2.0, 1.0), (0.5, 7.0), (0.5, 8.0), (3.0, 1.0)]);
        let order: Vec<(f64, f64)> =
            std::iter::from_fn(|| open.next()).map(|n| (n.deviation, n.bound)).collect();
        assert_eq!(order, [(3.0, 1.0), (0.5, 7.0), (0.5, 8.0), (2.0, 1.0)]);
    }

    #[test]
    fn searches_depth_first_with_many_open_nodes() {
        let mut open = open(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0)]);
        let order: Vec<f64> = std::iter::from_fn(|| open.next()).map(|n| n.deviation).collect();
        assert_eq!(order, [4.0, 3.0, 0.0, 1.0, 2.0], "depth first until few enough nodes are left");
    }

    #[test]
    fn only_the_last_nodes_keep_warm_starts() {
        let mut open = open(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]);
        open.extend(vec![node(3.0, 1.0), node(4.0, 1.0)]);
        let warm: Vec<bool> = open.nodes.iter().map(|n| !Rc::ptr_eq(&n.from, &open.cold)).collect();
        assert_eq!(warm, [false, false, false, true, true]);
    }

    #[test]
    fn lower_bound_includes_dropped_nodes() {
        let mut open = open(&[(0.0, 3.0), (1.0, 5.0), (2.0, 4.0)]);
        assert_eq!(open.lower(), 3.0);
        open.sweep(4.0);
        assert_eq!((open.nodes.len(), open.dropped), (1, 4.0));
        open.next();
        assert_eq!(open.lower(), 4.0);
        open.drop(2.0);
        assert_eq!(open.lower(), 2.0);
    }
}
