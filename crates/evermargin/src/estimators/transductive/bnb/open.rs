//! What is open in a tree search: which node comes next, in bounded memory, and what those that are dropped say of the optimum.
//!
//! A plunge takes first choices. When it ends, the next one begins at the node whose way departed least from first choices; with
//! more than `max` open nodes the last comes next, as in a search depth first, so that no more than a way down is added. The
//! `warm` last nodes keep the solutions of their parents to start from, older ones start cold.

use crate::solver::smo::Dual;
use std::rc::Rc;

/// A partial labeling to look at.
pub(crate) struct Node {
    /// The class of each open row, if it was given one.
    pub class: Vec<Option<usize>>,
    /// Rows of each class still to be given.
    pub left: Vec<usize>,
    /// Solutions to start from, one a machine.
    pub from: Rc<Vec<Dual>>,
    /// The parent's bound.
    pub bound: f64,
    /// What the labels that are not first choices seemed to cost, of all on the way here.
    pub departed: f64,
}

/// How much may be open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    /// Nodes among which the next plunge is chosen.
    pub max: usize,
    /// Nodes that keep the solutions of their parents.
    pub warm: usize,
}

/// The open nodes, in the order in which they came.
pub(crate) struct OpenNodes {
    nodes: Vec<Node>,
    cold: Rc<Vec<Dual>>,
    caps: Caps,
    /// The least bound of all nodes that were dropped.
    dropped: f64,
    plunging: bool,
}

impl OpenNodes {
    pub fn new(root: Node, caps: Caps) -> Self {
        let cold = Rc::clone(&root.from);
        Self { nodes: vec![root], cold, caps, dropped: f64::INFINITY, plunging: true }
    }

    /// The child that was added last while a plunge goes on; else the node that departed least, of equal ones the first, or,
    /// of too many, the last.
    pub fn next(&mut self) -> Option<Node> {
        if std::mem::take(&mut self.plunging) || self.nodes.len() > self.caps.max {
            return self.nodes.pop();
        }
        let departed = |k: &usize| self.nodes[*k].departed;
        let least = (0..self.nodes.len()).min_by(|a, b| departed(a).total_cmp(&departed(b)))?;
        Some(self.nodes.remove(least))
    }

    /// Children of a node, the first choice last: the plunge goes on there.
    pub fn extend(&mut self, children: Vec<Node>) {
        self.nodes.extend(children);
        self.plunging = true;
        let old = self.nodes.len().saturating_sub(self.caps.warm.max(1));
        let warm = self.nodes[..old].iter_mut().rev().take_while(|n| !Rc::ptr_eq(&n.from, &self.cold));
        warm.for_each(|n| n.from = Rc::clone(&self.cold));
    }

    /// A node that is not followed any further, whose labelings cost this at least.
    pub fn drop(&mut self, bound: f64) {
        self.dropped = self.dropped.min(bound);
    }

    /// Drops every node that cannot lead below `cutoff`.
    pub fn sweep(&mut self, cutoff: f64) {
        let least = |least: f64, n: &Node| if n.bound >= cutoff { least.min(n.bound) } else { least };
        self.dropped = self.nodes.iter().fold(self.dropped, least);
        self.nodes.retain(|n| n.bound < cutoff);
    }

    /// What every labeling costs at least that was not looked at.
    pub fn lower(&self) -> f64 {
        self.nodes.iter().map(|n| n.bound).fold(self.dropped, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPS: Caps = Caps { max: 3, warm: 2 };

    fn node(departed: f64, bound: f64) -> Node {
        Node { class: Vec::new(), left: Vec::new(), from: Rc::new(Vec::new()), bound, departed }
    }

    fn open(nodes: &[(f64, f64)]) -> OpenNodes {
        let mut open = OpenNodes::new(node(0.0, 0.0), CAPS);
        open.next();
        open.extend(nodes.iter().map(|(d, b)| node(*d, *b)).collect());
        open
    }

    #[test]
    fn a_plunge_goes_on_where_least_was_departed_from() {
        let mut open = open(&[(2.0, 1.0), (0.5, 7.0), (0.5, 8.0), (3.0, 1.0)]);
        let order: Vec<(f64, f64)> =
            std::iter::from_fn(|| open.next()).map(|n| (n.departed, n.bound)).collect();
        assert_eq!(order, [(3.0, 1.0), (0.5, 7.0), (0.5, 8.0), (2.0, 1.0)]);
    }

    #[test]
    fn with_many_open_nodes_the_search_goes_deep() {
        let mut open = open(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0)]);
        let order: Vec<f64> = std::iter::from_fn(|| open.next()).map(|n| n.departed).collect();
        assert_eq!(order, [4.0, 3.0, 0.0, 1.0, 2.0], "until few enough are left");
    }

    #[test]
    fn only_the_last_nodes_stay_warm() {
        let mut open = open(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]);
        open.extend(vec![node(3.0, 1.0), node(4.0, 1.0)]);
        let warm: Vec<bool> = open.nodes.iter().map(|n| !Rc::ptr_eq(&n.from, &open.cold)).collect();
        assert_eq!(warm, [false, false, false, true, true]);
    }

    #[test]
    fn what_is_dropped_is_remembered() {
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
