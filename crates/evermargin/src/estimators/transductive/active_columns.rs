//! Removal of columns that no sparse row uses.
//!
//! Such a column has weight 0 in the minimum, but every weight vector would include it: with 10⁶ columns of which 10⁴
//! are used, this dominates the run time. Used columns are numbered 0..m in their order, so that rows keep theirs;
//! values are not copied. The result is bit-identical to that of the narrow matrix.

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::model::Model;

/// The columns with a stored value, and the rows in terms of them.
pub(crate) struct Used {
    columns: Vec<u32>,
    indices: Vec<u32>,
    all: usize,
}

impl Used {
    /// `None` for dense rows, and if half of the columns or more are used.
    pub fn of(x: MatrixView<'_>) -> Option<Self> {
        let MatrixView::Csr { indices, cols, .. } = x else { return None };
        let mut number = vec![u32::MAX; cols];
        let mut count = 0;
        for &c in indices {
            let seen = &mut number[c as usize];
            if *seen == u32::MAX {
                (*seen, count) = (0, count + 1);
            }
        }
        if 2 * count >= cols {
            return None;
        }
        let columns: Vec<u32> = (0..cols as u32).filter(|&c| number[c as usize] == 0).collect();
        (0..).zip(&columns).for_each(|(k, &c)| number[c as usize] = k);
        let indices = indices.iter().map(|&c| number[c as usize]).collect();
        Some(Self { columns, indices, all: cols })
    }

    /// The same rows with only the used columns.
    pub fn narrow<'a>(&'a self, x: MatrixView<'a>) -> MatrixView<'a> {
        match x {
            MatrixView::Csr { indptr, values, .. } => {
                MatrixView::Csr { indptr, indices: &self.indices, values, cols: self.columns.len() }
            }
            dense @ MatrixView::Dense { .. } => dense,
        }
    }

    /// A linear model in terms of the used columns.
    pub fn gather(&self, model: &Model) -> Result<Model> {
        match model {
            Model::Linear { weights, bias } if weights.iter().all(|w| w.len() == self.all) => {
                let narrow = |w: &Vec<f64>| self.columns.iter().map(|&c| w[c as usize]).collect();
                Ok(Model::Linear { weights: weights.iter().map(narrow).collect(), bias: bias.clone() })
            }
            _ => Err(other_columns()),
        }
    }

    /// A linear model in terms of all columns.
    pub fn spread(&self, model: Model) -> Model {
        let Model::Linear { weights, bias } = model else { return model };
        let wide = |narrow: Vec<f64>| {
            let mut w = vec![0.0; self.all];
            self.columns.iter().zip(narrow).for_each(|(&c, v)| w[c as usize] = v);
            w
        };
        Model::Linear { weights: weights.into_iter().map(wide).collect(), bias }
    }
}

/// Error for an initial model that does not fit the data.
pub(crate) fn other_columns() -> Error {
    Error::Model("the model to start from has other columns or outputs".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;

    #[test]
    fn narrow_rows_hold_the_used_columns_in_order() {
        let x = Matrix::csr(vec![0, 2, 2, 4], vec![3, 9, 1, 3], vec![5.0, 6.0, 7.0, 8.0], 10).unwrap();
        let used = Used::of(x.view()).unwrap();
        let narrow = used.narrow(x.view()).to_dense();
        let expected = Matrix::dense(vec![0.0, 5.0, 6.0, 0.0, 0.0, 0.0, 7.0, 8.0, 0.0], 3, 3).unwrap();
        assert_eq!(narrow, expected);
        let model = Model::Linear { weights: vec![vec![1.0, 2.0, 3.0]], bias: vec![4.0] };
        let wide = used.spread(model.clone());
        assert_eq!(wide.decision(x.view()).unwrap(), model.decision(narrow.view()).unwrap());
        assert_eq!(used.gather(&wide).unwrap(), model);
        assert!(used.gather(&model).is_err());
        assert!(Used::of(x.view().to_dense().view()).is_none());
        let half = Matrix::csr(vec![0, 2], vec![0, 3], vec![1.0, 1.0], 4).unwrap();
        assert!(Used::of(half.view()).is_none());
    }
}
