//! Simple Binary Encoding: the flyweights of its own compiler.
//!
//! A message is a block of fixed fields, then groups, then data, and so is each
//! entry of a group. A record of fixed size is a composite in the block that
//! holds it, any other a group of one entry.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{bail, Context, Result};
use wiregauge_schema::path::{Index, Step as PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeDef, TypeId};

use crate::code::Code;
use crate::codec::{Answer, Built, Codec, Emission, File, Language, Need, Step, Unit};
use crate::lowering::{self, Lowering};
use crate::maven;
use crate::sequential::flag_name;

/// SBE's compiler.
const COMPILER: &str = "uk.co.real-logic:sbe-all:1.38.1";

/// The largest block: its length is a uint16.
const MAX_BLOCK: u64 = u16::MAX as u64;

/// The most groups of a message. The compiler writes a class for each place
/// where a group stands, of some hundred lines.
const MAX_GROUPS: u64 = 1000;

inventory::submit! {
    Codec {
        name: "sbe",
        title: "SBE C++",
        format: "sbe",
        language: Language::Cpp,
        bound: false,
        built: Built::Headers,
        options: &[
            "flyweights with their bounds checks on, kept from message to message",
            "entries of fixed size are written and decoded by a group's flyweight of their own",
            "one field is reached by walking: next().skip() for each entry before it; what stands in the message's block is read in place",
            "a length pass before writing, so that the buffer has the right size",
            "lists of numbers are groups of one field and move as blocks",
        ],
        calls: &[
            "encode: message.wrapAndApplyHeader(buffer, 0, size); message.x(value), putArray(data); auto &group = message.groupCount(n); group.next().x(value); putText(data, size)",
            "decode: message.wrapForDecode(buffer, …); message.x(); auto &group = message.group(); group.next().x(); getTextAsStringView()",
            "project: the same accessors, entry by entry",
            "fixed, element: message.x(); for a field in a group group.next().skip() up to its entry, then group.next().x()",
        ],
        needs: &[maven::NEED, Need::Program("java", "default-jdk-headless")],
        answer,
        idl: Some(idl),
        emit,
    }
}

/// Where a field stands in a block, group or message.
#[derive(PartialEq)]
enum Place {
    /// Nowhere: it has no bytes.
    Nowhere,
    /// In the block.
    Block,
    /// Behind the block, as a group.
    Group,
    /// Behind the groups, as data.
    Data,
}

/// The entries of a group.
#[derive(Clone, Copy)]
enum Entry {
    /// A record's fields, groups and data.
    Record(TypeId),
    /// One number.
    Number(Scalar),
    /// One text or octets.
    Octets,
}

/// How many entries a group has.
enum Count {
    /// Exactly so many.
    Exactly(u32),
    /// None or one.
    Option,
    /// Any number.
    Any,
}

fn repeats(field: &Field) -> bool {
    matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

fn place(schema: &Schema, field: &Field) -> Place {
    match (field.element, field.cardinality) {
        (Element::String | Element::Bytes, _) if !repeats(field) => Place::Data,
        (Element::String | Element::Bytes, _) => Place::Group,
        (Element::Record(id), Cardinality::Required | Cardinality::Implicit)
            if is_fixed(schema, id) =>
        {
            match block_size(schema, id) {
                0 => Place::Nowhere,
                _ => Place::Block,
            }
        }
        (Element::Record(_), _) | (_, Cardinality::List { .. }) => Place::Group,
        _ => Place::Block,
    }
}

/// Whether a record fits into a block whole.
fn is_fixed(schema: &Schema, id: TypeId) -> bool {
    let inside = |field| matches!(place(schema, field), Place::Nowhere | Place::Block);
    schema.record(id).fields.iter().all(inside)
}

/// Size of a record's block.
fn block_size(schema: &Schema, id: TypeId) -> u64 {
    schema.record(id).fields.iter().map(|field| field_size(schema, field)).sum()
}

/// What a field adds to the block.
fn field_size(schema: &Schema, field: &Field) -> u64 {
    let flag = u64::from(has_flag(field));
    if place(schema, field) != Place::Block {
        return flag;
    }
    let element = match field.element {
        Element::Record(id) => block_size(schema, id),
        other => schema.scalar(other).map_or(0, |scalar| scalar.size() as u64),
    };
    match field.cardinality {
        Cardinality::Array { len } => u64::from(len) * element,
        _ => flag + element,
    }
}

/// Whether a flag in the block tells if the field is there.
fn has_flag(field: &Field) -> bool {
    field.cardinality == Cardinality::Optional && !matches!(field.element, Element::Record(_))
}

/// The fewest bytes of an entry: its block, and the headers behind.
fn least(schema: &Schema, entry: Entry) -> u64 {
    match entry {
        Entry::Number(scalar) => scalar.size() as u64,
        Entry::Octets => 4,
        Entry::Record(id) => {
            let behind = |field| match place(schema, field) {
                Place::Group => 6,
                Place::Data => 4,
                _ => 0,
            };
            block_size(schema, id) + schema.record(id).fields.iter().map(behind).sum::<u64>()
        }
    }
}

/// How many groups stand in a record, those in other groups included.
fn groups(schema: &Schema, id: TypeId) -> u64 {
    let of = |field: &Field| match (place(schema, field), field.element) {
        (Place::Group, Element::Record(inner)) => groups(schema, inner).saturating_add(1),
        (Place::Group, _) => 1,
        _ => 0,
    };
    schema.record(id).fields.iter().map(of).fold(0, u64::saturating_add)
}

/// The entries of a group and their number.
fn group(schema: &Schema, field: &Field) -> (Entry, Count) {
    let entry = match field.element {
        Element::Record(id) => Entry::Record(id),
        Element::String | Element::Bytes => Entry::Octets,
        other => Entry::Number(schema.scalar(other).expect("a number")),
    };
    let count = match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => Count::Exactly(1),
        Cardinality::Array { len } => Count::Exactly(len),
        Cardinality::Optional => Count::Option,
        Cardinality::List { .. } => Count::Any,
    };
    (entry, count)
}

