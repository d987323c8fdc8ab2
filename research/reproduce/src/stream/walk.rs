//! One way along a stream.
//!
//! The procedure of Emara 2012, chapter IV: at each batch the labels known so far, the batch, the batch before it and the
//! exemplars of all older ones are labeled together ([`Transduction`]); then what was known before the batch is summarized.
//! *Incremental*: the labels of a batch are seen before it is labeled, and its other rows are scored. *Online*: all its rows
//! are labeled and scored, then its labels are seen.
//!
//! Departure: where labels of the batch come afterward, it is labeled once more with them before the past is summarized;
//! otherwise what those labels changed would count as the cost of summarizing.

use super::Stream;
use crate::clock::Clock;
use crate::failure::Result;
use evermargin::Matrix;
use evermargin::active::{Seek, SubmodParams, diverse_batch, submod_batch};
use evermargin::engine::transduction::{
    LabeledRows, MemoryPolicy, Transduction, TransductionParams, TransductiveLabel,
};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// When the labels of a batch are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Incremental,
    Online,
}

/// Which rows are asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    Random,
    /// SUBMOD-ACTV.
    Submod(Seek),
    /// Doubtful rows that speak for all doubtful rows.
    Diverse,
}

/// How to go.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub mode: Mode,
    pub params: TransductionParams,
    /// Whether the share of positives is that of the stream (with questions: of the rows so far that were not asked about,
    /// for questions may prefer a class), or that of the labels.
    pub true_share: bool,
    /// Whom to ask about, and which share of the rows.
    pub ask: Option<(Ask, f64)>,
    pub seed: u64,
}

/// What happened at a batch.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    /// Rows that were scored, and their labels; no labels before both classes are known.
    pub rows: Vec<usize>,
    pub labels: Option<Vec<u32>>,
    /// Share of labels that summarizing would change.
    pub cost: f64,
    /// Samples held while the batch was labeled, in batches.
    pub kept: f64,
    pub exemplars: usize,
    pub seconds: f64,
    /// Labels known after the batch.
    pub known: usize,
}

