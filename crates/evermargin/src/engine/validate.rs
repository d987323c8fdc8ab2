//! Checks that refuse an event as a whole, before anything is changed. Single rows are rejected in `prepare_batch.rs`.

use super::classes::MAX_NAME_BYTES;
use super::prepare_batch::unusable_name;
use super::{Engine, EngineParams, Event};
use crate::error::{Error, Result};
use crate::estimators::transductive::Ratio;

impl Engine {
    /// Returns an error for an event, other than a batch, that cannot be applied.
    pub(super) fn validate(&self, event: &Event) -> Result<()> {
        let unknown = |sample: u64, what: &str| Err(Error::Data(format!("sample {sample} {what}")));
        let state = self.state.as_ref();
        match event {
            Event::Answer { sample, label } => {
                self.validate_class_name(label)?;
                if state.is_some_and(|b| b.pending.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "is not asked about; its query may have lapsed or been answered")
            }
            Event::Skip { sample } => {
                if state.is_some_and(|b| b.pending.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "is not asked about; its query may have lapsed or been answered")
            }
            Event::Correct { sample, label } => {
                self.validate_class_name(label)?;
                if state.is_some_and(|b| b.memory.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "has no label that could be changed; it may have been forgotten")
            }
            Event::Withdraw { sample } => {
                if state.is_some_and(|b| b.memory.find(*sample).is_some() || b.constraints.names(*sample)) {
                    return Ok(());
                }
                unknown(*sample, "has no label that could be withdrawn; it may have been forgotten")
            }
            Event::Compare { sample } => self.validate_comparison(*sample),
            Event::Related { a, b: other, .. } => {
                if a == other {
                    return Err(Error::Data(format!("sample {a} cannot be related to itself")));
                }
                if state.is_some_and(|b| b.pending.find_comparison(*a, *other).is_some()) {
                    return Ok(());
                }
                match [a, other].into_iter().find(|s| !state.is_some_and(|state| state.holds(**s))) {
                    None => Ok(()),
                    Some(missing) => unknown(*missing, "is not stored; it may have been forgotten"),
                }
            }
            Event::Tick { now } if *now < self.now => {
                Err(Error::Data(format!("time decreased from {} to {now} seconds", self.now)))
            }
            Event::SetBudget { budget } => EngineParams { budget: *budget, ..self.params.clone() }.check(),
            Event::SetRatio { shares } => {
                EngineParams { ratio: Ratio::Given(shares.clone()), ..self.params.clone() }.check()
            }
            Event::Await { rows } => self.validate_awaited(rows),
            Event::Labels { labels } => self.validate_labels(labels),
            Event::Tick { .. } | Event::Ask { .. } | Event::Batch { .. } => Ok(()),
        }
    }

    pub(super) fn validate_class_name(&self, name: &str) -> Result<()> {
        if unusable_name(name).is_some() {
            return Err(Error::Data(format!("a class name must have 1 to {MAX_NAME_BYTES} bytes")));
        }
        if self.classes.find(name).is_none() && self.classes.len() >= self.params.max_classes {
            return Err(self.too_many(self.classes.len() + 1));
        }
        Ok(())
    }

    pub(super) fn too_many(&self, classes: usize) -> Error {
        let max = self.params.max_classes;
        Error::Data(format!("{classes} classes; the maximum is {max}: is the label in another column?"))
    }
}
