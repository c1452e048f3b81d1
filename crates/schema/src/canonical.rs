//! The canonical form: the bytes in which a message travels between the gauge
//! and its runners, and in which equality is decided.
//!
//! Fields stand in schema order without names, tags or padding. Scalars are
//! little-endian, a `bool` is one byte 0 or 1, an enum is the integer that
//! represents it, a string or bytes is a `u32` length and that many octets, an
//! optional field is a byte 0 or 1 and, if 1, its element, a list is a `u32`
//! count and the elements, a fixed array is its elements. The same message
//! therefore has exactly one canonical form.

use anyhow::{bail, ensure, Context, Result};

use crate::model::{Cardinality, Element, Field, Scalar, Schema, TypeId};
use crate::value::Value;

/// The canonical bytes of a message. Fails where the value does not fit the
/// schema; the error names the field.
pub fn encode(schema: &Schema, value: &Value) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_record(schema, schema.root, value, &mut out)?;
    Ok(out)
}

/// The message that canonical bytes stand for. Fails on anything else than
/// exactly one message.
pub fn decode(schema: &Schema, bytes: &[u8]) -> Result<Value> {
    let mut input = bytes;
    let value = read_record(schema, schema.root, &mut input)?;
    ensure!(input.is_empty(), "{} bytes left over after the message", input.len());
    Ok(value)
}

fn write_record(schema: &Schema, id: TypeId, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let record = schema.record(id);
    let Value::Record(values) = value else {
        bail!("{} needs a record", record.name.original);
    };
    ensure!(
        values.len() == record.fields.len(),
        "{}: wrong number of fields",
        record.name.original
    );
    for (field, value) in record.fields.iter().zip(values) {
        write_field(schema, field, value, out)
            .with_context(|| format!("{}.{}", record.name.original, field.name.original))?;
    }
    Ok(())
}

fn write_field(schema: &Schema, field: &Field, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match (field.cardinality, value) {
        (Cardinality::Required | Cardinality::Implicit, value) => {
            write_element(schema, field.element, value, out)
        }
        (Cardinality::Optional, Value::Absent) => {
            out.push(0);
            Ok(())
        }
        (Cardinality::Optional, value) => {
            out.push(1);
            write_element(schema, field.element, value, out)
        }
        (Cardinality::List { bound }, Value::List(values)) => {
            ensure!(
                bound.is_none_or(|b| values.len() <= b as usize),
                "the list has more elements than its bound"
            );
            write_len(values.len(), out)?;
            values.iter().try_for_each(|v| write_element(schema, field.element, v, out))
        }
        (Cardinality::Array { len }, Value::List(values)) => {
            ensure!(values.len() == len as usize, "needs {len} elements, has {}", values.len());
            values.iter().try_for_each(|v| write_element(schema, field.element, v, out))
        }
        (_, other) => bail!("needs a list, has {other:?}"),
    }
}