fn answer(schema: &Schema, id: TypeId) -> Answer {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Answer::lowered(vec![Lowering::enumeration()]);
    };
    let block = block_size(schema, id);
    if block > MAX_BLOCK {
        return Answer::Rejected(format!(
            "its fixed fields take {block} bytes, and a block of SBE at most {MAX_BLOCK}"
        ));
    }
    let groups = groups(schema, id);
    if groups > MAX_GROUPS {
        return Answer::Rejected(format!(
            "SBE cannot share a group's definition: written out it has {groups} groups, and a \
             runner of more than {MAX_GROUPS} takes too long to compile"
        ));
    }
    let mut lowerings = lowering::unions_and_bounds(record);
    for field in &record.fields {
        if schema.scalar(field.element) == Some(Scalar::Bool) {
            lowerings.push(Lowering::new("bool as uint8", "that it is 0 or 1"));
        }
        if has_flag(field) {
            lowerings
                .push(Lowering::flagged("value").and("SBE's null values cannot carry every value"));
        }
        if place(schema, field) == Place::Group {
            lowerings.push(match field.cardinality {
                Cardinality::Required | Cardinality::Implicit => {
                    Lowering::new("record as a group of one", "that there is exactly one")
                }
                Cardinality::Optional => Lowering::optional_record("group"),
                Cardinality::Array { .. } => {
                    Lowering::fixed_array().and("only numbers have arrays")
                }
                Cardinality::List { .. } => continue,
            });
        }
    }
    Answer::lowered(lowerings)
}

