//! Recordings whose messages change from Protobuf to FlatBuffers, and back.

use std::collections::BTreeMap;

use anyhow::{ensure, Context, Result};
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use wiregauge_schema::proto::Definitions;
use wiregauge_trace::channel::{self, Channel, FLATBUFFER};
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::{Writer as TraceWriter, WriterAdapter};

use crate::losses::Losses;
use crate::pairing::Pairing;
use crate::reader::Reader;
use crate::writer::Writer;
use crate::Definition;

const PROTOBUF: &str = "protobuf";

/// Where the definition of a channel's messages in the other format is.
pub type FindDefinition = dyn Fn(&Channel) -> Result<channel::Definition>;

/// What messages become, and by which definitions.
pub enum ConversionTarget {
    /// FlatBuffers.
    FlatBuffers {
        /// The `.bfbs` and the name of its table.
        definition: Box<FindDefinition>,
        /// What defines messages in Protobuf where their channel does not say it.
        protobuf: Box<FindDefinition>,
    },
    /// Protobuf.
    Protobuf {
        /// The descriptor set and the name of its message.
        definition: Box<FindDefinition>,
    },
}

/// A message of Protobuf in FlatBuffers.
///
/// # Errors
/// When a value does not fit, or something has no place and losses are not allowed.
pub fn encode(pairing: &Pairing, message: &DynamicMessage, losses: &mut Losses) -> Result<Vec<u8>> {
    Writer::new(pairing, losses).write(message)
}

/// A message of FlatBuffers in Protobuf.
///
/// # Errors
/// When it is damaged, a value does not fit, or something has no place and losses are not
/// allowed.
pub fn decode(pairing: &Pairing, message: &[u8], losses: &mut Losses) -> Result<DynamicMessage> {
    Reader::new(pairing, losses).read(message)
}

/// What makes Protobuf of the messages of a channel in FlatBuffers.
pub struct Decoder(Pairing);

impl Decoder {
    /// Of a channel, by what defines its messages in Protobuf.
    ///
    /// # Errors
    /// When either definition cannot be read or lacks the type.
    pub fn from_channel(channel: &Channel, protobuf: &channel::Definition) -> Result<Decoder> {
        let message = Definitions::decode(&protobuf.data)?.message(&protobuf.name)?;
        let flat = &channel.definition;
        let definition = Definition::read(&flat.data).context("its definition in FlatBuffers")?;
        Ok(Decoder(Pairing::new(&definition, &flat.name, &message)?))
    }

    /// A message in Protobuf, without what has no field there.
    ///
    /// # Errors
    /// When it is damaged, or a value does not fit.
    pub fn decode(&self, message: &[u8]) -> Result<Vec<u8>> {
        let message = decode(&self.0, message, &mut Losses::new(true));
        Ok(message.context("not a valid FlatBuffer")?.encode_to_vec())
    }
}

/// A message type, and how its messages become others.
struct ChannelConversion {
    pairing: Pairing,
    message: MessageDescriptor,
}

/// A writer that hands messages on in the other encoding.
pub struct Converter {
    inner: Box<dyn TraceWriter>,
    origin: String,
    encoding: ConversionTarget,
    ways: BTreeMap<u16, ChannelConversion>,
    losses: Losses,
    /// The channels that are converted.
    takes: fn(&Channel) -> bool,
    /// Whether there must be some.
    wants_any: bool,
}

impl Converter {
    /// Writes by another writer what comes from a file.
    pub fn new(
        inner: Box<dyn TraceWriter>,
        origin: &str,
        encoding: ConversionTarget,
        losses: Losses,
    ) -> Converter {
        let (origin, ways) = (origin.to_owned(), BTreeMap::new());
        Converter { inner, origin, encoding, ways, losses, takes: |_| true, wants_any: true }
    }

    /// The same for some channels, of which none need be there.
    pub fn optional_for(self, takes: fn(&Channel) -> bool) -> Converter {
        Converter { takes, wants_any: false, ..self }
    }

    /// How a channel's messages become others, and what the channel is then; none where
    /// they stay as they are.
    fn find_conversion(&self, channel: &Channel) -> Result<Option<(ChannelConversion, Channel)>> {
        if !(self.takes)(channel) {
            return Ok(None);
        }
        let mut converted = channel.clone();
        let (flat, protobuf) = match &self.encoding {
            ConversionTarget::FlatBuffers { definition, protobuf } => {
                if channel.message_encoding != PROTOBUF {
                    return Ok(None);
                }
                let is_told = !channel.definition.data.is_empty();
                let own = if is_told { (*channel.definition).clone() } else { protobuf(channel)? };
                let flat = definition(channel)?;
                converted.message_encoding = FLATBUFFER.into();
                converted.definition = flat.clone().into();
                (flat, own)
            }
            ConversionTarget::Protobuf { definition } => {
                if channel.message_encoding != FLATBUFFER {
                    return Ok(None);
                }
                let protobuf = definition(channel)?;
                converted.message_encoding = PROTOBUF.into();
                converted.definition = protobuf.clone().into();
                ((*channel.definition).clone(), protobuf)
            }
        };
        let message = Definitions::decode(&protobuf.data)?.message(&protobuf.name)?;
        let definition = Definition::read(&flat.data).context("its definition in FlatBuffers")?;
        let pairing = Pairing::new(&definition, &flat.name, &message)?;
        Ok(Some((ChannelConversion { pairing, message }, converted)))
    }
}

impl WriterAdapter for Converter {
    fn inner(&self) -> &dyn TraceWriter {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn TraceWriter {
        &mut *self.inner
    }

    fn into_inner(self: Box<Self>) -> Box<dyn TraceWriter> {
        self.inner
    }

    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let Some((way, converted)) = self.find_conversion(channel)? else {
            return self.inner.add_channel(channel);
        };
        let number = self.inner.add_channel(&converted)?;
        self.ways.insert(number, way);
        Ok(number)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let Some(way) = self.ways.get(&channel) else {
            return self.inner.write_message(channel, head, data);
        };
        let converted = match self.encoding {
            ConversionTarget::FlatBuffers { .. } => {
                let message = DynamicMessage::decode(way.message.clone(), data);
                let message = message.context("not a valid Protobuf message")?;
                encode(&way.pairing, &message, &mut self.losses)?
            }
            ConversionTarget::Protobuf { .. } => {
                let message = decode(&way.pairing, data, &mut self.losses);
                message.context("not a valid FlatBuffer")?.encode_to_vec()
            }
        };
        let head = MessageInfo { size: converted.len() as u64, ..*head };
        self.inner.write_message(channel, &head, &converted)
    }

    fn added_remarks(&self) -> Vec<String> {
        self.losses.remarks()
    }

    fn changes_messages(&self) -> bool {
        !self.ways.is_empty()
    }

    /// Nothing is written where nothing was converted: its user would believe otherwise.
    fn check_result(&self) -> Result<()> {
        let from = match self.encoding {
            ConversionTarget::FlatBuffers { .. } => "in Protobuf",
            ConversionTarget::Protobuf { .. } => "in FlatBuffers or has packed fields",
        };
        let is_done = self.has_changed() || !self.wants_any;
        ensure!(is_done, "no channel of {} is {from}", self.origin);
        Ok(())
    }
}
