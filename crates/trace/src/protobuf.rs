//! Messages in Protobuf, with the descriptors that the recording carries.

use anyhow::{bail, ensure, Context, Result};
use prost_reflect::{DynamicMessage, MapKey, MessageDescriptor, Value as Dynamic};
use wiregauge_schema::{proto, Cardinality, Element, Field, Role, Schema, TypeId, Value};

/// A message type of a recording.
pub struct Decoder {
    descriptor: MessageDescriptor,
    schema: Schema,
}

impl Decoder {
    /// Of an encoded `FileDescriptorSet` and the full name of the message.
    pub fn new(descriptors: &[u8], name: &str) -> Result<Decoder> {
        let definitions = proto::Definitions::decode(descriptors)
            .context("not a complete Protobuf descriptor set")?;
        let descriptor = definitions.message(name)?;
        let schema = definitions.schema(&descriptor)?;
        Ok(Decoder { descriptor, schema })
    }

    /// The schema of the message.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Decodes a message. Returns it and the number of fields, at any depth,
    /// that the schema does not know (extensions among them) and that are
    /// therefore missing from it.
    pub fn decode(&self, bytes: &[u8]) -> Result<(Value, u64)> {
        let message = DynamicMessage::decode(self.descriptor.clone(), bytes)
            .context("not a valid Protobuf message")?;
        let mut unknown = 0;
        let value = self.record(self.schema.root, &message, &mut unknown)?;
        Ok((value, unknown))
    }

    fn record(&self, id: TypeId, message: &DynamicMessage, unknown: &mut u64) -> Result<Value> {
        *unknown += (message.unknown_fields().count() + message.extensions().count()) as u64;
        let record = self.schema.record(id);
        let mut values = Vec::with_capacity(record.fields.len());
        for field in &record.fields {
            values
                .push(self.field(field, message, unknown).with_context(|| {
                    format!("{}.{}", record.name.original, field.name.original)
                })?);
        }
        Ok(Value::Record(values))
    }

    fn field(&self, field: &Field, message: &DynamicMessage, unknown: &mut u64) -> Result<Value> {
        let present = message.has_field_by_number(field.id);
        match field.cardinality {
            Cardinality::Optional if !present => return Ok(Value::Absent),
            Cardinality::Required => ensure!(present, "a required field is missing"),
            _ => {}
        }
        let value = message.get_field_by_number(field.id).context("it is not in the descriptor")?;
        match value.as_ref() {
            Dynamic::List(values) => {
                let values = values.iter().map(|v| self.element(field.element, v, unknown));
                Ok(Value::List(values.collect::<Result<_>>()?))
            }
            Dynamic::Map(entries) => {
                let Element::Record(entry) = field.element else { bail!("not a map") };
                ensure!(self.schema.record(entry).role == Role::MapEntry, "not a map");
                let content = self.schema.record(entry).fields[1].element;
                let mut values = Vec::new();
                for (key, value) in entries {
                    let value = self.element(content, value, unknown)?;
                    values.push(Value::Record(vec![map_key(key), value]));
                }
                values.sort_by(Value::compare_keys);
                Ok(Value::List(values))
            }
            value => self.element(field.element, value, unknown),
        }
    }

    fn element(&self, element: Element, value: &Dynamic, unknown: &mut u64) -> Result<Value> {
        Ok(match (element, value) {
            (Element::Record(id), Dynamic::Message(message)) => {
                self.record(id, message, unknown)?
            }
            (_, Dynamic::Bool(v)) => Value::Bool(*v),
            (_, Dynamic::I32(v) | Dynamic::EnumNumber(v)) => Value::Signed((*v).into()),
            (_, Dynamic::I64(v)) => Value::Signed(*v),
            (_, Dynamic::U32(v)) => Value::Unsigned((*v).into()),
            (_, Dynamic::U64(v)) => Value::Unsigned(*v),
            (_, Dynamic::F32(v)) => Value::F32(*v),
            (_, Dynamic::F64(v)) => Value::F64(*v),
            (_, Dynamic::String(v)) => Value::String(v.clone()),
            (_, Dynamic::Bytes(v)) => Value::Bytes(v.to_vec()),
            (element, other) => bail!("needs {element:?}, has {other:?}"),
        })
    }
}

