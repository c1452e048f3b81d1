//! How a holder in Python is put on Protobuf's wire and read from it.

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Cardinality, Record, TypeId};

use super::module::Module;
use crate::tagged::{self, ProtobufNumber, TaggedField, ValueKind};

/// Most fields that are told apart one by one.
const MOST_IN_CHAIN: usize = 32;

/// What the fixed part calls a way to write numbers.
fn number_encoding(number: ProtobufNumber) -> &'static str {
    match number {
        ProtobufNumber::Enum(_) => "int32",
        other => other.name(),
    }
}

/// What a decoder calls it: not like types of Python.
fn read(number: ProtobufNumber) -> &'static str {
    match number {
        ProtobufNumber::Bool => "flag",
        ProtobufNumber::Float => "float4",
        ProtobufNumber::Double => "float8",
        other => number_encoding(other),
    }
}

/// Whether it always takes as many bytes.
fn is_fixed(number: ProtobufNumber) -> bool {
    use ProtobufNumber::{Double, Fixed32, Fixed64, Float, Sfixed32, Sfixed64};
    matches!(number, Double | Fixed32 | Fixed64 | Float | Sfixed32 | Sfixed64)
}

/// A key as octets.
fn key(mut key: u32) -> String {
    let mut text = String::from("b\"");
    while key > 0x7f {
        text += &format!("\\x{:02x}", key & 0x7f | 0x80);
        key >>= 7;
    }
    text + &format!("\\x{key:02x}\"")
}

