//! Questions chosen together: `evermargin ask --strategy submod` and `diverse`.

use crate::failure::Failure;
use crate::output::progress::Watcher;
use evermargin::active::{SubmodParams, diverse_batch, submod_batch};
use evermargin::data::{Labels, Matrix};
use evermargin::model::Classifier;
use evermargin::{Kernel, Model};

/// Rows with a label, and −1 or +1 of each.
#[derive(Debug)]
pub struct Labeled {
    x: Matrix,
    signs: Vec<f64>,
}

impl Labeled {
    /// The rows of a file that have one of two labels.
    pub fn of(x: &Matrix, labels: &Labels) -> Result<Self, Failure> {
        if labels.classes.len() > 2 {
            return Err(Failure::Usage(format!(
                "strategy submod is for two classes, and the data has {}; --positive CLASS makes two of them",
                labels.classes.len()
            )));
        }
        let known: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i].is_some()).collect();
        let sign = |&i: &usize| if labels.of[i] == Some(0) { -1.0 } else { 1.0 };
        Ok(Self { x: x.view().select(&known), signs: known.iter().map(sign).collect() })
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
    watch: &Watcher,
) -> evermargin::Result<Vec<usize>> {
    let (x, kernel) = seen_by(model, x)?;
    let (known, _) = seen_by(model, &labeled.x)?;
    let params = SubmodParams { kernel, ..SubmodParams::default() };
    Ok(submod_batch(x.view(), known.view(), &labeled.signs, &params, number, watch)?.order)
}

/// Doubtful rows that speak for all doubtful rows of `x`.
pub fn diverse(
    model: &Classifier,
    x: &Matrix,
    closeness: &[f64],
    number: usize,
    watch: &Watcher,
) -> evermargin::Result<Vec<usize>> {
    let (x, kernel) = seen_by(Some(model), x)?;
    Ok(diverse_batch(x.view(), closeness, kernel, number, watch)?.order)
}
