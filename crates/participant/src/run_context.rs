//! What a participant is at, and what the conductor wishes meanwhile.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::control::Assignment;
use crate::progress::ProgressBuffer;
use wiregauge_timing::clock::{monotonic, Clock};
use wiregauge_timing::scratch;

/// How long a conductor that is gone may take to be so.
const CONDUCTOR_EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// What the conductor wishes while a participant is at work.
#[derive(Debug, Default)]
pub struct RunControl {
    abandon: AtomicBool,
    /// One more than the number of samples that were sent; 0 before.
    finish: AtomicU64,
    /// The same of each sender.
    sent: Mutex<Vec<u64>>,
    /// When it was told, on the monotonic clock.
    told: AtomicU64,
    /// The run's folder.
    scratch: Mutex<Option<PathBuf>>,
    /// Why the conductor is lost, where it went without a word.
    loss: OnceLock<String>,
}

impl RunControl {
    /// Keeps the run's folder in mind.
    pub fn set_scratch(&self, scratch: Option<PathBuf>) {
        *self.scratch.lock().unwrap_or_else(PoisonError::into_inner) = scratch;
    }

    /// Removes what is left of a run whose conductor is gone.
    pub fn remove_scratch(&self) {
        let scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let is_lost = self.conductor_loss().is_some();
        let patience = if is_lost { CONDUCTOR_EXIT_TIMEOUT } else { Duration::ZERO };
        scratch.iter().for_each(|path| scratch::remove_leftovers(path, patience));
    }

    /// Breaks off.
    pub fn abort(&self) {
        self.abandon.store(true, Ordering::Relaxed);
    }

    /// Notes that the conductor went without a word, and how that was noticed. What is noticed
    /// first counts.
    pub fn mark_conductor_lost(&self, reason: String) {
        let _ = self.loss.set(reason);
    }

    /// Why the conductor is lost, if it is.
    pub fn conductor_loss(&self) -> Option<&str> {
        self.loss.get().map(String::as_str)
    }

    /// Notes that each sender has sent so many samples, and no more will come.
    pub fn set_sent_counts(&self, sent: Vec<u64>) {
        let all = sent.iter().fold(0, |all: u64, sent| all.saturating_add(*sent));
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = sent;
        self.told.store(monotonic(), Ordering::Relaxed);
        self.finish.store(all.saturating_add(1), Ordering::Release);
    }

    /// How many samples each sender has sent, once that is known.
    pub fn sent_counts(&self) -> Vec<u64> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether to break off.
    pub fn is_aborted(&self) -> bool {
        self.abandon.load(Ordering::Relaxed)
    }

    /// How many samples were sent by all, once that is known.
    pub fn sent_count(&self) -> Option<u64> {
        self.finish.load(Ordering::Acquire).checked_sub(1)
    }

    /// When that was told, in nanoseconds since the epoch of this clock.
    pub fn finished_at(&self, clock: &Clock) -> u64 {
        clock.since_epoch(self.told.load(Ordering::Relaxed))
    }
}

/// What a participant is at, and who hears of it.
pub struct RunContext<'a> {
    /// What it is to do.
    pub assignment: &'a Assignment,
    /// The common time.
    pub clock: &'a Clock,
    /// What the conductor wishes.
    pub wish: &'a RunControl,
    /// Where it leaves what it has seen.
    pub seen: &'a ProgressBuffer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_all_was_sent_is_told_by_the_common_time() {
        // The timing master's clock is far behind: its epoch is a small number.
        let own = monotonic();
        let clock = Clock::new(1_000_000_000);
        clock.adjust(1_000_000_000 - own as i64);
        let wish = RunControl::default();
        wish.set_sent_counts(vec![3, 4]);
        assert_eq!((wish.sent_count(), wish.sent_counts()), (Some(7), vec![3, 4]));
        let told = wish.finished_at(&clock);
        assert!(told <= clock.now() && clock.now() - told < 60_000_000_000, "{told}");
    }
}
