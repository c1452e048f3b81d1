//! The schema model: what a message is, whatever language defined it.
//!
//! A schema is a set of records and enums, one of which is the root. Three
//! things that other models treat as types of their own are *roles* here, so
//! that a format which knows nothing of them still carries the values whole:
//! a map is a list of entry records, a union is a group of optional fields of
//! which at most one is present, and a point in time is a record of seconds
//! and nanoseconds.

use serde::{Deserialize, Serialize};

use crate::documentation::Documentation;

/// Index of a type in [`Schema::types`].
pub type TypeId = usize;

/// A message definition: its types and which of them is the message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Every type reachable from the root; unless the schema recurses, each
    /// stands after the types that it uses.
    pub types: Vec<TypeDef>,
    /// The message itself, always a record.
    pub root: TypeId,
    /// How many numbers a fixed array may have to be written as so many fields
    /// by formats that have no fixed arrays; longer ones are lists there.
    #[serde(default = "Schema::small_array")]
    pub small_array: u32,
    /// What the definition says beside the model.
    #[serde(skip)]
    pub wording: Documentation,
}

/// A named type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeDef {
    /// A record of named fields.
    Record(Record),
    /// A named set of integers.
    Enum(Enum),
}

impl TypeDef {
    /// Its name as its author wrote it.
    pub fn original(&self) -> &str {
        match self {
            TypeDef::Record(record) => &record.name.original,
            TypeDef::Enum(def) => &def.name.original,
        }
    }
}

/// A name as its author wrote it and as every target language accepts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// As written: `osi3.SensorView`, `sensor_msgs/msg/PointCloud2`, `frameId`.
    pub original: String,
    /// UpperCamelCase for types, lower_snake_case for fields and
    /// UPPER_SNAKE_CASE for enum values; a keyword in no target language,
    /// unique in its scope without regard to case or underscores.
    pub legal: String,
}

/// A record: an ordered list of fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The record's name.
    pub name: Name,
    /// The fields, in the order of definition.
    pub fields: Vec<Field>,
    /// What the record stands for beyond its fields.
    #[serde(default, skip_serializing_if = "Role::is_plain")]
    pub role: Role,
}

/// What a record stands for beyond its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Nothing more.
    #[default]
    Plain,
    /// A point in time: two integer fields, seconds and nanoseconds.
    Timestamp,
    /// A span of time: two integer fields, seconds and nanoseconds.
    Duration,
    /// One entry of a map: two fields, key and value.
    MapEntry,
}

impl Role {
    fn is_plain(&self) -> bool {
        *self == Role::Plain
    }
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The field's name.
    pub name: Name,
    /// Stable number: the tag in Protobuf, the position (from 1) elsewhere.
    pub id: u32,
    /// What one element of the field is.
    pub element: Element,
    /// How many elements there are, and whether there may be none.
    pub cardinality: Cardinality,
    /// Name of the union that the field is a member of. At most one member of
    /// a union is present; every member is [`Cardinality::Optional`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub union: Option<String>,
    /// The default as its author wrote it; shown, never applied to values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// How it is written where the format leaves the choice to the definition, as
    /// Protobuf alone does.
    #[serde(default, skip_serializing_if = "ProtobufEncoding::is_default")]
    pub wire: ProtobufEncoding,
}

impl Field {
    /// Whether it is a list of `u8`.
    pub fn is_octet_list(&self) -> bool {
        self.element == Element::Scalar(Scalar::U8)
            && matches!(self.cardinality, Cardinality::List { .. })
    }

    /// Whether it is a list or a fixed array of `u8`.
    pub fn repeats_octets(&self) -> bool {
        self.element == Element::Scalar(Scalar::U8)
            && matches!(self.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
    }
}

/// Protobuf's choices for a field. They change sizes and times, never values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtobufEncoding {
    /// How integers are written.
    pub integer: IntegerEncoding,
    /// Whether each number of a list has a tag of its own, proto2's default.
    pub unpacked: bool,
    /// Whether a record ends at a tag of its own instead of standing behind its
    /// length: a group, or `message_encoding = DELIMITED`.
    #[serde(default)]
    pub delimited: bool,
}

