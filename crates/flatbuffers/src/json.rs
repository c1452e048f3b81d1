//! A FlatBuffer as JSON, by its own definition alone and as flatc tells it: fields by their
//! names, enums by theirs, and what is absent is not there.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_trace::channel::{Channel, FLATBUFFER};
use wiregauge_trace::parser::JsonFormatter;

use crate::buffer::{Buffer, Table, Vector};
use crate::definition::{Definition, Field, FieldCount, FieldKind};
use crate::number::{Number, Scalar};
use crate::reader::{DEPTH, MAX_REPETITION};

/// What tells the messages of a channel in FlatBuffers as JSON; none of another channel.
///
/// # Errors
/// When the channel carries no definition, or one without its type.
pub fn create_formatter(channel: &Channel) -> Result<Option<Box<dyn JsonFormatter>>> {
    let Channel { topic, message_encoding, definition, .. } = channel;
    if message_encoding != FLATBUFFER {
        return Ok(None);
    }
    let told = || format!("{topic}: its definition in FlatBuffers");
    let known = Definition::read(&definition.data).with_context(told)?;
    let root = known.table(&definition.name).with_context(told)?;
    Ok(Some(Box::new(FlatBufferFormatter { definition: known, root })))
}

/// Messages of a type.
pub struct FlatBufferFormatter {
    definition: Definition,
    root: usize,
}

impl FlatBufferFormatter {
    /// Of the root of a definition.
    ///
    /// # Errors
    /// When it has none.
    pub fn from_root(definition: Definition) -> Result<FlatBufferFormatter> {
        let root = definition.table("")?;
        Ok(FlatBufferFormatter { definition, root })
    }
}

impl JsonFormatter for FlatBufferFormatter {
    fn type_name(&self) -> &str {
        &self.definition.objects[self.root].name
    }

    fn write_json(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let left = MAX_REPETITION * message.len() + 1024;
        let mut teller = JsonEncoder { definition: &self.definition, out, left };
        let root = Buffer(message).root();
        root.and_then(|root| teller.table(self.root, &root, 0)).context("not a valid FlatBuffer")
    }
}

/// Tells a message.
struct JsonEncoder<'m> {
    definition: &'m Definition,
    out: &'m mut Vec<u8>,
    /// Bytes that may still be told.
    left: usize,
}

