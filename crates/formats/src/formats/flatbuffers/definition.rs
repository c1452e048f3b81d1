//! A FlatBuffers definition for use by hand-written programs, apart from the
//! runners and their glue: what `flatc --proto` would be used for.
//!
//! As in what `flatc --proto` writes, a scalar has a plain default, so that an
//! absent one reads as zero and a zero is not stored. The records that are
//! named become structs, whose fields are always there.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::{Cardinality, Element, Field, Schema, TypeDef, TypeId};

use super::{text, Dialect, Style};

/// The text of a definition, the records with these original names as structs.
///
/// A struct holds numbers only. What else a record has goes beside it where the
/// record occurs in lists: `reflection` with an `object_id` becomes the list of
/// structs `reflection` and the list `reflection_object_id`, which is as long
/// or empty. Fails where a record has more and does not occur in lists alone,
/// and where there is no such record.
pub fn definition(schema: &Schema, namespace: &str, structs: &[&str]) -> Result<String> {
    let mut schema = schema.clone();
    let ids = structs
        .iter()
        .map(|name| {
            let found = schema.records().find(|(_, record)| record.name.original == *name);
            found.map(|(id, _)| id).with_context(|| format!("there is no record {name}"))
        })
        .collect::<Result<BTreeSet<TypeId>>>()?;
    for id in &ids {
        let fields = std::mem::take(&mut record_mut(&mut schema, *id).fields);
        let (mut numbers, others): (Vec<Field>, Vec<Field>) = fields.into_iter().partition(|f| {
            let single =
                !matches!(f.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
            single && matches!(f.element, Element::Scalar(_) | Element::Enum(_))
        });
        for field in &mut numbers {
            field.cardinality = Cardinality::Required;
        }
        record_mut(&mut schema, *id).fields = numbers;
        if !others.is_empty() {
            move_out_of_struct(&mut schema, *id, &others)?;
        }
    }
    for id in 0..schema.types.len() {
        let (false, TypeDef::Record(record)) = (ids.contains(&id), &mut schema.types[id]) else {
            continue;
        };
        for field in &mut record.fields {
            let number = matches!(field.element, Element::Scalar(_) | Element::Enum(_));
            if number && field.cardinality == Cardinality::Optional {
                field.cardinality = Cardinality::Implicit;
            }
        }
    }
    let style = if ids.is_empty() { Style::Tables } else { Style::Structs };
    Ok(text(Dialect { structs: Some(&ids), ..Dialect::new(&schema, style) }, namespace))
}

/// Adds what a struct cannot hold to every record that has a list of it.
fn move_out_of_struct(schema: &mut Schema, id: TypeId, others: &[Field]) -> Result<()> {
    let name = schema.record(id).name.original.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        let mut fields = Vec::with_capacity(record.fields.len());
        for field in std::mem::take(&mut record.fields) {
            let uses = field.element == Element::Record(id);
            let list = matches!(field.cardinality, Cardinality::List { .. });
            ensure!(
                !uses || list,
                "{name} cannot be a struct: {}.{} uses it outside of a list",
                record.name.original,
                field.name.original
            );
            let stem = field.name.clone();
            fields.push(field);
            if !uses {
                continue;
            }
            for other in others {
                if matches!(other.cardinality, Cardinality::List { .. }) {
                    bail!("{name} cannot be a struct: its {} is a list", other.name.original);
                }
                let mut beside = other.clone();
                beside.name.original = format!("{}_{}", stem.original, other.name.original);
                beside.name.legal = format!("{}_{}", stem.legal, other.name.legal);
                beside.cardinality = Cardinality::List { bound: None };
                fields.push(beside);
            }
        }
        record.fields = fields;
    }
    Ok(())
}

fn record_mut(schema: &mut Schema, id: TypeId) -> &mut wiregauge_schema::Record {
    match &mut schema.types[id] {
        TypeDef::Record(record) => record,
        TypeDef::Enum(other) => panic!("{} is an enum", other.name.original),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: &str = "syntax = \"proto2\";
        message Point3 { optional double x = 1; optional double y = 2; }
        message View {
          enum Kind { A = 0; B = 1; }
          message Reflection {
            optional double strength = 1;
            optional Point3 normal = 2;
          }
          optional Kind kind = 1;
          optional Point3 position = 2;
          repeated Reflection reflection = 3;
        }";

    fn definition_of_view(structs: &[&str]) -> Result<String> {
        let schema = wiregauge_schema::proto::read_texts(&[("view.proto", VIEW)], Some("View"))?;
        definition(&schema, "view", structs)
    }

    #[test]
    fn tables_have_plain_defaults() {
        let text = definition_of_view(&[]).unwrap();
        assert_eq!(
            text,
            "namespace view;

table Point3 {
  x:float64;
  y:float64;
}

table Reflection {
  strength:float64;
  normal:Point3;
}

table View {
  kind:int32;
  position:Point3;
  reflection:[Reflection];
}

root_type View;
"
        );
    }

    #[test]
    fn what_a_struct_cannot_hold_goes_beside() {
        let text = definition_of_view(&["Point3", "View.Reflection"]).unwrap();
        assert_eq!(
            text,
            "namespace view;

struct Point3 {
  x:float64;
  y:float64;
}

struct Reflection {
  strength:float64;
}

table View {
  kind:int32;
  position:Point3;
  reflection:[Reflection];
  reflection_normal:[Point3];
}

root_type View;
"
        );
    }

    #[test]
    fn what_cannot_be_a_struct_is_refused() {
        let error = definition_of_view(&["Line"]).unwrap_err();
        assert_eq!(error.to_string(), "there is no record Line");
        let schema = wiregauge_schema::proto::read_texts(
            &[(
                "a.proto",
                "syntax = \"proto2\";
                message V { optional double x = 1; }
                message W { optional V v = 1; }
                message A { optional W w = 1; }",
            )],
            Some("A"),
        )
        .unwrap();
        let error = definition(&schema, "a", &["W"]).unwrap_err();
        assert_eq!(error.to_string(), "W cannot be a struct: A.w uses it outside of a list");
    }
}