/// SBE's name of a number type.
fn primitive(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool | Scalar::U8 => "uint8",
        Scalar::U16 => "uint16",
        Scalar::U32 => "uint32",
        Scalar::U64 => "uint64",
        Scalar::I8 => "int8",
        Scalar::I16 => "int16",
        Scalar::I32 => "int32",
        Scalar::I64 => "int64",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// The type of an array in the block. An array of one is a number to SBE.
fn array_type(scalar: Scalar, len: u32) -> String {
    match len {
        1 => primitive(scalar).into(),
        _ => format!("{}_{len}", primitive(scalar)),
    }
}

/// `message.xml`. Names of fields end in an underscore, which no legal name
/// does: the generated classes have methods like `next` and `count`, and a
/// group's class must not hide a composite's.
fn idl(schema: &Schema) -> Result<File> {
    let mut arrays = BTreeSet::new();
    let mut composites = BTreeSet::new();
    for (_, record) in schema.records() {
        for field in &record.fields {
            match (place(schema, field), field.element, field.cardinality) {
                (Place::Block, Element::Record(id), _) => {
                    composites.insert(id);
                }
                (Place::Block, other, Cardinality::Array { len }) if len > 1 => {
                    arrays.insert((primitive(schema.scalar(other).expect("a number")), len));
                }
                _ => {}
            }
        }
    }
    let mut code = Code::new();
    code.line("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>");
    code.open(SCHEMA);
    code.open("<types>");
    code.line(TYPES);
    for (primitive, len) in arrays {
        code.line(format!(
            "<type name=\"{primitive}_{len}\" primitiveType=\"{primitive}\" length=\"{len}\"/>"
        ));
    }
    for id in composites {
        let record = schema.record(id);
        code.block(format!("<composite name=\"{}\">", record.name.legal), "</composite>", |code| {
            block_members(schema, record, &mut |name, of, is_primitive| {
                code.line(match is_primitive {
                    true => format!("<type name=\"{name}\" primitiveType=\"{of}\"/>"),
                    false => format!("<ref name=\"{name}\" type=\"{of}\"/>"),
                })
            });
        });
    }
    code.close("</types>");
    let mut ids = 1..;
    let root = schema.root();
    code.block(
        format!("<sbe:message name=\"{}\" id=\"1\">", root.name.legal),
        "</sbe:message>",
        |code| body(schema, root, &mut ids, code),
    );
    code.close("</sbe:messageSchema>");
    Ok(File::new("message.xml", code.finish()))
}

/// Calls `emit` with the name and type of everything in a record's block, and
/// whether the type is primitive.
fn block_members(schema: &Schema, record: &Record, emit: &mut dyn FnMut(String, String, bool)) {
    for field in &record.fields {
        if has_flag(field) {
            emit(format!("{}_", flag_name(record, field)), "uint8".into(), true);
        }
        if place(schema, field) != Place::Block {
            continue;
        }
        let name = format!("{}_", field.name.legal);
        match (field.element, field.cardinality) {
            (Element::Record(id), _) => emit(name, schema.record(id).name.legal.clone(), false),
            (other, Cardinality::Array { len }) => {
                let scalar = schema.scalar(other).expect("a number");
                emit(name, array_type(scalar, len), len == 1);
            }
            (other, _) => {
                emit(name, primitive(schema.scalar(other).expect("a number")).into(), true)
            }
        }
    }
}

/// The fields, groups and data of a record, in a message or a group.
fn body(schema: &Schema, record: &Record, ids: &mut impl Iterator<Item = u32>, code: &mut Code) {
    let mut id = || ids.next().expect("numbers do not end");
    block_members(schema, record, &mut |name, of, _| {
        code.line(format!("<field name=\"{name}\" id=\"{}\" type=\"{of}\"/>", id()));
    });
    for field in &record.fields {
        if place(schema, field) != Place::Group {
            continue;
        }
        let id = ids.next().expect("numbers do not end");
        let name = format!("{}_", field.name.legal);
        code.block(
            format!("<group name=\"{name}\" id=\"{id}\" dimensionType=\"group_size\">"),
            "</group>",
            |code| match group(schema, field).0 {
                Entry::Record(inner) => body(schema, schema.record(inner), ids, code),
                Entry::Number(scalar) => {
                    let id = ids.next().expect("numbers do not end");
                    let of = primitive(scalar);
                    code.line(format!("<field name=\"value_\" id=\"{id}\" type=\"{of}\"/>"));
                }
                Entry::Octets => {
                    let id = ids.next().expect("numbers do not end");
                    let of = data_type(field);
                    code.line(format!("<data name=\"value_\" id=\"{id}\" type=\"{of}\"/>"));
                }
            },
        );
    }
    for field in &record.fields {
        if place(schema, field) == Place::Data {
            let id = ids.next().expect("numbers do not end");
            let (name, of) = (&field.name.legal, data_type(field));
            code.line(format!("<data name=\"{name}_\" id=\"{id}\" type=\"{of}\"/>"));
        }
    }
}

fn data_type(field: &Field) -> &'static str {
    match field.element {
        Element::String => "var_text",
        _ => "var_octets",
    }
}

const SCHEMA: &str = r#"<sbe:messageSchema xmlns:sbe="http://fixprotocol.io/2016/sbe" package="wg"
    id="1" version="0" byteOrder="littleEndian" headerType="message_header">"#;

const TYPES: &str = r#"<composite name="message_header">
  <type name="blockLength" primitiveType="uint16"/>
  <type name="templateId" primitiveType="uint16"/>
  <type name="schemaId" primitiveType="uint16"/>
  <type name="version" primitiveType="uint16"/>
</composite>
<composite name="group_size">
  <type name="blockLength" primitiveType="uint16"/>
  <type name="numInGroup" primitiveType="uint32" minValue="0" maxValue="2147483647"/>
</composite>
<composite name="var_octets">
  <type name="length" primitiveType="uint32" maxValue="2147483647"/>
  <type name="varData" primitiveType="uint8" length="0"/>
</composite>
<composite name="var_text">
  <type name="length" primitiveType="uint32" maxValue="2147483647"/>
  <type name="varData" primitiveType="uint8" length="0" characterEncoding="UTF-8"/>
</composite>"#;

