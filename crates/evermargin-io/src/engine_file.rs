//! States and events of the engine as bytes: MessagePack with named fields. Numbers keep their bits; what is read is
//! refused if a field is missing or unknown, and nothing is allocated by a length that was only claimed.

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
