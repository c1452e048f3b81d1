//! FlatBuffers: what the format can express, and its definition in three
//! styles. The codecs of its libraries are in the folder beside.
//!
//! A record is a table; in the style with structs, plain old data is a struct.
//! A fixed array is one in structs; in tables a short one of numbers is a field
//! each and any other a vector. What is always there and not a number is
//! `(required)`, what is optional is `= null` or absent.

mod cpp;
pub mod definition;
mod flatc_release;
mod java;
mod object;
mod python;
mod reader;
mod rust;

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::{Cardinality, Element, Field, Scalar, Schema, TypeDef, TypeId};

use crate::codec::Support;
use crate::flattened_field::{self, FlattenedField};
use crate::lowering::{self, Lowering};
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "FlatBuffers",
        packages: &["libflatbuffers-dev", "flatbuffers-compiler"],
        tried: &[("2.0.8", "2022-08"), ("23.5.26", "2023-05"), ("25.12.19", "2025-12")],
        newest: ("25.12.19", "2025-12"),
    }
}

/// How a message is said in FlatBuffers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Plain old data is a struct, everything else a table.
    Structs,
    /// Every record is a table.
    Tables,
    /// Tables for the Object API, whose objects take an empty string for an
    /// absent one.
    Objects,
}

/// Where a table's fields must end, seen from its beginning: vtables count in
/// 16 bits.
const TABLE_LIMIT: usize = 0xffff;

/// Larger records are tables even where they might be structs, so that some
/// dozen of them fit into a table.
const STRUCT_LIMIT: usize = 4096;

/// Nesting that verifiers allow by default.
const DEFAULT_DEPTH: usize = 64;

const FLATC: Need = Need::Program("flatc", "flatbuffers-compiler");
const HEADERS: Need = Need::Header("flatbuffers/flatbuffers.h", "libflatbuffers-dev");

/// How bytes are trusted, as an option of every codec.
const VERIFY: &str =
    "decode and the experiments that read trust the bytes; the checked ones run the Verifier \
     first, whose limit of a million tables is raised to what the message can have";

/// How the builder is used, as an option of every codec.
const BUILDER: &str =
    "one builder is cleared and reused; its finished bytes are not copied, as a transport would \
     take them; where buffers are fresh, its memory is freed";

/// What becomes of a negative zero, as an option of every codec.
const SIGN: &str =
    "a table leaves out a value that is the default, so it would lose the sign of -0.0: a message \
     with -0.0 in a number that is always present is rejected";

/// What becomes of fixed arrays in tables, as an option of every codec.
const ARRAYS: &str =
    "a table has no fixed arrays: an array of up to 4 numbers is written as that many fields, any \
     other as a vector";

/// A schema said in one style.
#[derive(Clone, Copy)]
struct Dialect<'a> {
    schema: &'a Schema,
    style: Style,
    /// The only records that may be structs, where not all may.
    structs: Option<&'a BTreeSet<TypeId>>,
    /// Whether accessors of flatc's Rust code give slices where they can.
    slices: bool,
}

/// What one element of a field is to FlatBuffers.
#[derive(Clone, Copy)]
enum ElementKind {
    Scalar(Scalar),
    Text,
    Bytes,
    Struct(TypeId),
    Table(TypeId),
}

/// The memory of a struct.
#[derive(Default)]
struct StructLayout {
    /// Where each field begins.
    offsets: Vec<usize>,
    /// For every byte, whether it belongs to a field.
    used: Vec<bool>,
    align: usize,
}

impl StructLayout {
    fn size(&self) -> usize {
        self.used.len()
    }

    /// Whether bytes between or behind the fields belong to none.
    fn has_gaps(&self) -> bool {
        self.used.contains(&false)
    }
}