fn write_element(
    schema: &Schema,
    element: Element,
    value: &Value,
    out: &mut Vec<u8>,
) -> Result<()> {
    match (element, value) {
        (Element::Record(id), value) => write_record(schema, id, value, out),
        (Element::String, Value::String(text)) => {
            write_len(text.len(), out)?;
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
        (Element::Bytes, Value::Bytes(bytes)) => {
            write_len(bytes.len(), out)?;
            out.extend_from_slice(bytes);
            Ok(())
        }
        (Element::Scalar(scalar), value) => write_scalar(scalar, value, out),
        (Element::Enum(id), value) => write_scalar(schema.enumeration(id).repr, value, out),
        (_, other) => bail!("needs {element:?}, has {other:?}"),
    }
}

fn write_len(len: usize, out: &mut Vec<u8>) -> Result<()> {
    let len = u32::try_from(len).context("it is longer than 4 GiB")?;
    out.extend_from_slice(&len.to_le_bytes());
    Ok(())
}

fn write_scalar(scalar: Scalar, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match (scalar, value) {
        (Scalar::Bool, Value::Bool(v)) => out.push(u8::from(*v)),
        (Scalar::U8, Value::Unsigned(v)) => out.extend(u8::try_from(*v)?.to_le_bytes()),
        (Scalar::U16, Value::Unsigned(v)) => out.extend(u16::try_from(*v)?.to_le_bytes()),
        (Scalar::U32, Value::Unsigned(v)) => out.extend(u32::try_from(*v)?.to_le_bytes()),
        (Scalar::U64, Value::Unsigned(v)) => out.extend(v.to_le_bytes()),
        (Scalar::I8, Value::Signed(v)) => out.extend(i8::try_from(*v)?.to_le_bytes()),
        (Scalar::I16, Value::Signed(v)) => out.extend(i16::try_from(*v)?.to_le_bytes()),
        (Scalar::I32, Value::Signed(v)) => out.extend(i32::try_from(*v)?.to_le_bytes()),
        (Scalar::I64, Value::Signed(v)) => out.extend(v.to_le_bytes()),
        (Scalar::F32, Value::F32(v)) => out.extend(v.to_le_bytes()),
        (Scalar::F64, Value::F64(v)) => out.extend(v.to_le_bytes()),
        (_, other) => bail!("needs {}, has {other:?}", scalar.rust_name()),
    }
    Ok(())
}

fn read_record(schema: &Schema, id: TypeId, input: &mut &[u8]) -> Result<Value> {
    let record = schema.record(id);
    let mut values = Vec::with_capacity(record.fields.len());
    for field in &record.fields {
        values.push(
            read_field(schema, field, input)
                .with_context(|| format!("{}.{}", record.name.original, field.name.original))?,
        );
    }
    Ok(Value::Record(values))
}

fn read_field(schema: &Schema, field: &Field, input: &mut &[u8]) -> Result<Value> {
    let start = input.len();
    let count = match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => {
            return read_element(schema, field.element, input)
        }
        Cardinality::Optional => {
            return match take(input, 1)?[0] {
                0 => Ok(Value::Absent),
                1 => read_element(schema, field.element, input),
                other => bail!("presence is 0 or 1, not {other}"),
            }
        }
        Cardinality::List { .. } => read_len(input)?,
        Cardinality::Array { len } => len as usize,
    };
    // No capacity from an untrusted count: the elements must really be there.
    let mut values = Vec::new();
    for _ in 0..count {
        values.push(read_element(schema, field.element, input)?);
        // Elements without bytes are the only ones a small input can have
        // many of.
        ensure!(values.len() <= start.max(1 << 16), "it has too many empty elements");
    }
    Ok(Value::List(values))
}

fn read_element(schema: &Schema, element: Element, input: &mut &[u8]) -> Result<Value> {
    Ok(match element {
        Element::Record(id) => read_record(schema, id, input)?,
        Element::String => {
            let len = read_len(input)?;
            Value::String(String::from_utf8(take(input, len)?.to_vec())?)
        }
        Element::Bytes => {
            let len = read_len(input)?;
            Value::Bytes(take(input, len)?.to_vec())
        }
        Element::Scalar(scalar) => read_scalar(scalar, input)?,
        Element::Enum(id) => read_scalar(schema.enumeration(id).repr, input)?,
    })
}

fn take<'a>(input: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let (head, tail) = input.split_at_checked(len).context("ends too early")?;
    *input = tail;
    Ok(head)
}

fn read_len(input: &mut &[u8]) -> Result<usize> {
    Ok(u32::from_le_bytes(take(input, 4)?.try_into()?) as usize)
}

fn read_scalar(scalar: Scalar, input: &mut &[u8]) -> Result<Value> {
    let bytes = take(input, scalar.size())?;
    Ok(match scalar {
        Scalar::Bool => match bytes[0] {
            0 => Value::Bool(false),
            1 => Value::Bool(true),
            other => bail!("a bool is 0 or 1, not {other}"),
        },
        Scalar::U8 => Value::Unsigned(bytes[0].into()),
        Scalar::U16 => Value::Unsigned(u16::from_le_bytes(bytes.try_into()?).into()),
        Scalar::U32 => Value::Unsigned(u32::from_le_bytes(bytes.try_into()?).into()),
        Scalar::U64 => Value::Unsigned(u64::from_le_bytes(bytes.try_into()?)),
        Scalar::I8 => Value::Signed(i8::from_le_bytes(bytes.try_into()?).into()),
        Scalar::I16 => Value::Signed(i16::from_le_bytes(bytes.try_into()?).into()),
        Scalar::I32 => Value::Signed(i32::from_le_bytes(bytes.try_into()?).into()),
        Scalar::I64 => Value::Signed(i64::from_le_bytes(bytes.try_into()?)),
        Scalar::F32 => Value::F32(f32::from_le_bytes(bytes.try_into()?)),
        Scalar::F64 => Value::F64(f64::from_le_bytes(bytes.try_into()?)),
    })
}
