//! A message of Protobuf as a FlatBuffer.
//!
//! What is there is written though it is the default: so the message that comes back has
//! the same fields.

use std::collections::BTreeMap;

use anyhow::{ensure, Context, Result};
use prost_reflect::{DynamicMessage, ReflectMessage, Value};

use crate::builder::{Builder, Slot};
use crate::definition::{FieldCount, FieldKind};
use crate::losses::Losses;
use crate::number::Number;
use crate::pairing::{Member, Pair, Pairing};

/// Offsets have 32 bits, some of them with a sign.
const LARGEST: usize = 1 << 31;

/// A table's own size has 16 bits.
const LARGEST_TABLE: usize = 1 << 16;

/// Writes messages of one type, one after the other.
pub struct Writer<'p> {
    pairing: &'p Pairing,
    builder: Builder,
    losses: &'p mut Losses,
}

impl<'p> Writer<'p> {
    pub fn new(pairing: &'p Pairing, losses: &'p mut Losses) -> Writer<'p> {
        Writer { pairing, builder: Builder::default(), losses }
    }

    /// Writes a message.
    ///
    /// # Errors
    /// When a value does not fit, or something has no place and losses are not allowed.
    pub fn write(&mut self, message: &DynamicMessage) -> Result<Vec<u8>> {
        let root = self.table(self.pairing.root, message)?;
        let message = self.builder.finish(root);
        ensure!(
            message.len() < LARGEST,
            "the message has {} bytes; FlatBuffers hold at most 2 GiB",
            message.len()
        );
        Ok(message)
    }

    fn table(&mut self, pair: usize, message: &DynamicMessage) -> Result<usize> {
        let pair = &self.pairing.pairs[pair];
        self.report_unknown(message)?;
        let mut slots = Vec::new();
        for (field, value) in message.fields() {
            let Some(member) = pair.members.get(&field.number()) else {
                self.losses.field(pair.message.full_name(), field.name())?;
                continue;
            };
            let slot = self.slot(member, value);
            let slot = slot.with_context(|| full_name(pair, field.name()))?;
            slots.push((member.flat.place, slot));
            for (number, beside) in &member.side_lists {
                if let Some(vector) = self.write_side_list(value, *number, beside)? {
                    slots.push((beside.flat.place, Slot::Offset(vector)));
                }
            }
        }
        for member in pair.members.values() {
            if let Some(slot) = default(member, message)? {
                slots.push((member.flat.place, slot));
            }
        }
        // With what aligns them.
        let size: usize = slots.iter().map(|(_, slot)| slot.size() + 8).sum();
        ensure!(size < LARGEST_TABLE, "{} is a table of {size} bytes", pair.object.name);
        Ok(self.builder.table(slots))
    }

    fn report_unknown(&mut self, message: &DynamicMessage) -> Result<()> {
        let unknown = message.unknown_fields().map(|field| format!("[{}]", field.number()));
        let extensions = message.extensions().map(|(field, _)| format!("[{}]", field.full_name()));
        for field in unknown.chain(extensions) {
            self.losses.field(message.descriptor().full_name(), &field)?;
        }
        Ok(())
    }

    fn slot(&mut self, member: &Member, value: &Value) -> Result<Slot> {
        if let Value::Bytes(bytes) = value {
            return Ok(Slot::Offset(self.builder.vector(bytes, bytes.len(), 1)));
        }
        if let Value::Map(entries) = value {
            let Some(pair) = member.pair else { unreachable!("a map is a list of records") };
            let message = self.pairing.pairs[pair].message.clone();
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by(|a, b| a.0.partial_cmp(b.0).unwrap_or(std::cmp::Ordering::Equal));
            let entries = sorted.into_iter().map(|(key, value)| {
                let mut entry = DynamicMessage::new(message.clone());
                entry.set_field_by_number(1, key.clone().into());
                entry.set_field_by_number(2, value.clone());
                Value::Message(entry)
            });
            let entries: Vec<Value> = entries.collect();
            return Ok(Slot::Offset(self.vector(member, entries.iter())?));
        }
        if member.flat.count == FieldCount::Vector {
            let elements = value.as_list().context("not a list")?;
            return Ok(Slot::Offset(self.vector(member, elements.iter())?));
        }
        Ok(match (member.flat.kind, value) {
            (FieldKind::Text, Value::String(text)) => Slot::Offset(self.builder.text(text)),
            (FieldKind::Scalar(scalar), _) => {
                let number = Number::from_value(value).context("not a number")?;
                Slot::Inline(number.to_bytes(scalar)?, scalar.size())
            }
            (_, Value::Message(message)) => {
                let pair = member.pair.context("not a record")?;
                match self.pairing.pairs[pair].object.fixed {
                    None => Slot::Offset(self.table(pair, message)?),
                    Some((size, align)) => {
                        let mut bytes = vec![0; size];
                        self.fixed(pair, message, &BTreeMap::new(), &mut bytes)?;
                        Slot::Inline(bytes, align)
                    }
                }
            }
            _ => unreachable!("a pair has the same kind on both sides"),
        })
    }

    fn vector<'v>(
        &mut self,
        member: &Member,
        elements: impl ExactSizeIterator<Item = &'v Value>,
    ) -> Result<usize> {
        let len = elements.len();
        if let FieldKind::Scalar(scalar) = member.flat.kind {
            let mut bytes = Vec::with_capacity(len * scalar.size());
            for element in elements {
                bytes
                    .extend(Number::from_value(element).context("not a number")?.to_bytes(scalar)?);
            }
            return Ok(self.builder.vector(&bytes, len, scalar.size()));
        }
        let fixed = member.pair.and_then(|pair| self.pairing.pairs[pair].object.fixed);
        if let (Some((size, align)), Some(pair)) = (fixed, member.pair) {
            let all = len * size;
            ensure!(all < LARGEST, "the structs have {all} bytes; FlatBuffers hold at most 2 GiB");
            let mut bytes = vec![0; all];
            for (element, bytes) in elements.zip(bytes.chunks_exact_mut(size)) {
                let message = element.as_message().context("not a record")?;
                self.fixed(pair, message, &member.side_lists, bytes)?;
            }
            return Ok(self.builder.vector(&bytes, len, align));
        }
        let mut offsets = Vec::with_capacity(len);
        for element in elements {
            offsets.push(match (element, member.pair) {
                (Value::String(text), _) => self.builder.text(text),
                (Value::Message(message), Some(pair)) => self.table(pair, message)?,
                _ => unreachable!("a pair has the same kind on both sides"),
            });
        }
        Ok(self.builder.offsets(&offsets))
    }

    /// Writes a struct. What is absent is 0 from here on.
    fn fixed(
        &mut self,
        pair: usize,
        message: &DynamicMessage,
        beside: &BTreeMap<u32, Member>,
        bytes: &mut [u8],
    ) -> Result<()> {
        let pair = &self.pairing.pairs[pair];
        self.report_unknown(message)?;
        for (field, _) in message.fields() {
            let number = field.number();
            if !pair.members.contains_key(&number) && !beside.contains_key(&number) {
                self.losses.field(pair.message.full_name(), field.name())?;
            }
        }
        for (number, member) in &pair.members {
            let value = message.get_field_by_number(*number).context("there is no such field")?;
            if !message.has_field_by_number(*number) {
                self.losses.add_absent(pair.message.full_name(), member.proto.name());
            }
            let place = member.flat.place;
            match (member.flat.kind, value.as_ref(), member.pair) {
                (FieldKind::Scalar(scalar), value, _) => {
                    let number =
                        Number::from_value(value).context("not a number")?.to_bytes(scalar);
                    let number = number.with_context(|| full_name(pair, member.proto.name()))?;
                    bytes[place..place + number.len()].copy_from_slice(&number);
                }
                (_, Value::Message(message), Some(inner)) => {
                    let (size, _) = self.pairing.pairs[inner].object.fixed.unwrap_or_default();
                    let bytes = &mut bytes[place..place + size];
                    self.fixed(inner, message, &BTreeMap::new(), bytes)?;
                }
                _ => unreachable!("a struct holds numbers"),
            }
        }
        Ok(())
    }

    /// What stands beside a list of structs; nothing where no element has it.
    fn write_side_list(
        &mut self,
        list: &Value,
        number: u32,
        member: &Member,
    ) -> Result<Option<usize>> {
        let elements = list.as_list().context("not a list")?.iter();
        let elements: Vec<_> = elements.filter_map(Value::as_message).collect();
        if !elements.iter().any(|element| element.has_field_by_number(number)) {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            if !element.has_field_by_number(number) {
                self.losses.add_absent(element.descriptor().full_name(), member.proto.name());
            }
            let value = element.get_field_by_number(number).context("there is no such field")?;
            values.push(value.into_owned());
        }
        self.vector(member, values.iter()).map(Some)
    }
}

/// What is absent in Protobuf and would have another value where it is absent in FlatBuffers.
fn default(member: &Member, message: &DynamicMessage) -> Result<Option<Slot>> {
    let (FieldKind::Scalar(scalar), FieldCount::One, Some(default)) =
        (member.flat.kind, member.flat.count, member.flat.default)
    else {
        return Ok(None);
    };
    let Some(number) = Number::from_value(&member.proto.default_value()) else { return Ok(None) };
    if number == default || message.has_field(&member.proto) || member.is_in_oneof() {
        return Ok(None);
    }
    Ok(Some(Slot::Inline(number.to_bytes(scalar)?, scalar.size())))
}

fn full_name(pair: &Pair, field: &str) -> String {
    format!("{}.{field}", pair.message.full_name())
}
