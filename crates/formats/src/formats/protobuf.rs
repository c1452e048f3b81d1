//! Protobuf: what the format can express and its definition (proto3, one file,
//! package `wg`). The codecs of its libraries are in the folder beside.

mod better;
mod buffa;
pub(super) mod cpp;
mod definition;
mod java;
mod list_encoding;
mod official;
pub(super) mod prost;
pub(super) mod python;
mod quick;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{
    Cardinality, Element, Field, Name, Record, Role, Scalar, Schema, TypeDef, TypeId,
};

pub(super) use definition::as_bytes;
use definition::{definition, element_type, head, is_plain, messages, scalar_type, Syntax};
use list_encoding::PlainLists;
pub(super) use list_encoding::{ListEncoding, LOSES_SIGN};

use crate::codec::Support;
use crate::flattened_field::{self, FlattenedField};
use crate::language::rust::glue;
use crate::lowering::{self, Lowering};
use crate::packaged_library::PackagedLibrary;

inventory::submit! {
    PackagedLibrary {
        name: "Protobuf",
        packages: &["libprotobuf-dev"],
        tried: &[("3.12.4", "2020-07"), ("3.21.12", "2022-12"), ("36.2", "2026-09")],
        newest: ("36.2", "2026-09"),
    }
}

pub(super) fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration().and("the bytes are the same")]);
    };
    let is_group =
        |field: &&Field| field.wire.delimited && matches!(field.element, Element::Record(_));
    if let Some(field) = record.fields.iter().find(is_group) {
        return Support::Rejected(format!(
            "{} is delimited, as a group is, which the definition in proto3 that is made for the \
             library cannot say; generated-protobuf-cpp, -java, -python and -rust write it",
            field.name.original
        ));
    }
    let mut lowerings: Vec<_> = lowering::bounds(record).into_iter().collect();
    lowerings.extend(lowering::unions(record).map(|union| union.and("the bytes are the same")));
    for slot in flattened_field::flatten_fields(schema, record) {
        let field = &slot.field;
        if slot.number.is_some() {
            lowerings.push(Lowering::spread());
        }
        if as_bytes(field) {
            lowerings.push(Lowering::octets("bytes"));
        } else if let Element::Scalar(
            scalar @ (Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16),
        ) = field.element
        {
            let wide = scalar_type(scalar);
            lowerings.push(Lowering::widened(scalar, wide).and("a varint each"));
        }
        if let Cardinality::Array { .. } = field.cardinality {
            lowerings.push(Lowering::fixed_array());
        }
    }
    Support::lowered(lowerings)
}

/// Makes `message.descriptors` of `message.proto`, in the runner's folder.
fn describe(folder: &Path) -> Result<()> {
    let mut compiler = protox::Compiler::new([folder])?;
    // betterproto2's compiler wants the comments of each type, be there some or not.
    compiler.include_source_info(true);
    compiler.open_file("message.proto").context("the emitted definition does not compile")?;
    fs::write(folder.join("message.descriptors"), compiler.encode_file_descriptor_set())
        .context("cannot write the descriptors")
}

/// A normalized Rust scalar as the Rust libraries hold it.
fn to_rust(schema: &Schema, field: &Field, value: &str) -> String {
    let scalar = schema.scalar(field.element).expect("a number");
    match (scalar, scalar_type(scalar)) {
        (Scalar::U8 | Scalar::U16, wide) | (Scalar::I8 | Scalar::I16, wide) => {
            format!("{}::from({value})", if wide == "uint32" { "u32" } else { "i32" })
        }
        _ => value.to_string(),
    }
}

/// A Rust library's scalar as the normalized form holds it.
fn from_rust(schema: &Schema, field: &Field, value: &str) -> String {
    match schema.scalar(field.element).expect("a number") {
        scalar @ (Scalar::U8 | Scalar::U16 | Scalar::I8 | Scalar::I16) => {
            format!("({value}) as {}", scalar.rust_name())
        }
        _ => value.to_string(),
    }
}

