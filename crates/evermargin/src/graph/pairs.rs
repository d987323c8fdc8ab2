//! All pairs of dense rows, in single precision to choose, in double precision to answer.
//!
//! A [`Picture`] of the rows never puts two of them farther apart than they are. Of each row the m nearest in the picture
//! are kept, then measured in double precision, the nearest in the picture first. If the k-th distance found is smaller than
//! the distance in the picture of all that were dropped, the answer is exact; else the row asks again in a better picture,
//! and at last compares itself with every row in double precision. Pictures, in this order: the leading directions of the
//! data (`projection.rs`), if they hold most of its variance; all columns; none. So copies, ties and columns far from
//! their mean cost time, never truth; and nothing depends on the order in which tiles meet.
//!
//! Each pair of tiles is multiplied once and offered to both sides. Columns are centered and scaled by a power of two to at
//! most 1 (distances keep, products shrink). With nᵢ = |aᵢ|² of the centered rows, u = 2⁻²⁴ and d columns, rounding the
//! values, multiplying and adding them in any order errs by at most γ(nᵢ + nⱼ)/2, γ = (d + 2)u/(1 − (d + 2)u), because
//! Σ|aᵢaⱼ| ≤ (nᵢ + nⱼ)/2 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). A few roundings more, of
//! lengths, sums and of the double-precision answer, are covered by 16u. So with c = γ + 16u and the computed product p
//!
//!   |aᵢ − aⱼ|² ≥ (1 − c)(nᵢ + nⱼ) − 2p = 2(hᵢ − s),    h = (1 − c)n/2,    nearness s = p − hⱼ.
//!
//! Memory: a picture in single precision, 8k + 64 candidates a row, a tile of products a thread.

use super::projection;
use super::search::{Nearest, NeighborList, Steps, each, within};
use crate::math::{linalg, simd};
use crate::watch::Watch;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Rows of a tile.
const TILE: usize = 384;
/// Half the distance between 1 and the next single-precision number.
const UNIT: f64 = 1.0 / 16_777_216.0;
/// More than all that underflows in a product of values of at most 1.
const UNDERFLOW: f64 = 1e-30;
/// Columns for which the bound still says something.
const MAX_COLUMNS: usize = 1 << 20;

/// The k ≥ 1 nearest others of each of `rows` rows of `values`.
pub(super) fn nearest(
    values: &[f64],
    rows: usize,
    cols: usize,
    k: usize,
    watch: &dyn Watch,
) -> Option<Vec<NeighborList>> {
    let row = |i: usize| &values[i * cols..(i + 1) * cols];
    let mut out = vec![Vec::new(); rows];
    let mut asking: Vec<u32> = (0..rows as u32).collect();
    let center = Center::new(values, cols);
    for stage in [projection::picture, Picture::whole] {
        if asking.is_empty() {
            return Some(out);
        }
        let Some(picture) = stage(values, cols, &center) else { continue };
        let kept = picture.candidates(&asking, 4 * k + 32, watch)?;
        let answers = each(asking.len(), watch, |a, _| {
            let i = asking[a] as usize;
            picture.resolve(i, k, &kept[a], row)
        })?;
        let mut left = Vec::new();
        for (i, answer) in asking.into_iter().zip(answers) {
            match answer {
                Some(found) => out[i as usize] = found,
                None => left.push(i),
            }
        }
        asking = left;
    }
    let answers = each(asking.len(), watch, |a, _| scan(asking[a] as usize, rows, row, k))?;
    asking.into_iter().zip(answers).for_each(|(i, found)| out[i as usize] = found);
    Some(out)
}

/// Compares row `i` with all others, lower rows first; none is nearer than k copies.
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

/// How columns are centered and scaled.
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

/// Rows in single precision, no two farther apart than the rows they stand for.
pub(super) struct Picture {
    values: Vec<f32>,
    cols: usize,
    half: Vec<f32>,
    scale: f64,
}

impl Picture {
    /// Of `values` with squared lengths `norms`, whose squared distances are at most (1 + `excess`)(nᵢ + nⱼ) too large.
    pub(super) fn new(values: Vec<f32>, cols: usize, norms: &[f64], excess: f64, scale: f64) -> Self {
        let d = (cols + 2) as f64 * UNIT;
        let c = d / (1.0 - d) + 16.0 * UNIT + excess;
        Self { values, cols, half: norms.iter().map(|n| ((1.0 - c) * n / 2.0) as f32).collect(), scale }
    }

    /// All columns.
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

    /// The first that can be had.
    #[cfg(feature = "approximate")]
    pub(super) fn best(x: &[f64], cols: usize) -> Option<Self> {
        let center = Center::new(x, cols);
        projection::picture(x, cols, &center).or_else(|| Self::whole(x, cols, &center))
    }

    #[cfg(feature = "approximate")]
    pub(super) fn row(&self, i: usize) -> &[f32] {
        self.of(&(i..i + 1))
    }

    /// For each row asking the `room` nearest here, at least.
    fn candidates(&self, asking: &[u32], room: usize, watch: &dyn Watch) -> Option<Vec<CandidateNeighbors>> {
        let all: Vec<Range<usize>> =
            (0..self.rows()).step_by(TILE).map(|t| t..self.rows().min(t + TILE)).collect();
        let pieces = if asking.len() == self.rows() {
            self.both_ways(&all, room, watch)
        } else {
            self.one_way(&all, asking, room, watch)
        };
        Some(pieces?.into_iter().flat_map(|side| side.kept).collect())
    }

