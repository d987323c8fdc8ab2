//! Runs the engine of `evermargin run` on a stream, with flags and defaults of the command line.
//!
//! One run has both modes of Emara 2012, chapter IV. *Online*: labels predicted on arrival of a batch, before its own labels are
//! used; all rows are scored. *Incremental*: labels at the end of the batch; rows with a given label and queried rows are not
//! scored.
//!
//! Departure: the class shares are estimated, unless [`Setup::given_ratio`] gives those of the whole stream, and labels come from
//! all label sources, unless a flag selects one.

use super::Stream;
use super::walk::Step;
use crate::clock::Clock;
use crate::failure::Result;
use evermargin::engine::{Effects, Engine, EngineParams, Event, InferredLabel, engine_param_specs};
use evermargin::params::ParamValues;

/// Flags of `evermargin run` with their values.
pub(super) type Flags = &'static [(&'static str, &'static str)];

/// Settings of a run of the engine.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    /// Flags of `evermargin run` with their values, without `--` and with `_` between words.
    pub flags: Vec<(&'static str, String)>,
    /// Whether `--ratio` is set to the share of positives of the whole stream.
    pub given_ratio: bool,
    /// Maximum share of queried rows per batch; 0: no oracle.
    pub ask: f64,
    pub seed: u64,
}

impl Setup {
    /// The defaults of `evermargin run --oracle none`.
    pub(super) fn of(flags: Flags, seed: u64) -> Self {
        let flags = flags.iter().map(|(name, value)| (*name, (*value).to_string())).collect();
        Self { flags, given_ratio: false, ask: 0.0, seed }
    }

    fn params(&self, stream: &Stream) -> Result<EngineParams> {
        let mut flags = self.flags.clone();
        flags.push(("seed", self.seed.to_string()));
        if self.given_ratio {
            flags.push(("ratio", stream.shares()[1].to_string()));
        }
        if self.ask > 0.0 {
            flags.push(("queries_per_batch", ((self.ask * stream.batch as f64) as usize).to_string()));
        } else {
            flags.push(("strategy", "none".into()));
        }
        let mut values = ParamValues::new();
        for (name, text) in &flags {
            let spec = engine_param_specs().find(|spec| spec.name == *name);
            let spec = spec.ok_or_else(|| crate::failure::Failure::Unknown(format!("--{name}")))?;
            values.insert((*name).into(), spec.parse(text)?);
        }
        Ok(EngineParams::from_values(&values)?)
    }
}

/// Steps of both modes.
#[derive(Debug, Default)]
pub(super) struct BothModes {
    pub incremental: Vec<Step>,
    pub online: Vec<Step>,
}

/// Runs over the whole stream.
pub(super) fn go(stream: &Stream, setup: &Setup) -> Result<BothModes> {
    let mut engine = Engine::new(&setup.params(stream)?)?;
    let mut out = BothModes::default();
    for t in 0..stream.batches() {
        let clock = Clock::start();
        let rows: Vec<usize> = stream.rows(t).collect();
        let held = engine.transduction().map_or(0, evermargin::engine::transduction::Transduction::len);
        let name = |i: usize| stream.truth[i].to_string();
        let labels = rows.iter().map(|&i| stream.labeled[i].then(|| name(i))).collect();
        let arrival = engine.apply(Event::Batch { x: stream.x.view().select(&rows), labels })?;
        let on_arrival = classes(&engine, &arrival.labels, &rows, &rows);
        let asked = answer(&mut engine, arrival, name)?;
        let close = engine.apply(Event::Tick { now: 0 })?;
        let is_scored = |i: &usize| !stream.labeled[*i] && !asked.contains(i);
        let rest: Vec<usize> = rows.iter().copied().filter(is_scored).collect();
        let at_close = classes(&engine, &close.labels, &rows, &rest);
        let step = |rows: Vec<usize>, labels| Step {
            rows,
            labels,
            cost: engine.last_summary().cost,
            kept: (held + stream.batch) as f64 / stream.batch as f64,
            exemplars: engine.transduction().map_or(0, |t| t.exemplars().rows()),
            seconds: clock.seconds(),
            known: engine.memory().map_or(0, evermargin::engine::LabelMemory::len),
        };
        out.incremental.push(step(rest, at_close));
        out.online.push(step(rows, on_arrival));
    }
    Ok(out)
}

