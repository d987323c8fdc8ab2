//! What the engine refuses, before anything is changed.

use super::classes::LONGEST;
use super::{Engine, Event};
use crate::data::Matrix;
use crate::error::{Error, Result};

impl Engine {
    /// Refuses what cannot be applied, before anything is changed.
    pub fn validate(&self, event: &Event) -> Result<()> {
        let unknown = |sample: u64, what: &str| {
            Err(Error::Data(format!("sample {sample} {what}; it may have lapsed, or have an answer already")))
        };
        let body = self.body.as_ref();
        match event {
            Event::Batch { x, labels } => self.validate_batch(x, labels),
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
            Event::Tick { .. } | Event::Ask { .. } => Ok(()),
        }
    }

    /// [`Engine::admit`] of a batch.
    pub fn validate_batch(&self, x: &Matrix, labels: &[Option<String>]) -> Result<()> {
        if x.rows() != labels.len() {
            return Err(Error::Shape { what: "labels", expected: x.rows(), found: labels.len() });
        }
        if x.rows() > self.params.max_rows {
            let (rows, most) = (x.rows(), self.params.max_rows);
            return Err(Error::Data(format!(
                "a batch of {rows} rows; {most} are the most: use smaller batches"
            )));
        }
        if x.cols() == 0 || (x.rows() == 0 && self.body.is_none()) {
            return Err(Error::Data("the first batch has no rows or no columns".into()));
        }
        if let Some(body) = &self.body
            && body.memory.rows().cols() != x.cols()
        {
            let expected = body.memory.rows().cols();
            return Err(Error::Shape { what: "columns", expected, found: x.cols() });
        }
        let mut names: Vec<&str> = labels.iter().flatten().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let mut known = self.classes.clone();
        for name in names {
            self.validate_class_name(name)?;
            known.place(name);
        }
        if known.len() > self.params.max_classes {
            return Err(self.too_many(known.len()));
        }
        Ok(())
    }

    pub(super) fn validate_class_name(&self, name: &str) -> Result<()> {
        if name.trim().is_empty() || name.len() > LONGEST {
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
