//! What writes messages of any schema, and what reads rows back as the model's values.

mod read;
mod write;

use proptest::prelude::*;
use wiregauge_columns::Wire;
use wiregauge_schema::generate::{generate, Sizes};
use wiregauge_schema::{arbitrary, Cardinality, Element, Scalar, Schema, TypeDef, Value};

pub use read::{assert_same, rows};
pub use write::write;

/// Any schema that a wire can carry.
pub fn schema(wire: Wire) -> impl Strategy<Value = Schema> {
    (arbitrary::schema(), any::<u64>()).prop_map(move |(schema, seed)| fit(schema, wire, seed))
}

/// A message of a schema, by a seed.
pub fn message(schema: &Schema, seed: u64) -> Value {
    let list = (seed % 4) as usize;
    let presence = if seed.is_multiple_of(2) { 0.5 } else { 1.0 };
    let sizes = Sizes { list, text: list * 5, bytes: list * 5, presence, ..Sizes::default() };
    generate(schema, &sizes, seed).expect("the sizes name no paths")
}

/// The schema without what the wire does not have.
fn fit(mut schema: Schema, wire: Wire, seed: u64) -> Schema {
    let mut number = 0;
    for def in &mut schema.types {
        match def {
            TypeDef::Enum(def) if wire == Wire::Protobuf => def.repr = Scalar::I32,
            TypeDef::Enum(_) => {}
            TypeDef::Record(record) => {
                for field in &mut record.fields {
                    number += 1;
                    match wire {
                        Wire::Protobuf => fit_protobuf(field, seed.rotate_left(number)),
                        _ => fit_sequential(field),
                    }
                }
            }
        }
    }
    schema
}

fn fit_protobuf(field: &mut wiregauge_schema::Field, seed: u64) {
    use wiregauge_schema::IntegerEncoding::{Fixed, Varint, Zigzag};
    field.element = match field.element {
        Element::Scalar(Scalar::U8 | Scalar::U16) => Element::Scalar(Scalar::U32),
        Element::Scalar(Scalar::I8 | Scalar::I16) => Element::Scalar(Scalar::I32),
        other => other,
    };
    if matches!(field.cardinality, Cardinality::Array { .. }) {
        field.cardinality = Cardinality::List { bound: None };
    }
    let is_signed = matches!(field.element, Element::Scalar(Scalar::I32 | Scalar::I64));
    let is_enum = matches!(field.element, Element::Enum(_));
    field.wire.integer = match seed % 3 {
        0 if !is_enum => Fixed,
        1 if is_signed => Zigzag,
        _ => Varint,
    };
    field.wire.unpacked = seed % 5 < 2;
    field.wire.delimited = seed % 7 < 3 && matches!(field.element, Element::Record(_));
    // So that numbers beyond the table and tags of several bytes occur.
    if seed.is_multiple_of(11) {
        field.id += 70_000;
    }
}

fn fit_sequential(field: &mut wiregauge_schema::Field) {
    field.union = None;
    if field.cardinality == Cardinality::Optional {
        field.cardinality = Cardinality::Required;
    }
}
