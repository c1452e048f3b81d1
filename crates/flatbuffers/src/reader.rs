//! A FlatBuffer as a message of Protobuf.

use anyhow::{bail, ensure, Context, Result};
use prost_reflect::{DynamicMessage, Kind as Protobuf, Value};

use crate::buffer::{Buffer, Table, Vector};
use crate::definition::{FieldCount, FieldKind};
use crate::losses::Losses;
use crate::number::Number;
use crate::pairing::{Member, Pair, Pairing};

/// Nesting of tables, as Protobuf's libraries allow.
pub const DEPTH: usize = 100;

/// How often what a message has in it may be told again: a table or a text may be shared,
/// and tables that share tables would grow without end.
pub const MAX_REPETITION: usize = 16;

/// Reads a message.
pub struct Reader<'p> {
    pairing: &'p Pairing,
    losses: &'p mut Losses,
    /// Bytes that may still be told.
    left: usize,
}

impl<'p> Reader<'p> {
    pub fn new(pairing: &'p Pairing, losses: &'p mut Losses) -> Reader<'p> {
        Reader { pairing, losses, left: 0 }
    }

    /// Reads a message.
    ///
    /// # Errors
    /// When it is damaged, a value does not fit, or something has no place and losses are
    /// not allowed.
    pub fn read(&mut self, message: &[u8]) -> Result<DynamicMessage> {
        self.left = MAX_REPETITION * message.len() + 1024;
        self.table(self.pairing.root, Buffer(message).root()?, 0)
    }

    fn use_budget(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.context("its tables refer to each other in too many ways")?;
        Ok(())
    }

    fn table(&mut self, pair: usize, table: Table, depth: usize) -> Result<DynamicMessage> {
        ensure!(depth < DEPTH, "nested more than {DEPTH} times");
        self.use_budget(8)?;
        let pair = &self.pairing.pairs[pair];
        self.report_unknown(pair, &table)?;
        let mut message = DynamicMessage::new(pair.message.clone());
        for member in pair.members.values() {
            let value = match table.field(member.flat.place)? {
                Some(at) => self.value(member, table.buffer(), at, depth),
                None => default(member),
            };
            let value = value.with_context(|| full_name(pair, member))?;
            let Some(mut value) = value else { continue };
            for beside in member.side_lists.values() {
                self.read_side_list(beside, &table, &mut value, depth)?;
            }
            message.set_field(&member.proto, value);
        }
        Ok(message)
    }

    fn report_unknown(&mut self, pair: &Pair, table: &Table) -> Result<()> {
        let is_known = |place| {
            let is = |member: &Member| member.flat.place == place;
            pair.members.values().any(|m| is(m) || m.side_lists.values().any(is))
        };
        for place in table.places().filter(|place| !is_known(*place)) {
            let field = pair.object.fields.iter().find(|field| field.place == place);
            let number = format!("[{}]", (place - 4) / 2);
            self.losses.field(&pair.object.name, field.map_or(&number, |field| &field.name))?;
        }
        Ok(())
    }

    fn value(
        &mut self,
        member: &Member,
        buffer: Buffer,
        at: usize,
        depth: usize,
    ) -> Result<Option<Value>> {
        if member.flat.count == FieldCount::Vector {
            return self.list(member, buffer, at, depth).map(Some);
        }
        Ok(Some(match (member.flat.kind, member.pair) {
            (FieldKind::Scalar(scalar), _) => {
                let bytes = buffer.bytes(at, scalar.size())?;
                Number::read(scalar, bytes).to_value(&member.proto.kind())?
            }
            (FieldKind::Text, _) => self.text(buffer, at)?,
            (_, Some(pair)) => Value::Message(match self.pairing.pairs[pair].object.fixed {
                None => self.table(pair, buffer.table(at)?, depth + 1)?,
                Some((size, _)) => self.fixed(pair, buffer.bytes(at, size)?)?,
            }),
            _ => unreachable!("only what is in both is paired"),
        }))
    }

    fn text(&mut self, buffer: Buffer, at: usize) -> Result<Value> {
        let text = buffer.text(at)?;
        self.use_budget(text.len() + 1)?;
        Ok(Value::String(text.to_owned()))
    }

    fn list(&mut self, member: &Member, buffer: Buffer, at: usize, depth: usize) -> Result<Value> {
        let pair = member.pair.map(|pair| (pair, self.pairing.pairs[pair].object.fixed));
        let size = match (member.flat.kind, pair) {
            (FieldKind::Scalar(scalar), _) => scalar.size(),
            (_, Some((_, Some((size, _))))) => size,
            _ => 4,
        };
        ensure!(size > 0, "a vector has no element type");
        let Vector { at, len } = buffer.vector(at, size)?;
        self.use_budget(len * size)?;
        if member.proto.kind() == Protobuf::Bytes {
            return Ok(Value::Bytes(buffer.bytes(at, len)?.to_vec().into()));
        }
        let mut values = Vec::with_capacity(len);
        for at in (0..len).map(|n| at + n * size) {
            values.push(match (member.flat.kind, pair) {
                (FieldKind::Scalar(scalar), _) => {
                    Number::read(scalar, buffer.bytes(at, size)?).to_value(&member.proto.kind())?
                }
                (FieldKind::Text, _) => self.text(buffer, at)?,
                (_, Some((pair, None))) => {
                    Value::Message(self.table(pair, buffer.table(at)?, depth + 1)?)
                }
                (_, Some((pair, Some(_)))) => {
                    Value::Message(self.fixed(pair, buffer.bytes(at, size)?)?)
                }
                _ => unreachable!("only what is in both is paired"),
            });
        }
        if member.proto.is_map() {
            return entries(values);
        }
        Ok(Value::List(values))
    }

    fn fixed(&mut self, pair: usize, bytes: &[u8]) -> Result<DynamicMessage> {
        let pair = &self.pairing.pairs[pair];
        let mut message = DynamicMessage::new(pair.message.clone());
        for member in pair.members.values() {
            let place = member.flat.place;
            let value = match (member.flat.kind, member.pair) {
                (FieldKind::Scalar(scalar), _) => {
                    let number = Number::read(scalar, &bytes[place..place + scalar.size()]);
                    let number = number.to_value(&member.proto.kind());
                    number.with_context(|| full_name(pair, member))?
                }
                (_, Some(inner)) => {
                    let (size, _) = self.pairing.pairs[inner].object.fixed.unwrap_or_default();
                    Value::Message(self.fixed(inner, &bytes[place..place + size])?)
                }
                _ => unreachable!("a struct holds numbers"),
            };
            message.set_field(&member.proto, value);
        }
        Ok(message)
    }

    /// Puts what stands beside a list of structs into its elements.
    fn read_side_list(
        &mut self,
        member: &Member,
        table: &Table,
        list: &mut Value,
        depth: usize,
    ) -> Result<()> {
        let Some(at) = table.field(member.flat.place)? else { return Ok(()) };
        let found = self.list(member, table.buffer(), at, depth)?;
        let (Value::List(found), Value::List(elements)) = (found, list) else {
            bail!("{}: not a list", member.flat.name);
        };
        ensure!(
            found.is_empty() || found.len() == elements.len(),
            "{} has {} elements, but must have {}",
            member.flat.name,
            found.len(),
            elements.len()
        );
        for (element, value) in elements.iter_mut().zip(found) {
            if let Value::Message(message) = element {
                message.set_field(&member.proto, value);
            }
        }
        Ok(())
    }
}

/// The value of what is absent, where it is another one in Protobuf.
fn default(member: &Member) -> Result<Option<Value>> {
    let (Some(default), FieldCount::One) = (member.flat.default, member.flat.count) else {
        return Ok(None);
    };
    if member.is_in_oneof() {
        return Ok(None);
    }
    let is_same = Number::from_value(&member.proto.default_value()) == Some(default);
    (!is_same).then(|| default.to_value(&member.proto.kind())).transpose()
}

fn entries(values: Vec<Value>) -> Result<Value> {
    let entries = values.into_iter().map(|entry| {
        let entry = entry.as_message().context("no entry")?;
        let part = |number| entry.get_field_by_number(number).map(|value| value.into_owned());
        let key = part(1).and_then(Value::into_map_key).context("an entry has no key")?;
        Ok((key, part(2).context("an entry has no value")?))
    });
    Ok(Value::Map(entries.collect::<Result<_>>()?))
}

fn full_name(pair: &Pair, member: &Member) -> String {
    format!("{}.{}", pair.object.name, member.flat.name)
}
