//! From sub-messages to packed fields.

use crate::element::{load_value, store_value, Element};
use crate::error::{Error, Fault, Result};
use crate::find::{Kind, MessageLevel, Root, ROWS};
use crate::format::FIELD;
use crate::frame::{plan_lengths, write, MessagePart};
use crate::layout::{Column, Layout, Table};
use crate::leaf::{leaves, Leaf, LeafType};
use crate::plan::Plan;
use crate::reduce::{Reduced, Reduction};
use crate::row::{for_rows, Row};
use crate::wire::Fields;

/// How a column is packed.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoding {
    /// The column's name.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// Offset and scale of integers: value = offset + scale × raw.
    pub scale: Option<(f64, f64)>,
    /// How its elements are reduced; a resolution goes with f64.
    pub reduction: Option<Reduction>,
}

/// How a message is packed.
#[derive(Clone, Debug, PartialEq)]
pub struct PackOptions {
    /// Columns that are not to be as their defaults; all others are lossless.
    pub encodings: Vec<Encoding>,
    /// How columns are reduced that no encoding names.
    pub plan: Plan,
    /// A power of two up to 4096, in bytes.
    pub alignment: usize,
}

impl Default for PackOptions {
    fn default() -> Self {
        PackOptions { encodings: Vec::new(), plan: Plan::default(), alignment: 64 }
    }
}

/// What packing has cost a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Precision {
    /// What the rows are; none for points.
    pub kind: Option<Kind>,
    /// The column's name.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// How they were reduced.
    pub reduction: Option<Reduction>,
    /// Rows, absent ones included.
    pub rows: usize,
    /// The largest difference between a packed value and the given one, in the
    /// column's unit.
    pub error: f64,
    /// Bytes of its elements and its presence.
    pub bytes: usize,
}

/// Replaces reflections and detections by packed fields, in the place of the
/// first of them; all else stays byte for byte. Lossless but for the encodings
/// in the options. Also gives the precision of each column of each table.
///
/// # Errors
///
/// [`Fault::Unknown`] where a row has a field that no column has, with its
/// number and its message's name; [`Fault::Value`] where an encoding cannot hold
/// a value; [`Fault::Both`] where a message has rows and a packed field;
/// [`Fault::Element`] and [`Fault::Scale`] where a column cannot have its
/// encoding; [`Fault::Resolution`] and [`Fault::Steps`] where it cannot be reduced
/// so; [`Fault::Wire`] and [`Fault::Depth`] where the bytes are not
/// Protobuf; [`Fault::Limit`].
pub fn pack(
    root: Root,
    message: &[u8],
    options: &PackOptions,
) -> Result<(Vec<u8>, Vec<Precision>)> {
    let mut packer = Packer { options, tasks: Vec::new() };
    let (mut parts, _) = packer.split(root.into(), message)?;
    let size = plan_lengths(&mut parts)?;
    let mut out = vec![0; size];
    let mut places = Vec::new();
    write(&parts, &mut out, &mut places);
    let mut precision = Vec::new();
    for (task, (layout, place)) in packer.tasks.iter_mut().zip(places) {
        task.fill(layout.write(place)?, &mut precision)?;
    }
    Ok((out, precision))
}

/// Where a column's values come from: a leaf or, as a marker, its message.
struct ColumnSource {
    leaf: usize,
    marker: bool,
    column: Column,
    reduction: Option<Reduction>,
    reduced: Option<Reduced>,
    /// The largest error so far.
    error: f64,
}

impl ColumnSource {
    fn new(leaf: usize, marker: bool, column: Column, reduction: Option<Reduction>) -> Self {
        ColumnSource { leaf, marker, column, reduction, reduced: None, error: 0.0 }
    }

    /// Bytes of so many rows.
    fn bytes(&self, rows: usize) -> usize {
        let bits = if self.column.optional { rows.div_ceil(8) } else { 0 };
        bits + self.column.size(rows)
    }
}

/// One table to be packed.
struct Task<'a> {
    kind: Kind,
    message: &'a [u8],
    sources: Vec<ColumnSource>,
}

struct Packer<'a, 'o> {
    options: &'o PackOptions,
    tasks: Vec<Task<'a>>,
}