/// How Protobuf writes integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegerEncoding {
    /// `int32`, `uint64`: seven bits a byte; a negative number takes ten.
    #[default]
    Varint,
    /// `sint32`: small magnitudes take few bytes.
    Zigzag,
    /// `fixed32`, `sfixed64`: four or eight bytes.
    Fixed,
}

impl ProtobufEncoding {
    fn is_default(&self) -> bool {
        *self == ProtobufEncoding::default()
    }
}

/// What one element of a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// A number or a truth value.
    Scalar(Scalar),
    /// UTF-8 text.
    String,
    /// Octets.
    Bytes,
    /// An enum, carried as the integer that represents it.
    Enum(TypeId),
    /// A record.
    Record(TypeId),
}

/// How often a field's element occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cardinality {
    /// Always there, and always written.
    Required,
    /// Always there; a format may omit it where it is zero or empty.
    Implicit,
    /// There or not, and a reader can tell.
    Optional,
    /// Any number, up to the bound if there is one.
    List {
        /// The largest number of elements.
        bound: Option<u32>,
    },
    /// Exactly this many; of ROS 1, maybe none.
    Array {
        /// The number of elements.
        len: u32,
    },
}

/// A number type or the truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// An enum: named integers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enum {
    /// The enum's name.
    pub name: Name,
    /// The integer that represents it.
    pub repr: Scalar,
    /// Its values in the order of definition; at least one.
    pub values: Vec<EnumValue>,
}

/// One named value of an enum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnumValue {
    /// The value's name.
    pub name: Name,
    /// The value.
    pub number: i64,
}

impl Scalar {
    /// All scalars.
    pub const ALL: [Scalar; 11] = [
        Scalar::Bool,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::F32,
        Scalar::F64,
    ];

    /// Size in bytes, in memory and in the canonical form.
    pub fn size(self) -> usize {
        match self {
            Scalar::Bool | Scalar::U8 | Scalar::I8 => 1,
            Scalar::U16 | Scalar::I16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::I64 | Scalar::F64 => 8,
        }
    }

    /// The Rust name: `bool`, `u8` … `f64`. Also the name in text output.
    pub fn rust_name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The C++ name: `bool`, `std::uint8_t` … `double`.
    pub fn cpp_name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::U8 => "std::uint8_t",
            Scalar::U16 => "std::uint16_t",
            Scalar::U32 => "std::uint32_t",
            Scalar::U64 => "std::uint64_t",
            Scalar::I8 => "std::int8_t",
            Scalar::I16 => "std::int16_t",
            Scalar::I32 => "std::int32_t",
            Scalar::I64 => "std::int64_t",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }

    /// Whether it is `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }
}

impl Schema {
    /// Of these types, in their order, with this root.
    pub fn new(types: Vec<TypeDef>, root: TypeId) -> Schema {
        Schema {
            types,
            root,
            small_array: Schema::small_array(),
            wording: Documentation::default(),
        }
    }

    /// Whether a message may lack a field.
    pub fn has_optional_field(&self) -> bool {
        let is_optional = |field: &Field| field.cardinality == Cardinality::Optional;
        self.records().any(|(_, record)| record.fields.iter().any(is_optional))
    }

    /// What authors write as fields: positions, colours, quaternions.
    pub const fn small_array() -> u32 {
        4
    }

    /// The length of a field that formats without fixed arrays write as so many
    /// fields: a short fixed array of numbers.
    pub fn flattened_length(&self, field: &Field) -> Option<u32> {
        match field.cardinality {
            Cardinality::Array { len }
                if len <= self.small_array && self.scalar(field.element).is_some() =>
            {
                Some(len)
            }
            _ => None,
        }
    }

    /// The message record.
    pub fn root(&self) -> &Record {
        self.record(self.root)
    }

    /// The record with this id. Panics where the id names an enum, which a
    /// schema that a reader returned never does.
    pub fn record(&self, id: TypeId) -> &Record {
        match &self.types[id] {
            TypeDef::Record(record) => record,
            TypeDef::Enum(other) => panic!("{} is an enum", other.name.original),
        }
    }

    /// The enum with this id; panics where the id names a record.
    pub fn enumeration(&self, id: TypeId) -> &Enum {
        match &self.types[id] {
            TypeDef::Enum(enumeration) => enumeration,
            TypeDef::Record(other) => panic!("{} is a record", other.name.original),
        }
    }

