//! LCM: C by the format's own compiler, without publishing. The generated code
//! and a header are all there is; no library is linked.

mod java;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::cpp::c_struct::{self, CLibrary, Shape};
use crate::lowering::Lowering;
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "LCM",
        packages: &["liblcm-dev", "liblcm-java"],
        tried: &[("1.3.1", "2016-03"), ("1.5.0", "2023-04")],
        newest: ("1.5.3", "2026-09"),
    }
}

inventory::submit! {
    Codec {
        name: "lcm",
        title: "LCM C",
        format: "lcm",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Headers,
        options: &[
            "C, lcm-gen --c-no-pubsub: only encoding and decoding",
            "encode does not copy texts, and lists whose elements have LCM's layout: it points to \
             them",
            "decodes as LCM's own subscriptions do: each list and text is allocated, nothing is \
             checked before, and the memory of a failed decode is lost",
            "a text with a NUL character is refused when it is encoded",
            "no partial reads: fixed and element decode the whole message",
        ],
        calls: &[
            "encode: size = T_encoded_size(&message); T_encode(bytes, 0, size, &message)",
            "decode: T_decode(bytes, 0, size, &message)",
            "project, fixed, element: as decode, then the struct's members",
            "before an object is used again or ends: T_decode_cleanup(&message)",
        ],
        needs: &[
            Need::Program("lcm-gen", "liblcm-bin"),
            Need::Header("lcm/lcm.h", "liblcm-dev"),
        ],
        check_type,
        idl: Some(idl),
        emit,
    }
}

/// The LCM type that carries a scalar. There are no unsigned types but `byte`.
fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "boolean",
        Scalar::U8 => "byte",
        Scalar::I8 => "int8_t",
        Scalar::U16 | Scalar::I16 => "int16_t",
        Scalar::U32 | Scalar::I32 => "int32_t",
        Scalar::U64 | Scalar::I64 => "int64_t",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    if let Some(name) = too_long(schema, record) {
        return Support::Rejected(format!(
            "lcm-gen overruns its memory with names as long as {name}; {MEMBER_LENGTH} characters \
             of a member and {TYPE_LENGTH} of a type are safe"
        ));
    }
    let mut lowerings = c_struct::lowerings(record);
    for field in &record.fields {
        if let Some(scalar @ (Scalar::U16 | Scalar::U32 | Scalar::U64)) =
            schema.scalar(field.element)
        {
            lowerings.push(Lowering::as_signed(scalar, scalar_type(scalar)));
        }
        match Lcm.shape(schema, field) {
            Shape::Flagged(_) => {
                lowerings.push(Lowering::flagged("value").and("an absent value is paid for"))
            }
            Shape::OptionalList => {
                lowerings.push(Lowering::optional_record("list").and("four bytes each"))
            }
            _ => {}
        }
    }
    Support::lowered(lowerings)
}

/// What lcm-gen holds of a member's name, with what it writes around it, in 128
/// characters.
const MEMBER_LENGTH: usize = 100;

/// A type's name is part of a file's, which has at most 255 characters.
const TYPE_LENGTH: usize = 200;

/// The name of a record or of one of its members that lcm-gen cannot hold.
fn too_long(schema: &Schema, record: &Record) -> Option<String> {
    let type_name = &record.name.legal;
    if type_name.len() > TYPE_LENGTH {
        return Some(type_name.clone());
    }
    let mut members = record.fields.iter().map(|field| match Lcm.shape(schema, field) {
        Shape::List | Shape::OptionalList => count(field),
        Shape::Flagged(flag) => flag,
        _ => field.name.legal.clone(),
    });
    members.find(|name| name.len() > MEMBER_LENGTH)
}

/// Name of the member that counts a list. No legal field name is derived from
/// another in this way.
fn count(field: &Field) -> String {
    format!("{}_count", field.name.legal)
}

