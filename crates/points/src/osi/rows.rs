//! Rows as columns, from sub-messages or from the packed field.

use std::sync::{Arc, OnceLock};

use anyhow::{anyhow, Context, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_buffer::NullBuffer;
use wiregauge_columns::{ColumnPlan, ColumnReader, Wire};
use wiregauge_packed as packed;
use wiregauge_packed::{Element, View};
use wiregauge_schema::{self as schema, Cardinality, Name, Record, Scalar, Schema, TypeDef};

use super::leaf::{Leaf, LeafKind, PointListKind};
use crate::column::{each, Column, Values};
use crate::packed_numbers::{convert, unpack_numbers, unpack_signed, unpack_unsigned};

/// The rows of a list.
#[derive(Default)]
pub struct Rows<'m> {
    /// How many there are.
    pub count: usize,
    /// A column for each field that some of them have.
    pub columns: Vec<Column>,
    /// The pieces of the first field beside the list, which says how the sensor is.
    pub first: Vec<&'m [u8]>,
}

/// Reads the rows of a list in the message that holds it, which is passed through once. Of the
/// packed field only the columns that are wanted are read.
pub fn read<'m>(
    list: PointListKind,
    holder: &'m [u8],
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Rows<'m>> {
    let (mut first, mut packed) = (Vec::new(), None);
    let mut reader = ColumnReader::new(plan(list)?);
    let count = reader.push_beside(holder, &mut |number, bytes| match number {
        1 => first.push(bytes),
        // Of several the last counts.
        packed::FIELD if list.is_packable() => packed = Some(bytes),
        _ => {}
    });
    let count = count.context("not a valid Protobuf message")?;
    if let Some(field) = packed {
        let view = View::open(field).map_err(|error| anyhow!("the packed field: {error}"))?;
        let leaves = list.leaves().iter().filter(|leaf| is_wanted(&leaf.column()));
        let columns = leaves.filter_map(|leaf| unpack_column(&view, leaf));
        return Ok(Rows { count: view.rows(), columns: columns.collect::<Result<_>>()?, first });
    }
    if count == 0 {
        return Ok(Rows { first, ..Rows::default() });
    }
    let mut values = Vec::new();
    flatten(reader.finish()?, &mut values);
    let columns = list.leaves().iter().zip(values);
    let columns = columns.filter_map(|(leaf, (array, nulls))| column(leaf, array, nulls));
    Ok(Rows { count, columns: columns.collect(), first })
}

/// What reads a list's fields, made once for each kind of list.
fn plan(list: PointListKind) -> Result<Arc<ColumnPlan>> {
    static PLANS: [OnceLock<Arc<ColumnPlan>>; PointListKind::COUNT] =
        [const { OnceLock::new() }; PointListKind::COUNT];
    let kept = &PLANS[list as usize];
    if let Some(plan) = kept.get() {
        return Ok(Arc::clone(plan));
    }
    let plan = Arc::new(ColumnPlan::elements(&definition(list), Wire::Protobuf, "row", &[])?);
    Ok(Arc::clone(kept.get_or_init(|| plan)))
}

/// The message that holds a list, of which the fields of a row are known.
fn definition(list: PointListKind) -> Schema {
    let name = |name: &str| Name { original: name.into(), legal: name.into() };
    let field = |called: &str, id: u64, element, cardinality| schema::Field {
        name: name(called),
        id: id as u32,
        element,
        cardinality,
        union: None,
        default: None,
        wire: Default::default(),
    };
    let record = |called: &str, fields| {
        TypeDef::Record(Record { name: name(called), fields, role: Default::default() })
    };
    let (mut types, mut row) = (Vec::new(), Vec::new());
    // What stands in one message follows one another.
    for group in list.leaves().chunk_by(|a, b| a.inner > 0 && a.number == b.number) {
        let own = |leaf: &Leaf, id| {
            let scalar = match leaf.kind {
                LeafKind::Number => Scalar::F64,
                LeafKind::Identifier => Scalar::U64,
                LeafKind::Enumeration => Scalar::I32,
                LeafKind::Count => Scalar::U32,
                LeafKind::Flag => Scalar::Bool,
            };
            field(leaf.name, id, schema::Element::Scalar(scalar), Cardinality::Optional)
        };
        let first = &group[0];
        if first.inner == 0 {
            row.push(own(first, first.number));
            continue;
        }
        let parent = first.name.split('.').next().unwrap_or_default();
        types.push(record(parent, group.iter().map(|leaf| own(leaf, leaf.inner)).collect()));
        let element = schema::Element::Record(types.len() - 1);
        row.push(field(parent, first.number, element, Cardinality::Optional));
    }
    types.push(record("row", row));
    let element = schema::Element::Record(types.len() - 1);
    let rows = field("row", list.number(), element, Cardinality::List { bound: None });
    types.push(record("list", vec![rows]));
    Schema { root: types.len() - 1, types, small_array: 0, wording: Default::default() }
}

