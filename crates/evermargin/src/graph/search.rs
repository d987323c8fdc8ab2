//! Exact nearest neighbors of every row.
//!
//! Problem: for each row, the k other rows with the smallest (|a − b|², row number), in that order, so ties go to the lower
//! row. Squared distances of dense rows are Σ(a − b)² in double precision ([`within`] fixes the order of the sum), of
//! sparse rows |a|² + |b|² − 2ab.
//!
//! There are three methods with one result. Rows with few columns go into a k-d tree (`tree.rs`). Other dense rows are
//! compared by tiles of single-precision products, which only select the candidates to measure (`pairs.rs`). Sparse rows
//! use an index by columns (`columns.rs`). Threads process rows or tiles; no result depends on the number of threads.

use super::columns::Columns;
use super::pairs;
use super::tree::Tree;
use crate::data::{Matrix, MatrixView};
use crate::watch::{Progress, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Squared distances and row numbers, nearest first.
pub(super) type NeighborList = Vec<(f64, u32)>;

/// Number of rows searched between two calls of the watch.
const QUERIES: usize = 64;
/// Maximum number of columns for which a tree is faster than all pairs.
pub(super) const FEW_COLUMNS: usize = 8;
/// Sparse rows with fewer than one value in this many are searched by columns.
const SPARSE: usize = 8;

/// The k nearest neighbors of every row (fewer if there are fewer rows), nearest first, ties to the lower row; `None` if
/// `watch` ends the search.
pub fn neighbors(x: MatrixView<'_>, k: usize, watch: &dyn Watch) -> Option<Vec<Vec<u32>>> {
    let found = nearest(x, k, watch)?;
    Some(found.into_iter().map(|list| list.into_iter().map(|(_, j)| j).collect()).collect())
}

/// Same as [`neighbors`], with squared distances.
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

/// Compressed rows as dense ones if they are full enough to be searched as such.
pub(super) fn filled(x: MatrixView<'_>) -> Option<Matrix> {
    let full = x.nonzeros() >= x.rows().saturating_mul(x.cols()) / SPARSE;
    (matches!(x, MatrixView::Csr { .. }) && full).then(|| x.to_dense())
}

/// Index for queries of one row at a time.
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

    /// The k nearest neighbors of row `i`.
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

    /// The other rows within a squared distance of row `i`, by number; at most `max` + 1 of them.
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

/// The value of `find` for every row, or `None` if `watch` ends the loop.
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

/// Progress of several threads that work under one watch.
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

    /// Whether to process the next `pieces`.
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

/// The nearest rows found so far, in order.
pub(super) struct Nearest {
    pub(super) found: NeighborList,
    k: usize,
}

impl Nearest {
    /// An empty list for k ≥ 1 rows.
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

    /// Distance beyond which no row is kept.
    pub(super) fn reach(&self) -> f64 {
        if self.found.len() < self.k { f64::INFINITY } else { self.found[self.k - 1].0 }
    }
}

const LANES: usize = 8;

/// Σ(a − b)², with columns distributed over eight partial sums, or `None` if it exceeds `reach`. Sums only grow, so the
/// loop ends as soon as a partial sum exceeds it.
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

/// Σ g² over columns, summed in the order of [`within`].
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
    use crate::graph::columns::squared_distance;
    use rand::{RngExt, SeedableRng};

    /// The k nearest neighbors by sorting all other rows.
    fn brute_force(x: MatrixView<'_>, i: usize, k: usize) -> NeighborList {
        let distance = |j: usize| match (x.row(i), x.row(j)) {
            (Row::Dense(a), Row::Dense(b)) => {
                let mut sums = [0.0; 8];
                (0..a.len()).for_each(|c| sums[c % 8] += (a[c] - b[c]) * (a[c] - b[c]));
                add(&sums)
            }
            (a, b) => squared_distance(a.dot(b), a.norm2(), b.norm2()),
        };
        let mut others: NeighborList =
            (0..x.rows()).filter(|&j| j != i).map(|j| (distance(j), j as u32)).collect();
        others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        others.truncate(k);
        others
    }

    /// Compares every `step`-th row with the sorted distances of all pairs.
    fn assert_exact_at(values: Vec<f64>, rows: usize, cols: usize, ks: &[usize], step: usize) {
        let x = Matrix::dense(values, rows, cols).unwrap();
        for &k in ks {
            let found = nearest(x.view(), k, &()).unwrap();
            for i in (0..rows).step_by(step) {
                assert_eq!(found[i], brute_force(x.view(), i, k), "{rows} x {cols}, k = {k}, row {i}");
            }
        }
    }

    fn assert_exact(values: Vec<f64>, rows: usize, cols: usize, ks: &[usize]) {
        assert_exact_at(values, rows, cols, ks, 1);
    }

    /// Values between −1 and 1.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
        (0..count).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()
    }

    #[test]
    fn dense_and_sparse_rows_have_the_same_neighbors() {
        // integers: every product is exact, and there are many ties and copies
        let sparse: Vec<f64> =
            (0..200 * 40).map(|k| if k % 11 == 0 { (k % 7) as f64 } else { 0.0 }).collect();
        let sparse = Matrix::dense(sparse, 200, 40).unwrap();
        let csr = sparse.view().to_csr();
        assert!(csr.view().nonzeros() < 200 * 40 / SPARSE);
        assert_eq!(nearest(csr.view(), 6, &()).unwrap(), nearest(sparse.view(), 6, &()).unwrap());
        assert_eq!(nearest(csr.view(), 6, &()).unwrap()[17], brute_force(csr.view(), 17, 6));
        let full = Matrix::dense(noise(60 * 20, 1), 60, 20).unwrap();
        assert_eq!(nearest(full.view().to_csr().view(), 5, &()), nearest(full.view(), 5, &()));
    }

    #[test]
    fn tree_search_is_exact_with_ties_and_copies() {
        let ties: Vec<f64> = (0..700 * 3).map(|k| ((k * k + k / 7) % 5) as f64).collect();
        assert_exact(ties, 700, 3, &[1, 4, 9, 1000]);
        assert_exact(vec![0.25; 300 * 2], 300, 2, &[1, 7]);
        for cols in [1, 2, 5, FEW_COLUMNS] {
            assert_exact(noise(400 * cols, cols as u64), 400, cols, &[1, 10]);
        }
        let far: Vec<f64> = noise(200 * 2, 9).into_iter().map(|v| 1e99 * v).collect();
        assert_exact(far, 200, 2, &[3]);
    }

    #[test]
    fn all_pairs_search_is_exact_where_single_precision_fails() {
        let (rows, cols) = (450, 30);
        let wide = |f: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            noise(rows * cols, 3).into_iter().enumerate().map(|(at, v)| f(at, v)).collect()
        };
        assert_exact(wide(&|_, v| v), rows, cols, &[1, 10, 449]);
        // integers with many ties, copies of five rows, copies of one row
        assert_exact(wide(&|_, v| (2.0 * v).round()), rows, cols, &[1, 10]);
        assert_exact(wide(&|at, _| ((at / cols % 5) * (at % cols)) as f64), rows, cols, &[1, 10, 100]);
        assert_exact(vec![0.1; rows * cols], rows, cols, &[1, 10]);
        // differences below single precision, one far row, tiny and huge values
        assert_exact(wide(&|at, v| if at / cols == 7 { 1e6 } else { 1e-3 * v }), rows, cols, &[1, 10]);
        assert_exact(wide(&|at, v| if at / cols % 2 == 0 { 1e9 + v } else { v }), rows, cols, &[1, 10]);
        assert_exact(wide(&|_, v| 1e-320 * v), rows, cols, &[1, 10]);
        assert_exact(wide(&|_, v| 1e99 * v), rows, cols, &[1, 10]);
        assert_exact(wide(&|_, v| v * 1e-30f64.powf(v.abs())), rows, cols, &[3]);
    }

    #[test]
    fn projection_does_not_change_the_neighbors() {
        // 25 directions and little noise; noise so strong that some rows need a second search; copies
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
        assert_exact_at(data(0.01, 1), rows, cols, &[10], 13);
        assert_exact_at(data(1.5, 1), rows, cols, &[10], 13);
        assert_exact_at(data(0.01, 150), rows, cols, &[10], 13);
    }

    #[test]
    fn threads_do_not_change_neighbors_and_a_watch_ends_the_search() {
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
