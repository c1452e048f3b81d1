//! Hands messages on at the times that they have, as they were recorded.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{ensure, Result};
use wiregauge_system::interrupt;

use crate::channel::Channel;
use crate::read::{MessageInfo, Nanoseconds};
use crate::select::SelectedMessages;

/// How long it sleeps at most until it looks whether the user wants to stop.
const MAX_SLEEP: Duration = Duration::from_millis(50);

/// How a trace is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayRate {
    /// How many seconds of the trace a second lasts; none for as fast as can be.
    rate: Option<f64>,
}

impl PlayRate {
    /// At a rate: 1 is as it was recorded, 2 twice as fast.
    ///
    /// # Errors
    /// When no time can pass at such a rate.
    pub fn new(rate: f64) -> Result<PlayRate> {
        ensure!(rate.is_finite() && rate > 0.0, "a speed is a number above 0, such as 0.5 or 2");
        Ok(PlayRate { rate: Some(rate) })
    }

    /// As fast as can be.
    pub fn unbounded() -> PlayRate {
        PlayRate { rate: None }
    }

    /// Whether messages are to wait for nothing.
    pub fn is_unbounded(self) -> bool {
        self.rate.is_none()
    }

    /// How long after the first message one is due, whose time is so much later.
    fn delay_of(self, later: Nanoseconds) -> Duration {
        let Some(rate) = self.rate else { return Duration::ZERO };
        let nanos = later.max(0) as f64 / rate;
        Duration::try_from_secs_f64(nanos / 1e9).unwrap_or(Duration::MAX)
    }
}

impl FromStr for PlayRate {
    type Err = anyhow::Error;

    /// `2`, `0.5`, or `max` for as fast as can be.
    fn from_str(text: &str) -> Result<PlayRate> {
        match text {
            "max" => Ok(PlayRate::unbounded()),
            rate => PlayRate::new(rate.parse().unwrap_or(f64::NAN)),
        }
    }
}

/// How late messages were handed on, behind the times that they have.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    sorted: Vec<u64>,
    /// Messages, and their bytes.
    pub messages: u64,
    /// As above.
    pub bytes: u64,
}

impl Lateness {
    /// Nanoseconds that such a share of the messages, out of a million of them, was late at
    /// most.
    pub fn quantile(&mut self, share: f64) -> u64 {
        self.sorted.sort_unstable();
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, late: Duration, size: u64) {
        self.messages += 1;
        self.bytes += size;
        // Of longer traces the first part stands for all.
        if self.sorted.len() < 1_000_000 {
            self.sorted.push(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX));
        }
    }
}

/// Plays the wanted messages once, each at its time after the first one. One without a
/// time comes with the one before it, and so does one whose time has passed already.
///
/// # Errors
/// When the file is damaged, the taker does not take, or the user stops it.
pub fn play(
    selected: &mut SelectedMessages,
    pace: PlayRate,
    lateness: &mut Lateness,
    take: &mut dyn FnMut(&MessageInfo, &[u8]) -> Result<()>,
) -> Result<()> {
    let mut began = None;
    schedule(selected, pace, &mut |_, head, data, later| {
        let mut due = Instant::now();
        if let Some(later) = later {
            due = began.get_or_insert(due).checked_add(later).unwrap_or(due);
        }
        wait(due)?;
        let late = if pace.rate.is_some() { due.elapsed() } else { Duration::ZERO };
        take(head, data)?;
        lateness.add(late, head.size);
        Ok(())
    })
}

/// Takes a message that is due so long after the first one; none for one that is due with the
/// one before it. With the first one of a channel comes what is said of that.
pub type ScheduleCallback<'t> =
    &'t mut dyn FnMut(Option<&Channel>, &MessageInfo, &[u8], Option<Duration>) -> Result<()>;

/// Reads the wanted messages once, each before it is due: what reading takes is no lateness.
///
/// # Errors
/// When the file is damaged, or the taker does not take.
pub fn schedule(
    selected: &mut SelectedMessages,
    pace: PlayRate,
    take: ScheduleCallback,
) -> Result<()> {
    let mut first: Option<Nanoseconds> = None;
    let mut known = BTreeSet::new();
    while let Some(head) = selected.advance()? {
        let later = head.time.map(|time| pace.delay_of(time - *first.get_or_insert(time)));
        let is_new = known.insert(head.channel);
        let reader = selected.reader();
        let channel = is_new.then(|| reader.channels()[&head.channel].clone());
        take(channel.as_ref(), &head, reader.data()?, later)?;
    }
    Ok(())
}

/// Sleeps until a moment. It never comes too early.
fn wait(due: Instant) -> Result<()> {
    loop {
        interrupt::check()?;
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(MAX_SLEEP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_by_the_rate() {
        let second = 1_000_000_000;
        assert_eq!(PlayRate::new(1.0).unwrap().delay_of(second), Duration::from_secs(1));
        assert_eq!(PlayRate::new(2.0).unwrap().delay_of(second), Duration::from_millis(500));
        assert_eq!(PlayRate::unbounded().delay_of(second), Duration::ZERO);
        assert_eq!(PlayRate::new(1.0).unwrap().delay_of(-second), Duration::ZERO);
        assert_eq!(PlayRate::new(1e-300).unwrap().delay_of(second), Duration::MAX);
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(PlayRate::new(rate).is_err());
        }
    }

    #[test]
    fn lateness_is_told_by_shares() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), 0);
        (0..=100).rev().for_each(|n| lateness.add(Duration::from_nanos(n), 1));
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| lateness.quantile(share)), [0, 50, 99, 100]);
    }
}
