//! The programs that participants are.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use wiregauge_participant::token;

use crate::catalogue::engine::Engine;
use crate::secret;

/// What starts a participant.
#[derive(Clone, Debug)]
pub enum Program {
    /// This program, which has the transports that need nothing.
    BuiltIn,
    /// One that was built apart.
    Engine(&'static Engine, PathBuf),
}

impl Program {
    /// This program, or that of an engine, built below this folder where it is
    /// not there.
    ///
    /// # Errors
    /// When something is missing for it, it does not compile, or the user asks
    /// to stop.
    pub fn prepare(
        engine: Option<&'static Engine>,
        folder: &Path,
        progress: &dyn Fn(&str, usize, usize),
    ) -> Result<Program> {
        match engine {
            Some(engine) => Ok(Program::Engine(engine, engine.build(folder, progress)?)),
            None => Ok(Program::BuiltIn),
        }
    }

    /// What to do about such a death of it, if that is known.
    pub fn advice(&self, death: &str) -> String {
        let known = self.engine().map_or(&[][..], |engine| engine.advice);
        let known = known.iter().find(|(sign, _)| death.contains(sign));
        known.map_or(String::new(), |(_, remedy)| format!("; {remedy}"))
    }

    /// The engine that it is of.
    pub fn engine(&self) -> Option<&'static Engine> {
        match self {
            Program::BuiltIn => None,
            Program::Engine(engine, _) => Some(engine),
        }
    }

    /// The command line of a process that carries a trace.
    pub fn stream_command(&self) -> Command {
        self.serving_command("--stream")
    }

    /// The command line of a process with stages of a chain.
    pub fn stage_command(&self) -> Command {
        self.serving_command("--stage")
    }

    /// The command line of a process that does what its standard input says.
    fn serving_command(&self, what: &str) -> Command {
        let mut command = match self {
            Program::BuiltIn => current_program(),
            Program::Engine(_, path) => Command::new(path),
        };
        command.arg(what);
        // What it is to know of them it is told.
        command.env_remove(token::ENV_VAR).env_remove(secret::ENV_VAR);
        command
    }

    /// The command line of a process with participants of these names, for a
    /// conductor at this address. The token is in its environment.
    pub fn command(&self, control: SocketAddr, names: &[&str], token: &str) -> Command {
        let mut command = match self {
            Program::BuiltIn => current_program(),
            Program::Engine(_, path) => Command::new(path),
        };
        command.arg("--control").arg(control.to_string());
        for name in names {
            command.arg("--name").arg(name);
        }
        command.env(token::ENV_VAR, token);
        // The machines' key is none of a participant's business.
        command.env_remove(secret::ENV_VAR);
        command
    }
}

/// The command line of a process that loads its machine, as its standard input says.
pub fn background_command() -> Command {
    Program::BuiltIn.serving_command("--load-machine")
}

/// This program, as a participant.
fn current_program() -> Command {
    // Not by its path, where another version may lie by now.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("wiregauge").args(["bus", "participant"]);
    command
}
