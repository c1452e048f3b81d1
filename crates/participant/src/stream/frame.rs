//! What goes over a transport when a trace is played on it: frames, one a sample. All numbers
//! are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0…3 | `WGT1` |
//! | 4 | kind: 1 channel, 2 message, 3 metadata of the file, 4 beat, 5 end |
//! | 5 | of an end: 1 where all of the trace was sent |
//! | 6…7 | number of the channel |
//! | 8…15 | the stream: a number that its player made up |
//! | 16…23 | messages of the stream that were sent before |
//! | 24…31 | when it was sent, on the player's monotonic clock in nanoseconds |
//!
//! What comes behind is different for each kind. A text is its length in four bytes and its
//! bytes.
//!
//! | kind | from byte 32 on |
//! |---|---|
//! | channel | texts: clock of the player, topic, encoding of the messages, type, encoding of its definition, the definition; then metadata |
//! | message | sequence (4), 0 (3), times (1): bit 0 `log_time`, bit 1 `publish_time`; both (16 each); from byte 72 on the message as it lies in the trace |
//! | metadata | text: its name; then metadata |
//!
//! Metadata are a number of four bytes, and so many times two texts.

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};

/// Length of what comes first in every frame.
pub const FRAME_HEADER_SIZE: usize = 32;
/// Length of what comes before a message.
pub const MESSAGE_HEADER_SIZE: usize = 72;
/// Longest text, but for a definition.
const LONGEST: usize = 1 << 16;
/// Largest definition.
const LARGEST: usize = 64 << 20;
/// Most metadata of a channel or a file.
const MOST: usize = 4096;

const MAGIC: [u8; 4] = *b"WGT1";
const CHANNEL: u8 = 1;
const MESSAGE: u8 = 2;
const METADATA: u8 = 3;
const BEAT: u8 = 4;
const END: u8 = 5;

/// What every frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// Whose it is.
    pub stream: u64,
    /// Messages that were sent before.
    pub before: u64,
    /// When it was sent.
    pub sent: u64,
}

/// A frame.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A channel, of which messages will come.
    Channel(u16, ChannelDescription),
    /// A message.
    Message(FrameMessage, &'a [u8]),
    /// What is said of the whole trace.
    Metadata(String, BTreeMap<String, String>),
    /// The player is there.
    Beat,
    /// There is no more; whether that was all.
    End(bool),
}

/// What is said of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelDescription {
    /// Whose clock frames are stamped by.
    pub clock: String,
    /// The channel's name.
    pub topic: String,
    /// The format of its messages.
    pub message_encoding: String,
    /// Their type.
    pub type_name: String,
    /// The language of the definition.
    pub definition_encoding: String,
    /// The type's definition.
    pub definition: Vec<u8>,
    /// What else is said.
    pub metadata: BTreeMap<String, String>,
}

/// What is said of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameMessage {
    /// Its channel.
    pub channel: u16,
    /// Its number in the trace.
    pub sequence: u32,
    /// Its `log_time`.
    pub time: Option<i128>,
    /// Its `publish_time`.
    pub publish_time: Option<i128>,
}

/// Says whose a frame is, the last thing before it is sent.
pub fn write_frame_header(frame: &mut [u8], head: FrameHeader) {
    frame[8..16].copy_from_slice(&head.stream.to_le_bytes());
    frame[16..24].copy_from_slice(&head.before.to_le_bytes());
    frame[24..32].copy_from_slice(&head.sent.to_le_bytes());
}

fn begin_frame(kind: u8, flag: u8, channel: u16) -> Vec<u8> {
    let mut frame = Vec::with_capacity(MESSAGE_HEADER_SIZE);
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&[kind, flag]);
    frame.extend_from_slice(&channel.to_le_bytes());
    frame.resize(FRAME_HEADER_SIZE, 0);
    frame
}

