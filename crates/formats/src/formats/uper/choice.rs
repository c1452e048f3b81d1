//! Unions as CHOICE: which fields of a record are one, and the enum that it is in Rust. The
//! normalized form has its members as optional fields.

use wiregauge_schema::{Cardinality, Field, Record};

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
    /// Its name, which the structure's field has as well.
    pub name: &'a str,
    fields: Vec<&'a Field>,
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
            Some(choice) => choice.fields.push(field),
            None => parts.push(Part::Choice(Choice { record, name, fields: vec![field] })),
        }
    }
    parts
}

impl Choice<'_> {
    /// Its members, as they are where they are there.
    pub fn members(&self) -> impl Iterator<Item = Field> + '_ {
        let alone =
            |field: &&Field| Field { cardinality: Cardinality::Required, ..(*field).clone() };
        self.fields.iter().map(alone)
    }

    /// The enum.
    pub fn path(&self) -> String {
        path(self.record, self.name)
    }

    /// The pattern of a member, with what it holds as `value`.
    pub fn pattern(&self, field: &Field) -> String {
        pattern(self.record, field).expect("a member of it")
    }
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
