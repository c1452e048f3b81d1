//! Messages in FlatBuffers into columns, by the definition that the recording carries.
//!
//! Fields lie where the vtable of their table says. Structs in a vector lie one after another,
//! so that their numbers are read column by column.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_flatbuffers::{
    Buffer, Definition, FieldCount, FieldKind, Number, Object, Scalar as FlatScalar, Table, Vector,
    DEPTH, MAX_REPETITION,
};
use wiregauge_schema::{Cardinality, Element, Field, Name, Record, Scalar, Schema, TypeDef};

use crate::column::{push_end, Column, Content};
use crate::selection::{PlanTarget, RecordSelection};

/// The tables and structs of a definition as records, each by its number; unions and what is
/// made of them are left out.
///
/// # Errors
/// When it has no table of this name.
pub(crate) fn schema(definition: &Definition, table: &str) -> Result<Schema> {
    let root = definition.table(table)?;
    let name = |name: &str| Name { original: name.into(), legal: name.into() };
    let types = definition.objects().iter().map(|object| {
        let fields = fields(object).enumerate().map(|(at, (field, element))| Field {
            name: name(&field.name),
            id: at as u32 + 1,
            element,
            cardinality: match (field.count, object.fixed, field.kind) {
                (FieldCount::Vector, ..) => Cardinality::List { bound: None },
                (FieldCount::Array(len), ..) => Cardinality::Array { len: len as u32 },
                (FieldCount::One, Some(_), _) => Cardinality::Required,
                (FieldCount::One, None, FieldKind::Scalar(_)) if field.default.is_some() => {
                    Cardinality::Implicit
                }
                (FieldCount::One, None, _) => Cardinality::Optional,
            },
            union: None,
            default: None,
            wire: Default::default(),
        });
        let fields = fields.collect();
        TypeDef::Record(Record { name: name(&object.name), fields, role: Default::default() })
    });
    Ok(Schema { types: types.collect(), root, small_array: 0, wording: Default::default() })
}

/// The fields that can be columns.
fn fields(object: &Object) -> impl Iterator<Item = (&wiregauge_flatbuffers::Field, Element)> {
    object.fields.iter().filter_map(|field| {
        // An array without elements has no bytes that a column could come from.
        if field.count == FieldCount::Array(0) {
            return None;
        }
        let element = match field.kind {
            FieldKind::Scalar(scalar) => Element::Scalar(number_type(scalar)?),
            FieldKind::Text => Element::String,
            FieldKind::Object(id) => Element::Record(id),
            FieldKind::Tag(_) | FieldKind::Union(_) | FieldKind::Other => return None,
        };
        Some((field, element))
    })
}

fn number_type(scalar: FlatScalar) -> Option<Scalar> {
    Some(match scalar {
        FlatScalar::Bool => Scalar::Bool,
        FlatScalar::Unsigned(1) => Scalar::U8,
        FlatScalar::Unsigned(2) => Scalar::U16,
        FlatScalar::Unsigned(4) => Scalar::U32,
        FlatScalar::Unsigned(8) => Scalar::U64,
        FlatScalar::Signed(1) => Scalar::I8,
        FlatScalar::Signed(2) => Scalar::I16,
        FlatScalar::Signed(4) => Scalar::I32,
        FlatScalar::Signed(8) => Scalar::I64,
        FlatScalar::Float(4) => Scalar::F32,
        FlatScalar::Float(8) => Scalar::F64,
        _ => return None,
    })
}

/// Decodes messages of one type, for one selection.
#[derive(Clone, Debug)]
pub(crate) struct FlatBufferPlan {
    root: RecordPlan,
    /// Whether a message is a row, and not a list in it the rows.
    is_row: bool,
}

#[derive(Clone, Debug)]
struct RecordPlan {
    name: String,
    /// What is read.
    fields: Vec<FieldPlan>,
    /// Bytes of a struct; none of a table.
    size: Option<usize>,
}

#[derive(Clone, Debug)]
struct FieldPlan {
    name: String,
    place: usize,
    value: ValuePlan,
    count: FieldCount,
    target: PlanTarget,
    /// The bits of a number where it is absent; none where it is null then.
    default: Option<u64>,
}

#[derive(Clone, Debug)]
enum ValuePlan {
    /// Of so many bytes.
    Number(usize),
    Text,
    Record(Box<RecordPlan>),
}

