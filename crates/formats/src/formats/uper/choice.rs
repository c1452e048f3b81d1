//! Unions as CHOICE: the component of a SEQUENCE, its type in Rust, and the glue to the optional
//! fields that the normalized form has.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Field, Record, Schema};

use super::types::rust_type;
use super::{component, from_object, identifier, to_object};

/// What stands in a SEQUENCE.
pub enum Part<'a> {
    /// A field by itself.
    Field(&'a Field),
    /// A union, at the place of its first member.
    Choice(Choice<'a>),
}

/// A union of a record.
pub struct Choice<'a> {
    record: &'a Record,
    name: &'a str,
    members: Vec<&'a Field>,
}

/// The parts of a record in their order.
pub fn parts(record: &Record) -> Vec<Part<'_>> {
    let mut parts: Vec<Part> = Vec::new();
    for field in &record.fields {
        let Some(name) = &field.union else {
            parts.push(Part::Field(field));
            continue;
        };
        // Members need not stand together.
        let known = parts.iter_mut().find_map(|part| match part {
            Part::Choice(choice) if choice.name == name => Some(choice),
            _ => None,
        });
        match known {
            Some(choice) => choice.members.push(field),
            None => parts.push(Part::Choice(Choice { record, name, members: vec![field] })),
        }
    }
    parts
}

/// A member as it is where it is there.
fn alone(field: &Field) -> Field {
    Field { cardinality: Cardinality::Required, ..field.clone() }
}

/// The pattern of a member in its enum, with what it holds as `value`.
pub fn pattern(record: &Record, field: &Field) -> Option<String> {
    let name = field.union.as_ref()?;
    let members = record.fields.iter().filter(|other| other.union.as_ref() == Some(name));
    let number = members.take_while(|other| other.name.legal != field.name.legal).count();
    Some(format!("Some({}::V{number}(value))", path(record, name)))
}

/// The enum of a union.
fn path(record: &Record, union: &str) -> String {
    format!("crate::choices::{}::Of_{union}", record.name.legal)
}

impl Choice<'_> {
    /// The component of the SEQUENCE.
    pub fn component(&self, schema: &Schema) -> String {
        let member = |field: &&Field| {
            format!("{} {}", identifier(&field.name.legal), component(schema, &alone(field)))
        };
        let members: Vec<String> = self.members.iter().map(member).collect();
        format!("{} CHOICE {{ {} }} OPTIONAL", identifier(self.name), members.join(", "))
    }

    /// The field of the structure in Rust.
    pub fn member(&self) -> String {
        format!("pub {}: Option<{}>,", self.field(), path(self.record, self.name))
    }

    /// Its value in a structure by default.
    pub fn default(&self) -> String {
        format!("{}: None,", self.field())
    }

    /// The structure's field has the union's name.
    fn field(&self) -> &str {
        self.name
    }

    fn write_enum(&self, schema: &Schema, code: &mut SourceWriter) {
        code.line("#[derive(rasn::AsnType, rasn::Encode, rasn::Decode)]");
        code.line("#[rasn(choice, automatic_tags)]");
        code.block(format!("pub enum Of_{} {{", self.name), "}", |code| {
            for (number, field) in self.members.iter().enumerate() {
                let of = rust_type(schema, &alone(field));
                let of = match field.element {
                    Element::Record(_) => format!("crate::asn1::{of}"),
                    _ => of,
                };
                code.line(format!("V{number}({of}),"));
            }
        });
    }

    /// The statement that fills it: the member that is there.
    pub fn fill(&self, schema: &Schema) -> String {
        let to = self.field();
        let of = path(self.record, self.name);
        let members = self.members.iter().enumerate().map(|(number, field)| {
            let f = &field.name.legal;
            let made = match field.element {
                Element::Record(id) => in_new(&format!("fill_{}", schema.record(id).name.legal)),
                Element::Bytes => in_new("fill_bytes"),
                Element::String => "value.clone()".into(),
                _ => to_object(schema, field, "*value"),
            };
            format!("if let Some(value) = &from.{f} {{ to.{to} = Some({of}::V{number}({made})); }}")
        });
        let members: Vec<String> = members.collect();
        format!("to.{to} = None;\n{}", members.join("\n"))
    }

    /// The statements that take it; what is owned moves.
    pub fn take(&self, schema: &Schema) -> String {
        let from = self.field();
        let mut lines = Vec::new();
        for field in &self.members {
            let (f, pattern) = (&field.name.legal, pattern(self.record, field));
            let pattern = pattern.expect("a member of it");
            let taken = match field.element {
                Element::Record(id) => {
                    into_member(&format!("take_{}", schema.record(id).name.legal), f)
                }
                Element::Bytes => into_member("take_bytes", f),
                Element::String => into_member("std::mem::swap", f),
                _ => format!("to.{f} = Some({});", from_object(schema, field, "*value")),
            };
            lines.push(format!(
                "if let {pattern} = &mut from.{from} {{ {taken} }} else {{ to.{f} = None; }}"
            ));
        }
        lines.join("\n")
    }
}

/// A new value that a function fills.
fn in_new(fill: &str) -> String {
    format!("{{ let mut new = Default::default(); {fill}(value, &mut new); new }}")
}

/// What is taken into a member that may hold one already.
fn into_member(take: &str, member: &str) -> String {
    format!("{take}(value, to.{member}.get_or_insert_with(Default::default));")
}

/// `choices.rs`: the enums of all records, each record's in a module.
pub fn rust_choices(schema: &Schema) -> String {
    let mut code = SourceWriter::new();
    code.line("// Generated by wiregauge: the CHOICEs of message.asn.");
    for (_, record) in schema.records() {
        let choices = parts(record).into_iter().filter_map(|part| match part {
            Part::Choice(choice) => Some(choice),
            Part::Field(_) => None,
        });
        let choices: Vec<Choice> = choices.collect();
        if choices.is_empty() {
            continue;
        }
        code.line("");
        code.block(format!("pub mod {} {{", record.name.legal), "}", |code| {
            code.line("// What the derives make calls methods of these.");
            code.line("use rasn::{AsnType as _, Decoder as _};");
            choices.iter().for_each(|choice| choice.write_enum(schema, code));
        });
    }
    code.finish()
}
