//! `wiregauge cosim`: where a co-simulation step goes.

mod build;
mod import;
pub mod measurement;
mod run;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// Measure where the time of a co-simulation step of OSMP FMUs goes.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge cosim run --quick
      all encodings, in a minute
  wiregauge cosim run --moving-objects 10,100,200 --codecs protobuf,packed
  wiregauge cosim run --source a.fmu --model b.fmu     FMUs of your own
  wiregauge cosim build --codecs packed -o fmus        wiregauge's own, as files
  wiregauge cosim import source.json model.json        their performance logs")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Build(build::Arguments),
    Run(Box<run::Arguments>),
    Import(import::Arguments),
    /// Load FMUs and step them on behalf of another process.
    #[command(hide = true)]
    Host,
}

impl Arguments {
    /// Whether this process is to serve another one.
    pub fn serves(&self) -> bool {
        matches!(self.verb, Verb::Host)
    }

    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Build(arguments) => arguments.run(),
            Verb::Run(arguments) => arguments.run(),
            Verb::Import(arguments) => arguments.run(),
            Verb::Host => wiregauge_cosim::host::serve().map(|()| ExitCode::SUCCESS),
        }
    }
}
