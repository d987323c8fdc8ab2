//! Locality of the change that one new sample makes, as measured in Emara 2012, VI.3, to choose a radius.
//!
//! A sample is added to a copy of the exact SVM. For every other sample, [`changes`] returns |Δα|/C and the distance from
//! the new sample in widths σ = 1/√(2·gamma) of the rbf kernel. [`radius`] is the distance beyond which no change is
//! larger than a threshold.

use super::ExactSvm;
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// Change of one sample's coefficient caused by a new sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Distance between the two samples, in widths of the kernel.
    pub distance: f64,
    /// |Δα|/C of the older sample.
    pub change: f64,
}

/// Changes that adding row `r` of `x` would make, in the order of the samples. `machine` is not modified.
pub fn changes(machine: &ExactSvm, x: MatrixView<'_>, r: usize, label: Label) -> Result<Vec<Change>> {
    let Kernel::Rbf { gamma } = machine.params.kernel else {
        return Err(Error::parameter("kernel", machine.params.kernel.name(), "rbf, which has a width"));
    };
    let id = (0..=machine.len() as u64).find(|id| !machine.ids.contains(id)).unwrap_or(u64::MAX);
    let mut after = machine.clone();
    after.params.max_points = machine.len() + 1;
    after.add(x, r, label, 1.0, id)?;
    let change = |i: usize| {
        let square = machine.squares[i] + x.row(r).norm2() - 2.0 * machine.points.view().row(i).dot(x.row(r));
        Change {
            distance: (2.0 * gamma * square.max(0.0)).sqrt(),
            change: (after.alpha()[i] - machine.alpha()[i]).abs() / machine.cost[i],
        }
    };
    Ok((0..machine.len()).map(change).collect())
}

/// Distance beyond which no change is larger than the threshold; 0 if no change is.
pub fn radius(changes: &[Change], threshold: f64) -> f64 {
    changes.iter().filter(|c| c.change > threshold).map(|c| c.distance).fold(0.0, f64::max)
}
