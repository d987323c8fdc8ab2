//! Conversion between values by name and structs of parameters, through serde. This code is independent of file formats.

use super::{ParamValue, ParamValues};
use serde::de::value::{Error as SerdeError, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{self, Serialize, Serializer};

/// Fills a struct from values by name.
pub fn from_values<T: DeserializeOwned>(values: &ParamValues) -> Result<T, SerdeError> {
    T::deserialize(ParamValue::Map(values.clone()))
}

/// The values of a struct by name; fields that are `None` are omitted.
pub fn to_values<T: Serialize>(value: &T) -> Result<ParamValues, SerdeError> {
    match to_value(value)? {
        ParamValue::Map(values) => Ok(values),
        other => Err(SerdeError::custom(format!("{other} has no names"))),
    }
}

/// The value of anything that serde can serialize.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<ParamValue, SerdeError> {
    value.serialize(ToValue)?.ok_or_else(|| SerdeError::custom("there is no value"))
}

impl IntoDeserializer<'_, SerdeError> for ParamValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for ParamValue {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        match self {
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Integer(value) => match (u64::try_from(value), i64::try_from(value)) {
                (Ok(value), _) => visitor.visit_u64(value),
                (_, Ok(value)) => visitor.visit_i64(value),
                _ => Err(SerdeError::custom(format!("{value} is too large"))),
            },
            Self::Float(value) => visitor.visit_f64(value),
            Self::Text(text) => visitor.visit_string(text),
            Self::List(values) => visitor.visit_seq(SeqDeserializer::new(values.into_iter())),
            Self::Map(values) => visitor.visit_map(MapDeserializer::new(values.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        match self {
            Self::Text(text) => text.into_deserializer().deserialize_enum(name, variants, visitor),
            Self::Map(values) => visitor.visit_enum(serde::de::value::MapAccessDeserializer::new(
                MapDeserializer::new(values.into_iter()),
            )),
            other => Err(SerdeError::custom(format!("{other}: expected one of {}", variants.join(", ")))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Serializer into a [`ParamValue`]; absent values become `None`.
struct ToValue;

type Serialized = Result<Option<ParamValue>, SerdeError>;

fn unsupported(what: &str) -> SerdeError {
    SerdeError::custom(format!("a parameter cannot be a {what}"))
}

impl Serializer for ToValue {
    type Ok = Option<ParamValue>;
    type Error = SerdeError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = ser::Impossible<Self::Ok, SerdeError>;
    type SerializeMap = Fields;
    type SerializeStruct = Fields;
    type SerializeStructVariant = ser::Impossible<Self::Ok, SerdeError>;

    fn serialize_bool(self, v: bool) -> Serialized {
        Ok(Some(v.into()))
    }
    fn serialize_i8(self, v: i8) -> Serialized {
        self.serialize_i64(v.into())
    }
    fn serialize_i16(self, v: i16) -> Serialized {
        self.serialize_i64(v.into())
    }
    fn serialize_i32(self, v: i32) -> Serialized {
        self.serialize_i64(v.into())
    }
    fn serialize_i64(self, v: i64) -> Serialized {
        Ok(Some(v.into()))
    }
    fn serialize_u8(self, v: u8) -> Serialized {
        self.serialize_u64(v.into())
    }
    fn serialize_u16(self, v: u16) -> Serialized {
        self.serialize_u64(v.into())
    }
    fn serialize_u32(self, v: u32) -> Serialized {
        self.serialize_u64(v.into())
    }
    fn serialize_u64(self, v: u64) -> Serialized {
        Ok(Some(v.into()))
    }
    fn serialize_f32(self, v: f32) -> Serialized {
        self.serialize_f64(v.into())
    }
    fn serialize_f64(self, v: f64) -> Serialized {
        Ok(Some(v.into()))
    }
    fn serialize_char(self, v: char) -> Serialized {
        Ok(Some(v.to_string().into()))
    }
    fn serialize_str(self, v: &str) -> Serialized {
        Ok(Some(v.into()))
    }
    fn serialize_bytes(self, _: &[u8]) -> Serialized {
        Err(unsupported("block of bytes"))
    }
    fn serialize_none(self) -> Serialized {
        Ok(None)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Serialized {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Serialized {
        Ok(None)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Serialized {
        Ok(None)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Serialized {
        Ok(Some(variant.into()))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Serialized {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Serialized {
        Ok(Some(ParamValues::from([(variant.into(), to_value(value)?)]).into()))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Items, SerdeError> {
        Ok(Items(Vec::new()))
    }
    fn serialize_tuple(self, _: usize) -> Result<Items, SerdeError> {
        Ok(Items(Vec::new()))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items, SerdeError> {
        Ok(Items(Vec::new()))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, SerdeError> {
        Err(unsupported("variant with several values"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Fields, SerdeError> {
        Ok(Fields { values: ParamValues::new(), key: None })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, SerdeError> {
        Ok(Fields { values: ParamValues::new(), key: None })
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, SerdeError> {
        Err(unsupported("variant with fields"))
    }
}

/// A list during serialization.
struct Items(Vec<ParamValue>);

impl ser::SerializeSeq for Items {
    type Ok = Option<ParamValue>;
    type Error = SerdeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        self.0.push(to_value(value)?);
        Ok(())
    }

    fn end(self) -> Serialized {
        Ok(Some(ParamValue::List(self.0)))
    }
}

impl ser::SerializeTuple for Items {
    type Ok = Option<ParamValue>;
    type Error = SerdeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        ser::SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Serialized {
        ser::SerializeSeq::end(self)
    }
}

impl ser::SerializeTupleStruct for Items {
    type Ok = Option<ParamValue>;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        ser::SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Serialized {
        ser::SerializeSeq::end(self)
    }
}

/// A struct or map during serialization.
struct Fields {
    values: ParamValues,
    key: Option<String>,
}

impl Fields {
    fn insert<T: Serialize + ?Sized>(&mut self, name: String, value: &T) -> Result<(), SerdeError> {
        if let Some(value) = value.serialize(ToValue)? {
            self.values.insert(name, value);
        }
        Ok(())
    }
}

impl ser::SerializeMap for Fields {
    type Ok = Option<ParamValue>;
    type Error = SerdeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerdeError> {
        self.key = Some(to_value(key)?.to_string());
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerdeError> {
        let key = self.key.take().ok_or_else(|| unsupported("value without a name"))?;
        self.insert(key, value)
    }

    fn end(self) -> Serialized {
        Ok(Some(self.values.into()))
    }
}

impl ser::SerializeStruct for Fields {
    type Ok = Option<ParamValue>;
    type Error = SerdeError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), SerdeError> {
        self.insert(name.into(), value)
    }

    fn end(self) -> Serialized {
        Ok(Some(self.values.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::manifold::lap::LapParams;
    use crate::estimators::transductive::Ratio;
    use crate::kernel::Kernel;

    #[test]
    fn structs_with_flattened_parts_and_tagged_enums_round_trip() {
        let mut params =
            LapParams { kernel: Kernel::Rbf { gamma: 0.5 }, gamma_i: 3.0, ..LapParams::default() };
        params.ratio = Ratio::Given(vec![0.25, 0.5, 0.25]);
        params.penalty.power = 4;
        let values = to_values(&params).unwrap();
        assert_eq!(values["power"], 4usize.into());
        assert_eq!(values["ratio"], vec![0.25, 0.5, 0.25].into());
        assert_eq!(from_values::<LapParams>(&values).unwrap(), params);
    }

    #[test]
    fn refuses_values_of_the_wrong_type() {
        let values = ParamValues::from([("gamma_i".into(), "much".into())]);
        assert!(from_values::<LapParams>(&values).is_err());
    }
}
