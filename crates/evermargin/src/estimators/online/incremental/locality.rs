//! How far the change goes that one sample makes: what Emara 2012, VI.3, measures to find a radius.
//!
//! A sample is added to the exact machine; |Δα|/C of every other sample stands beside its distance in widths σ = 1/√(2·gamma)
//! of the rbf kernel. [`radius`] is the distance beyond which no change is larger than a threshold.

use super::ExactSvm;
use crate::data::{Label, MatrixView};
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// What one sample did to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Distance between the two, in widths of the kernel.
    pub distance: f64,
    /// |Δα|/C of the other.
    pub change: f64,
}

/// The changes that row `r` of `x` would make, in the order of the samples; the machine stays as it is.
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

/// The distance beyond which no change is larger than the threshold; 0 when none is.
pub fn radius(changes: &[Change], threshold: f64) -> f64 {
    changes.iter().filter(|c| c.change > threshold).map(|c| c.distance).fold(0.0, f64::max)
}
