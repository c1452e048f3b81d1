//! Prost with the packed field's crate.

use std::collections::BTreeSet;

use anyhow::Result;
use wiregauge_normalized::{File, SourceWriter, Unit};
use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Field, Scalar, Schema, TypeId};

use super::{is_optional, RowField, RowItem, RowLayout, RowRecord};
use crate::build::languages::rust::RUST;
use crate::codec::{Codec, Emission, Linkage, OWN_CODE};
use crate::flattened_field::FlattenedField;
use crate::formats::protobuf::{prost, ListEncoding, LOSES_SIGN};

inventory::submit! {
    Codec {
        name: "packed-rust",
        title: "Packed Rust",
        format: "packed",
        language: &RUST,
        is_bound: false,
        linkage: Linkage::Crate("prost"),
        options: &[
            "lists of plain records as packed fields of version 1.0, by this project's crate: \
             columns of the numbers' own types, nothing reduced or rounded; everything else as in \
             prost",
            OWN_CODE,
            "columns are filled in place, in the Vec<u8> of the message's bytes field, which \
             resize() has zeroed",
            "read in place in the message's field, by a view that has checked it once",
            "columns are at multiples of 64 bytes, the default, counted from the start of the \
             field",
            "fixed as in prost; element decodes a message that knows only the packed field, which \
             prost copies, and reads its column in place",
        ],
        calls: &[
            "encode: Layout::plan(&columns, rows, 0, 64)?.write(&mut message.rows); column.sink::<T>().fill(values); then as prost",
            "decode: message = Message::decode(bytes); View::open(&message.rows)?.column::<T>(name).get(row)",
            "project: as decode, the numbers alone",
            "fixed, element: as prost; View::open(&message.rows)?.column::<T>(name).get(row)",
        ],
        needs: &[],
        check_type: super::check_type,
        idl: Some(super::idl),
        emit,
    }
}

fn emit(unit: &Unit) -> Result<Emission> {
    let columns = RustColumns { schema: unit.schema, messages: super::messages(unit.schema) };
    let mut emission = prost::emission(unit, super::idl(unit.schema)?, &columns);
    emission.files.push(File::new("rows.rs", include_str!("rust/rows.rs")));
    Ok(emission)
}

/// Packed fields in place of lists.
struct RustColumns<'a> {
    schema: &'a Schema,
    messages: BTreeSet<TypeId>,
}

impl RustColumns<'_> {
    fn name(&self, id: TypeId) -> &str {
        &self.schema.record(id).name.legal
    }

    fn row_type(&self, field: &Field) -> Option<&str> {
        Some(self.name(RowLayout::from_field(self.schema, field)?.id))
    }
}

impl ListEncoding for RustColumns<'_> {
    fn is_message(&self, id: TypeId) -> bool {
        self.messages.contains(&id)
    }

    fn extra_modules(&self) -> &'static [&'static str] {
        &["rows"]
    }

    fn unsupported_values(&self) -> String {
        format!("{}; or a list is too long for a packed field's 2 GiB", LOSES_SIGN)
    }

    fn tally_may_fail(&self) -> bool {
        true
    }

    fn definitions(&self, code: &mut SourceWriter) {
        for rows in super::packed_lists(self.schema) {
            self.row(&rows, code);
            self.rows(&rows, code);
        }
    }

    fn fill(&self, slot: &FlattenedField) -> Option<String> {
        self.row_type(&slot.field)?;
        let (f, m) = (&slot.value, &slot.field.name.legal);
        Some(format!("lost |= crate::rows::pack(&from.{f}, &mut to.{m});"))
    }

    fn take(&self, slot: &FlattenedField) -> Option<String> {
        let name = self.row_type(&slot.field)?;
        let (f, m) = (&slot.value, &slot.field.name.legal);
        Some(format!(
            "to.{f}.clear();\n\
             if let Some(rows) = RowsOf{name}::open(&from.{m})? {{\n  \
             to.{f}.extend((0..rows.rows).map(|row| rows.take(row)));\n}}"
        ))
    }

    fn tally(&self, slot: &FlattenedField) -> Option<String> {
        let name = self.row_type(&slot.field)?;
        let (place, m) = (slot.place, &slot.field.name.legal);
        Some(format!(
            "if let Some(rows) = RowsOf{name}::open(&from.{m})? {{\n  \
             for row in 0..rows.rows {{ tally.record({place}, rows.tally(row)); }}\n}}"
        ))
    }

    fn tally_number(
        &self,
        field: &Field,
        index: ElementIndex,
        rest: &[PathStep],
    ) -> Option<String> {
        let rows = RowLayout::from_field(self.schema, field)?;
        let Some(column) = rows.column(rest) else { return Some("Ok(())".into()) };
        let row = match index {
            ElementIndex::At(row) => row.to_string(),
            _ => "view.rows() / 2".into(),
        };
        let (of, name) = (element(column.scalar), &column.name);
        let (open, value) = match column.is_optional {
            true => ("maybe", "column.get(row)"),
            false => ("number", "Some(column.get(row))"),
        };
        let number = normalized_value(column.scalar, "number");
        Some(format!(
            "let Some(view) = crate::rows::open(at)? else {{ return Ok(()) }};\n\
             let row = {row};\n\
             if row >= view.rows() {{ return Ok(()) }}\n\
             let column = crate::rows::{open}::<{of}>(&view, \"{name}\")?;\n\
             if let Some(number) = {value} {{ tally.number(0, {number}); }}\n\
             Ok(())"
        ))
    }
}

