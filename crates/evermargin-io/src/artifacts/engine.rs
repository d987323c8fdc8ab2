//! States and events of the engine as bytes: MessagePack with named fields. Numbers keep their bits; what is read is
//! refused if a field is missing or unknown, and nothing is allocated by a length that was only claimed.
//!
//! What is to last is sealed: the MessagePack bytes are the only array, `value`, of an artifact ([`crate::artifacts::container`]).

use crate::artifacts::container::{self, LoadOptions};
use crate::artifacts::tensors::Bundle;
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes of a value.
pub fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(|e| Error::inexpressible(e.to_string()))
}

/// The value of bytes; `name` stands for the file in messages.
pub fn unpack<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
    let value = T::deserialize(&mut reader).map_err(|e| Error::content(name, format!("not a state: {e}")))?;
    Ok(value)
}

pub use crate::artifacts::container::Kind;

/// An engine with what its owner says about it.
pub const ENGINE: Kind = Kind::Engine;

/// A sequential learner.
pub const SEQUENTIAL: Kind = Kind::Sequential;

const VALUE: &str = "value";

/// The bytes of a value, with its kind, the CPU level and a checksum.
pub fn seal<T: Serialize>(kind: Kind, value: &T) -> Result<Vec<u8>> {
    let mut bundle = Bundle::default();
    bundle.u8(VALUE, pack(value)?);
    Ok(container::write(kind, "", bundle))
}

/// The value of bytes that were sealed; refuses another kind, another version, another CPU level and damage.
pub fn unseal<T: DeserializeOwned>(kind: Kind, name: &str, bytes: &[u8]) -> Result<T> {
    unseal_with(kind, name, bytes, &LoadOptions::default())
}

/// The same with options.
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
