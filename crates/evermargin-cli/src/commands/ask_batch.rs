//! Questions chosen together: `evermargin ask --strategy submod` and `diverse`.

use crate::output::progress::Watcher;
use evermargin::active::{KnownLabels, Seek, SubmodParams, diverse_batch_within, submod_batch_within};
use evermargin::data::{Labels, Matrix};
use evermargin::model::Classifier;
use evermargin::solver::partition_matroid::GroupLimit;
use evermargin::{Kernel, Model};

/// Rows with a label, and the class of each.
#[derive(Debug)]
pub struct Labeled {
    x: Matrix,
    classes: Vec<u32>,
}

impl Labeled {
    /// The rows of a file that have a label.
    pub fn of(x: &Matrix, labels: &Labels) -> Self {
        let known: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i].is_some()).collect();
        Self { x: x.view().select(&known), classes: labels.of.iter().flatten().copied().collect() }
    }
}

/// The rows as a model sees them, and its kernel; linear where it has none.
fn seen_by(model: Option<&Classifier>, x: &Matrix) -> evermargin::Result<(Matrix, Kernel)> {
    let Some(c) = model else { return Ok((x.clone(), Kernel::Linear)) };
    let kernel = match &c.model {
        Model::Expansion { kernel, .. } if *kernel != Kernel::Precomputed => *kernel,
        _ => Kernel::Linear,
    };
    Ok((c.scaling.apply(x.clone())?, kernel))
}

/// SUBMOD-ACTV among the rows of `x`.
pub fn submod(
    model: Option<&Classifier>,
    x: &Matrix,
    labeled: &Labeled,
    number: usize,
    limit: Option<&GroupLimit<'_>>,
    watch: &Watcher,
) -> evermargin::Result<Vec<usize>> {
    let (x, kernel) = seen_by(model, x)?;
    let (known, _) = seen_by(model, &labeled.x)?;
    let params = SubmodParams { kernel, seek: Seek::Dense, ..SubmodParams::default() };
    let labels = KnownLabels::Classes(&labeled.classes);
    Ok(submod_batch_within(x.view(), known.view(), labels, &params, number, limit, watch)?.order)
}

/// Doubtful rows that speak for all doubtful rows of `x`.
pub fn diverse(
    model: &Classifier,
    x: &Matrix,
    closeness: &[f64],
    number: usize,
    limit: Option<&GroupLimit<'_>>,
    watch: &Watcher,
) -> evermargin::Result<Vec<usize>> {
    let (x, kernel) = seen_by(Some(model), x)?;
    Ok(diverse_batch_within(x.view(), closeness, kernel, number, limit, watch)?.order)
}
