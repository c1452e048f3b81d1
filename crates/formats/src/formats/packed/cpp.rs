//! Protobuf C++ with the packed field's header.

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Field, Scalar, Schema, TypeId};

use super::{is_optional, RowField, RowItem, RowLayout, RowRecord};
use crate::build::languages::cpp::CPP;
use crate::codec::{Codec, Emission, OWN_CODE};
use crate::flattened_field::FlattenedField;
use crate::formats::protobuf::{cpp as protobuf, ListEncoding};

inventory::submit! {
    Codec {
        name: "packed-cpp",
        title: "Packed C++",
        format: "packed",
        language: &CPP,
        is_bound: false,
        linkage: protobuf::BUILT,
        options: &[
            "lists of plain records as packed fields of version 1.0, by this project's header: \
             columns of the numbers' own types, nothing reduced or rounded; everything else as in \
             protobuf-cpp, on the heap",
            OWN_CODE,
            "columns are filled in place, in the std::string of the message's bytes field, which \
             resize() has zeroed; 1,024 rows at a time, up to eight columns in one loop, so that \
             records are read from the cache",
            "read in place in the message's field, by a view that has checked it once",
            "columns are at multiples of 64 bytes, the default, counted from the start of the \
             field",
            "element skips through the bytes by CodedInputStream to the packed field, and reads \
             its column in place; fixed as in protobuf-cpp",
        ],
        calls: &[
            "encode: layout.plan(columns, rows); layout.write(message.mutable_rows()->data()); table.column<T>(index)[row] = …; then as protobuf-cpp",
            "decode: message.ParseFromArray(bytes, size); View::open(message.rows(), view); view.column<T>(name)[row]",
            "project: as decode, the numbers alone",
            "fixed: as protobuf-cpp",
            "element: in.ReadTag(); in.Skip(…) …; View::open(bytes, view); view.column<T>(name)[row]",
        ],
        needs: protobuf::NEEDS,
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let messages = super::messages(unit.schema);
    let in_place = super::only_root_has_lists(unit.schema, &messages);
    let columns = CppColumns { schema: unit.schema, messages, in_place };
    let mut emission = protobuf::emission(unit, super::idl(unit.schema)?, &columns);
    emission.files.push(File::new("rows.hpp", include_str!("cpp/rows.hpp")));
    if in_place {
        emission.files.retain(|file| file.path != "main.cpp");
        emission.files.push(File::new("main.cpp", include_str!("cpp/main.cpp")));
        emission.files.push(File::new("in_place.hpp", include_str!("cpp/in_place.hpp")));
    }
    Ok(emission)
}

/// Packed fields in place of lists.
struct CppColumns<'a> {
    schema: &'a Schema,
    messages: BTreeSet<TypeId>,
    /// Whether its lists are written and read in place, too.
    in_place: bool,
}

impl CppColumns<'_> {
    fn name(&self, id: TypeId) -> &str {
        &self.schema.record(id).name.legal
    }

    fn row_type(&self, field: &Field) -> Option<String> {
        Some(self.name(RowLayout::from_field(self.schema, field)?.id).to_owned())
    }
}

