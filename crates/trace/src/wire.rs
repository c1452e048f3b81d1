//! Protobuf's wire form: its fields, and whether bytes are a message of a type. Nothing is
//! made of them, so that gigabytes can be held against their definition.

use std::collections::HashMap;

use anyhow::{bail, ensure, Context, Result};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use wiregauge_system::text::format_count;

/// Deeper messages are refused, as Protobuf's libraries do.
const DEPTH: usize = 100;

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Content<'d> {
    /// A varint.
    Number(u64),
    /// Bytes after their length.
    Bytes(&'d [u8]),
    /// Eight bytes, or four.
    Fixed(&'d [u8]),
    /// The fields of a group, without the tags around them.
    Group(&'d [u8]),
}

/// The fields of a message, each by its number; it ends at what is none.
pub struct Fields<'d>(pub &'d [u8]);

impl<'d> Iterator for Fields<'d> {
    type Item = (u64, Content<'d>);

    fn next(&mut self) -> Option<(u64, Content<'d>)> {
        let tag = self.tag()?;
        let content = match tag & 7 {
            3 => Content::Group(self.group(tag)?),
            _ => self.plain(tag)?,
        };
        Some((tag >> 3, content))
    }
}

impl<'d> Fields<'d> {
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        // Most have one byte.
        if let [byte @ ..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(u64::from(*byte));
        }
        let mut value = 0;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if *byte < 0x80 {
                self.0 = &self.0[at + 1..];
                return Some(value);
            }
        }
        None
    }

    #[inline]
    fn tag(&mut self) -> Option<u64> {
        // No field has the number 0.
        self.varint().filter(|tag| (8..8 << 29).contains(tag))
    }

    /// What stands behind a tag, unless it begins a group or ends one.
    #[inline]
    fn plain(&mut self, tag: u64) -> Option<Content<'d>> {
        Some(match tag & 7 {
            0 => Content::Number(self.varint()?),
            1 => Content::Fixed(self.bytes(8)?),
            2 => {
                let length = self.varint()?;
                Content::Bytes(self.bytes(usize::try_from(length).ok()?)?)
            }
            5 => Content::Fixed(self.bytes(4)?),
            _ => return None,
        })
    }

    /// What is in a group, up to the tag that ends it. Groups in it must end too.
    #[inline(never)]
    fn group(&mut self, tag: u64) -> Option<&'d [u8]> {
        let inside = self.0;
        let mut open = vec![tag];
        loop {
            let left = self.0.len();
            let tag = self.tag()?;
            match tag & 7 {
                3 if open.len() == DEPTH => return None,
                3 => open.push(tag),
                4 if open.pop() != Some(tag - 1) => return None,
                4 if open.is_empty() => return Some(&inside[..inside.len() - left]),
                4 => {}
                _ => drop(self.plain(tag)?),
            }
        }
    }

    fn bytes(&mut self, count: usize) -> Option<&'d [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }
}

/// How many bytes the first field has with all that it holds, of which only its head need
/// be there; none where there is no field.
pub(crate) fn first_field(bytes: &[u8]) -> Option<u64> {
    let mut rest = Fields(bytes);
    let tag = rest.varint().filter(|tag| (8..8 << 29).contains(tag))?;
    let content = match tag & 7 {
        0 => rest.varint().map(|_| 0)?,
        1 => 8,
        2 => rest.varint()?,
        5 => 4,
        _ => return None,
    };
    content.checked_add((bytes.len() - rest.0.len()) as u64)
}

/// Whether bytes are made of fields up to their end.
pub fn is_message(bytes: &[u8]) -> bool {
    let mut fields = Fields(bytes);
    while !fields.0.is_empty() {
        if fields.next().is_none() {
            return false;
        }
    }
    true
}

/// What a field may hold.
#[derive(Clone, Copy, Debug)]
enum FieldType {
    Number,
    Fixed(usize),
    Bytes,
    Text,
    Message(usize),
    Group(usize),
}

