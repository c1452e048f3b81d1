//! Lockstep: the timing master announces a step, each participant does its
//! work and acknowledges when the step's data has arrived.
//!
//! The messages have a fixed size, as they are part of what is measured: an
//! announcement is the step and the simulated time, an acknowledgement the
//! step. Who receives a sample from the timing master in each step needs no
//! announcement besides: the sample's sequence is the step. A message of its
//! own costs a third of a step on one machine. Other senders receive nothing, so
//! that steps are always announced to them.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow::{Break, Continue};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};

use crate::connect::{connect_with_retry, MAX_OUTAGE};
use crate::token::accept_with_token;

/// Step and simulated time.
const ANNOUNCEMENT: usize = 12;
/// The step.
const ACKNOWLEDGEMENT: usize = 4;
/// The step that is announced when there will be no other.
const NO_MORE: u32 = u32::MAX;
/// Longest wait between two looks at whether to go on.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The timing master's side.
pub struct StepAnnouncer {
    listener: TcpListener,
    token: String,
    followers: Vec<Acknowledger>,
}

struct Acknowledger {
    stream: TcpStream,
    /// Whether steps are announced to it.
    listens: bool,
    partial: PartialMessage<ACKNOWLEDGEMENT>,
    acknowledged: Option<u32>,
}

impl StepAnnouncer {
    /// Listens for those who will follow.
    ///
    /// # Errors
    /// When there is no port.
    pub fn open(bind: IpAddr, token: &str) -> Result<StepAnnouncer> {
        let listener = TcpListener::bind((bind, 0))
            .with_context(|| format!("cannot listen at {bind} for the steps"))?;
        Ok(StepAnnouncer { listener, token: token.into(), followers: Vec::new() })
    }

