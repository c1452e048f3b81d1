//! How participants' clocks are aligned to that of the timing master.
//!
//! Each participant asks the master for its time over a connection of its own,
//! several times in a row, and believes the answer that came back fastest: its
//! offset is known to half of that round trip. It asks again once a second, so
//! that drift is seen. Participants on one machine share its monotonic clock;
//! then the measured offset is recorded and not used, as it would only add the
//! error of measuring it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use serde::{Deserialize, Serialize};
use wiregauge_timing::clock::{monotonic, Clock};

use crate::connect::{connect_with_retry, MAX_OUTAGE, RETRY_PAUSE};
use crate::token::{receives_token, send_token};
use wiregauge_timing::threads::start_thread;

/// Questions in a row.
const REQUESTS: usize = 16;
/// How long the master may take over an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// What was found out about a participant's clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Whether participant and master share one clock.
    pub shared: bool,
    /// The first measured offset to the master, in nanoseconds.
    pub offset: i64,
    /// How well it was known where it was known least well, as each measurement is used until the
    /// next: half of the fastest round trip of that measurement.
    pub uncertainty: u64,
    /// How much the offset grew from the first to the last measurement.
    pub drift: i64,
    /// The time between the two.
    pub span: u64,
    /// Largest step from one measurement to the next, beyond what either is
    /// uncertain by: a clock that was set.
    pub jump: i64,
}

/// Beyond any time that a clock tells, in nanoseconds: 146 years of running.
const MAX_TIME: u64 = 1 << 62;

/// One measured offset.
#[derive(Clone, Copy, Debug)]
pub struct OffsetSample {
    /// When it was known, on the clock of who asked.
    pub own: u64,
    /// How far the other clock is ahead, in nanoseconds.
    pub offset: i64,
    /// How well that is known: half of the round trip.
    pub uncertainty: u64,
}

impl OffsetSample {
    /// From what the master answered, and when it was asked and the answer came.
    ///
    /// # Errors
    /// An answer that is no time.
    pub fn from_times(asked: u64, answer: u64, back: u64) -> Result<OffsetSample> {
        ensure!(answer < MAX_TIME, "the timing master sent an invalid time");
        let (middle, uncertainty) = (asked + (back - asked) / 2, (back - asked).div_ceil(2));
        Ok(OffsetSample { own: back, offset: answer as i64 - middle as i64, uncertainty })
    }
}

impl Alignment {
    /// From all that was measured, in its order.
    pub fn from_samples(shared: bool, sights: &[OffsetSample]) -> Alignment {
        let (Some(first), Some(last)) = (sights.first(), sights.last()) else {
            return Alignment { shared, ..Alignment::default() };
        };
        let step = |pair: &[OffsetSample]| {
            let step = (pair[1].offset - pair[0].offset).abs();
            (step - (pair[0].uncertainty + pair[1].uncertainty) as i64).max(0)
        };
        Alignment {
            shared,
            offset: first.offset,
            uncertainty: sights.iter().map(|sight| sight.uncertainty).max().unwrap_or(0),
            drift: last.offset - first.offset,
            span: last.own - first.own,
            jump: sights.windows(2).map(step).max().unwrap_or(0),
        }
    }
}

/// Tells the master's time to whoever asks. It ends when dropped.
pub struct TimeServer {
    /// Where to ask.
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl TimeServer {
    /// Starts to answer.
    ///
    /// # Errors
    /// When there is no port.
    pub fn start(bind: std::net::IpAddr, token: &str) -> Result<TimeServer> {
        let listener = TcpListener::bind((bind, 0))
            .with_context(|| format!("cannot listen at {bind} for the clock"))?;
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (ended, token): (_, Arc<str>) = (Arc::clone(&stop), token.into());
        let asking = Arc::new(());
        start_thread("clock", move || {
            while !ended.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        // Strangers who knock without end get no more than this.
                        thread::sleep(Duration::from_millis(1));
                        if Arc::strong_count(&asking) > MAX_CLIENTS {
                            continue;
                        }
                        let (ended, token) = (Arc::clone(&ended), Arc::clone(&token));
                        let one_more = Arc::clone(&asking);
                        let answer = move || {
                            answer_with_time(stream, &token, &ended);
                            drop(one_more);
                        };
                        let _ = start_thread("clock", answer);
                    }
                    Err(_) => thread::sleep(Duration::from_millis(50)),
                }
            }
        })?;
        Ok(TimeServer { address, stop })
    }
}