/// The type of a number's column. A truth value is a u8.
fn element(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => Scalar::U8.rust_name(),
        other => other.rust_name(),
    }
}

/// A number that was read as the normalized form has it.
fn normalized_value(scalar: Scalar, value: &str) -> String {
    match scalar {
        Scalar::Bool => format!("({value} != 0)"),
        _ => value.into(),
    }
}

/// A number of the normalized form as its column has it.
fn column_value(scalar: Scalar, value: &str) -> String {
    match scalar {
        Scalar::Bool => format!("u8::from({value})"),
        _ => value.into(),
    }
}

// What is written.
impl RustColumns<'_> {
    /// The columns of a list of X.
    fn row(&self, rows: &RowLayout, code: &mut SourceWriter) {
        code.line("");
        code.block(
            format!("impl crate::rows::Row for crate::message::{} {{", self.name(rows.id)),
            "}",
            |code| {
                let head = "fn columns(visit: &mut impl crate::rows::Visit<Self>) {";
                code.block(head, "}", |code| self.visits(rows.id, &rows.parts, "row", "", code));
            },
        );
    }

    /// The columns of a record at `at`, which is there where none of `bound` returns.
    fn visits(
        &self,
        id: TypeId,
        parts: &[RowField],
        at: &str,
        bound: &str,
        code: &mut SourceWriter,
    ) {
        for (part, item, at) in super::items(self.schema, id, parts, at) {
            match item {
                RowItem::Number(column) => {
                    let (of, name) = (element(column.scalar), &column.name);
                    code.line(match (column.is_optional, is_optional(self.schema, id, part)) {
                        (false, _) => {
                            let value = column_value(column.scalar, &at);
                            format!("visit.number::<{of}>(\"{name}\", |row| {value});")
                        }
                        (true, true) => {
                            let value = column_value(column.scalar, "v");
                            format!(
                                "visit.maybe::<{of}>(\"{name}\", \
                                 |row| {{ {bound}{at}.map(|v| {value}) }});"
                            )
                        }
                        (true, false) => {
                            let value = column_value(column.scalar, &at);
                            format!(
                                "visit.maybe::<{of}>(\"{name}\", |row| {{ {bound}Some({value}) }});"
                            )
                        }
                    });
                }
                RowItem::Record(inner) if inner.is_optional => {
                    let inside = format!("r{}", inner.id);
                    let bound = format!("{bound}let {inside} = {at}.as_ref()?; ");
                    if let Some(marker) = &inner.marker {
                        self.marker(marker, inner, &inside, &bound, code);
                    }
                    self.visits(inner.id, &inner.parts, &inside, &bound, code);
                }
                RowItem::Record(inner) => self.visits(inner.id, &inner.parts, &at, bound, code),
            }
        }
    }

    fn marker(
        &self,
        name: &str,
        inner: &RowRecord,
        inside: &str,
        bound: &str,
        code: &mut SourceWriter,
    ) {
        let mut filled = Vec::new();
        self.filled(inner.id, &inner.parts, inside, &mut filled);
        let bare = match filled.is_empty() {
            true => "true".into(),
            false => format!("!({})", filled.join(" || ")),
        };
        let is = |what: &str| {
            format!("|row| (|| -> Option<bool> {{ {bound}Some({what}) }})().unwrap_or(false)")
        };
        code.line(format!("visit.marker(\"{name}\", {}, {});", is("true"), is(&bare)));
    }

    /// Whether a record that is there has a number, or a record that says so of itself.
    fn filled(&self, id: TypeId, parts: &[RowField], at: &str, filled: &mut Vec<String>) {
        for (_, item, at) in super::items(self.schema, id, parts, at) {
            match item {
                RowItem::Record(inner) if !inner.is_optional => {
                    self.filled(inner.id, &inner.parts, &at, filled);
                }
                // An optional one is told of by its own columns or marker.
                _ => filled.push(format!("{at}.is_some()")),
            }
        }
    }
}

/// What reads a list, as it is written down: the columns with their types and how they are
/// opened, and the statements that tally a row.
#[derive(Default)]
struct ReaderCode {
    columns: Vec<(String, String)>,
    tally: SourceWriter,
}

