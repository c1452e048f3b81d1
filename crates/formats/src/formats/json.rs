//! JSON: the normalized structure itself, by serde; an object by field names.
//!
//! JSON cannot say a float that is not finite. The library writes `null` in its
//! place, which reads back as an error or as an absent value; here such a
//! message is refused when it is encoded, so that it is seen.

mod java;
mod python;

use anyhow::Result;
use wiregauge_normalized::rust::Derive;
use wiregauge_normalized::{rust, SourceWriter, Unit};
use wiregauge_schema::{Cardinality, Element, Schema, TypeDef, TypeId};

use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, Support};
use crate::language::rust::derived::{self, DerivingLibrary};
use crate::language::rust::glue;
use crate::language::rust::partial_struct::FieldKey;
use crate::lowering::Lowering;

inventory::submit! {
    Codec {
        name: "json",
        title: "JSON Rust serde_json",
        format: "json",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("serde_json"),
        options: &[
            "compact output; an absent value is null; bytes are text in Base64",
            "feature float_roundtrip: every finite float reads back as the same value",
            "a message with NaN or an infinity is refused when it is encoded; they are looked for \
             where the output has a null",
            "one number is read through a structure of the fields on its path; serde skips the \
             others. All numbers: the whole message is decoded",
        ],
        calls: &[
            "encode: message.serialize(&mut Serializer::with_formatter(out, formatter)), where the \
             formatter notes a null",
            "decode, project: serde_json::from_slice::<Message>(bytes)",
            "fixed, element: serde_json::from_slice::<Part>(bytes)",
        ],
        needs: &[],
        check_type,
        idl: None,
        emit,
    }
}

fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return derived::check_type(schema, id);
    };
    let octets = record.fields.iter().filter(|field| rust::is_octets(field));
    let lowering = |_| Lowering::new("octets as text by Base64", "that they are octets");
    Support::lowered(octets.map(lowering).collect())
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = DerivingLibrary {
        library: "serde_json",
        derive: Derive::Serde,
        calls: include_str!("json/library.rs"),
        partial: Some(FieldKey::Named),
    };
    Ok(runner.emit_with(unit, |code| finite(unit.schema, code)))
}

/// `finite_X`: whether every float of a record can be said.
fn finite(schema: &Schema, code: &mut SourceWriter) {
    for (_, record) in schema.records() {
        let name = &record.name.legal;
        code.line("");
        code.block(
            format!("pub fn finite_{name}(from: &crate::message::{name}) -> bool {{"),
            "}",
            |code| {
                let mut conditions = Vec::new();
                for field in &record.fields {
                    let f = &field.name.legal;
                    let test = match field.element {
                        Element::Record(id) => format!("finite_{}", schema.record(id).name.legal),
                        Element::Scalar(scalar) if scalar.is_float() => {
                            format!("|v: &{}| v.is_finite()", scalar.rust_name())
                        }
                        _ => continue,
                    };
                    conditions.push(match field.cardinality {
                        Cardinality::Required | Cardinality::Implicit => {
                            format!("({test})(&from.{f})")
                        }
                        _ => format!("from.{f}.iter().all({test})"),
                    });
                }
                conditions.push("true".into());
                code.line(conditions.join("\n  && "));
            },
        );
    }
    glue::alias_root_functions(schema, &["finite"], code);
}
