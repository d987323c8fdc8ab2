//! Exact nearest neighbors of dense rows by all pairs: single precision selects candidates, double precision measures them.
//!
//! An [`Embedding`] of the rows never increases a distance. For each row the m nearest rows in the embedding are kept and
//! then measured in double precision, in the order of their distance in the embedding. If the k-th distance found is
//! smaller than the embedded distance of all dropped rows, the result is exact. Otherwise the row is searched again in a
//! better embedding, and finally compared with every row in double precision. Embeddings, in this order: the leading
//! directions of the data (`projection.rs`), if they hold most of its variance; all columns; none. Copies, ties and
//! columns far from their mean therefore cost time, never exactness, and no result depends on the order of tiles.
//!
//! Each pair of tiles is multiplied once, and both sides use the products. Columns are centered and scaled by a power of
//! two to at most 1 (this keeps distances and shrinks products). With nᵢ = |aᵢ|² of the centered rows, u = 2⁻²⁴ and d
//! columns, rounding the values, multiplying and adding them in any order errs by at most γ(nᵢ + nⱼ)/2,
//! γ = (d + 2)u/(1 − (d + 2)u), because Σ|aᵢaⱼ| ≤ (nᵢ + nⱼ)/2 (Higham, Accuracy and Stability of Numerical Algorithms,
//! section 3.1). The roundings of lengths, sums and the double-precision distances are covered by 16u. So with c = γ + 16u
//! and the computed product p
//!
//!   |aᵢ − aⱼ|² ≥ (1 − c)(nᵢ + nⱼ) − 2p = 2(hᵢ − s),    h = (1 − c)n/2,    nearness s = p − hⱼ.
//!
//! Memory: an embedding in single precision, 8k + 64 candidates per row and one tile of products per thread.

use super::projection;
use super::search::{Nearest, NeighborList, Steps, each, within};
use crate::math::{linalg, simd};
use crate::watch::Watch;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Rows per tile.
const TILE: usize = 384;
/// Half the distance between 1 and the next single-precision number.
const UNIT: f64 = 1.0 / 16_777_216.0;
/// Upper bound on the total underflow in a product of values of at most 1.
const UNDERFLOW: f64 = 1e-30;
/// Maximum number of columns for which the error bound is useful.
const MAX_COLUMNS: usize = 1 << 20;

/// The k ≥ 1 nearest neighbors of each of `rows` rows of `values`.
pub(super) fn nearest(
    values: &[f64],
    rows: usize,
    cols: usize,
    k: usize,
    watch: &dyn Watch,
) -> Option<Vec<NeighborList>> {
    let row = |i: usize| &values[i * cols..(i + 1) * cols];
    let mut out = vec![Vec::new(); rows];
    let mut queries: Vec<u32> = (0..rows as u32).collect();
    let center = Center::new(values, cols);
    for stage in [projection::embedding, Embedding::whole] {
        if queries.is_empty() {
            return Some(out);
        }
        let Some(embedding) = stage(values, cols, &center) else { continue };
        let kept = embedding.candidates(&queries, 4 * k + 32, watch)?;
        let answers = each(queries.len(), watch, |a, _| {
            let i = queries[a] as usize;
            embedding.resolve(i, k, &kept[a], row)
        })?;
        let mut left = Vec::new();
        for (i, answer) in queries.into_iter().zip(answers) {
            match answer {
                Some(found) => out[i as usize] = found,
                None => left.push(i),
            }
        }
        queries = left;
    }
    let answers = each(queries.len(), watch, |a, _| scan(queries[a] as usize, rows, row, k))?;
    queries.into_iter().zip(answers).for_each(|(i, found)| out[i as usize] = found);
    Some(out)
}

/// Compares row `i` with all others in ascending order; stops after k copies, because no row can be nearer.
fn scan<'v>(i: usize, rows: usize, row: impl Fn(usize) -> &'v [f64], k: usize) -> NeighborList {
    let mut list = Nearest::new(k);
    for j in (0..rows).filter(|&j| j != i) {
        if list.reach() == 0.0 {
            break;
        }
        if let Some(d) = within(row(i), row(j), list.reach()) {
            list.offer(d, j as u32);
        }
    }
    list.found
}

