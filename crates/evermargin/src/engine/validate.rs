//! What the engine refuses as a whole, before anything is changed. Single rows are rejected in `prepare_batch.rs`.

use super::classes::LONGEST;
use super::prepare_batch::unusable_name;
use super::{Engine, Event};
use crate::error::{Error, Result};

impl Engine {
    /// Refuses an event, other than a batch, that cannot be applied.
    pub(super) fn validate(&self, event: &Event) -> Result<()> {
        let unknown = |sample: u64, what: &str| {
            Err(Error::Data(format!("sample {sample} {what}; it may have lapsed, or have an answer already")))
        };
        let body = self.body.as_ref();
        match event {
            Event::Answer { sample, label } => {
                self.validate_class_name(label)?;
                if body.is_some_and(|b| b.open.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "is not asked about")
            }
            Event::Skip { sample } => {
                if body.is_some_and(|b| b.open.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "is not asked about")
            }
            Event::Correct { sample, label } => {
                self.validate_class_name(label)?;
                if body.is_some_and(|b| b.memory.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "has no label that could be changed")
            }
            Event::Withdraw { sample } => {
                if body.is_some_and(|b| b.memory.find(*sample).is_some()) {
                    return Ok(());
                }
                unknown(*sample, "has no label that could be taken back")
            }
            Event::Related { a, b, .. } => {
                if a == b {
                    return Err(Error::Data(format!("sample {a} cannot be related to itself")));
                }
                match [a, b].into_iter().find(|s| !body.is_some_and(|body| body.holds(**s))) {
                    None => Ok(()),
                    Some(missing) => unknown(*missing, "is not at hand"),
                }
            }
            Event::Tick { now } if *now < self.now => {
                Err(Error::Data(format!("time went back from {} to {now} seconds", self.now)))
            }
            Event::Tick { .. } | Event::Ask { .. } | Event::Batch { .. } => Ok(()),
        }
    }

    pub(super) fn validate_class_name(&self, name: &str) -> Result<()> {
        if unusable_name(name).is_some() {
            return Err(Error::Data(format!("a class needs a name of 1 to {LONGEST} bytes")));
        }
        if self.classes.find(name).is_none() && self.classes.len() >= self.params.max_classes {
            return Err(self.too_many(self.classes.len() + 1));
        }
        Ok(())
    }

    pub(super) fn too_many(&self, classes: usize) -> Error {
        let most = self.params.max_classes;
        Error::Data(format!("{classes} classes; {most} are the most: is the label in another column?"))
    }
}
