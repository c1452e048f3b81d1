//! `wiregauge codecs`: what a message costs in every format.

pub mod measuring;
mod points;
mod remote_args;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_codec_run::bundled_rows::measure_on;
use wiregauge_codec_run::codec_selection;
use wiregauge_codec_run::measurement::{experiments, select_experiments, Task};
use wiregauge_codec_run::message_selection::MessageSelection;
use wiregauge_system::output::print;
use wiregauge_system::progress::ProgressDisplay;

use self::measuring::Measuring;
use self::remote_args::RemoteArgs;
use crate::compare_args::CompareArgs;
use crate::exit_status::write_measured;

/// Measure what a message costs in every format.
///
/// Without a message of yours it measures the LiDAR message with 10,000 points. It
/// writes the result as JSON, and prints a table.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  wiregauge codecs --quick
      the LiDAR message, in a minute
  wiregauge codecs --message robot.proto:pkg.Type
      your message, generated values
  wiregauge codecs --message scan.msg --length ranges=1081
  wiregauge codecs --input drive.mcap --channel /lidar
      your recording, its own messages
  wiregauge codecs --input drive.db3 --channel /lidar -I ~/ros2/src
  wiregauge codecs --sweep points=1,100,10000 --codecs prost,flatbuffers
  wiregauge codecs --libraries system,current --codecs protobuf-cpp
      with the machine's library and with the newest
  wiregauge codecs --library protobuf-cpp=/opt/protobuf --library prost=0.13.5
      with libraries of your choice, a row more each
  wiregauge codecs --metric instructions --codecs prost,flatbuffers
      instructions instead of times: the same number in each run
  wiregauge codecs --metric instructions --target aarch64-linux-gnu
      built for another architecture, and counted under an emulator
  wiregauge codecs --explain prost,protobuf-cpp
      where each executes its instructions, and why they differ
  wiregauge codecs --footprint --codecs nanopb,sbe,prost
      what a codec adds to a program: code, data, stack, heap
  wiregauge codecs --runner mine=./mine --against before.json -o after.json
      your runner as it is, beside what before.json measured: is it slower?
  wiregauge codecs --on root@board --target aarch64-linux-gnu --program FILE
      on another machine, which needs no compiler; bundle --help has more
  wiregauge codecs --list
      the codecs and their options
  wiregauge codecs --corrupt 1000 --codecs lcm,json
      what decoders make of damage
  wiregauge codecs --message scan.msg --runner mine='python3 mine.py'
      your own format
  wiregauge codecs points drive.mcap
      how small point clouds become at a given resolution"
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    message: MessageSelection,
    /// Measure what each codec adds to a program, and not time: code and data, stack and
    /// heap; docs/footprint.md says what they tell.
    #[arg(long, conflicts_with_all = NO_FOOTPRINT)]
    footprint: bool,
    /// List the codecs with their options, and what this machine lacks for them.
    #[arg(long, exclusive = true)]
    list: bool,
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    measuring: Measuring,
}

/// What is measured on no message but on columns.
#[derive(clap::Subcommand)]
enum Verb {
    Points(Box<points::Arguments>),
}

/// What has no effect where nothing is timed or counted.
const NO_FOOTPRINT: [&str; 13] = [
    "explain",
    "metric",
    "quick",
    "duration",
    "processes",
    "experiments",
    "corrupt",
    "runners",
    "scratch",
    "buffers",
    "objects",
    "fixed",
    "element",
];

impl Arguments {
    /// Whether this process is to serve another one.
    pub fn serves(&self) -> bool {
        matches!(&self.verb, Some(Verb::Points(arguments)) if arguments.serves())
    }

    /// Carries it out.
    pub fn run(mut self) -> Result<ExitCode> {
        if let Some(Verb::Points(arguments)) = self.verb.take() {
            return arguments.run();
        }
        if self.list {
            print(&codec_selection::describe_codecs())?;
            return Ok(ExitCode::SUCCESS);
        }
        let message = self.message;
        message.check(&self.measuring.experiments)?;
        let inputs = message.files().into_iter().chain(self.compare.against.clone());
        let inputs: Vec<PathBuf> = inputs.collect();
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        let (measuring, fail_above) = (&self.measuring, self.compare.fail_above);
        if let Some(bundle) = &self.remote.bundle {
            return measuring.measure_bundle(bundle, fail_above, self.remote.serve);
        }
        let destination = measuring.open(&inputs, !self.footprint && self.remote.on.is_none())?;
        let experiments = select_experiments(experiments(), &measuring.experiments)?;
        let workload = message.workload(measuring.rows.seed)?;
        if let Some(board) = &self.remote.on {
            let task = measuring.rows.bundle(workload, self.remote.program)?;
            let show = ProgressDisplay::new().into_callback();
            let run = measure_on(board, task, &measuring.remote_flags(), fail_above, &show)?;
            drop(show);
            return write_measured(run, destination.outlet);
        }
        let languages = measuring.rows.languages();
        let task = Task {
            is_footprint: self.footprint,
            title: workload.title(),
            codecs: codec_selection::select_codecs(&measuring.codecs(), &languages)?,
            experiments,
            least_iterations: 0,
            reference: None,
            derive: |_| Vec::new(),
            compare: self.compare.options(),
            workload,
        };
        measuring.carry_out(task, destination)
    }
}
