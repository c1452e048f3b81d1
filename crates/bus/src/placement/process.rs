//! What participants run in, wherever that is.

use std::time::Instant;

use wiregauge_child_process::child::{Child, ChildFailure};

use crate::machines::remote::RemoteProcess;

/// What the participants of a process plan run in.
#[derive(Debug)]
pub enum Process {
    /// Threads of this process.
    InProcess,
    /// A child of this process.
    Child(Child),
    /// A child of the agent on another machine.
    Remote(RemoteProcess),
}

impl Process {
    /// Whether it ended by itself, or its machine is lost.
    pub fn has_ended(&self) -> bool {
        match self {
            Process::InProcess => false,
            Process::Child(child) => child.has_ended(),
            Process::Remote(process) => process.has_ended(),
        }
    }

    /// Whether its machine is lost.
    pub fn is_out_of_reach(&self) -> bool {
        matches!(self, Process::Remote(process) if process.is_out_of_reach())
    }

    /// What it died of, if it is dead and that is known.
    pub fn death(&mut self, deadline: Instant) -> Option<String> {
        match self {
            Process::InProcess => None,
            Process::Child(child) => match child.read_line(deadline) {
                Err(ChildFailure::Died(death)) => Some(death.to_string()),
                _ => None,
            },
            Process::Remote(process) => process.death(),
        }
    }

    /// Waits for its end, and kills it when that does not come by itself.
    pub fn finish(self, deadline: Instant) {
        match self {
            Process::InProcess => {}
            // Killed if it does not end by itself.
            Process::Child(child) => drop(child.finish(deadline)),
            Process::Remote(process) => process.finish(deadline),
        }
    }
}