impl Module<'_> {
    /// The functions that write and read a record.
    pub(super) fn tagged(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let fields = tagged::fields(self.schema, record).unwrap_or_default();
        let name = self.names.type_name(id);
        code.line("\n");
        code.open(format!("def _put_protobuf_{name}(m: {name}, out: _Parts, depth: int) -> None:"));
        if fields.is_empty() {
            code.line("pass");
        }
        fields.iter().for_each(|field| self.put(id, field, code));
        code.outdent();
        for (at, members) in tagged::unions(record).iter().enumerate() {
            code.line("\n");
            code.open(format!("def _clear_protobuf_{name}_{at}(m: {name}) -> None:"));
            for place in members {
                code.line(format!("m.{} = None", self.names.member(id, *place)));
            }
            code.outdent();
        }
        code.line("\n");
        code.open(format!("def _merge_protobuf_{name}(r: _Decoder, m: {name}) -> None:"));
        self.merge(id, &fields, code);
        code.outdent();
    }

    fn put(&self, id: TypeId, tagged: &TaggedField, code: &mut SourceWriter) {
        let member = format!("m.{}", self.names.member(id, tagged.place));
        let (at, own) = (tagged.place, key(tagged.key()));
        let one = |value: &str, code: &mut SourceWriter| match tagged.kind {
            ValueKind::Number(number) => {
                code.line(format!("out += ({own}, _{}({value}))", number_encoding(number)));
            }
            ValueKind::Text => code.line(format!("_nested(out, {own}, {value}.encode())")),
            ValueKind::Octets => code.line(format!("_nested(out, {own}, {value})")),
            ValueKind::Record(inner) => {
                code.line(format!("p{at}: _Parts = []"));
                let name = self.names.type_name(inner);
                code.line(format!("_put_protobuf_{name}({value}, p{at}, _deeper(depth))"));
                code.line(match tagged.is_delimited() {
                    true => format!("out += ({own}, *p{at}, {})", key(tagged.key() + 1)),
                    false => format!("_nested(out, {own}, p{at})"),
                });
            }
        };
        match (tagged.field.cardinality, tagged.kind) {
            (Cardinality::List { .. }, ValueKind::Number(number)) if tagged.is_packed() => {
                let block = match (is_fixed(number), self.code(tagged.field)) {
                    (true, Some((kind, size))) => format!("_block({member}, \"{kind}\", {size})"),
                    _ => format!(
                        "b\"\".join([_{}(one) for one in {member}])",
                        number_encoding(number)
                    ),
                };
                code.open(format!("if len({member}):"));
                code.line(format!("_nested(out, {}, {block})", key(tagged.packed_key())));
                code.outdent();
            }
            (Cardinality::List { .. }, _) => {
                code.open(match tagged.kind {
                    ValueKind::Number(ProtobufNumber::Float) => {
                        format!("for e{at} in _singles({member}):")
                    }
                    _ => format!("for e{at} in {member}:"),
                });
                one(&format!("e{at}"), code);
                code.outdent();
            }
            (Cardinality::Optional, _) => {
                code.open(format!("if {member} is not None:"));
                one(&member, code);
                code.outdent();
            }
            // Below zero there is one that is equal to it.
            (_, ValueKind::Number(ProtobufNumber::Float | ProtobufNumber::Double))
                if tagged.is_implicit =>
            {
                let ValueKind::Number(number) = tagged.kind else { unreachable!("a number") };
                code.line(format!("f{at} = _{}({member})", number_encoding(number)));
                code.open(format!("if any(f{at}):"));
                code.line(format!("out += ({own}, f{at})"));
                code.outdent();
            }
            _ if tagged.is_implicit => {
                code.open(match tagged.kind {
                    ValueKind::Number(_) => format!("if {member}:"),
                    _ => format!("if len({member}):"),
                });
                one(&member, code);
                code.outdent();
            }
            _ => one(&member, code),
        }
    }

    fn merge(&self, id: TypeId, fields: &[TaggedField], code: &mut SourceWriter) {
        let member = |tagged: &TaggedField| format!("m.{}", self.names.member(id, tagged.place));
        for tagged in fields.iter().filter(|tagged| tagged.is_list()) {
            let at = tagged.place;
            code.line(match (tagged.kind, self.code(tagged.field)) {
                (ValueKind::Number(_), Some((kind, _))) => {
                    format!("v{at}: array[Any] = array(\"{kind}\")")
                }
                (ValueKind::Number(_), None) => format!("v{at}: list[bool] = []"),
                (ValueKind::Text, _) => format!("v{at}: list[str] = []"),
                (ValueKind::Octets, _) => format!("v{at}: list[bytes] = []"),
                (ValueKind::Record(inner), _) => {
                    format!("v{at}: list[{}] = []", self.names.type_name(inner))
                }
            });
        }
        let required: Vec<usize> =
            fields.iter().filter(|field| field.is_required).map(|field| field.place).collect();
        if !required.is_empty() {
            code.line("seen = set()");
        }
        code.open("while key := r.key():");
        self.arms(id, fields, code);
        code.outdent();
        for tagged in fields.iter().filter(|tagged| tagged.is_list()) {
            let (at, member) = (tagged.place, member(tagged));
            code.open(format!("if v{at}:"));
            code.line(format!("{member} = r.added({member}, v{at})"));
            code.outdent();
        }
        if !required.is_empty() {
            code.open(format!("if len(seen) != {}:", required.len()));
            code.line("raise WireError(\"a required field is missing\")");
            code.outdent();
        }
    }

    /// What is done by the key of a field. Of many fields half are parted from half, and so
    /// on: Python compiles no longer chains.
    fn arms(&self, id: TypeId, fields: &[TaggedField], code: &mut SourceWriter) {
        if fields.len() > MOST_IN_CHAIN {
            let (first, second) = fields.split_at(fields.len() / 2);
            code.open(format!("if key < {}:", second[0].field.id << 3));
            self.arms(id, first, code);
            code.outdent();
            code.open("else:");
            self.arms(id, second, code);
            return code.outdent();
        }
        let name = self.names.type_name(id);
        let mut word = "if";
        for tagged in fields {
            let member = format!("m.{}", self.names.member(id, tagged.place));
            code.open(format!("{word} key == {}:", tagged.key()));
            word = "elif";
            // What is there already is the only one.
            if let Some(union) = tagged.union {
                code.open(format!("if {member} is None:"));
                code.line(format!("_clear_protobuf_{name}_{union}(m)"));
                code.outdent();
            }
            self.take(tagged, &member, code);
            if tagged.is_required {
                code.line(format!("seen.add({})", tagged.place));
            }
            code.outdent();
            if let (true, ValueKind::Number(number)) = (tagged.is_list(), tagged.kind) {
                code.open(format!("elif key == {}:", tagged.packed_key()));
                let at = tagged.place;
                match (is_fixed(number), self.code(tagged.field)) {
                    (true, Some((kind, size))) => {
                        code.line(format!("v{at}.extend(r.packed(\"{kind}\", {size}))"));
                    }
                    _ => {
                        code.line("end = r.open()");
                        code.open("while r.at < r.end:");
                        code.line(format!("v{at}.append(r.{}())", read(number)));
                        code.outdent();
                        code.line("r.end = end");
                    }
                }
                code.outdent();
            }
        }
        match fields.is_empty() {
            true => code.line("r.skip(key)"),
            false => {
                code.open("else:");
                code.line("r.skip(key)");
                code.outdent();
            }
        }
    }

    fn take(&self, tagged: &TaggedField, member: &str, code: &mut SourceWriter) {
        let at = tagged.place;
        let value = match tagged.kind {
            ValueKind::Number(number) => format!("r.{}()", read(number)),
            ValueKind::Text => "r.text()".into(),
            ValueKind::Octets => "r.octets()".into(),
            ValueKind::Record(inner) => {
                let name = self.names.type_name(inner);
                let into = match tagged.field.cardinality {
                    Cardinality::List { .. } => {
                        code.line(format!("e{at} = {name}()"));
                        format!("e{at}")
                    }
                    Cardinality::Optional => {
                        code.open(format!("if {member} is None:"));
                        code.line(format!("{member} = {name}()"));
                        code.outdent();
                        member.to_owned()
                    }
                    _ => member.to_owned(),
                };
                code.line(match tagged.is_delimited() {
                    true => "outer = r.enter_group(key)",
                    false => "outer = r.enter()",
                });
                code.line(format!("_merge_protobuf_{name}(r, {into})"));
                code.line("r.leave(outer)");
                if tagged.is_list() {
                    code.line(format!("v{at}.append(e{at})"));
                }
                return;
            }
        };
        code.line(match (tagged.is_list(), tagged.kind) {
            // As an element of an array a float32 that is no number would change.
            (true, ValueKind::Number(ProtobufNumber::Float)) => {
                format!("v{at}.extend(_numbers(r.block(4), \"f\", False))")
            }
            (true, _) => format!("v{at}.append({value})"),
            (false, _) => format!("{member} = {value}"),
        });
    }
}