/// Whether the Rust libraries hold a scalar in the normalized form's type.
fn same_in_rust(schema: &Schema, field: &Field) -> bool {
    to_rust(schema, field, "x") == "x"
}

/// Fills `to.MEMBER` of a Rust library with a field's record or records.
fn fill_records(schema: &Schema, id: TypeId, slot: &FlattenedField, member: &str) -> String {
    let (f, m) = (&slot.value, member);
    let fill = format!("fill_{}::<CHECK>", schema.record(id).name.legal);
    match slot.field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            format!("lost |= {fill}(&from.{f}, to.{m}.get_or_insert_with(Default::default));")
        }
        Cardinality::Optional => format!(
            "match &from.{f} {{ None => to.{m} = None, Some(from) => \
             lost |= {fill}(from, to.{m}.get_or_insert_with(Default::default)) }}"
        ),
        // What is new is filled when it is made: a list is gone through once.
        Cardinality::List { .. } | Cardinality::Array { .. } => format!(
            "to.{m}.truncate(from.{f}.len());\n\
             for (from, to) in from.{f}.iter().zip(&mut to.{m}) {{ lost |= {fill}(from, to) }}\n\
             to.{m}.extend(from.{f}[to.{m}.len()..].iter().map(|from| {{ \
             let mut new = Default::default(); lost |= {fill}(from, &mut new); new }}));"
        ),
    }
}

/// Fills `to.MEMBER` of a Rust library with a field's number or numbers.
fn fill_numbers(schema: &Schema, slot: &FlattenedField, member: &str) -> String {
    let (f, m) = (&slot.value, member);
    match slot.field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            let lost = match schema.scalar(slot.field.element) {
                Some(scalar) if scalar.is_float() => {
                    let (bits, of) = (format!("from.{f}.to_bits()"), scalar.rust_name());
                    format!("if CHECK {{ lost |= {bits} == (-0.0_{of}).to_bits() }}\n")
                }
                _ => String::new(),
            };
            format!("{lost}to.{m} = {};", to_rust(schema, &slot.field, &format!("from.{f}")))
        }
        Cardinality::Optional => {
            format!("to.{m} = from.{f}.map(|v| {});", to_rust(schema, &slot.field, "v"))
        }
        _ if same_in_rust(schema, &slot.field) => {
            format!("to.{m}.clear(); to.{m}.extend_from_slice(&from.{f});")
        }
        _ => format!(
            "to.{m}.clear(); to.{m}.extend(from.{f}.iter().map(|v| {}));",
            to_rust(schema, &slot.field, "*v")
        ),
    }
}

/// `pub fn fill_X`: normalized to a Rust library's, into whatever that held before,
/// by a statement a slot. With `CHECK` it tells whether a zero loses its sign.
fn fill(
    record: &Record,
    object: &str,
    slots: &[FlattenedField],
    code: &mut SourceWriter,
    fill: impl Fn(&FlattenedField) -> String,
) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "pub fn fill_{name}<'a, const CHECK: bool>(\
             from: &'a crate::message::{name}, to: &mut {object}) -> bool {{"
        ),
        "}",
        |code| {
            code.line("let mut lost = false;");
            slots.iter().for_each(|slot| code.line(fill(slot)));
            code.line("lost");
        },
    );
}

/// `pub fn take_X`: a Rust library's to normalized, by a statement a slot.
fn take(
    record: &Record,
    object: &str,
    slots: &[FlattenedField],
    code: &mut SourceWriter,
    take: impl Fn(&FlattenedField) -> (String, String),
) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!(
            "pub fn take_{name}(from: &mut {object}, to: &mut crate::message::{name}) -> Result<(), Error> {{"
        ),
        "}",
        |code| {
            for slot in slots {
                let (member, statement) = take(slot);
                if let Cardinality::Array { .. } = slot.field.cardinality {
                    code.line(format!(
                        "if from.{member}.len() != to.{0}.len() \
                         {{ return Err(Error::new(\"{name}.{0}: wrong length\")) }}",
                        slot.value
                    ));
                }
                code.line(statement);
            }
            code.line("Ok(())");
        },
    );
}

