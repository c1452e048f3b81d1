//! `wiregauge bus`: what reaches the other side in time.

pub mod bus_result;
mod headroom;
mod participant;
mod payload_args;
mod run;
pub mod run_args;
pub mod samples_args;
mod transports;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// Measure what a simulation bus carries in time.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge bus run --size 10 --cycle 1ms --mode discrete --transport dds
  wiregauge bus headroom --size 500
      the highest rate without loss and in time
  wiregauge bus transports
      what is available, and why something is not
  wiregauge bus participant --scenario two_hosts.toml --name sender
      on two machines")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(Box<run::Arguments>),
    Headroom(headroom::Arguments),
    Transports(transports::Arguments),
    Participant(participant::Arguments),
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Run(arguments) => arguments.run(),
            Verb::Headroom(arguments) => arguments.run(),
            Verb::Transports(arguments) => arguments.run(),
            Verb::Participant(arguments) => arguments.run(),
        }
    }
}
