//! Python 3.9 and newer: a module of slotted dataclasses, with what reads and
//! writes them on each wire.

mod expression;
mod known_offset;
mod module;
mod sort_key;
mod tagged;
mod wire;

use std::fmt::Write;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter};
use wiregauge_schema::literal::{self, Literal};
use wiregauge_schema::{Cardinality, Element, Enum, Field, Record, Scalar, TypeDef, TypeId};

use self::expression::value_literal;
use self::module::{code_of, numpy_kind, Module};
use crate::definition::Package;
use crate::doc_comment;
use crate::identity::{self, TypeIdentity};
use crate::layout;
use crate::names::{Names, Rules};
use crate::wire::Wire;

const RULES: Rules = Rules {
    keywords: "False None True and as assert async await break class continue def del elif else \
               except finally for from global if import in is lambda nonlocal not or pass raise \
               return try while with yield",
    macros: "",
    members: "self serialize_cdr deserialize_cdr serialize_xcdr2 deserialize_xcdr2 serialize_ros_msg deserialize_ros_msg \
              serialize_someip deserialize_someip serialize_protobuf deserialize_protobuf \
              ROS1_TYPE ROS1_MD5 ROS1_DEFINITION ROS2_TYPE ROS2_HASH ROS2_DESCRIPTION \
              Any ClassVar Sequence bool bytearray bytes classmethod float int list memoryview \
              object str struct tuple",
    types: "Any AttributeError Callable ClassVar Generic IndexError IntEnum Iterator \
            NotImplemented OverflowError Protocol Records Sequence TypeError TypeVar \
            UnicodeError Union ValueError WireError",
    // What an integer has by itself, too.
    values: "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag \
             is_integer mro name numerator real to_bytes value",
    // A parameter of the name would hide it where it is called.
    members_unlike_types: true,
    types_are_files: false,
};

/// The modules of Python's standard library, and those that this one imports: a file of the
/// name would be taken for them.
const MODULES: &str = include_str!("python/modules.txt");

/// What octets may be given as.
const OCTETS: &str = "bytes | bytearray | memoryview";

/// What the module calls types and members.
pub fn names(package: &Package) -> Names {
    Names::new(&package.schema, &RULES, &package.constant_names())
}

/// The module.
pub fn emit(package: &Package, wires: &[Wire]) -> Result<Vec<File>> {
    let schema = &package.schema;
    let module = Module { package, schema, names: names(package) };
    let mut code = SourceWriter::indented(4);
    for (id, def) in schema.types.iter().enumerate() {
        code.line("\n");
        match def {
            TypeDef::Enum(def) => module.enumeration(id, def, &mut code),
            TypeDef::Record(record) => module.holder(id, record, wires, &mut code)?,
        }
    }
    for wire in wires {
        for (id, record) in schema.records() {
            match wire {
                Wire::Protobuf => module.tagged(id, record, &mut code),
                _ => module.functions(*wire, id, record, &mut code),
            }
        }
    }
    let body = code.finish();
    let mut code = SourceWriter::indented(4);
    module.head(wires, &mut code);
    let text = code.finish() + &body;
    let name = RULES.module(&package.name, MODULES);
    Ok(vec![File::new(format!("{name}.py"), text)])
}