impl FlatBufferPlan {
    /// # Errors
    /// When nothing is selected in a record.
    pub fn new(
        definition: &Definition,
        table: &str,
        selection: &RecordSelection,
    ) -> Result<FlatBufferPlan> {
        let root = RecordPlan::new(definition, definition.table(table)?, selection)?;
        let leads_on =
            |field: &FieldPlan| matches!(field.target, PlanTarget::Within | PlanTarget::Rows);
        let is_row = !root.fields.iter().any(leads_on);
        Ok(FlatBufferPlan { root, is_row })
    }

    /// Adds the rows of a message to the record of all columns. Where this fails, rows may be
    /// half there.
    ///
    /// # Errors
    /// When the message is damaged.
    pub fn decode(&self, message: &[u8], rows: &mut Column, size: &mut usize) -> Result<()> {
        let buffer = Buffer(message);
        let mut reader = Reader { buffer, size, left: MAX_REPETITION * message.len() + 1024 };
        let root = buffer.root();
        let read = root.and_then(|root| match self.is_row {
            true => reader.row(&self.root, &root, rows, 0),
            false => reader.on_the_way(&self.root, &root, rows, 0),
        });
        read.context("not a valid FlatBuffer")
    }
}

impl RecordPlan {
    fn new(definition: &Definition, id: usize, selection: &RecordSelection) -> Result<RecordPlan> {
        let object = &definition.objects()[id];
        let mut plans = Vec::new();
        for ((field, _), target) in fields(object).zip(&selection.targets) {
            let (target, inner) = target.split();
            if target == PlanTarget::Skip {
                continue;
            }
            let value = match field.kind {
                FieldKind::Scalar(scalar) => ValuePlan::Number(scalar.size()),
                FieldKind::Object(id) => {
                    let inner = inner.context("nothing is selected in it")?;
                    ValuePlan::Record(Box::new(RecordPlan::new(definition, id, inner)?))
                }
                _ => ValuePlan::Text,
            };
            let default = field.default.map(|default| match (field.kind, default) {
                (FieldKind::Scalar(FlatScalar::Float(4)), Number::Float(number)) => {
                    u64::from((number as f32).to_bits())
                }
                (_, Number::Float(number)) => number.to_bits(),
                (_, Number::Integer(number)) => number as u64,
            });
            let (name, place, count) = (field.name.clone(), field.place, field.count);
            plans.push(FieldPlan { name, place, value, count, target, default });
        }
        let size = object.fixed.map(|(size, _)| size);
        Ok(RecordPlan { name: object.name.clone(), fields: plans, size })
    }
}

impl ValuePlan {
    /// Bytes of an element in a vector.
    fn size(&self) -> usize {
        match self {
            ValuePlan::Number(size) => *size,
            ValuePlan::Text => 4,
            ValuePlan::Record(record) => record.size.unwrap_or(4),
        }
    }
}

struct Reader<'m, 's> {
    buffer: Buffer<'m>,
    /// How much memory rows take, about.
    size: &'s mut usize,
    /// Bytes that may still be read: tables may share tables.
    left: usize,
}

