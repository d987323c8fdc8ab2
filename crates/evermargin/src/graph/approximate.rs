//! Approximate nearest neighbors, for data with too many rows to compare all pairs.
//!
//! Problem: as in `search.rs`, but a few of the k nearest may be missed. Random projection trees give each row a first
//! list: they halve the rows along the difference of two random rows, down to leaves within which all rows are compared
//! (Dasgupta & Freund 2008). Then neighbors of neighbors are compared until few lists change (Dong, Moses & Li, "Efficient
//! k-nearest neighbor graph construction for generic similarity measures", WWW 2011). Both steps use the embedding of the
//! leading directions (`projection.rs`), where a distance costs a sixth; the remaining candidates are measured in double
//! precision.
//!
//! Departures from Dong et al.: a row writes only to its own list, from the lists of the previous round, so the result
//! depends on nothing but the data; the price is that a pair may be measured from both of its ends. Existing crates bring
//! a whole index each and do not guarantee the same result for any number of threads.
//!
//! Sparse data, few columns and few rows are searched exactly: exact search is fast enough there, or an embedding would be
//! too large.

use super::pairs::Embedding;
use super::search::{self, Nearest, NeighborList, Steps, each, filled, within};
use crate::data::{Matrix, MatrixView};
use crate::math::simd;
use crate::watch::Watch;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Minimum number of rows for approximate search; fewer are searched exactly.
const MIN_ROWS: usize = 4096;
/// Number of trees, and maximum number of rows in a leaf.
const TREES: u64 = 6;
const LEAF: usize = 48;
/// Maximum number of rounds over neighbors of neighbors, and the fraction of changed entries below which they end.
const ROUNDS: usize = 8;
const SETTLED: f64 = 0.002;

/// A neighbor in the embedding: squared distance, row, and whether the last round added it.
type Entry = (f32, u32, bool);

/// The k nearest neighbors of every row, with few errors.
pub(super) fn nearest(x: MatrixView<'_>, k: usize, watch: &dyn Watch) -> Option<Vec<NeighborList>> {
    let filled = filled(x);
    let view = filled.as_ref().map_or(x, Matrix::view);
    let embedding = match view {
        MatrixView::Dense { values, rows, cols } if rows >= MIN_ROWS && cols > search::FEW_COLUMNS => {
            Embedding::best(values, cols).map(|p| (p, values, cols))
        }
        _ => None,
    };
    let Some((embedding, values, cols)) = embedding else { return search::nearest(x, k, watch) };
    let k = k.min(view.rows() - 1);
    let descent = Descent { embedding: &embedding, k, room: 3 * k + 8 };
    let lists = descent.run(watch)?;
    let row = |i: usize| &values[i * cols..(i + 1) * cols];
    each(view.rows(), watch, |i, _| {
        let mut list = Nearest::new(k);
        for &(_, j, _) in &lists[i] {
            if let Some(d) = within(row(i), row(j as usize), list.reach()) {
                list.offer(d, j);
            }
        }
        list.found
    })
}

struct Descent<'p> {
    embedding: &'p Embedding,
    k: usize,
    room: usize,
}