impl Module<'_> {
    fn head(&self, wires: &[Wire], code: &mut SourceWriter) {
        docstring(&format!("{}\n", self.package.header_lines().join("\n")), code);
        code.line("");
        let has_enums = self.schema.enums().next().is_some();
        let has_blocks = self.schema.records().any(|(id, _)| self.is_listed_block(wires, id));
        code.line("from __future__ import annotations\n");
        if has_blocks {
            code.line("import importlib");
        }
        code.line("import struct\nimport sys\nfrom array import array");
        let iterators = if has_blocks { "Iterator, Sequence" } else { "Sequence" };
        code.line(format!("from collections.abc import {iterators}"));
        code.line("from dataclasses import dataclass");
        if has_enums {
            code.line("from enum import IntEnum");
        }
        let mut typing = vec!["Any", "ClassVar"];
        if has_blocks {
            typing.extend(["Protocol", "TypeVar", "cast", "overload"]);
        } else {
            typing.push("cast");
        }
        code.line(format!("from typing import {}", typing.join(", ")));
        code.line("\n__all__ = [");
        let fixed: &[&str] = if has_blocks { &["Records", "WireError"] } else { &["WireError"] };
        let types = (0..self.schema.types.len()).map(|id| self.names.type_name(id));
        let mut all: Vec<&str> = types.chain(fixed.iter().copied()).collect();
        all.sort_by_key(|name| sort_key::export_key(name));
        all.iter().for_each(|name| code.line(format!("    \"{name}\",")));
        code.line("]\n");
        if has_blocks {
            code.line("_T = TypeVar(\"_T\", bound=\"_Plain\")\n");
        }
        code.line(format!("\n{}", include_str!("python/fixed.py").trim_end()));
        if has_blocks {
            code.line(format!("\n\n{}", include_str!("python/records.py").trim_end()));
        }
        if wires.iter().any(|wire| wire.is_dds()) {
            code.line(format!("\n\n{}", include_str!("python/cdr.py").trim_end()));
        }
        if wires.contains(&Wire::Xcdr2) {
            code.line(format!("\n\n{}", include_str!("python/xcdr2.py").trim_end()));
        }
        if wires.contains(&Wire::SomeIp) {
            code.line(format!("\n\n{}", include_str!("python/someip.py").trim_end()));
        }
        if wires.contains(&Wire::Protobuf) {
            code.line(format!("\n\n{}", include_str!("python/protobuf.py").trim_end()));
        }
    }

    fn enumeration(&self, id: TypeId, def: &Enum, code: &mut SourceWriter) {
        code.open(format!("class {}(IntEnum):", self.names.type_name(id)));
        docstring(
            &docstring_text(&def.name.original, self.package.comment(&def.name.original)),
            code,
        );
        code.line("");
        for (place, value) in def.values.iter().enumerate() {
            let name = self.names.member(id, place);
            let comment = self.package.member_comment(&def.name.original, &value.name.original);
            remark(name, &value.name.original, comment, code);
            code.line(format!("{name} = {}", value.number));
        }
        code.outdent();
    }

    fn holder(
        &self,
        id: TypeId,
        record: &Record,
        wires: &[Wire],
        code: &mut SourceWriter,
    ) -> Result<()> {
        let (name, original) = (self.names.type_name(id), &record.name.original);
        code.line("@dataclass(init=False, eq=False)");
        code.open(format!("class {name}:"));
        docstring(&docstring_text(original, self.package.comment(original)), code);
        let mut slots: Vec<&str> =
            (0..record.fields.len()).map(|place| self.names.member(id, place)).collect();
        slots.sort_by_key(|name| sort_key::natural_key(name));
        let end = if slots.len() == 1 { "," } else { "" };
        let slots: Vec<String> = slots.iter().map(|name| format!("\"{name}\"")).collect();
        code.line(format!("\n__slots__ = ({}{end})", slots.join(", ")));
        self.constants(id, record, code)?;
        self.identity(id, wires, code);
        if !record.fields.is_empty() {
            code.line("");
        }
        for (place, field) in record.fields.iter().enumerate() {
            let comment = self.package.member_comment(original, &field.name.original);
            let member = self.names.member(id, place);
            remark(member, &field.name.original, &self.with_enum(field, comment), code);
            code.line(format!("{member}: {}", self.hint(field)));
        }
        self.constructor(id, record, code)?;
        self.equality(id, record, code);
        if self.is_listed_block(wires, id) {
            self.block(id, record, code);
        }
        wires.iter().for_each(|wire| match wire {
            Wire::Protobuf => tagged::methods(name, OCTETS, code),
            _ => methods(name, *wire, code),
        });
        code.outdent();
        Ok(())
    }

    /// A field's comment, and the enum that names its numbers.
    fn with_enum(&self, field: &Field, comment: &str) -> String {
        let mut text = comment.to_owned();
        if let Element::Enum(inner) = field.element {
            text += &format!(
                "\nA value of {}, or one that it does not name.",
                self.names.type_name(inner)
            );
        }
        if let Some(union) = &field.union {
            text += &format!("\nAt most one member of '{union}' is set.");
        }
        if let (Cardinality::Optional, Some(default)) = (field.cardinality, &field.default) {
            text += &format!("\nStands for {default} where it is None.");
        }
        text.trim_start_matches('\n').to_owned()
    }

    fn constants(&self, id: TypeId, record: &Record, code: &mut SourceWriter) -> Result<()> {
        for (place, constant) in self.package.constants(record).iter().enumerate() {
            if place == 0 {
                code.line("");
            }
            let (_, value) = literal::constant(constant)?;
            let kind = match value {
                Literal::Bool(_) => "bool",
                Literal::Integer(_) => "int",
                Literal::Float(_) => "float",
                Literal::Text(_) | Literal::List(_) => "str",
            };
            let name = self.names.constant(id, place);
            remark(name, &constant.name, &constant.comment, code);
            code.line(format!("{name}: ClassVar[{kind}] = {}", value_literal(&value)));
        }
        Ok(())
    }

    /// What a type is called, and what it is recognized by.
    fn identity(&self, id: TypeId, wires: &[Wire], code: &mut SourceWriter) {
        let mut said = Vec::new();
        for (name, text) in identity::type_identities(self.package, id, wires) {
            said.push((
                match name {
                    TypeIdentity::Ros1Type => "ROS1_TYPE",
                    TypeIdentity::Ros1Md5 => "ROS1_MD5",
                    TypeIdentity::Ros1Definition => "ROS1_DEFINITION",
                    TypeIdentity::Ros2Type => "ROS2_TYPE",
                    TypeIdentity::Ros2Hash => "ROS2_HASH",
                    TypeIdentity::Ros2Description => "ROS2_DESCRIPTION",
                },
                text,
            ));
        }
        if !said.is_empty() {
            code.line("");
        }
        for (name, value) in said {
            code.line(format!("{name}: ClassVar[str] = {}", value_literal(&Literal::Text(value))));
        }
    }

    /// The type of a field for its users.
    fn hint(&self, field: &Field) -> String {
        let one = match field.element {
            Element::String => "str".into(),
            Element::Bytes => OCTETS.into(),
            Element::Record(id) => self.names.type_name(id).to_owned(),
            other => match self.schema.scalar(other).expect("a number") {
                Scalar::Bool => "bool".into(),
                scalar if scalar.is_float() => "float".into(),
                _ => "int".to_string(),
            },
        };
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => one,
            Cardinality::Optional => format!("{one} | None"),
            Cardinality::List { .. } | Cardinality::Array { .. } => format!("Sequence[{one}]"),
        }
    }

    fn constructor(&self, id: TypeId, record: &Record, code: &mut SourceWriter) -> Result<()> {
        if record.fields.is_empty() {
            code.line("");
            code.open("def __init__(self) -> None:");
            code.line("pass");
            code.outdent();
            return Ok(());
        }
        code.line("");
        code.open("def __init__(");
        code.line("self,");
        let mut body = Vec::new();
        for (place, field) in record.fields.iter().enumerate() {
            let member = self.names.member(id, place);
            let hint = self.hint(field);
            match self.initial(field)? {
                // A value that nobody can change is shared.
                InitialValue::Shared(value) => {
                    code.line(format!("{member}: {hint} = {value},"));
                    body.push(format!("self.{member} = {member}"));
                }
                InitialValue::Made(value) => {
                    code.line(format!("{member}: {hint} | None = None,"));
                    body.push(format!("self.{member} = {value} if {member} is None else {member}"));
                }
            }
        }
        code.outdent();
        code.open(") -> None:");
        body.iter().for_each(|line| code.line(line));
        code.outdent();
        Ok(())
    }

    fn initial(&self, field: &Field) -> Result<InitialValue> {
        let default = literal::default(self.schema, field)?;
        let empty = match field.element {
            Element::String => "\"\"".to_owned(),
            Element::Bytes => "b\"\"".to_owned(),
            Element::Record(id) => format!("{}()", self.names.type_name(id)),
            other => match self.schema.scalar(other).expect("a number") {
                Scalar::Bool => "False".into(),
                scalar if scalar.is_float() => "0.0".into(),
                _ => "0".to_string(),
            },
        };
        Ok(match (field.cardinality, default, self.code(field)) {
            (Cardinality::Optional, ..) => InitialValue::Shared("None".into()),
            (Cardinality::List { .. } | Cardinality::Array { .. }, Some(list), Some((code, _))) => {
                InitialValue::Made(format!("_array(\"{code}\", {})", value_literal(&list)))
            }
            (Cardinality::List { .. } | Cardinality::Array { .. }, Some(list), None) => {
                InitialValue::Made(value_literal(&list))
            }
            (Cardinality::List { .. }, None, Some((code, _))) => {
                InitialValue::Made(format!("_array(\"{code}\")"))
            }
            (Cardinality::List { .. }, None, None) => InitialValue::Made("[]".into()),
            (Cardinality::Array { len }, None, Some((code, size))) => {
                InitialValue::Made(format!("_array(\"{code}\", bytes({}))", size * len as usize))
            }
            (Cardinality::Array { len }, None, None) => {
                InitialValue::Made(format!("[{empty} for _ in _range({len})]"))
            }
            (_, Some(value), _) => InitialValue::Shared(value_literal(&value)),
            (_, None, _) if matches!(field.element, Element::Record(_)) => {
                InitialValue::Made(empty)
            }
            (_, None, _) => InitialValue::Shared(empty),
        })
    }

    fn equality(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        code.line("");
        code.open("def __eq__(self, other: object) -> bool:");
        code.open(format!("if not isinstance(other, {}):", self.names.type_name(id)));
        code.line("return NotImplemented");
        code.outdent();
        let tests = record.fields.iter().enumerate().map(|(place, field)| {
            let member = self.names.member(id, place);
            match field.cardinality {
                Cardinality::List { .. } | Cardinality::Array { .. } => {
                    format!("_equal(self.{member}, other.{member})")
                }
                _ => format!("self.{member} == other.{member}"),
            }
        });
        let tests: Vec<String> = tests.collect();
        match tests.as_slice() {
            [] => code.line("return True"),
            [only] => code.line(format!("return {only}")),
            [first, rest @ ..] => {
                code.line("return (");
                code.line(format!("    {first}"));
                rest.iter().for_each(|test| code.line(format!("    and {test}")));
                code.line(")");
            }
        }
        code.outdent();
        code.line("\n__hash__ = None  # type: ignore[assignment]");
    }

    /// Whether lists of the record, which there are, move as one block on one of the wires.
    fn is_listed_block(&self, wires: &[Wire], id: TypeId) -> bool {
        let is_block = |wire: &Wire| layout::is_block(self.schema, id, *wire);
        wires.iter().any(is_block) && self.is_listed(id)
    }

    /// Whether there are lists of the record.
    fn is_listed(&self, id: TypeId) -> bool {
        let is_list = |field: &Field| {
            field.element == Element::Record(id)
                && matches!(field.cardinality, Cardinality::List { .. })
        };
        self.schema.records().any(|(_, record)| record.fields.iter().any(is_list))
    }

    /// What `Records` needs: a record's numbers in order, and back.
    fn block(&self, id: TypeId, record: &Record, code: &mut SourceWriter) {
        let numbers = layout::numbers(self.schema, record).expect("a block");
        let codes: String = numbers.iter().map(|number| code_of(*number)).collect();
        let mut dtype = String::new();
        self.dtype(id, record, &mut dtype);
        code.line(format!("\n_BLOCK: ClassVar[struct.Struct] = struct.Struct(\"<{codes}\")"));
        code.line(format!("_DTYPE: ClassVar[list[Any]] = {dtype}"));
        code.line("");
        code.open("def _to_block(self) -> tuple[Any, ...]:");
        let mut values = Vec::new();
        self.spread(id, record, "self", &mut values);
        match values.as_slice() {
            [only] => code.line(format!("return ({only},)")),
            _ => code.line(format!("return ({})", values.join(", "))),
        }
        code.outdent();
        code.line("\n@classmethod");
        code.open(format!(
            "def _from_block(cls, t: tuple[Any, ...]) -> {}:",
            self.names.type_name(id)
        ));
        code.line(format!("return {}", self.construct_record(id, record, &mut 0)));
        code.outdent();
    }

    fn dtype(&self, id: TypeId, record: &Record, text: &mut String) {
        text.push('[');
        for (place, field) in record.fields.iter().enumerate() {
            let name = self.names.member(id, place);
            write!(text, "{}(\"{name}\", ", if place == 0 { "" } else { ", " }).expect("text");
            match field.element {
                Element::Record(inner) => {
                    self.dtype(inner, self.schema.record(inner), text);
                }
                other => {
                    let scalar = self.schema.scalar(other).expect("a number");
                    let kind = numpy_kind(scalar);
                    write!(text, "\"<{kind}{}\"", scalar.size()).expect("text");
                }
            }
            if let Cardinality::Array { len } = field.cardinality {
                write!(text, ", ({len},)").expect("text");
            }
            text.push(')');
        }
        text.push(']');
    }

    /// A plain record made of the values of a tuple `t`, from a place on.
    fn construct_record(&self, id: TypeId, record: &Record, next: &mut usize) -> String {
        let one = |field: &Field, next: &mut usize| match field.element {
            Element::Record(inner) => self.construct_record(inner, self.schema.record(inner), next),
            other => {
                let at = *next;
                *next += 1;
                match self.schema.scalar(other) {
                    Some(Scalar::Bool) => format!("_flag(t[{at}])"),
                    _ => format!("t[{at}]"),
                }
            }
        };
        let mut values = Vec::new();
        for field in &record.fields {
            values.push(match (field.cardinality, self.code(field)) {
                (Cardinality::Array { len }, Some((code, _))) => {
                    let start = *next;
                    *next += len as usize;
                    format!("_array_of(\"{code}\", t[{start}:{next}])")
                }
                (Cardinality::Array { len }, None) => {
                    let all: Vec<String> = (0..len).map(|_| one(field, next)).collect();
                    format!("[{}]", all.join(", "))
                }
                _ => one(field, next),
            });
        }
        format!("{}({})", self.names.type_name(id), values.join(", "))
    }
}