#[derive(Clone, Debug)]
struct Field {
    wanted: FieldType,
    is_list: bool,
    name: String,
}

/// A type of messages with all that it is made of.
#[derive(Debug)]
pub(crate) struct MessageShape {
    /// The root first.
    messages: Vec<MessageFields>,
}

/// What stands behind a tag of one byte in nearly all messages, looked at without more ado.
#[derive(Clone, Copy, Debug)]
enum CommonField {
    Number,
    Eight,
    Four,
    Message(u16),
}

/// The fields of a message by their numbers.
#[derive(Debug)]
struct MessageFields {
    /// By their tags, of which a number up to 15 makes one byte.
    usual: [Option<CommonField>; 0x100],
    /// Those with small numbers, which nearly all are.
    small: Vec<Option<Field>>,
    others: HashMap<u64, Field>,
}

/// Numbers from here on are looked up.
const SMALL: u64 = 64;

impl MessageFields {
    fn new() -> MessageFields {
        MessageFields { usual: [None; 0x100], small: Vec::new(), others: HashMap::new() }
    }

    fn insert(&mut self, number: u64, field: Field) {
        let usual = match field.wanted {
            FieldType::Number => Some((0, CommonField::Number)),
            FieldType::Fixed(8) => Some((1, CommonField::Eight)),
            FieldType::Fixed(_) => Some((5, CommonField::Four)),
            FieldType::Message(of) => {
                u16::try_from(of).ok().map(|of| (2, CommonField::Message(of)))
            }
            FieldType::Bytes | FieldType::Text | FieldType::Group(_) => None,
        };
        if let Some((form, usual)) = usual.filter(|_| number < 16) {
            self.usual[number as usize * 8 + form] = Some(usual);
        }
        if number >= SMALL {
            self.others.insert(number, field);
            return;
        }
        let at = number as usize;
        self.small.resize_with(self.small.len().max(at + 1), || None);
        self.small[at] = Some(field);
    }

    /// The name of a usual field.
    fn name(&self, number: u8) -> String {
        self.field(number.into()).expect("a usual field is known").name.clone()
    }

    fn field(&self, number: u64) -> Option<&Field> {
        match self.small.get(number as usize) {
            Some(field) => field.as_ref(),
            None if number < SMALL => None,
            None => self.others.get(&number),
        }
    }
}

impl MessageShape {
    /// Of a type.
    pub fn from_descriptor(root: &MessageDescriptor) -> MessageShape {
        let mut known = vec![root.clone()];
        let mut messages = Vec::new();
        while let Some(message) = known.get(messages.len()).cloned() {
            let mut fields = MessageFields::new();
            for field in message.fields() {
                let (number, field) = describe_field(&field, &mut known);
                fields.insert(number, field);
            }
            messages.push(fields);
        }
        MessageShape { messages }
    }

    /// Holds bytes against the type. Fields that it does not know are left alone.
    ///
    /// # Errors
    /// When they are no message of it, with the field.
    pub fn check(&self, bytes: &[u8]) -> Result<()> {
        self.check_message(0, bytes, DEPTH)
    }

    fn check_message(&self, at: usize, bytes: &[u8], depth: usize) -> Result<()> {
        ensure!(depth > 0, "messages are nested more than {DEPTH} deep");
        let known = &self.messages[at];
        let mut left = bytes;
        while let [tag, rest @ ..] = left {
            left = match (known.usual[usize::from(*tag)], rest) {
                (Some(CommonField::Eight), [_, _, _, _, _, _, _, _, rest @ ..])
                | (Some(CommonField::Four), [_, _, _, _, rest @ ..])
                | (Some(CommonField::Number), [..0x80, rest @ ..]) => rest,
                (Some(CommonField::Message(of)), [length @ ..0x80, rest @ ..])
                    if rest.len() >= usize::from(*length) =>
                {
                    let (inner, rest) = rest.split_at(usize::from(*length));
                    self.check_message(usize::from(of), inner, depth - 1)
                        .map_err(|error| error.context(known.name(tag >> 3)))?;
                    rest
                }
                _ => self.check_field(known, left, depth)?,
            };
        }
        Ok(())
    }