/// The arrays of numbers in a batch, those in records too, and which rows have no value.
fn flatten(batch: RecordBatch, into: &mut Vec<(ArrayRef, Option<NullBuffer>)>) {
    let (_, arrays, _) = StructArray::from(batch).into_parts();
    for array in arrays {
        match array.as_struct_opt() {
            Some(record) => {
                let nulls = record.nulls().cloned();
                let inner = record.columns().to_vec();
                drop(array);
                for array in inner {
                    let both = NullBuffer::union(nulls.as_ref(), array.nulls());
                    into.push((array, both));
                }
            }
            None => {
                let nulls = array.nulls().cloned();
                into.push((array, nulls));
            }
        }
    }
}

/// A column; none where no row has a value.
fn column(leaf: &Leaf, array: ArrayRef, nulls: Option<NullBuffer>) -> Option<Column> {
    let absent = nulls.as_ref().map_or(0, NullBuffer::null_count);
    if absent == array.len() {
        return None;
    }
    let values = match leaf.kind {
        LeafKind::Number => Values::F64(take::<Float64Type>(array)),
        LeafKind::Identifier => Values::U64(take::<UInt64Type>(array)),
        LeafKind::Enumeration => Values::I32(take::<Int32Type>(array)),
        LeafKind::Count => Values::U32(take::<UInt32Type>(array)),
        LeafKind::Flag => Values::U8(array.as_boolean().values().iter().map(u8::from).collect()),
    };
    let present = nulls.filter(|_| absent > 0).map(|nulls| nulls.iter().collect());
    Some(Column { name: leaf.column(), unit: leaf.unit, values, present })
}

/// The numbers of an array, without a copy where nobody else has them.
fn take<T: ArrowPrimitiveType>(array: ArrayRef) -> Vec<T::Native> {
    let numbers = array.as_primitive::<T>().clone();
    drop(array);
    let (_, values, _) = numbers.into_parts();
    values.into_inner().into_vec().unwrap_or_else(|buffer| buffer.typed_data().to_vec())
}

/// A column of the packed field, in the type that it has there; none where it has no such column.
fn unpack_column(view: &View, leaf: &Leaf) -> Option<Result<Column>> {
    let column = view.values(leaf.name)?;
    let element = column.element?;
    let rows = view.rows();
    let present: Option<Vec<bool>> =
        column.bitmap.map(|_| (0..rows).map(|row| column.present(row)).collect());
    if rows == 0 || present.as_ref().is_some_and(|present| !present.contains(&true)) {
        return None;
    }
    let values = match leaf.kind {
        // No list with counts and flags is packed.
        LeafKind::Count | LeafKind::Flag => return None,
        LeafKind::Number => unpack_numbers(&column, rows),
        LeafKind::Identifier => unpack_identifiers(&column, element, rows),
        LeafKind::Enumeration => unpack_entries(&column, element, rows),
    };
    let Some(mut values) = values else {
        return Some(Err(anyhow!("the packed field: column {} has another type", leaf.name)));
    };
    let present = present.filter(|present| present.contains(&false));
    if let Some(present) = &present {
        // What stands there means nothing.
        each!(&mut values, list => {
            let absent = list.iter_mut().zip(present).filter(|(_, present)| !**present);
            absent.for_each(|(value, _)| *value = Default::default());
        });
    }
    Some(Ok(Column { name: leaf.column(), unit: leaf.unit, values, present }))
}

/// Identifiers: what has a sign stands for their 64 bits.
fn unpack_identifiers(column: &packed::Values, element: Element, rows: usize) -> Option<Values> {
    let bits = |value: i64| value as u64;
    Some(match element {
        Element::I64 => Values::U64(convert(column.to_vec(rows)?, bits)),
        Element::I32 => Values::U64(convert(column.to_vec::<i32>(rows)?, |it| bits(it.into()))),
        Element::I16 => Values::U64(convert(column.to_vec::<i16>(rows)?, |it| bits(it.into()))),
        Element::I8 => Values::U64(convert(column.to_vec::<i8>(rows)?, |it| bits(it.into()))),
        unsigned => unpack_unsigned(column, unsigned, rows)?,
    })
}

/// Entries of an enumeration, whose numbers have 32 bits.
fn unpack_entries(column: &packed::Values, element: Element, rows: usize) -> Option<Values> {
    Some(match element {
        Element::U64 => Values::I32(convert(column.to_vec::<u64>(rows)?, |it| it as i32)),
        Element::I64 => Values::I32(convert(column.to_vec::<i64>(rows)?, |it| it as i32)),
        Element::U32 => Values::I32(convert(column.to_vec::<u32>(rows)?, |it| it as i32)),
        Element::U16 | Element::U8 => unpack_unsigned(column, element, rows)?,
        signed => unpack_signed(column, signed, rows)?,
    })
}
