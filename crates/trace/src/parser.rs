//! Messages that are parsed: by the definition that their channel carries.

use std::collections::BTreeSet;

use anyhow::{ensure, Context, Result};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use wiregauge_schema::proto::Definitions;

use crate::channel::{Channel, Definition};
use crate::wire::MessageShape;

/// What tells the messages of a channel as JSON.
pub trait JsonFormatter {
    /// Their type.
    fn type_name(&self) -> &str;

    /// Puts a message behind what is there, without a line feed.
    ///
    /// # Errors
    /// When it is none.
    fn write_json(&self, message: &[u8], out: &mut Vec<u8>) -> Result<()>;
}

/// What parses the messages of a channel.
#[derive(Debug)]
pub struct Parser(MessageDescriptor, MessageShape);

impl Parser {
    /// Of a channel's definition.
    ///
    /// # Errors
    /// When its messages are not in Protobuf, or it has no definition that is complete.
    pub fn from_channel(channel: &Channel) -> Result<Parser> {
        let Channel { message_encoding, definition, .. } = channel;
        ensure!(
            message_encoding == "protobuf",
            "its messages are in '{message_encoding}', but only Protobuf can be shown as text; \
             leave the channel out by --exclude-channel"
        );
        ensure!(
            definition.encoding == "protobuf" && !definition.data.is_empty(),
            "the file has no definition of its messages; 'wiregauge trace cat --format raw' writes \
             their bytes, and --exclude-channel leaves the channel out"
        );
        let found = Definitions::decode(&definition.data)
            .and_then(|definitions| definitions.message(&definition.name))
            .context("not a complete descriptor set of its type")?;
        let shape = MessageShape::from_descriptor(&found);
        Ok(Parser(found, shape))
    }

    /// The type of the messages.
    pub fn descriptor(&self) -> &MessageDescriptor {
        &self.0
    }

    /// Holds a message against its definition, without making anything of it.
    ///
    /// # Errors
    /// When it is none, with the field.
    pub fn check(&self, data: &[u8]) -> Result<()> {
        self.1.check(data)
    }

    /// Parses a message.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(&self, data: &[u8]) -> Result<DynamicMessage> {
        DynamicMessage::decode(self.0.clone(), data).context("not a valid Protobuf message")
    }
}

/// The definition of a message out of an encoded `FileDescriptorSet` that has more: the
/// file that it is in, after those that it imports.
///
/// # Errors
/// When it is not in there.
pub fn extract_definition(descriptors: &[u8], name: &str) -> Result<Definition> {
    let files = FileDescriptorSet::decode(descriptors).context("not a descriptor set")?.file;
    let message = Definitions::decode(descriptors)?.message(name)?;
    let mut wanted = BTreeSet::from([message.parent_file().name().to_owned()]);
    // A file stands after those that it imports.
    for file in files.iter().rev() {
        if wanted.contains(file.name()) {
            wanted.extend(file.dependency.iter().cloned());
        }
    }
    let file = files.into_iter().filter(|file| wanted.contains(file.name())).collect();
    let data = FileDescriptorSet { file }.encode_to_vec();
    Ok(Definition { name: name.into(), encoding: "protobuf".into(), data })
}