    /// Where to follow.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// Takes these for the connections of those who follow: the same that the
    /// steps' samples go over. One of its own would be two more packets a step,
    /// as it has to be acknowledged by itself.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn use_connections(&mut self, streams: Vec<TcpStream>) -> Result<()> {
        for stream in streams {
            self.followers.push(Acknowledger::new(stream, false)?);
        }
        Ok(())
    }

    /// Waits until so many follow.
    ///
    /// # Errors
    /// When they are not in time.
    pub fn await_followers(&mut self, count: usize, patience: Duration) -> Result<()> {
        self.listener.set_nonblocking(true)?;
        let there = self.followers.len();
        let followers = &mut self.followers;
        let take = |stream: TcpStream| {
            if let Some(listens) = receives_wish(&stream) {
                followers.push(Acknowledger::new(stream, listens)?);
            }
            Ok(if followers.len() < count { Continue(()) } else { Break(()) })
        };
        let all = there >= count
            || accept_with_token(&self.listener, &self.token, "who follows", patience, take)?;
        ensure!(all, "{} of {count} follow the steps", self.followers.len());
        Ok(())
    }

    /// Announces a step with its simulated time to those who wish so. Whether there are any.
    ///
    /// # Errors
    /// When a participant is gone.
    pub fn announce(&mut self, step: u32, time: u64) -> Result<bool> {
        let mut message = [0; ANNOUNCEMENT];
        message[..4].copy_from_slice(&step.to_le_bytes());
        message[4..].copy_from_slice(&time.to_le_bytes());
        let mut any = false;
        for follower in self.followers.iter_mut().filter(|follower| follower.listens) {
            follower.stream.write_all(&message).context("a participant ended")?;
            any = true;
        }
        Ok(any)
    }

    /// Announces that there will be no other step.
    ///
    /// # Errors
    /// When a participant is gone.
    pub fn announce_end(&mut self) -> Result<()> {
        self.announce(NO_MORE, 0).map(drop)
    }

    /// Waits until all have acknowledged a step. Whether they have in time.
    ///
    /// # Errors
    /// When a participant is gone, or when `go_on` says so.
    pub fn await_acknowledgements(
        &mut self,
        step: u32,
        patience: Duration,
        go_on: &dyn Fn() -> bool,
    ) -> Result<bool> {
        let mut deadline = None;
        for follower in &mut self.followers {
            while follower.acknowledged.is_none_or(|known| known < step) {
                if let Some(bytes) = follower.partial.read(&mut follower.stream)? {
                    follower.acknowledged = Some(u32::from_le_bytes(bytes));
                    continue;
                }
                // Nothing for a slice: only now the clock is looked at.
                let deadline = *deadline.get_or_insert(Instant::now() + patience - POLL_INTERVAL);
                if Instant::now() >= deadline || !go_on() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

impl Acknowledger {
    fn new(stream: TcpStream, listens: bool) -> Result<Acknowledger> {
        let (stream, partial) = (configure_stream(stream)?, PartialMessage::default());
        Ok(Acknowledger { stream, listens, partial, acknowledged: None })
    }
}

/// Whether who came wishes that steps are announced to it, as it says after the token.
fn receives_wish(mut stream: &TcpStream) -> Option<bool> {
    let mut wish = [0];
    stream.set_read_timeout(Some(POLL_INTERVAL)).ok()?;
    stream.read_exact(&mut wish).ok()?;
    Some(wish == [1])
}

/// A participant's side.
pub struct StepReceiver {
    stream: TcpStream,
    partial: PartialMessage<ANNOUNCEMENT>,
    announced: Option<u32>,
}

impl StepReceiver {
    /// Follows the timing master, and wishes that it announces steps, if it `listens` to them.
    ///
    /// # Errors
    /// When it is not there.
    pub fn follow(master: SocketAddr, token: &str, listens: bool) -> Result<StepReceiver> {
        let mut stream = connect_with_retry(master, MAX_OUTAGE)
            .with_context(|| format!("cannot follow the timing master at {master}"))?;
        // Together, so that the wish is there when the token is.
        let words = [token.as_bytes(), &[u8::from(listens)]].concat();
        stream.write_all(&words).context("the timing master ended")?;
        let (partial, announced) = (PartialMessage::default(), None);
        Ok(StepReceiver { stream: configure_stream(stream)?, partial, announced })
    }

    /// Acknowledges over the connection that samples come over: steps are not
    /// announced by themselves.
    pub fn with_connection(stream: TcpStream) -> StepReceiver {
        StepReceiver { stream, partial: PartialMessage::default(), announced: None }
    }

    /// Waits until a step has been announced; false if it will not be. (To who receives a sample in
    /// each step it was announced before that was sent, so that this seldom waits.)
    ///
    /// # Errors
    /// When the timing master is gone.
    pub fn await_step(&mut self, step: u32, go_on: &dyn Fn() -> bool) -> Result<bool> {
        while self.announced.is_none_or(|known| known < step) {
            match self.partial.read(&mut self.stream)? {
                Some(bytes) => {
                    let step = bytes.first_chunk().expect("an announcement begins with a step");
                    self.announced = Some(u32::from_le_bytes(*step));
                }
                None if !go_on() => return Ok(false),
                None => {}
            }
        }
        Ok(self.announced != Some(NO_MORE))
    }

    /// Says that a step's data has arrived and its work is done.
    ///
    /// # Errors
    /// When the timing master is gone.
    pub fn acknowledge(&mut self, step: u32) -> Result<()> {
        self.stream.write_all(&step.to_le_bytes()).context("the timing master ended")
    }
}

fn configure_stream(stream: TcpStream) -> Result<TcpStream> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    Ok(stream)
}

/// A message that may come in pieces.
struct PartialMessage<const SIZE: usize> {
    bytes: [u8; SIZE],
    filled: usize,
}

impl<const SIZE: usize> Default for PartialMessage<SIZE> {
    fn default() -> Self {
        PartialMessage { bytes: [0; SIZE], filled: 0 }
    }
}

impl<const SIZE: usize> PartialMessage<SIZE> {
    /// The next message; none if nothing came for a slice.
    fn read(&mut self, stream: &mut TcpStream) -> Result<Option<[u8; SIZE]>> {
        while self.filled < SIZE {
            match stream.read(&mut self.bytes[self.filled..]) {
                Ok(0) => bail!("the other side of the steps ended"),
                Ok(count) => self.filled += count,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(None),
                    ErrorKind::Interrupted => {}
                    _ => return Err(error).context("the other side of the steps ended"),
                },
            }
        }
        self.filled = 0;
        Ok(Some(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (StepAnnouncer, StepReceiver) {
        let mut announcer = StepAnnouncer::open([127, 0, 0, 1].into(), "token").unwrap();
        // A stranger is no follower.
        let address = announcer.address().unwrap();
        TcpStream::connect(address).unwrap().write_all(&[b'x'; 100]).unwrap();
        let steps = StepReceiver::follow(address, "token", true).unwrap();
        announcer.await_followers(1, Duration::from_secs(5)).unwrap();
        (announcer, steps)
    }

    #[test]
    fn a_step_is_done_when_it_is_acknowledged() {
        let (mut announcer, mut steps) = pair();
        let patience = Duration::from_millis(120);
        announcer.announce(0, 0).unwrap();
        assert!(!announcer.await_acknowledgements(0, patience, &|| true).unwrap(), "nobody has");
        announcer.announce(1, 1000).unwrap();
        assert!(steps.await_step(1, &|| true).unwrap());
        steps.acknowledge(0).unwrap();
        assert!(
            !announcer.await_acknowledgements(1, patience, &|| true).unwrap(),
            "only the one before"
        );
        steps.acknowledge(1).unwrap();
        let later = Duration::from_secs(60);
        assert!(announcer.await_acknowledgements(1, later, &|| true).unwrap());
        drop(steps);
        assert!(announcer.await_acknowledgements(2, patience, &|| true).is_err());
    }

    #[test]
    fn steps_are_announced_to_those_who_wish_so_until_the_last() {
        let (mut announcer, mut steps) = pair();
        let address = announcer.address().unwrap();
        let mut other = StepReceiver::follow(address, "token", false).unwrap();
        announcer.await_followers(2, Duration::from_secs(5)).unwrap();
        assert!(announcer.announce(0, 0).unwrap());
        announcer.announce_end().unwrap();
        assert!(!other.await_step(0, &|| false).unwrap(), "nothing is announced to it");
        assert!(steps.await_step(0, &|| true).unwrap());
        assert!(!steps.await_step(1, &|| true).unwrap(), "there is no other");

        let mut nobody = StepAnnouncer::open([127, 0, 0, 1].into(), "").unwrap();
        assert!(!nobody.announce(0, 0).unwrap());
    }

    #[test]
    fn who_does_not_come_is_not_waited_for() {
        let mut announcer = StepAnnouncer::open([127, 0, 0, 1].into(), "").unwrap();
        let error = announcer.await_followers(2, Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("0 of 2"), "{error}");
    }
}
