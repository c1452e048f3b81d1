//! A trace that is recorded from the bus.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Error, Result};
use wiregauge_bus::relay::{Relay, RelayOutput};
use wiregauge_participant::stream::frame::{self, ChannelDescription, Frame, FrameMessage};
use wiregauge_participant::stream::setup::StreamReport;
use wiregauge_system::file::Target;
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_timing::latency::TimeHistogram;
use wiregauge_timing::usage::host_id;
use wiregauge_trace::channel::{Channel, Definition};
use wiregauge_trace::read::{MessageInfo, MessagePosition};
use wiregauge_trace::write::{ChunkOptions, OutputFormat, Writer};

use crate::stream_end::{StreamTransport, MAX_FRAME};
use crate::time_text::format_distribution;
use crate::Notify;

/// Longest silence of a player, which tells each second that it is there.
const SILENCE: Duration = Duration::from_secs(10);
/// Most bytes that the channels of a trace may say of themselves.
const MAX_DESCRIPTIONS: usize = 256 << 20;

/// How long to listen. Without a limit it goes on until the user stops it.
pub struct RecordLimits {
    /// For a player to come.
    pub wait: Option<Duration>,
    /// From the first message on.
    pub duration: Option<Duration>,
}

/// What is recorded from the bus, and where it is written.
pub struct BusRecorder<'r> {
    /// The file.
    pub output: &'r Path,
    /// How MCAP is packed.
    pub packing: ChunkOptions,
    /// The transport.
    pub transport: &'r StreamTransport,
    /// Where it listens; none for this machine alone.
    pub bind: Option<IpAddr>,
    /// How long.
    pub limits: RecordLimits,
}

impl BusRecorder<'_> {
    /// Records what a player sends, until it is done. The program of the transport is built if
    /// it is missing.
    ///
    /// # Errors
    /// When no player comes or it does not come to its end, or the file cannot be written. What
    /// came before is in the file.
    pub fn record(&self, notify: Notify) -> Result<()> {
        let form = OutputFormat::from_path(self.output)?;
        let (end, made_up) = self.transport.recorder(self.bind)?;
        let target = Target::open(self.output, &[])?;
        let mut relay = Relay::start(end.prepare_program()?, &end.setup)?;
        let StreamReport::Open(endpoint) = relay.read_report()? else {
            bail!("the listener sent a malformed message")
        };
        let writer = form.begin(target.start_draft()?, self.packing)?;
        notify(&escape_short(&format!(
            "listens; start the player with: {}",
            end.invitation(&endpoint, made_up)
        )));
        let mut recording = BusRecording::new(writer);
        let ended = recording.listen(&mut relay, &self.limits);
        // Readers that leave tell the player that they have everything.
        relay.close();
        recording.finish(ended, self.output, end.entry.drops, notify)
    }
}

/// What ended it.
enum EndReason {
    /// All of the trace came.
    All,
    /// The user wants no more.
    Enough,
}

/// A file while it is recorded.
struct BusRecording {
    writer: Box<dyn Writer>,
    clock: String,
    /// The stream that is recorded, and how many of its messages were sent by now.
    stream: Option<(u64, u64)>,
    channels: BTreeMap<u16, KnownChannel>,
    /// How much the channels say of themselves.
    said: usize,
    messages: u64,
    bytes: u64,
    /// Messages that were sent before it listened.
    before: u64,
    /// Messages that did not come.
    missing: u64,
    /// Messages of channels that were not told of yet.
    unknown: u64,
    /// Samples that are not of the stream.
    foreign: u64,
    /// What the container cannot hold.
    left_out: Vec<String>,
    latency: TimeHistogram,
}

/// A channel that was told of.
struct KnownChannel {
    described: ChannelDescription,
    /// Its number in the file, once it had a message.
    number: Option<u16>,
    /// Whether its frames are stamped by this machine's clock.
    is_near: bool,
}

