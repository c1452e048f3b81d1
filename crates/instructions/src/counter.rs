//! What counts instructions.

use anyhow::Result;
use wiregauge_child_process::runner::Launch;

use crate::callgrind::Callgrind;
use crate::count::Count;
use crate::emulator::Emulator;

/// What counts instructions.
#[derive(Clone, Debug)]
pub enum Counter {
    /// On this machine's architecture.
    Callgrind(Callgrind),
    /// On any target's.
    Emulator(Emulator),
}

impl Counter {
    /// Prepares to count what this runner executes; one that is emulated already by the
    /// emulator that counts. As a simulation, callgrind counts more: see [`Callgrind::count`].
    ///
    /// # Errors
    /// When there is no room for what is counted.
    pub fn count(&self, launch: &Launch, is_simulation: bool) -> Result<Count> {
        match self {
            Counter::Callgrind(callgrind) => callgrind.count(launch, is_simulation),
            Counter::Emulator(emulator) => emulator.count(launch),
        }
    }

    /// Its name and version.
    pub fn tool(&self) -> (&str, &str) {
        match self {
            Counter::Callgrind(callgrind) => ("valgrind", &callgrind.version),
            Counter::Emulator(emulator) => ("emulator", emulator.version()),
        }
    }
}
