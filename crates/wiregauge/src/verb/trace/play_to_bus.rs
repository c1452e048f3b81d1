//! A trace that is played to the bus.

use std::time::Duration;

use anyhow::{bail, ensure, Context, Error, Result};
use wiregauge_bus::relay::Relay;
use wiregauge_participant::clock::monotonic;
use wiregauge_participant::stream::frame::{self, ChannelDescription, FrameMessage};
use wiregauge_participant::stream::setup::{record_header, PlayResult, StreamReport, FRAME};
use wiregauge_participant::usage::host_id;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::read::{MessageInfo, Reader};

use super::transport_args::{StreamEnd, MAX_FRAME};
use crate::output::print_notice;

/// From the first message's reading to the time that it is due, in nanoseconds; and so much
/// more for each of its bytes.
const START: u64 = 20_000_000;
const START_OF_BYTE: u64 = 10;

/// The largest frame of a trace while it is looked through.
pub struct LargestFrame {
    clock: String,
    pub bytes: usize,
}

impl LargestFrame {
    /// Of none but what every trace has.
    pub fn new() -> LargestFrame {
        let bytes = frame::heartbeat().len().max(frame::end(true).len());
        LargestFrame { clock: host_id(), bytes }
    }

    /// Of a channel, too.
    pub fn channel(&mut self, channel: &Channel) -> Result<()> {
        self.bytes = self.bytes.max(channel_frame(&self.clock, 0, channel)?.len());
        Ok(())
    }

    /// Of a message of so many bytes, too.
    pub fn message(&mut self, bytes: u64) {
        self.bytes = self.bytes.max(frame::MESSAGE_HEADER_SIZE + bytes as usize);
    }

    /// Of what is said of the whole file, too.
    pub fn metadata(&mut self, reader: &dyn Reader) {
        for metadata in reader.metadata() {
            let told = frame::metadata(&metadata.name, &metadata.entries);
            self.bytes = self.bytes.max(told.len());
        }
    }
}

/// What is told of a channel.
fn channel_frame(clock: &str, number: u16, channel: &Channel) -> Result<Vec<u8>> {
    let definition = &channel.definition;
    let described = ChannelDescription {
        clock: clock.to_owned(),
        topic: channel.topic.clone(),
        message_encoding: channel.message_encoding.clone(),
        type_name: definition.name.clone(),
        definition_encoding: definition.encoding.clone(),
        definition: definition.data.clone(),
        metadata: channel.metadata.clone(),
    };
    let told = frame::channel(number, &described);
    frame::check(&told).with_context(|| format!("channel {}", channel.topic))?;
    Ok(told)
}

/// A player that has found its readers.
pub struct BusPlayer {
    relay: Relay,
    clock: String,
    /// When the first message of this turn is due.
    began: Option<u64>,
    /// When the last one is due.
    last: u64,
    /// Whether messages have times.
    paced: bool,
}

impl BusPlayer {
    /// Waits for the readers.
    pub fn start(end: &StreamEnd, paced: bool) -> Result<BusPlayer> {
        let mut relay = Relay::start(end.program()?, &end.setup)?;
        match relay.read_report()? {
            StreamReport::Ready(0) => print_notice("plays; no reader is connected yet"),
            StreamReport::Ready(1) => print_notice("plays to 1 reader"),
            StreamReport::Ready(readers) => print_notice(&format!("plays to {readers} readers")),
            _ => bail!("the player sent a malformed message"),
        }
        Ok(BusPlayer { relay, clock: host_id(), began: None, last: 0, paced })
    }

    /// Begins the trace, once more.
    pub fn begin(&mut self) {
        self.began = None;
    }

    /// Tells of a channel.
    pub fn channel(&mut self, number: u16, channel: &Channel) -> Result<()> {
        let told = channel_frame(&self.clock, number, channel)?;
        self.send_frame(0, &told, &[])
    }

    /// Hands a message on, which is due so long after the first one.
    pub fn message(
        &mut self,
        head: &MessageInfo,
        data: &[u8],
        later: Option<Duration>,
    ) -> Result<()> {
        let due = match later.filter(|_| self.paced) {
            None => 0,
            Some(later) => {
                let last = self.last;
                let began = *self.began.get_or_insert_with(|| {
                    let soon = monotonic() + START + data.len() as u64 * START_OF_BYTE;
                    soon.max(last)
                });
                let later = u64::try_from(later.as_nanos()).unwrap_or(u64::MAX);
                began.saturating_add(later)
            }
        };
        self.last = self.last.max(due);
        let message = FrameMessage {
            channel: head.channel,
            sequence: head.sequence,
            time: head.time,
            publish_time: head.publish_time,
        };
        self.send_frame(due, &frame::message_header(&message), data)
    }

    /// Tells what is said of the whole file.
    pub fn metadata(&mut self, reader: &dyn Reader) -> Result<()> {
        for metadata in reader.metadata() {
            let told = frame::metadata(&metadata.name, &metadata.entries);
            frame::check(&told).with_context(|| format!("metadata {}", metadata.name))?;
            self.send_frame(0, &told, &[])?;
        }
        Ok(())
    }

    fn send_frame(&mut self, due: u64, before: &[u8], data: &[u8]) -> Result<()> {
        let size = before.len() + data.len();
        ensure!(size <= MAX_FRAME, "a frame has {size} bytes; {MAX_FRAME} is the limit");
        self.relay.write(&[&record_header(due, size, FRAME), before].concat())?;
        self.relay.write(data)
    }

    /// Tells the readers that this was all, and waits until they have it.
    pub fn finish(mut self) -> Result<PlayResult> {
        self.send_frame(0, &frame::end(true), &[])?;
        match self.relay.read_report()? {
            StreamReport::Sent(sent) => Ok(sent),
            _ => bail!("the player sent a malformed message"),
        }
    }

    /// Tells the readers that there is no more: what was sent, if that is known, and what to
    /// say of it.
    pub fn stop(mut self, why: Error) -> (Option<PlayResult>, Error) {
        let said = self.relay.stop();
        match said {
            Some(StreamReport::Sent(sent)) => (Some(sent), why),
            Some(StreamReport::Failed(error)) if !why.is::<Interrupted>() => {
                (None, Error::msg(error))
            }
            _ => (None, why),
        }
    }
}
