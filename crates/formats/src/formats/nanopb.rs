//! Protobuf by nanopb: C for small control units, by its own generator. What has no bound is
//! behind pointers.

use anyhow::Result;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{cpp, File, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeId};

use super::protobuf::{self, as_bytes};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, GeneratorStep, Linkage, Support};
use crate::flattened_field::{self, FlattenedField};
use crate::language::cpp::c_struct::{self, CLibrary, Shape};
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "nanopb",
        packages: &["libnanopb-dev", "nanopb"],
        tried: &[("0.4.7", "2022-12")],
        newest: ("0.4.9.1", "2024-12"),
    }
}

inventory::submit! {
    Codec {
        name: "nanopb",
        title: "Protobuf C nanopb",
        format: "protobuf",
        language: &CPP,
        is_bound: false,
        linkage: Linkage::Archive("libnanopb-dev"),
        options: &[
            "lists, texts and bytes are pointers (FT_POINTER): the library allocates them when it \
             decodes, a list anew for each element that is no number of a fixed size",
            "the distribution's library counts in 16 bits: lists and bytes of more than 65,535 are \
             refused",
            "encode does not copy texts, and lists whose elements have nanopb's layout: it points \
             to them",
            "a text with a NUL character is refused when it is encoded",
            "no partial reads: fixed and element decode the whole message",
        ],
        calls: &[
            "encode: pb_get_encoded_size(&size, T_fields, &message); pb_encode(&stream, T_fields, \
             &message)",
            "decode: pb_decode(&stream, T_fields, &message)",
            "project, fixed, element: as decode, then the struct's members",
            "before an object is used again or ends: pb_release(T_fields, &message)",
        ],
        needs: &[
            Need::Program("nanopb_generator.py", "nanopb"),
            Need::Header("pb_decode.h", "libnanopb-dev"),
        ],
        check_type,
        idl: Some(protobuf::idl),
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    protobuf::check_type(schema, id)
}

struct Nanopb;

impl CLibrary for Nanopb {
    fn shape(&self, schema: &Schema, field: &Field) -> Shape {
        let flag = || c_struct::flag_name(field);
        if as_bytes(field) {
            return Shape::Packed(schema.scalar(field.element).unwrap_or(Scalar::U8));
        }
        match (field.cardinality, field.element) {
            (Cardinality::List { .. } | Cardinality::Array { .. }, _) => Shape::List,
            (Cardinality::Optional, Element::String | Element::Bytes) => Shape::Nullable,
            (_, Element::String | Element::Bytes) => Shape::Pointer,
            (Cardinality::Optional, _) => Shape::Flagged(flag()),
            (_, Element::Record(_)) => Shape::Marked(flag()),
            _ => Shape::Value,
        }
    }

    fn list_arguments(&self, object: &str, field: &Field) -> String {
        format!("{object}.{0}, {object}.{0}_count", field.name.legal)
    }

    fn format_fields(&self, schema: &Schema, record: &Record) -> Vec<FlattenedField> {
        flattened_field::flatten_fields(schema, record)
    }

    fn unused(&self) -> &'static str {
        "dummy_field"
    }
}

/// `message.options`: which fields are pointers.
fn options(schema: &Schema) -> File {
    let mut code = SourceWriter::new();
    for (_, record) in schema.records() {
        for slot in Nanopb.format_fields(schema, record) {
            let shape = Nanopb.shape(schema, &slot.field);
            if !matches!(shape, Shape::Value | Shape::Flagged(_) | Shape::Marked(_)) {
                let (of, name) = (&record.name.legal, &slot.field.name.legal);
                code.line(format!("wg.{of}.{name} type:FT_POINTER"));
            }
        }
    }
    File::new("message.options", code.finish())
}

fn emit(unit: &Unit) -> Result<Emission> {
    let schema = unit.schema;
    let mut code = cpp::begin_glue(&["message.hpp", "message.pb.h", "values.hpp"]);
    code.line("namespace c_struct {");
    c_struct::glue(unit, &Nanopb, &mut code);
    code.line("");
    code.line("}  // namespace c_struct");
    code.line("");
    code.line("// What nanopb's generator made for the message.");
    code.line("namespace generated {");
    let root = Nanopb.record_type(schema.root());
    code.line(format!("inline const pb_msgdesc_t *fields() {{ return {root}_fields; }}"));
    code.line("}  // namespace generated");
    Ok(Emission {
        files: vec![
            protobuf::idl(schema)?,
            options(schema),
            File::new("main.cpp", include_str!("nanopb/main.cpp")),
            File::new("values.hpp", include_str!("nanopb/values.hpp")),
            File::new("glue.hpp", code.finish()),
        ],
        steps: vec![GeneratorStep::command([
            "nanopb_generator.py",
            "--quiet",
            "--library-include-format=#include <%s>",
            "message.proto",
        ])],
        sources: vec!["main.cpp".into(), "message.pb.c".into()],
        libraries: vec!["protobuf-nanopb".into()],
        ..Emission::default()
    })
}
