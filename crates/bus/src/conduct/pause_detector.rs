//! Whether this process itself stood still: stopped by a signal or a debugger,
//! or not run by a machine that has too much to do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use wiregauge_participant::control::HEARTBEAT_INTERVAL;

/// How long afterwards a standstill may be what others ended of.
const MAX_PAUSE_AGE: Duration = Duration::from_secs(5);

/// Looks at the clock again and again until it is dropped.
pub struct PauseDetector {
    looks: Arc<PauseLog>,
}

struct PauseLog {
    seen: Mutex<LongestPause>,
    ended: AtomicBool,
}

struct LongestPause {
    /// The last look.
    last: Instant,
    /// The longest time between two looks, and when it was over.
    longest: Option<(Duration, Instant)>,
}

impl PauseDetector {
    /// Looks from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn watch() -> Result<PauseDetector> {
        let looks = Arc::new(PauseLog::starting_at(Instant::now()));
        let own = Arc::clone(&looks);
        thread::Builder::new().name("standstill".into()).spawn(move || {
            while !own.ended.load(Ordering::Relaxed) {
                own.check_clock();
                thread::sleep(HEARTBEAT_INTERVAL);
            }
        })?;
        Ok(PauseDetector { looks })
    }

    /// How long it stood still just now, if for as long as others bear its
    /// silence.
    pub fn recent_pause(&self, borne: Duration) -> Option<Duration> {
        // Whoever wakes up first after one tells it.
        let (longest, over) = self.looks.check_clock()?;
        // Others may have heard the last beat some time before.
        let long = longest + 2 * HEARTBEAT_INTERVAL >= borne.max(4 * HEARTBEAT_INTERVAL);
        (long && over.elapsed() < MAX_PAUSE_AGE).then_some(longest)
    }
}

impl Drop for PauseDetector {
    fn drop(&mut self) {
        self.looks.ended.store(true, Ordering::Relaxed);
    }
}

impl PauseLog {
    fn starting_at(last: Instant) -> PauseLog {
        let seen = Mutex::new(LongestPause { last, longest: None });
        PauseLog { seen, ended: AtomicBool::new(false) }
    }

    fn check_clock(&self) -> Option<(Duration, Instant)> {
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
        let watched = PauseDetector::watch().unwrap();
        assert_eq!(watched.recent_pause(Duration::from_secs(600)), None);
        // As if all had been stopped: nobody looked.
        let looks = Arc::new(PauseLog::starting_at(Instant::now() - Duration::from_secs(3)));
        let stopped = PauseDetector { looks };
        assert!(stopped.recent_pause(Duration::from_secs(1)) >= Some(Duration::from_secs(3)));
        assert_eq!(stopped.recent_pause(Duration::from_secs(10)), None);
    }
}
