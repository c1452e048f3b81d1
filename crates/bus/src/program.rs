//! The programs that participants are.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::catalogue::Entry;

/// What starts a participant.
#[derive(Clone, Debug)]
pub enum Program {
    /// This program, which has the transports that need nothing.
    Own,
    /// One that was built apart.
    Engine(PathBuf),
}

impl Program {
    /// That of a transport, built below this folder where it is not there.
    ///
    /// # Errors
    /// When something is missing for it, it does not compile, or the user asks
    /// to stop.
    pub fn of(
        entry: &Entry,
        folder: &Path,
        progress: &dyn Fn(&str, usize, usize),
    ) -> Result<Program> {
        match entry.engine {
            Some(engine) => engine.build(folder, progress).map(Program::Engine),
            None => Ok(Program::Own),
        }
    }

    /// Its command line, but for `--control` and `--name`.
    pub fn command(&self) -> Command {
        match self {
            Program::Own => {
                // Not by its path, where another version may lie by now.
                let mut command = Command::new("/proc/self/exe");
                command.arg0("wiregauge").args(["bus", "participant"]);
                command
            }
            Program::Engine(path) => Command::new(path),
        }
    }
}
