//! Rows prepared for computing a block of kernel values: compressed rows, and scattered queries.

use crate::math::simd::LANES;

/// Rows in compressed form, without their zeros.
#[derive(Debug, Clone)]
pub(crate) struct Compressed<T> {
    pub(crate) indptr: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<T>,
}

impl<T> Default for Compressed<T> {
    fn default() -> Self {
        Self { indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }
}

impl<T: Copy> Compressed<T> {
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[T]) {
        let span = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[span.clone()], &self.values[span])
    }

    pub(crate) fn push(&mut self, (indices, values): (&[u32], &[T])) {
        self.indices.extend_from_slice(indices);
        self.values.extend_from_slice(values);
        self.indptr.push(self.indices.len());
    }

    pub(crate) fn select(&self, keep: &[usize]) -> Self {
        let mut out = Self::default();
        keep.iter().for_each(|&i| out.push(self.row(i)));
        out
    }
}

/// A group of query rows in the layout of the packed data with which kernel values are computed.
#[derive(Debug, Default)]
pub struct Queries {
    pub(crate) count: usize,
    pub(crate) dense: Vec<f32>,
    pub(crate) double: Vec<f64>,
    pub(crate) lanes: Vec<[f32; LANES]>,
    pub(crate) double_lanes: Vec<[f64; LANES]>,
    /// Columns of the lanes that may be nonzero.
    pub(crate) touched: Vec<u32>,
    pub(crate) norms: Vec<f32>,
    pub(crate) exact_norms: Vec<f64>,
}

impl Queries {
    /// Queries that are too large for single precision, whose values must not be used.
    pub fn overflowing(&self) -> impl Iterator<Item = usize> {
        self.exact_norms.iter().enumerate().filter(|(_, n)| n.is_nan() || **n >= 1e30).map(|(j, _)| j)
    }

    pub(crate) fn clear(&mut self, count: usize) {
        self.count = count;
        self.dense.clear();
        self.double.clear();
        self.norms.clear();
        self.exact_norms.clear();
        for c in self.touched.drain(..) {
            if let Some(lane) = self.lanes.get_mut(c as usize) {
                *lane = [0.0; LANES];
            }
            if let Some(lane) = self.double_lanes.get_mut(c as usize) {
                *lane = [0.0; LANES];
            }
        }
    }
}

/// Writes the values of a query into its lane, at the given columns.
pub(crate) fn scatter<T: Copy + Default>(
    lanes: &mut Vec<[T; LANES]>,
    touched: &mut Vec<u32>,
    lane: usize,
    width: usize,
    indices: &[u32],
    values: &[T],
) {
    lanes.resize(width, [T::default(); LANES]);
    for (&c, &v) in indices.iter().zip(values) {
        lanes[c as usize][lane] = v;
    }
    touched.extend_from_slice(indices);
}