impl<'a> Packer<'a, '_> {
    /// A message's parts, and whether it changes.
    fn split(
        &mut self,
        level: MessageLevel,
        bytes: &'a [u8],
    ) -> Result<(Vec<MessagePart<'a>>, bool)> {
        if let MessageLevel::Rows(kind) = level {
            return self.split_rows(kind, bytes);
        }
        let mut parts = Vec::new();
        let mut kept = 0;
        for field in Fields::new(bytes) {
            let field = field?;
            let (2, Some(inner)) = (field.kind, level.inner(field.number)) else { continue };
            let (inside, changed) = self.split(inner, field.content)?;
            if changed {
                push_unchanged(&bytes[kept..field.span.start], &mut parts);
                parts.push(MessagePart::Nested { number: field.number, parts: inside, size: 0 });
                kept = field.span.end;
            }
        }
        push_unchanged(&bytes[kept..], &mut parts);
        let changed = parts.iter().any(|part| matches!(part, MessagePart::Nested { .. }));
        Ok((parts, changed))
    }

    fn split_rows(&mut self, kind: Kind, bytes: &'a [u8]) -> Result<(Vec<MessagePart<'a>>, bool)> {
        let mut parts = Vec::new();
        let mut kept = 0;
        let mut place = None;
        let mut packed = false;
        for field in Fields::new(bytes) {
            let field = field?;
            packed |= (field.number, field.kind) == (FIELD, 2);
            if (field.number, field.kind) == (ROWS, 2) {
                push_unchanged(&bytes[kept..field.span.start], &mut parts);
                kept = field.span.end;
                place.get_or_insert(parts.len());
            }
        }
        push_unchanged(&bytes[kept..], &mut parts);
        let Some(place) = place else { return Ok((parts, false)) };
        if packed {
            return Err(Fault::Both.into());
        }
        let mut task = Task { kind, message: bytes, sources: Vec::new() };
        let rows = task.choose(self.options)?;
        task.reduce(rows as usize)?;
        let columns: Vec<Column> =
            task.sources.iter().map(|source| source.column.clone()).collect();
        let layout = Layout::plan(&columns, rows, 0, self.options.alignment)?;
        parts.insert(place, MessagePart::Table { layout, size: 0 });
        self.tasks.push(task);
        Ok((parts, true))
    }
}

fn push_unchanged<'a>(bytes: &'a [u8], parts: &mut Vec<MessagePart<'a>>) {
    if !bytes.is_empty() {
        parts.push(MessagePart::Bytes(bytes));
    }
}