/// Mean of each column, and one scale for all columns.
pub(super) struct Center {
    mean: Vec<f64>,
    scale: f64,
}

impl Center {
    pub(super) fn new(x: &[f64], cols: usize) -> Self {
        let mut mean = vec![0.0; cols];
        for row in x.chunks_exact(cols) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v);
        }
        mean.iter_mut().for_each(|m| *m *= cols as f64 / x.len() as f64);
        let spread = |row: &[f64]| row.iter().zip(&mean).map(|(v, m)| (v - m).abs()).fold(0.0, f64::max);
        let largest = x.par_chunks_exact(cols).map(spread).reduce(|| 0.0, f64::max);
        let scale = if largest > 0.0 { (-largest.log2().ceil()).min(1000.0).exp2() } else { 1.0 };
        Self { mean, scale }
    }

    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    pub(super) fn of<'r>(&'r self, row: &'r [f64]) -> impl Iterator<Item = f64> + 'r {
        row.iter().zip(&self.mean).map(|(v, m)| (v - m) * self.scale)
    }
}

/// Rows in single precision whose distances are not larger than those of the rows they represent.
pub(super) struct Embedding {
    values: Vec<f32>,
    cols: usize,
    half: Vec<f32>,
    scale: f64,
}

impl Embedding {
    /// Creates an embedding with the points `values`; `norms` holds the squared length nᵢ of each row. Apart from
    /// rounding errors in single precision, the squared distance of points i and j exceeds that of the rows by at most
    /// `excess`·(nᵢ + nⱼ).
    pub(super) fn new(values: Vec<f32>, cols: usize, norms: &[f64], excess: f64, scale: f64) -> Self {
        let d = (cols + 2) as f64 * UNIT;
        let c = d / (1.0 - d) + 16.0 * UNIT + excess;
        Self { values, cols, half: norms.iter().map(|n| ((1.0 - c) * n / 2.0) as f32).collect(), scale }
    }

    /// Embedding of all columns.
    fn whole(x: &[f64], cols: usize, center: &Center) -> Option<Self> {
        if cols > MAX_COLUMNS {
            return None;
        }
        let mut values = vec![0.0f32; x.len()];
        let rows = values.par_chunks_exact_mut(cols).zip(x.par_chunks_exact(cols));
        let fill = |(out, row): (&mut [f32], &[f64])| {
            out.iter_mut()
                .zip(center.of(row))
                .map(|(out, v)| {
                    *out = v as f32;
                    v * v
                })
                .sum()
        };
        let norms: Vec<f64> = rows.map(fill).collect();
        Some(Self::new(values, cols, &norms, 0.0, center.scale))
    }

    /// The projection on leading directions, or all columns if there is no useful projection.
    #[cfg(feature = "approximate")]
    pub(super) fn best(x: &[f64], cols: usize) -> Option<Self> {
        let center = Center::new(x, cols);
        projection::embedding(x, cols, &center).or_else(|| Self::whole(x, cols, &center))
    }

    #[cfg(feature = "approximate")]
    pub(super) fn row(&self, i: usize) -> &[f32] {
        self.of(&(i..i + 1))
    }

    /// At least the `room` nearest rows in this embedding for each row of `queries`.
    fn candidates(&self, queries: &[u32], room: usize, watch: &dyn Watch) -> Option<Vec<CandidateNeighbors>> {
        let all: Vec<Range<usize>> =
            (0..self.rows()).step_by(TILE).map(|t| t..self.rows().min(t + TILE)).collect();
        let lists = if queries.len() == self.rows() {
            self.candidates_of_all(&all, room, watch)
        } else {
            self.candidates_of_some(&all, queries, room, watch)
        };
        Some(lists?.into_iter().flat_map(|side| side.kept).collect())
    }

