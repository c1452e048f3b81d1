//! The part that the C++ codecs share: what refuses a message that a table
//! would change, and what reads one in place.

use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use super::{field_name, may_lose_sign, Dialect, ElementKind};
use crate::flattened_field::{self, FlattenedField};

/// The names that all sources of a runner know.
pub fn names() -> File {
    File::new("names.hpp", include_str!("reader/names.hpp"))
}

/// What the codecs are derived from.
pub fn reading() -> File {
    File::new("reading.hpp", include_str!("reader/reading.hpp"))
}

/// `Root`, `kDepth`, `admit`, `tallied`, `fixed` and `element`.
pub fn write_reader(unit: &Unit, dialect: Dialect, code: &mut SourceWriter) {
    code.line("");
    code.line(format!("using Root = wg::{};", dialect.type_name(dialect.schema.root)));
    code.line(format!("constexpr unsigned kDepth = {};", dialect.depth()));
    for (id, record) in dialect.schema.records() {
        if !dialect.is_struct(id) {
            admit(dialect, id, record, code);
        }
    }
    for (id, _) in dialect.schema.records() {
        write_tally(dialect, id, code);
    }
    accessor(dialect, "fixed", unit.projection.fixed.as_deref(), code);
    accessor(dialect, "element", unit.projection.element.as_deref(), code);
}

/// `admit`: refuses a negative zero where a table would leave it out. Lists and
/// what else is never left out may hold one.
fn admit(dialect: Dialect, id: TypeId, record: &Record, code: &mut SourceWriter) {
    let name = &record.name.legal;
    code.line("");
    code.block(
        format!("[[maybe_unused]] void admit([[maybe_unused]] const message::{name} &from) {{"),
        "}",
        |code| {
            for FlattenedField { field, place, value, .. } in &dialect.slots(id) {
                let original = &record.fields[*place].name.legal;
                code.line(match (dialect.kind(field.element), field.cardinality) {
                    (ElementKind::Scalar(_), _) if may_lose_sign(dialect.schema, field) => {
                        format!("keep_sign(from.{value}, \"{name}.{original}\");")
                    }
                    (ElementKind::Table(_), Cardinality::Required | Cardinality::Implicit) => {
                        format!("admit(from.{value});")
                    }
                    (ElementKind::Table(_), Cardinality::Optional) => {
                        format!("if (from.{value}) admit(*from.{value});")
                    }
                    (ElementKind::Table(_), _) => {
                        format!("for (const auto &value : from.{value}) admit(value);")
                    }
                    _ => continue,
                });
            }
        },
    );
}

/// `tallied`: every number of a table or struct.
fn write_tally(dialect: Dialect, id: TypeId, code: &mut SourceWriter) {
    let wire = dialect.type_name(id);
    let is_struct = dialect.is_struct(id);
    code.line("");
    code.line("template <class Tally>");
    code.block(format!("Tally tallied([[maybe_unused]] const wg::{wire} &from) {{"), "}", |code| {
        code.line("Tally tally{};");
        for FlattenedField { field, place, .. } in &dialect.slots(id) {
            tally_field(dialect, is_struct, *place, field, code);
        }
        code.line("return tally;");
    });
}