impl Task<'_> {
    /// Chooses the columns that the rows need; gives the number of rows.
    fn choose(&mut self, options: &PackOptions) -> Result<u64> {
        let all = leaves(self.kind);
        let mut rows = 0;
        let (mut any, mut every, mut every_message) = (0, u32::MAX, u32::MAX);
        let mut hollow = 0; // messages that are somewhere without a value
        for_rows(self.kind, self.message, |row| {
            rows += 1;
            any |= row.has;
            every &= row.has;
            every_message &= row.messages;
            let filled = (0..all.len())
                .filter(|&i| row.has(i))
                .fold(0u32, |filled, i| filled | 1 << all[i].number);
            hollow |= row.messages & !filled;
            Ok(())
        })?;
        for (index, leaf) in all.iter().enumerate() {
            if leaf.inner == 1 && hollow >> leaf.number & 1 != 0 {
                let mut column = Column::new(&leaf.marker(), Element::None);
                column.optional = every_message >> leaf.number & 1 == 0;
                self.sources.push(ColumnSource::new(index, true, column, None));
            }
            if any >> index & 1 != 0 {
                let (mut column, reduction) = encode(self.kind, leaf, options)?;
                column.optional = every >> index & 1 == 0;
                self.sources.push(ColumnSource::new(index, false, column, reduction));
            }
        }
        Ok(rows)
    }

    /// Reduces the columns that are to be, so that their sizes are known.
    fn reduce(&mut self, rows: usize) -> Result<()> {
        let Task { kind, message, sources } = self;
        let all = leaves(*kind);
        let mut wanted: Vec<_> = sources
            .iter_mut()
            .filter(|source| source.reduction.is_some())
            .map(|source| {
                let elements = vec![0; rows * source.column.element.size()];
                (source, elements, vec![0u8; rows.div_ceil(8)])
            })
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        for_rows(*kind, message, |row: &Row| {
            for (source, elements, bits) in &mut wanted {
                if row.has(source.leaf) {
                    bits[at / 8] |= 1 << (at % 8);
                    let size = source.column.element.size();
                    let place = &mut elements[at * size..][..size];
                    let bits = row.values[source.leaf];
                    let error = store(&all[source.leaf], &source.column, bits, place)?;
                    source.error = source.error.max(error);
                }
            }
            at += 1;
            Ok(())
        })?;
        for (source, elements, bits) in wanted {
            let leaf = &all[source.leaf];
            let how = source.reduction.unwrap_or_default();
            let presence = source.column.optional.then_some(&bits[..]);
            let reduced =
                Reduced::from_elements(leaf.name, source.column.element, &elements, presence, &how);
            let reduced = reduced.map_err(|error| Error { number: leaf.number, ..error })?;
            source.error = source.error.max(reduced.error());
            source.column.reduced = Column::reduced(leaf.name, &reduced).reduced;
            source.reduced = Some(reduced);
        }
        Ok(())
    }

    fn fill(&mut self, mut table: Table<'_>, precision: &mut Vec<Precision>) -> Result<()> {
        let all = leaves(self.kind);
        let rows = table.rows();
        let mut columns = table.columns();
        let mut at = 0;
        let sources = &mut self.sources;
        for_rows(self.kind, self.message, |row: &Row| {
            for (column, source) in columns.iter_mut().zip(&mut *sources) {
                let leaf = &all[source.leaf];
                let has =
                    if source.marker { row.has_message(leaf.number) } else { row.has(source.leaf) };
                if !has {
                    continue;
                }
                column.set_present(at);
                if !source.marker && source.reduced.is_none() {
                    let place = column.bytes(at);
                    let error = store(leaf, &source.column, row.values[source.leaf], place)?;
                    source.error = source.error.max(error);
                }
            }
            at += 1;
            Ok(())
        })?;
        for (column, source) in columns.iter_mut().zip(&self.sources) {
            if let Some(reduced) = &source.reduced {
                column.put(reduced)?;
            }
            precision.push(Precision {
                kind: Some(self.kind),
                name: source.column.name.clone(),
                element: source.column.element,
                reduction: source.reduction,
                rows,
                error: source.error,
                bytes: source.bytes(rows),
            });
        }
        Ok(())
    }
}

/// The column of a leaf, and how it is reduced.
fn encode(kind: Kind, leaf: &Leaf, options: &PackOptions) -> Result<(Column, Option<Reduction>)> {
    let element = match leaf.kind {
        LeafType::Number => Element::F64,
        LeafType::Identifier => Element::U64,
        LeafType::Enumeration => Element::I32,
    };
    let mut column = Column::new(leaf.name, element);
    let mut reduction = options.plan.reduction(Some(kind), leaf.name, element)?;
    for encoding in options.encodings.iter().filter(|encoding| encoding.name == leaf.name) {
        let whole = encoding.element.is_integer() && encoding.scale.is_none();
        let rounded = encoding.reduction.is_some_and(|how| how.resolution.is_some());
        if encoding.element == Element::None
            || (leaf.kind != LeafType::Number && !whole)
            || (rounded && encoding.element != Element::F64)
        {
            return Err(Error::new(Fault::Element, leaf.number, leaf.name));
        }
        column.element = encoding.element;
        column.scale = encoding.scale;
        reduction = encoding.reduction;
    }
    Ok((column, reduction))
}

/// Stores one value as its column has it; gives the difference that makes.
fn store(leaf: &Leaf, column: &Column, bits: u64, place: &mut [u8]) -> Result<f64> {
    let element = column.element;
    let out_of_range = || Error::new(Fault::Value, leaf.number, leaf.name);
    if leaf.kind == LeafType::Number && element != Element::F64 {
        let value = f64::from_bits(bits);
        if !store_value(element, column.scale, value, place) {
            return Err(out_of_range());
        }
        let raw = load_value(element, place);
        let back = column.scale.map_or(raw, |(offset, scale)| offset + scale * raw);
        return Ok((back - value).abs());
    }
    if leaf.kind != LeafType::Number {
        let negative = leaf.kind == LeafType::Enumeration && (bits as i64) < 0;
        let width = 8 * element.size() - usize::from(element.is_signed());
        let magnitude = if negative { !bits } else { bits };
        if (negative && !element.is_signed()) || (width < 64 && magnitude >> width != 0) {
            return Err(out_of_range());
        }
    }
    place.copy_from_slice(&bits.to_le_bytes()[..place.len()]);
    Ok(0.0)
}