impl BusRecording {
    fn new(writer: Box<dyn Writer>) -> BusRecording {
        BusRecording {
            writer,
            clock: host_id(),
            stream: None,
            channels: BTreeMap::new(),
            said: 0,
            messages: 0,
            bytes: 0,
            before: 0,
            missing: 0,
            unknown: 0,
            foreign: 0,
            left_out: Vec::new(),
            latency: TimeHistogram::new(),
        }
    }

    /// Takes what comes until the end of the stream.
    fn listen(&mut self, relay: &mut Relay, limits: &RecordLimits) -> Result<EndReason> {
        let began = Instant::now();
        let (mut last, mut first) = (None, None);
        loop {
            match relay.read_output(MAX_FRAME) {
                Ok(RelayOutput::Sample(time, sample)) => {
                    if let Some(whole) = self.accept_sample(time, sample)? {
                        ensure!(whole, "the player was stopped before the end of its trace");
                        return Ok(EndReason::All);
                    }
                    if self.stream.is_some() {
                        last = Some(Instant::now());
                    }
                }
                Ok(RelayOutput::Nothing) => {}
                Ok(RelayOutput::Ended(why)) => bail!("the player did not finish: {why}"),
                Err(error) if error.is::<Interrupted>() => return Ok(EndReason::Enough),
                Err(error) => return Err(error),
            }
            if self.messages > 0 {
                let first = *first.get_or_insert_with(Instant::now);
                if limits.duration.is_some_and(|duration| first.elapsed() >= duration) {
                    return Ok(EndReason::Enough);
                }
            }
            match last {
                Some(last) => ensure!(
                    last.elapsed() < SILENCE,
                    "the player did not finish: it sent nothing for {SILENCE:?}"
                ),
                None => ensure!(
                    limits.wait.is_none_or(|wait| began.elapsed() < wait),
                    "no player connected within {:?}",
                    limits.wait.unwrap_or_default()
                ),
            }
        }
    }

    /// Takes a sample that came at a time: at the end of the stream, whether that was all.
    fn accept_sample(&mut self, time: u64, sample: &[u8]) -> Result<Option<bool>> {
        let Ok((head, frame)) = frame::read(sample) else {
            self.foreign += 1;
            return Ok(None);
        };
        let (stream, expected) = match self.stream {
            Some(known) => known,
            // The end of one that was played before.
            None if matches!(frame, Frame::End(_)) => return Ok(None),
            None => {
                self.before = head.before;
                *self.stream.insert((head.stream, head.before))
            }
        };
        if head.stream != stream || head.before < expected {
            self.foreign += 1;
            return Ok(None);
        }
        self.missing += head.before - expected;
        let is_message = matches!(frame, Frame::Message(..));
        self.stream = Some((stream, head.before.saturating_add(is_message.into())));
        match frame {
            Frame::Beat => {}
            Frame::End(whole) => return Ok(Some(whole)),
            Frame::Channel(number, described) => self.describe(number, described)?,
            Frame::Metadata(name, entries) => {
                if !self.writer.write_metadata(&name, &entries)? {
                    self.left_out.push(format!("metadata {name}"));
                }
            }
            Frame::Message(message, data) => {
                if self.write(&message, data)? {
                    self.latency.add(time.saturating_sub(head.sent));
                }
            }
        }
        Ok(None)
    }

    /// Keeps what is said of a channel.
    fn describe(&mut self, number: u16, described: ChannelDescription) -> Result<()> {
        if let Some(known) = self.channels.get(&number) {
            ensure!(
                known.described == described,
                "channel {number} was declared twice, in different ways"
            );
            return Ok(());
        }
        let own = [&described.topic, &described.type_name, &described.message_encoding];
        let metadata = described.metadata.iter().map(|(key, value)| key.len() + value.len());
        self.said += described.definition.len() + metadata.sum::<usize>();
        self.said += own.iter().map(|text| text.len()).sum::<usize>();
        ensure!(
            self.said <= MAX_DESCRIPTIONS,
            "the declarations of the channels have more than {} MiB",
            MAX_DESCRIPTIONS >> 20
        );
        let is_near = !self.clock.is_empty() && described.clock == self.clock;
        self.channels.insert(number, KnownChannel { described, number: None, is_near });
        Ok(())
    }