/// A frame that tells of a channel.
pub fn channel(number: u16, described: &ChannelDescription) -> Vec<u8> {
    let mut frame = begin_frame(CHANNEL, 0, number);
    let ChannelDescription { clock, topic, message_encoding, type_name, .. } = described;
    for text in [clock, topic, message_encoding, type_name, &described.definition_encoding] {
        put_bytes(&mut frame, text.as_bytes());
    }
    put_bytes(&mut frame, &described.definition);
    put_entries(&mut frame, &described.metadata);
    frame
}

/// What comes before a message.
pub fn message_header(message: &FrameMessage) -> Vec<u8> {
    let mut frame = begin_frame(MESSAGE, 0, message.channel);
    let times = [message.time, message.publish_time];
    let flags = u32::from(times[0].is_some()) | u32::from(times[1].is_some()) << 1;
    frame.extend_from_slice(&message.sequence.to_le_bytes());
    frame.extend_from_slice(&(flags << 24).to_le_bytes());
    for time in times {
        frame.extend_from_slice(&time.unwrap_or(0).to_le_bytes());
    }
    frame
}

/// A frame with what is said of the whole trace under a name.
pub fn metadata(name: &str, entries: &BTreeMap<String, String>) -> Vec<u8> {
    let mut frame = begin_frame(METADATA, 0, 0);
    put_bytes(&mut frame, name.as_bytes());
    put_entries(&mut frame, entries);
    frame
}

/// A frame that tells that the player is there.
pub fn heartbeat() -> Vec<u8> {
    begin_frame(BEAT, 0, 0)
}

/// A frame that tells that there is no more, and whether that was all.
pub fn end(whole: bool) -> Vec<u8> {
    begin_frame(END, whole.into(), 0)
}

/// Whether a frame is a message.
pub fn is_message(frame: &[u8]) -> bool {
    frame.get(4) == Some(&MESSAGE)
}

/// Whether a frame tells of a channel, and of which.
pub fn is_channel(frame: &[u8]) -> Option<u16> {
    let number = u16::from_le_bytes([*frame.get(6)?, *frame.get(7)?]);
    (frame[4] == CHANNEL).then_some(number)
}

/// Whether a frame is an end.
pub fn is_end(frame: &[u8]) -> bool {
    frame.get(4) == Some(&END)
}

fn put_bytes(frame: &mut Vec<u8>, text: &[u8]) {
    frame.extend_from_slice(&(text.len() as u32).to_le_bytes());
    frame.extend_from_slice(text);
}

fn put_entries(frame: &mut Vec<u8>, entries: &BTreeMap<String, String>) {
    frame.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    for (key, value) in entries {
        put_bytes(frame, key.as_bytes());
        put_bytes(frame, value.as_bytes());
    }
}

/// Whether a frame that was made here is one that [`read`] takes.
///
/// # Errors
/// What is too long in it.
pub fn check(frame: &[u8]) -> Result<()> {
    read(frame).map(drop)
}

/// What a sample says, whoever sent it. Nothing is reserved for what is announced.
///
/// # Errors
/// When it is no frame.
pub fn read(sample: &[u8]) -> Result<(FrameHeader, Frame<'_>)> {
    let (header, behind) =
        sample.split_first_chunk::<FRAME_HEADER_SIZE>().context("it is too short")?;
    ensure!(header[..4] == MAGIC, "it does not begin like a frame");
    let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
    let head = FrameHeader { stream: word(8), before: word(16), sent: word(24) };
    let number = u16::from_le_bytes([header[6], header[7]]);
    let mut rest = FrameReader(behind);
    let frame = match header[4] {
        MESSAGE => {
            let sequence = rest.number()?;
            let flags = rest.number()? >> 24;
            let mut time = |bit: u32| {
                let time = i128::from_le_bytes(*rest.array()?);
                Ok::<_, anyhow::Error>((flags >> bit & 1 == 1).then_some(time))
            };
            let (time, publish_time) = (time(0)?, time(1)?);
            let message = FrameMessage { channel: number, sequence, time, publish_time };
            return Ok((head, Frame::Message(message, rest.0)));
        }
        CHANNEL => Frame::Channel(
            number,
            ChannelDescription {
                clock: rest.text()?,
                topic: rest.text()?,
                message_encoding: rest.text()?,
                type_name: rest.text()?,
                definition_encoding: rest.text()?,
                definition: rest.bytes(LARGEST)?.to_vec(),
                metadata: rest.entries()?,
            },
        ),
        METADATA => Frame::Metadata(rest.text()?, rest.entries()?),
        BEAT => Frame::Beat,
        END => Frame::End(header[5] == 1),
        kind => bail!("there are no frames of kind {kind}"),
    };
    ensure!(rest.0.is_empty(), "{} bytes follow after its end", rest.0.len());
    Ok((head, frame))
}

