//! A k-d tree (Bentley 1975) over dense rows: halves along the widest column, down to leaves, with a bounding box per node.
//!
//! The search is exact to the last bit. In every column the gap between a row and a box is at most the rounded difference
//! to any row inside, and [`squares`] adds columns in the same order as distances. Rounding is monotone, so the distance to
//! a box never exceeds the computed distance to a row in it. A box is skipped if it is farther than the worst row in the
//! list, or equally far while all its rows have higher numbers. The latter, together with splitting rows of equal value by
//! number, avoids comparing thousands of copies of one point pair by pair.
//!
//! Existing crates do not fit: kiddo and kdtree fix the number of columns at compile time or guarantee nothing about ties,
//! and kiddo refuses more copies of a point than fit into a leaf.

use super::search::{Nearest, NeighborList, squares, within};

/// Maximum number of rows in a leaf.
const LEAF: usize = 12;

pub(super) struct Tree<'a> {
    values: &'a [f64],
    cols: usize,
    /// Rows in the order of the leaves.
    order: Vec<u32>,
    packed: Vec<f64>,
    nodes: Vec<Node>,
    /// Lowest values, then highest values, of each node.
    boxes: Vec<f64>,
}

struct Node {
    start: u32,
    end: u32,
    /// The lowest row number inside.
    least: u32,
    /// The second child, 0 for a leaf; the first child is the next node.
    second: u32,
}

impl<'a> Tree<'a> {
    pub(super) fn new(values: &'a [f64], rows: usize, cols: usize) -> Self {
        let order = (0..rows as u32).collect();
        let mut tree = Self { values, cols, order, packed: Vec::new(), nodes: Vec::new(), boxes: Vec::new() };
        tree.grow(0, rows);
        tree.packed = Vec::with_capacity(rows * cols);
        for k in 0..rows {
            let row = row(values, cols, tree.order[k] as usize);
            tree.packed.extend_from_slice(row);
        }
        tree
    }

    /// Adds the node of these positions, and its descendants.
    fn grow(&mut self, start: usize, end: usize) {
        let (at, values, cols) = (self.nodes.len(), self.values, self.cols);
        let inside = &mut self.order[start..end];
        let least = inside.iter().copied().min().unwrap_or(0);
        let (mut low, mut high) = (vec![f64::INFINITY; cols], vec![f64::NEG_INFINITY; cols]);
        for &i in inside.iter() {
            for (c, &v) in row(values, cols, i as usize).iter().enumerate() {
                low[c] = low[c].min(v);
                high[c] = high[c].max(v);
            }
        }
        let width = |c: &usize| high[*c] - low[*c];
        let widest = (0..cols).rev().max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(0);
        self.boxes.extend(low);
        self.boxes.extend(high);
        self.nodes.push(Node { start: start as u32, end: end as u32, least, second: 0 });
        if end - start <= LEAF {
            return;
        }
        let middle = (end - start) / 2;
        let value = |i: u32| row(values, cols, i as usize).get(widest).copied().unwrap_or(0.0);
        inside.select_nth_unstable_by(middle, |a, b| value(*a).total_cmp(&value(*b)).then(a.cmp(b)));
        self.grow(start, start + middle);
        self.nodes[at].second = self.nodes.len() as u32;
        self.grow(start + middle, end);
    }

    /// Offers the list every row except `own` that it could keep.
    pub(super) fn nearest(&self, own: usize, list: &mut Nearest) {
        self.descend(0, own, row(self.values, self.cols, own), list);
    }

    fn descend(&self, at: usize, own: usize, query: &[f64], list: &mut Nearest) {
        let node = &self.nodes[at];
        if node.second == 0 {
            return self.rows(node).filter(|(i, _)| *i as usize != own).for_each(|(i, row)| {
                if let Some(d) = within(query, row, list.reach()) {
                    list.offer(d, i);
                }
            });
        }
        let child = |c: usize| (self.gap(query, c), self.nodes[c].least, c);
        let (a, b) = (child(at + 1), child(node.second as usize));
        let both = if a <= b { [a, b] } else { [b, a] };
        for (gap, least, c) in both {
            if list.admits(gap, least) {
                self.descend(c, own, query, list);
            }
        }
    }

    /// The rows except `own` within a squared distance, by number; at most `max` + 1 of them.
    pub(super) fn within(&self, own: usize, reach: f64, max: usize) -> NeighborList {
        let query = row(self.values, self.cols, own);
        let (mut found, mut stack) = (Vec::new(), vec![0]);
        while let Some(at) = stack.pop() {
            let node = &self.nodes[at];
            if found.len() > max || self.gap(query, at) > reach {
                continue;
            }
            if node.second == 0 {
                let near = self.rows(node).filter(|(i, _)| *i as usize != own);
                found.extend(near.filter_map(|(i, row)| within(query, row, reach).map(|d| (d, i))));
            } else {
                stack.extend([node.second as usize, at + 1]);
            }
        }
        found.sort_unstable_by_key(|(_, i)| *i);
        found.truncate(max.saturating_add(1));
        found
    }

    fn rows(&self, node: &Node) -> impl Iterator<Item = (u32, &[f64])> {
        let (start, end) = (node.start as usize, node.end as usize);
        (start..end).map(|k| (self.order[k], row(&self.packed, self.cols, k)))
    }

    /// The squared distance from a row to the box of a node.
    fn gap(&self, query: &[f64], node: usize) -> f64 {
        let (low, high) = self.boxes[2 * node * self.cols..][..2 * self.cols].split_at(self.cols);
        squares(query.iter().zip(low.iter().zip(high)).map(|(q, (l, h))| (l - q).max(q - h).max(0.0)))
    }
}

fn row(values: &[f64], cols: usize, i: usize) -> &[f64] {
    &values[i * cols..(i + 1) * cols]
}
