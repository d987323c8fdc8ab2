//! The nearest others of every row, exactly.
//!
//! Problem: of each row the k others of smallest (|a − b|², row), in that order; so ties go to the lower row. Squared
//! distances of dense rows are Σ(a − b)² in double precision ([`within`] fixes the order of the sum), of sparse rows
//! |a|² + |b|² − 2ab.
//!
//! Three ways, one answer: rows of few columns go into a k-d tree (`tree.rs`); dense rows meet in tiles of single-precision
//! products, which only choose whom to measure (`pairs.rs`); sparse rows meet through the lists of their columns
//! (`columns.rs`). Threads take rows or tiles; no answer depends on their number.

use super::columns::Columns;
use super::pairs;
use super::tree::Tree;
use crate::data::{Matrix, MatrixView};
use crate::watch::{Progress, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Squared distances and rows, the nearest first.
pub(super) type NeighborList = Vec<(f64, u32)>;

/// Rows searched between two questions to the watch.
const QUERIES: usize = 64;
/// Up to so many columns a tree is quicker than all pairs.
pub(super) const FEW_COLUMNS: usize = 8;
/// Sparse rows with fewer than one value in so many are searched by columns.
const SPARSE: usize = 8;

/// The k nearest others of every row (fewer if there are not so many), the nearest first, ties to the lower row; none if
/// `watch` ends the search.
pub fn neighbors(x: MatrixView<'_>, k: usize, watch: &dyn Watch) -> Option<Vec<Vec<u32>>> {
    let found = nearest(x, k, watch)?;
    Some(found.into_iter().map(|list| list.into_iter().map(|(_, j)| j).collect()).collect())
}

/// As [`neighbors`], with squared distances.
pub(super) fn nearest(x: MatrixView<'_>, k: usize, watch: &dyn Watch) -> Option<Vec<NeighborList>> {
    let k = k.min(x.rows().saturating_sub(1));
    if k == 0 {
        return Some(vec![Vec::new(); x.rows()]);
    }
    let filled = filled(x);
    let x = filled.as_ref().map_or(x, Matrix::view);
    match x {
        MatrixView::Dense { values, rows, cols } if cols > FEW_COLUMNS => {
            pairs::nearest(values, rows, cols, k, watch)
        }
        _ => {
            let finder = Finder::new(x);
            each(x.rows(), watch, |i, scratch| finder.nearest(i, k, scratch))
        }
    }
}

/// Compressed rows that are full enough to be searched as dense ones.
pub(super) fn filled(x: MatrixView<'_>) -> Option<Matrix> {
    let full = x.nonzeros() >= x.rows().saturating_mul(x.cols()) / SPARSE;
    (matches!(x, MatrixView::Csr { .. }) && full).then(|| x.to_dense())
}

/// Answers questions about one row at a time.
pub(super) enum Finder<'a> {
    Tree(Tree<'a>),
    Columns(Columns<'a>),
}

impl<'a> Finder<'a> {
    pub(super) fn new(x: MatrixView<'a>) -> Self {
        match x {
            MatrixView::Dense { values, rows, cols } => Self::Tree(Tree::new(values, rows, cols)),
            MatrixView::Csr { .. } => Self::Columns(Columns::new(x)),
        }
    }

    /// The k nearest others of row `i`.
    pub(super) fn nearest(&self, i: usize, k: usize, scratch: &mut Vec<f64>) -> NeighborList {
        let mut list = Nearest::new(k);
        match self {
            Self::Tree(tree) => tree.nearest(i, &mut list),
            Self::Columns(columns) => {
                columns.distances(i, scratch);
                scratch
                    .iter()
                    .zip(0..)
                    .filter(|(_, j)| *j as usize != i)
                    .for_each(|(d, j)| list.offer(*d, j));
            }
        }
        list.found
    }

    /// The others of row `i` within a squared distance, at most `max` of them and one more, by rows.
    pub(super) fn within(&self, i: usize, reach: f64, max: usize, scratch: &mut Vec<f64>) -> NeighborList {
        match self {
            Self::Tree(tree) => tree.within(i, reach, max),
            Self::Columns(columns) => {
                columns.distances(i, scratch);
                let near = scratch.iter().copied().zip(0..);
                near.filter(|(d, j)| *j as usize != i && *d <= reach).take(max.saturating_add(1)).collect()
            }
        }
    }
}

/// What `find` tells of every row, or none if `watch` ends it.
pub(super) fn each<T: Send + Clone + Default>(
    n: usize,
    watch: &dyn Watch,
    find: impl Fn(usize, &mut Vec<f64>) -> T + Sync,
) -> Option<Vec<T>> {
    let steps = Steps::new(n, watch);
    let mut out = vec![T::default(); n];
    out.par_chunks_mut(QUERIES).enumerate().for_each_init(Vec::new, |scratch, (chunk, out)| {
        if steps.proceed(out.len()) {
            let rows = chunk * QUERIES..;
            out.iter_mut().zip(rows).for_each(|(out, i)| *out = find(i, scratch));
        }
    });
    steps.finished().then_some(out)
}

/// Pieces of work done by several threads under one watch.
pub(super) struct Steps<'w> {
    done: AtomicU64,
    stopped: AtomicBool,
    all: usize,
    watch: &'w dyn Watch,
}

impl<'w> Steps<'w> {
    pub(super) fn new(all: usize, watch: &'w dyn Watch) -> Self {
        Self { done: AtomicU64::new(0), stopped: AtomicBool::new(false), all, watch }
    }

    /// Whether to do the next `pieces`.
    pub(super) fn proceed(&self, pieces: usize) -> bool {
        let steps = self.done.fetch_add(pieces as u64, Ordering::Relaxed);
        let progress = Progress { steps, violation: 1.0 - steps as f64 / self.all as f64, tolerance: 0.0 };
        let go = !self.stopped.load(Ordering::Relaxed) && self.watch.proceed(&progress);
        if !go {
            self.stopped.store(true, Ordering::Relaxed);
        }
        go
    }

    pub(super) fn finished(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }
}

/// The nearest so far, in order.
pub(super) struct Nearest {
    pub(super) found: NeighborList,
    k: usize,
}

impl Nearest {
    /// Room for k ≥ 1.
    pub(super) fn new(k: usize) -> Self {
        Self { found: Vec::with_capacity(k + 1), k }
    }

    pub(super) fn offer(&mut self, distance: f64, row: u32) {
        if !self.admits(distance, row) {
            return;
        }
        if self.found.len() == self.k {
            self.found.pop();
        }
        let place = self.found.partition_point(|e| *e < (distance, row));
        self.found.insert(place, (distance, row));
    }

    /// Whether a row at this distance would be kept.
    pub(super) fn admits(&self, distance: f64, row: u32) -> bool {
        self.found.len() < self.k || (distance, row) < self.found[self.k - 1]
    }

    /// No row farther than this is kept.
    pub(super) fn reach(&self) -> f64 {
        if self.found.len() < self.k { f64::INFINITY } else { self.found[self.k - 1].0 }
    }
}

const LANES: usize = 8;

/// Σ(a − b)², its columns dealt to eight sums, if it is at most `reach`. Sums only grow, so that it is known to exceed as soon as a part of it does.
pub(super) fn within(a: &[f64], b: &[f64], reach: f64) -> Option<f64> {
    const PART: usize = 64;
    let mut sums = [0.0; LANES];
    let mut total = 0.0;
    for (a, b) in a.chunks(PART).zip(b.chunks(PART)) {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (a, b) in a.iter().zip(b) {
            for l in 0..LANES {
                sums[l] += (a[l] - b[l]) * (a[l] - b[l]);
            }
        }
        for (sum, (a, b)) in sums.iter_mut().zip(a_rest.iter().zip(b_rest)) {
            *sum += (a - b) * (a - b);
        }
        total = add(&sums);
        if total > reach {
            return None;
        }
    }
    Some(total)
}

/// Σ g² of the columns' values, summed as [`within`] does.
pub(super) fn squares(values: impl Iterator<Item = f64>) -> f64 {
    let mut sums = [0.0; LANES];
    values.enumerate().for_each(|(c, g)| sums[c % LANES] += g * g);
    add(&sums)
}

fn add(s: &[f64; LANES]) -> f64 {
    ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;
    use crate::graph::columns::apart;
    use rand::{RngExt, SeedableRng};

    /// All others of a row, sorted.
    fn plainly(x: MatrixView<'_>, i: usize, k: usize) -> NeighborList {
        let distance = |j: usize| match (x.row(i), x.row(j)) {
            (Row::Dense(a), Row::Dense(b)) => {
                let mut sums = [0.0; 8];
                (0..a.len()).for_each(|c| sums[c % 8] += (a[c] - b[c]) * (a[c] - b[c]));
                add(&sums)
            }
            (a, b) => apart(a.dot(b), a.norm2(), b.norm2()),
        };
        let mut others: NeighborList =
            (0..x.rows()).filter(|&j| j != i).map(|j| (distance(j), j as u32)).collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        others.truncate(k);
        others
    }

    /// Compares one row in `step` with all pairs sorted.
    fn agrees_at(values: Vec<f64>, rows: usize, cols: usize, ks: &[usize], step: usize) {
        let x = Matrix::dense(values, rows, cols).unwrap();
        for &k in ks {
            let found = nearest(x.view(), k, &()).unwrap();
            for i in (0..rows).step_by(step) {
                assert_eq!(found[i], plainly(x.view(), i, k), "{rows} x {cols}, k = {k}, row {i}");
            }
        }
    }

    fn agrees(values: Vec<f64>, rows: usize, cols: usize, ks: &[usize]) {
        agrees_at(values, rows, cols, ks, 1);
    }

    /// Values between −1 and 1.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        (0..count).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()
    }

    #[test]
    fn dense_and_sparse_rows_have_the_same_neighbors() {
        // whole numbers: every product is exact, and ties and copies are many
        let sparse: Vec<f64> =
            (0..200 * 40).map(|k| if k % 11 == 0 { (k % 7) as f64 } else { 0.0 }).collect();
        let sparse = Matrix::dense(sparse, 200, 40).unwrap();
        let csr = sparse.view().to_csr();
        assert!(csr.view().nonzeros() < 200 * 40 / SPARSE);
        assert_eq!(nearest(csr.view(), 6, &()).unwrap(), nearest(sparse.view(), 6, &()).unwrap());
        assert_eq!(nearest(csr.view(), 6, &()).unwrap()[17], plainly(csr.view(), 17, 6));
        let full = Matrix::dense(noise(60 * 20, 1), 60, 20).unwrap();
        assert_eq!(nearest(full.view().to_csr().view(), 5, &()), nearest(full.view(), 5, &()));
    }

    #[test]
    fn a_tree_is_exact_with_ties_and_copies() {
        let ties: Vec<f64> = (0..700 * 3).map(|k| ((k * k + k / 7) % 5) as f64).collect();
        agrees(ties, 700, 3, &[1, 4, 9, 1000]);
        agrees(vec![0.25; 300 * 2], 300, 2, &[1, 7]);
        for cols in [1, 2, 5, FEW_COLUMNS] {
            agrees(noise(400 * cols, cols as u64), 400, cols, &[1, 10]);
        }
        let far: Vec<f64> = noise(200 * 2, 9).into_iter().map(|v| 1e99 * v).collect();
        agrees(far, 200, 2, &[3]);
    }

    #[test]
    fn pairs_are_exact_whatever_single_precision_sees() {
        let (rows, cols) = (450, 30);
        let wide = |f: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            noise(rows * cols, 3).into_iter().enumerate().map(|(at, v)| f(at, v)).collect()
        };
        agrees(wide(&|_, v| v), rows, cols, &[1, 10, 449]);
        // whole numbers with many ties, copies of five rows, copies of one
        agrees(wide(&|_, v| (2.0 * v).round()), rows, cols, &[1, 10]);
        agrees(wide(&|at, _| ((at / cols % 5) * (at % cols)) as f64), rows, cols, &[1, 10, 100]);
        agrees(vec![0.1; rows * cols], rows, cols, &[1, 10]);
        // differences that single precision cannot hold, one far row, tiny and huge values
        agrees(wide(&|at, v| if at / cols == 7 { 1e6 } else { 1e-3 * v }), rows, cols, &[1, 10]);
        agrees(wide(&|at, v| if at / cols % 2 == 0 { 1e9 + v } else { v }), rows, cols, &[1, 10]);
        agrees(wide(&|_, v| 1e-320 * v), rows, cols, &[1, 10]);
        agrees(wide(&|_, v| 1e99 * v), rows, cols, &[1, 10]);
        agrees(wide(&|_, v| v * 1e-30f64.powf(v.abs())), rows, cols, &[3]);
    }

    #[test]
    fn a_projection_changes_no_answer() {
        // 25 directions and a little noise; then noise so strong that some rows must ask again; then copies
        let (rows, cols) = (1200, 400);
        let shapes = noise(25 * cols, 5);
        let data = |spread: f64, copies: usize| -> Vec<f64> {
            let (parts, rough) = (noise(rows * 25, 6), noise(rows * cols, 7));
            let value = |i: usize, c: usize| {
                (0..25).map(|s| parts[i * 25 + s] * shapes[s * cols + c]).sum::<f64>()
                    + spread * rough[i * cols + c]
            };
            (0..rows * cols).map(|at| value(at / cols / copies, at % cols)).collect()
        };
        agrees_at(data(0.01, 1), rows, cols, &[10], 13);
        agrees_at(data(1.5, 1), rows, cols, &[10], 13);
        agrees_at(data(0.01, 150), rows, cols, &[10], 13);
    }

    #[test]
    fn threads_and_interruption() {
        struct Until(u64, AtomicU64);
        impl Watch for Until {
            fn proceed(&self, _: &Progress) -> bool {
                self.1.fetch_add(1, Ordering::Relaxed) < self.0
            }
        }
        for cols in [2, 50] {
            let x = Matrix::dense(noise(900 * cols, 8), 900, cols).unwrap();
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| nearest(x.view(), 12, &()))
            };
            assert_eq!(run(1), run(2));
            assert_eq!(run(1), run(4));
            for pieces in 0..6 {
                assert!(nearest(x.view(), 12, &Until(pieces, AtomicU64::new(0))).is_none());
            }
        }
    }
}
