//! Decoder for formats in which a message is the sequence of its fields: no
//! tags, no optional fields, lists headed by a count. CDR and ROS 1 are two.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, Schema, TypeId, Value};

/// Deepest nesting of records that is followed; definitions that contain
/// themselves could otherwise exhaust the stack.
const MAX_DEPTH: usize = 64;

/// How a format lays out the sequence.
#[derive(Clone, Copy, Debug)]
pub struct SequenceLayout {
    /// Numbers start with the most significant byte.
    pub big_endian: bool,
    /// Numbers start at multiples of their size.
    pub aligned: bool,
    /// Text ends with a zero byte, which its length includes.
    pub terminated: bool,
    /// A record without fields takes one byte.
    pub padded_empty: bool,
    /// How wide text is written.
    pub wide: WideText,
}

/// How wide text is written, in which implementations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideText {
    /// The number of letters, and four bytes for each.
    Four,
    /// The number of units of UTF-16, and these.
    Two,
    /// The number of bytes of UTF-16, and these.
    Octets,
}

/// Makes something of a message while it is read: a value, or a text.
pub(crate) trait MessageMaker {
    /// What a field becomes.
    type Made;

    /// Before a message; also where the same one is read again in another way.
    fn begin_message(&mut self) {}

    /// Of a number or a truth value.
    fn number(&mut self, number: Value) -> Self::Made;

    fn text(&mut self, text: &str) -> Self::Made;

    fn bytes(&mut self, bytes: &[u8]) -> Self::Made;

    fn begin_record(&mut self) {}

    /// Before a field of the record.
    fn begin_field(&mut self, _field: &Field) {}

    /// Of all fields of the record.
    fn end_record(&mut self, fields: Vec<Self::Made>) -> Self::Made;

    fn begin_list(&mut self) {}

    /// Before an element of the list.
    fn begin_element(&mut self) {}

    /// Of all elements of the list.
    fn end_list(&mut self, elements: Vec<Self::Made>) -> Self::Made;
}

/// Makes values of the model.
pub(crate) struct ValueMaker;

impl MessageMaker for ValueMaker {
    type Made = Value;

    fn number(&mut self, number: Value) -> Value {
        number
    }

    fn text(&mut self, text: &str) -> Value {
        Value::String(text.to_owned())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Value {
        Value::Bytes(bytes.to_vec())
    }

    fn end_record(&mut self, fields: Vec<Value>) -> Value {
        Value::Record(fields)
    }

    fn end_list(&mut self, elements: Vec<Value>) -> Value {
        Value::List(elements)
    }
}

/// Whether a field is wide text, which is a string in the model.
pub fn is_wide(schema: &Schema, record: &Record, field: &Field) -> bool {
    let said = || schema.wording.find_member(&record.name.original, &field.name.original);
    field.element == Element::String
        && said().is_some_and(|said| said.spelling.starts_with("wstring"))
}

/// Reads a message of the schema's root. Returns what is made of it and the number of bytes
/// that follow. Fails where the bytes end too early or are no valid text or
/// truth value; the error names the field.
pub(crate) fn read<M: MessageMaker>(
    schema: &Schema,
    bytes: &[u8],
    layout: SequenceLayout,
    maker: &mut M,
) -> Result<(M::Made, usize)> {
    maker.begin_message();
    let mut reader = Reader { schema, bytes, at: 0, layout, maker };
    let made = reader.record(schema.root, 0)?;
    Ok((made, bytes.len() - reader.at))
}

struct Reader<'a, 'm, M> {
    schema: &'a Schema,
    bytes: &'a [u8],
    at: usize,
    layout: SequenceLayout,
    maker: &'m mut M,
}

impl<'a, M: MessageMaker> Reader<'a, '_, M> {
    fn record(&mut self, id: TypeId, depth: usize) -> Result<M::Made> {
        let record = self.schema.record(id);
        ensure!(depth < MAX_DEPTH, "{} is nested too deeply", record.name.original);
        if record.fields.is_empty() && self.layout.padded_empty {
            self.take(1)?;
        }
        let mut values = Vec::with_capacity(record.fields.len());
        self.maker.begin_record();
        for field in &record.fields {
            let is_wide = is_wide(self.schema, record, field);
            self.maker.begin_field(field);
            values
                .push(self.field(field, is_wide, depth).with_context(|| {
                    format!("{}.{}", record.name.original, field.name.original)
                })?);
        }
        Ok(self.maker.end_record(values))
    }