    /// Holds the first field, of any kind, against the type; what is behind it.
    #[inline(never)]
    fn check_field<'b>(
        &self,
        known: &MessageFields,
        bytes: &'b [u8],
        depth: usize,
    ) -> Result<&'b [u8]> {
        let mut fields = Fields(bytes);
        let Some((number, content)) = fields.next() else {
            bail!("{} before its end: not a valid field", format_count(bytes.len() as u64, "byte"));
        };
        if let Some(field) = known.field(number) {
            self.check_content(field, content, depth).with_context(|| field.name.clone())?;
        }
        Ok(fields.0)
    }

    fn check_content(&self, field: &Field, content: Content, depth: usize) -> Result<()> {
        let is_right = match (field.wanted, content) {
            (FieldType::Number, Content::Number(_)) | (FieldType::Bytes, Content::Bytes(_)) => true,
            (FieldType::Fixed(wanted), Content::Fixed(bytes)) => wanted == bytes.len(),
            (FieldType::Text, Content::Bytes(bytes)) => {
                ensure!(std::str::from_utf8(bytes).is_ok(), "a text is not UTF-8");
                true
            }
            (FieldType::Message(of), Content::Bytes(bytes))
            | (FieldType::Group(of), Content::Group(bytes)) => {
                return self.check_message(of, bytes, depth - 1);
            }
            // Numbers of a list may be packed, whatever the definition says.
            (FieldType::Fixed(size), Content::Bytes(bytes)) if field.is_list => {
                bytes.len().is_multiple_of(size)
            }
            (FieldType::Number, Content::Bytes(bytes)) if field.is_list => {
                let mut numbers = Fields(bytes);
                while !numbers.0.is_empty() {
                    numbers.varint().context("a number has no end")?;
                }
                true
            }
            _ => false,
        };
        ensure!(is_right, "a value has another kind");
        Ok(())
    }
}