fn emit(unit: &Unit) -> Result<Emission> {
    Ok(Emission {
        files: vec![idl(unit.schema)?, File::new("main.cpp", main(unit))],
        steps: vec![Step::Call(Box::new(compile))],
        sources: vec!["main.cpp".into()],
        ..Emission::default()
    })
}

/// Runs SBE's compiler in the runner's folder.
fn compile(folder: &Path) -> Result<()> {
    let compiler = maven::artifact(folder, COMPILER)?;
    let output = Command::new("java")
        .args(["--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED"])
        // It runs for a second: what pays off later only costs.
        .args(["-Xshare:auto", "-XX:TieredStopAtLevel=1"])
        .args(["-Dsbe.target.language=Cpp", "-Dsbe.output.dir=."])
        .args(["-Dsbe.validation.stop.on.error=true", "-Dsbe.errorLog=yes", "-jar"])
        .arg(compiler)
        .arg("message.xml")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("cannot start java; apt-get install default-jdk-headless")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let why = text.lines().find(|line| line.contains("ERROR") || line.contains("Exception"));
        bail!("SBE's compiler failed: {}", why.unwrap_or("it says nothing"));
    }
    Ok(())
}

fn main(unit: &Unit) -> String {
    let schema = unit.schema;
    let root = &schema.root().name.legal;
    let mut code = Code::new();
    code.line(HELPERS.replace("ROOT", root));
    for (id, record) in schema.records() {
        // What a record has behind its block; the block's size is constant.
        if !is_fixed(schema, id) {
            behind(schema, record, &mut code);
        }
        put(schema, record, &mut code);
        take(schema, record, &mut code);
        tallied(schema, record, &mut code);
    }
    let variable = if is_fixed(schema, schema.root) { "0" } else { "behind(from)" };
    let block = block_size(schema, schema.root);
    code.line("");
    code.block(
        format!("inline std::size_t length([[maybe_unused]] const message::{root} &from) {{"),
        "}",
        |code| {
            code.line(format!(
                "return wg::{root}::messageHeader::encodedLength() + {block} + {variable};"
            ))
        },
    );
    accessor(schema, "fixed", unit.projection.fixed.as_deref(), &mut code);
    accessor(schema, "element", unit.projection.element.as_deref(), &mut code);
    code.line(CODEC.replace("ROOT", root));
    code.finish()
}

/// The generated name of a field with this suffix, after a prefix that makes
/// its first letter a capital.
fn capital(field: &Field) -> String {
    let name = &field.name.legal;
    format!("{}{}_", name[..1].to_uppercase(), &name[1..])
}

/// The groups of a record, in order.
fn groups_of<'a>(schema: &'a Schema, record: &'a Record) -> impl Iterator<Item = &'a Field> {
    record.fields.iter().filter(move |field| place(schema, field) == Place::Group)
}

/// The data of a record, in order.
fn data_of<'a>(schema: &'a Schema, record: &'a Record) -> impl Iterator<Item = &'a Field> {
    record.fields.iter().filter(move |field| place(schema, field) == Place::Data)
}

/// The number of a group's entries in the normalized form.
fn size_of(field: &Field) -> String {
    let f = format!("from.{}", field.name.legal);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => "1".into(),
        Cardinality::Optional => format!("({f} ? 1 : 0)"),
        _ => format!("{f}.size()"),
    }
}

/// A statement for each entry of a group in the normalized form.
fn for_each(field: &Field, statement: impl Fn(&str) -> String) -> String {
    let f = format!("from.{}", field.name.legal);
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => statement(&f),
        Cardinality::Optional => format!("if ({f}) {}", statement(&format!("*{f}"))),
        _ => format!("for (const auto &value : {f}) {}", statement("value")),
    }
}

/// `behind`: the bytes of a record's groups and data.
fn behind(schema: &Schema, record: &Record, code: &mut Code) {
    let name = &record.name.legal;
    code.line("");
    code.block(format!("inline std::size_t behind(const message::{name} &from) {{"), "}", |code| {
        code.line("std::size_t size = 0;");
        for field in groups_of(schema, record) {
            let entry = group(schema, field).0;
            let count = size_of(field);
            let header = |size: u64| format!("size += 6 + {count} * {size};");
            match entry {
                Entry::Number(scalar) => code.line(header(scalar.size() as u64)),
                Entry::Octets => {
                    code.line(header(4));
                    code.line(for_each(field, |value| format!("size += {value}.size();")));
                }
                Entry::Record(inner) => {
                    code.line(header(block_size(schema, inner)));
                    if !is_fixed(schema, inner) {
                        code.line(for_each(field, |value| format!("size += behind({value});")));
                    }
                }
            }
        }
        for field in data_of(schema, record) {
            let f = format!("from.{}", field.name.legal);
            code.line(match field.cardinality {
                Cardinality::Optional => format!("size += 4 + ({f} ? {f}->size() : 0);"),
                _ => format!("size += 4 + {f}.size();"),
            });
        }
        code.line("return size;");
    });
}

