//! How much is measured.

use std::time::Duration;

use wiregauge_result::run::Settings;

/// How much is measured: five minutes, unless the user wants less or more.
pub struct Effort {
    /// That a minute is enough.
    pub is_quick: bool,
    /// How long proof, counting of allocations and timing may take in all.
    pub duration: Option<Duration>,
    /// In how many processes each row is measured.
    pub processes: Option<u32>,
    /// Seed of generated values, damage and the order of turns.
    pub seed: u64,
}

impl Effort {
    /// How long it may take in all.
    pub fn time(&self) -> Duration {
        self.duration.unwrap_or(Duration::from_secs(if self.is_quick { 55 } else { 285 }))
    }

    /// Most rounds in one process.
    pub fn most_rounds(&self) -> u32 {
        if self.is_quick {
            60
        } else {
            200
        }
    }

    /// How samples are taken, where all that can be kept is kept from message to message.
    pub fn settings(&self) -> Settings {
        Settings {
            processes: self.processes.unwrap_or(if self.is_quick { 3 } else { 5 }),
            rounds: 5,
            epoch_ns: if self.is_quick { 500_000 } else { 2_000_000 },
            scratch: "reused".into(),
            background: String::new(),
            buffers: "reused".into(),
            objects: "reused".into(),
            seed: self.seed,
        }
    }
}