impl Drop for TimeServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Most who ask for the time at once: all participants, which are 256 at most, and some who are
/// no longer there or do not belong there.
const MAX_CLIENTS: usize = 320;

/// Answers each byte with the time, until the asker goes.
fn answer_with_time(mut stream: TcpStream, token: &str, ended: &AtomicBool) {
    if !receives_token(&stream, token) {
        return;
    }
    let set = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(Some(Duration::from_millis(500))));
    if set.is_err() {
        return;
    }
    let mut question = [0];
    while !ended.load(Ordering::Relaxed) {
        match stream.read(&mut question) {
            Ok(0) => return,
            Ok(_) => {
                if stream.write_all(&monotonic().to_le_bytes()).is_err() {
                    return;
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                _ => return,
            },
        }
    }
}

/// Keeps a clock aligned to the master's until it is told to end.
pub struct ClockFollower {
    sights: Arc<Mutex<Vec<OffsetSample>>>,
    stop: Arc<AtomicBool>,
    shared: bool,
}

impl ClockFollower {
    /// Aligns a clock and keeps it so.
    ///
    /// # Errors
    /// When the master does not answer.
    pub fn start(
        clock: &Clock,
        master: SocketAddr,
        token: &str,
        shared: bool,
    ) -> Result<ClockFollower> {
        let (mut stream, first) = first_offset(master, token)?;
        let token = token.to_owned();
        if !shared {
            clock.adjust(first.offset);
        }
        let sights = Arc::new(Mutex::new(vec![first]));
        let stop = Arc::new(AtomicBool::new(false));
        let follower = ClockFollower { sights, stop, shared };
        let (sights, stop) = (Arc::clone(&follower.sights), Arc::clone(&follower.stop));
        let clock = clock.clone();
        start_thread("clock", move || {
            let mut turns = 0u64;
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(100));
                turns += 1;
                if !turns.is_multiple_of(10) {
                    continue;
                }
                // When the master is gone, the control channel tells. After an
                // outage an old answer may come: it is asked anew.
                let Ok(sight) = measure_offset(&mut stream) else {
                    if let Ok(again) = connect_to_master(master, &token, ANSWER_TIMEOUT) {
                        stream = again;
                    }
                    continue;
                };
                if !shared {
                    clock.adjust(sight.offset);
                }
                sights.lock().unwrap_or_else(PoisonError::into_inner).push(sight);
            }
        })?;
        Ok(follower)
    }

    /// Ends, and tells what was found out.
    pub fn finish(self) -> Alignment {
        self.stop.store(true, Ordering::Relaxed);
        let sights = self.sights.lock().unwrap_or_else(PoisonError::into_inner);
        Alignment::from_samples(self.shared, &sights)
    }
}

