//! How a holder in Rust is put on Protobuf's wire and read from it.

use anyhow::Result;
use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Record, TypeId};

use super::Module;
use crate::tagged::{self, ProtobufNumber, TaggedField, ValueKind};

/// What the fixed part calls a way to write numbers.
fn number_encoding(number: ProtobufNumber) -> String {
    let name = match number {
        // Integers with names are held as such.
        ProtobufNumber::Enum(_) => "int32",
        other => other.name(),
    };
    format!("protobuf::{}{}", name[..1].to_ascii_uppercase(), &name[1..])
}

impl Module<'_> {
    /// The implementation of `protobuf::Message`.
    pub(super) fn tagged(
        &self,
        id: TypeId,
        record: &Record,
        code: &mut SourceWriter,
    ) -> Result<()> {
        let fields = tagged::fields(self.schema, record).unwrap_or_default();
        code.line("");
        code.open(format!("impl protobuf::Message for {} {{", self.names.type_name(id)));
        let sink = if fields.is_empty() { "_" } else { "sink" };
        let open = format!("fn put<S: protobuf::Sink>(&self, {sink}: &mut S) {{");
        code.block(open, "}\n", |code| {
            fields.iter().rev().for_each(|field| self.put(id, field, code));
        });
        let reader = "reader: &mut protobuf::Reader<'_>";
        let open = format!("fn merge(&mut self, {reader}) -> Result<(), protobuf::Error> {{");
        code.block(open, "}\n", |code| {
            for (at, members) in tagged::unions(record).iter().enumerate() {
                let name = self.names.type_name(id);
                code.block(format!("fn clear_union{at}(message: &mut {name}) {{"), "}\n", |code| {
                    for place in members {
                        code.line(format!("message.{} = None;", self.names.member(id, *place)));
                    }
                });
            }
            self.merge(id, &fields, code);
        });
        code.open("fn clear(&mut self) {");
        for (place, field) in record.fields.iter().enumerate() {
            let member = self.names.member(id, place);
            let keeps = field.default.is_none() && field.cardinality != Cardinality::Optional;
            code.line(match (field.cardinality, self.schema.scalar(field.element)) {
                (Cardinality::List { .. }, _) => format!("self.{member}.clear();"),
                (_, None) if keeps => match field.element {
                    Element::Record(_) => {
                        format!("protobuf::Message::clear(&mut self.{member});")
                    }
                    _ => format!("self.{member}.clear();"),
                },
                _ => format!("self.{member} = {};", self.initial(field)?),
            });
        }
        code.close("}");
        code.close("}");
        Ok(())
    }

    fn put(&self, id: TypeId, tagged: &TaggedField, code: &mut SourceWriter) {
        let member = format!("self.{}", self.names.member(id, tagged.place));
        let key = tagged.key();
        if let (true, ValueKind::Number(number)) = (tagged.is_packed(), tagged.kind) {
            let key = tagged.packed_key();
            code.line(match number {
                ProtobufNumber::Enum(_) => format!(
                    "let numbers: Vec<i32> = {member}.iter().map(|one| one.0).collect();\n\
                     sink.packed::<{}>({key}, &numbers);",
                    number_encoding(number)
                ),
                _ => format!("sink.packed::<{}>({key}, &{member});", number_encoding(number)),
            });
            return;
        }
        // By what a value is called, and whether that is a reference.
        let one = |value: &str, is_reference: bool| match tagged.kind {
            ValueKind::Number(number @ ProtobufNumber::Enum(_)) => {
                format!("sink.number::<{}>({key}, {value}.0);", number_encoding(number))
            }
            ValueKind::Number(number) => {
                let star = if is_reference { "*" } else { "" };
                format!("sink.number::<{}>({key}, {star}{value});", number_encoding(number))
            }
            ValueKind::Text => format!("sink.block({key}, {value}.as_bytes());"),
            ValueKind::Octets => {
                format!("sink.block({key}, {}{value});", if is_reference { "" } else { "&" })
            }
            ValueKind::Record(_) => {
                let way = if tagged.is_delimited() { "group" } else { "record" };
                format!("sink.{way}({key}, {}{value});", if is_reference { "" } else { "&" })
            }
        };
        match tagged.field.cardinality {
            Cardinality::List { .. } => {
                code.open(format!("for one in {member}.iter().rev() {{"));
                code.line(one("one", true));
                code.close("}");
            }
            Cardinality::Optional => {
                code.open(format!("if let Some(one) = &{member} {{"));
                code.line(one("one", true));
                code.close("}");
            }
            _ if tagged.is_implicit => {
                let is_there = match tagged.kind {
                    ValueKind::Number(number @ ProtobufNumber::Enum(_)) => {
                        format!("!protobuf::is_zero::<{}>({member}.0)", number_encoding(number))
                    }
                    ValueKind::Number(number) => {
                        format!("!protobuf::is_zero::<{}>({member})", number_encoding(number))
                    }
                    _ => format!("!{member}.is_empty()"),
                };
                code.open(format!("if {is_there} {{"));
                code.line(one(&member, false));
                code.close("}");
            }
            _ => code.line(one(&member, false)),
        }
    }

    fn merge(&self, id: TypeId, fields: &[TaggedField], code: &mut SourceWriter) {
        let required = fields.iter().filter(|field| field.is_required).count();
        if required > 0 {
            code.line(format!("let mut seen = [false; {required}];"));
        }
        code.open("while let Some(key) = reader.key()? {");
        code.open("match key {");
        let mut at = 0;
        for tagged in fields {
            code.open(format!("{} => {{", tagged.key()));
            // What is there already is the only one.
            if let Some(union) = tagged.union {
                let member = self.names.member(id, tagged.place);
                code.open(format!("if self.{member}.is_none() {{"));
                code.line(format!("clear_union{union}(self);"));
                code.close("}");
            }
            self.read(id, tagged, code);
            if tagged.is_required {
                code.line(format!("seen[{at}] = true;"));
                at += 1;
            }
            code.close("}");
            if let (true, ValueKind::Number(number)) = (tagged.is_list(), tagged.kind) {
                let member = self.names.member(id, tagged.place);
                code.line(format!(
                    "{} => reader.packed::<{}, _>(&mut self.{member})?,",
                    tagged.packed_key(),
                    number_encoding(number)
                ));
            }
        }
        code.line("_ => reader.skip(key)?,");
        code.close("}");
        code.close("}");
        code.line(match required {
            0 => "Ok(())".into(),
            _ => format!(
                "match seen == [true; {required}] {{\n    true => Ok(()),\n    \
                 false => Err(protobuf::Error::Missing),\n}}"
            ),
        });
    }

    fn read(&self, id: TypeId, tagged: &TaggedField, code: &mut SourceWriter) {
        let member = format!("self.{}", self.names.member(id, tagged.place));
        let number = |number: ProtobufNumber| {
            let value = format!("reader.number::<{}>()?", number_encoding(number));
            match number {
                ProtobufNumber::Enum(kind) => format!("{}({value})", self.names.type_name(kind)),
                _ => value,
            }
        };
        let (into, key) = match tagged.kind {
            ValueKind::Number(kind) => {
                let value = number(kind);
                return code.line(match tagged.field.cardinality {
                    Cardinality::List { .. } => format!("{member}.push({value});"),
                    Cardinality::Optional => format!("{member} = Some({value});"),
                    _ => format!("{member} = {value};"),
                });
            }
            ValueKind::Text => ("text", ""),
            ValueKind::Octets => ("octets", ""),
            ValueKind::Record(_) if tagged.is_delimited() => ("group", "key, "),
            ValueKind::Record(_) => ("record", ""),
        };
        match tagged.field.cardinality {
            Cardinality::List { .. } => {
                code.line("let mut one = Default::default();");
                code.line(format!("reader.{into}({key}&mut one)?;\n{member}.push(one);"));
            }
            Cardinality::Optional => {
                let value = format!("{member}.get_or_insert_with(Default::default)");
                code.line(format!("reader.{into}({key}{value})?;"));
            }
            _ => code.line(format!("reader.{into}({key}&mut {member})?;")),
        }
    }
}
