//! What holds for all trials of a series.

pub mod transport_option;

use std::time::Duration;

use anyhow::{ensure, Result};
use wiregauge_participant::realtime::Realtime;

use crate::catalogue::TransportEntry;
use crate::record::windows::{DROPPED_FIRST, DROPPED_LAST};
use crate::run_settings::transport_option::TransportOption;

/// How long a run lasts unless the user says so: ten windows of a second count,
/// and to tell seven transports apart by a sign test takes eight.
pub const DEFAULT_DURATION: Duration = Duration::from_secs(15);
/// Least and most silence that may be borne: beats come ten times a second.
const MIN_ALIVE_WITHIN: Duration = Duration::from_millis(300);
const MAX_ALIVE_WITHIN: Duration = Duration::from_secs(600);

/// What holds for all trials of a series.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// How long samples are sent.
    pub duration: Duration,
    /// Shortest window of a receiver.
    pub window: Duration,
    /// How long a step may go unacknowledged.
    pub patience: Duration,
    /// Whether a message of its own announces a step.
    pub announced: bool,
    /// How many round trips are taken before, at most.
    pub round_trips: u64,
    /// How long a participant or a machine may be silent before it is lost.
    pub alive: Duration,
    /// What participants ask of the system.
    pub realtime: Realtime,
    /// Seed of the samples' content.
    pub seed: u64,
    /// What else to say to transports.
    pub choices: Vec<TransportOption>,
}

impl RunSettings {
    /// What a reader of the figures must know of them.
    pub fn notes(&self) -> Option<String> {
        (!self.realtime.is_none()).then(|| format!("participants run with {}", self.realtime))
    }

    /// Whether they make sense for these transports, and this machine grants what
    /// they ask of it.
    ///
    /// # Errors
    /// Those of [`RunSettings::check`], and what the machine refuses.
    pub fn check_permissions(&self, entries: &[TransportEntry]) -> Result<()> {
        self.check(entries)?;
        self.realtime.check_permissions()
    }

    /// Whether they make sense for these transports.
    ///
    /// # Errors
    /// Too short a run for its windows, or an option for no transport of it.
    pub fn check(&self, entries: &[TransportEntry]) -> Result<()> {
        let windows = (DROPPED_FIRST + DROPPED_LAST + 1) as u32;
        ensure!(
            self.window.checked_mul(windows).is_some_and(|least| self.duration > least)
                && !self.window.is_zero(),
            "the duration must be longer than {windows} windows of {:?}, as the first \
             {DROPPED_FIRST} windows and the last are dropped",
            self.window
        );
        ensure!(
            (MIN_ALIVE_WITHIN..=MAX_ALIVE_WITHIN).contains(&self.alive),
            "--alive-within must be from {MIN_ALIVE_WITHIN:?} to {MAX_ALIVE_WITHIN:?}, not {:?}",
            self.alive
        );
        self.realtime.check()?;
        for TransportOption { transport, .. } in &self.choices {
            let known = entries.iter().any(|entry| entry.transport() == *transport);
            ensure!(known, "an option is for '{transport}', which is not measured in this run");
        }
        Ok(())
    }
}