/// `put`: a normalized record to a flyweight of a message, an entry or a
/// composite.
fn put(schema: &Schema, record: &Record, code: &mut Code) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class To>");
    code.block(
        format!(
            "void put([[maybe_unused]] To &to, [[maybe_unused]] const message::{name} &from,\n\
             \x20        [[maybe_unused]] char *base) {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                let f = format!("from.{}", field.name.legal);
                let m = format!("{}_", field.name.legal);
                if has_flag(field) {
                    let flag = flag_name(record, field);
                    code.line(format!("to.{flag}_({f}.has_value() ? 1 : 0);"));
                }
                if place(schema, field) != Place::Block {
                    continue;
                }
                let is_bool = schema.scalar(field.element) == Some(Scalar::Bool);
                let as_octet = |value: String| match is_bool {
                    true => format!("{value} ? 1 : 0"),
                    false => value,
                };
                code.line(match (field.element, field.cardinality) {
                    (Element::Record(_), _) => format!("put(to.{m}(), {f}, base);"),
                    (_, Cardinality::Array { len: 1 }) => {
                        format!("to.{m}({});", as_octet(format!("{f}[0]")))
                    }
                    (_, Cardinality::Array { .. }) => format!(
                        "to.put{}(reinterpret_cast<const char *>({f}.data()));",
                        capital(field)
                    ),
                    (_, Cardinality::Optional) => {
                        format!("to.{m}({});", as_octet(format!("{f}.value_or(0)")))
                    }
                    _ => format!("to.{m}({});", as_octet(f)),
                });
            }
            for field in groups_of(schema, record) {
                let f = format!("from.{}", field.name.legal);
                let open = format!("to.{}_Count(entries({}))", field.name.legal, size_of(field));
                match group(schema, field).0 {
                    Entry::Number(_) => {
                        code.line(format!("put_block({open}, {f}.data(), {f}.size(), base);"))
                    }
                    Entry::Octets => code.block("{", "}", |code| {
                        code.line(format!("auto &group = {open};"));
                        code.line(for_each(field, |value| {
                            format!("group.next().putValue_({});", chars(value))
                        }));
                    }),
                    Entry::Record(inner) if repeats(field) && is_fixed(schema, inner) => {
                        code.line(format!(
                            "put_entries({open}, {f}.size(), base, [&](auto &entry, std::size_t i) {{\n  \
                             put(entry, {f}[i], base);\n}});"
                        ));
                    }
                    Entry::Record(_) => code.block("{", "}", |code| {
                        code.line(format!("[[maybe_unused]] auto &group = {open};"));
                        code.line(for_each(field, |value| {
                            format!("put(group.next(), {value}, base);")
                        }));
                    }),
                }
            }
            for field in data_of(schema, record) {
                let f = format!("from.{}", field.name.legal);
                let put = |value: &str| format!("to.put{}({});", capital(field), chars(value));
                code.line(match field.cardinality {
                    Cardinality::Optional => format!(
                        "if ({f}) {}\nelse to.put{}(\"\", 0);",
                        put(&format!("(*{f})")),
                        capital(field)
                    ),
                    _ => put(&f),
                });
            }
        },
    );
}

/// A text or octets as the arguments of the generated setter of data.
fn chars(value: &str) -> String {
    format!("reinterpret_cast<const char *>({value}.data()), entries({value}.size())")
}

