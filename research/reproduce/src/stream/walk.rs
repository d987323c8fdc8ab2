//! Runs only the transduction of the library on a stream: the reference of batch learning, and settings that `evermargin run` does
//! not have.
//!
//! Procedure of Emara 2012, chapter IV: at each batch, the transduction uses the labels so far, the batch, the batch before it and
//! exemplars of all older ones ([`Transduction`]); then the older rows are summarized. The labels of a batch are used before it is
//! labeled, and its other rows are scored. The share of positives is that of the stream.

use super::Stream;
use crate::clock::Clock;
use crate::failure::Result;
use evermargin::Matrix;
use evermargin::engine::transduction::{LabeledRows, MemoryPolicy, Transduction, TransductionParams};

/// Settings of a run of the transduction.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub params: TransductionParams,
    pub seed: u64,
}

/// Result at a batch.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// Scored rows and their inferred labels; no labels before both classes are known.
    pub rows: Vec<usize>,
    pub labels: Option<Vec<u32>>,
    /// Share of labels that summarizing would change.
    pub cost: f64,
    /// Number of stored samples during the transduction, in units of batches.
    pub kept: f64,
    pub exemplars: usize,
    pub seconds: f64,
    /// Number of known labels after the batch.
    pub known: usize,
}

impl Step {
    /// Accuracy on the scored rows; `None` before there are labels.
    pub(super) fn accuracy(&self, truth: &[u32]) -> Option<f64> {
        let labels = self.labels.as_ref().filter(|l| !l.is_empty())?;
        let right = labels.iter().zip(&self.rows).filter(|(l, i)| **l == truth[**i]).count();
        Some(right as f64 / labels.len() as f64)
    }
}

/// Labeled rows.
struct Labeled {
    x: Matrix,
    class: Vec<u32>,
    shares: Vec<f64>,
}

impl Labeled {
    fn of(stream: &Stream) -> Self {
        Self { x: stream.x.view().select(&[]), class: Vec::new(), shares: stream.shares().to_vec() }
    }

    fn add(&mut self, stream: &Stream, rows: &[usize]) {
        for &i in rows {
            self.x.push(stream.x.view().row(i));
            self.class.push(stream.truth[i]);
        }
    }

    fn known(&self) -> LabeledRows<'_> {
        LabeledRows { x: self.x.view(), class: &self.class, classes: 2, shares: &self.shares }
    }
}

fn memory(stream: &Stream, params: &TransductionParams) -> Result<Transduction> {
    Ok(Transduction::new(params, stream.x.cols(), matches!(stream.x, Matrix::Csr { .. }))?)
}

/// Runs over the whole stream.
pub(super) fn walk(stream: &Stream, way: &Way) -> Result<Vec<Step>> {
    let mut memory = memory(stream, &way.params)?;
    let (mut labeled, mut steps) = (Labeled::of(stream), Vec::new());
    for t in 0..stream.batches() {
        let clock = Clock::start();
        let (given_rows, rows) = stream.parts(t);
        labeled.add(stream, &given_rows);
        let batch = stream.x.view().select(&rows);
        let given = memory.label(labeled.known(), batch.view(), &())?;
        let labels = given.as_ref().map(|g| g.iter().map(|g| g.class).collect());
        let kept = (memory.len() + stream.batch) as f64 / stream.batch as f64;
        let summary = memory.absorb(labeled.known(), batch, given.as_deref(), way.seed, &())?;
        steps.push(Step {
            rows,
            labels,
            cost: summary.cost,
            kept,
            exemplars: summary.exemplars,
            seconds: clock.seconds(),
            known: labeled.class.len(),
        });
    }
    Ok(steps)
}

/// Batch learning at some batches: labels the batch together with all earlier rows. It uses no result of earlier batches, so the
/// other batches do not have to be labeled.
pub(super) fn all_at_once(stream: &Stream, way: &Way, at: &[usize]) -> Result<Vec<Step>> {
    let params = TransductionParams { remember: MemoryPolicy::Everything, ..way.params.clone() };
    let one = |&t: &usize| {
        let clock = Clock::start();
        let (mut memory, mut labeled) = (memory(stream, &params)?, Labeled::of(stream));
        let (given_rows, rest): (Vec<usize>, Vec<usize>) =
            (0..stream.rows(t).end).partition(|&i| stream.labeled[i]);
        labeled.add(stream, &given_rows);
        let (before, rows): (Vec<usize>, Vec<usize>) =
            rest.into_iter().partition(|&i| i < stream.rows(t).start);
        memory.absorb(labeled.known(), stream.x.view().select(&before), None, way.seed, &())?;
        let given = memory.label(labeled.known(), stream.x.view().select(&rows).view(), &())?;
        let kept = (before.len() + rows.len()) as f64 / stream.batch as f64;
        let labels = given.map(|g| g.iter().map(|g| g.class).collect());
        let (seconds, known) = (clock.seconds(), labeled.class.len());
        Ok(Step { rows, labels, kept, seconds, known, ..Step::default() })
    };
    at.iter().map(one).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::stream::data::Set;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Two clouds in the plane with ten batches of 30 rows and eight labels.
    pub(in crate::stream) fn clouds(seed: u64) -> Stream {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (mut values, mut truth) = (Vec::new(), Vec::new());
        for i in 0..300 {
            let class = u32::from(i % 3 == 0);
            let side = if class == 1 { 1.0 } else { -1.0 };
            values.extend([side + rng.random_range(-0.9..0.9), rng.random_range(-1.0..1.0)]);
            truth.push(class);
        }
        let set = Set { x: Matrix::dense(values, 300, 2).unwrap(), truth };
        Stream::of(&set, (30, 0, 8), &mut rng).unwrap()
    }

    fn way(remember: MemoryPolicy) -> Way {
        Way { params: TransductionParams { remember, ..TransductionParams::default() }, seed: 1 }
    }

    #[test]
    fn unlabeled_rows_are_scored() {
        let steps = walk(&clouds(1), &way(MemoryPolicy::Exemplars)).unwrap();
        assert_eq!(steps.iter().map(|s| s.rows.len()).sum::<usize>(), 292);
    }

    /// The memory has at most three batches with exemplars, two without, and all batches if everything is stored.
    #[test]
    fn stored_samples_are_counted() {
        let stream = clouds(2);
        let most = |remember| {
            let steps = walk(&stream, &way(remember)).unwrap();
            steps.iter().map(|s| s.kept).fold(0.0, f64::max)
        };
        assert!(most(MemoryPolicy::Exemplars) <= 3.0);
        assert!(most(MemoryPolicy::Nothing) <= 2.0 && most(MemoryPolicy::Nothing) > 1.9);
        assert!(most(MemoryPolicy::Everything) > 9.5);
    }

    /// Batch learning at one batch equals the run that stores everything.
    #[test]
    fn batch_learning_equals_the_run_that_stores_everything() {
        for seed in 0..5 {
            let stream = clouds(seed);
            let everything = way(MemoryPolicy::Everything);
            let walked = walk(&stream, &everything).unwrap();
            for (t, step) in [4, 9].into_iter().zip(all_at_once(&stream, &everything, &[4, 9]).unwrap()) {
                assert_eq!((&step.rows, &step.labels), (&walked[t].rows, &walked[t].labels), "{seed} {t}");
            }
        }
    }
}