    /// Writes a message; whether its latency can be told.
    fn write(&mut self, message: &FrameMessage, data: &[u8]) -> Result<bool> {
        let Some(known) = self.channels.get_mut(&message.channel) else {
            self.unknown += 1;
            return Ok(false);
        };
        let said = &known.described;
        let topic = || format!("channel {}", said.topic);
        let number = match known.number {
            Some(number) => number,
            None => {
                let channel = Channel {
                    topic: said.topic.clone(),
                    message_encoding: said.message_encoding.clone(),
                    definition: Definition {
                        name: said.type_name.clone(),
                        encoding: said.definition_encoding.clone(),
                        data: said.definition.clone(),
                    }
                    .into(),
                    metadata: said.metadata.clone(),
                };
                *known.number.insert(self.writer.add_channel(&channel).with_context(topic)?)
            }
        };
        let head = MessageInfo {
            channel: number,
            sequence: message.sequence,
            time: message.time,
            publish_time: message.publish_time,
            size: data.len() as u64,
            place: MessagePosition { at: 0, within: None },
        };
        self.writer.write_message(number, &head, data).with_context(topic)?;
        self.messages += 1;
        self.bytes += data.len() as u64;
        Ok(known.is_near)
    }

    /// Keeps what came, tells of it, and fails where that is not all of the trace. Of a
    /// transport that drops by design, that something is missing is no failure.
    fn finish(
        self,
        ended: Result<EndReason>,
        output: &Path,
        drops: bool,
        notify: Notify,
    ) -> Result<()> {
        let BusRecording { writer, messages, bytes, missing, .. } = self;
        if self.foreign > 0 {
            notify(&format!("{} samples came that are not from this trace", self.foreign));
        }
        if messages == 0 {
            let nothing = || match self.unknown {
                0 => "no message came, so nothing was recorded".to_owned(),
                some => format!("{some} messages came, but their channels were not declared"),
            };
            return match ended {
                Ok(EndReason::All | EndReason::Enough) => Err(anyhow!(nothing())),
                Err(error) => Err(error.context("nothing was recorded")),
            };
        }
        let remarks = writer.remarks();
        writer.finish()?;
        remarks.iter().for_each(|remark| notify(&escape_short(remark)));
        let shown = output.display();
        if !self.left_out.is_empty() {
            let left_out = self.left_out.join(", ");
            notify(&escape_short(&format!("left out, as {shown} cannot hold it: {left_out}")));
        }
        if self.before > 0 {
            notify(&format!("{} sent before it listened", format_count(self.before, "message")));
        }
        if self.unknown > 0 {
            let unknown = format_count(self.unknown, "message");
            notify(&format!(
                "{unknown} not recorded, as they came before the declaration of their channels"
            ));
        }
        let messages = format_count(messages, "message");
        let latency = format_distribution(&self.latency.distribution());
        let latency = latency.map_or(String::new(), |times| format!("; they took {times}"));
        notify(&format!("{messages} of {bytes} bytes in {shown}{latency}"));
        let kept = |error: Error| Err(error.context("the file has everything before that"));
        match ended {
            Err(error) => kept(error),
            Ok(EndReason::Enough) => Ok(()),
            Ok(EndReason::All) if missing == 0 => Ok(()),
            Ok(EndReason::All) if drops => {
                notify(&format!("{missing} messages did not arrive"));
                Ok(())
            }
            Ok(EndReason::All) => {
                bail!("{missing} messages did not arrive; the file has those that did")
            }
        }
    }
}
