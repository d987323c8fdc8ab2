//! Pool of rows as the input of SUBMOD-S3VM: targets, class shares, and the columns that occur.

use super::LabeledRows;
use crate::data::{Label, Matrix};
use crate::estimators::Targets;

/// One problem for two classes, else one per class; rows without a class are unlabeled.
pub(super) fn problems(class: &[Option<u32>], present: &[u32], cost: &[f64]) -> Vec<Targets> {
    let pose = |&positive: &u32| {
        let label = |c: &Option<u32>| match c {
            None => Label::Unknown,
            Some(c) if *c == positive => Label::Pos,
            Some(_) => Label::Neg,
        };
        Targets { y: class.iter().map(label).collect(), cost: cost.to_vec() }
    };
    if present.len() == 2 { vec![pose(&present[1])] } else { present.iter().map(pose).collect() }
}

/// Shares of the classes that have labels: the given shares, bounded away from 0, or else the shares among the labels.
pub(super) fn shares(known: LabeledRows<'_>, present: &[u32]) -> Vec<f64> {
    let given = known.shares.len() == known.classes;
    let of_labels = |c: u32| known.class.iter().filter(|k| **k == c).count() as f64;
    let share = |&c: &u32| if given { known.shares[c as usize].max(1e-3) } else { of_labels(c) };
    let own: Vec<f64> = present.iter().map(share).collect();
    let all: f64 = own.iter().sum();
    if own.len() == 2 { vec![own[1] / all] } else { own.iter().map(|s| s / all).collect() }
}

/// Removes the columns that do not occur in the first `rows` samples, so that sums over columns cost less. The values
/// of the other samples in removed columns change the scores of the first samples all by the same amount, if at all.
pub(super) fn compact(x: Matrix, rows: usize) -> Matrix {
    const UNUSED: u32 = u32::MAX;
    let Matrix::Csr { indptr, indices, values, cols } = x else { return x };
    let mut place = vec![UNUSED; cols];
    indices[..indptr[rows]].iter().for_each(|&c| place[c as usize] = 0);
    let mut used = 0;
    for p in place.iter_mut().filter(|p| **p != UNUSED) {
        *p = used;
        used += 1;
    }
    let mut out = Matrix::empty((used as usize).max(1), true);
    out.reserve(indptr.len() - 1, indptr[rows]);
    let Matrix::Csr { indptr: ends, indices: columns, values: kept, .. } = &mut out else { return out };
    for row in indptr.windows(2) {
        for (c, v) in indices[row[0]..row[1]].iter().zip(&values[row[0]..row[1]]) {
            if place[*c as usize] != UNUSED {
                columns.push(place[*c as usize]);
                kept.push(*v);
            }
        }
        ends.push(kept.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns whose values are all 0 in the first `rows` samples are removed.
    #[test]
    fn compact_keeps_the_columns_that_occur_in_the_first_rows() {
        let x = Matrix::csr(vec![0, 1, 3, 6], vec![2, 2, 5, 0, 2, 5], vec![1.0, 2.0, 3.0, 9.0, 4.0, 5.0], 7)
            .unwrap();
        let expected =
            Matrix::csr(vec![0, 1, 3, 5], vec![0, 0, 1, 0, 1], vec![1.0, 2.0, 3.0, 4.0, 5.0], 2).unwrap();
        assert_eq!(compact(x, 2), expected);
    }
}