    /// Every row asks: each pair of tiles meets once.
    fn both_ways(&self, tiles: &[Range<usize>], room: usize, watch: &dyn Watch) -> Option<Vec<Side>> {
        let sides: Vec<Mutex<Side>> = tiles
            .iter()
            .map(|t| Mutex::new(Side::new(t.clone().map(|i| i as u32).collect(), room)))
            .collect();
        let meetings: Vec<(usize, usize)> =
            (0..tiles.len()).flat_map(|a| (a..tiles.len()).map(move |b| (a, b))).collect();
        let steps = Steps::new(meetings.len(), watch);
        meetings.into_par_iter().for_each_init(Scratch::default, |scratch, (a, b)| {
            if !steps.proceed(1) {
                return;
            }
            let (ours, theirs) = (&tiles[a], &tiles[b]);
            self.multiply(self.of(ours), theirs, scratch);
            let open = |t: usize| sides[t].lock().unwrap_or_else(PoisonError::into_inner);
            open(a).compare_with_tile(&self.half[theirs.clone()], theirs.start, scratch);
            if a != b {
                open(b).be_met(&self.half[ours.clone()], ours.start, scratch);
            }
        });
        let sides = sides.into_iter().map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner));
        steps.finished().then(|| sides.collect())
    }

    /// Some rows ask all.
    fn one_way(
        &self,
        tiles: &[Range<usize>],
        asking: &[u32],
        room: usize,
        watch: &dyn Watch,
    ) -> Option<Vec<Side>> {
        let steps = Steps::new(asking.len(), watch);
        let sides = asking.par_chunks(TILE).map_init(Scratch::default, |scratch, own| {
            let mut side = Side::new(own.to_vec(), room);
            let mut gathered = Vec::with_capacity(own.len() * self.cols);
            own.iter().for_each(|&i| gathered.extend_from_slice(self.of(&(i as usize..i as usize + 1))));
            let proceed = steps.proceed(own.len());
            for tile in tiles.iter().filter(|_| proceed) {
                self.multiply(&gathered, tile, scratch);
                side.compare_with_tile(&self.half[tile.clone()], tile.start, scratch);
            }
            side
        });
        let sides = sides.collect();
        steps.finished().then_some(sides)
    }

    /// Products of `own` rows with a tile, a run of the tile's length for each.
    fn multiply(&self, own: &[f32], tile: &Range<usize>, scratch: &mut Scratch) {
        let (m, n) = (tile.len(), own.len() / self.cols);
        scratch.products.resize(m * n, 0.0);
        linalg::cross_products(self.of(tile), m, own, n, self.cols, &mut scratch.products);
    }

    /// The answer for row `i`, if what was kept is enough to know it.
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

/// Nearness and number of the rows kept; nobody nearer than `limit` was dropped.
struct CandidateNeighbors {
    near: Vec<(f32, u32)>,
    limit: f32,
}

/// What some rows have found.
struct Side {
    own: Vec<u32>,
    limits: Vec<f32>,
    kept: Vec<CandidateNeighbors>,
    room: usize,
}

impl Side {
    fn new(own: Vec<u32>, room: usize) -> Self {
        let limits = vec![f32::NEG_INFINITY; own.len()];
        let kept =
            own.iter().map(|_| CandidateNeighbors { near: Vec::new(), limit: f32::NEG_INFINITY }).collect();
        Self { own, limits, kept, room }
    }

    /// Offers a tile of other rows to these rows as neighbors, by their inner products.
    fn compare_with_tile(&mut self, half: &[f32], first: usize, scratch: &mut Scratch) {
        let Scratch { products, hits } = scratch;
        for (r, products) in products.chunks_exact(half.len()).enumerate() {
            simd::reaching(products, half, self.limits[r], hits);
            for &h in hits.iter() {
                self.keep(r, products[h as usize] - half[h as usize], first + h as usize);
            }
        }
    }

    /// The other way round.
    fn be_met(&mut self, half: &[f32], first: usize, scratch: &mut Scratch) {
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
    fn some_rows_asking_are_answered_as_all_rows_are() {
        let (rows, cols, k) = (900, 12, 5);
        let values: Vec<f64> = (0..rows * cols).map(|v| ((v * v + v / 3) % 101) as f64).collect();
        let row = |i: usize| &values[i * cols..(i + 1) * cols];
        let picture = Picture::whole(&values, cols, &Center::new(&values, cols)).unwrap();
        let some: Vec<u32> = (0..rows as u32).filter(|i| i % 3 == 1).collect();
        let all: Vec<u32> = (0..rows as u32).collect();
        let answers = |asking: &[u32]| -> Vec<(u32, Option<NeighborList>)> {
            let kept = picture.candidates(asking, 4 * k + 32, &()).unwrap();
            asking
                .iter()
                .zip(&kept)
                .map(|(&i, kept)| (i, picture.resolve(i as usize, k, kept, row)))
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
    fn what_cannot_be_known_is_not_answered() {
        // 300 copies of three points: nobody can tell which five to take
        let values: Vec<f64> = (0..900 * 12).map(|v| (v / 12 % 3 * (v % 12)) as f64).collect();
        let row = |i: usize| &values[i * 12..(i + 1) * 12];
        let picture = Picture::whole(&values, 12, &Center::new(&values, 12)).unwrap();
        let kept = picture.candidates(&(0..900).collect::<Vec<_>>(), 52, &()).unwrap();
        assert!((0..900).all(|i| picture.resolve(i, 5, &kept[i], row).is_none()));
        let expected: NeighborList = [3, 6, 9, 12, 15].map(|j| (0.0, j)).to_vec();
        assert_eq!(nearest(&values, 900, 12, 5, &()).unwrap()[0], expected);
    }
}