    /// Candidates of all rows: each pair of tiles is multiplied once and serves both sides.
    fn candidates_of_all(
        &self,
        tiles: &[Range<usize>],
        room: usize,
        watch: &dyn Watch,
    ) -> Option<Vec<CandidateLists>> {
        let tile_lists: Vec<Mutex<CandidateLists>> = tiles
            .iter()
            .map(|t| Mutex::new(CandidateLists::new(t.clone().map(|i| i as u32).collect(), room)))
            .collect();
        let tile_pairs: Vec<(usize, usize)> =
            (0..tiles.len()).flat_map(|a| (a..tiles.len()).map(move |b| (a, b))).collect();
        let steps = Steps::new(tile_pairs.len(), watch);
        tile_pairs.into_par_iter().for_each_init(Scratch::default, |scratch, (a, b)| {
            if !steps.proceed(1) {
                return;
            }
            let (ours, theirs) = (&tiles[a], &tiles[b]);
            self.multiply(self.of(ours), theirs, scratch);
            let open = |t: usize| tile_lists[t].lock().unwrap_or_else(PoisonError::into_inner);
            open(a).compare_with_tile(&self.half[theirs.clone()], theirs.start, scratch);
            if a != b {
                open(b).compare_with_transposed_tile(&self.half[ours.clone()], ours.start, scratch);
            }
        });
        let tile_lists =
            tile_lists.into_iter().map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner));
        steps.finished().then(|| tile_lists.collect())
    }

    /// Candidates of some rows among all rows.
    fn candidates_of_some(
        &self,
        tiles: &[Range<usize>],
        queries: &[u32],
        room: usize,
        watch: &dyn Watch,
    ) -> Option<Vec<CandidateLists>> {
        let steps = Steps::new(queries.len(), watch);
        let tile_lists = queries.par_chunks(TILE).map_init(Scratch::default, |scratch, own| {
            let mut side = CandidateLists::new(own.to_vec(), room);
            let mut gathered = Vec::with_capacity(own.len() * self.cols);
            own.iter().for_each(|&i| gathered.extend_from_slice(self.of(&(i as usize..i as usize + 1))));
            let proceed = steps.proceed(own.len());
            for tile in tiles.iter().filter(|_| proceed) {
                self.multiply(&gathered, tile, scratch);
                side.compare_with_tile(&self.half[tile.clone()], tile.start, scratch);
            }
            side
        });
        let tile_lists = tile_lists.collect();
        steps.finished().then_some(tile_lists)
    }

    /// Products of `own` rows with a tile: for each own row a run as long as the tile.
    fn multiply(&self, own: &[f32], tile: &Range<usize>, scratch: &mut Scratch) {
        let (m, n) = (tile.len(), own.len() / self.cols);
        scratch.products.resize(m * n, 0.0);
        linalg::cross_products(self.of(tile), m, own, n, self.cols, &mut scratch.products);
    }

    /// The neighbors of row `i`, or `None` if the candidates do not suffice to prove them.
    fn resolve<'v>(
        &self,
        i: usize,
        k: usize,
        kept: &CandidateNeighbors,
        row: impl Fn(usize) -> &'v [f64],
    ) -> Option<NeighborList> {
        let half = f64::from(self.half[i]) - UNDERFLOW;
        let far = |s: f32, reach: f64| half - f64::from(s) > reach * self.scale * self.scale / 2.0;
        let mut near = kept.near.clone();
        near.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut list = Nearest::new(k);
        for four in near.chunks(4) {
            if far(four[0].0, list.reach()) {
                break;
            }
            let others = std::array::from_fn(|l| row(four[l.min(four.len() - 1)].1 as usize));
            let distances = simd::distances(row(i), others);
            four.iter().zip(distances).for_each(|((_, j), d)| list.offer(d, *j));
        }
        far(kept.limit, list.reach()).then_some(list.found)
    }

    fn of(&self, rows: &Range<usize>) -> &[f32] {
        &self.values[rows.start * self.cols..rows.end * self.cols]
    }

    pub(super) fn rows(&self) -> usize {
        self.half.len()
    }
}

#[derive(Default)]
struct Scratch {
    products: Vec<f32>,
    hits: Vec<u32>,
}

/// Nearness and index of the candidates of a row; no row nearer than `limit` was dropped.
struct CandidateNeighbors {
    near: Vec<(f32, u32)>,
    limit: f32,
}