// What is read.
impl RustColumns<'_> {
    /// `RowsOfX`: a list of X as it is read.
    fn rows(&self, rows: &RowLayout, code: &mut SourceWriter) {
        let name = self.name(rows.id);
        let mut reading = ReaderCode::default();
        let record = self.record(rows.id, &rows.parts, 0, &mut reading);
        let ReaderCode { columns, tally } = reading;
        code.line("");
        code.block(format!("pub struct RowsOf{name}<'a> {{"), "}", |code| {
            code.line("pub rows: usize,");
            for (number, (kind, _)) in columns.iter().enumerate() {
                code.line(format!("c{number}: {kind},"));
            }
        });
        code.line("");
        code.block(format!("impl<'a> RowsOf{name}<'a> {{"), "}", |code| {
            let head = "pub fn open(field: &'a [u8]) -> Result<Option<Self>, Error> {";
            code.block(head, "}", |code| {
                code.line("let Some(view) = crate::rows::open(field)? else { return Ok(None) };");
                code.block("Ok(Some(Self {", "}))", |code| {
                    code.line("rows: view.rows(),");
                    for (number, (_, open)) in columns.iter().enumerate() {
                        code.line(format!("c{number}: {open},"));
                    }
                });
            });
            let head = format!("pub fn take(&self, row: usize) -> crate::message::{name} {{");
            code.block(head, "}", |code| code.line(record));
            code.block("pub fn tally<T: Tally>(&self, row: usize) -> T {", "}", |code| {
                code.line("let mut t0 = T::default();");
                code.line(tally.finish().trim_end());
                code.line("t0");
            });
        });
    }

    /// A row's record as it is made; each column is called by its number.
    fn record(
        &self,
        id: TypeId,
        parts: &[RowField],
        depth: usize,
        reading: &mut ReaderCode,
    ) -> String {
        let fields = parts.iter().map(|part| {
            let items = part.items.iter();
            let is_optional = is_optional(self.schema, id, part);
            let items: Vec<_> =
                items.map(|item| self.item(part, item, is_optional, depth, reading)).collect();
            let value = items.join(", ");
            let value = if part.is_array { format!("[{value}]") } else { value };
            format!("{}: {value}", self.schema.record(id).fields[part.place].name.legal)
        });
        format!("crate::message::{} {{ {} }}", self.name(id), fields.collect::<Vec<_>>().join(", "))
    }

    fn item(
        &self,
        part: &RowField,
        item: &RowItem,
        is_optional: bool,
        depth: usize,
        reading: &mut ReaderCode,
    ) -> String {
        let (place, first) = (part.place, reading.columns.len());
        match item {
            RowItem::Number(column) => {
                let (of, name) = (element(column.scalar), &column.name);
                let c = format!("self.c{first}.get(row)");
                let (kind, open) = match column.is_optional {
                    true => (format!("crate::rows::Maybe<'a, {of}>"), "maybe"),
                    false => (format!("wiregauge_packed::ColumnView<'a, {of}>"), "number"),
                };
                reading.columns.push((kind, format!("crate::rows::{open}(&view, \"{name}\")?")));
                if !column.is_optional {
                    let value = normalized_value(column.scalar, &c);
                    reading.tally.line(format!("t{depth}.number({place}, {value});"));
                    return value;
                }
                let value = normalized_value(column.scalar, "v");
                reading
                    .tally
                    .line(format!("if let Some(v) = {c} {{ t{depth}.number({place}, {value}) }}"));
                let absent = if is_optional { "" } else { ".unwrap_or_default()" };
                format!("{c}.map(|v| {value}){absent}")
            }
            RowItem::Record(inner) => {
                if let Some(marker) = &inner.marker {
                    reading.columns.push((
                        "crate::rows::Marker<'a>".into(),
                        format!("crate::rows::marker(&view, \"{marker}\")"),
                    ));
                }
                let tally = std::mem::take(&mut reading.tally);
                let record = self.record(inner.id, &inner.parts, depth + 1, reading);
                let told = std::mem::replace(&mut reading.tally, tally).finish();
                let there =
                    inner.is_optional.then(|| is_present(inner, first, reading.columns.len()));
                reading.tally.open(match &there {
                    None => "{".to_owned(),
                    Some(there) => format!("if {there} {{"),
                });
                reading.tally.line(format!("let mut t{} = T::default();", depth + 1));
                reading.tally.line(told.trim_end());
                reading.tally.line(format!("t{depth}.record({place}, t{});", depth + 1));
                reading.tally.close("}");
                match there {
                    None => record,
                    Some(there) => format!("if {there} {{ Some({record}) }} else {{ None }}"),
                }
            }
        }
    }
}

/// Whether a row has an optional record, whose columns have the numbers from `first` to
/// before `end`.
fn is_present(inner: &RowRecord, first: usize, end: usize) -> String {
    let has = |columns: std::ops::Range<usize>| {
        let has: Vec<String> = columns.map(|column| format!("self.c{column}.has(row)")).collect();
        if has.is_empty() {
            "false".into()
        } else {
            has.join(" || ")
        }
    };
    match inner.marker {
        Some(_) => format!("self.c{first}.or(row, || {})", has(first + 1..end)),
        None => has(first..end),
    }
}