/// `take`: a flyweight to a normalized record.
fn take(schema: &Schema, record: &Record, code: &mut Code) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class From>");
    code.block(
        format!(
            "void take([[maybe_unused]] From &from, [[maybe_unused]] message::{name} &to,\n\
             \x20         [[maybe_unused]] char *base) {{"
        ),
        "}",
        |code| {
            for field in &record.fields {
                if place(schema, field) != Place::Block {
                    continue;
                }
                let f = format!("to.{}", field.name.legal);
                let m = format!("from.{}_", field.name.legal);
                let is_bool = schema.scalar(field.element) == Some(Scalar::Bool);
                let number = match is_bool {
                    true => format!("{m}() != 0"),
                    false => format!("{m}()"),
                };
                code.line(match (field.element, field.cardinality) {
                    (Element::Record(_), _) => format!("take({m}(), {f}, base);"),
                    (_, Cardinality::Array { len: 1 }) => format!("{f}[0] = {number};"),
                    (_, Cardinality::Array { .. }) if is_bool => {
                        format!(
                            "for (std::size_t i = 0; i < {f}.size(); ++i) {f}[i] = {m}(i) != 0;"
                        )
                    }
                    (_, Cardinality::Array { .. }) => {
                        format!("std::memcpy({f}.data(), {m}(), sizeof {f});")
                    }
                    (_, Cardinality::Optional) => format!(
                        "if (from.{}_() != 0) {f} = {number};\nelse {f}.reset();",
                        flag_name(record, field)
                    ),
                    _ => format!("{f} = {number};"),
                });
            }
            for field in groups_of(schema, record) {
                let f = format!("to.{}", field.name.legal);
                let (entry, count) = group(schema, field);
                code.open("{");
                enter(schema, field, "from", code);
                let one = |value: &str| match entry {
                    Entry::Record(_) => format!("take(group.next(), {value}, base);"),
                    _ => format!("assign({value}, group.next().getValue_AsStringView());"),
                };
                match count {
                    Count::Exactly(wanted) => code.line(format!("exactly(count, {wanted});")),
                    Count::Option => code.line("if (count > 1) exactly(count, 1);"),
                    Count::Any => code.line(format!("{f}.resize(count);")),
                }
                code.line(match (entry, count) {
                    (Entry::Number(_), _) => format!("take_block(group, {f}.data(), count, base);"),
                    (Entry::Record(inner), _) if repeats(field) && is_fixed(schema, inner) => {
                        format!(
                            "take_entries(group, count, base, [&](auto &entry, std::size_t i) {{\n  \
                             take(entry, {f}[i], base);\n}});"
                        )
                    }
                    (_, Count::Option) => format!(
                        "if (count == 0) {f}.reset();\nelse {}",
                        one(&format!("({f} ? *{f} : {f}.emplace())"))
                    ),
                    (_, Count::Exactly(_)) if !repeats(field) => one(&f),
                    _ => format!("for (auto &value : {f}) {}", one("value")),
                });
                if let Entry::Number(Scalar::Bool) = entry {
                    code.line(format!("for (auto &value : {f}) value = value != 0;"));
                }
                code.close("}");
            }
            for field in data_of(schema, record) {
                let f = format!("to.{}", field.name.legal);
                let text = format!("from.get{}AsStringView()", capital(field));
                code.line(match field.cardinality {
                    Cardinality::Optional => format!(
                        "assign({f} ? *{f} : {f}.emplace(), {text});\n\
                         if (from.{}_() == 0) {f}.reset();",
                        flag_name(record, field)
                    ),
                    _ => format!("assign({f}, {text});"),
                });
            }
        },
    );
}

/// Opens a field's group as `group`, of `count` entries.
fn enter(schema: &Schema, field: &Field, from: &str, code: &mut Code) {
    let least = least(schema, group(schema, field).0);
    code.line(format!("auto &group = {from}.{}_();", field.name.legal));
    code.line(format!("const std::size_t count = counted(group, {least});"));
}

/// `tallied`: every number of a flyweight.
fn tallied(schema: &Schema, record: &Record, code: &mut Code) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class Tally, class From>");
    code.block(
        format!("Tally tallied([[maybe_unused]] From &from, Tag<message::{name}>) {{"),
        "}",
        |code| {
            code.line("Tally tally{};");
            // In the order of the bytes.
            for wanted in [Place::Nowhere, Place::Block, Place::Group, Place::Data] {
                for (at, field) in record.fields.iter().enumerate() {
                    if place(schema, field) == wanted {
                        tally_field(schema, record, at, field, code);
                    }
                }
            }
            code.line("return tally;");
        },
    );
}

fn tally_field(schema: &Schema, record: &Record, at: usize, field: &Field, code: &mut Code) {
    let m = format!("from.{}_", field.name.legal);
    // Truth values are 0 or 1, whatever number stands for true.
    let number = |value: &str| match schema.scalar(field.element) {
        Some(Scalar::Bool) => format!("tally.number({at}, {value} != 0);"),
        _ => format!("tally.number({at}, {value});"),
    };
    let inner = |from: &str, id: TypeId| {
        let name = &schema.record(id).name.legal;
        format!("tally.record({at}, tallied<Tally>({from}, Tag<message::{name}>{{}}));")
    };
    let present = match has_flag(field) {
        true => format!("if (from.{}_() != 0) ", flag_name(record, field)),
        false => String::new(),
    };
    match (place(schema, field), field.element, field.cardinality) {
        (Place::Nowhere, Element::Record(id), _) => code.line(inner("from", id)),
        (Place::Block, Element::Record(id), _) => code.line(inner(&format!("{m}()"), id)),
        (Place::Block, _, Cardinality::Array { len }) if len > 1 => code.line(format!(
            "for (std::uint64_t i = 0; i < {len}; ++i) {}",
            number(&format!("{m}(i)"))
        )),
        (Place::Nowhere | Place::Block, ..) => {
            code.line(format!("{present}{}", number(&format!("{m}()"))))
        }
        (Place::Group, ..) => code.block("{", "}", |code| {
            enter(schema, field, "from", code);
            let each = match group(schema, field).0 {
                Entry::Number(_) => number("group.next().value_()"),
                Entry::Octets => {
                    format!("tally.length({at}, group.next().getValue_AsStringView().size());")
                }
                Entry::Record(id) => inner("group.next()", id),
            };
            code.line(format!("for (std::size_t i = 0; i < count; ++i) {each}"));
        }),
        (Place::Data, ..) => code.block("{", "}", |code| {
            code.line(format!("const auto text = from.get{}AsStringView();", capital(field)));
            code.line(format!("{present}tally.length({at}, text.size());"));
        }),
    }
}