impl<'m> Reader<'m, '_> {
    fn use_budget(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.context("its tables refer to each other in too many ways")?;
        Ok(())
    }

    /// A table on the path to the rows, which is no row.
    fn on_the_way(
        &mut self,
        plan: &RecordPlan,
        table: &Table<'m>,
        rows: &mut Column,
        depth: usize,
    ) -> Result<()> {
        ensure!(depth < DEPTH, "nested more than {DEPTH} times");
        self.use_budget(8)?;
        for field in &plan.fields {
            let Some(at) = table.field(field.place)? else { continue };
            let ValuePlan::Record(inner) = &field.value else { continue };
            let Vector { at, len } = match field.count {
                FieldCount::Vector => self.vector(at, field.value.size())?,
                _ => Vector { at, len: 1 },
            };
            let read = match (field.target, inner.size) {
                (PlanTarget::Rows, _) => self.elements(&field.value, at, len, rows, depth),
                (_, Some(_)) => Err(anyhow::anyhow!("a struct has no list")),
                (_, None) => (0..len).try_for_each(|n| {
                    let table = self.buffer.table(at + 4 * n)?;
                    self.on_the_way(inner, &table, rows, depth + 1)
                }),
            };
            read.with_context(|| format!("{}.{}", plan.name, field.name))?;
        }
        Ok(())
    }

    /// A table as a row.
    fn row(
        &mut self,
        plan: &RecordPlan,
        table: &Table<'m>,
        rows: &mut Column,
        depth: usize,
    ) -> Result<()> {
        ensure!(depth < DEPTH, "nested more than {DEPTH} times");
        self.use_budget(8)?;
        rows.count_size(1, self.size)?;
        let columns = rows.columns();
        for field in &plan.fields {
            let PlanTarget::Column(column) = field.target else { continue };
            let column = &mut columns[column];
            let read = match (table.field(field.place)?, field.default) {
                (Some(at), _) => self.value(field, at, column, depth),
                (None, Some(bits)) if field.count == FieldCount::One => {
                    push_number(column, bits);
                    Ok(())
                }
                (None, _) => {
                    column.push_empties(1);
                    Ok(())
                }
            };
            read.with_context(|| format!("{}.{}", plan.name, field.name))?;
        }
        rows.count_rows(1);
        Ok(())
    }

    /// A field that is there.
    fn value(
        &mut self,
        field: &FieldPlan,
        at: usize,
        column: &mut Column,
        depth: usize,
    ) -> Result<()> {
        if field.count != FieldCount::Vector {
            column.push_presence(1);
            return self.elements(&field.value, at, 1, column, depth);
        }
        let Vector { at, len } = self.vector(at, field.value.size())?;
        match &mut column.content {
            Content::Bytes { bytes, ends, .. } => {
                bytes.extend_from_slice(self.buffer.bytes(at, len)?);
                push_end(ends, bytes.len())
            }
            Content::List { element, ends, .. } => {
                self.elements(&field.value, at, len, element, depth)?;
                push_end(ends, element.rows())
            }
            _ => bail!("a vector has a column of lists"),
        }
    }

    fn vector(&mut self, at: usize, size: usize) -> Result<Vector> {
        let vector = self.buffer.vector(at, size)?;
        self.use_budget(vector.len * size)?;
        Ok(vector)
    }

    /// Elements one after another, each a row of a column.
    fn elements(
        &mut self,
        plan: &ValuePlan,
        at: usize,
        len: usize,
        column: &mut Column,
        depth: usize,
    ) -> Result<()> {
        match (plan, &mut column.content) {
            (ValuePlan::Number(size), Content::Number(words, _)) => {
                words.extend(self.buffer.bytes(at, len * size)?, false);
            }
            (ValuePlan::Text, Content::Bytes { bytes, ends, .. }) => {
                for n in 0..len {
                    let text = self.buffer.text(at + 4 * n)?;
                    self.use_budget(text.len() + 1)?;
                    bytes.extend_from_slice(text.as_bytes());
                    push_end(ends, bytes.len())?;
                }
            }
            (ValuePlan::Record(record), _) => match record.size {
                Some(size) => {
                    column.count_size(len, self.size)?;
                    let structs = self.buffer.bytes(at, len * size)?;
                    gather(record, structs, (0, size), column);
                }
                None => {
                    for n in 0..len {
                        let table = self.buffer.table(at + 4 * n)?;
                        self.row(record, &table, column, depth + 1)?;
                    }
                }
            },
            _ => bail!("a plan and its columns are made together"),
        }
        Ok(())
    }
}

/// Adds the numbers of structs that begin so far behind the beginning of each step.
fn gather(plan: &RecordPlan, bytes: &[u8], (first, step): (usize, usize), rows: &mut Column) {
    let count = bytes.len() / step;
    if count == 0 {
        return;
    }
    let columns = rows.columns();
    for field in &plan.fields {
        let PlanTarget::Column(column) = field.target else { continue };
        let (column, at) = (&mut columns[column], first + field.place);
        match (&field.value, field.count, &mut column.content) {
            (ValuePlan::Number(_), FieldCount::One, Content::Number(words, _)) => {
                words.extend_strided(bytes, at, step, false);
            }
            (ValuePlan::Record(inner), FieldCount::One, _) => {
                gather(inner, bytes, (at, step), column);
            }
            (value, FieldCount::Array(len), content) => {
                let size = len * value.size();
                let arrays = bytes.chunks_exact(step).map(|row| &row[at..at + size]);
                match (content, value) {
                    (Content::Octets { bytes, .. }, _) => {
                        arrays.for_each(|array| bytes.extend_from_slice(array));
                    }
                    (Content::Array { element, rows, .. }, ValuePlan::Record(inner)) => {
                        *rows += count;
                        let step = value.size();
                        arrays.for_each(|array| gather(inner, array, (0, step), element));
                    }
                    (Content::Array { element, rows, .. }, _) => {
                        *rows += count;
                        if let Content::Number(words, _) = &mut element.content {
                            arrays.for_each(|array| words.extend(array, false));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    rows.count_rows(count);
}

fn push_number(column: &mut Column, bits: u64) {
    column.push_presence(1);
    if let Content::Number(words, _) = &mut column.content {
        words.push(bits);
    }
}
