//! How a holder in Java is put on Protobuf's wire and read from it.

use anyhow::Result;
use wiregauge_holders::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Record, TypeId};

use super::Module;
use crate::tagged::{self, Kind, Number, Tagged};

/// What the fixed part calls a way to write numbers.
fn way(number: Number) -> &'static str {
    match number {
        Number::Enum(_) => "int32",
        Number::Float => "f32",
        Number::Double => "f64",
        other => other.name(),
    }
}

/// A number in a list as its way wants it: unsigned ones are held by their bits.
fn widened(number: Number, value: &str) -> String {
    match number {
        Number::Uint32 | Number::Fixed32 => format!("Integer.toUnsignedLong({value})"),
        _ => value.to_owned(),
    }
}

/// A number as it is held in a list.
fn narrowed(number: Number, value: &str) -> String {
    match number {
        Number::Uint32 | Number::Fixed32 => format!("(int) {value}"),
        _ => value.to_owned(),
    }
}

/// The bytes of a number that always takes as many.
fn size(number: Number) -> Option<usize> {
    match number {
        Number::Fixed32 | Number::Sfixed32 | Number::Float => Some(4),
        Number::Fixed64 | Number::Sfixed64 | Number::Double => Some(8),
        _ => None,
    }
}

impl Module<'_> {
    /// The methods of `Tagged`.
    pub(super) fn tagged(
        &self,
        id: TypeId,
        record: &Record,
        code: &mut SourceWriter,
    ) -> Result<()> {
        let fields = tagged::fields(self.schema, record).unwrap_or_default();
        code.line("@Override");
        let open = "public void put(Encoder encoder) throws WireException {";
        code.block(open, "}\n", |code| {
            fields.iter().rev().for_each(|field| self.put(id, field, code));
        });
        code.line("@Override");
        let open = "public void merge(Decoder decoder) throws WireException {";
        code.block(open, "}\n", |code| self.merge(id, &fields, code));
        code.line("@Override");
        code.open("public void clear() {");
        for (place, field) in record.fields.iter().enumerate() {
            let member = format!("this.{}", self.names.member(id, place));
            let keeps = field.cardinality != Cardinality::Optional;
            let initial = self.initial(field)?;
            code.line(match (field.cardinality, field.element, initial) {
                (Cardinality::Optional, ..) => format!("{member} = null;"),
                (cardinality, Element::Record(_), _)
                    if keeps && !matches!(cardinality, Cardinality::List { .. }) =>
                {
                    format!("{member} = new {}();", self.element(field.element))
                }
                (_, _, Some(value)) => format!("{member} = {value};"),
                (_, other, None) => {
                    let is_bool = self.element(other) == "boolean";
                    format!("{member} = {};", if is_bool { "false" } else { "0" })
                }
            });
        }
        code.close("}\n");
        Ok(())
    }

    fn put(&self, id: TypeId, tagged: &Tagged, code: &mut SourceWriter) {
        let member = format!("this.{}", self.names.member(id, tagged.place));
        // Keys are held by their bits.
        let key = tagged.key() as i32;
        let one = |value: &str, code: &mut SourceWriter| match tagged.kind {
            Kind::Number(number) => code.line(format!("encoder.{}({key}, {value});", way(number))),
            Kind::Text => code.line(format!("encoder.text({key}, {value});")),
            Kind::Octets => code.line(format!("encoder.octets({key}, {value});")),
            Kind::Record(_) => code.block("{", "}", |code| {
                code.line("long before = encoder.size();");
                code.line(format!("encoder.fields({value});"));
                code.line(format!("encoder.behind({key}, before);"));
            }),
        };
        match (tagged.field.cardinality, tagged.kind) {
            (Cardinality::List { .. }, Kind::Number(number)) => {
                code.open(format!("if (encoder.there({member}).length != 0) {{"));
                let place = widened(number, &format!("{member}[place]"));
                let each = format!("for (int place = {member}.length - 1; place >= 0; place--) {{");
                if tagged.is_packed() {
                    code.line("long before = encoder.size();");
                    match size(number) {
                        Some(_) => code.line(format!("encoder.all({member});")),
                        None => code.block(each, "}", |code| {
                            code.line(format!("encoder.{}({place});", way(number)));
                        }),
                    }
                    code.line(format!("encoder.behind({}, before);", tagged.packed_key() as i32));
                } else {
                    code.block(each, "}", |code| one(&place, code));
                }
                code.close("}");
            }
            (Cardinality::List { .. }, _) => {
                let last = format!("encoder.there({member}).size() - 1");
                code.open(format!("for (int place = {last}; place >= 0; place--) {{"));
                one(&format!("{member}.get(place)"), code);
                code.close("}");
            }
            (Cardinality::Optional, _) => {
                code.open(format!("if ({member} != null) {{"));
                one(&member, code);
                code.close("}");
            }
            _ if tagged.is_implicit => {
                let is_there = match tagged.kind {
                    Kind::Number(Number::Bool) => member.clone(),
                    // Below zero there is one that is equal to it.
                    Kind::Number(Number::Float) => {
                        format!("Float.floatToRawIntBits({member}) != 0")
                    }
                    Kind::Number(Number::Double) => {
                        format!("Double.doubleToRawLongBits({member}) != 0")
                    }
                    Kind::Number(_) => format!("{member} != 0"),
                    Kind::Octets => format!("encoder.there({member}).length != 0"),
                    _ => format!("!encoder.there({member}).isEmpty()"),
                };
                code.open(format!("if ({is_there}) {{"));
                one(&member, code);
                code.close("}");
            }
            _ => one(&member, code),
        }
    }

    fn merge(&self, id: TypeId, fields: &[Tagged], code: &mut SourceWriter) {
        let member = |tagged: &Tagged| format!("this.{}", self.names.member(id, tagged.place));
        // Lists of numbers grow beside the array that they become.
        for tagged in fields {
            if let (true, Kind::Number(_)) = (tagged.is_list(), tagged.kind) {
                let (kind, at, member) = (self.kind(tagged.field), tagged.place, member(tagged));
                code.line(format!(
                    "{kind} list{at} = {member};\nint count{at} = list{at}.length;\n\
                     decoder.again(count{at});"
                ));
            }
            if tagged.is_required {
                code.line(format!("boolean seen{} = false;", tagged.place));
            }
        }
        let open = "for (int key = decoder.key(); key != 0; key = decoder.key()) {";
        code.open(open);
        code.open("switch (key) {");
        for tagged in fields {
            code.open(format!("case {}: {{", tagged.key() as i32));
            for other in &tagged.others {
                code.line(format!("this.{} = null;", self.names.member(id, *other)));
            }
            self.take(tagged, &member(tagged), code);
            if tagged.is_required {
                code.line(format!("seen{} = true;", tagged.place));
            }
            code.line("break;");
            code.close("}");
            if let (true, Kind::Number(number)) = (tagged.is_list(), tagged.kind) {
                code.open(format!("case {}: {{", tagged.packed_key() as i32));
                packed(number, tagged.place, code);
                code.line("break;");
                code.close("}");
            }
        }
        code.line("default:\n    decoder.skip(key);");
        code.close("}");
        code.close("}");
        for tagged in fields {
            let at = tagged.place;
            if let (true, Kind::Number(_)) = (tagged.is_list(), tagged.kind) {
                let whole = format!("count{at} == list{at}.length ? list{at}");
                code.line(format!(
                    "{} = {whole} : Arrays.copyOf(list{at}, count{at});",
                    member(tagged)
                ));
            }
        }
        let required: Vec<String> = fields
            .iter()
            .filter(|tagged| tagged.is_required)
            .map(|tagged| format!("!seen{}", tagged.place))
            .collect();
        if !required.is_empty() {
            code.open(format!("if ({}) {{", required.join(" || ")));
            code.line("throw new WireException(WireException.Problem.MISSING);");
            code.close("}");
        }
    }

    fn take(&self, tagged: &Tagged, member: &str, code: &mut SourceWriter) {
        let value = match tagged.kind {
            Kind::Number(number) => {
                let value = format!("decoder.{}()", way(number));
                let at = tagged.place;
                return match tagged.is_list() {
                    true => {
                        code.line(format!("list{at} = Decoder.room(list{at}, count{at}, 1);"));
                        code.line(format!("list{at}[count{at}++] = {};", narrowed(number, &value)));
                    }
                    false => code.line(format!("{member} = {value};")),
                };
            }
            Kind::Text => "decoder.text()",
            Kind::Octets => "decoder.octets()",
            Kind::Record(inner) => {
                let name = self.names.of(inner);
                code.line("int end = decoder.enter();");
                match tagged.field.cardinality {
                    Cardinality::List { .. } => {
                        code.line(format!("{name} one = new {name}();"));
                        code.line(format!("one.merge(decoder);\n{member}.add(one);"));
                    }
                    _ => {
                        code.open(format!("if ({member} == null) {{"));
                        code.line(format!("{member} = new {name}();"));
                        code.close("}");
                        code.line(format!("{member}.merge(decoder);"));
                    }
                }
                return code.line("decoder.leave(end);");
            }
        };
        code.line(match tagged.is_list() {
            true => format!("{member}.add({value});"),
            false => format!("{member} = {value};"),
        });
    }
}

/// Reads packed numbers into the list of a field.
fn packed(number: Number, at: usize, code: &mut SourceWriter) {
    code.line("int end = decoder.open();");
    match size(number) {
        Some(size) => {
            code.line(format!("int more = decoder.count({size});"));
            code.line(format!("list{at} = Decoder.room(list{at}, count{at}, more);"));
            code.line(format!("decoder.all(list{at}, count{at}, more);\ncount{at} += more;"));
        }
        None => code.block("while (decoder.more()) {", "}", |code| {
            let value = narrowed(number, &format!("decoder.{}()", way(number)));
            code.line(format!("list{at} = Decoder.room(list{at}, count{at}, 1);"));
            code.line(format!("list{at}[count{at}++] = {value};"));
        }),
    }
    code.line("decoder.close(end);");
}