impl ListEncoding for CppColumns<'_> {
    fn is_message(&self, id: TypeId) -> bool {
        self.messages.contains(&id)
    }

    fn extra_modules(&self) -> &'static [&'static str] {
        &["rows.hpp"]
    }

    fn definitions(&self, code: &mut SourceWriter) {
        for rows in super::packed_lists(self.schema) {
            self.columns(&rows, code);
            self.rows(&rows, code);
        }
    }

    fn fill(&self, slot: &FlattenedField) -> Option<String> {
        let name = self.row_type(&slot.field)?;
        let (f, m) = (&slot.value, &slot.field.name.legal);
        Some(format!(
            "rows::pack(from.{f}, *to.mutable_{m}(), [](auto &visit) {{ columns_{name}(visit); }});"
        ))
    }

    fn take(&self, slot: &FlattenedField) -> Option<String> {
        let name = self.row_type(&slot.field)?;
        let (f, m) = (&slot.value, &slot.field.name.legal);
        Some(take_rows(&name, &format!("from.{m}()"), f))
    }

    fn tally(&self, slot: &FlattenedField) -> Option<String> {
        let name = self.row_type(&slot.field)?;
        let (place, m) = (slot.place, &slot.field.name.legal);
        Some(tally_rows(&name, &format!("from.{m}()"), place))
    }

    fn stands_apart(&self, slot: &FlattenedField) -> bool {
        self.in_place && self.row_type(&slot.field).is_some()
    }

    fn write_apart(&self, slots: &[FlattenedField], code: &mut SourceWriter) {
        let lists: Vec<(&FlattenedField, String)> =
            slots.iter().filter_map(|slot| Some((slot, self.row_type(&slot.field)?))).collect();
        let root = &self.schema.root().name.legal;
        let numbers: Vec<String> =
            lists.iter().map(|(slot, _)| format!("{}u", slot.field.id)).collect();
        let count = numbers.len();
        code.line("");
        code.line(
            "// The lists of the root message by their fields' numbers, as in_place.hpp has them.",
        );
        code.line(format!("using Lists = std::array<wiregauge::packed::Bytes, {count}>;"));
        code.line(format!(
            "constexpr std::array<std::uint32_t, {count}> kListNumbers{{{}}};",
            numbers.join(", ")
        ));
        code.line("template <class Writer>");
        let head = format!("void write_lists(const message::{root} &from, Writer &to) {{");
        code.block(head, "}", |code| {
            for ((slot, name), number) in lists.iter().zip(&numbers) {
                let f = &slot.value;
                code.line(format!(
                    "to.add({number}, from.{f}, [](auto &visit) {{ columns_{name}(visit); }});"
                ));
            }
        });
        let head = format!("void take_lists(const Lists &from, message::{root} &to) {{");
        code.block(head, "}", |code| {
            for (number, (slot, name)) in lists.iter().enumerate() {
                code.line(take_rows(name, &format!("from[{number}]"), &slot.value));
            }
        });
        code.line("template <class Tally>");
        code.block("void tally_lists(const Lists &from, Tally &tally) {", "}", |code| {
            for (number, (slot, name)) in lists.iter().enumerate() {
                code.line(tally_rows(name, &format!("from[{number}]"), slot.place));
            }
        });
    }

    fn tally_number(
        &self,
        field: &Field,
        index: ElementIndex,
        rest: &[PathStep],
    ) -> Option<String> {
        let rows = RowLayout::from_field(self.schema, field)?;
        let Some(column) = rows.column(rest) else { return Some(String::new()) };
        let row = match index {
            ElementIndex::At(row) => row.to_string(),
            _ => "rows.size() / 2".into(),
        };
        let (kind, name) = (kind(column.scalar, column.is_optional), &column.name);
        let condition = if column.is_optional { " && column.has(row)" } else { "" };
        let value = value(column.scalar, "column");
        Some(format!(
            "const rows::Opened rows({{field->data, field->size}});\nconst std::size_t row = {row};\n\
             const rows::{kind} column(rows, \"{name}\");\n\
             if (row < rows.size(){condition}) tally.number(0, {value});"
        ))
    }
}

/// The statements that take the rows of a field into a list.
fn take_rows(name: &str, field: &str, list: &str) -> String {
    format!(
        "{{\n  const RowsOf{name} rows({field});\n  to.{list}.resize(rows.size());\n  \
         for (std::size_t row = 0; row < rows.size(); ++row) rows.take(row, to.{list}[row]);\n}}"
    )
}

/// The statements that tally the rows of a field as the list at a place.
fn tally_rows(name: &str, field: &str, place: usize) -> String {
    format!(
        "{{\n  const RowsOf{name} rows({field});\n  \
         for (std::size_t row = 0; row < rows.size(); ++row) \
         tally.record({place}, rows.tally<Tally>(row));\n}}"
    )
}

/// The type of a number's column. A truth value is a u8.
fn element(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => Scalar::U8.cpp_name(),
        other => other.cpp_name(),
    }
}

/// The type that reads it.
fn kind(scalar: Scalar, is_optional: bool) -> String {
    let kind = if is_optional { "Maybe" } else { "Number" };
    format!("{kind}<{}>", element(scalar))
}

/// A row's number in a column.
fn value(scalar: Scalar, column: &str) -> String {
    match scalar {
        Scalar::Bool => format!("({column}[row] != 0)"),
        _ => format!("{column}[row]"),
    }
}

/// Columns that every row has, side by side in the definition, which one loop fills: each
/// record is read once for them.
#[derive(Default)]
struct NumberColumns {
    types: Vec<&'static str>,
    names: Vec<String>,
    values: Vec<String>,
}