/// What a field is without a value given.
enum InitialValue {
    /// One value for all.
    Shared(String),
    /// Made anew for each.
    Made(String),
}

fn methods(name: &str, wire: Wire, code: &mut SourceWriter) {
    let (suffix, class) = (wire.name().replace('-', "_"), wire::class(wire));
    let header = if wire.is_dds() { ", *, header: bool = True" } else { "" };
    let after = if wire.is_dds() { ", header: bool = True" } else { "" };
    let before = if wire == Wire::Xcdr2 { "_XCDR2_HEADER" } else { "_CDR_HEADER" };
    let stripped = format!("_cdr_body(data, header, {before})");
    let title = match wire {
        Wire::RosMsg => "ROS MSG, as ROS 1 writes it",
        Wire::SomeIp => "SOME/IP by AUTOSAR's defaults",
        Wire::Xcdr2 => "XCDR version 2, with the header of DDS or without",
        _ => "CDR, as ROS 2 writes it, with the header of DDS or without",
    };
    let body = match wire {
        Wire::RosMsg | Wire::SomeIp => ("w.done()", "data", "r.done()"),
        _ => (
            "w.done()",
            stripped.as_str(),
            // DDS fills up to a multiple of four behind the header.
            "r.done(3 if header else 0)",
        ),
    };
    code.line("");
    code.open(format!("def serialize_{suffix}(self{header}) -> bytes:"));
    code.line(format!("\"\"\"The message in {title}.\"\"\""));
    code.line(format!("w = {class}Writer()"));
    if wire.is_dds() {
        code.open("if header:");
        code.line(format!("w.parts.append({before})"));
        code.outdent();
    }
    code.open("try:");
    code.line(format!("_write_{suffix}_{name}(self, w)"));
    code.outdent();
    code.open("except (struct.error, TypeError, OverflowError, UnicodeError) as error:");
    code.line(format!("raise WireError(f\"{name}: {{error}}\") from error"));
    code.outdent();
    code.line(format!("return {}", body.0));
    code.outdent();
    code.line("\n@classmethod");
    code.open(format!(
        "def deserialize_{suffix}(cls, data: {OCTETS}, *{after}, view: bool = False) -> {name}:"
    ));
    code.line(format!(
        "\"\"\"A message from {title}.\n\nLists of numbers are copied, or with ``view`` left \
         where they lie in\nimmutable bytes.\n\"\"\""
    ));
    code.line(format!("r = {class}Reader({}, view)", body.1));
    code.open("try:");
    code.line(format!("message = _read_{suffix}_{name}(r)"));
    code.outdent();
    code.open("except (struct.error, UnicodeError) as error:");
    code.line(format!("raise WireError(f\"{name}: {{error}}\") from error"));
    code.outdent();
    code.line(body.2);
    code.line("return message");
    code.outdent();
}

