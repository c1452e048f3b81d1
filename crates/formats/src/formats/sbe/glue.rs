//! What the runner's code needs to know of the message: a function for each record
//! that writes, reads or adds up its flyweight.

use wiregauge_normalized::{cpp, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeId};

use super::layout::{
    block_size, group, has_flag, is_fixed, min_size, placement, repeats, EntryCount,
    FieldPlacement, GroupEntry,
};
use crate::sequential::flag_name;

/// Of SBE's compiler, and of the headers that it writes.
pub const VERSION: &str = "1.38.1";

/// `glue.hpp`.
pub fn glue(unit: &Unit) -> String {
    let schema = unit.schema;
    let root = &schema.root().name.legal;
    let mut code = cpp::begin_glue(&["groups.hpp", "message.hpp", &format!("wg/{root}.h")]);
    code.line("namespace glue {");
    code.line("");
    code.line(format!("using Root = wg::{root};"));
    code.line(format!("constexpr char kLibrary[] = \"sbe-all {VERSION}\";"));
    for (id, record) in schema.records() {
        // What a record has behind its block; the block's size is constant.
        if !is_fixed(schema, id) {
            write_tail_size(schema, record, &mut code);
        }
        put(schema, record, &mut code);
        take(schema, record, &mut code);
        write_tally(schema, record, &mut code);
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
    code.line("");
    code.line("}  // namespace glue");
    code.finish()
}

/// The generated name of a field with this suffix, after a prefix that makes
/// its first letter a capital.
fn capital(field: &Field) -> String {
    let name = &field.name.legal;
    format!("{}{}_", name[..1].to_uppercase(), &name[1..])
}

/// The groups of a record, in order.
fn group_fields<'a>(schema: &'a Schema, record: &'a Record) -> impl Iterator<Item = &'a Field> {
    record.fields.iter().filter(move |field| placement(schema, field) == FieldPlacement::Group)
}

/// The data of a record, in order.
fn data_fields<'a>(schema: &'a Schema, record: &'a Record) -> impl Iterator<Item = &'a Field> {
    record.fields.iter().filter(move |field| placement(schema, field) == FieldPlacement::Data)
}

/// The number of a group's entries in the normalized form.
fn entry_count(field: &Field) -> String {
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
fn write_tail_size(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(format!("inline std::size_t behind(const message::{name} &from) {{"), "}", |code| {
        code.line("std::size_t size = 0;");
        for field in group_fields(schema, record) {
            let entry = group(schema, field).0;
            let count = entry_count(field);
            let header = |size: u64| format!("size += 6 + {count} * {size};");
            match entry {
                GroupEntry::Number(scalar) => code.line(header(scalar.size() as u64)),
                GroupEntry::Octets => {
                    code.line(header(4));
                    code.line(for_each(field, |value| format!("size += {value}.size();")));
                }
                GroupEntry::Record(inner) => {
                    code.line(header(block_size(schema, inner)));
                    if !is_fixed(schema, inner) {
                        code.line(for_each(field, |value| format!("size += behind({value});")));
                    }
                }
            }
        }
        for field in data_fields(schema, record) {
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
fn put(schema: &Schema, record: &Record, code: &mut SourceWriter) {
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
                if placement(schema, field) != FieldPlacement::Block {
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
            for field in group_fields(schema, record) {
                let f = format!("from.{}", field.name.legal);
                let open = format!("to.{}_Count(entries({}))", field.name.legal, entry_count(field));
                match group(schema, field).0 {
                    GroupEntry::Number(_) => {
                        code.line(format!("put_block({open}, {f}.data(), {f}.size(), base);"))
                    }
                    GroupEntry::Octets => code.block("{", "}", |code| {
                        code.line(format!("auto &group = {open};"));
                        code.line(for_each(field, |value| {
                            format!("group.next().putValue_({});", chars(value))
                        }));
                    }),
                    GroupEntry::Record(inner) if repeats(field) && is_fixed(schema, inner) => {
                        code.line(format!(
                            "put_entries({open}, {f}.size(), base, [&](auto &entry, std::size_t i) {{\n  \
                             put(entry, {f}[i], base);\n}});"
                        ));
                    }
                    GroupEntry::Record(_) => code.block("{", "}", |code| {
                        code.line(format!("[[maybe_unused]] auto &group = {open};"));
                        code.line(for_each(field, |value| {
                            format!("put(group.next(), {value}, base);")
                        }));
                    }),
                }
            }
            for field in data_fields(schema, record) {
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
fn take(schema: &Schema, record: &Record, code: &mut SourceWriter) {
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
                if placement(schema, field) != FieldPlacement::Block {
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
            for field in group_fields(schema, record) {
                let f = format!("to.{}", field.name.legal);
                let (entry, count) = group(schema, field);
                code.open("{");
                enter(schema, field, "from", code);
                let one = |value: &str| match entry {
                    GroupEntry::Record(_) => format!("take(group.next(), {value}, base);"),
                    _ => format!("assign({value}, group.next().getValue_AsStringView());"),
                };
                match count {
                    EntryCount::Exactly(wanted) => code.line(format!("exactly(count, {wanted});")),
                    EntryCount::Option => code.line("if (count > 1) exactly(count, 1);"),
                    EntryCount::Any => code.line(format!("{f}.resize(count);")),
                }
                code.line(match (entry, count) {
                    (GroupEntry::Number(_), _) => format!("take_block(group, {f}.data(), count, base);"),
                    (GroupEntry::Record(inner), _) if repeats(field) && is_fixed(schema, inner) => {
                        format!(
                            "take_entries(group, count, base, [&](auto &entry, std::size_t i) {{\n  \
                             take(entry, {f}[i], base);\n}});"
                        )
                    }
                    (_, EntryCount::Option) => format!(
                        "if (count == 0) {f}.reset();\nelse {}",
                        one(&format!("({f} ? *{f} : {f}.emplace())"))
                    ),
                    (_, EntryCount::Exactly(_)) if !repeats(field) => one(&f),
                    _ => format!("for (auto &value : {f}) {}", one("value")),
                });
                if let GroupEntry::Number(Scalar::Bool) = entry {
                    code.line(format!("for (auto &value : {f}) value = value != 0;"));
                }
                code.close("}");
            }
            for field in data_fields(schema, record) {
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
fn enter(schema: &Schema, field: &Field, from: &str, code: &mut SourceWriter) {
    let least = min_size(schema, group(schema, field).0);
    code.line(format!("auto &group = {from}.{}_();", field.name.legal));
    code.line(format!("const std::size_t count = counted(group, {least});"));
}

/// `tallied`: every number of a flyweight.
fn write_tally(schema: &Schema, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.line("template <class Tally, class From>");
    code.block(
        format!("Tally tallied([[maybe_unused]] From &from, Tag<message::{name}>) {{"),
        "}",
        |code| {
            code.line("Tally tally{};");
            // In the order of the bytes.
            for wanted in [
                FieldPlacement::Nowhere,
                FieldPlacement::Block,
                FieldPlacement::Group,
                FieldPlacement::Data,
            ] {
                for (at, field) in record.fields.iter().enumerate() {
                    if placement(schema, field) == wanted {
                        tally_field(schema, record, at, field, code);
                    }
                }
            }
            code.line("return tally;");
        },
    );
}

fn tally_field(
    schema: &Schema,
    record: &Record,
    at: usize,
    field: &Field,
    code: &mut SourceWriter,
) {
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
    match (placement(schema, field), field.element, field.cardinality) {
        (FieldPlacement::Nowhere, Element::Record(id), _) => code.line(inner("from", id)),
        (FieldPlacement::Block, Element::Record(id), _) => code.line(inner(&format!("{m}()"), id)),
        (FieldPlacement::Block, _, Cardinality::Array { len }) if len > 1 => code.line(format!(
            "for (std::uint64_t i = 0; i < {len}; ++i) {}",
            number(&format!("{m}(i)"))
        )),
        (FieldPlacement::Nowhere | FieldPlacement::Block, ..) => {
            code.line(format!("{present}{}", number(&format!("{m}()"))))
        }
        (FieldPlacement::Group, ..) => code.block("{", "}", |code| {
            enter(schema, field, "from", code);
            let each = match group(schema, field).0 {
                GroupEntry::Number(_) => number("group.next().value_()"),
                GroupEntry::Octets => {
                    format!("tally.length({at}, group.next().getValue_AsStringView().size());")
                }
                GroupEntry::Record(id) => inner("group.next()", id),
            };
            code.line(format!("for (std::size_t i = 0; i < count; ++i) {each}"));
        }),
        (FieldPlacement::Data, ..) => code.block("{", "}", |code| {
            code.line(format!("const auto text = from.get{}AsStringView();", capital(field)));
            code.line(format!("{present}tally.length({at}, text.size());"));
        }),
    }
}

/// `void NAME(Root &, Tally &)`: the number at a path, nothing where it is not
/// there. A field of a block is read where it stands; groups are walked.
fn accessor(schema: &Schema, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
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
fn descend(schema: &Schema, path: &[PathStep], code: &mut SourceWriter) {
    let mut id = schema.root;
    for (depth, step) in path.iter().enumerate() {
        let record = schema.record(id);
        let field = &record.fields[step.field];
        let at = format!("at{depth}");
        let member = format!("{at}.{}_", field.name.legal);
        let index = match (step.index, field.cardinality) {
            (ElementIndex::Single, _) => "0".to_string(),
            (ElementIndex::At(index), _) => index.to_string(),
            (ElementIndex::Middle, Cardinality::Array { len }) => (len / 2).to_string(),
            (ElementIndex::Middle, _) => format!("at{}.count() / 2", depth + 1),
        };
        if has_flag(field) {
            code.line(format!("if ({at}.{}_() == 0) return;", flag_name(record, field)));
        }
        let found = |value: String| match schema.scalar(field.element) {
            Some(Scalar::Bool) => format!("tally.number(0, {value} != 0);"),
            _ => format!("tally.number(0, {value});"),
        };
        let next = format!("at{}", depth + 1);
        match (placement(schema, field), field.element, field.cardinality) {
            (FieldPlacement::Block, Element::Record(inner), _) => {
                code.line(format!("auto &{next} = {member}();"));
                id = inner;
            }
            (FieldPlacement::Block, _, Cardinality::Array { len }) => match index.parse::<u32>() {
                Ok(index) if index >= len => return,
                _ if len == 1 => code.line(found(format!("{member}()"))),
                _ => code.line(found(format!("{member}({index})"))),
            },
            (FieldPlacement::Block, ..) => code.line(found(format!("{member}()"))),
            _ => {
                for earlier in group_fields(schema, record).take_while(|other| other.id != field.id)
                {
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