/// Candidates of some rows.
struct CandidateLists {
    own: Vec<u32>,
    limits: Vec<f32>,
    kept: Vec<CandidateNeighbors>,
    room: usize,
}

impl CandidateLists {
    fn new(own: Vec<u32>, room: usize) -> Self {
        let limits = vec![f32::NEG_INFINITY; own.len()];
        let kept =
            own.iter().map(|_| CandidateNeighbors { near: Vec::new(), limit: f32::NEG_INFINITY }).collect();
        Self { own, limits, kept, room }
    }

    /// Offers the rows of a tile to these rows, from products with one run per own row.
    fn compare_with_tile(&mut self, half: &[f32], first: usize, scratch: &mut Scratch) {
        let Scratch { products, hits } = scratch;
        for (r, products) in products.chunks_exact(half.len()).enumerate() {
            simd::reaching(products, half, self.limits[r], hits);
            for &h in hits.iter() {
                self.keep(r, products[h as usize] - half[h as usize], first + h as usize);
            }
        }
    }

    /// Offers the rows of a tile to these rows, from products with one run per row of the tile.
    fn compare_with_transposed_tile(&mut self, half: &[f32], first: usize, scratch: &mut Scratch) {
        let Scratch { products, hits } = scratch;
        for (o, products) in products.chunks_exact(self.own.len()).enumerate() {
            simd::reaching(products, &self.limits, half[o], hits);
            for &h in hits.iter() {
                self.keep(h as usize, products[h as usize] - half[o], first + o);
            }
        }
    }

    fn keep(&mut self, r: usize, nearness: f32, j: usize) {
        let kept = &mut self.kept[r];
        if self.own[r] as usize == j || nearness < kept.limit {
            return;
        }
        kept.near.push((nearness, j as u32));
        if kept.near.len() >= 2 * self.room {
            kept.near.select_nth_unstable_by(self.room, |a, b| b.0.total_cmp(&a.0));
            kept.limit = kept.near[self.room].0;
            kept.near.truncate(self.room);
            self.limits[r] = kept.limit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_of_some_rows_equal_those_of_all_rows() {
        let (rows, cols, k) = (900, 12, 5);
        let values: Vec<f64> = (0..rows * cols).map(|v| ((v * v + v / 3) % 101) as f64).collect();
        let row = |i: usize| &values[i * cols..(i + 1) * cols];
        let embedding = Embedding::whole(&values, cols, &Center::new(&values, cols)).unwrap();
        let some: Vec<u32> = (0..rows as u32).filter(|i| i % 3 == 1).collect();
        let all: Vec<u32> = (0..rows as u32).collect();
        let answers = |queries: &[u32]| -> Vec<(u32, Option<NeighborList>)> {
            let kept = embedding.candidates(queries, 4 * k + 32, &()).unwrap();
            queries
                .iter()
                .zip(&kept)
                .map(|(&i, kept)| (i, embedding.resolve(i as usize, k, kept, row)))
                .collect()
        };
        let every = answers(&all);
        let mut settled = 0;
        for (i, found) in answers(&some) {
            settled += usize::from(found.is_some());
            assert_eq!(every[i as usize], (i, found.clone()));
            assert!(found.is_none_or(|found| found == scan(i as usize, rows, row, k)));
        }
        assert!(settled > 250, "{settled}");
    }

    #[test]
    fn resolve_returns_none_for_ties_beyond_the_candidates() {
        // 300 copies of three points: candidates cannot decide which five to return
        let values: Vec<f64> = (0..900 * 12).map(|v| (v / 12 % 3 * (v % 12)) as f64).collect();
        let row = |i: usize| &values[i * 12..(i + 1) * 12];
        let embedding = Embedding::whole(&values, 12, &Center::new(&values, 12)).unwrap();
        let kept = embedding.candidates(&(0..900).collect::<Vec<_>>(), 52, &()).unwrap();
        assert!((0..900).all(|i| embedding.resolve(i, 5, &kept[i], row).is_none()));
        let expected: NeighborList = [3, 6, 9, 12, 15].map(|j| (0.0, j)).to_vec();
        assert_eq!(nearest(&values, 900, 12, 5, &()).unwrap()[0], expected);
    }
}