impl NumberColumns {
    /// As many as a loop keeps the places of in registers.
    const AT_ONCE: usize = 8;

    fn add(&mut self, of: &'static str, name: &str, value: String, code: &mut SourceWriter) {
        if self.types.len() == Self::AT_ONCE {
            self.write(code);
        }
        self.types.push(of);
        self.names.push(format!("\"{name}\""));
        self.values.push(value);
    }

    /// Tells of those that were added.
    fn write(&mut self, code: &mut SourceWriter) {
        let NumberColumns { types, names, values } = std::mem::take(self);
        if types.is_empty() {
            return;
        }
        let (types, names, values) = (types.join(", "), names.join(", "), values.join(", "));
        code.line(format!(
            "visit.template numbers<{types}>({{{names}}}, [](const Row &row) \
             {{ return std::tuple<{types}>({values}); }});"
        ));
    }
}

// What is written.
impl CppColumns<'_> {
    /// `columns_X(visit)`: the columns of a list of X.
    fn columns(&self, rows: &RowLayout, code: &mut SourceWriter) {
        let name = self.name(rows.id);
        code.line("");
        code.line("template <class Visit>");
        code.block(format!("void columns_{name}(Visit &visit) {{"), "}", |code| {
            code.line(format!("using Row = message::{name};"));
            let mut numbers = NumberColumns::default();
            self.visits(rows.id, &rows.parts, "row", "", &mut numbers, code);
            numbers.write(code);
        });
    }

    /// The columns of a record at `at`, which is there where no condition of `missing`
    /// holds.
    fn visits(
        &self,
        id: TypeId,
        parts: &[RowField],
        at: &str,
        missing: &str,
        numbers: &mut NumberColumns,
        code: &mut SourceWriter,
    ) {
        for (part, item, at) in super::items(self.schema, id, parts, at) {
            match item {
                RowItem::Number(column) if !column.is_optional => {
                    numbers.add(element(column.scalar), &column.name, at, code);
                }
                RowItem::Number(column) => {
                    numbers.write(code);
                    let (of, name) = (element(column.scalar), &column.name);
                    let value = match is_optional(self.schema, id, part) {
                        true if column.scalar == Scalar::Bool => {
                            format!("{at} ? std::optional<{of}>(*{at}) : std::nullopt")
                        }
                        _ => at,
                    };
                    code.line(format!(
                        "visit.template maybe<{of}>(\"{name}\", \
                         [](const Row &row) -> std::optional<{of}> {{ {missing}return {value}; }});"
                    ));
                }
                RowItem::Record(inner) if inner.is_optional => {
                    numbers.write(code);
                    let missing = format!("{missing}if (!{at}) return std::nullopt; ");
                    let inside = format!("(*{at})");
                    if let Some(marker) = &inner.marker {
                        self.marker(marker, inner, &at, &missing, code);
                    }
                    self.visits(inner.id, &inner.parts, &inside, &missing, numbers, code);
                }
                RowItem::Record(inner) => {
                    self.visits(inner.id, &inner.parts, &at, missing, numbers, code);
                }
            }
        }
    }

    fn marker(
        &self,
        name: &str,
        inner: &RowRecord,
        at: &str,
        missing: &str,
        code: &mut SourceWriter,
    ) {
        let missing = missing.replace("std::nullopt", "false");
        let mut filled = Vec::new();
        self.filled(inner.id, &inner.parts, &format!("(*{at})"), &mut filled);
        let bare =
            if filled.is_empty() { "true".into() } else { format!("!({})", filled.join(" || ")) };
        code.line(format!(
            "visit.marker(\"{name}\", [](const Row &row) {{ {missing}return true; }}, \
             [](const Row &row) {{ {missing}return {bare}; }});"
        ));
    }

    /// Whether a record that is there has a number, or a record that says so of itself.
    fn filled(&self, id: TypeId, parts: &[RowField], at: &str, filled: &mut Vec<String>) {
        for (_, item, at) in super::items(self.schema, id, parts, at) {
            match item {
                RowItem::Record(inner) if !inner.is_optional => {
                    self.filled(inner.id, &inner.parts, &at, filled);
                }
                // An optional one is told of by its own columns or marker.
                _ => filled.push(format!("{at}.has_value()")),
            }
        }
    }
}