/// Takes a field's record or records from a Rust library's member.
fn take_records(schema: &Schema, id: TypeId, slot: &FlattenedField, member: &str) -> String {
    let (f, m) = (&slot.value, member);
    let take = format!("take_{}", schema.record(id).name.legal);
    let each =
        format!("for (from, to) in from.{m}.iter_mut().zip(&mut to.{f}) {{ {take}(from, to)? }}");
    match slot.field.cardinality {
        Cardinality::Required | Cardinality::Implicit => format!(
            "match &mut from.{m} {{ None => to.{f} = Default::default(), \
             Some(from) => {take}(from, &mut to.{f})? }}"
        ),
        Cardinality::Optional => format!(
            "match &mut from.{m} {{ None => to.{f} = None, Some(from) => \
             {take}(from, to.{f}.get_or_insert_with(Default::default))? }}"
        ),
        Cardinality::List { .. } => {
            format!("to.{f}.resize_with(from.{m}.len(), Default::default);\n{each}")
        }
        Cardinality::Array { .. } => each,
    }
}

/// Takes a field's number or numbers from a Rust library's member; what is
/// owned moves.
fn take_numbers(schema: &Schema, slot: &FlattenedField, member: &str) -> String {
    let (field, f, m) = (&slot.field, &slot.value, member);
    let same = same_in_rust(schema, field);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            format!("to.{f} = {};", from_rust(schema, field, &format!("from.{m}")))
        }
        Cardinality::Optional => {
            format!("to.{f} = from.{m}.map(|v| {});", from_rust(schema, field, "v"))
        }
        Cardinality::Array { .. } if same => format!("to.{f}.copy_from_slice(&from.{m});"),
        Cardinality::Array { .. } => format!(
            "for (from, to) in from.{m}.iter().zip(&mut to.{f}) {{ *to = {} }}",
            from_rust(schema, field, "*from")
        ),
        Cardinality::List { .. } if same => format!("to.{f} = std::mem::take(&mut from.{m});"),
        Cardinality::List { .. } => format!(
            "to.{f}.clear(); to.{f}.extend(from.{m}.iter().map(|v| {}));",
            from_rust(schema, field, "*v")
        ),
    }
}

/// `fn tally_X<T: Tally>(from: &OF) -> T`: every number of a Rust library's
/// record, by the names of its members. A result, where `lists` may fail.
fn tally(
    schema: &Schema,
    record: &Record,
    object: &str,
    lists: &dyn ListEncoding,
    code: &mut SourceWriter,
    member: impl Fn(&Field) -> String,
) {
    let name = &record.name.legal;
    code.line("");
    let (result, question, tally) = match lists.tally_may_fail() {
        true => ("Result<T, Error>", "?", "Ok(tally)"),
        false => ("T", "", "tally"),
    };
    let head = format!("pub fn tally_{name}<T: Tally>(from: &{object}) -> {result} {{");
    code.block(head, "}", |code| {
        code.line("let mut tally = T::default();");
        for slot in flattened_field::flatten_fields(schema, record) {
            if let Some(statement) = lists.tally(&slot) {
                code.line(statement);
                continue;
            }
            let (field, place, m) = (&slot.field, slot.place, member(&slot.field));
            let add = |value: &str| match field.element {
                Element::Record(id) => {
                    let inner = &schema.record(id).name.legal;
                    format!("tally.record({place}, tally_{inner}({value}){question});")
                }
                Element::String | Element::Bytes => {
                    format!("tally.length({place}, {value}.len());")
                }
                _ => {
                    let number = from_rust(schema, field, &format!("*{value}"));
                    format!("tally.number({place}, {number});")
                }
            };
            code.line(if is_plain(field) {
                add(&format!("(&from.{m})"))
            } else {
                format!("for value in from.{m}.iter() {{ {} }}", add("value"))
            });
        }
        code.line(tally);
    });
}

