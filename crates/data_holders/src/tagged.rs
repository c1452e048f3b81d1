//! What a record is on Protobuf's wire: fields in the order of their numbers, each
//! behind a key that says its number and how its end is found.

use std::collections::HashMap;

use wiregauge_schema::{
    Cardinality, Element, Field, IntegerEncoding, Record, Role, Scalar, Schema, TypeId,
};

/// A field on the wire.
pub struct TaggedField<'a> {
    /// Its place in the record.
    pub place: usize,
    /// The field.
    pub field: &'a Field,
    /// What its values are.
    pub kind: ValueKind,
    /// Whether there is nothing where it is zero or empty.
    pub is_implicit: bool,
    /// Whether bytes without it are no message.
    pub is_required: bool,
    /// Which of the record's [`unions`] it is a member of.
    pub union: Option<usize>,
}

/// What the values of a field are.
#[derive(Clone, Copy)]
pub enum ValueKind {
    /// A number in one of Protobuf's ways.
    Number(ProtobufNumber),
    /// Text.
    Text,
    /// Octets.
    Octets,
    /// A record behind its length, or before a key that ends it.
    Record(TypeId),
}

/// Protobuf's ways to write a number.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub enum ProtobufNumber {
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Bool,
    Enum(TypeId),
    Float,
    Double,
}

impl ProtobufNumber {
    /// As it is called in definitions.
    pub fn name(self) -> &'static str {
        match self {
            ProtobufNumber::Int32 => "int32",
            ProtobufNumber::Int64 => "int64",
            ProtobufNumber::Uint32 => "uint32",
            ProtobufNumber::Uint64 => "uint64",
            ProtobufNumber::Sint32 => "sint32",
            ProtobufNumber::Sint64 => "sint64",
            ProtobufNumber::Fixed32 => "fixed32",
            ProtobufNumber::Fixed64 => "fixed64",
            ProtobufNumber::Sfixed32 => "sfixed32",
            ProtobufNumber::Sfixed64 => "sfixed64",
            ProtobufNumber::Bool => "bool",
            ProtobufNumber::Enum(_) => "enum",
            ProtobufNumber::Float => "float",
            ProtobufNumber::Double => "double",
        }
    }

    /// How its end is found: 0 by itself, 1 after eight bytes, 5 after four.
    fn wire_type(self) -> u32 {
        match self {
            ProtobufNumber::Fixed64 | ProtobufNumber::Sfixed64 | ProtobufNumber::Double => 1,
            ProtobufNumber::Fixed32 | ProtobufNumber::Sfixed32 | ProtobufNumber::Float => 5,
            _ => 0,
        }
    }
}

impl TaggedField<'_> {
    /// Whether it is a list of numbers behind one key.
    pub fn is_packed(&self) -> bool {
        self.is_list() && matches!(self.kind, ValueKind::Number(_)) && !self.field.wire.unpacked
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.field.cardinality, Cardinality::List { .. })
    }

    /// Whether it is a record that a key of its own ends, one more than the key
    /// before it.
    pub fn is_delimited(&self) -> bool {
        matches!(self.kind, ValueKind::Record(_)) && self.field.wire.delimited
    }

    /// The key before one value.
    pub fn key(&self) -> u32 {
        let end = match self.kind {
            ValueKind::Number(number) => number.wire_type(),
            ValueKind::Record(_) if self.is_delimited() => 3,
            _ => 2,
        };
        self.field.id << 3 | end
    }

    /// The key before packed numbers.
    pub fn packed_key(&self) -> u32 {
        self.field.id << 3 | 2
    }
}

/// Whether a record must be there in itself.
pub fn requires_itself(schema: &Schema, id: TypeId) -> bool {
    let mut seen = vec![id];
    let mut open = vec![id];
    while let Some(current) = open.pop() {
        for inner in required_records(schema.record(current)) {
            if inner == id {
                return true;
            }
            if !seen.contains(&inner) {
                seen.push(inner);
                open.push(inner);
            }
        }
    }
    false
}

/// The records that are always there in a record.
pub fn required_records(record: &Record) -> impl Iterator<Item = TypeId> + '_ {
    record.fields.iter().filter_map(|field| match (field.cardinality, field.element) {
        (Cardinality::List { .. } | Cardinality::Optional, _) => None,
        (_, Element::Record(inner)) => Some(inner),
        _ => None,
    })
}