/// `message.lcm`.
fn idl(schema: &Schema) -> Result<File> {
    let mut code = SourceWriter::new();
    code.line("package wg;");
    let octets = c_struct::octets_type(schema);
    if c_struct::uses_octets(schema) {
        code.line("");
        code.block(format!("struct {octets} {{"), "}", |code| {
            code.line("int32_t data_count;");
            code.line("byte data[data_count];");
        });
    }
    for (_, record) in schema.records() {
        code.line("");
        code.block(format!("struct {} {{", record.name.legal), "}", |code| {
            for field in &record.fields {
                let name = &field.name.legal;
                let of = match field.element {
                    Element::String => "string",
                    Element::Bytes => &octets,
                    Element::Record(id) => &schema.record(id).name.legal,
                    number => scalar_type(schema.scalar(number).expect("a number")),
                };
                match (Lcm.shape(schema, field), field.cardinality) {
                    (Shape::List | Shape::OptionalList, _) => {
                        let count = count(field);
                        code.line(format!("int32_t {count};"));
                        code.line(format!("{of} {name}[{count}];"));
                    }
                    (Shape::Flagged(flag), _) => {
                        code.line(format!("boolean {flag};"));
                        code.line(format!("{of} {name};"));
                    }
                    (_, Cardinality::Array { len }) => code.line(format!("{of} {name}[{len}];")),
                    _ => code.line(format!("{of} {name};")),
                }
            }
            if record.fields.is_empty() {
                code.line(format!("boolean {};", c_struct::UNUSED));
            }
        });
    }
    Ok(File::new("message.lcm", code.finish()))
}

struct Lcm;

impl CLibrary for Lcm {
    fn shape(&self, _: &Schema, field: &Field) -> Shape {
        match (field.cardinality, field.element) {
            (Cardinality::Optional, Element::Record(_)) => Shape::OptionalList,
            (Cardinality::Optional, _) => Shape::Flagged(c_struct::flag_name(field)),
            (Cardinality::List { .. }, _) => Shape::List,
            _ => Shape::Value,
        }
    }

    fn list_arguments(&self, object: &str, field: &Field) -> String {
        format!("{object}.{}, {object}.{}", field.name.legal, count(field))
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut types: Vec<String> =
        schema.records().map(|(_, record)| Lcm.record_type(record)).collect();
    let root = Lcm.record_type(schema.root());
    let mut code = cpp::begin_glue(&["message.hpp", "octets.hpp"]);
    code.line(format!("extern \"C\" {{\n#include \"{root}.h\"\n}}"));
    code.line("");
    code.line("namespace c_struct {");
    if c_struct::uses_octets(schema) {
        let octets = format!("wg_{}", c_struct::octets_type(schema));
        code.line(c_struct::octets_glue(&octets));
        types.push(octets);
    }
    c_struct::glue(unit, &Lcm, &mut code);
    code.line("");
    code.line("}  // namespace c_struct");
    code.line("");
    code.line("// What lcm-gen made for the message.");
    code.line("namespace generated {");
    for function in ["encoded_size", "encode", "decode", "decode_cleanup"] {
        code.line(format!("inline constexpr auto &{function} = {root}_{function};"));
    }
    code.line("}  // namespace generated");
    let mut sources = vec!["main.cpp".to_string()];
    sources.extend(types.iter().map(|name| format!("{name}.c")));
    Ok(Emission {
        files: vec![
            idl(schema)?,
            File::new("main.cpp", include_str!("lcm/main.cpp")),
            File::new("octets.hpp", include_str!("lcm/octets.hpp")),
            File::new("glue.hpp", code.finish()),
        ],
        steps: vec![GeneratorStep::command([
            "lcm-gen",
            "-c",
            "--c-no-pubsub",
            "--c-cpath",
            ".",
            "--c-hpath",
            ".",
            "message.lcm",
        ])],
        sources,
        ..Emission::default()
    })
}