impl Descent<'_> {
    fn run(&self, watch: &dyn Watch) -> Option<Vec<Vec<Entry>>> {
        let n = self.embedding.rows();
        let steps = Steps::new(TREES as usize + ROUNDS, watch);
        let mut lists: Vec<Vec<Entry>> = vec![Vec::new(); n];
        for tree in 0..TREES {
            if !steps.proceed(1) {
                return None;
            }
            self.compare_within_leaves(tree, &mut lists);
        }
        for _ in 0..ROUNDS {
            if !steps.proceed(1) {
                return None;
            }
            let (next, changed) = self.round(&lists);
            lists = next;
            if (changed as f64) < SETTLED * (n * self.k) as f64 {
                break;
            }
        }
        Some(lists)
    }

    /// Compares every row with the rows of its leaf.
    fn compare_within_leaves(&self, tree: u64, lists: &mut [Vec<Entry>]) {
        let mut order: Vec<u32> = (0..lists.len() as u32).collect();
        self.split(&mut order, tree, 1);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(p, &i)| place[i as usize] = p);
        lists.par_iter_mut().enumerate().for_each(|(i, list)| {
            let (mut start, mut end) = (0, order.len());
            while end - start > LEAF {
                let middle = start + (end - start) / 2;
                (start, end) = if place[i] < middle { (start, middle) } else { (middle, end) };
            }
            self.offer(i, &order[start..end], list);
        });
    }

    /// Orders rows so that each half, recursively, holds rows near each other.
    fn split(&self, order: &mut [u32], tree: u64, node: u64) {
        if order.len() <= LEAF {
            return;
        }
        let mut rng = rand_pcg::Pcg64::seed_from_u64(tree << 48 ^ node);
        let mut any = || self.embedding.row(order[rng.random_range(0..order.len())] as usize);
        let (a, b) = (any(), any());
        let direction: Vec<f64> = a.iter().zip(b).map(|(a, b)| f64::from(a - b)).collect();
        let mut along: Vec<(f64, u32)> = order
            .par_iter()
            .with_min_len(256)
            .map(|&i| (simd::dot(self.embedding.row(i as usize), &direction), i))
            .collect();
        let middle = order.len() / 2;
        along.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        order.iter_mut().zip(along).for_each(|(o, (_, i))| *o = i);
        let (low, high) = order.split_at_mut(middle);
        rayon::join(|| self.split(low, tree, 2 * node), || self.split(high, tree, 2 * node + 1));
    }

    /// The lists after comparing neighbors of neighbors, and how many of their first k entries changed.
    fn round(&self, lists: &[Vec<Entry>]) -> (Vec<Vec<Entry>>, usize) {
        let reverse = self.reversed(lists);
        let around = |i: usize| lists[i].iter().take(self.k).chain(&reverse[i]);
        let one = |i: usize| {
            let mut tried = Vec::new();
            for &(_, middle, fresh) in around(i) {
                tried.extend(around(middle as usize).filter(|p| fresh || p.2).map(|p| p.1));
            }
            tried.sort_unstable();
            tried.dedup();
            let mut list: Vec<Entry> = lists[i].iter().map(|&(d, j, _)| (d, j, false)).collect();
            self.offer(i, &tried, &mut list);
            let changed = list.iter().take(self.k).filter(|p| p.2).count();
            (list, changed)
        };
        let done: Vec<(Vec<Entry>, usize)> = (0..lists.len()).into_par_iter().map(one).collect();
        let changed = done.iter().map(|d| d.1).sum();
        (done.into_iter().map(|d| d.0).collect(), changed)
    }

    /// For each row, the nearest k of the rows that have it among their first k.
    fn reversed(&self, lists: &[Vec<Entry>]) -> Vec<Vec<Entry>> {
        let mut reverse: Vec<Vec<Entry>> = vec![Vec::new(); lists.len()];
        for (i, list) in lists.iter().enumerate() {
            list.iter()
                .take(self.k)
                .for_each(|&(d, j, fresh)| reverse[j as usize].push((d, i as u32, fresh)));
        }
        reverse.par_iter_mut().for_each(|list| {
            list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            list.truncate(self.k);
        });
        reverse
    }

    /// Inserts those of `rows` that are near enough, ordered by distance, then row number.
    fn offer(&self, i: usize, rows: &[u32], list: &mut Vec<Entry>) {
        let own = self.embedding.row(i);
        for &j in rows {
            if j as usize == i || list.iter().any(|p| p.1 == j) {
                continue;
            }
            let d = simd::distance_f32(own, self.embedding.row(j as usize));
            let before = |p: &Entry| (p.0, p.1) < (d, j);
            if list.len() == self.room {
                if list.last().is_some_and(before) {
                    continue;
                }
                list.pop();
            }
            let place = list.partition_point(before);
            list.insert(place, (d, j, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::{GenerateParams, generate};

    /// Points on a curved sheet in many columns.
    fn sheet(rows: usize, cols: usize) -> Matrix {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(4);
        let mut values = Vec::with_capacity(rows * cols);
        for _ in 0..rows {
            let (a, b, c) = (rng.random::<f64>(), rng.random::<f64>(), rng.random::<f64>());
            values.extend(
                (0..cols)
                    .map(|k| (3.0 * a + k as f64).sin() + (2.0 * b * k as f64).cos() + c * (k % 3) as f64),
            );
        }
        Matrix::dense(values, rows, cols).unwrap()
    }

    #[test]
    fn recall_exceeds_97_percent_and_lists_are_sorted() {
        let x = sheet(6000, 24);
        let (near, exact) =
            (nearest(x.view(), 10, &()).unwrap(), search::nearest(x.view(), 10, &()).unwrap());
        let shared = |i: usize| near[i].iter().filter(|p| exact[i].contains(p)).count();
        let recall = (0..6000).map(shared).sum::<usize>() as f64 / 60_000.0;
        assert!(recall > 0.97, "{recall}");
        assert!(near.iter().all(|list| list.len() == 10 && list.is_sorted()));
    }

    #[test]
    fn result_is_bit_identical_for_any_number_of_threads() {
        let x = sheet(5000, 20);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| nearest(x.view(), 5, &()).unwrap())
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn few_rows_few_columns_and_sparse_data_are_searched_exactly() {
        let moons = generate("two-moons", &GenerateParams { rows: 5000, ..Default::default() }).unwrap().0;
        for x in [&sheet(300, 20), &moons, &moons.view().to_csr().with_cols(50)] {
            assert_eq!(nearest(x.view(), 4, &()), search::nearest(x.view(), 4, &()));
        }
        // more copies than fit into a leaf or a list
        let copies = Matrix::dense(vec![0.5; 4200 * 9], 4200, 9).unwrap();
        assert!(nearest(copies.view(), 3, &()).unwrap().iter().all(|l| l.len() == 3 && l[2].0 == 0.0));
    }
}