/// `void NAME(Root &, Tally &)`: the number at a path, nothing where it is not
/// there. A field of a block is read where it stands; groups are walked.
fn accessor(schema: &Schema, name: &str, path: Option<&[PathStep]>, code: &mut Code) {
    let root = &schema.root().name.legal;
    code.line("");
    code.line("template <class Tally>");
    code.block(
        format!("void {name}([[maybe_unused]] wg::{root} &at0, [[maybe_unused]] Tally &tally) {{"),
        "}",
        |code| descend(schema, path.unwrap_or_default(), code),
    );
}

/// The way along a path.
fn descend(schema: &Schema, path: &[PathStep], code: &mut Code) {
    let mut id = schema.root;
    for (depth, step) in path.iter().enumerate() {
        let record = schema.record(id);
        let field = &record.fields[step.field];
        let at = format!("at{depth}");
        let member = format!("{at}.{}_", field.name.legal);
        let index = match (step.index, field.cardinality) {
            (Index::Single, _) => "0".to_string(),
            (Index::At(index), _) => index.to_string(),
            (Index::Middle, Cardinality::Array { len }) => (len / 2).to_string(),
            (Index::Middle, _) => format!("at{}.count() / 2", depth + 1),
        };
        if has_flag(field) {
            code.line(format!("if ({at}.{}_() == 0) return;", flag_name(record, field)));
        }
        let found = |value: String| match schema.scalar(field.element) {
            Some(Scalar::Bool) => format!("tally.number(0, {value} != 0);"),
            _ => format!("tally.number(0, {value});"),
        };
        let next = format!("at{}", depth + 1);
        match (place(schema, field), field.element, field.cardinality) {
            (Place::Block, Element::Record(inner), _) => {
                code.line(format!("auto &{next} = {member}();"));
                id = inner;
            }
            (Place::Block, _, Cardinality::Array { len }) => match index.parse::<u32>() {
                Ok(index) if index >= len => return,
                _ if len == 1 => code.line(found(format!("{member}()"))),
                _ => code.line(found(format!("{member}({index})"))),
            },
            (Place::Block, ..) => code.line(found(format!("{member}()"))),
            _ => {
                for earlier in groups_of(schema, record).take_while(|other| other.id != field.id) {
                    let earlier = &earlier.name.legal;
                    code.line(format!(
                        "{at}.{earlier}_().forEach([](auto &entry) {{ entry.skip(); }});"
                    ));
                }
                code.line(format!("auto &{next} = {member}();"));
                code.line(format!("if (!walk({next}, {index})) return;"));
                match field.element {
                    Element::Record(inner) => id = inner,
                    _ => code.line(found(format!("{next}.value_()"))),
                }
            }
        }
    }
}

const HELPERS: &str = r#"// Generated by wiregauge: the normalized message by flyweights of SBE.
#include <limits>
#include <string_view>

#include "message.hpp"
#include "wg/ROOT.h"
#include "wiregauge/serve.hpp"