impl<'a> Dialect<'a> {
    fn new(schema: &'a Schema, style: Style) -> Dialect<'a> {
        Dialect { schema, style, structs: None, slices: false }
    }

    fn kind(self, element: Element) -> ElementKind {
        match element {
            Element::String => ElementKind::Text,
            Element::Bytes => ElementKind::Bytes,
            Element::Record(id) if self.is_struct(id) => ElementKind::Struct(id),
            Element::Record(id) => ElementKind::Table(id),
            other => ElementKind::Scalar(self.schema.scalar(other).expect("a number")),
        }
    }

    /// The fields of a record as they are written.
    fn slots(self, id: TypeId) -> Vec<FlattenedField> {
        let record = self.schema.record(id);
        if self.is_struct(id) {
            flattened_field::keep_fields(record)
        } else {
            flattened_field::flatten_fields(self.schema, record)
        }
    }

    /// Whether a record is a struct. The message itself must be a table.
    fn is_struct(self, id: TypeId) -> bool {
        self.style == Style::Structs
            && id != self.schema.root
            && self.structs.is_none_or(|structs| structs.contains(&id))
            && self.schema.is_pod(id)
            && !self.has_empty(id)
            && self.layout(id).size() <= STRUCT_LIMIT
    }

    /// Whether plain old data holds a record without fields, which no struct
    /// may be.
    fn has_empty(self, id: TypeId) -> bool {
        let fields = &self.schema.record(id).fields;
        fields.is_empty()
            || fields
                .iter()
                .any(|f| matches!(f.element, Element::Record(inner) if self.has_empty(inner)))
    }

    /// The layout that FlatBuffers gives plain old data: that of C.
    fn layout(self, id: TypeId) -> StructLayout {
        let mut layout = StructLayout { align: 1, ..StructLayout::default() };
        for field in &self.schema.record(id).fields {
            let (used, align) = match field.element {
                Element::Record(inner) => {
                    let inner = self.layout(inner);
                    (inner.used, inner.align)
                }
                other => {
                    let size = self.schema.scalar(other).expect("plain old data").size();
                    (vec![true; size], size)
                }
            };
            let times = match field.cardinality {
                Cardinality::Array { len } => len as usize,
                _ => 1,
            };
            layout.used.resize(layout.size().next_multiple_of(align), false);
            layout.offsets.push(layout.size());
            layout.used.extend(used.repeat(times));
            layout.align = layout.align.max(align);
        }
        layout.used.resize(layout.size().next_multiple_of(layout.align), false);
        layout
    }

    /// Whether plain old data holds truth values, for which not any byte will do.
    fn has_bools(self, id: TypeId) -> bool {
        self.schema.record(id).fields.iter().any(|field| match field.element {
            Element::Record(inner) => self.has_bools(inner),
            other => self.schema.scalar(other) == Some(Scalar::Bool),
        })
    }

    /// A record's name: its legal one, unless that is taken by what flatc
    /// imports or derives from another record's.
    fn type_name(self, id: TypeId) -> String {
        const IMPORTS: [&str; 3] = ["EndianScalar", "Follow", "Ordering"];
        const DERIVED: [&str; 3] = ["Args", "Builder", "Offset"];
        let legal = &self.schema.record(id).name.legal;
        let is_derived = DERIVED
            .iter()
            .filter_map(|suffix| legal.strip_suffix(suffix))
            .any(|stem| self.schema.records().any(|(_, record)| record.name.legal == stem));
        if is_derived || IMPORTS.contains(&legal.as_str()) {
            // Legal names do not end like this.
            format!("{legal}_")
        } else {
            legal.clone()
        }
    }

    /// The table around the octets in a list of octets; vectors do not nest.
    fn bytes_name(self) -> String {
        let taken =
            |name: &String| self.schema.records().any(|(_, record)| record.name.legal == *name);
        let numbered = (2..).map(|number| format!("ByteArray{number}"));
        let mut names = std::iter::once("ByteArray".to_string()).chain(numbered);
        names.find(|name| !taken(name)).expect("there is always another number")
    }

    /// Whether an octet list occurs in a list or array.
    fn has_bytes_lists(self) -> bool {
        self.schema.records().flat_map(|(_, record)| &record.fields).any(|field| {
            field.element == Element::Bytes
                && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
        })
    }

    /// Nesting that a verifier must allow.
    fn depth(self) -> usize {
        DEFAULT_DEPTH.max(self.schema.types.len() + 1)
    }

    /// Bytes that a table's fields may take, at most.
    fn table_size(self, id: TypeId) -> usize {
        let slots = self.slots(id);
        let sizes = slots.iter().map(|FlattenedField { field, .. }| {
            match (self.kind(field.element), field.cardinality) {
                (_, Cardinality::List { .. } | Cardinality::Array { .. }) => 2 * OFFSET,
                (ElementKind::Scalar(scalar), _) => 2 * scalar.size(),
                (ElementKind::Struct(id), _) => {
                    let layout = self.layout(id);
                    layout.size() + layout.align
                }
                _ => 2 * OFFSET + usize::from(self.has_flag(field)),
            }
        });
        OFFSET + sizes.sum::<usize>()
    }

    /// Whether a companion tells empty from absent.
    fn has_flag(self, field: &Field) -> bool {
        self.style == Style::Objects
            && field.cardinality == Cardinality::Optional
            && matches!(field.element, Element::String | Element::Bytes)
    }
}

/// Size of an offset.
const OFFSET: usize = 4;

/// A field's name: its legal one, unless flatc gives it to a variable of its
/// own or a standard header to a macro.
fn field_name(field: &Field) -> String {
    const TAKEN: [&str; 7] = ["fbb", "o", "offsetof", "rehasher", "s", "va", "verifier"];
    let legal = &field.name.legal;
    if TAKEN.contains(&legal.as_str()) {
        // Legal names do not end like this.
        format!("{legal}_value_")
    } else {
        legal.clone()
    }
}

/// The FlatBuffers type of a scalar.
fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float32",
        Scalar::F64 => "float64",
    }
}