/// What a type is called, then what is said of it.
fn docstring_text(original: &str, comment: &str) -> String {
    match comment {
        "" => format!("{original}."),
        _ => format!("{original}.\n\n{comment}\n"),
    }
}

fn docstring(text: &str, code: &mut SourceWriter) {
    let text: Vec<&str> = text.lines().map(str::trim_end).collect();
    let end = if text.len() > 1 { "\n" } else { "" };
    let text = text.join("\n").replace('\\', "\\\\").replace('"', "\\\"");
    let text = text.split('\n').map(doc_comment::printable_line).collect::<Vec<_>>().join("\n");
    code.line(format!("\"\"\"{text}{end}\"\"\""));
}

/// A comment on what the next line defines, and what its author called it.
fn remark(name: &str, original: &str, comment: &str, code: &mut SourceWriter) {
    for line in comment.lines() {
        code.line(format!("#: {}", doc_comment::printable_line(line)).trim_end());
    }
    if name != original {
        code.line(format!("#: Called '{}' in the definition.", original.escape_debug()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of the name would hide it.
    #[test]
    fn no_field_is_called_as_a_method() {
        let taken: Vec<&str> = RULES.members.split_whitespace().collect();
        for wire in Wire::ALL {
            let suffix = wire.name().replace('-', "_");
            for method in [format!("serialize_{suffix}"), format!("deserialize_{suffix}")] {
                assert!(taken.contains(&method.as_str()), "{method}");
            }
        }
    }
}
