//! The command line: one verb a file.

mod bundle;
mod bus;
mod cache;
mod chain;
mod codecs;
mod compare;
mod completions;
mod cosim;
mod doctor;
mod generate;
mod packed;
mod repeat;
mod report;
mod schema;
mod trace;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};
use wiregauge_build_tools::network;

/// Measures what it costs to move messages: format by format, phase by phase,
/// on your own messages and recordings.
#[derive(Parser)]
#[command(name = "wiregauge", version, max_term_width = 80)]
#[command(after_help = "\
Exit status: 0 when all went well, 1 when a codec or an FMU failed, a
comparison found a regression or a requirement does not hold, 2 when the command
could not be carried out, 3 when a requirement could not be decided, 130 when
interrupted.

Examples:
  wiregauge doctor
      what on this machine disturbs measurements
  wiregauge codecs --quick
      the LiDAR message in every format, in a minute
  wiregauge codecs --message scan.msg              your own message
  wiregauge codecs --input drive.mcap --channel /lidar    your own recording
  wiregauge cosim run --source a.fmu --model b.fmu
      where a co-simulation step goes
  wiregauge bus run --size 500 --transport dds
      what reaches the other side of a bus in time
  wiregauge chain brake.toml
      from sensor to actuator, and what would make it faster
  wiregauge trace info drive.mcap
      what is in a recording; trace --help has what can be done with it
  wiregauge packed pack drive.mcap -o small.mcap --preset lidar-1mm
      scans as columns, to a millimetre
  wiregauge generate scan.msg --language python --wire cdr -o holders
      source code that holds, reads and writes the message
  wiregauge repeat
      published experiments, to be repeated beside their figures
  wiregauge report run.json -o report.html         the result as a page
  wiregauge verify run.json --require 'lost = 0, p99.9 latency < 500us'")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
    /// Download nothing, as with WIREGAUGE_OFFLINE=1.
    #[arg(long, global = true)]
    offline: bool,
}

#[derive(Subcommand)]
enum Verb {
    Codecs(Box<codecs::Arguments>),
    Bundle(Box<bundle::Arguments>),
    Cosim(cosim::Arguments),
    Bus(Box<bus::Arguments>),
    Chain(chain::Arguments),
    Trace(trace::Arguments),
    Packed(packed::Arguments),
    Repeat(repeat::Arguments),
    Schema(schema::Arguments),
    Generate(generate::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Verify(verify::Arguments),
    Doctor(doctor::Arguments),
    Cache(cache::Arguments),
    Completions(completions::Arguments),
}

impl Arguments {
    /// Whether this process is to serve another one, which looks after it.
    pub fn serves(&self) -> bool {
        match &self.verb {
            Verb::Cosim(arguments) => arguments.serves(),
            Verb::Codecs(arguments) => arguments.serves(),
            _ => false,
        }
    }

    /// Carries out the verb.
    pub fn run(self) -> Result<ExitCode> {
        if self.offline {
            network::forbid_downloads();
        }
        match self.verb {
            Verb::Codecs(arguments) => arguments.run(),
            Verb::Bundle(arguments) => arguments.run(),
            Verb::Cosim(arguments) => arguments.run(),
            Verb::Bus(arguments) => arguments.run(),
            Verb::Chain(arguments) => arguments.run(),
            Verb::Trace(arguments) => arguments.run(),
            Verb::Packed(arguments) => arguments.run(),
            Verb::Repeat(arguments) => arguments.run(),
            Verb::Schema(arguments) => arguments.run(),
            Verb::Generate(arguments) => arguments.run(),
            Verb::Report(arguments) => arguments.run(),
            Verb::Compare(arguments) => arguments.run(),
            Verb::Verify(arguments) => arguments.run(),
            Verb::Doctor(arguments) => arguments.run(),
            Verb::Cache(arguments) => arguments.run(),
            Verb::Completions(arguments) => arguments.run(Self::command()),
        }
    }
}

#[cfg(test)]
mod tests;
