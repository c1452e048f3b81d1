//! What holds for all trials of a series.

pub mod transport_option;

use std::time::Duration;

use anyhow::{bail, ensure, Result};
use wiregauge_participant::realtime::Realtime;

use crate::background::Background;
use crate::catalogue::variant::loses;
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
    /// What loads the hosts meanwhile.
    pub background: Background,
    /// Seed of the samples' content.
    pub seed: u64,
    /// What else to say to transports.
    pub choices: Vec<TransportOption>,
}

impl RunSettings {
    /// What a reader of the figures must know of them.
    pub fn notes(&self) -> Vec<String> {
        let Self { realtime, background, .. } = self;
        let asked = (!realtime.is_none()).then(|| format!("participants run with {realtime}"));
        let loaded = (!background.is_none()).then(|| format!("background load: {background}"));
        asked.into_iter().chain(loaded).collect()
    }

    /// Whether a transport may drop samples by design, with what is said to it.
    pub fn lets_drop(&self, entry: &TransportEntry) -> bool {
        let mut own = self.choices.iter().filter(|choice| choice.transport == entry.transport());
        entry.drops || own.any(|choice| loses(&choice.name, &choice.value))
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
        for TransportOption { transport, name, .. } in &self.choices {
            let mut known = entries.iter().filter(|entry| entry.transport() == *transport);
            ensure!(
                known.clone().next().is_some(),
                "an option is for '{transport}', which is not measured in this run"
            );
            if let Some(row) = known.find(|row| row.options.iter().any(|(own, _)| own == name)) {
                bail!("an option says {name} to {transport}, but the row {} has its own", row.id);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::select;
    use crate::run_settings::transport_option::parse_transport_option;
    use wiregauge_participant::control::DEFAULT_SILENCE_LIMIT;

    fn settings(options: &[&str]) -> RunSettings {
        RunSettings {
            duration: Duration::from_secs(10),
            window: Duration::from_secs(1),
            patience: Duration::from_secs(5),
            announced: false,
            round_trips: 0,
            alive: DEFAULT_SILENCE_LIMIT,
            realtime: Realtime::default(),
            background: Background::default(),
            seed: 1,
            choices: options.iter().map(|text| parse_transport_option(text).unwrap()).collect(),
        }
    }

    #[test]
    fn an_option_for_all_rows_makes_them_lossy_too() {
        let rows = select(&["dds".into()]).unwrap();
        let lossy = |text: &str| [0, 1].map(|row: usize| settings(&[text]).lets_drop(&rows[row]));
        assert_eq!(lossy("dds.history=1"), [false, true]);
        assert_eq!(lossy("dds.domain=1"), [false, false]);
        assert_eq!(lossy("tcp.history=1"), [true, false]);
    }

    #[test]
    fn an_option_does_not_change_what_a_row_is() {
        let rows = select(&["fastdds".into(), "dds:history=1".into()]).unwrap();
        let check = |options: &[&str]| settings(options).check(&rows);
        check(&["dds.domain=1", "tcp.port=7301"]).unwrap();
        for (option, why) in [
            (
                "fastdds.way=memory",
                "an option says way to fastdds, but the row fastdds has its own",
            ),
            ("dds.history=2", "an option says history to dds, but the row dds:history=1 has its"),
            ("zenoh.port=1", "an option is for 'zenoh', which is not measured"),
        ] {
            let error = check(&[option]).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
