//! Decision values of a whole pool, updated incrementally: an update needs one kernel row per changed coefficient.

use super::lasvm::Lasvm;
use crate::data::MatrixView;
use crate::error::Result;
use crate::kernel::gram::{Packed, Queries, add_strips, fill};
use std::collections::BTreeMap;

/// Decision values, without the intercept, of an online SVM for every row of a pool. Kernel rows between its points and
/// the pool are cached within a byte limit; the least recently used are evicted first.
#[derive(Debug)]
pub struct PoolScores {
    pool: Packed,
    /// Decision values, one vector per output.
    sums: Vec<Vec<f64>>,
    /// Coefficients of each point, one per output, that `sums` was computed with.
    known: BTreeMap<u64, Vec<f64>>,
    rows: BTreeMap<u64, CachedRow>,
    bytes: usize,
    clock: u64,
    queries: Queries,
    evaluations: u64,
    /// Whether the ids of points are row numbers of the pool.
    own: bool,
}

/// A cached kernel row between a point and the pool.
#[derive(Debug)]
struct CachedRow {
    /// Time of the last use.
    used: u64,
    values: Vec<f32>,
}

/// The change of a point's coefficients.
struct Change {
    id: u64,
    /// Index of the point; `None` if it was removed.
    place: Option<usize>,
    delta: Vec<f64>,
}

impl PoolScores {
    /// Scores of the rows of `pool` for `state`. They are 0 until [`PoolScores::refresh`] is called.
    pub fn new(pool: MatrixView<'_>, state: &Lasvm, bytes: usize) -> Result<Self> {
        let mut packed = Packed::empty(state.params().kernel, &state.packing());
        packed.append(pool, &(0..pool.rows()).collect::<Vec<_>>())?;
        Ok(Self {
            sums: vec![vec![0.0; pool.rows()]; state.outputs()],
            pool: packed,
            known: BTreeMap::new(),
            rows: BTreeMap::new(),
            bytes,
            clock: 0,
            queries: Queries::default(),
            evaluations: 0,
            own: false,
        })
    }

    /// The same scores for an SVM that learns from the pool itself, with row numbers as ids: the kernel row of a removed
    /// point can then be recomputed from the pool.
    #[must_use]
    pub fn of_own_samples(self) -> Self {
        Self { own: true, ..self }
    }

    /// Updates the scores to the current coefficients of the SVM.
    pub fn refresh(&mut self, state: &Lasvm) {
        let mut changes = self.changes(state);
        let lost = |c: &Change| c.place.is_none() && !self.rows.contains_key(&c.id);
        if !self.own && changes.iter().any(lost) {
            // the kernel row of a removed point is no longer available, so all scores are recomputed
            self.sums.iter_mut().for_each(|s| s.fill(0.0));
            self.known.clear();
            changes = self.changes(state);
        }
        let batch = self.pool.pass().min((self.bytes / (4 * self.pool.rows().max(1))).max(1));
        for changes in changes.chunks(batch) {
            self.fetch(state, changes);
            let rows: Vec<&[f32]> =
                changes.iter().filter_map(|c| self.rows.get(&c.id)).map(|h| h.values.as_slice()).collect();
            for (j, sums) in self.sums.iter_mut().enumerate() {
                let delta: Vec<f64> = changes.iter().map(|c| c.delta[j]).collect();
                add_strips(&rows, &delta, sums);
            }
            self.evict();
        }
        for change in changes {
            let known = self.known.entry(change.id).or_insert_with(|| vec![0.0; self.sums.len()]);
            known.iter_mut().zip(&change.delta).for_each(|(k, d)| *k += d);
            if known.iter().all(|k| *k == 0.0) {
                self.known.remove(&change.id);
            }
        }
    }

    fn changes(&self, state: &Lasvm) -> Vec<Change> {
        let zero = vec![0.0; self.sums.len()];
        let mut changes = Vec::new();
        let mut removed: BTreeMap<u64, &Vec<f64>> = self.known.iter().map(|(id, k)| (*id, k)).collect();
        for (s, id) in state.ids() {
            let before = removed.remove(&id).unwrap_or(&zero);
            let now = (0..zero.len()).map(|j| state.output(j).alpha()[s]);
            let delta: Vec<f64> = now.zip(before).map(|(a, b)| a - b).collect();
            if delta.iter().any(|d| *d != 0.0) {
                changes.push(Change { id, place: Some(s), delta });
            }
        }
        let vanished =
            |(id, k): (u64, &Vec<f64>)| Change { id, place: None, delta: k.iter().map(|k| -k).collect() };
        // removed points come first, while their kernel rows are still cached
        removed.into_iter().map(vanished).chain(changes).collect()
    }

    /// Computes the kernel rows that are not cached, in one block.
    fn fetch(&mut self, state: &Lasvm, changes: &[Change]) {
        self.clock += 1;
        let missing: Vec<(u64, usize)> = changes
            .iter()
            .filter(|c| !self.rows.contains_key(&c.id))
            .filter_map(|c| c.place.map(|s| (c.id, s)))
            .collect();
        let places: Vec<usize> = missing.iter().map(|(_, s)| *s).collect();
        let points = state.points().view().select(&places);
        let n = self.pool.rows();
        let mut rows = vec![vec![0.0; n]; missing.len()];
        self.pool.load(points.view(), 0..missing.len(), &mut self.queries);
        fill(
            &self.pool,
            &self.queries,
            0..n,
            &mut rows.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>(),
        );
        self.evaluations += (n * missing.len()) as u64;
        for ((id, _), values) in missing.into_iter().zip(rows) {
            self.rows.insert(id, CachedRow { used: 0, values });
        }
        for change in changes.iter().filter(|c| c.place.is_none()) {
            if !self.rows.contains_key(&change.id) {
                let mut values = vec![0.0; n];
                self.pool.load_own(&[change.id as usize], &mut self.queries);
                fill(&self.pool, &self.queries, 0..n, &mut [&mut values[..]]);
                self.evaluations += n as u64;
                self.rows.insert(change.id, CachedRow { used: 0, values });
            }
        }
        for change in changes {
            if let Some(row) = self.rows.get_mut(&change.id) {
                row.used = self.clock;
            }
        }
    }

    /// Evicts the least recently used rows until the cache fits its limit.
    fn evict(&mut self) {
        let max_rows = (self.bytes / (4 * self.pool.rows().max(1))).max(1);
        while self.rows.len() > max_rows {
            let Some((&id, _)) = self.rows.iter().min_by_key(|(id, h)| (h.used, **id)) else { return };
            self.rows.remove(&id);
        }
    }

    /// Decision values of one row of the pool; `bias` holds one intercept per output.
    pub fn decision(&self, row: usize, bias: &[f64]) -> Vec<f64> {
        self.sums.iter().zip(bias).map(|(s, b)| s[row] + b).collect()
    }

    /// Number of rows of the pool.
    pub fn rows(&self) -> usize {
        self.pool.rows()
    }

    /// Number of kernel values computed so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}
