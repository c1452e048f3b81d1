//! From the descriptors of messages to types of the model.

use std::collections::{HashMap, HashSet};

use anyhow::{bail, Context, Result};
use prost_reflect::{
    EnumDescriptor, FieldDescriptor, FileDescriptor, Kind, MessageDescriptor, OneofDescriptor,
};

use super::edition::Implicit;
use crate::assemble::{assemble, unlegalized};
use crate::documentation::{Documentation, MemberDocumentation, TypeDocumentation};
use crate::model::{
    Cardinality, Element, Enum, EnumValue, Field, IntegerEncoding, ProtobufEncoding, Record, Role,
    Scalar, Schema, TypeDef, TypeId,
};

/// The schema of a message. `implicit` are the fields without presence that
/// the descriptors do not tell.
pub(super) fn schema(root: &MessageDescriptor, implicit: &Implicit) -> Result<Schema> {
    let mut builder = Builder {
        implicit,
        types: Vec::new(),
        ids: HashMap::new(),
        open: Vec::new(),
        wording: Documentation::default(),
    };
    let id = builder.message(root);
    while let Some((id, message)) = builder.open.pop() {
        builder.types[id] = TypeDef::Record(builder.record(&message)?);
    }
    let wording = builder.wording;
    Ok(Schema { wording, ..assemble(builder.types, id)? })
}

/// Types under construction.
struct Builder<'a> {
    implicit: &'a Implicit,
    types: Vec<TypeDef>,
    ids: HashMap<String, TypeId>,
    /// Messages that have an id and not yet their fields.
    open: Vec<(TypeId, MessageDescriptor)>,
    wording: Documentation,
}

impl Builder<'_> {
    fn message(&mut self, message: &MessageDescriptor) -> TypeId {
        if let Some(id) = self.ids.get(message.full_name()) {
            return *id;
        }
        let id = self.types.len();
        let role = match message.full_name() {
            "google.protobuf.Timestamp" => Role::Timestamp,
            "google.protobuf.Duration" => Role::Duration,
            _ if message.is_map_entry() => Role::MapEntry,
            _ => Role::Plain,
        };
        let name = unlegalized(message.full_name());
        self.types.push(TypeDef::Record(Record { name, fields: Vec::new(), role }));
        self.ids.insert(message.full_name().to_owned(), id);
        self.open.push((id, message.clone()));
        id
    }

    fn enumeration(&mut self, descriptor: &EnumDescriptor) -> TypeId {
        if let Some(id) = self.ids.get(descriptor.full_name()) {
            return *id;
        }
        let id = self.types.len();
        let mut values: Vec<EnumValue> = Vec::new();
        let mut numbers = HashSet::new();
        for value in &descriptor.enum_descriptor_proto().value {
            let number = value.number().into();
            // An alias is a second name for a number; the first one stands.
            if numbers.insert(number) {
                values.push(EnumValue { name: unlegalized(value.name()), number });
            }
        }
        let name = unlegalized(descriptor.full_name());
        let file = descriptor.parent_file();
        let said = |path: &[i32]| read_comment(&file, path);
        let members = descriptor.values();
        let members = members.map(|value| (value.name().to_owned(), said(value.path())));
        let members =
            members.map(|(name, comment)| (name, member_documentation(comment))).collect();
        let comment = said(descriptor.path());
        self.wording
            .insert(&name.original, TypeDocumentation { comment, members, ..Default::default() });
        self.types.push(TypeDef::Enum(Enum { name, repr: Scalar::I32, values }));
        self.ids.insert(descriptor.full_name().to_owned(), id);
        id
    }

    fn record(&mut self, message: &MessageDescriptor) -> Result<Record> {
        let TypeDef::Record(mut record) = self.types[self.ids[message.full_name()]].clone() else {
            bail!("{} is an enum", message.full_name());
        };
        let file = message.parent_file();
        let members = message.fields();
        let members = members
            .map(|f| (f.name().to_owned(), member_documentation(read_comment(&file, f.path()))));
        let (comment, members) = (read_comment(&file, message.path()), members.collect());
        let said = TypeDocumentation { comment, members, ..Default::default() };
        self.wording.insert(message.full_name(), said);
        // The descriptor's own list keeps the order of definition.
        for field in &message.descriptor_proto().field {
            let field = message
                .get_field(field.number() as u32)
                .with_context(|| format!("{}: unknown field", message.full_name()))?;
            record.fields.push(self.field(&field)?);
        }
        Ok(record)
    }

    fn field(&mut self, field: &FieldDescriptor) -> Result<Field> {
        let element = match field.kind() {
            Kind::Double => Element::Scalar(Scalar::F64),
            Kind::Float => Element::Scalar(Scalar::F32),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Element::Scalar(Scalar::I32),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Element::Scalar(Scalar::I64),
            Kind::Uint32 | Kind::Fixed32 => Element::Scalar(Scalar::U32),
            Kind::Uint64 | Kind::Fixed64 => Element::Scalar(Scalar::U64),
            Kind::Bool => Element::Scalar(Scalar::Bool),
            Kind::String => Element::String,
            Kind::Bytes => Element::Bytes,
            Kind::Message(message) => Element::Record(self.message(&message)),
            Kind::Enum(descriptor) => Element::Enum(self.enumeration(&descriptor)),
        };
        let union = field.containing_oneof().filter(is_written);
        let cardinality = if field.is_list() || field.is_map() {
            Cardinality::List { bound: None }
        } else if union.is_some() {
            // Whatever a damaged descriptor says besides.
            Cardinality::Optional
        } else if field.is_required() || field.parent_message().is_map_entry() {
            Cardinality::Required
        } else if field.supports_presence() && !self.implicit.contains(field.full_name()) {
            Cardinality::Optional
        } else {
            Cardinality::Implicit
        };
        let integer = match field.kind() {
            Kind::Sint32 | Kind::Sint64 => IntegerEncoding::Zigzag,
            Kind::Fixed32 | Kind::Fixed64 | Kind::Sfixed32 | Kind::Sfixed64 => {
                IntegerEncoding::Fixed
            }
            _ => IntegerEncoding::Varint,
        };
        let is_number = !matches!(field.kind(), Kind::String | Kind::Bytes | Kind::Message(_));
        // Not is_packed(), which overlooks the option where there is one.
        let options = field.field_descriptor_proto().options.as_ref();
        let packed = options.and_then(|o| o.packed).unwrap_or(field.is_packed());
        let unpacked = field.is_list() && is_number && !packed;
        Ok(Field {
            wire: ProtobufEncoding { integer, unpacked, delimited: field.is_group() },
            name: unlegalized(field.name()),
            id: field.number(),
            element,
            cardinality,
            union: union.map(|oneof| oneof.name().to_owned()),
            default: field.field_descriptor_proto().default_value.clone(),
        })
    }
}

/// Whether a `oneof` stands in the text, rather than being what an `optional`
/// field of proto3 becomes.
fn is_written(oneof: &OneofDescriptor) -> bool {
    !oneof.is_synthetic()
}

fn member_documentation(comment: String) -> MemberDocumentation {
    MemberDocumentation { comment, spelling: String::new() }
}

/// The comment on what stands at a path of a file: before it, then behind it.
fn read_comment(file: &FileDescriptor, path: &[i32]) -> String {
    let all = file.file_descriptor_proto().source_code_info.as_ref();
    let places = all.into_iter().flat_map(|info| &info.location);
    let Some(place) = places.into_iter().find(|place| place.path == path) else {
        return String::new();
    };
    let lines = place.leading_comments().lines().chain(place.trailing_comments().lines());
    let lines: Vec<&str> = lines.map(str::trim).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}