/// What is still to be read.
struct FrameReader<'a>(&'a [u8]);

impl<'a> FrameReader<'a> {
    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        let (array, rest) = self.0.split_first_chunk().context("it ends early")?;
        self.0 = rest;
        Ok(array)
    }

    fn number(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(*self.array()?))
    }

    fn bytes(&mut self, most: usize) -> Result<&'a [u8]> {
        let length = self.number()? as usize;
        ensure!(length <= most, "it has {length} bytes; {most} is the limit");
        let (bytes, rest) = self.0.split_at_checked(length).context("it ends early")?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String> {
        let text = std::str::from_utf8(self.bytes(LONGEST)?);
        Ok(text.context("a text is not in UTF-8")?.to_owned())
    }

    fn entries(&mut self) -> Result<BTreeMap<String, String>> {
        let count = self.number()? as usize;
        ensure!(count <= MOST, "it has {count} entries; {MOST} is the limit");
        (0..count).map(|_| Ok((self.text()?, self.text()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described() -> ChannelDescription {
        ChannelDescription {
            clock: "a clock".into(),
            topic: "/lidar".into(),
            message_encoding: "cdr".into(),
            type_name: "sensor_msgs/msg/PointCloud2".into(),
            definition_encoding: "ros2msg".into(),
            definition: vec![0, 255, 7],
            metadata: BTreeMap::from([("key".into(), "välue".into())]),
        }
    }

    #[test]
    fn comes_back_as_it_was() {
        let head = FrameHeader { stream: 1 << 63, before: 7, sent: 8 };
        let back = |mut frame: Vec<u8>, wanted: Frame| {
            write_frame_header(&mut frame, head);
            assert_eq!(read(&frame).unwrap(), (head, wanted));
        };
        back(channel(65535, &described()), Frame::Channel(65535, described()));
        let entries = BTreeMap::from([("a".into(), "b".into())]);
        back(metadata("name", &entries), Frame::Metadata("name".into(), entries.clone()));
        back(heartbeat(), Frame::Beat);
        back(end(true), Frame::End(true));
        back(end(false), Frame::End(false));
        for time in [None, Some(0), Some(i128::MIN), Some(i128::MAX)] {
            for publish_time in [None, Some(-1)] {
                let message = FrameMessage { channel: 3, sequence: u32::MAX, time, publish_time };
                for data in [&b""[..], b"bytes"] {
                    let start = message_header(&message);
                    assert_eq!(start.len(), MESSAGE_HEADER_SIZE);
                    back([&start[..], data].concat(), Frame::Message(message, data));
                }
            }
        }
    }

    #[test]
    fn no_part_of_a_frame_is_one() {
        for frame in [channel(1, &described()), metadata("n", &BTreeMap::new())] {
            for end in 0..frame.len() {
                assert!(read(&frame[..end]).is_err(), "{end}");
            }
            assert!(read(&[&frame[..], b"x"].concat()).is_err());
        }
    }

    #[test]
    fn what_is_announced_is_not_believed() {
        let mut long = begin_frame(METADATA, 0, 0);
        put_bytes(&mut long, b"");
        long.extend_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&long).unwrap_err().to_string().contains("4096 is the limit"));
        let mut frame = begin_frame(METADATA, 0, 0);
        frame.extend_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&frame).unwrap_err().to_string().contains("65536 is the limit"));
    }
}
