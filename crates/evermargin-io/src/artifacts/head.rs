//! The description of an artifact: JSON of everything that is small. All kinds have the same head with different bodies.

use crate::artifacts::container::{self, Kind};
use crate::artifacts::tensor_parts::ScalingHead;
use crate::artifacts::tensors::Bundle;
use crate::error::{Error, Result};
use evermargin::model::InputSpec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Head of an artifact. Kind, format version and CPU level are metadata of the container, which is checked first.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head<B> {
    /// The version of evermargin that wrote the file.
    pub(crate) evermargin: String,
    /// Mapping of files to features.
    pub(crate) input: InputSpec,
    /// Scaling of features, without its vectors.
    pub(crate) scaling: ScalingHead,
    /// Fields that only this kind of artifact has.
    pub(crate) body: B,
}

impl<B: PartialEq + Serialize + DeserializeOwned> Head<B> {
    /// Head of an artifact written by this version.
    pub(crate) fn new(input: &InputSpec, scaling: ScalingHead, body: B) -> Self {
        Self { evermargin: env!("CARGO_PKG_VERSION").into(), input: input.clone(), scaling, body }
    }

    /// Encodes the artifact. Returns an error if the head cannot be read back, because JSON has no infinite numbers.
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