/// The methods of a holder.
pub fn methods(name: &str, octets: &str, code: &mut SourceWriter) {
    code.line("");
    code.open("def serialize_protobuf(self) -> bytes:");
    code.line(
        "\"\"\"The message as Protobuf writes it, fields in the order of their numbers.\"\"\"",
    );
    code.line("out: _Parts = []");
    code.open("try:");
    code.line(format!("_put_protobuf_{name}(self, out, 0)"));
    code.outdent();
    let errors = "struct.error, TypeError, AttributeError, OverflowError, UnicodeError";
    code.open(format!("except ({errors}) as error:"));
    code.line(format!("raise WireError(f\"{name}: {{error}}\") from error"));
    code.outdent();
    code.line("return _joined(out)");
    code.outdent();
    code.line("\n@classmethod");
    code.open(format!("def deserialize_protobuf(cls, data: {octets}) -> {name}:"));
    code.line(
        "\"\"\"A message as Protobuf writes it; fields that are not known are left out.\"\"\"",
    );
    code.line(format!("message = {name}()"));
    code.open("try:");
    code.line(format!("_merge_protobuf_{name}(_Decoder(data), message)"));
    code.outdent();
    code.open("except UnicodeError as error:");
    code.line(format!("raise WireError(f\"{name}: {{error}}\") from error"));
    code.outdent();
    code.line("return message");
    code.outdent();
}
