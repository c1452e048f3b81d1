//! Sends the messages of a trace when they are due.
//!
//! A message is taken from who reads the trace straight into the transport's room, a little
//! before it is due; then nothing is left but to wait and to send. In between beats tell that
//! the player is there, and channels are told of again, for readers that come late.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Result};

use super::frame::{self, FrameHeader};
use super::parent_process::ParentProcess;
use super::setup::{parse_record_header, PlayResult, Setup, StreamReport, RECORD_HEADER_SIZE};
use crate::discovery::find_readers;
use crate::transport::{Transport, Writer};
use wiregauge_timing::clock::{monotonic, Clock};
use wiregauge_timing::latency::TimeHistogram;

/// From beat to beat, in nanoseconds.
const BEAT: u64 = 1_000_000_000;
/// A beat waits so long for a pause, in nanoseconds.
const MAX_BEAT_DELAY_NS: u64 = 4 * BEAT;
/// A pause that is long enough for a beat, in nanoseconds.
const PAUSE: u64 = 20_000_000;
/// How long before it is due a message is put into the transport's room, in nanoseconds; and
/// so much more for each byte.
const LEAD: u64 = 5_000_000;
const LEAD_OF_BYTE: u64 = 5;
/// Longest sleep until it looks whether it is still wanted, in nanoseconds.
const MAX_SLEEP_NS: u64 = 50_000_000;
/// How long readers may take to get all that was sent: the readers of a transport leave when
/// they have the end.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The same where nobody wants to wait for it.
const STOPPED_DELIVERY_TIMEOUT: Duration = Duration::from_secs(2);
/// After how long readers that are still there are told of the end again.
const END_RESEND_INTERVAL: Duration = Duration::from_secs(1);

/// Finds the readers, and plays to them what comes.
///
/// # Errors
/// When they are not there in time, are gone, or the transport fails.
pub fn play(
    setup: &Setup,
    transport: &dyn Transport,
    starter: &mut ParentProcess,
) -> Result<PlayResult> {
    let deadline = Instant::now() + Duration::from_nanos(setup.wait);
    let mut writer = open_writer(setup, transport, starter, deadline)?;
    let found = await_readers(setup, writer.as_mut(), starter, deadline)?;
    starter.send_report(&StreamReport::Ready(found))?;
    let mut player = Player {
        writer: writer.as_mut(),
        starter,
        clock: Clock::new(0),
        stream: setup.stream,
        largest: setup.topic.size,
        found,
        channels: BTreeMap::new(),
        turn: 0,
        next_beat: monotonic() + BEAT,
        sent: PlayResult::default(),
        late: TimeHistogram::new(),
    };
    let stopped = player.run()?;
    player.await_delivery(stopped)
}