/// Answers all queries from the hidden labels and returns the queried rows. Samples of the engine are rows of the stream.
fn answer(engine: &mut Engine, arrival: Effects, name: impl Fn(usize) -> String) -> Result<Vec<usize>> {
    let mut open = arrival.questions;
    let mut asked = Vec::new();
    while let Some(question) = open.pop() {
        let row = question.sample as usize;
        asked.push(row);
        let effects = engine.apply(Event::Answer { sample: question.sample, label: name(row) })?;
        open.extend(effects.questions);
    }
    Ok(asked)
}

/// Inferred classes of some rows of a batch; `None` if a row has no label.
fn classes(engine: &Engine, given: &[InferredLabel], rows: &[usize], wanted: &[usize]) -> Option<Vec<u32>> {
    let names = engine.classes().names();
    let first = rows.first()?;
    let class = |i: &usize| names.get(given.get(i - first)?.class? as usize)?.parse().ok();
    wanted.iter().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::walk::tests::clouds;

    /// A flipped label of batch t does not change predictions on arrival up to batch t, but changes later ones, so that this test can
    /// fail.
    #[test]
    fn labels_are_not_used_before_their_batch_is_predicted() {
        let (setup, mut later) = (Setup::of(&[], 1), 0);
        for seed in 0..4 {
            let stream = clouds(seed);
            let last = (0..270).rev().find(|&i| stream.labeled[i]).unwrap();
            let (t, mut turned) = (last / 30, stream.clone());
            turned.truth[last] = 1 - turned.truth[last];
            let labels = |s: &Stream| -> Vec<Option<Vec<u32>>> {
                go(s, &setup).unwrap().online.into_iter().map(|s| s.labels).collect()
            };
            let (a, b) = (labels(&stream), labels(&turned));
            assert_eq!(a[..=t], b[..=t]);
            later += usize::from(a != b);
        }
        assert!(later > 0, "no label mattered");
    }

    #[test]
    fn queried_rows_are_counted_and_not_scored() {
        const WAYS: [Flags; 3] =
            [&[], &[("strategy", "random")], &[("strategy", "submod"), ("submod_weights", "learned")]];
        let stream = clouds(3);
        for flags in WAYS {
            let setup = Setup { ask: 0.1, ..Setup::of(flags, 1) };
            let BothModes { incremental, online } = go(&stream, &setup).unwrap();
            let (known, scored) =
                (incremental[9].known, incremental.iter().map(|s| s.rows.len()).sum::<usize>());
            assert!((9..=8 + 30).contains(&known), "{known}");
            assert_eq!((scored, online.iter().map(|s| s.rows.len()).sum()), (300 - known, 300));
        }
    }

    #[test]
    fn flags_exist_on_the_command_line() {
        let stream = clouds(1);
        let params = |setup: &Setup| setup.params(&stream);
        let plain = params(&Setup::of(&[], 1)).unwrap();
        let default = EngineParams { query_strategy: plain.query_strategy, ..EngineParams::default() };
        assert_eq!(plain, default, "the defaults, and no questions");
        let strict = params(&Setup::of(&[("tolerance", "0")], 1)).unwrap();
        assert_eq!(strict.transduction.unwrap().tolerance, 0.0);
        let given = params(&Setup { given_ratio: true, ..Setup::of(&[], 1) }).unwrap();
        assert_ne!(given.ratio, plain.ratio);
        assert!(params(&Setup::of(&[("tolerance", "2")], 1)).is_err());
        assert!(params(&Setup::of(&[("no_such_flag", "2")], 1)).is_err());
    }
}