/// Begins the glue of a Rust library, by whose generator the modules are.
fn rust_glue(
    crate_name: &str,
    partials: &[(&str, Partial)],
    lists: &dyn ListEncoding,
) -> SourceWriter {
    let mut code = glue::begin_glue(crate_name);
    code.line(format!("pub const UNSAYABLE: &str = \"{}\";", lists.unsupported_values()));
    code.line("");
    for module in generated(partials) {
        code.line(format!("use crate::{module};"));
    }
    code
}

/// `main.rs` of a Rust library.
fn rust_main(codec: &str, partials: &[(&str, Partial)], lists: &dyn ListEncoding) -> File {
    let mut modules = vec!["codec", "glue"];
    modules.extend(lists.extra_modules());
    modules.extend(generated(partials));
    glue::main_file(codec, &modules)
}

/// The modules that a library's generator makes.
fn generated(partials: &[(&str, Partial)]) -> Vec<&'static str> {
    let partial = partials.iter().any(|(_, partial)| !partial.is_empty());
    ["wg"].into_iter().chain(partial.then_some("partial")).collect()
}

/// A message that knows only the fields on the way to a number: what it does not
/// know a Rust library passes over.
struct Partial {
    /// Its records, each in the one before; none where there is nothing to read.
    schema: Schema,
    /// The path in it, which goes through the only field of each record.
    indices: Vec<ElementIndex>,
    /// The statements behind it, where the last field is bytes that hold a list.
    inside: Option<String>,
}

impl Partial {
    /// Names of the types begin with `name`.
    fn new(
        schema: &Schema,
        name: &str,
        path: Option<&[PathStep]>,
        lists: &dyn ListEncoding,
    ) -> Partial {
        let none = || Partial {
            schema: Schema { small_array: 0, ..Schema::new(Vec::new(), 0) },
            indices: Vec::new(),
            inside: None,
        };
        let (mut id, mut records, mut indices) = (schema.root, Vec::new(), Vec::new());
        let (path, mut inside) = (path.unwrap_or_default(), None);
        for (depth, step) in path.iter().enumerate() {
            let slots = flattened_field::flatten_fields(schema, schema.record(id));
            let Some((slot, index)) = flattened_field::find_step(&slots, step) else {
                return none();
            };
            let mut field = slot.field.clone();
            inside = lists.tally_number(&field, index, &path[depth + 1..]);
            if inside.is_some() {
                field.element = Element::Bytes;
                field.cardinality = Cardinality::Implicit;
            } else if let Element::Record(inner) = field.element {
                id = inner;
            } else if let Some(scalar) = schema.scalar(field.element) {
                field.element = Element::Scalar(scalar);
            }
            let legal = format!("{name}{depth}");
            let name = Name { original: legal.clone(), legal };
            records.push(Record { name, fields: vec![field], role: Role::Plain });
            indices.push(if inside.is_some() { ElementIndex::Single } else { index });
            if inside.is_some() {
                break;
            }
        }
        if records.is_empty() {
            return none();
        }
        // Types stand after those that they use.
        records.reverse();
        for (id, record) in records.iter_mut().enumerate() {
            if let Element::Record(_) = record.fields[0].element {
                record.fields[0].element = Element::Record(id - 1);
            }
        }
        let root = records.len() - 1;
        let types = records.into_iter().map(TypeDef::Record).collect();
        Partial { schema: Schema { small_array: 0, ..Schema::new(types, root) }, indices, inside }
    }

