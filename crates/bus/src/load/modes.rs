//! The modes that the user asks for, and the loads in them.

use std::time::Duration;

use anyhow::{ensure, Result};
use wiregauge_participant::control::Mode;

use crate::load::Load;

/// One mode or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Modes {
    /// The sender paces to absolute deadlines of the common time.
    Continuous,
    /// Lockstep: a step is done when all have acknowledged its data.
    Discrete,
    /// One after the other.
    Both,
}

impl Modes {
    /// Each of them.
    pub fn all(self) -> Vec<Mode> {
        match self {
            Modes::Continuous => vec![Mode::Continuous],
            Modes::Discrete => vec![Mode::Discrete],
            Modes::Both => vec![Mode::Continuous, Mode::Discrete],
        }
    }

    /// Loads of each of these sizes, in each mode, between each of these numbers of senders and
    /// receivers, on each of these numbers of topics.
    ///
    /// # Errors
    /// When one cannot be sent, or is there already.
    pub fn loads(
        self,
        sizes: &[usize],
        pairs: &[(usize, usize)],
        topics: &[usize],
        cycle: Duration,
        fast: bool,
    ) -> Result<Vec<Load>> {
        let mut loads = Vec::new();
        for mode in self.all() {
            for &size in sizes {
                for &(senders, receivers) in pairs {
                    for &topics in topics {
                        let load = Load { size, cycle, mode, fast, receivers, senders, topics };
                        load.check()?;
                        ensure!(!loads.contains(&load), "the load '{}' is given twice", load.id());
                        loads.push(load);
                    }
                }
            }
        }
        Ok(loads)
    }
}