fn tally_field(
    dialect: Dialect,
    is_struct: bool,
    place: usize,
    field: &Field,
    code: &mut SourceWriter,
) {
    let n = field_name(field);
    let kind = dialect.kind(field.element);
    let is_bool = matches!(kind, ElementKind::Scalar(Scalar::Bool));
    // A number, or what is behind a pointer.
    let add = |value: &str| match kind {
        ElementKind::Scalar(_) => format!("tally.number({place}, {value});"),
        ElementKind::Text | ElementKind::Bytes => {
            format!("tally.length({place}, {value}->size());")
        }
        ElementKind::Struct(_) | ElementKind::Table(_) => {
            format!("tally.record({place}, tallied<Tally>(*{value}));")
        }
    };
    let empty = format!("tally.length({place}, 0);");
    code.line(match (kind, field.cardinality) {
        // Truth values in lists and arrays are octets to flatc.
        (ElementKind::Scalar(_), Cardinality::List { .. } | Cardinality::Array { .. }) => {
            let value = if is_bool { "value != 0" } else { "value" };
            format!(
                "if (const auto *values = from.{n}()) {{ for (const auto value : *values) {} }}",
                add(value)
            )
        }
        (ElementKind::Scalar(_), Cardinality::Optional) => {
            format!("if (const auto value = from.{n}()) {}", add("*value"))
        }
        (ElementKind::Scalar(_), _) => add(&format!("from.{n}()")),
        // The library's iterator over an array of structs does not compile.
        (ElementKind::Struct(_), Cardinality::Array { len }) if is_struct => format!(
            "for (uoffset_t i = 0; i < {len}; ++i) \
             tally.record({place}, tallied<Tally>(*from.{n}()->Get(i)));"
        ),
        (ElementKind::Struct(_), _) if is_struct => {
            format!("tally.record({place}, tallied<Tally>(from.{n}()));")
        }
        (_, Cardinality::List { .. } | Cardinality::Array { .. }) => {
            let value = if let ElementKind::Bytes = kind { "value->value()" } else { "value" };
            format!(
                "if (const auto *values = from.{n}()) {{ for (const auto *value : *values) {} }}",
                add(value)
            )
        }
        // What is empty is left out.
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Optional)
            if dialect.has_flag(field) =>
        {
            format!(
                "if (from.has_{}()) {{ if (const auto *value = from.{n}()) {} else {empty} }}",
                field.name.legal,
                add("value")
            )
        }
        (ElementKind::Text | ElementKind::Bytes, Cardinality::Implicit) => {
            format!("if (const auto *value = from.{n}()) {} else {empty}", add("value"))
        }
        _ => format!("if (const auto *value = from.{n}()) {}", add("value")),
    });
}

/// `void NAME(const wg::ROOT &, Tally &)`: the number at a path, nothing where
/// something on the way is not there.
fn accessor(dialect: Dialect, name: &str, path: Option<&[PathStep]>, code: &mut SourceWriter) {
    let root = dialect.type_name(dialect.schema.root);
    code.line("");
    code.line("template <class Tally>");
    code.block(
        format!(
            "void {name}([[maybe_unused]] const wg::{root} &root, [[maybe_unused]] Tally &tally) {{"
        ),
        "}",
        |code| {
            let Some(path) = path else { return };
            let mut id = dialect.schema.root;
            // An expression, followed by what reaches a member of it.
            let mut at = "root.".to_string();
            for (depth, step) in path.iter().enumerate() {
                let slots = dialect.slots(id);
                let Some((FlattenedField { field, .. }, index)) =
                    flattened_field::find_step(&slots, step)
                else {
                    return;
                };
                let kind = dialect.kind(field.element);
                let mut value = format!("{at}{}()", field_name(field));
                let in_struct = dialect.is_struct(id);
                let is_single = index == ElementIndex::Single;
                let is_scalar = matches!(kind, ElementKind::Scalar(_));
                let is_reference = in_struct && is_single && !is_scalar;
                // What may be absent is a pointer, or an optional number.
                if !in_struct
                    && (!is_single || !is_scalar || field.cardinality == Cardinality::Optional)
                {
                    code.line(format!("const auto at{depth} = {value};"));
                    code.line(format!("if (!at{depth}) return;"));
                    value = format!("at{depth}");
                    if is_single && is_scalar {
                        value = format!("*{value}");
                    }
                }
                let index = match index {
                    ElementIndex::Single => None,
                    ElementIndex::At(index) => Some(format!("{index}u")),
                    ElementIndex::Middle => Some(format!("{value}->size() / 2u")),
                };
                if let Some(index) = index {
                    code.line(format!("if ({index} >= {value}->size()) return;"));
                    value = format!("{value}->Get({index})");
                    if let ElementKind::Scalar(Scalar::Bool) = kind {
                        value = format!("{value} != 0");
                    }
                }
                match field.element {
                    Element::Record(inner) => {
                        id = inner;
                        at = if is_reference { format!("{value}.") } else { format!("{value}->") };
                    }
                    _ => code.line(format!("tally.number(0, {value});")),
                }
            }
        },
    );
}
