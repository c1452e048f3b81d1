//! What a record is on Protobuf's wire: fields in the order of their numbers, each
//! behind a key that says its number and how its end is found.

use std::collections::HashMap;

use wiregauge_schema::{
    Cardinality, Element, Field, Integer, Record, Role, Scalar, Schema, TypeId,
};

/// A field on the wire.
pub struct Tagged<'a> {
    /// Its place in the record.
    pub place: usize,
    /// The field.
    pub field: &'a Field,
    /// What its values are.
    pub kind: Kind,
    /// Whether there is nothing where it is zero or empty.
    pub is_implicit: bool,
    /// Whether bytes without it are no message.
    pub is_required: bool,
    /// Which of the record's [`unions`] it is a member of.
    pub union: Option<usize>,
}

/// What the values of a field are.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A number in one of Protobuf's ways.
    Number(Number),
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
pub enum Number {
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

impl Number {
    /// As it is called in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Number::Int32 => "int32",
            Number::Int64 => "int64",
            Number::Uint32 => "uint32",
            Number::Uint64 => "uint64",
            Number::Sint32 => "sint32",
            Number::Sint64 => "sint64",
            Number::Fixed32 => "fixed32",
            Number::Fixed64 => "fixed64",
            Number::Sfixed32 => "sfixed32",
            Number::Sfixed64 => "sfixed64",
            Number::Bool => "bool",
            Number::Enum(_) => "enum",
            Number::Float => "float",
            Number::Double => "double",
        }
    }

    /// How its end is found: 0 by itself, 1 after eight bytes, 5 after four.
    fn end(self) -> u32 {
        match self {
            Number::Fixed64 | Number::Sfixed64 | Number::Double => 1,
            Number::Fixed32 | Number::Sfixed32 | Number::Float => 5,
            _ => 0,
        }
    }
}

impl Tagged<'_> {
    /// Whether it is a list of numbers behind one key.
    pub fn is_packed(&self) -> bool {
        self.is_list() && matches!(self.kind, Kind::Number(_)) && !self.field.wire.unpacked
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.field.cardinality, Cardinality::List { .. })
    }

    /// Whether it is a record that a key of its own ends, one more than the key
    /// before it.
    pub fn is_delimited(&self) -> bool {
        matches!(self.kind, Kind::Record(_)) && self.field.wire.delimited
    }

    /// The key before one value.
    pub fn key(&self) -> u32 {
        let end = match self.kind {
            Kind::Number(number) => number.end(),
            Kind::Record(_) if self.is_delimited() => 3,
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
pub fn is_endless(schema: &Schema, id: TypeId) -> bool {
    let mut seen = vec![id];
    let mut open = vec![id];
    while let Some(current) = open.pop() {
        for inner in needed(schema.record(current)) {
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
pub fn needed(record: &Record) -> impl Iterator<Item = TypeId> + '_ {
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
    matches!(field.element, Element::Record(inner) if is_optional && schema.recurses(inner))
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
pub fn fields<'a>(schema: &Schema, record: &'a Record) -> Option<Vec<Tagged<'a>>> {
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
        tagged.push(Tagged {
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
    let is_twice = |pair: &[Tagged]| pair[0].field.id == pair[1].field.id;
    (!tagged.windows(2).any(is_twice)).then_some(tagged)
}

fn kind(schema: &Schema, field: &Field) -> Option<Kind> {
    let scalar = match field.element {
        Element::String => return Some(Kind::Text),
        Element::Bytes => return Some(Kind::Octets),
        Element::Record(id) => return Some(Kind::Record(id)),
        Element::Enum(id) if schema.enumeration(id).repr == Scalar::I32 => {
            return Some(Kind::Number(Number::Enum(id)));
        }
        Element::Enum(_) => return None,
        Element::Scalar(scalar) => scalar,
    };
    Some(Kind::Number(match (scalar, field.wire.integer) {
        (Scalar::Bool, _) => Number::Bool,
        (Scalar::F32, _) => Number::Float,
        (Scalar::F64, _) => Number::Double,
        (Scalar::I32, Integer::Varint) => Number::Int32,
        (Scalar::I32, Integer::Zigzag) => Number::Sint32,
        (Scalar::I32, Integer::Fixed) => Number::Sfixed32,
        (Scalar::I64, Integer::Varint) => Number::Int64,
        (Scalar::I64, Integer::Zigzag) => Number::Sint64,
        (Scalar::I64, Integer::Fixed) => Number::Sfixed64,
        (Scalar::U32, Integer::Varint) => Number::Uint32,
        (Scalar::U32, Integer::Fixed) => Number::Fixed32,
        (Scalar::U64, Integer::Varint) => Number::Uint64,
        (Scalar::U64, Integer::Fixed) => Number::Fixed64,
        _ => return None,
    }))
}