impl Step {
    /// Share of the rows labeled rightly; `None` before there are labels.
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
    fn of(stream: &Stream, way: &Way) -> Self {
        let shares = if way.true_share { stream.shares().to_vec() } else { Vec::new() };
        Self { x: stream.x.view().select(&[]), class: Vec::new(), shares }
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

/// Goes along the whole stream.
pub(super) fn walk(stream: &Stream, way: &Way) -> Result<Vec<Step>> {
    let mut memory = memory(stream, &way.params)?;
    let mut labeled = Labeled::of(stream, way);
    let mut rng = Pcg64::seed_from_u64(way.seed);
    let (mut asked, mut left, mut steps) = (0, [0usize; 2], Vec::new());
    for t in 0..stream.batches() {
        let clock = Clock::start();
        let (told, rest) = stream.parts(t);
        let mut rows = match way.mode {
            Mode::Incremental => {
                labeled.add(stream, &told);
                rest.clone()
            }
            Mode::Online => stream.rows(t).collect(),
        };
        if let Some((ask, share)) = way.ask {
            let due = (share * stream.rows(t).end as f64) as usize;
            let mut chosen = choose(stream, &rows, ask, due - asked, &memory, &labeled, &mut rng)?;
            asked = due;
            labeled.add(stream, &chosen);
            chosen.sort_unstable();
            rows.retain(|i| chosen.binary_search(i).is_err());
            rows.iter().for_each(|&i| left[stream.truth[i] as usize] += 1);
            if way.true_share {
                labeled.shares = left.map(|n| n as f64 / (left[0] + left[1]).max(1) as f64).to_vec();
            }
        }
        let mut batch = stream.x.view().select(&rows);
        let mut given = memory.label(labeled.known(), batch.view(), &())?;
        let labels = given.as_ref().map(|g| g.iter().map(|g| g.class).collect());
        let kept = (memory.len() + stream.batch) as f64 / stream.batch as f64;
        if way.mode == Mode::Online && !told.is_empty() {
            labeled.add(stream, &told);
            let without: Vec<usize> = rows.iter().copied().filter(|i| !stream.told[*i]).collect();
            batch = stream.x.view().select(&without);
            given = memory.label(labeled.known(), batch.view(), &())?;
        }
        let told = memory.absorb(labeled.known(), batch, given.as_deref(), way.seed, &())?;
        steps.push(Step {
            rows,
            labels,
            cost: told.cost,
            kept,
            exemplars: told.exemplars,
            seconds: clock.seconds(),
            known: labeled.class.len(),
        });
    }
    Ok(steps)
}

/// Batch learning at some batches: the batch and everything before it at once. Nothing carries over from batch to batch, so
/// the others need not be labeled.
pub(super) fn all_at_once(stream: &Stream, way: &Way, at: &[usize]) -> Result<Vec<Step>> {
    let params = TransductionParams { remember: MemoryPolicy::Everything, ..way.params.clone() };
    let one = |&t: &usize| {
        let clock = Clock::start();
        let (mut memory, mut labeled) = (memory(stream, &params)?, Labeled::of(stream, way));
        let (told, rest): (Vec<usize>, Vec<usize>) = (0..stream.rows(t).end).partition(|&i| stream.told[i]);
        labeled.add(stream, &told);
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

/// Rows of a batch to ask about.
fn choose(
    stream: &Stream,
    rows: &[usize],
    ask: Ask,
    count: usize,
    memory: &Transduction,
    labeled: &Labeled,
    rng: &mut Pcg64,
) -> Result<Vec<usize>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let batch = stream.x.view().select(rows);
    let order = match ask {
        Ask::Random => None,
        Ask::Submod(seek) => {
            let signs: Vec<f64> = labeled.class.iter().map(|c| 2.0 * f64::from(*c) - 1.0).collect();
            let params = SubmodParams { seek, ..SubmodParams::default() };
            Some(submod_batch(batch.view(), labeled.x.view(), &signs, &params, count, &())?.order)
        }
        Ask::Diverse => match memory.label(labeled.known(), batch.view(), &())? {
            Some(given) => {
                let closeness: Vec<f64> = given.iter().map(|g: &TransductiveLabel| g.confidence).collect();
                let kernel = evermargin::Kernel::Linear;
                Some(diverse_batch(batch.view(), &closeness, kernel, count, &())?.order)
            }
            None => None,
        },
    };
    let order = order.unwrap_or_else(|| {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.shuffle(rng);
        order.truncate(count);
        order
    });
    Ok(order.into_iter().map(|k| rows[k]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::data::Set;
    use rand::RngExt;

    /// Two clouds in the plane, ten batches of 30, eight labels.
    fn clouds(seed: u64) -> Stream {
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

    fn way(mode: Mode, remember: MemoryPolicy) -> Way {
        let params = TransductionParams { remember, ..TransductionParams::default() };
        Way { mode, params, true_share: true, ask: None, seed: 1 }
    }

    /// A label of batch t that is turned changes nothing online up to and with batch t. Seen first, it must change something
    /// in one of these streams at the batch itself, or this test could not fail.
    #[test]
    fn online_labels_are_not_seen_before_the_batch_is_labeled() {
        let mut early = 0;
        for seed in 0..10 {
            let stream = clouds(seed);
            let last = (0..300).rev().find(|&i| stream.told[i]).unwrap();
            let (t, mut turned) = (last / 30, stream.clone());
            turned.truth[last] = 1 - turned.truth[last];
            // the share of positives must be the same: one untold row turns the other way
            let other = (0..300).find(|&i| !stream.told[i] && stream.truth[i] != stream.truth[last]).unwrap();
            turned.truth[other] = 1 - turned.truth[other];
            let labels = |s: &Stream, mode| {
                let steps = walk(s, &way(mode, MemoryPolicy::Exemplars)).unwrap();
                steps.into_iter().map(|s| s.labels).collect::<Vec<_>>()
            };
            assert_eq!(labels(&stream, Mode::Online)[..=t], labels(&turned, Mode::Online)[..=t]);
            let (a, b) = (labels(&stream, Mode::Incremental), labels(&turned, Mode::Incremental));
            assert_eq!(a[..t], b[..t]);
            early += usize::from(a[t] != b[t]);
        }
        assert!(early > 0, "no label mattered");
    }

    #[test]
    fn rows_scored_are_those_without_a_label_or_all() {
        let stream = clouds(1);
        let scored = |mode| {
            walk(&stream, &way(mode, MemoryPolicy::Exemplars))
                .unwrap()
                .iter()
                .map(|s| s.rows.len())
                .sum::<usize>()
        };
        assert_eq!((scored(Mode::Incremental), scored(Mode::Online)), (292, 300));
    }

    /// Three batches at most with exemplars, two with nothing remembered, all of them with everything.
    #[test]
    fn memory_is_counted() {
        let stream = clouds(2);
        let most = |remember| {
            let steps = walk(&stream, &way(Mode::Incremental, remember)).unwrap();
            steps.iter().map(|s| s.kept).fold(0.0, f64::max)
        };
        assert!(most(MemoryPolicy::Exemplars) <= 3.0);
        assert!(most(MemoryPolicy::Nothing) <= 2.0 && most(MemoryPolicy::Nothing) > 1.9);
        assert!(most(MemoryPolicy::Everything) > 9.5);
    }

    /// Batch learning at one batch is what the walk that keeps everything says there.
    #[test]
    fn batch_learning_needs_no_walk() {
        for seed in 0..5 {
            let stream = clouds(seed);
            let everything = way(Mode::Incremental, MemoryPolicy::Everything);
            let walked = walk(&stream, &everything).unwrap();
            for (t, step) in [4, 9].into_iter().zip(all_at_once(&stream, &everything, &[4, 9]).unwrap()) {
                assert_eq!((&step.rows, &step.labels), (&walked[t].rows, &walked[t].labels), "{seed} {t}");
            }
        }
    }

    /// As many questions as the share says, none about a row that is scored, each row once.
    #[test]
    fn questions_are_counted_and_not_scored() {
        let stream = clouds(3);
        for ask in [Ask::Random, Ask::Submod(Seek::Outliers), Ask::Submod(Seek::Dense), Ask::Diverse] {
            let way = Way { ask: Some((ask, 0.05)), ..way(Mode::Incremental, MemoryPolicy::Exemplars) };
            let steps = walk(&stream, &way).unwrap();
            assert_eq!(steps[9].known, 8 + 15, "{ask:?}");
            let scored: usize = steps.iter().map(|s| s.rows.len()).sum();
            assert_eq!(scored, 300 - 8 - 15, "{ask:?}");
        }
    }
}