// What is read.
impl CppColumns<'_> {
    /// `RowsOfX`: a list of X as it is read.
    fn rows(&self, rows: &RowLayout, code: &mut SourceWriter) {
        let name = self.name(rows.id);
        let (mut take, mut tally) = (SourceWriter::new(), SourceWriter::new());
        let mut columns = Vec::new();
        self.reads(rows.id, &rows.parts, "to", 0, &mut columns, (&mut take, &mut tally));
        code.line("");
        code.block(format!("class RowsOf{name} : public rows::Opened {{"), "};", |code| {
            code.line(" public:");
            code.line(format!(
                "explicit RowsOf{name}(wiregauge::packed::Bytes field) : Opened(field) {{}}"
            ));
            code.line("");
            let head = format!(
                "void take([[maybe_unused]] std::size_t row, \
                 [[maybe_unused]] message::{name} &to) const {{"
            );
            code.block(head, "}", |code| code.line(take.finish().trim_end()));
            code.line("template <class Tally>");
            code.block("Tally tally([[maybe_unused]] std::size_t row) const {", "}", |code| {
                code.line("Tally t0{};");
                code.line(tally.finish().trim_end());
                code.line("return t0;");
            });
            code.line("");
            code.line(" private:");
            columns.iter().for_each(|column| code.line(column));
        });
    }

    /// The statements that take and tally the parts of a record, and the columns that they
    /// need: each is called by its number.
    fn reads(
        &self,
        id: TypeId,
        parts: &[RowField],
        to: &str,
        depth: usize,
        columns: &mut Vec<String>,
        (take, tally): (&mut SourceWriter, &mut SourceWriter),
    ) {
        for (part, item, to) in super::items(self.schema, id, parts, to) {
            let place = part.place;
            match item {
                RowItem::Number(column) => {
                    let c = format!("c{}_", columns.len());
                    let (kind, name) = (kind(column.scalar, column.is_optional), &column.name);
                    columns.push(format!("rows::{kind} {c}{{*this, \"{name}\"}};"));
                    let value = value(column.scalar, &c);
                    let has = match column.is_optional {
                        true => format!("if ({c}.has(row)) "),
                        false => String::new(),
                    };
                    let absent = match is_optional(self.schema, id, part) {
                        true => format!(" else {to}.reset();"),
                        false => String::new(),
                    };
                    take.line(format!("{has}{to} = {value};{absent}"));
                    tally.line(format!("{has}t{depth}.number({place}, {value});"));
                }
                RowItem::Record(inner) => {
                    let first = columns.len();
                    if let Some(marker) = &inner.marker {
                        let m = format!("c{first}_");
                        columns.push(format!("rows::Marker {m}{{*this, \"{marker}\"}};"));
                    }
                    let (mut taken, mut told) = (SourceWriter::new(), SourceWriter::new());
                    let inside = if inner.is_optional { format!("(*{to})") } else { to.clone() };
                    let below = (&mut taken, &mut told);
                    self.reads(inner.id, &inner.parts, &inside, depth + 1, columns, below);
                    let there = inner.is_optional.then(|| is_present(inner, first, columns.len()));
                    match &there {
                        None => take.line(taken.finish().trim_end()),
                        Some(there) => {
                            take.open(format!("if ({there}) {{"));
                            take.line(format!("{to}.emplace();"));
                            take.line(taken.finish().trim_end());
                            take.next("} else {");
                            take.line(format!("{to}.reset();"));
                            take.close("}");
                        }
                    }
                    tally.open(match &there {
                        None => "{".to_owned(),
                        Some(there) => format!("if ({there}) {{"),
                    });
                    tally.line(format!("Tally t{}{{}};", depth + 1));
                    tally.line(told.finish().trim_end());
                    tally.line(format!("t{depth}.record({place}, t{});", depth + 1));
                    tally.close("}");
                }
            }
        }
    }
}

/// Whether a row has an optional record, whose columns have the numbers from `first` to
/// before `end`.
fn is_present(inner: &RowRecord, first: usize, end: usize) -> String {
    let has = |columns: std::ops::Range<usize>| {
        let has: Vec<String> = columns.map(|column| format!("c{column}_.has(row)")).collect();
        if has.is_empty() {
            "false".into()
        } else {
            has.join(" || ")
        }
    };
    match inner.marker {
        Some(_) => format!("c{first}_ ? c{first}_.has(row) : ({})", has(first + 1..end)),
        None => has(first..end),
    }
}
