//! A trace that is played to the bus.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Error, Result};
use wiregauge_bus::catalogue::program::Program;
use wiregauge_bus::relay::Relay;
use wiregauge_participant::stream::frame::{self, ChannelDescription, FrameMessage};
use wiregauge_participant::stream::setup::{record_header, PlayResult, StreamReport, FRAME};
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text::escape_short;
use wiregauge_timing::clock::monotonic;
use wiregauge_timing::usage::host_id;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::extras::skip_to_end;
use wiregauge_trace::open;
use wiregauge_trace::play::schedule;
use wiregauge_trace::read::{MessageInfo, Reader};
use wiregauge_trace::write::OutputFormat;
use wiregauge_trace_edit::channel_hints::ensure_types;

use crate::playback::Playback;
use crate::stream_end::{StreamEnd, MAX_FRAME};
use crate::time_text::format_distribution;
use crate::Notify;

/// From the first message's reading to the time that it is due, in nanoseconds; and so much
/// more for each of its bytes.
const START: u64 = 20_000_000;
const START_OF_BYTE: u64 = 10;

/// Plays a trace to this end of a stream. The program of its transport is built if it is
/// missing. `notify` is told how many readers there are, and in the end how much was sent.
///
/// # Errors
/// When the file is damaged, no reader comes, or what carries the trace fails.
pub fn play_to_bus(playback: &Playback, mut end: StreamEnd, notify: Notify) -> Result<()> {
    // Before anyone is waited for.
    playback.selection()?;
    ensure_types(&playback.input, open::open(&playback.input, &playback.open_hints())?.as_ref())?;
    if end.has_equal_rooms() {
        end.setup.topic.size = find_largest_frame(playback)?;
    }
    let paced = !playback.rate.is_unbounded();
    let mut player = BusPlayer::start(end.prepare_program()?, &end, paced, notify)?;
    let (sent, failed) = match send_messages(playback, &mut player, notify) {
        Ok(()) => (Some(player.finish()?), None),
        Err(error) => {
            let (sent, error) = player.stop(error);
            (sent, Some(error))
        }
    };
    if let Some(sent) = sent {
        report_sent(&sent, notify);
    }
    failed.map_or(Ok(()), Err)
}

/// The largest frame of what is played, for which the trace is looked through.
fn find_largest_frame(playback: &Playback) -> Result<usize> {
    let (selection, hints) = (playback.selection()?, playback.channel_hints());
    let mut reader = open::open(&playback.input, &playback.open_hints())?;
    let mut selected = selection.select(reader.as_mut());
    let (mut largest, mut described) = (LargestFrame::new(), BTreeSet::new());
    while let Some(head) = selected.advance()? {
        if described.insert(head.channel) {
            let channel = &selected.reader().channels()[&head.channel];
            let form = OutputFormat::Mcap;
            largest.channel(&hints.describe(&playback.input, None, channel, form)?)?;
        }
        largest.message(head.size);
    }
    skip_to_end(reader.as_mut())?;
    largest.metadata(reader.as_ref());
    Ok(largest.bytes)
}

fn send_messages(playback: &Playback, player: &mut BusPlayer, notify: Notify) -> Result<()> {
    let (selection, hints) = (playback.selection()?, playback.channel_hints());
    let (mut described, mut any) = (BTreeSet::new(), false);
    for turn in 1..=playback.loops {
        player.begin();
        let mut reader = open::open(&playback.input, &playback.open_hints())?;
        let mut selected = selection.select(reader.as_mut());
        schedule(&mut selected, playback.rate, &mut |channel, head, data, later| {
            if let Some(channel) = channel.filter(|_| described.insert(head.channel)) {
                // As MCAP wants it, whatever becomes of it.
                let form = OutputFormat::Mcap;
                let channel = hints.describe(&playback.input, None, channel, form)?;
                player.channel(head.channel, &channel)?;
            }
            any = true;
            player.message(head, data, later)
        })?;
        selection.check(&playback.name(), reader.channels().values())?;
        ensure!(any, playback.explain_empty());
        if turn == playback.loops {
            // What else the file holds may come last.
            skip_to_end(reader.as_mut())?;
            player.metadata(reader.as_ref())?;
            for attachment in reader.attachments() {
                notify(&escape_short(&format!("attachment {} is not played", attachment.name)));
            }
        }
    }
    Ok(())
}

fn report_sent(sent: &PlayResult, notify: Notify) {
    let PlayResult { messages, bytes, late, left } = sent;
    let late = format_distribution(late).map_or(String::new(), |late| format!("; late by {late}"));
    notify(&format!("{messages} messages of {bytes} bytes{late}"));
    if *left > 0 {
        notify(&format!("{left} readers are still connected and may not have received everything"));
    }
}

/// The largest frame of a trace while it is looked through.
struct LargestFrame {
    clock: String,
    bytes: usize,
}

impl LargestFrame {
    /// Of none but what every trace has.
    fn new() -> LargestFrame {
        let bytes = frame::heartbeat().len().max(frame::end(true).len());
        LargestFrame { clock: host_id(), bytes }
    }

    /// Of a channel, too.
    fn channel(&mut self, channel: &Channel) -> Result<()> {
        self.bytes = self.bytes.max(channel_frame(&self.clock, 0, channel)?.len());
        Ok(())
    }

    /// Of a message of so many bytes, too.
    fn message(&mut self, bytes: u64) {
        self.bytes = self.bytes.max(frame::MESSAGE_HEADER_SIZE + bytes as usize);
    }

    /// Of what is said of the whole file, too.
    fn metadata(&mut self, reader: &dyn Reader) {
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
struct BusPlayer {
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
    fn start(program: Program, end: &StreamEnd, paced: bool, notify: Notify) -> Result<BusPlayer> {
        let mut relay = Relay::start(program, &end.setup)?;
        match relay.read_report()? {
            StreamReport::Ready(0) => notify("plays; no reader is connected yet"),
            StreamReport::Ready(1) => notify("plays to 1 reader"),
            StreamReport::Ready(readers) => notify(&format!("plays to {readers} readers")),
            _ => bail!("the player sent a malformed message"),
        }
        Ok(BusPlayer { relay, clock: host_id(), began: None, last: 0, paced })
    }

    /// Begins the trace, once more.
    fn begin(&mut self) {
        self.began = None;
    }

    /// Tells of a channel.
    fn channel(&mut self, number: u16, channel: &Channel) -> Result<()> {
        let told = channel_frame(&self.clock, number, channel)?;
        self.send_frame(0, &told, &[])
    }

    /// Hands a message on, which is due so long after the first one.
    fn message(&mut self, head: &MessageInfo, data: &[u8], later: Option<Duration>) -> Result<()> {
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
    fn metadata(&mut self, reader: &dyn Reader) -> Result<()> {
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
    fn finish(mut self) -> Result<PlayResult> {
        self.send_frame(0, &frame::end(true), &[])?;
        match self.relay.read_report()? {
            StreamReport::Sent(sent) => Ok(sent),
            _ => bail!("the player sent a malformed message"),
        }
    }

    /// Tells the readers that there is no more: what was sent, if that is known, and what to
    /// say of it.
    fn stop(mut self, why: Error) -> (Option<PlayResult>, Error) {
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