/// Whether a table omits the field where it equals zero, as a negative zero does.
fn may_lose_sign(schema: &Schema, field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::Required | Cardinality::Implicit)
        && schema.scalar(field.element).is_some_and(Scalar::is_float)
}

fn check_type(schema: &Schema, id: TypeId, style: Style) -> Support {
    check_type_in(Dialect::new(schema, style), id)
}

fn check_type_in(dialect: Dialect, id: TypeId) -> Support {
    let schema = dialect.schema;
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration().and("the bytes are the same")]);
    };
    if dialect.is_struct(id) {
        return Support::Supported;
    }
    if dialect.table_size(id) > TABLE_LIMIT {
        return Support::Rejected("a table's fields must lie within 64 KiB".into());
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    for field in &record.fields {
        if schema.flattened_length(field).is_some() {
            lowerings.push(Lowering::spread().and("only structs have arrays"));
        } else if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::fixed_array().and("only structs have arrays"));
        }
        if field.element == Element::Bytes
            && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
        {
            lowerings.push(Lowering::new(
                "bytes in a list as a table of one vector",
                "nothing; a table each, since vectors do not nest",
            ));
        }
        if dialect.has_flag(field) {
            lowerings.push(
                Lowering::flagged("string or bytes").and("the Object API takes empty for absent"),
            );
        }
    }
    Support::lowered(lowerings)
}

/// `message.fbs`.
fn idl(schema: &Schema, style: Style) -> Result<File> {
    Ok(File::new("message.fbs", text(Dialect::new(schema, style), "wg")))
}

/// The definition's text.
fn text(dialect: Dialect, namespace: &str) -> String {
    let schema = dialect.schema;
    let mut code = SourceWriter::new();
    code.line(format!("namespace {namespace};"));
    if dialect.has_bytes_lists() {
        code.line("");
        code.block(format!("table {} {{", dialect.bytes_name()), "}", |code| {
            code.line("value:[uint8] (required);");
        });
    }
    for (id, _) in schema.records() {
        let is_struct = dialect.is_struct(id);
        let keyword = if is_struct { "struct" } else { "table" };
        code.line("");
        code.block(format!("{keyword} {} {{", dialect.type_name(id)), "}", |code| {
            for FlattenedField { field, .. } in &dialect.slots(id) {
                if is_struct {
                    code.line(struct_field(dialect, field));
                } else {
                    table_field(dialect, field, code);
                }
            }
        });
    }
    code.line("");
    code.line(format!("root_type {};", dialect.type_name(schema.root)));
    code.finish()
}

fn struct_field(dialect: Dialect, field: &Field) -> String {
    let name = field_name(field);
    let element = match dialect.kind(field.element) {
        ElementKind::Scalar(scalar) => scalar_type(scalar).to_string(),
        ElementKind::Struct(id) => dialect.type_name(id),
        ElementKind::Text | ElementKind::Bytes | ElementKind::Table(_) => {
            unreachable!("not in a struct")
        }
    };
    match field.cardinality {
        Cardinality::Array { len } => format!("{name}:[{element}:{len}];"),
        _ => format!("{name}:{element};"),
    }
}

fn table_field(dialect: Dialect, field: &Field, code: &mut SourceWriter) {
    let name = field_name(field);
    let kind = dialect.kind(field.element);
    let in_list = match kind {
        ElementKind::Scalar(scalar) => scalar_type(scalar).to_string(),
        ElementKind::Text => "string".to_string(),
        ElementKind::Bytes => dialect.bytes_name(),
        ElementKind::Struct(id) | ElementKind::Table(id) => dialect.type_name(id),
    };
    let single = if let ElementKind::Bytes = kind { "[uint8]" } else { &in_list };
    code.line(match (kind, field.cardinality) {
        (ElementKind::Scalar(_), Cardinality::Optional) => format!("{name}:{single} = null;"),
        (ElementKind::Scalar(_), Cardinality::Required | Cardinality::Implicit)
        | (_, Cardinality::Implicit | Cardinality::Optional) => format!("{name}:{single};"),
        (_, Cardinality::Required) => format!("{name}:{single} (required);"),
        (_, Cardinality::List { .. }) => format!("{name}:[{in_list}];"),
        (_, Cardinality::Array { .. }) => format!("{name}:[{in_list}] (required);"),
    });
    if dialect.has_flag(field) {
        // No other field is called like this: legal names see to it.
        code.line(format!("has_{}:bool;", field.name.legal));
    }
}
