//! A pool of rows as the input of SUBMOD-S3VM: targets, class shares, and the columns that occur.

use super::LabeledRows;
use crate::data::{Label, Matrix};
use crate::estimators::Targets;

/// One problem for two classes, one a class for more; rows without a class have no label.
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

/// The shares of the classes that have labels: those given, kept off 0 and 1, or those of the labels.
pub(super) fn shares(known: LabeledRows<'_>, present: &[u32]) -> Vec<f64> {
    let given = known.shares.len() == known.classes;
    let of_labels = |c: u32| known.class.iter().filter(|k| **k == c).count() as f64;
    let share = |&c: &u32| if given { known.shares[c as usize].max(1e-3) } else { of_labels(c) };
    let own: Vec<f64> = present.iter().map(share).collect();
    let all: f64 = own.iter().sum();
    if own.len() == 2 { vec![own[1] / all] } else { own.iter().map(|s| s / all).collect() }
}

/// The columns that occur in the first `rows` samples, in their order: sums over columns cost what these hold, not what they
/// might. What other samples have elsewhere moves all scores of the first alike, if it moves them at all.
pub(super) fn compact(x: Matrix, rows: usize) -> Matrix {
    const NEVER: u32 = u32::MAX;
    let Matrix::Csr { indptr, indices, values, cols } = x else { return x };
    let mut place = vec![NEVER; cols];
    indices[..indptr[rows]].iter().for_each(|&c| place[c as usize] = 0);
    let mut used = 0;
    for p in place.iter_mut().filter(|p| **p != NEVER) {
        *p = used;
        used += 1;
    }
    let mut out = Matrix::empty((used as usize).max(1), true);
    out.reserve(indptr.len() - 1, indptr[rows]);
    let Matrix::Csr { indptr: ends, indices: columns, values: kept, .. } = &mut out else { return out };
    for row in indptr.windows(2) {
        for (c, v) in indices[row[0]..row[1]].iter().zip(&values[row[0]..row[1]]) {
            if place[*c as usize] != NEVER {
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

    /// Columns that only means have are left out; rows keep theirs.
    #[test]
    fn columns_that_occur_stay() {
        let x = Matrix::csr(vec![0, 1, 3, 6], vec![2, 2, 5, 0, 2, 5], vec![1.0, 2.0, 3.0, 9.0, 4.0, 5.0], 7)
            .unwrap();
        let expected =
            Matrix::csr(vec![0, 1, 3, 5], vec![0, 0, 1, 0, 1], vec![1.0, 2.0, 3.0, 4.0, 5.0], 2).unwrap();
        assert_eq!(compact(x, 2), expected);
    }
}
