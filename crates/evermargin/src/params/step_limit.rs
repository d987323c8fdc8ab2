//! Serialization of fields `Option<u64>` that limit steps: a count of 1 or more, or `none` for no limit.

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;
use std::fmt;

/// The word that means no limit.
pub(crate) const NONE: &str = "none";

/// Writes the count, or `none`.
// serde passes a reference to the field
#[allow(clippy::ref_option)]
pub(crate) fn serialize<S: Serializer>(limit: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match limit {
        None => serializer.serialize_str(NONE),
        Some(steps) => serializer.serialize_u64(*steps),
    }
}

/// Reads a count of 1 or more, or `none`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(StepLimit)
}

struct StepLimit;

impl Visitor<'_> for StepLimit {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none, or a whole number from 1 on")
    }

    fn visit_u64<E: Error>(self, steps: u64) -> Result<Self::Value, E> {
        match steps {
            0 => Err(E::invalid_value(Unexpected::Unsigned(0), &self)),
            steps => Ok(Some(steps)),
        }
    }

    fn visit_i64<E: Error>(self, steps: i64) -> Result<Self::Value, E> {
        let count = u64::try_from(steps).map_err(|_| E::invalid_value(Unexpected::Signed(steps), &self))?;
        self.visit_u64(count)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == NONE { Ok(None) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }
}