impl JsonEncoder<'_> {
    fn use_budget(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.context("its tables refer to each other in too many ways")?;
        Ok(())
    }

    fn table(&mut self, id: usize, table: &Table, depth: usize) -> Result<()> {
        ensure!(depth < DEPTH, "nested more than {DEPTH} times");
        self.use_budget(8)?;
        let object = &self.definition.objects[id];
        let mut separator = b'{';
        for field in &object.fields {
            let Some(at) = table.field(field.place)? else { continue };
            self.key(separator, &field.name)?;
            separator = b',';
            let told = self.field(field, table, at, depth);
            told.with_context(|| format!("{}.{}", object.name, field.name))?;
        }
        if separator == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
        Ok(())
    }

    fn key(&mut self, separator: u8, name: &str) -> Result<()> {
        self.out.push(separator);
        self.text(name)?;
        self.out.push(b':');
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        Ok(serde_json::to_writer(&mut *self.out, text)?)
    }

    fn field(&mut self, field: &Field, table: &Table, at: usize, depth: usize) -> Result<()> {
        let buffer = table.buffer();
        let tags = || -> Result<usize> {
            // What says which it is stands right before.
            let tag = table.field(field.place.saturating_sub(2))?;
            tag.context("the member of the union is not known")
        };
        if field.count != FieldCount::Vector {
            let tag = match field.kind {
                FieldKind::Union(_) => buffer.bytes(tags()?, 1)?[0],
                _ => 0,
            };
            return self.write_element(field.kind, field.named, buffer, (at, tag), depth);
        }
        let size = match field.kind {
            FieldKind::Scalar(scalar) => scalar.size(),
            FieldKind::Tag(_) => 1,
            FieldKind::Object(id) => self.definition.objects[id].fixed.map_or(4, |(size, _)| size),
            _ => 4,
        };
        let Vector { at, len } = buffer.vector(at, size)?;
        self.use_budget(len * size)?;
        let members = match field.kind {
            FieldKind::Union(_) => {
                let members = buffer.vector(tags()?, 1)?;
                ensure!(members.len == len, "{} members of {len} in a union", members.len);
                buffer.bytes(members.at, len)?
            }
            _ => &[],
        };
        self.list(len, |teller, n| {
            let member = members.get(n).copied().unwrap_or_default();
            teller.write_element(field.kind, field.named, buffer, (at + n * size, member), depth)
        })
    }

    fn list(
        &mut self,
        len: usize,
        mut tell: impl FnMut(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        self.out.push(b'[');
        for n in 0..len {
            if n > 0 {
                self.out.push(b',');
            }
            tell(self, n)?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// What lies at a position; of a union with which member it is.
    fn write_element(
        &mut self,
        kind: FieldKind,
        named: Option<usize>,
        buffer: Buffer,
        (at, member): (usize, u8),
        depth: usize,
    ) -> Result<()> {
        match kind {
            FieldKind::Scalar(scalar) => {
                self.use_budget(scalar.size())?;
                self.number(scalar, named, buffer.bytes(at, scalar.size())?)
            }
            FieldKind::Tag(of) => self.number(Scalar::Unsigned(1), Some(of), buffer.bytes(at, 1)?),
            FieldKind::Text => {
                let text = buffer.text(at)?;
                self.use_budget(text.len() + 1)?;
                self.text(text)
            }
            FieldKind::Object(id) => match self.definition.objects[id].fixed {
                None => self.table(id, &buffer.table(at)?, depth + 1),
                Some((size, _)) => self.fixed(id, buffer.bytes(at, size)?),
            },
            FieldKind::Union(of) => match self.definition.enums[of].values.get(&member.into()) {
                // A struct in a union lies elsewhere.
                Some((_, FieldKind::Object(id))) => match self.definition.objects[*id].fixed {
                    None => self.table(*id, &buffer.table(at)?, depth + 1),
                    Some((size, _)) => {
                        self.use_budget(size)?;
                        self.fixed(*id, buffer.bytes(buffer.follow(at)?, size)?)
                    }
                },
                Some((_, FieldKind::Text)) => {
                    self.write_element(FieldKind::Text, None, buffer, (at, 0), depth)
                }
                _ => bail!("the union has no member {member}"),
            },
            FieldKind::Other => {
                bail!("its kind cannot be shown; leave the channel out by --exclude-channel")
            }
        }
    }

    fn number(&mut self, scalar: Scalar, named: Option<usize>, bytes: &[u8]) -> Result<()> {
        let number = Number::read(scalar, bytes);
        if let (Some(of), Number::Integer(number)) = (named, number) {
            let values = &self.definition.enums[of].values;
            if let Some((name, _)) = i64::try_from(number).ok().and_then(|n| values.get(&n)) {
                return self.text(name);
            }
        }
        match (scalar, number) {
            (Scalar::Bool, Number::Integer(number)) => {
                self.out.extend_from_slice(if number == 0 { b"false" } else { b"true" });
            }
            (_, Number::Integer(number)) => {
                self.out.extend_from_slice(number.to_string().as_bytes());
            }
            // As in Protobuf's JSON: JSON has no such numbers.
            (_, Number::Float(number)) if number.is_nan() => self.text("NaN")?,
            (_, Number::Float(number)) if number.is_infinite() => {
                self.text(if number > 0.0 { "Infinity" } else { "-Infinity" })?;
            }
            (Scalar::Float(4), Number::Float(number)) => {
                serde_json::to_writer(&mut *self.out, &(number as f32))?;
            }
            (_, Number::Float(number)) => serde_json::to_writer(&mut *self.out, &number)?,
        }
        Ok(())
    }

    fn fixed(&mut self, id: usize, bytes: &[u8]) -> Result<()> {
        let definition = self.definition;
        let fields = &definition.objects[id].fields;
        if fields.is_empty() {
            self.out.push(b'{');
        }
        for (n, field) in fields.iter().enumerate() {
            self.key(if n == 0 { b'{' } else { b',' }, &field.name)?;
            let size = match field.kind {
                FieldKind::Scalar(scalar) => scalar.size(),
                FieldKind::Object(id) => definition.objects[id].fixed.map_or(0, |(size, _)| size),
                _ => bail!("a struct holds numbers"),
            };
            let one = |teller: &mut Self, n: usize| {
                let part = &bytes[field.place + n * size..][..size];
                match field.kind {
                    FieldKind::Object(id) => teller.fixed(id, part),
                    FieldKind::Scalar(scalar) => teller.number(scalar, field.named, part),
                    _ => Ok(()),
                }
            };
            match field.count {
                FieldCount::Array(len) => self.list(len, one)?,
                _ => one(self, 0)?,
            }
        }
        self.out.push(b'}');
        Ok(())
    }
}
