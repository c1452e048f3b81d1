//! How a holder in Java is put on Protobuf's wire and read from it.

use std::collections::HashMap;

use anyhow::Result;
use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Element, Field, Record, TypeId};

use super::method_parts::{Method, MOST};
use super::Module;
use crate::tagged::{self, ProtobufNumber, TaggedField, ValueKind};

/// What the fixed part calls a way to write numbers.
fn number_encoding(number: ProtobufNumber) -> &'static str {
    match number {
        ProtobufNumber::Enum(_) => "int32",
        ProtobufNumber::Float => "f32",
        ProtobufNumber::Double => "f64",
        other => other.name(),
    }
}

/// A number in a list as its way wants it: unsigned ones are held by their bits.
fn widened(number: ProtobufNumber, value: &str) -> String {
    match number {
        ProtobufNumber::Uint32 | ProtobufNumber::Fixed32 => {
            format!("Integer.toUnsignedLong({value})")
        }
        _ => value.to_owned(),
    }
}

/// A number as it is held in a list.
fn narrowed(number: ProtobufNumber, value: &str) -> String {
    match number {
        ProtobufNumber::Uint32 | ProtobufNumber::Fixed32 => format!("(int) {value}"),
        _ => value.to_owned(),
    }
}

/// The bytes of a number that always takes as many.
fn size(number: ProtobufNumber) -> Option<usize> {
    match number {
        ProtobufNumber::Fixed32 | ProtobufNumber::Sfixed32 | ProtobufNumber::Float => Some(4),
        ProtobufNumber::Fixed64 | ProtobufNumber::Sfixed64 | ProtobufNumber::Double => Some(8),
        _ => None,
    }
}

/// Where a field is while its record is read: a list of numbers, how many these are, and
/// whether the field was there.
struct FieldState {
    list: String,
    count: String,
    seen: String,
}

/// Whether it is a list of numbers.
fn is_array(tagged: &TaggedField) -> bool {
    tagged.is_list() && matches!(tagged.kind, ValueKind::Number(_))
}

