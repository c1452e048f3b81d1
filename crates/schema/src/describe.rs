//! A schema as text for people.

use std::fmt::Write;

use crate::model::{Cardinality, Element, Field, Role, Schema, TypeDef};

/// Describes a schema: a paragraph a type, the message first, and a line a
/// field with its id, name, type, cardinality, union and default, and whether it is delimited. A legal name
/// that is not the original one stands behind it in parentheses.
pub fn describe(schema: &Schema) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_type(schema, &schema.types[schema.root], &mut text);
    for (id, def) in schema.types.iter().enumerate().rev() {
        if id != schema.root {
            text.push('\n');
            let _ = write_type(schema, def, &mut text);
        }
    }
    text
}

fn write_type(schema: &Schema, def: &TypeDef, text: &mut String) -> std::fmt::Result {
    match def {
        TypeDef::Record(record) => {
            let role = match record.role {
                Role::Plain => "",
                Role::Timestamp => ", a point in time",
                Role::Duration => ", a span of time",
                Role::MapEntry => ", an entry of a map",
            };
            writeln!(text, "{} ({}){role}", record.name.original, record.name.legal)?;
            let names: Vec<String> = record.fields.iter().map(field_name).collect();
            let kinds: Vec<String> = record.fields.iter().map(|f| kind(schema, f)).collect();
            let width = |texts: &[String]| texts.iter().map(|t| t.chars().count()).max();
            let (name_width, kind_width) = (width(&names), width(&kinds));
            for ((field, name), kind) in record.fields.iter().zip(&names).zip(&kinds) {
                let mut line = format!(
                    "{:6}  {name:name_width$}  {kind:kind_width$}  {}",
                    field.id,
                    cardinality(field.cardinality),
                    name_width = name_width.unwrap_or(0),
                    kind_width = kind_width.unwrap_or(0),
                );
                if field.wire.delimited {
                    write!(line, ", delimited")?;
                }
                if let Some(union) = &field.union {
                    write!(line, ", one of {union}")?;
                }
                if let Some(default) = &field.default {
                    write!(line, ", default {default}")?;
                }
                writeln!(text, "{}", line.trim_end())?;
            }
        }
        TypeDef::Enum(def) => {
            writeln!(
                text,
                "{} ({}), an enum in {}",
                def.name.original,
                def.name.legal,
                def.repr.rust_name()
            )?;
            for value in &def.values {
                writeln!(text, "{:6}  {}", value.number, value.name.original)?;
            }
        }
    }
    Ok(())
}

fn field_name(field: &Field) -> String {
    match field.name.original == field.name.legal {
        true => field.name.original.clone(),
        false => format!("{} ({})", field.name.original, field.name.legal),
    }
}

fn kind(schema: &Schema, field: &Field) -> String {
    match field.element {
        Element::Scalar(scalar) => scalar.rust_name().into(),
        Element::String => "string".into(),
        Element::Bytes => "bytes".into(),
        Element::Enum(id) => schema.enumeration(id).name.legal.clone(),
        Element::Record(id) => schema.record(id).name.legal.clone(),
    }
}

fn cardinality(cardinality: Cardinality) -> String {
    match cardinality {
        Cardinality::Required => "required".into(),
        Cardinality::Implicit => "implicit".into(),
        Cardinality::Optional => "optional".into(),
        Cardinality::List { bound: None } => "list".into(),
        Cardinality::List { bound: Some(bound) } => format!("list of at most {bound}"),
        Cardinality::Array { len } => format!("array of {len}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto;

    #[test]
    fn a_field_is_a_line() {
        let text = "syntax = \"proto2\"; package p; message A { required K type = 7 [default = Y];
            repeated double xs = 8; oneof o { B b = 1; } } enum K { X = 0; Y = -1; }
            message B { optional bytes data = 1; repeated group C = 2 {} }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        let wanted = "p.A (A)
     7  type (type_value)  K    required, default Y
     8  xs                 f64  list
     1  b                  B    optional, one of o

p.B (B)
     1  data  bytes  optional
     2  c     C      list, delimited

p.B.C (C)

p.K (K), an enum in i32
     0  X
    -1  Y
";
        assert_eq!(describe(&schema), wanted);
    }
}
