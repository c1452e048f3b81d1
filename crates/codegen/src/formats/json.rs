//! JSON: the normalized structure itself, by serde; an object by field names.
//!
//! JSON cannot say a float that is not finite. The library writes `null` in its
//! place, which reads back as an error or as an absent value; here such a
//! message is refused when it is encoded, so that it is seen.

use anyhow::Result;
use wiregauge_schema::{Cardinality, Element, Schema, TypeDef, TypeId};

use crate::code::Code;
use crate::codec::{Answer, Codec, Emission, Language, Unit};
use crate::direct::{self, Direct};
use crate::lowering::Lowering;

inventory::submit! {
    Codec {
        name: "json",
        title: "JSON",
        format: "json",
        language: Language::Rust,
        bound: false,
        options: &[
            "compact output; an absent value is null, bytes are a list of numbers",
            "feature float_roundtrip: every finite float reads back as the same one",
            "a message with NaN or an infinity is refused when it is encoded; they are looked for \
             where the output holds a null",
        ],
        needs: &[],
        answer,
        idl: None,
        emit,
    }
}

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        return direct::answer(schema, id);
    };
    let bytes = record.fields.iter().any(|field| field.element == Element::Bytes);
    Answer::lowered(if bytes {
        vec![Lowering::new("bytes as a list of numbers", "that they are octets")]
    } else {
        Vec::new()
    })
}

fn emit(unit: &Unit) -> Result<Emission> {
    let runner = Direct {
        library: "serde_json",
        encode: "encode(message, out)?;",
        decode: "serde_json::from_slice::<Root>(wire)",
        items: items(unit.schema),
    };
    Ok(runner.emit())
}

/// The encoder, and `finite_X`: whether every float of a record can be said.
fn items(schema: &Schema) -> String {
    let mut code = Code::new();
    let root = &schema.root().name.legal;
    code.line(ENCODER.replace("FINITE", &format!("finite_{root}")));
    for (_, record) in schema.records() {
        let name = &record.name.legal;
        code.line("");
        code.line("#[allow(non_snake_case, unused_variables)]");
        code.block(format!("fn finite_{name}(from: &message::{name}) -> bool {{"), "}", |code| {
            let mut conditions = Vec::new();
            for field in &record.fields {
                let f = &field.name.legal;
                let test = match field.element {
                    Element::Record(id) => format!("finite_{}", schema.record(id).name.legal),
                    Element::Scalar(scalar) if scalar.is_float() => {
                        format!("|v: &{}| v.is_finite()", scalar.rust())
                    }
                    _ => continue,
                };
                conditions.push(match field.cardinality {
                    Cardinality::Required | Cardinality::Implicit => format!("({test})(&from.{f})"),
                    _ => format!("from.{f}.iter().all({test})"),
                });
            }
            conditions.push("true".into());
            code.line(conditions.join("\n  && "));
        });
    }
    code.finish()
}

const ENCODER: &str = r#"
/// Compact output that tells whether a null was written.
struct Formatter<'a> {
  null: &'a mut bool,
}

impl serde_json::ser::Formatter for Formatter<'_> {
  fn write_null<W: std::io::Write + ?Sized>(&mut self, writer: &mut W) -> std::io::Result<()> {
    *self.null = true;
    writer.write_all(b"null")
  }
}

fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
  let mut null = false;
  let formatter = Formatter { null: &mut null };
  let mut serializer = serde_json::Serializer::with_formatter(out, formatter);
  serde::Serialize::serialize(message, &mut serializer)?;
  // A null is an absent value or a float that JSON cannot say.
  if null && !FINITE(message) {
    return Err(Error::new("JSON cannot say NaN or an infinity"));
  }
  Ok(())
}
"#;