namespace glue {

template <class T>
struct Tag {};

inline std::uint32_t entries(std::size_t count) {
  if (count > std::numeric_limits<std::int32_t>::max())
    throw wiregauge::Rejected("a list or text is too long for SBE");
  return static_cast<std::uint32_t>(count);
}

inline void exactly(std::size_t count, std::size_t wanted) {
  if (count != wanted) throw std::runtime_error("a group has a wrong number of entries");
}

// The number of entries of a group, of at least so many bytes each. What a
// group's header says is not checked by the flyweights: its entries must be as
// long as the fields that are read, and there as far as the message goes.
// Entries of no bytes are believed up to a number that does no harm.
template <class Group>
std::size_t counted(Group &group, std::size_t least) {
  if (group.sbeActingBlockLength() < Group::sbeBlockLength())
    throw std::runtime_error("the entries of a group are too short");
  if (least == 0 && group.count() > 1 << 24)
    throw std::runtime_error("a group has too many entries");
  const std::size_t entry = least + group.sbeActingBlockLength() - Group::sbeBlockLength();
  (void)group.sbeCheckPosition(group.sbePosition() + group.count() * entry);
  return group.count();
}

// Goes to an entry, by the group's own walk; false where there is none.
template <class Group>
bool walk(Group &group, std::uint64_t index) {
  if (index >= group.count()) return false;
  for (; index != 0; --index) group.next().skip();
  group.next();
  return true;
}

template <class Group>
void skip_blocks(Group &group, std::size_t count) {
  group.sbePosition(group.sbePosition() + count * group.sbeActingBlockLength());
}

// Numbers in a group of one field lie side by side.
template <class Group, class T>
void put_block(Group &group, const T *from, std::size_t count, char *base) {
  const std::size_t at = group.sbePosition();
  skip_blocks(group, count);
  if (count != 0) std::memcpy(base + at, from, count * sizeof(T));
}

template <class Group, class T>
void take_block(Group &group, T *to, std::size_t count, const char *base) {
  const char *from = base + group.sbePosition();
  const std::size_t stride = group.sbeActingBlockLength();
  skip_blocks(group, count);
  if (stride == sizeof(T)) {
    if (count != 0) std::memcpy(to, from, count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i, from + i * stride, sizeof(T));
  }
}

// Calls `each` with every entry of fixed size, by a flyweight of its own: the
// position of one that others share has to be in memory, and what is written
// through a pointer might be it.
template <class Group, class Each>
void put_entries(Group &group, std::size_t count, char *base, Each each) {
  std::uint64_t at = group.sbePosition() - Group::sbeHeaderSize();
  skip_blocks(group, count);
  Group own;
  own.wrapForEncode(base, entries(count), &at, 0, group.sbePosition());
  for (std::size_t i = 0; i < count; ++i) each(own.next(), i);
}

template <class Group, class Each>
void take_entries(Group &group, std::size_t count, char *base, Each each) {
  std::uint64_t at = group.sbePosition() - Group::sbeHeaderSize();
  skip_blocks(group, count);
  Group own;
  own.wrapForDecode(base, &at, 0, group.sbePosition());
  for (std::size_t i = 0; i < count; ++i) each(own.next(), i);
}

inline void assign(std::string &to, std::string_view from) { to.assign(from); }

inline void assign(std::vector<std::uint8_t> &to, std::string_view from) {
  const auto *octets = reinterpret_cast<const std::uint8_t *>(from.data());
  to.assign(octets, octets + from.size());
}
"#;

const CODEC: &str = r#"
}  // namespace glue

namespace {

class Sbe : public wiregauge::Defaults {
 public:
  using Message = message::ROOT;
  using Object = wiregauge::None;
  static std::string library() { return "sbe-all 1.38.1"; }
  static constexpr bool in_place = true;

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    const std::size_t size = glue::length(message);
    out.resize(size);
    char *base = reinterpret_cast<char *>(out.data());
    flyweight_.wrapAndApplyHeader(base, 0, size);
    glue::put(flyweight_, message, base);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    open(wire);
    glue::take(flyweight_, message, flyweight_.buffer());
    if (flyweight_.sbePosition() != wire.size)
      throw std::runtime_error("bytes left over after the message");
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    tally = glue::tallied<Tally>(open(wire), glue::Tag<Message>{});
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    glue::fixed(open(wire), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    glue::element(open(wire), tally);
  }

 private:
  using Flyweight = wg::ROOT;

  // The flyweights take a pointer that they might write to, but only read here.
  Flyweight &open(wiregauge::Wire wire) {
    char *base = reinterpret_cast<char *>(const_cast<std::uint8_t *>(wire.data));
    const Flyweight::messageHeader header(base, 0, wire.size, Flyweight::sbeSchemaVersion());
    if (header.templateId() != Flyweight::sbeTemplateId() ||
        header.schemaId() != Flyweight::sbeSchemaId())
      throw std::runtime_error("another message");
    if (header.blockLength() < Flyweight::sbeBlockLength())
      throw std::runtime_error("the message's block is too short");
    flyweight_.wrapForDecode(base, Flyweight::messageHeader::encodedLength(),
                             header.blockLength(), header.version(), wire.size);
    return flyweight_;
  }

  Flyweight flyweight_;
};

}  // namespace

int main() { return wiregauge::serve<Sbe>(); }
"#;
