//! States and events of the engine as MessagePack with named fields. Numbers keep their bits. Missing and unknown fields are
//! errors, and no memory is allocated by a declared length alone.
//!
//! A sealed value is an artifact ([`crate::artifacts::container`]) whose only array, `value`, has the MessagePack bytes.

use crate::artifacts::container::{self, LoadOptions};
use crate::artifacts::tensors::Bundle;
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Encodes a value as MessagePack.
pub fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(|e| Error::inexpressible(e.to_string()))
}

/// Decodes a value from MessagePack; `name` is the name of the file in error messages.
pub fn unpack<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
    let value = T::deserialize(&mut reader).map_err(|e| Error::content(name, format!("not a state: {e}")))?;
    Ok(value)
}

pub use crate::artifacts::container::Kind;

/// Kind of an artifact with an engine and a string that the caller supplies.
pub const ENGINE: Kind = Kind::Engine;

/// Kind of an artifact with a sequential learner.
pub const SEQUENTIAL: Kind = Kind::Sequential;

const VALUE: &str = "value";

/// Encodes a value as an artifact with its kind, the CPU level and a checksum.
pub fn seal<T: Serialize>(kind: Kind, value: &T) -> Result<Vec<u8>> {
    let mut bundle = Bundle::default();
    bundle.u8(VALUE, pack(value)?);
    Ok(container::write(kind, "", bundle))
}

/// Decodes a sealed value. Another kind, version or CPU level and damage are errors.
pub fn unseal<T: DeserializeOwned>(kind: Kind, name: &str, bytes: &[u8]) -> Result<T> {
    unseal_with(kind, name, bytes, &LoadOptions::default())
}

/// Like [`unseal`], with options.
pub fn unseal_with<T: DeserializeOwned>(
    kind: Kind,
    name: &str,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<T> {
    let wrong = |what: String| Error::content(name, what);
    let mut tensors = container::open(kind, bytes).map_err(|what| Error::content(name, what))?;
    container::check_cpu(name, &tensors, options)?;
    let value = tensors.u8(VALUE).map_err(wrong)?;
    tensors.refuse_unused().map_err(wrong)?;
    unpack(name, value)
}