/// Whether a field is a record that may be absent and contains itself, so that it
/// needs memory of its own.
pub fn is_boxed(schema: &Schema, field: &Field) -> bool {
    let is_optional = field.cardinality == Cardinality::Optional;
    matches!(field.element, Element::Record(inner) if is_optional && schema.is_recursive(inner))
}

/// The unions of a record that have more than one member, by the places of these.
pub fn unions(record: &Record) -> Vec<Vec<usize>> {
    let (mut unions, mut known) = (Vec::<Vec<usize>>::new(), HashMap::new());
    for (place, field) in record.fields.iter().enumerate() {
        let Some(name) = &field.union else { continue };
        let at = *known.entry(name).or_insert_with(|| {
            unions.push(Vec::new());
            unions.len() - 1
        });
        unions[at].push(place);
    }
    unions.retain(|members| members.len() > 1);
    unions
}

/// The fields of a record in the order of their numbers; none where one of them is
/// none of Protobuf's.
pub fn fields<'a>(schema: &Schema, record: &'a Record) -> Option<Vec<TaggedField<'a>>> {
    let mut tagged = Vec::new();
    let mut union_of = vec![None; record.fields.len()];
    for (at, members) in unions(record).iter().enumerate() {
        members.iter().for_each(|place| union_of[*place] = Some(at));
    }
    for (place, field) in record.fields.iter().enumerate() {
        let is_entry = record.role == Role::MapEntry;
        let plain = !matches!(
            field.cardinality,
            Cardinality::Array { .. } | Cardinality::List { bound: Some(_) }
        );
        if !plain || !(1..1 << 29).contains(&field.id) {
            return None;
        }
        tagged.push(TaggedField {
            place,
            field,
            kind: kind(schema, field)?,
            is_implicit: field.cardinality == Cardinality::Implicit,
            // The parts of a map's entry may be left out.
            is_required: field.cardinality == Cardinality::Required && !is_entry,
            union: union_of[place],
        });
    }
    tagged.sort_by_key(|tagged| tagged.field.id);
    let is_twice = |pair: &[TaggedField]| pair[0].field.id == pair[1].field.id;
    (!tagged.windows(2).any(is_twice)).then_some(tagged)
}

fn kind(schema: &Schema, field: &Field) -> Option<ValueKind> {
    let scalar = match field.element {
        Element::String => return Some(ValueKind::Text),
        Element::Bytes => return Some(ValueKind::Octets),
        Element::Record(id) => return Some(ValueKind::Record(id)),
        Element::Enum(id) if schema.enumeration(id).repr == Scalar::I32 => {
            return Some(ValueKind::Number(ProtobufNumber::Enum(id)));
        }
        Element::Enum(_) => return None,
        Element::Scalar(scalar) => scalar,
    };
    Some(ValueKind::Number(match (scalar, field.wire.integer) {
        (Scalar::Bool, _) => ProtobufNumber::Bool,
        (Scalar::F32, _) => ProtobufNumber::Float,
        (Scalar::F64, _) => ProtobufNumber::Double,
        (Scalar::I32, IntegerEncoding::Varint) => ProtobufNumber::Int32,
        (Scalar::I32, IntegerEncoding::Zigzag) => ProtobufNumber::Sint32,
        (Scalar::I32, IntegerEncoding::Fixed) => ProtobufNumber::Sfixed32,
        (Scalar::I64, IntegerEncoding::Varint) => ProtobufNumber::Int64,
        (Scalar::I64, IntegerEncoding::Zigzag) => ProtobufNumber::Sint64,
        (Scalar::I64, IntegerEncoding::Fixed) => ProtobufNumber::Sfixed64,
        (Scalar::U32, IntegerEncoding::Varint) => ProtobufNumber::Uint32,
        (Scalar::U32, IntegerEncoding::Fixed) => ProtobufNumber::Fixed32,
        (Scalar::U64, IntegerEncoding::Varint) => ProtobufNumber::Uint64,
        (Scalar::U64, IntegerEncoding::Fixed) => ProtobufNumber::Fixed64,
        _ => return None,
    }))
}
