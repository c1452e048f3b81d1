//! Whether this process itself stood still: stopped by a signal or a debugger,
//! or not run by a machine that has too much to do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use wiregauge_participant::control::BEAT;

/// How long afterwards a standstill may be what others ended of.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// Looks at the clock again and again until it is dropped.
pub struct Standstill {
    looks: Arc<Looks>,
}

struct Looks {
    seen: Mutex<Seen>,
    ended: AtomicBool,
}

struct Seen {
    /// The last look.
    last: Instant,
    /// The longest time between two looks, and when it was over.
    longest: Option<(Duration, Instant)>,
}

impl Standstill {
    /// Looks from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn watch() -> Result<Standstill> {
        let looks = Arc::new(Looks::since(Instant::now()));
        let own = Arc::clone(&looks);
        thread::Builder::new().name("standstill".into()).spawn(move || {
            while !own.ended.load(Ordering::Relaxed) {
                own.look();
                thread::sleep(BEAT);
            }
        })?;
        Ok(Standstill { looks })
    }

    /// How long it stood still just now, if for as long as others bear its
    /// silence.
    pub fn of(&self, borne: Duration) -> Option<Duration> {
        // Whoever wakes up first after one tells it.
        let (longest, over) = self.looks.look()?;
        // Others may have heard the last beat some time before.
        let long = longest + 2 * BEAT >= borne.max(4 * BEAT);
        (long && over.elapsed() < AFTERWARDS).then_some(longest)
    }
}

impl Drop for Standstill {
    fn drop(&mut self) {
        self.looks.ended.store(true, Ordering::Relaxed);
    }
}

impl Looks {
    fn since(last: Instant) -> Looks {
        let seen = Mutex::new(Seen { last, longest: None });
        Looks { seen, ended: AtomicBool::new(false) }
    }

    fn look(&self) -> Option<(Duration, Instant)> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let time = now - std::mem::replace(&mut seen.last, now);
        if seen.longest.is_none_or(|(longest, _)| time > longest) {
            seen.longest = Some((time, now));
        }
        seen.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standstill_is_told_by_who_asks_first() {
        let watched = Standstill::watch().unwrap();
        assert_eq!(watched.of(Duration::from_secs(600)), None);
        // As if all had been stopped: nobody looked.
        let looks = Arc::new(Looks::since(Instant::now() - Duration::from_secs(3)));
        let stopped = Standstill { looks };
        assert!(stopped.of(Duration::from_secs(1)) >= Some(Duration::from_secs(3)));
        assert_eq!(stopped.of(Duration::from_secs(10)), None);
    }
}
