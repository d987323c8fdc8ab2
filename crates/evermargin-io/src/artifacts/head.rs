//! The description of an artifact: JSON of everything that is small. All kinds share one head; what differs between them is
//! its body.

use crate::artifacts::container::{self, Kind};
use crate::artifacts::tensor_parts::ScalingHead;
use crate::artifacts::tensors::Bundle;
use crate::error::{Error, Result};
use evermargin::model::InputSpec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The head of every artifact. Kind, format version and CPU level are metadata of the container, which is checked first.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head<B> {
    /// The version of evermargin that wrote the file.
    pub(crate) evermargin: String,
    /// How a file becomes features.
    pub(crate) input: InputSpec,
    /// How features are scaled, without the vectors.
    pub(crate) scaling: ScalingHead,
    /// What only this kind of artifact has.
    pub(crate) body: B,
}

impl<B: PartialEq + Serialize + DeserializeOwned> Head<B> {
    /// The head of an artifact that this version writes.
    pub(crate) fn new(input: &InputSpec, scaling: ScalingHead, body: B) -> Self {
        Self { evermargin: env!("CARGO_PKG_VERSION").into(), input: input.clone(), scaling, body }
    }

    /// The bytes of the artifact. JSON has no infinite numbers: a head that could not be read again is refused.
    pub(crate) fn write(&self, kind: Kind, bundle: Bundle) -> Result<Vec<u8>> {
        let text = serde_json::to_string(self).map_err(|e| Error::inexpressible(e.to_string()))?;
        match serde_json::from_str::<Self>(&text) {
            Ok(back) if back == *self => Ok(container::write(kind, &text, bundle)),
            _ => Err(Error::inexpressible(
                "a parameter of the learner cannot be written as JSON; parameters must be finite numbers",
            )),
        }
    }
}
