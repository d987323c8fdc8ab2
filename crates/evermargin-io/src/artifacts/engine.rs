//! States and events of the engine as bytes: MessagePack with named fields. Numbers keep their bits; what is read is
//! refused if a field is missing or unknown, and nothing is allocated by a length that was only claimed.
//!
//! What is to last is sealed: eight bytes that name the kind of state and the version of its form, the CRC-32 of all that
//! follows (little endian), and the value.

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

/// A kind of state that is sealed: its name and the version of its form.
pub type Kind = [u8; 8];

/// An engine with what its owner says about it.
pub const ENGINE: Kind = *b"EVMENGN1";

/// A sequential learner.
pub const SEQUENTIAL: Kind = *b"EVMMEDS1";

/// Bytes before the value.
const HEAD: usize = 12;

/// The bytes of a value, with its kind and a checksum.
pub fn seal<T: Serialize>(kind: Kind, value: &T) -> Result<Vec<u8>> {
    let body = pack(value)?;
    let sum = crc32fast::hash(&body).to_le_bytes();
    Ok([kind.as_slice(), &sum, &body].concat())
}

/// The value of bytes that were sealed; refuses another kind, another version and damage.
pub fn unseal<T: DeserializeOwned>(kind: Kind, name: &str, bytes: &[u8]) -> Result<T> {
    let wrong = |what: &str| Err(Error::content(name, what));
    let Some((head, body)) = bytes.split_at_checked(HEAD) else {
        return wrong("too short to be a state of evermargin");
    };
    if head[..7] != kind[..7] {
        return wrong("not a state of this kind of learner");
    }
    if head[7] != kind[7] {
        return wrong("written by another version, whose form is not known here");
    }
    if head[8..] != crc32fast::hash(body).to_le_bytes() {
        return wrong("its checksum is not that of its bytes; it is damaged");
    }
    unpack(name, body)
}
