//! How a writer of DDS makes sure that its readers know it before the first sample.
//!
//! A writer knows a reader some time before the reader knows the writer, and what is sent in
//! between is lost: a volatile reader takes it for history. No time is long enough on a loaded
//! machine. So the writer sends an empty sample, the greeting, which readers do not count, and
//! waits until all reliable readers have acknowledged it. Who does not acknowledge gets time: readers
//! of best effort, among them those of a reliable writer, which only a trace's player has.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::transport::Topic;

/// What readers that acknowledge nothing get to know the writer.
const SETTLE: Duration = Duration::from_secs(1);

/// What became of the greeting of a writer.
pub struct Greeting {
    /// How many readers there will be.
    wanted: usize,
    /// Whether readers acknowledge, and can be sent an empty sample.
    acknowledged: bool,
    /// From then on readers are ready, where they have acknowledged what they do.
    settle: Duration,
    state: State,
}

enum State {
    /// Readers are missing.
    Incomplete,
    /// It was sent, or the time runs, since then.
    Greeted(Instant),
    Settled,
}

impl Greeting {
    /// For the readers of a topic. Where they acknowledge nothing, or can be sent no empty sample,
    /// they get time instead.
    pub fn new(topic: &Topic, acknowledged: bool) -> Greeting {
        // Samples of a trace vary.
        let settle = if acknowledged && !topic.varies { Duration::ZERO } else { SETTLE };
        Greeting { wanted: topic.readers, acknowledged, settle, state: State::Incomplete }
    }

    /// How many readers are ready, of those that the writer has found: not all before all wanted
    /// ones know the writer.
    ///
    /// # Errors
    /// Those of sending an empty sample, and of asking whether all is acknowledged.
    pub fn ready_readers(
        &mut self,
        found: usize,
        send_empty: impl FnOnce() -> Result<()>,
        is_acknowledged: impl FnOnce() -> Result<bool>,
    ) -> Result<usize> {
        if found < self.wanted {
            self.state = State::Incomplete;
            return Ok(found);
        }
        match self.state {
            State::Incomplete => {
                if self.acknowledged {
                    send_empty()?;
                }
                self.state = State::Greeted(Instant::now());
            }
            State::Greeted(since) => {
                let is_late_enough = since.elapsed() >= self.settle;
                if is_late_enough && (!self.acknowledged || is_acknowledged()?) {
                    self.state = State::Settled;
                }
            }
            State::Settled => {}
        }
        Ok(match self.state {
            State::Settled => found,
            _ => self.wanted.saturating_sub(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn readers_are_ready_once_they_have_acknowledged_an_empty_sample() {
        let (sent, acknowledged) = (Cell::new(0), Cell::new(false));
        let mut greeting = Greeting::new(&Topic { readers: 2, ..Topic::example(&[]) }, true);
        let mut ready = |found| {
            let send_empty = || {
                sent.set(sent.get() + 1);
                Ok(())
            };
            greeting.ready_readers(found, send_empty, || Ok(acknowledged.get())).unwrap()
        };
        assert_eq!((ready(1), sent.get()), (1, 0));
        assert_eq!((ready(2), ready(2), sent.get()), (1, 1, 1));
        acknowledged.set(true);
        assert_eq!((ready(2), ready(3), sent.get()), (2, 3, 1));
        // One left, and another came, which does not know the writer either.
        acknowledged.set(false);
        assert_eq!((ready(1), ready(2), ready(2), sent.get()), (1, 1, 1, 2));
    }

    #[test]
    fn readers_that_may_not_acknowledge_get_time() {
        let topic = Topic::example(&[]);
        let trace = Topic { varies: true, ..topic.clone() };
        for (topic, acknowledged) in [(topic, false), (trace, true)] {
            let mut greeting = Greeting::new(&topic, acknowledged);
            let start = Instant::now();
            let send_empty = || match acknowledged {
                true => Ok(()),
                false => unreachable!(),
            };
            let mut ready = || greeting.ready_readers(1, send_empty, || Ok(acknowledged)).unwrap();
            assert_eq!(ready(), 0);
            while ready() == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(start.elapsed() >= SETTLE);
        }
    }
}
