//! How a holder in C++ is put on Protobuf's wire and read from it.

use anyhow::Result;
use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Record, TypeId};

use super::Header;
use crate::tagged::{self, ProtobufNumber, TaggedField, ValueKind};

impl Header<'_> {
    /// What the fixed part calls a way to write numbers.
    fn number_encoding(&self, number: ProtobufNumber) -> String {
        let name = number.name();
        let name = format!("{}{}", name[..1].to_ascii_uppercase(), &name[1..]);
        match number {
            ProtobufNumber::Enum(id) => {
                format!("wiregauge::protobuf::Enum<{}>", self.names.type_name(id))
            }
            _ => format!("wiregauge::protobuf::{name}"),
        }
    }

    /// What Protobuf's wire calls.
    pub(super) fn tagged(
        &self,
        id: TypeId,
        record: &Record,
        code: &mut SourceWriter,
    ) -> Result<()> {
        let fields = tagged::fields(self.schema, record).unwrap_or_default();
        let signature = |name: &str, own: &str, more: &str| {
            let own = format!("[[maybe_unused]] {own} &self");
            format!("static void wiregauge_{name}({own}{more}) {{")
        };
        code.line("\ntemplate <class Self, class Sink>");
        let sink = ", [[maybe_unused]] Sink &sink";
        code.block(signature("put", "const Self", sink), "}", |code| {
            fields.iter().rev().for_each(|field| self.put(id, field, code));
        });
        code.line("template <class Self, class Reader>");
        code.block(signature("merge", "Self", ", Reader &reader"), "}", |code| {
            for (at, members) in tagged::unions(record).iter().enumerate() {
                code.block(format!("const auto clear_union{at} = [&self]() {{"), "};", |code| {
                    for place in members {
                        code.line(format!("self.{}.reset();", self.names.member(id, *place)));
                    }
                });
            }
            self.merge(id, &fields, code);
        });
        code.line("template <class Self>");
        code.open(signature("clear", "Self", ""));
        for (place, field) in record.fields.iter().enumerate() {
            let member = format!("self.{}", self.names.member(id, place));
            code.line(match (field.cardinality, field.element, field.default.is_some()) {
                (Cardinality::Optional, ..) => format!("{member}.reset();"),
                (Cardinality::List { .. }, ..) => format!("{member}.clear();"),
                (_, Element::Record(inner), _) => {
                    format!("{}::wiregauge_clear({member});", self.names.type_name(inner))
                }
                (_, Element::String | Element::Bytes, false) => format!("{member}.clear();"),
                _ => format!("{member} = {}{{{}}};", self.kind(field), self.initial(field)?),
            });
        }
        code.close("}");
        Ok(())
    }

    fn put(&self, id: TypeId, tagged: &TaggedField, code: &mut SourceWriter) {
        let member = format!("self.{}", self.names.member(id, tagged.place));
        if let (true, ValueKind::Number(number)) = (tagged.is_packed(), tagged.kind) {
            let (way, key) = (self.number_encoding(number), tagged.packed_key());
            return code.line(format!("sink.template packed<{way}>({key}U, {member});"));
        }
        let key = tagged.key();
        let one = |value: &str| match tagged.kind {
            ValueKind::Number(number) => {
                format!("sink.template number<{}>({key}U, {value});", self.number_encoding(number))
            }
            ValueKind::Text => format!("sink.text({key}U, {value});"),
            ValueKind::Octets => format!("sink.block({key}U, {value});"),
            ValueKind::Record(_) if tagged.is_delimited() => {
                format!("sink.group({key}U, {value});")
            }
            ValueKind::Record(_) => format!("sink.record({key}U, {value});"),
        };
        code.line(match tagged.field.cardinality {
            Cardinality::List { .. } => {
                format!("for (auto at = {member}.end(); at != {member}.begin();) {}", one("*--at"))
            }
            Cardinality::Optional => format!("if ({member}) {}", one(&format!("*{member}"))),
            _ if tagged.is_implicit => {
                let is_there = match tagged.kind {
                    ValueKind::Number(number) => {
                        format!(
                            "!wiregauge::protobuf::is_zero<{}>({member})",
                            self.number_encoding(number)
                        )
                    }
                    _ => format!("!{member}.empty()"),
                };
                format!("if ({is_there}) {}", one(&member))
            }
            _ => one(&member),
        });
    }

    fn merge(&self, id: TypeId, fields: &[TaggedField], code: &mut SourceWriter) {
        let required: Vec<&TaggedField> = fields.iter().filter(|field| field.is_required).collect();
        for tagged in &required {
            code.line(format!("bool seen{} = false;", tagged.place));
        }
        code.open("while (const std::uint32_t key = reader.key()) {");
        code.open("switch (key) {");
        for tagged in fields {
            let member = format!("self.{}", self.names.member(id, tagged.place));
            code.open(format!("case {}U:", tagged.key()));
            // What is there already is the only one.
            if let Some(union) = tagged.union {
                code.line(format!("if (!{member}) clear_union{union}();"));
            }
            self.read(tagged, &member, code);
            if tagged.is_required {
                code.line(format!("seen{} = true;", tagged.place));
            }
            code.line("break;");
            code.outdent();
            if let (true, ValueKind::Number(number)) = (tagged.is_list(), tagged.kind) {
                let way = self.number_encoding(number);
                code.open(format!("case {}U:", tagged.packed_key()));
                code.line(format!("reader.template packed<{way}>({member});\nbreak;"));
                code.outdent();
            }
        }
        code.line("default:\n  reader.skip(key);");
        code.close("}");
        code.close("}");
        if !required.is_empty() {
            let missing = required.iter().map(|tagged| format!("!seen{}", tagged.place));
            let missing: Vec<String> = missing.collect();
            let fail = "reader.fail(wiregauge::protobuf::Error::missing);";
            code.line(format!("if ({}) {fail}", missing.join(" || ")));
        }
    }

    fn read(&self, tagged: &TaggedField, member: &str, code: &mut SourceWriter) {
        let (into, key) = match tagged.kind {
            ValueKind::Number(number) => {
                let value = format!("reader.template number<{}>()", self.number_encoding(number));
                return code.line(match tagged.is_list() {
                    true => format!("{member}.push_back({value});"),
                    false => format!("{member} = {value};"),
                });
            }
            ValueKind::Text => ("text", ""),
            ValueKind::Octets => ("block", ""),
            ValueKind::Record(_) if tagged.is_delimited() => ("group", "key, "),
            ValueKind::Record(_) => ("record", ""),
        };
        match tagged.field.cardinality {
            Cardinality::List { .. } => {
                code.line(format!(
                    "{member}.emplace_back();\nreader.{into}({key}{member}.back());"
                ));
            }
            Cardinality::Optional => {
                code.line(format!("if (!{member}) {member}.emplace();"));
                code.line(format!("reader.{into}({key}*{member});"));
            }
            _ => code.line(format!("reader.{into}({key}{member});")),
        }
    }
}
