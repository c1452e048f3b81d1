//! Protobuf's messages as JSON, straight from their bytes, as far as a message is written as
//! libraries write it: fields in the order of their numbers, each once. What is written in
//! another way is parsed first, which is several times slower; the text is the same.

use std::collections::HashMap;

use anyhow::Result;
use prost_reflect::{DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde::Serialize;

use crate::channel::Channel;
use crate::literal::{begin_item, bytes_text, put};
use crate::parser::{JsonFormatter, Parser};

/// Deeper messages are left to the parser, which refuses those beyond 100.
const DEEPEST: usize = 64;

/// Tells messages in Protobuf as JSON.
pub struct ProtobufFormatter {
    parser: Parser,
    plan: JsonPlan,
}

impl ProtobufFormatter {
    /// Of a channel's definition.
    ///
    /// # Errors
    /// As [`Parser::from_channel`].
    pub fn from_channel(channel: &Channel) -> Result<ProtobufFormatter> {
        let parser = Parser::from_channel(channel)?;
        let plan = JsonPlan::new(parser.descriptor());
        Ok(ProtobufFormatter { parser, plan })
    }
}

impl JsonFormatter for ProtobufFormatter {
    fn type_name(&self) -> &str {
        self.parser.descriptor().full_name()
    }

    fn write_json(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self.plan.write(message, out) {
            true => Ok(()),
            false => Ok(serde_json::to_writer(out, &self.parser.parse(message)?)?),
        }
    }
}

/// What messages of a type and those in them look like.
struct JsonPlan {
    /// That of the root is the first; none where it has a form of its own.
    messages: Vec<MessagePlan>,
}

struct MessagePlan {
    descriptor: MessageDescriptor,
    /// By their numbers.
    fields: Vec<FieldPlan>,
}

struct FieldPlan {
    number: u32,
    /// In quotes, with a colon.
    name: Vec<u8>,
    value: ValuePlan,
    is_list: bool,
    /// Whether it is told also where it is zero or empty.
    has_presence: bool,
    oneof: Option<String>,
}

enum ValuePlan {
    Number(NumberPlan),
    /// Names in quotes, by number.
    Enum(HashMap<u32, Vec<u8>>),
    Text,
    Bytes,
    /// Its place among the plans.
    Message(usize),
    /// Those of Google, which have forms of their own, by the library.
    Reflected(MessageDescriptor),
    /// A map, whose entries have no order, and what is left.
    Other,
}

struct NumberPlan {
    wire_type: u32,
    /// Whether only 32 bits of it count.
    is_narrow: bool,
    show: ShowNumber,
}

/// Writes a number by its bits.
type ShowNumber = fn(u64, &mut Vec<u8>);

impl JsonPlan {
    fn new(root: &MessageDescriptor) -> JsonPlan {
        let mut builder = PlanBuilder { plans: Vec::new(), known: HashMap::new() };
        if !is_special(root) {
            builder.message(root);
        }
        // Each place was kept until its fields were known.
        JsonPlan { messages: builder.plans.into_iter().flatten().collect() }
    }

    /// Writes a message; nothing, and false, where it has to be parsed.
    fn write(&self, message: &[u8], out: &mut Vec<u8>) -> bool {
        let before = out.len();
        let is_written = self.message(0, message, 0, out).is_some();
        if !is_written {
            out.truncate(before);
        }
        is_written
    }

    fn message(&self, plan: usize, bytes: &[u8], depth: usize, out: &mut Vec<u8>) -> Option<()> {
        let plan = self.messages.get(plan).filter(|_| depth < DEEPEST)?;
        let mut input = Input(bytes);
        let mut next = 0;
        let mut oneofs: Vec<&str> = Vec::new();
        out.push(b'{');
        while !input.0.is_empty() {
            let tag = input.tag()?;
            let found = match plan.fields.get(next) {
                Some(field) if field.number == tag >> 3 => Ok(next),
                _ => plan.fields.binary_search_by_key(&(tag >> 3), |field| field.number),
            };
            let Ok(at) = found else {
                if plan.descriptor.get_extension(tag >> 3).is_some() {
                    return None;
                }
                input.skip(tag)?;
                continue;
            };
            if at < next {
                return None;
            }
            next = at + 1;
            let field = &plan.fields[at];
            if let Some(oneof) = &field.oneof {
                // Of several the last counts.
                if oneofs.contains(&oneof.as_str()) {
                    return None;
                }
                oneofs.push(oneof);
            }
            let before = out.len();
            begin_item(b'{', out);
            out.extend_from_slice(&field.name);
            let is_told = match field.is_list {
                true => self.list(field, tag, &mut input, depth, out)?,
                false => self.value(field, tag, &mut input, depth, out)?,
            };
            if !is_told {
                out.truncate(before);
            }
        }
        out.push(b'}');
        Some(())
    }

    /// Writes the elements that follow one another; whether there are any.
    fn list(
        &self,
        field: &FieldPlan,
        tag: u32,
        input: &mut Input,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let mut tag = tag;
        out.push(b'[');
        let before = out.len();
        loop {
            match &field.value {
                ValuePlan::Number(_) | ValuePlan::Enum(_) if tag & 7 == 2 => {
                    let mut packed = Input(input.length_delimited()?);
                    let wire_type = match &field.value {
                        ValuePlan::Number(number) => number.wire_type,
                        _ => 0,
                    };
                    while !packed.0.is_empty() {
                        begin_item(b'[', out);
                        self.value(field, wire_type, &mut packed, depth, out)?;
                    }
                }
                _ => {
                    begin_item(b'[', out);
                    self.value(field, tag, input, depth, out)?;
                }
            }
            let mut ahead = Input(input.0);
            if ahead.0.is_empty() {
                break;
            }
            tag = ahead.tag()?;
            if tag >> 3 != field.number {
                break;
            }
            *input = ahead;
        }
        let has_elements = out.len() > before;
        out.push(b']');
        Some(has_elements)
    }

    /// Writes a value; whether it is to be told where it stands alone.
    fn value(
        &self,
        field: &FieldPlan,
        tag: u32,
        input: &mut Input,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let has_value = match (&field.value, tag & 7) {
            (ValuePlan::Number(number), wire_type) if wire_type == number.wire_type => {
                let bits = input.number(wire_type)?;
                let bits = if number.is_narrow { bits & u64::from(u32::MAX) } else { bits };
                if !field.has_presence && wire_type != 0 && bits.count_ones() == 1 {
                    // It may be the zero below zero.
                    return None;
                }
                (number.show)(bits, out);
                bits != 0
            }
            (ValuePlan::Enum(names), 0) => {
                let number = input.varint()? as u32;
                out.extend_from_slice(names.get(&number)?);
                number != 0
            }
            (ValuePlan::Text, 2) => {
                let text = std::str::from_utf8(input.length_delimited()?).ok()?;
                put(text, out);
                !text.is_empty()
            }
            (ValuePlan::Bytes, 2) => {
                let bytes = input.length_delimited()?;
                put(&bytes_text(bytes), out);
                !bytes.is_empty()
            }
            (ValuePlan::Message(plan), 2) => {
                self.message(*plan, input.length_delimited()?, depth + 1, out)?;
                true
            }
            (ValuePlan::Reflected(descriptor), 2) => {
                let bytes = input.length_delimited()?;
                if bytes.len() / 2 > DEEPEST {
                    return None;
                }
                let message = DynamicMessage::decode(descriptor.clone(), bytes).ok()?;
                serde_json::to_writer(&mut *out, &message).ok()?;
                true
            }
            _ => return None,
        };
        Some(has_value || field.has_presence)
    }
}

/// Whether a message has a form of its own in JSON.
fn is_special(descriptor: &MessageDescriptor) -> bool {
    descriptor.package_name() == "google.protobuf"
}

struct PlanBuilder {
    plans: Vec<Option<MessagePlan>>,
    known: HashMap<String, usize>,
}

impl PlanBuilder {
    /// The place of a message's plan.
    fn message(&mut self, descriptor: &MessageDescriptor) -> usize {
        if let Some(place) = self.known.get(descriptor.full_name()) {
            return *place;
        }
        let place = self.plans.len();
        self.plans.push(None);
        self.known.insert(descriptor.full_name().to_owned(), place);
        let mut fields: Vec<FieldPlan> =
            descriptor.fields().map(|field| self.field(&field)).collect();
        fields.sort_by_key(|field| field.number);
        self.plans[place] = Some(MessagePlan { descriptor: descriptor.clone(), fields });
        place
    }

    fn field(&mut self, field: &FieldDescriptor) -> FieldPlan {
        let value = match field.kind() {
            Kind::Message(message) if message.is_map_entry() => ValuePlan::Other,
            Kind::Message(message) if is_special(&message) => ValuePlan::Reflected(message),
            Kind::Message(message) => ValuePlan::Message(self.message(&message)),
            Kind::Enum(names) => enum_plan(&names),
            Kind::String => ValuePlan::Text,
            Kind::Bytes => ValuePlan::Bytes,
            kind => number_plan(&kind).map_or(ValuePlan::Other, ValuePlan::Number),
        };
        let mut name = Vec::new();
        put(field.json_name(), &mut name);
        name.push(b':');
        FieldPlan {
            number: field.number(),
            name,
            value,
            is_list: field.is_list(),
            has_presence: field.supports_presence(),
            oneof: field.containing_oneof().map(|oneof| oneof.full_name().to_owned()),
        }
    }
}

fn enum_plan(names: &EnumDescriptor) -> ValuePlan {
    let is_special = names.full_name().starts_with("google.protobuf.");
    if is_special || names.default_value().number() != 0 {
        return ValuePlan::Other;
    }
    let numbers = names.values().map(|value| value.number());
    let names = numbers.filter_map(|number| {
        let mut name = Vec::new();
        // Of several with this number the one that the library takes.
        put(names.get_value(number)?.name(), &mut name);
        Some((number as u32, name))
    });
    ValuePlan::Enum(names.collect())
}

fn number_plan(kind: &Kind) -> Option<NumberPlan> {
    let (wire_type, is_narrow, show): (u32, bool, ShowNumber) = match kind {
        Kind::Bool => (0, false, |bits, out| put(&(bits != 0), out)),
        Kind::Int32 => (0, true, |bits, out| put(&(bits as i32), out)),
        Kind::Uint32 => (0, true, |bits, out| put(&(bits as u32), out)),
        Kind::Sint32 => (0, true, |bits, out| put(&(unzigzag(bits) as i32), out)),
        Kind::Int64 => (0, false, |bits, out| put_long(bits as i64, out)),
        Kind::Uint64 => (0, false, put_long),
        Kind::Sint64 => (0, false, |bits, out| put_long(unzigzag(bits) as i64, out)),
        Kind::Fixed32 => (5, true, |bits, out| put(&(bits as u32), out)),
        Kind::Sfixed32 => (5, true, |bits, out| put(&(bits as i32), out)),
        Kind::Fixed64 => (1, false, put_long),
        Kind::Sfixed64 => (1, false, |bits, out| put_long(bits as i64, out)),
        Kind::Float => (5, true, |bits, out| {
            let number = f32::from_bits(bits as u32);
            if number.is_finite() {
                put(&number, out)
            } else {
                put_unusual(number.into(), out)
            }
        }),
        Kind::Double => (1, false, |bits, out| {
            let number = f64::from_bits(bits);
            if number.is_finite() {
                put(&number, out)
            } else {
                put_unusual(number, out)
            }
        }),
        _ => return None,
    };
    Some(NumberPlan { wire_type, is_narrow, show })
}

fn unzigzag(bits: u64) -> u64 {
    (bits >> 1) ^ (bits & 1).wrapping_neg()
}

/// A number of 64 bits, which Protobuf's JSON has as a text.
fn put_long<T: Serialize>(number: T, out: &mut Vec<u8>) {
    out.push(b'"');
    put(&number, out);
    out.push(b'"');
}

/// What is no number.
fn put_unusual(number: f64, out: &mut Vec<u8>) {
    let text = match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    };
    put(text, out);
}

/// What is left of a message.
struct Input<'m>(&'m [u8]);

impl<'m> Input<'m> {
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.0 = &self.0[at + 1..];
                // The tenth byte has one bit of the number.
                return (at < 9 || *byte < 2).then_some(value);
            }
        }
        None
    }

    #[inline]
    fn tag(&mut self) -> Option<u32> {
        let tag = self.varint()?;
        (8..8 << 29).contains(&tag).then_some(tag as u32)
    }

    /// A number of this wire type.
    #[inline]
    fn number(&mut self, wire_type: u32) -> Option<u64> {
        let size = match wire_type {
            0 => return self.varint(),
            1 => 8,
            _ => 4,
        };
        let mut word = [0; 8];
        word[..size].copy_from_slice(self.take(size)?);
        Some(u64::from_le_bytes(word))
    }

    fn length_delimited(&mut self) -> Option<&'m [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).ok()?)
    }

    fn take(&mut self, count: usize) -> Option<&'m [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Passes over a field of which the tag was read; groups are left to the parser.
    fn skip(&mut self, tag: u32) -> Option<()> {
        match tag & 7 {
            2 => self.length_delimited().map(drop),
            wire_type @ (0 | 1 | 5) => self.number(wire_type).map(drop),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
