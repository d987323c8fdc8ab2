//! Rows chosen as a batch: `evermargin ask --strategy submod` and `diverse`.

use crate::output::progress::Watcher;
use evermargin::active::{KnownLabels, Seek, SubmodParams, diverse_batch_within, submod_batch_within};
use evermargin::data::{Labels, Matrix};
use evermargin::model::Classifier;
use evermargin::solver::partition_matroid::GroupLimit;
use evermargin::{Kernel, Model};

/// Rows with a label, and their classes.
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

/// The rows in the scaling of the model, and its kernel; linear if it has none.
fn scaled_for(model: Option<&Classifier>, x: &Matrix) -> evermargin::Result<(Matrix, Kernel)> {
    let Some(c) = model else { return Ok((x.clone(), Kernel::Linear)) };
    let kernel = match &c.model {
        Model::Expansion { kernel, .. } if *kernel != Kernel::Precomputed => *kernel,
        _ => Kernel::Linear,
    };
    Ok((c.scaling.apply(x.clone())?, kernel))
}

/// Rows of `x` chosen by SUBMOD-ACTV.
pub fn submod(
    model: Option<&Classifier>,
    x: &Matrix,
    labeled: &Labeled,
    number: usize,
    limit: Option<&GroupLimit<'_>>,
    watch: &Watcher,
) -> evermargin::Result<Vec<usize>> {
    let (x, kernel) = scaled_for(model, x)?;
    let (known, _) = scaled_for(model, &labeled.x)?;
    let params = SubmodParams { kernel, seek: Seek::Dense, ..SubmodParams::default() };
    let labels = KnownLabels::Classes(&labeled.classes);
    Ok(submod_batch_within(x.view(), known.view(), labels, &params, number, limit, watch)?.order)
}

/// Rows inside the margin that represent all rows of `x` there.
pub fn diverse(
    model: &Classifier,
    x: &Matrix,
    closeness: &[f64],
    number: usize,
    limit: Option<&GroupLimit<'_>>,
    watch: &Watcher,
) -> evermargin::Result<Vec<usize>> {
    let (x, kernel) = scaled_for(Some(model), x)?;
    Ok(diverse_batch_within(x.view(), closeness, kernel, number, limit, watch)?.order)
}
