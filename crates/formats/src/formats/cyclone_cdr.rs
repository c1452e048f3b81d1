//! CDR by Cyclone DDS: its own stream of the structs that its compiler makes,
//! without a participant or a network.

mod extensible;
mod python;

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Schema, TypeDef, TypeId};

use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::language::cpp::c_struct::{self, CLibrary, Shape};
use crate::lowering::Lowering;
use crate::omg_idl;
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "Cyclone DDS",
        packages: &["cyclonedds-dev"],
        tried: &[("0.10.2", "2022-08"), ("0.10.4", "2023-08"), ("0.10.5", "2024-05")],
        newest: ("11.0.1", "2026-03"),
    }
}

inventory::submit! {
    Codec {
        name: "cyclone-cdr",
        title: "CDR C Cyclone DDS",
        format: "cdr",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Shared("libddsc"),
        options: &[
            "the encoding that Cyclone DDS itself chooses: XCDR1, and XCDR2 for types with \
             optional members",
            "final types, the machine's byte order, no encapsulation header",
            "decode copies the bytes, normalizes them (this checks them) and reads them, as \
             Cyclone DDS does when it receives; verify is copying and normalizing only",
            "encode does not copy texts, and lists whose elements have Cyclone's layout: it points \
             to them",
            "a text with a NUL character is refused when it is encoded",
            "no partial reads: fixed and element decode the whole message",
        ],
        calls: &[
            "encode: dds_stream_write_sample(&stream, &sample, type)",
            "decode: memcpy of the bytes; dds_stream_normalize(…); dds_stream_read_sample(&stream, &sample, type)",
            "project, fixed, element: as decode, then the struct's members",
        ],
        needs: &[
            Need::Program("idlc", "cyclonedds-tools"),
            Need::Header("dds/ddsi/ddsi_cdrstream.h", "cyclonedds-dev"),
        ],
        check_type,
        idl: Some(|schema| definition(schema, Extensibility::Final)),
        emit: |unit| emit(unit, Extensibility::Final),
    }
}

/// What may become of a type later.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extensibility {
    /// Nothing.
    Final,
    /// Members are added at its end.
    Appendable,
    /// Members come and go.
    Mutable,
}

impl Extensibility {
    fn annotation(self) -> &'static str {
        match self {
            Extensibility::Final => "@final",
            Extensibility::Appendable => "@appendable",
            Extensibility::Mutable => "@mutable",
        }
    }

    /// The bytes before a record at most, aligned, and those before each of its members.
    fn header_bounds(self) -> (usize, usize) {
        match self {
            Extensibility::Final => (0, 0),
            // Its size.
            Extensibility::Appendable => (7, 0),
            // Its size; then of each member its id, and its size where the id does not tell it.
            Extensibility::Mutable => (7, 11),
        }
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    Support::lowered(match &schema.types[id] {
        TypeDef::Record(record) => c_struct::lowerings(record),
        TypeDef::Enum(_) => vec![Lowering::enumeration()],
    })
}

/// `message.idl`.
fn definition(schema: &Schema, extensibility: Extensibility) -> Result<File> {
    let octets = c_struct::octets_type(schema);
    let mut code = SourceWriter::new();
    code.open("module wg {");
    if c_struct::uses_octets(schema) {
        code.line(format!("typedef sequence<octet> {octets};"));
    }
    for (_, record) in schema.records() {
        let head = format!("{} struct {} {{", extensibility.annotation(), record.name.legal);
        code.block(head, "};", |code| {
            for field in &record.fields {
                let name = &field.name.legal;
                let of = match field.element {
                    Element::String => "string",
                    Element::Bytes => &octets,
                    Element::Record(id) => &schema.record(id).name.legal,
                    number => omg_idl::scalar_type(schema.scalar(number).expect("a number")),
                };
                code.line(match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => format!("{of} {name};"),
                    Cardinality::Optional => format!("@optional {of} {name};"),
                    Cardinality::List { .. } => format!("sequence<{of}> {name};"),
                    Cardinality::Array { len } => format!("{of} {name}[{len}];"),
                });
            }
            if record.fields.is_empty() {
                code.line(format!("boolean {};", c_struct::UNUSED));
            }
        });
    }
    code.close("};");
    Ok(File::new("message.idl", code.finish()))
}

struct Cyclone;

impl CLibrary for Cyclone {
    fn shape(&self, _: &Schema, field: &Field) -> Shape {
        match field.cardinality {
            Cardinality::Optional => Shape::Nullable,
            Cardinality::List { .. } => Shape::List,
            _ => Shape::Value,
        }
    }

    fn list_arguments(&self, object: &str, field: &Field) -> String {
        format!("{object}.{}", field.name.legal)
    }
}

fn emit(unit: &Unit, extensibility: Extensibility) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = cpp::begin_glue(&["bound.hpp", "message.h", "message.hpp", "sequence.hpp"]);
    code.line("namespace c_struct {");
    if c_struct::uses_octets(schema) {
        let octets = format!("wg_{}", c_struct::octets_type(schema));
        code.line(c_struct::octets_glue(&octets));
    }
    c_struct::glue(unit, &Cyclone, &mut code);
    code.line("");
    code.line("}  // namespace c_struct");
    code.line("");
    let root = Cyclone.record_type(schema.root());
    code.line(format!("inline const dds_topic_descriptor_t &kTopic = {root}_desc;"));
    // Of a mutable type the library leaves members as they were that are not in the bytes.
    let reads_into_empty = extensibility == Extensibility::Mutable;
    code.line(format!("inline constexpr bool kReadsIntoEmpty = {reads_into_empty};"));
    bounds(schema, extensibility, &mut code);
    Ok(Emission {
        files: vec![
            definition(schema, extensibility)?,
            File::new("main.cpp", include_str!("cyclone_cdr/main.cpp")),
            File::new("bound.hpp", include_str!("cyclone_cdr/bound.hpp")),
            File::new("sequence.hpp", include_str!("cyclone_cdr/sequence.hpp")),
            File::new("glue.hpp", code.finish()),
        ],
        // Without type information, which no stream needs.
        steps: vec![GeneratorStep::command([
            "idlc",
            "-l",
            "c",
            "-f",
            "case-sensitive",
            "-t",
            "message.idl",
        ])],
        sources: vec!["main.cpp".into(), "message.c".into()],
        libraries: vec!["ddsc".into()],
        ..Emission::default()
    })
}

/// `bound`: how many bytes a message takes at most. The library's stream grows
/// by 4 KiB at a time; with the room known it writes into the output buffer.
fn bounds(schema: &Schema, extensibility: Extensibility, code: &mut SourceWriter) {
    let (before_record, before_member) = extensibility.header_bounds();
    code.line("");
    code.line("namespace message {");
    code.line("");
    for (id, record) in schema.records() {
        let name = format!("message::{}", record.name.legal);
        let mut terms: Vec<String> =
            record.fields.iter().map(|f| format!("bound(from.{})", f.name.legal)).collect();
        // A record without fields has one for the language's sake.
        let members = terms.len().max(1);
        if terms.is_empty() {
            terms.push("1".into());
        }
        if extensibility != Extensibility::Final {
            terms.push((before_record + members * before_member).to_string());
        }
        let sum = terms.join(" + ");
        if schema.is_pod(id) {
            code.line(format!("template <>\nconstexpr bool kFixed<{name}> = true;"));
        }
        code.block(
            format!("inline std::size_t bound([[maybe_unused]] const {name} &from) {{"),
            "}",
            |code| code.line(format!("return {sum};")),
        );
    }
    code.line("");
    code.line("}  // namespace message");
}
