//! A FlatBuffer as JSON, by its own definition alone and as flatc tells it: fields by their
//! names, enums by theirs, and what is absent is not there.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_trace::channel::{Channel, FLATBUFFER};
use wiregauge_trace::parsed::Show;

use crate::buffer::{Buffer, Table, Vector};
use crate::definition::{Count, Definition, Field, Kind};
use crate::number::{Number, Scalar};
use crate::reader::{DEPTH, SHARED};

/// What tells the messages of a channel in FlatBuffers as JSON; none of another channel.
///
/// # Errors
/// When the channel carries no definition, or one without its type.
pub fn of(channel: &Channel) -> Result<Option<Box<dyn Show>>> {
    let Channel { topic, message_encoding, definition, .. } = channel;
    if message_encoding != FLATBUFFER {
        return Ok(None);
    }
    let told = || format!("{topic}: its definition in FlatBuffers");
    let known = Definition::read(&definition.data).with_context(told)?;
    let root = known.table(&definition.name).with_context(told)?;
    Ok(Some(Box::new(Messages { definition: known, root })))
}

/// Messages of a type.
pub struct Messages {
    definition: Definition,
    root: usize,
}

impl Messages {
    /// Of the root of a definition.
    ///
    /// # Errors
    /// When it has none.
    pub fn of_root(definition: Definition) -> Result<Messages> {
        let root = definition.table("")?;
        Ok(Messages { definition, root })
    }
}

impl Show for Messages {
    fn name(&self) -> &str {
        &self.definition.objects[self.root].name
    }

    fn show(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let left = SHARED * message.len() + 1024;
        let mut teller = Teller { definition: &self.definition, out, left };
        let root = Buffer(message).root();
        root.and_then(|root| teller.table(self.root, &root, 0)).context("no valid FlatBuffer")
    }
}

/// Tells a message.
struct Teller<'m> {
    definition: &'m Definition,
    out: &'m mut Vec<u8>,
    /// Bytes that may still be told.
    left: usize,
}

impl Teller<'_> {
    fn take(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.context("its tables share so much that it has no end")?;
        Ok(())
    }

    fn table(&mut self, id: usize, table: &Table, depth: usize) -> Result<()> {
        ensure!(depth < DEPTH, "nested more than {DEPTH} times");
        self.take(8)?;
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
            tag.context("nothing tells which member of the union it is")
        };
        if field.count != Count::Vector {
            let tag = match field.kind {
                Kind::Union(_) => buffer.bytes(tags()?, 1)?[0],
                _ => 0,
            };
            return self.one(field.kind, field.named, buffer, (at, tag), depth);
        }
        let size = match field.kind {
            Kind::Scalar(scalar) => scalar.size(),
            Kind::Tag(_) => 1,
            Kind::Object(id) => self.definition.objects[id].fixed.map_or(4, |(size, _)| size),
            _ => 4,
        };
        let Vector { at, len } = buffer.vector(at, size)?;
        self.take(len * size)?;
        let members = match field.kind {
            Kind::Union(_) => {
                let members = buffer.vector(tags()?, 1)?;
                ensure!(members.len == len, "{} members of {len} in a union", members.len);
                buffer.bytes(members.at, len)?
            }
            _ => &[],
        };
        self.list(len, |teller, n| {
            let member = members.get(n).copied().unwrap_or_default();
            teller.one(field.kind, field.named, buffer, (at + n * size, member), depth)
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
    fn one(
        &mut self,
        kind: Kind,
        named: Option<usize>,
        buffer: Buffer,
        (at, member): (usize, u8),
        depth: usize,
    ) -> Result<()> {
        match kind {
            Kind::Scalar(scalar) => {
                self.take(scalar.size())?;
                self.number(scalar, named, buffer.bytes(at, scalar.size())?)
            }
            Kind::Tag(of) => self.number(Scalar::Unsigned(1), Some(of), buffer.bytes(at, 1)?),
            Kind::Text => {
                let text = buffer.text(at)?;
                self.take(text.len() + 1)?;
                self.text(text)
            }
            Kind::Object(id) => match self.definition.objects[id].fixed {
                None => self.table(id, &buffer.table(at)?, depth + 1),
                Some((size, _)) => self.fixed(id, buffer.bytes(at, size)?),
            },
            Kind::Union(of) => match self.definition.enums[of].values.get(&member.into()) {
                // A struct in a union lies elsewhere.
                Some((_, Kind::Object(id))) => match self.definition.objects[*id].fixed {
                    None => self.table(*id, &buffer.table(at)?, depth + 1),
                    Some((size, _)) => {
                        self.take(size)?;
                        self.fixed(*id, buffer.bytes(buffer.follow(at)?, size)?)
                    }
                },
                Some((_, Kind::Text)) => self.one(Kind::Text, None, buffer, (at, 0), depth),
                _ => bail!("the union has no member {member}"),
            },
            Kind::Other => {
                bail!("it is of a kind that is not shown; leave the channel out by --channel")
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
                Kind::Scalar(scalar) => scalar.size(),
                Kind::Object(id) => definition.objects[id].fixed.map_or(0, |(size, _)| size),
                _ => bail!("a struct holds numbers"),
            };
            let one = |teller: &mut Self, n: usize| {
                let part = &bytes[field.place + n * size..][..size];
                match field.kind {
                    Kind::Object(id) => teller.fixed(id, part),
                    Kind::Scalar(scalar) => teller.number(scalar, field.named, part),
                    _ => Ok(()),
                }
            };
            match field.count {
                Count::Array(len) => self.list(len, one)?,
                _ => one(self, 0)?,
            }
        }
        self.out.push(b'}');
        Ok(())
    }
}
