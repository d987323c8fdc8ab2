//! Models that are a sum of models, each over its own columns; trained by learners of several views.
//!
//! f(x) = (V/|P|) Σ_{v ∈ P} gᵥ(columns of v in x) + b. P are the views present in x: those with a column that is not
//! zero (all V views if there is none). A mean over views is thus the mean over the present ones, and a sum is scaled
//! up to its full size. Linear parts do not use this rule: they are added up into one linear model
//! ([`Model::of_views`]), in which a missing view contributes 0.

use super::Model;
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Columns of a sample, as half-open ranges (first, end), in the order in which they are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns(pub Vec<(usize, usize)>);

/// One summand: a model of some columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The columns it uses.
    pub columns: Columns,
    /// Linear or an expansion over these columns.
    pub model: Model,
}

impl Columns {
    /// The first `cols` columns.
    pub fn all(cols: usize) -> Self {
        Self(vec![(0, cols)])
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.0.iter().fold(0, |sum: usize, (first, end)| sum.saturating_add(end.saturating_sub(*first)))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are ranges, all of them non-empty and within `cols` columns.
    pub fn fit(&self, cols: usize) -> bool {
        !self.0.is_empty() && self.0.iter().all(|&(first, end)| first < end && end <= cols)
    }

    /// These columns of all rows; sparse stays sparse.
    pub fn of(&self, x: MatrixView<'_>) -> Matrix {
        let mut out = Matrix::empty(self.len(), matches!(x, MatrixView::Csr { .. }));
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for i in 0..x.rows() {
            match x.row(i) {
                Row::Dense(row) => {
                    values.clear();
                    self.0.iter().for_each(|&(first, end)| values.extend_from_slice(&row[first..end]));
                    out.push(Row::Dense(&values));
                }
                Row::Sparse(at, of) => {
                    indices.clear();
                    values.clear();
                    let mut before = 0;
                    for &(first, end) in &self.0 {
                        let span = at.partition_point(|&c| (c as usize) < first)
                            ..at.partition_point(|&c| (c as usize) < end);
                        indices.extend(at[span.clone()].iter().map(|&c| c - first as u32 + before));
                        values.extend_from_slice(&of[span]);
                        before += (end - first) as u32;
                    }
                    out.push(Row::Sparse(&indices, &values));
                }
            }
        }
        out
    }

    /// The columns of the whole sample that correspond to these columns, in order.
    fn columns_of_sample(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().flat_map(|&(first, end)| first..end)
    }
}

impl Model {
    /// The sum of parts over samples of `cols` columns, and `bias`; a single model where the parts can be merged.
    pub fn of_views(mut parts: Vec<Part>, cols: usize, bias: Vec<f64>) -> Self {
        if parts.len() == 1 && parts[0].columns == Columns::all(cols) {
            let mut model = parts.remove(0).model;
            model.bias_mut().iter_mut().zip(&bias).for_each(|(b, more)| *b += more);
            return model;
        }
        if !parts.iter().all(|p| matches!(p.model, Self::Linear { .. })) {
            return Self::Views { parts, cols, bias };
        }
        let (mut sum, mut constants) = (vec![vec![0.0; cols]; bias.len()], bias);
        for part in &parts {
            let Self::Linear { weights, bias } = &part.model else { continue };
            constants.iter_mut().zip(bias).for_each(|(b, more)| *b += more);
            for (sum, weights) in sum.iter_mut().zip(weights) {
                part.columns.columns_of_sample().zip(weights).for_each(|(c, w)| sum[c] += w);
            }
        }
        Self::Linear { weights: sum, bias: constants }
    }
}

/// Decision values of a sum of parts.
pub(super) fn decision(parts: &[Part], bias: &[f64], x: MatrixView<'_>, out: &mut [f64]) -> Result<()> {
    let width = bias.len();
    let mut sums = vec![0.0; out.len()];
    let mut present = vec![0usize; x.rows()];
    for part in parts {
        let own = part.columns.of(x);
        let values = part.model.decision(own.view())?;
        for i in 0..x.rows() {
            let row = i * width..(i + 1) * width;
            if is_present(own.view().row(i)) {
                present[i] += 1;
                out[row.clone()].iter_mut().zip(&values[row.clone()]).for_each(|(f, g)| *f += g);
            }
            sums[row.clone()].iter_mut().zip(&values[row]).for_each(|(f, g)| *f += g);
        }
    }
    for (i, (f, all)) in out.chunks_exact_mut(width).zip(sums.chunks_exact(width)).enumerate() {
        let scale = parts.len() as f64 / present[i].max(1) as f64;
        for ((f, all), b) in f.iter_mut().zip(all).zip(bias) {
            *f = if present[i] == 0 || present[i] == parts.len() { all + b } else { scale * *f + b };
        }
    }
    Ok(())
}

fn is_present(row: Row<'_>) -> bool {
    let (Row::Dense(values) | Row::Sparse(_, values)) = row;
    values.iter().any(|v| *v != 0.0)
}

/// Returns an error if parts do not fit together.
pub(super) fn check(parts: &[Part], cols: usize, bias: &[f64]) -> Result<()> {
    if parts.is_empty() {
        return Err(Error::Model("the list of views is empty".into()));
    }
    for part in parts {
        if matches!(part.model, Model::Views { .. }) {
            return Err(Error::Model("a view must not contain views".into()));
        }
        part.model.check()?;
        if !part.columns.fit(cols) || part.columns.len() != part.model.cols() {
            return Err(Error::Model(format!(
                "a view has {} of {cols} columns, but its model has {} columns",
                part.columns.len(),
                part.model.cols()
            )));
        }
        if part.model.outputs() != bias.len() {
            return Err(Error::Model(format!(
                "a view with {} outputs but {} intercepts",
                part.model.outputs(),
                bias.len()
            )));
        }
    }
    if bias.is_empty() || bias.iter().any(|b| !b.is_finite()) {
        return Err(Error::Model("intercepts must exist and be finite".into()));
    }
    Ok(())
}