/// A field by its number. The type that it holds is added where it is new.
fn describe_field(field: &FieldDescriptor, known: &mut Vec<MessageDescriptor>) -> (u64, Field) {
    let wanted = match field.kind() {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => FieldType::Fixed(8),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => FieldType::Fixed(4),
        Kind::String => FieldType::Text,
        Kind::Bytes => FieldType::Bytes,
        Kind::Message(of) => {
            let at = known.iter().position(|other| *other == of).unwrap_or_else(|| {
                known.push(of);
                known.len() - 1
            });
            if field.is_group() {
                FieldType::Group(at)
            } else {
                FieldType::Message(at)
            }
        }
        _ => FieldType::Number,
    };
    let (is_list, name) = (field.is_list(), field.name().to_owned());
    (u64::from(field.number()), Field { wanted, is_list, name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prost_reflect::{DescriptorPool, DynamicMessage};

    /// A small definition with a field of each kind.
    const VIEW: &[u8] = include_bytes!("../../../fuzz/corpus/descriptors/view.fds");

    fn view() -> MessageDescriptor {
        DescriptorPool::decode(VIEW).unwrap().get_message_by_name("osi3.SensorView").unwrap()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_field() {
        let shape = MessageShape::from_descriptor(&view());
        for (bytes, wanted) in [
            (&[0x0a, 1, 0][..], "time: a value has another kind"),
            (&[0x12, 1, 0xff], "name: a text is not UTF-8"),
            (&[0x12, 9], "2 bytes before its end: not a valid field"),
            (&[0x0b], "1 byte before its end: not a valid field"),
            (&[0x0b, 0x0c], "time: a value has another kind"),
            (&[0x28, 0], "named: a value has another kind"),
            (&[0x08, 1, 0], "1 byte before its end: not a valid field"),
        ] {
            assert_eq!(format!("{:#}", shape.check(bytes).unwrap_err()), wanted);
        }
        // What it does not know is left alone.
        shape.check(&[0xf8, 0x3f, 1]).unwrap();
        shape.check(&[]).unwrap();
    }

    /// The tags of the definition's fields, and of those of its points.
    const TAGS: [u8; 19] = [
        0x08, 0x12, 0x1a, 0x22, 0x2a, 0x30, 0x38, 0x45, 0x4a, 0x09, 0x15, // Groups:
        0x23, 0x24, 0x23, 0x24, 0x4b, 0x4c, 0x0b, 0x0c,
    ];

    /// The same definition with its messages, but for a map, as groups.
    fn grouped_view() -> MessageDescriptor {
        use prost_reflect::prost::Message;
        use prost_reflect::prost_types::{field_descriptor_proto::Type, FileDescriptorSet};
        let mut set = FileDescriptorSet::decode(VIEW).unwrap();
        let messages = set.file.iter_mut().flat_map(|file| &mut file.message_type);
        for field in messages.flat_map(|message| &mut message.field) {
            if field.r#type() == Type::Message && field.name() != "named" {
                field.r#type = Some(Type::Group.into());
            }
        }
        let pool = DescriptorPool::from_file_descriptor_set(set).unwrap();
        pool.get_message_by_name("osi3.SensorView").unwrap()
    }

    #[test]
    fn groups_are_gone_through() {
        let shape = MessageShape::from_descriptor(&grouped_view());
        shape.check(&[0x23, 0x24]).unwrap();
        // Also those that are not known, and whatever is in them.
        shape.check(&[0xfb, 0x3f, 0x23, 0x24, 0xfb, 0x3f, 0xfc, 0x3f, 0xfc, 0x3f]).unwrap();
        let inner: Vec<_> = Fields(&[0x0b, 0x10, 1, 0x13, 0x14, 0x0c, 8, 2]).collect();
        assert!(matches!(inner[0], (1, Content::Group([0x10, 1, 0x13, 0x14]))), "{inner:?}");
        assert!(matches!(inner[1], (1, Content::Number(2))), "{inner:?}");
        let error = |bytes: &[u8]| format!("{:#}", shape.check(bytes).unwrap_err());
        assert_eq!(error(&[0x22, 0]), "point: a value has another kind");
        assert_eq!(error(&[0x23, 8, 1, 0x24]), "point: x: a value has another kind");
        for bytes in [&[0x23][..], &[0x23, 0x2c], &[0x24], &[0x23, 0x2b, 0x24, 0x2c], &[3]] {
            assert!(error(bytes).ends_with("not a valid field"), "{bytes:x?}");
        }
        let deep = |count: usize| [vec![0x7b; count], vec![0x7c; count]].concat();
        shape.check(&deep(100)).unwrap();
        assert!(shape.check(&deep(101)).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]
        #[test]
        fn what_is_a_message_is_what_the_library_parses(
            bytes in prop::collection::vec(
                prop_oneof![4 => prop::sample::select(&TAGS[..]), 2 => 0u8..12, 1 => any::<u8>()],
                0..24,
            ),
            grouped in any::<bool>(),
        ) {
            let view = if grouped { grouped_view() } else { view() };
            let shape = MessageShape::from_descriptor(&view);
            let parsed = DynamicMessage::decode(view, &bytes[..]);
            // Fields as they come are taken for what they are one by one.
            let mut left = Ok(&bytes[..]);
            while let Ok([_, ..]) = left {
                left = shape.check_field(&shape.messages[0], left.unwrap(), DEPTH);
            }
            let said = |error: anyhow::Error| format!("{error:#}");
            prop_assert_eq!(left.map(drop).map_err(said), shape.check(&bytes).map_err(said));
            if let Err(error) = shape.check(&bytes) {
                // The library takes the entry of a map for one, whatever the kind of its value.
                let is_of_map = format!("{error:#}") == "named: a value has another kind";
                prop_assert!(parsed.is_err() || is_of_map, "{error:#}");
            } else {
                prop_assert!(parsed.is_ok(), "{:?}", parsed);
            }
        }
    }
}