impl Module<'_> {
    /// The methods of `Tagged`.
    pub(super) fn tagged(
        &self,
        id: TypeId,
        record: &Record,
        code: &mut SourceWriter,
    ) -> Result<()> {
        let mut fields = tagged::fields(self.schema, record).unwrap_or_default();
        let clear = |(place, field): (usize, &Field)| {
            let member = format!("this.{}", self.names.member(id, place));
            let keeps = field.cardinality != Cardinality::Optional;
            let initial = self.initial(field)?;
            Ok(match (field.cardinality, field.element, initial) {
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
            })
        };
        let clears = record.fields.iter().enumerate().map(clear).collect::<Result<Vec<_>>>()?;
        let line = |line: &String, code: &mut SourceWriter| code.line(line);
        if fields.len() <= MOST {
            code.line("@Override");
            let open = "public void merge(Decoder decoder) throws WireException {";
            code.block(open, "}\n", |code| self.merge(id, &fields, code));
        } else {
            self.merge_many(id, &fields, code);
        }
        for (at, members) in tagged::unions(record).iter().enumerate() {
            let member = |place: &usize| format!("this.{} = null;", self.names.member(id, *place));
            let members: Vec<String> = members.iter().map(member).collect();
            let name = &format!("clearUnion{at}");
            let method = Method { access: "private", name, parameters: ("", ""), fails: false };
            method.write(&members, code, line);
        }
        code.line("@Override");
        let method = |name, parameters, fails| Method { access: "public", name, parameters, fails };
        method("clear", ("", ""), false).write(&clears, code, line);
        fields.reverse();
        code.line("@Override");
        let put = method("put", ("Encoder encoder", "encoder"), true);
        put.write(&fields, code, |field, code| self.put(id, field, code));
        Ok(())
    }

    fn put(&self, id: TypeId, tagged: &TaggedField, code: &mut SourceWriter) {
        let member = format!("this.{}", self.names.member(id, tagged.place));
        // Keys are held by their bits.
        let key = tagged.key() as i32;
        let one = |value: &str, code: &mut SourceWriter| match tagged.kind {
            ValueKind::Number(number) => {
                code.line(format!("encoder.{}({key}, {value});", number_encoding(number)))
            }
            ValueKind::Text => code.line(format!("encoder.text({key}, {value});")),
            ValueKind::Octets => code.line(format!("encoder.octets({key}, {value});")),
            ValueKind::Record(_) if tagged.is_delimited() => {
                code.line(format!("encoder.mark({});", key + 1));
                code.line(format!("encoder.fields({value});"));
                code.line(format!("encoder.mark({key});"));
            }
            ValueKind::Record(_) => code.block("{", "}", |code| {
                code.line("long before = encoder.size();");
                code.line(format!("encoder.fields({value});"));
                code.line(format!("encoder.behind({key}, before);"));
            }),
        };
        match (tagged.field.cardinality, tagged.kind) {
            (Cardinality::List { .. }, ValueKind::Number(number)) => {
                code.open(format!("if (encoder.there({member}).length != 0) {{"));
                let place = widened(number, &format!("{member}[place]"));
                let each = format!("for (int place = {member}.length - 1; place >= 0; place--) {{");
                if tagged.is_packed() {
                    code.line("long before = encoder.size();");
                    match size(number) {
                        Some(_) => code.line(format!("encoder.all({member});")),
                        None => code.block(each, "}", |code| {
                            code.line(format!("encoder.{}({place});", number_encoding(number)));
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
                    ValueKind::Number(ProtobufNumber::Bool) => member.clone(),
                    // Below zero there is one that is equal to it.
                    ValueKind::Number(ProtobufNumber::Float) => {
                        format!("Float.floatToRawIntBits({member}) != 0")
                    }
                    ValueKind::Number(ProtobufNumber::Double) => {
                        format!("Double.doubleToRawLongBits({member}) != 0")
                    }
                    ValueKind::Number(_) => format!("{member} != 0"),
                    ValueKind::Octets => format!("encoder.there({member}).length != 0"),
                    _ => format!("!encoder.there({member}).isEmpty()"),
                };
                code.open(format!("if ({is_there}) {{"));
                one(&member, code);
                code.close("}");
            }
            _ => one(&member, code),
        }
    }

    fn merge(&self, id: TypeId, fields: &[TaggedField], code: &mut SourceWriter) {
        // Lists of numbers grow beside the array that they become.
        let held = |tagged: &TaggedField| FieldState {
            list: format!("list{}", tagged.place),
            count: format!("count{}", tagged.place),
            seen: format!("seen{}", tagged.place),
        };
        for tagged in fields {
            if is_array(tagged) {
                let (FieldState { list, count, .. }, kind) =
                    (held(tagged), self.kind(tagged.field));
                code.line(format!(
                    "{kind} {list} = {};\nint {count} = {list}.length;\ndecoder.again({count});",
                    self.member(id, tagged)
                ));
            }
            if tagged.is_required {
                code.line(format!("boolean {} = false;", held(tagged).seen));
            }
        }
        let open = "for (int key = decoder.key(); key != 0; key = decoder.key()) {";
        code.block(open, "}", |code| self.arms(id, fields, held, code));
        for tagged in fields.iter().filter(|tagged| is_array(tagged)) {
            let FieldState { list, count, .. } = held(tagged);
            let whole = format!("{count} == {list}.length ? {list}");
            let member = self.member(id, tagged);
            code.line(format!("{member} = {whole} : Arrays.copyOf({list}, {count});"));
        }
        let required = fields.iter().filter(|tagged| tagged.is_required);
        let required: Vec<String> = required.map(|one| format!("!{}", held(one).seen)).collect();
        if !required.is_empty() {
            code.open(format!("if ({}) {{", required.join(" || ")));
            code.line("throw new WireException(WireException.Problem.MISSING);");
            code.close("}");
        }
    }

    /// The same with a method for each part of the fields. Their lists have room behind
    /// their numbers until all are read.
    fn merge_many(&self, id: TypeId, fields: &[TaggedField], code: &mut SourceWriter) {
        let arrays: Vec<&TaggedField> = fields.iter().filter(|tagged| is_array(tagged)).collect();
        let mut places = HashMap::new();
        arrays.iter().enumerate().for_each(|(at, tagged)| _ = places.insert(tagged.place, at));
        let required = fields.iter().filter(|tagged| tagged.is_required);
        places.extend(required.enumerate().map(|(at, tagged)| (tagged.place, at)));
        let held = |tagged: &TaggedField| {
            let at = places.get(&tagged.place).copied().unwrap_or_default();
            FieldState {
                list: self.member(id, tagged),
                count: format!("counts[{at}]"),
                seen: format!("seen[{at}]"),
            }
        };
        let required = fields.iter().filter(|tagged| tagged.is_required).count();
        code.line("@Override");
        code.open("public void merge(Decoder decoder) throws WireException {");
        code.line(format!("int[] counts = new int[{}];", arrays.len()));
        code.line(format!("boolean[] seen = new boolean[{required}];"));
        code.line("mergeBegin(decoder, counts);");
        code.open("for (int key = decoder.key(); key != 0; key = decoder.key()) {");
        let chunks = fields.chunks(MOST).enumerate();
        for (part, chunk) in chunks.clone() {
            let last = chunk[chunk.len() - 1].field.id;
            let word = if part == 0 { "" } else { "} else " };
            let open = format!("{word}if (key >>> 3 <= {last}) {{");
            if part == 0 {
                code.open(open)
            } else {
                code.next(open)
            }
            code.line(format!("mergePart{part}(decoder, key, counts, seen);"));
        }
        code.next("} else {");
        code.line("decoder.skip(key);");
        code.close("}");
        code.close("}");
        code.line("mergeEnd(counts);");
        code.open("for (boolean one : seen) {");
        code.open("if (!one) {");
        code.line("throw new WireException(WireException.Problem.MISSING);");
        code.close("}");
        code.close("}");
        code.close("}\n");
        for (part, chunk) in chunks {
            let parameters = "Decoder decoder, int key, int[] counts, boolean[] seen";
            code.line(format!("private void mergePart{part}({parameters})"));
            code.block("        throws WireException {", "}\n", |code| {
                self.arms(id, chunk, held, code);
            });
        }
        let begin = |tagged: &&TaggedField, code: &mut SourceWriter| {
            let FieldState { list, count, .. } = held(tagged);
            code.line(format!("{count} = {list}.length;\ndecoder.again({count});"));
        };
        let end = |tagged: &&TaggedField, code: &mut SourceWriter| {
            let FieldState { list, count, .. } = held(tagged);
            code.open(format!("if ({count} != {list}.length) {{"));
            code.line(format!("{list} = Arrays.copyOf({list}, {count});"));
            code.close("}");
        };
        let method =
            |name, parameters, fails| Method { access: "private", name, parameters, fails };
        let parameters = ("Decoder decoder, int[] counts", "decoder, counts");
        method("mergeBegin", parameters, true).write(&arrays, code, begin);
        method("mergeEnd", ("int[] counts", "counts"), false).write(&arrays, code, end);
    }

    /// What is done by the key of a field.
    fn arms(
        &self,
        id: TypeId,
        fields: &[TaggedField],
        held: impl Fn(&TaggedField) -> FieldState,
        code: &mut SourceWriter,
    ) {
        code.open("switch (key) {");
        for tagged in fields {
            let member = self.member(id, tagged);
            code.open(format!("case {}: {{", tagged.key() as i32));
            // What is there already is the only one.
            if let Some(union) = tagged.union {
                code.open(format!("if ({member} == null) {{"));
                code.line(format!("clearUnion{union}();"));
                code.close("}");
            }
            self.take(tagged, &member, &held(tagged), code);
            if tagged.is_required {
                code.line(format!("{} = true;", held(tagged).seen));
            }
            code.line("break;");
            code.close("}");
            if let (true, ValueKind::Number(number)) = (tagged.is_list(), tagged.kind) {
                code.open(format!("case {}: {{", tagged.packed_key() as i32));
                packed(number, &held(tagged), code);
                code.line("break;");
                code.close("}");
            }
        }
        code.line("default:\n    decoder.skip(key);");
        code.close("}");
    }

    fn member(&self, id: TypeId, tagged: &TaggedField) -> String {
        format!("this.{}", self.names.member(id, tagged.place))
    }

    fn take(&self, tagged: &TaggedField, member: &str, held: &FieldState, code: &mut SourceWriter) {
        let value = match tagged.kind {
            ValueKind::Number(number) => {
                let value = format!("decoder.{}()", number_encoding(number));
                let FieldState { list, count, .. } = held;
                return match tagged.is_list() {
                    true => {
                        code.line(format!("{list} = Decoder.room({list}, {count}, 1);"));
                        code.line(format!("{list}[{count}++] = {};", narrowed(number, &value)));
                    }
                    false => code.line(format!("{member} = {value};")),
                };
            }
            ValueKind::Text => "decoder.text()",
            ValueKind::Octets => "decoder.octets()",
            ValueKind::Record(inner) => {
                let name = self.names.type_name(inner);
                code.line(match tagged.is_delimited() {
                    true => "long end = decoder.enter(key);",
                    false => "long end = decoder.enter();",
                });
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
fn packed(number: ProtobufNumber, held: &FieldState, code: &mut SourceWriter) {
    let FieldState { list, count, .. } = held;
    code.line("int end = decoder.open();");
    match size(number) {
        Some(size) => {
            code.line(format!("int more = decoder.count({size});"));
            code.line(format!("{list} = Decoder.room({list}, {count}, more);"));
            code.line(format!("decoder.all({list}, {count}, more);\n{count} += more;"));
        }
        None => code.block("while (decoder.more()) {", "}", |code| {
            let value = narrowed(number, &format!("decoder.{}()", number_encoding(number)));
            code.line(format!("{list} = Decoder.room({list}, {count}, 1);"));
            code.line(format!("{list}[{count}++] = {value};"));
        }),
    }
    code.line("decoder.close(end);");
}