impl Drop for ClockFollower {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn connect_to_master(master: SocketAddr, token: &str, patience: Duration) -> Result<TcpStream> {
    let stream = connect_with_retry(master, patience)
        .with_context(|| format!("cannot ask the timing master at {master}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    send_token(&stream, token)?;
    Ok(stream)
}

/// Asks until there is an answer, for as long as a way may be gone: what was said
/// first may be lost with it.
fn first_offset(master: SocketAddr, token: &str) -> Result<(TcpStream, OffsetSample)> {
    let deadline = Instant::now() + MAX_OUTAGE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut stream = connect_to_master(master, token, left)?;
        match measure_offset(&mut stream) {
            Ok(sight) => return Ok((stream, sight)),
            Err(error) if error.is::<io::Error>() && Instant::now() + RETRY_PAUSE < deadline => {
                thread::sleep(RETRY_PAUSE);
            }
            Err(error) => return Err(error.context("the timing master did not send its time")),
        }
    }
}

fn measure_offset(stream: &mut TcpStream) -> Result<OffsetSample> {
    fastest_offset(|| {
        stream.write_all(&[1])?;
        let mut answer = [0; 8];
        stream.read_exact(&mut answer)?;
        Ok(u64::from_le_bytes(answer))
    })
}

/// Asks another clock for its time some times; the fastest answer counts.
///
/// # Errors
/// What `ask` says, and an answer that is no time.
pub fn fastest_offset(mut ask: impl FnMut() -> Result<u64>) -> Result<OffsetSample> {
    let mut best: Option<OffsetSample> = None;
    for _ in 0..REQUESTS {
        let asked = monotonic();
        let answer = ask()?;
        let sight = OffsetSample::from_times(asked, answer, monotonic())?;
        if best.is_none_or(|best| sight.uncertainty < best.uncertainty) {
            best = Some(sight);
        }
    }
    best.context("no answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_to_the_own_clock_is_within_its_uncertainty() {
        let server = TimeServer::start([127, 0, 0, 1].into(), "token").unwrap();
        let clock = Clock::new(monotonic());
        let follower = ClockFollower::start(&clock, server.address, "token", false).unwrap();
        let found = follower.finish();
        assert!(found.offset.unsigned_abs() <= found.uncertainty, "{found:?}");
    }

    #[test]
    fn all_participants_of_the_largest_run_are_told_the_time() {
        let server = TimeServer::start([127, 0, 0, 1].into(), "token").unwrap();
        let asks = |_| first_offset(server.address, "token").unwrap();
        let asking: Vec<_> = (1..256).map(asks).collect();
        for (mut stream, _) in asking {
            measure_offset(&mut stream).unwrap();
        }
    }

    #[test]
    fn another_clock_is_followed() {
        // A master whose clock is an hour ahead.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        const HOUR: u64 = 3_600_000_000_000;
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0];
            while stream.read_exact(&mut question).is_ok() {
                stream.write_all(&(monotonic() + HOUR).to_le_bytes()).unwrap();
            }
        });
        let clock = Clock::new(monotonic());
        let follower = ClockFollower::start(&clock, address, "", false).unwrap();
        assert!(clock.now() >= HOUR && clock.now() < HOUR + 10_000_000_000);
        assert!(!follower.finish().shared);
    }

    #[test]
    fn a_first_question_that_is_lost_is_asked_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            // One that stays silent, and one that is closed.
            let _silent = listener.accept().unwrap();
            drop(listener.accept().unwrap());
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0];
            while stream.read_exact(&mut question).is_ok() {
                stream.write_all(&monotonic().to_le_bytes()).unwrap();
            }
        });
        let clock = Clock::new(monotonic());
        assert!(ClockFollower::start(&clock, address, "", false).is_ok());
    }

    #[test]
    fn what_is_no_time_is_not_asked_for_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&u64::MAX.to_le_bytes()).unwrap();
            let _ = stream.read(&mut [0]);
        });
        let error = first_offset(address, "").unwrap_err();
        assert!(format!("{error:#}").contains("an invalid time"), "{error:#}");
    }

    #[test]
    fn a_clock_is_as_uncertain_as_where_it_was_known_least_well() {
        let at = |own, uncertainty| OffsetSample { own, offset: 0, uncertainty };
        let found = Alignment::from_samples(false, &[at(0, 10), at(1000, 70), at(2000, 20)]);
        assert_eq!(found.uncertainty, 70);
    }

    #[test]
    fn a_jump_is_told_from_uncertainty() {
        let at = |own, offset| OffsetSample { own, offset, uncertainty: 10 };
        let calm = Alignment::from_samples(false, &[at(0, 100), at(1000, 115), at(2000, 110)]);
        assert_eq!((calm.offset, calm.drift, calm.jump), (100, 10, 0));
        let set = Alignment::from_samples(false, &[at(0, 100), at(1000, 5100), at(2000, 5100)]);
        assert_eq!((set.drift, set.jump), (5000, 4980));
    }
}