    /// The records with their ids, in order.
    pub fn records(&self) -> impl Iterator<Item = (TypeId, &Record)> {
        self.types.iter().enumerate().filter_map(|(id, def)| match def {
            TypeDef::Record(record) => Some((id, record)),
            TypeDef::Enum(_) => None,
        })
    }

    /// The enums with their ids, in order.
    pub fn enums(&self) -> impl Iterator<Item = (TypeId, &Enum)> {
        self.types.iter().enumerate().filter_map(|(id, def)| match def {
            TypeDef::Enum(enumeration) => Some((id, enumeration)),
            TypeDef::Record(_) => None,
        })
    }

    /// The scalar that carries an element in memory: itself, or the integer
    /// that represents an enum; none for text, octets and records.
    pub fn scalar(&self, element: Element) -> Option<Scalar> {
        match element {
            Element::Scalar(scalar) => Some(scalar),
            Element::Enum(id) => Some(self.enumeration(id).repr),
            Element::String | Element::Bytes | Element::Record(_) => None,
        }
    }

    /// Whether a record is plain old data: scalars, enums, fixed arrays and
    /// records of these, nothing optional and nothing of variable size.
    pub fn is_pod(&self, id: TypeId) -> bool {
        let mut open = vec![id];
        let mut seen = vec![false; self.types.len()];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            for field in &self.record(id).fields {
                let fixed = matches!(
                    field.cardinality,
                    Cardinality::Required | Cardinality::Implicit | Cardinality::Array { .. }
                );
                match field.element {
                    _ if !fixed => return false,
                    Element::Scalar(_) | Element::Enum(_) => {}
                    Element::Record(inner) => open.push(inner),
                    Element::String | Element::Bytes => return false,
                }
            }
        }
        !self.is_recursive(id)
    }

    /// Whether a record contains itself, directly or through others.
    pub fn is_recursive(&self, id: TypeId) -> bool {
        let mut seen = vec![false; self.types.len()];
        let mut open = vec![id];
        while let Some(current) = open.pop() {
            for field in &self.record(current).fields {
                if let Element::Record(inner) = field.element {
                    if inner == id {
                        return true;
                    }
                    if !std::mem::replace(&mut seen[inner], true) {
                        open.push(inner);
                    }
                }
            }
        }
        false
    }

    /// The original name of a record that recurses and is reachable from the
    /// root, if there is one. No codec can be measured on such a schema.
    pub fn recursive_type(&self) -> Option<&str> {
        // Of the records of a circle one stands before what it uses.
        let uses_later = |id: TypeId, record: &Record| {
            let inner = record.fields.iter().map(|field| field.element);
            inner.into_iter().any(|e| matches!(e, Element::Record(inner) if inner >= id))
        };
        self.records()
            .find(|(id, record)| uses_later(*id, record) && self.is_recursive(*id))
            .map(|(_, record)| record.name.original.as_str())
    }

    /// Largest canonical size of a record in bytes; none where it is unbounded.
    pub fn max_size(&self, id: TypeId) -> Option<u64> {
        if self.recursive_type().is_some() && self.is_recursive(id) {
            return None;
        }
        // Each type once, those that it uses before it.
        let mut sizes: Vec<Option<u64>> = vec![None; self.types.len()];
        for (at, record) in self.records().take_while(|(at, _)| *at <= id) {
            sizes[at] = self.record_size(record, &sizes);
        }
        sizes[id]
    }

    /// The largest size of a record, from those of the records that it uses.
    fn record_size(&self, record: &Record, sizes: &[Option<u64>]) -> Option<u64> {
        record.fields.iter().try_fold(0u64, |total, field| {
            let element = match field.element {
                Element::String | Element::Bytes => return None,
                Element::Record(inner) => sizes[inner]?,
                other => self.scalar(other).map_or(0, |s| s.size() as u64),
            };
            let size = match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => element,
                Cardinality::Optional => element.checked_add(1)?,
                Cardinality::List { bound } => {
                    u64::from(bound?).checked_mul(element)?.checked_add(4)?
                }
                Cardinality::Array { len } => u64::from(len).checked_mul(element)?,
            };
            total.checked_add(size)
        })
    }
}
