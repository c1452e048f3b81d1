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

use super::frame::{self, Head};
use super::setup::{parts, Said, Sent, Setup, RECORD};
use super::starter::Starter;
use crate::clock::{monotonic, Clock};
use crate::latency::Times;
use crate::transport::{Transport, Writer};

/// From beat to beat, in nanoseconds.
const BEAT: u64 = 1_000_000_000;
/// A beat waits so long for a pause, in nanoseconds.
const OVERDUE: u64 = 4 * BEAT;
/// A pause that is long enough for a beat, in nanoseconds.
const PAUSE: u64 = 20_000_000;
/// How long before it is due a message is put into the transport's room, in nanoseconds; and
/// so much more for each byte.
const LEAD: u64 = 5_000_000;
const LEAD_OF_BYTE: u64 = 5;
/// Longest sleep until it looks whether it is still wanted, in nanoseconds.
const NAP: u64 = 50_000_000;
/// How long readers may take to get all that was sent: the readers of a transport leave when
/// they have the end.
const LINGER: Duration = Duration::from_secs(10);
/// The same where nobody wants to wait for it.
const LINGER_WHEN_STOPPED: Duration = Duration::from_secs(2);
/// After how long readers that are still there are told of the end again.
const AGAIN: Duration = Duration::from_secs(1);

/// Finds the readers, and plays to them what comes.
///
/// # Errors
/// When they are not there in time, are gone, or the transport fails.
pub fn play(setup: &Setup, transport: &dyn Transport, starter: &mut Starter) -> Result<Sent> {
    let deadline = Instant::now() + Duration::from_nanos(setup.wait);
    let mut writer = reach(setup, transport, starter, deadline)?;
    let found = find(setup, writer.as_mut(), starter, deadline)?;
    starter.say(&Said::Ready(found))?;
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
        sent: Sent::default(),
        late: Times::new(),
    };
    let stopped = player.run()?;
    player.await_readers(stopped)
}

/// A writer, once its readers listen.
fn reach(
    setup: &Setup,
    transport: &dyn Transport,
    starter: &Starter,
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
fn find(
    setup: &Setup,
    writer: &mut dyn Writer,
    starter: &Starter,
    deadline: Instant,
) -> Result<usize> {
    let wanted = setup.topic.readers;
    loop {
        let found = writer.readers()?;
        if found >= wanted || setup.wait == 0 {
            return Ok(found);
        }
        let waited = Duration::from_nanos(setup.wait);
        ensure!(
            Instant::now() < deadline && !starter.is_gone(),
            "found {found} of {wanted} readers in {waited:?}; start the recorder first, or say \
             how long to --wait"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

struct Player<'a> {
    writer: &'a mut dyn Writer,
    starter: &'a mut Starter,
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
    sent: Sent,
    late: Times,
}

impl Player<'_> {
    /// Plays until the end, or until nobody wants it any more: whether it was stopped.
    fn run(&mut self) -> Result<bool> {
        let mut head = [0; RECORD];
        loop {
            if !self.await_record()? || !self.starter.read(&mut head)? {
                self.send(&mut frame::end(false))?;
                return Ok(true);
            }
            let (due, size, _) = parts(&head);
            ensure!(
                size <= self.largest,
                "a frame of {size} bytes, where {} are the most",
                self.largest
            );
            let lead = LEAD + size as u64 * LEAD_OF_BYTE;
            let wanted = self.wait(due.saturating_sub(lead))?;
            let room = self.writer.room_of(size)?;
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
            frame::stamp(room, Head { stream, before, sent: monotonic() });
            self.writer.send()?;
            if is_message {
                self.sent.messages += 1;
                self.sent.bytes += (size - frame::BEFORE) as u64;
            }
            if is_end {
                return Ok(false);
            }
        }
    }

    fn send(&mut self, bytes: &mut [u8]) -> Result<()> {
        let (stream, before) = (self.stream, self.sent.messages);
        frame::stamp(bytes, Head { stream, before, sent: monotonic() });
        self.writer.room_of(bytes.len())?.copy_from_slice(bytes);
        self.writer.send()
    }

    /// Waits until there is something to read; false where nobody wants it any more.
    fn await_record(&mut self) -> Result<bool> {
        while !self.starter.is_gone() {
            self.beat(u64::MAX)?;
            if self.starter.has_more(Duration::from_nanos(NAP))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits until a time; false where nobody wants it any more.
    fn wait(&mut self, until: u64) -> Result<bool> {
        loop {
            let now = monotonic();
            self.beat(until.saturating_sub(now))?;
            if self.starter.is_gone() {
                return Ok(false);
            }
            if now >= until {
                return Ok(true);
            }
            self.clock.wait_until(until.min(now + NAP));
        }
    }

    /// Tells that it is there, where it is time for that and there is nothing else to do for
    /// so long.
    fn beat(&mut self, free: u64) -> Result<()> {
        let now = monotonic();
        let due = if free >= PAUSE { self.next_beat } else { self.next_beat + OVERDUE };
        if now < due {
            return Ok(());
        }
        self.next_beat = now + BEAT;
        let found = self.writer.readers()?;
        if found == 0 && self.found > 0 {
            bail!("nobody reads any more");
        }
        self.send(&mut frame::beat())?;
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
    fn await_readers(mut self, stopped: bool) -> Result<Sent> {
        let linger = if stopped { LINGER_WHEN_STOPPED } else { LINGER };
        let deadline = Instant::now() + linger;
        let mut again = Instant::now() + AGAIN;
        let mut left = self.writer.readers()?;
        while left > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
            // A reader that leaves at this moment cannot be sent to.
            if Instant::now() >= again && self.send(&mut frame::end(!stopped)).is_ok() {
                again = Instant::now() + AGAIN;
            }
            left = self.writer.readers()?;
        }
        Ok(Sent { late: self.late.distribution(), left, ..self.sent })
    }
}