    fn field(&mut self, field: &Field, is_wide: bool, depth: usize) -> Result<M::Made> {
        let count = match field.cardinality {
            Cardinality::Required | Cardinality::Implicit if is_wide => {
                return self.wide();
            }
            Cardinality::Required | Cardinality::Implicit => {
                return self.element(field.element, depth)
            }
            Cardinality::Optional => bail!("an optional field, which this format does not have"),
            Cardinality::Array { len } => len as usize,
            Cardinality::List { bound } => {
                let count = self.len()?;
                ensure!(
                    bound.is_none_or(|bound| count <= bound as usize),
                    "{count} elements are more than its bound"
                );
                count
            }
        };
        let left = self.bytes.len() - self.at;
        ensure!(count <= left, "{count} elements, but only {left} bytes are left");
        // Counts are not to be trusted with memory: only elements that are there
        // take any, and elements that take no bytes would never run out.
        let mut values = Vec::new();
        self.maker.begin_list();
        for _ in 0..count {
            let before = self.at;
            self.maker.begin_element();
            values.push(match is_wide {
                true => self.wide()?,
                false => self.element(field.element, depth)?,
            });
            ensure!(self.at > before || count == 1, "the elements of a list have no content");
        }
        Ok(self.maker.end_list(values))
    }

    fn element(&mut self, element: Element, depth: usize) -> Result<M::Made> {
        let scalar = match element {
            Element::Record(id) => return self.record(id, depth + 1),
            Element::String => {
                let text = self.text()?;
                return Ok(self.maker.text(text));
            }
            Element::Bytes => {
                let len = self.len()?;
                let bytes = self.take(len)?;
                return Ok(self.maker.bytes(bytes));
            }
            Element::Scalar(scalar) => scalar,
            Element::Enum(id) => self.schema.enumeration(id).repr,
        };
        let number = self.scalar(scalar)?;
        Ok(self.maker.number(number))
    }

    fn text(&mut self) -> Result<&'a str> {
        let len = self.len()?;
        let mut bytes = self.take(len)?;
        // Some writers give an empty text the length 0.
        if self.layout.terminated && len > 0 {
            bytes = bytes.strip_suffix(&[0]).context("a text has no final zero byte")?;
        }
        std::str::from_utf8(bytes).context("a text is not UTF-8")
    }

    fn wide(&mut self) -> Result<M::Made> {
        let text = self.wide_text()?;
        Ok(self.maker.text(&text))
    }

    fn wide_text(&mut self) -> Result<String> {
        let len = self.len()?;
        let (count, size) = match self.layout.wide {
            WideText::Four => (len, 4),
            WideText::Two => (len, 2),
            WideText::Octets => (len / 2, 2),
        };
        let left = self.bytes.len() - self.at;
        ensure!(count <= left / size, "{count} letters, but only {left} bytes are left");
        let mut text = String::new();
        if size == 4 {
            for _ in 0..count {
                let letter = char::from_u32(u32::from_le_bytes(self.number()?));
                text.push(letter.context("a wide text has an invalid character")?);
            }
            return Ok(text);
        }
        let mut units = Vec::with_capacity(count);
        for _ in 0..count {
            units.push(u16::from_le_bytes(self.number()?));
        }
        String::from_utf16(&units).context("a wide text is not UTF-16")
    }

    fn scalar(&mut self, scalar: Scalar) -> Result<Value> {
        Ok(match scalar {
            Scalar::Bool => match self.number::<1>()? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                [other] => bail!("a bool is 0 or 1, not {other}"),
            },
            Scalar::U8 => Value::Unsigned(u8::from_le_bytes(self.number()?).into()),
            Scalar::U16 => Value::Unsigned(u16::from_le_bytes(self.number()?).into()),
            Scalar::U32 => Value::Unsigned(u32::from_le_bytes(self.number()?).into()),
            Scalar::U64 => Value::Unsigned(u64::from_le_bytes(self.number()?)),
            Scalar::I8 => Value::Signed(i8::from_le_bytes(self.number()?).into()),
            Scalar::I16 => Value::Signed(i16::from_le_bytes(self.number()?).into()),
            Scalar::I32 => Value::Signed(i32::from_le_bytes(self.number()?).into()),
            Scalar::I64 => Value::Signed(i64::from_le_bytes(self.number()?)),
            Scalar::F32 => Value::F32(f32::from_le_bytes(self.number()?)),
            Scalar::F64 => Value::F64(f64::from_le_bytes(self.number()?)),
        })
    }

    fn len(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.number()?) as usize)
    }

    /// The bytes of a number, least significant first.
    fn number<const SIZE: usize>(&mut self) -> Result<[u8; SIZE]> {
        if self.layout.aligned {
            self.take(self.at.next_multiple_of(SIZE) - self.at)?;
        }
        let mut bytes: [u8; SIZE] = self.take(SIZE)?.try_into()?;
        if self.layout.big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let left = &self.bytes[self.at..];
        let bytes = left
            .get(..len)
            .with_context(|| format!("needs {len} bytes, but only {} are left", left.len()))?;
        self.at += len;
        Ok(bytes)
    }
}