/// A writer, once its readers listen.
fn open_writer(
    setup: &Setup,
    transport: &dyn Transport,
    starter: &ParentProcess,
    deadline: Instant,
) -> Result<Box<dyn Writer>> {
    loop {
        let error = match transport.writer(&setup.topic, &setup.endpoints) {
            Ok(writer) => return Ok(writer),
            Err(error) => error,
        };
        let refused = error.chain().any(|cause| {
            let io = cause.downcast_ref::<std::io::Error>();
            io.is_some_and(|io| io.kind() == ErrorKind::ConnectionRefused)
        });
        if !refused || Instant::now() >= deadline || starter.is_gone() {
            return Err(error);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until the writer knows of the readers that are wanted; how many there are.
fn await_readers(
    setup: &Setup,
    writer: &mut dyn Writer,
    starter: &ParentProcess,
    deadline: Instant,
) -> Result<usize> {
    let wanted = setup.topic.readers;
    let found = find_readers(writer, wanted, deadline, || starter.is_gone())?;
    let waited = Duration::from_nanos(setup.wait);
    ensure!(
        found >= wanted || setup.wait == 0,
        "found {found} of {wanted} readers in {waited:?}; start the recorder first, or give a \
         longer --wait"
    );
    Ok(found)
}

struct Player<'a> {
    writer: &'a mut dyn Writer,
    starter: &'a mut ParentProcess,
    clock: Clock,
    stream: u64,
    largest: usize,
    /// Readers that there were at the last beat.
    found: usize,
    /// What was told of each channel.
    channels: BTreeMap<u16, Vec<u8>>,
    /// The channel that is told of again next.
    turn: usize,
    next_beat: u64,
    sent: PlayResult,
    late: TimeHistogram,
}

impl Player<'_> {
    /// Plays until the end, or until nobody wants it any more: whether it was stopped.
    fn run(&mut self) -> Result<bool> {
        let mut head = [0; RECORD_HEADER_SIZE];
        loop {
            if !self.await_record()? || !self.starter.read(&mut head)? {
                self.send(&mut frame::end(false))?;
                return Ok(true);
            }
            let (due, size, _) = parse_record_header(&head);
            ensure!(
                size <= self.largest,
                "a frame has {size} bytes; {} is the limit",
                self.largest
            );
            let lead = LEAD + size as u64 * LEAD_OF_BYTE;
            let wanted = self.wait(due.saturating_sub(lead))?;
            let room = self.writer.buffer_of_size(size)?;
            if !wanted || !self.starter.read(room)? {
                self.send(&mut frame::end(false))?;
                return Ok(true);
            }
            let (is_message, is_end) = (frame::is_message(room), frame::is_end(room));
            if let Some(number) = frame::is_channel(room) {
                self.channels.insert(number, room.to_vec());
            }
            if due > 0 {
                self.clock.wait_until(due);
                self.late.add(monotonic().saturating_sub(due));
            }
            let (stream, before) = (self.stream, self.sent.messages);
            frame::write_frame_header(room, FrameHeader { stream, before, sent: monotonic() });
            self.writer.send()?;
            if is_message {
                self.sent.messages += 1;
                self.sent.bytes += (size - frame::MESSAGE_HEADER_SIZE) as u64;
            }
            if is_end {
                return Ok(false);
            }
        }
    }

    fn send(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (stream, before) = (self.stream, self.sent.messages);
        frame::write_frame_header(bytes, FrameHeader { stream, before, sent: monotonic() });
        self.writer.buffer_of_size(bytes.len())?.copy_from_slice(bytes);
        self.writer.send()
    }

    /// Waits until there is something to read; false where nobody wants it any more.
    fn await_record(&mut self) -> Result<bool> {
        while !self.starter.is_gone() {
            self.send_heartbeat(u64::MAX)?;
            if self.starter.has_more(Duration::from_nanos(MAX_SLEEP_NS))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits until a time; false where nobody wants it any more.
    fn wait(&mut self, until: u64) -> Result<bool> {
        loop {
            let now = monotonic();
            self.send_heartbeat(until.saturating_sub(now))?;
            if self.starter.is_gone() {
                return Ok(false);
            }
            if now >= until {
                return Ok(true);
            }
            self.clock.wait_until(until.min(now + MAX_SLEEP_NS));
        }
    }

    /// Tells that it is there, where it is time for that and there is nothing else to do for
    /// so long.
    fn send_heartbeat(&mut self, free: u64) -> Result<()> {
        let now = monotonic();
        let due = if free >= PAUSE { self.next_beat } else { self.next_beat + MAX_BEAT_DELAY_NS };
        if now < due {
            return Ok(());
        }
        self.next_beat = now + BEAT;
        let found = self.writer.readers()?;
        if found == 0 && self.found > 0 {
            bail!("no reader is left");
        }
        self.send(&mut frame::heartbeat())?;
        // Who came since then knows none of them; who came for another one that left gets
        // them one after the other.
        let again: Vec<u16> = match found > self.found {
            true => self.channels.keys().copied().collect(),
            false => {
                self.turn += 1;
                let turn = self.turn % self.channels.len().max(1);
                self.channels.keys().nth(turn).into_iter().copied().collect()
            }
        };
        self.found = found;
        for number in again {
            let mut told = std::mem::take(self.channels.entry(number).or_default());
            let sent = self.send(&mut told);
            self.channels.insert(number, told);
            sent?;
        }
        Ok(())
    }

    /// Waits until the readers have everything, as far as the transport can tell. Who is
    /// still there is told of the end again: it may be what a transport dropped.
    fn await_delivery(mut self, stopped: bool) -> Result<PlayResult> {
        let linger = if stopped { STOPPED_DELIVERY_TIMEOUT } else { DELIVERY_TIMEOUT };
        let deadline = Instant::now() + linger;
        let mut again = Instant::now() + END_RESEND_INTERVAL;
        let mut left = self.writer.readers()?;
        while left > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
            // A reader that leaves at this moment cannot be sent to.
            if Instant::now() >= again && self.send(&mut frame::end(!stopped)).is_ok() {
                again = Instant::now() + END_RESEND_INTERVAL;
            }
            left = self.writer.readers()?;
        }
        Ok(PlayResult { late: self.late.distribution(), left, ..self.sent })
    }
}
