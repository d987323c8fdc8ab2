//! Typed parameter values: as written by users, as fields of parameter structs, and as stored in files.

use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// Values by the name of their parameter, sorted by name.
pub type ParamValues = BTreeMap<String, ParamValue>;

/// The value of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamValue {
    /// True or false.
    Bool(bool),
    /// An integer; wide enough for every `i64` and `u64`.
    Integer(i128),
    /// A number.
    Float(f64),
    /// A word, such as the name of a kernel.
    Text(String),
    /// Several values, such as one fraction per class.
    List(Vec<ParamValue>),
    /// Values by name, such as one weight per class.
    Map(ParamValues),
}

impl ParamValue {
    /// The number, integer or not.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is not negative; 5.0 counts as 5.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer().and_then(|value| value.try_into().ok())
    }

    /// The integer; 5.0 counts as 5.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Float(value) if value.fract() == 0.0 && value.abs() <= EXACT => Some(*value as i128),
            _ => None,
        }
    }

    /// True or false.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The value under a name in a map.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        if let Self::Map(values) = self { values.get(name) } else { None }
    }

    /// The values of a list.
    pub fn as_list(&self) -> Option<&[ParamValue]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }

    /// The word.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// Every integer up to this size is exactly representable as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Formats a value as users write it.
impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) if *value != 0.0 && !(1e-5..1e16).contains(&value.abs()) => {
                write!(f, "{value:e}")
            }
            Self::Float(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                f.write_str(&values.join(","))
            }
            Self::Map(values) => {
                let values: Vec<String> = values.iter().map(|(name, v)| format!("{name}={v}")).collect();
                f.write_str(&values.join(","))
            }
        }
    }
}

macro_rules! from_integer {
    ($($integer:ty),*) => {$(
        impl From<$integer> for ParamValue {
            fn from(value: $integer) -> Self {
                Self::Integer(value as i128)
            }
        }
    )*};
}

from_integer!(u8, u32, u64, usize, i32, i64);

impl From<bool> for ParamValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for ParamValue {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for ParamValue {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for ParamValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<ParamValue>> From<Vec<T>> for ParamValue {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl From<ParamValues> for ParamValue {
    fn from(values: ParamValues) -> Self {
        Self::Map(values)
    }
}

impl Serialize for ParamValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Ok(value)) => serializer.serialize_u64(value),
                _ => serializer.serialize_f64(*value as f64),
            },
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => values.serialize(serializer),
            Self::Map(values) => values.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ParamValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = ParamValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a number, a word, a list or values by name")
    }

    fn visit_bool<E>(self, value: bool) -> Result<ParamValue, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<ParamValue, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<ParamValue, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<ParamValue, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<ParamValue, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ParamValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(ParamValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ParamValue, A::Error> {
        let mut values = ParamValues::new();
        while let Some((name, value)) = map.next_entry()? {
            values.insert(name, value);
        }
        Ok(ParamValue::Map(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_values_as_a_user_writes_them() {
        let list = ParamValue::from(vec![0.25, 0.75]);
        assert_eq!(list.to_string(), "0.25,0.75");
        assert_eq!(ParamValue::from(1.0).to_string(), "1");
        assert_eq!(ParamValue::from(1e-15).to_string(), "1e-15");
        assert_eq!(ParamValue::from(1e300).to_string(), "1e300");
        assert_eq!(ParamValue::from(0.0).to_string(), "0");
        assert_eq!(ParamValue::from(u64::MAX).to_string(), u64::MAX.to_string());
    }

    #[test]
    fn serialization_keeps_types_and_bits() {
        let values = ParamValues::from([
            ("a".into(), true.into()),
            ("b".into(), u64::MAX.into()),
            ("c".into(), i64::MIN.into()),
            ("d".into(), 0.1.into()),
            ("e".into(), "word".into()),
            ("f".into(), vec![1.0, 2.0].into()),
            ("g".into(), ParamValues::from([("h".into(), 5usize.into())]).into()),
        ]);
        let bytes = rmp_serde::to_vec_named(&values).unwrap();
        assert_eq!(rmp_serde::from_slice::<ParamValues>(&bytes).unwrap(), values);
    }
}
