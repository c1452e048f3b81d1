//! `wiregauge trace`: files of recorded messages, as they lie there.

mod cat;
mod check;
mod compression_args;
mod convert;
pub mod copy_args;
mod cut;
mod encoding_args;
pub mod error_policy;
mod index;
mod info;
mod merge;
pub mod osi_type_arg;
mod output_args;
mod play;
mod points_args;
mod record;
mod repair;
mod selection_args;
mod split;
mod table_args;
mod transport_args;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// Read, check, cut, convert, repair, play and record trace files: .osi, .mcap, and bags of
/// ROS 1 and ROS 2 as inputs.
///
/// Messages are copied without parsing them, where that is possible. Inputs never change.
/// An output file is complete, or it is not there.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace info drive.mcap
      channels, types, times, rates, sizes
  wiregauge trace check 20240618T122540Z_sv_370_244_20_x.osi
      whether it is a trace file of OSI, and what it lacks
  wiregauge trace convert drive_sv.osi -o drive.mcap
      and back, the same to the byte
  wiregauge trace convert drive.mcap -o clouds.mcap --points
      the points in it, for Foxglove and Lichtblick; .parquet for DuckDB
  wiregauge trace cut drive.mcap -o part.mcap --from 10s --channel '/lidar*'
  wiregauge trace convert drive.bag -o drive.mcap
      a bag of ROS 1; of ROS 2 the .db3 or the folder
  wiregauge trace merge left_sv.osi right_sv.osi -o both.mcap
  wiregauge trace split drive.mcap -o parts --by-duration 60s
  wiregauge trace repair broken.mcap -o whole.mcap
      saves everything that is whole, and says what was lost
  wiregauge trace cat drive.mcap --range 1000..1001
      one message as JSON, without reading those before it
  wiregauge trace play drive_sv.osi | my-model
      messages at the recorded times
  wiregauge trace record -o drive_sv.osi --source a.fmu --duration 10s
  wiregauge trace record -o heard.mcap --over dds
      and elsewhere 'wiregauge trace play drive.mcap --over dds'")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Info(info::Arguments),
    Index(index::Arguments),
    Check(check::Arguments),
    Cat(cat::Arguments),
    Convert(convert::Arguments),
    Cut(cut::Arguments),
    Merge(merge::Arguments),
    Split(split::Arguments),
    Repair(repair::Arguments),
    Play(play::Arguments),
    Record(Box<record::Arguments>),
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Info(arguments) => arguments.run(),
            Verb::Index(arguments) => arguments.run(),
            Verb::Check(arguments) => arguments.run(),
            Verb::Cat(arguments) => arguments.run(),
            Verb::Convert(arguments) => arguments.run(),
            Verb::Cut(arguments) => arguments.run(),
            Verb::Merge(arguments) => arguments.run(),
            Verb::Split(arguments) => arguments.run(),
            Verb::Repair(arguments) => arguments.run(),
            Verb::Play(arguments) => arguments.run(),
            Verb::Record(arguments) => arguments.run(),
        }
    }
}