fn map_key(key: &MapKey) -> Value {
    match key {
        MapKey::Bool(v) => Value::Bool(*v),
        MapKey::I32(v) => Value::Signed((*v).into()),
        MapKey::I64(v) => Value::Signed(*v),
        MapKey::U32(v) => Value::Unsigned((*v).into()),
        MapKey::U64(v) => Value::Unsigned(*v),
        MapKey::String(v) => Value::String(v.clone()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost_reflect::prost::Message;
    use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
    use prost_reflect::prost_types::{
        DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet,
        MessageOptions,
    };

    use super::*;

    fn field(
        name: &str,
        number: i32,
        label: Label,
        kind: Type,
        type_name: Option<&str>,
    ) -> FieldDescriptorProto {
        FieldDescriptorProto {
            name: Some(name.into()),
            number: Some(number),
            label: Some(label.into()),
            r#type: Some(kind.into()),
            type_name: type_name.map(str::to_owned),
            ..Default::default()
        }
    }

    /// message R { required int32 a = 1; optional string b = 2;
    ///             repeated R c = 3; map<string, uint32> d = 4; }
    fn decoder() -> Decoder {
        let entry = DescriptorProto {
            name: Some("DEntry".into()),
            field: vec![
                field("key", 1, Label::Optional, Type::String, None),
                field("value", 2, Label::Optional, Type::Uint32, None),
            ],
            options: Some(MessageOptions { map_entry: Some(true), ..Default::default() }),
            ..Default::default()
        };
        let message = DescriptorProto {
            name: Some("R".into()),
            field: vec![
                field("a", 1, Label::Required, Type::Int32, None),
                field("b", 2, Label::Optional, Type::String, None),
                field("c", 3, Label::Repeated, Type::Message, Some(".R")),
                field("d", 4, Label::Repeated, Type::Message, Some(".R.DEntry")),
            ],
            nested_type: vec![entry],
            ..Default::default()
        };
        let file = FileDescriptorProto {
            name: Some("r.proto".into()),
            message_type: vec![message],
            ..Default::default()
        };
        let set = FileDescriptorSet { file: vec![file] };
        Decoder::new(&set.encode_to_vec(), "R").unwrap()
    }

    #[test]
    fn fields_are_found_by_number() {
        #[rustfmt::skip]
        let bytes = [
            0x22, 5, 0x0a, 1, b'z', 0x10, 2,        // d["z"] = 2
            0x22, 5, 0x0a, 1, b'k', 0x10, 1,        // d["k"] = 1
            0x1a, 4, 0x08, 1, 0x48, 7,              // c[0].a = 1, and 9 is unknown
            0x08, 3,                                // a = 3
        ];
        let (value, unknown) = decoder().decode(&bytes).unwrap();
        assert_eq!(unknown, 1);
        let entry =
            |key: &str, n| Value::Record(vec![Value::String(key.into()), Value::Unsigned(n)]);
        let none = || Value::List(Vec::new());
        let inner = Value::Record(vec![Value::Signed(1), Value::Absent, none(), none()]);
        let wanted = Value::Record(vec![
            Value::Signed(3),
            Value::Absent,
            Value::List(vec![inner]),
            Value::List(vec![entry("k", 1), entry("z", 2)]),
        ]);
        assert_eq!(value, wanted);
    }

    #[test]
    fn the_entries_of_a_map_are_in_order() {
        let entries = (b'a'..=b'z').rev().flat_map(|key| [0x22, 5, 0x0a, 1, key, 0x10, 1]);
        let bytes: Vec<u8> = entries.chain([0x08, 3]).collect();
        let (Value::Record(values), _) = decoder().decode(&bytes).unwrap() else { panic!() };
        let Value::List(entries) = &values[3] else { panic!() };
        assert_eq!(entries.len(), 26);
        assert!(entries.is_sorted_by(|a, b| a.compare_keys(b).is_lt()));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = format!("{:#}", decoder().decode(&[]).unwrap_err());
        assert_eq!(error, "R.a: a required field is missing");
        assert!(decoder().decode(&[0x08]).is_err());
        assert!(Decoder::new(b"nonsense", "R").is_err());
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decoder().decode(&bytes);
        }
    }
}