    /// Both of a message, `Fixed0` and `Element0`.
    fn for_projection(unit: &Unit, lists: &dyn ListEncoding) -> [(&'static str, Partial); 2] {
        let new = |name, path: &Option<Vec<PathStep>>| {
            Partial::new(unit.schema, name, path.as_deref(), lists)
        };
        let projection = unit.projection;
        [
            ("fixed", new("Fixed", &projection.fixed)),
            ("element", new("Element", &projection.element)),
        ]
    }

    /// The type of the message, in upper case `NAME`, and `read_NAME`, which parses
    /// it and reads the number. `object` is the library's type by its lifetime, which
    /// `generics` declares, and `parse` what makes `object` of `wire`.
    fn reading(
        &self,
        name: &str,
        generics: &str,
        object: impl Fn(&str) -> String,
        parse: &str,
        code: &mut SourceWriter,
        member: impl Fn(&Field) -> String,
    ) {
        let is_empty = self.is_empty();
        let of = if is_empty { "()".into() } else { object("'a") };
        let alias = name[..1].to_uppercase() + &name[1..];
        code.line("");
        code.line(format!("pub type {alias}{generics} = {of};"));
        if !is_empty {
            self.accessor(name, &object("'_"), code, member);
        }
        code.line("");
        code.line(format!("pub fn read_{name}<'a, T: Tally>("));
        code.line(format!("  object: &mut {of}, wire: &'a [u8], tally: &mut T,"));
        code.block(") -> Result<(), Error> {", "}", |code| {
            if !is_empty {
                code.line(parse);
                let question = if self.inside.is_some() { "?" } else { "" };
                code.line(format!("{name}(object, tally){question};"));
            }
            code.line("Ok(())");
        });
    }

    /// Whether there is nothing to be read.
    fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// `fn NAME<T: Tally>(at: &OBJECT, tally: &mut T)`: the number, nothing where
    /// it is not there.
    fn accessor(
        &self,
        name: &str,
        object: &str,
        code: &mut SourceWriter,
        member: impl Fn(&Field) -> String,
    ) {
        let (result, done) = match self.inside {
            Some(_) => (" -> Result<(), Error>", "return Ok(())"),
            None => ("", "return"),
        };
        code.line("");
        code.block(
            format!("pub fn {name}<T: Tally>(at: &{object}, tally: &mut T){result} {{"),
            "}",
            |code| {
                let records = self.schema.records().map(|(_, record)| record).collect::<Vec<_>>();
                for (record, index) in records.iter().rev().zip(&self.indices) {
                    let field = &record.fields[0];
                    let value = format!("at.{}", member(field));
                    code.line(match index {
                        ElementIndex::Single if is_plain(field) => format!("let at = &{value};"),
                        ElementIndex::Single => {
                            format!("let Some(at) = &{value} else {{ {done} }};")
                        }
                        ElementIndex::At(index) => {
                            format!("let Some(at) = {value}.get({index}) else {{ {done} }};")
                        }
                        ElementIndex::Middle => {
                            format!(
                                "let Some(at) = {value}.get({value}.len() / 2) else {{ {done} }};"
                            )
                        }
                    });
                    if self.schema.scalar(field.element).is_some() {
                        let number = from_rust(&self.schema, field, "*at");
                        code.line(format!("tally.number(0, {number});"));
                    }
                }
                if let Some(inside) = &self.inside {
                    code.line(inside);
                }
            },
        );
    }
}

/// `partial.proto`, package `partial`: the messages that know only the fields on
/// the way to a number. None where there is nothing to read.
fn partial_definition(partials: &[(&str, Partial)], syntax: Syntax) -> Option<File> {
    let mut code = SourceWriter::new();
    head("partial", syntax, &mut code);
    for (_, partial) in partials {
        messages(&partial.schema, syntax, &mut code);
    }
    let is_empty = partials.iter().all(|(_, partial)| partial.is_empty());
    (!is_empty).then(|| File::new("partial.proto", code.finish()))
}

/// `message.proto`.
pub(super) fn idl(schema: &Schema) -> Result<File> {
    Ok(definition(schema, Syntax::Proto3))
}
