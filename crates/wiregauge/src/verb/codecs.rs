//! `wiregauge codecs`: what a message costs in every format.

pub mod measuring;
mod points;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, ensure, Result};
use indexmap::IndexMap;
use wiregauge_codec_run::codec_selection;
use wiregauge_codec_run::measurement::{experiments, select_experiments, Task};
use wiregauge_codec_run::workload::{Builtin, Sweep, Workload};
use wiregauge_schema::{SchemaSource, Sizes};
use wiregauge_system::output::print;
use wiregauge_system::quantity::parse_fraction;

use self::measuring::Measuring;
use crate::compare_args::CompareArgs;

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

    /// Measure this message with generated values: lidar, rsb, or a definition of
    /// yours.
    #[arg(long, value_name = "NAME|FILE[:TYPE]", conflicts_with = "input")]
    message: Option<String>,
    /// Measure the messages of this recording: .mcap, .bag (ROS 1), .db3 or its
    /// folder (ROS 2), or .osi.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The channel of the recording. For an .osi file: the type, if the file's name
    /// does not say it.
    #[arg(long, value_name = "TOPIC", requires = "input")]
    channel: Option<String>,
    /// Also look for definitions in this folder. Give it several times for several
    /// folders.
    #[arg(short = 'I', long, value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Keep fields that never occur in the recording.
    #[arg(long, requires = "input")]
    whole_schema: bool,
    /// How many different messages take turns [default: 8].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    messages: Option<u32>,

    /// Length of a list, string or bytes field in generated values.
    #[arg(long, value_name = "PATH=N", value_parser = codec_selection::length)]
    length: Vec<(String, usize)>,
    /// Measure several lengths of a list.
    #[arg(long, value_name = "PATH=N,N,…")]
    sweep: Option<Sweep>,
    /// Share of optional fields that generated values have [default: 1].
    #[arg(long, value_name = "SHARE", value_parser = parse_fraction)]
    presence: Option<f64>,
    /// The number that the experiment 'fixed' reads.
    #[arg(long, value_name = "PATH")]
    fixed: Option<String>,
    /// The number that the experiment 'element' reads.
    #[arg(long, value_name = "PATH")]
    element: Option<String>,

    /// Measure what each codec adds to a program, and not time: code and data, stack and
    /// heap; docs/footprint.md says what they tell.
    #[arg(long, conflicts_with_all = NO_FOOTPRINT)]
    footprint: bool,
    /// List the codecs with their options, and what this machine lacks for them.
    #[arg(long, exclusive = true)]
    list: bool,
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
const NO_FOOTPRINT: [&str; 14] = [
    "explain",
    "metric",
    "target",
    "quick",
    "duration",
    "processes",
    "experiments",
    "corrupt",
    "runner",
    "scratch",
    "buffers",
    "objects",
    "fixed",
    "element",
];

/// Messages that take turns unless the user says so.
const MESSAGES: u32 = 8;

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
        self.check()?;
        let inputs = [self.definition(), self.input.clone(), self.compare.against.clone()];
        let inputs: Vec<&Path> = inputs.iter().flatten().map(PathBuf::as_path).collect();
        let destination = self.measuring.open(&inputs)?;
        let workload = self.workload()?;
        let message = &workload.schema.root().name.original;
        let languages = self.measuring.languages();
        let task = Task {
            is_footprint: self.footprint,
            title: format!("{message} ({})", workload.source),
            codecs: codec_selection::select_codecs(&self.measuring.codecs(), &languages)?,
            experiments: select_experiments(experiments(), &self.measuring.experiments)?,
            least_iterations: 0,
            reference: None,
            derive: |_| Vec::new(),
            compare: self.compare.options(),
            workload,
        };
        self.measuring.carry_out(task, destination)
    }

    /// Refuses what would have no effect.
    fn check(&self) -> Result<()> {
        let given = [
            ("--length", !self.length.is_empty()),
            ("--sweep", self.sweep.is_some()),
            ("--presence", self.presence.is_some()),
            ("--channel", self.channel.is_some()),
            ("--whole-schema", self.whole_schema),
        ];
        let (why, useless): (&str, &[&str]) = match (&self.message, &self.input) {
            (_, Some(_)) => (
                "recorded messages are measured as they are",
                &["--length", "--sweep", "--presence"],
            ),
            (None, None) => ("the LiDAR message has no optional field", &["--presence"]),
            (Some(_), None) => ("it needs a recording (--input)", &["--channel", "--whole-schema"]),
        };
        if let Some((option, _)) =
            given.iter().find(|(option, given)| *given && useless.contains(option))
        {
            bail!("{option} has no effect: {why}");
        }
        let wanted = &self.measuring.experiments;
        for (option, given) in [("fixed", &self.fixed), ("element", &self.element)] {
            let measured = wanted.is_empty() || wanted.iter().any(|name| name == option);
            ensure!(
                given.is_none() || measured,
                "--{option} has no effect: --experiments leaves '{option}' out"
            );
        }
        let swept = self.sweep.iter().map(|sweep| &sweep.path);
        let mut paths: Vec<&String> =
            self.length.iter().map(|(path, _)| path).chain(swept).collect();
        paths.sort();
        if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("{} has two lengths; give it one length, by --length or by --sweep", twice[0]);
        }
        Ok(())
    }

    /// The file of the message's definition.
    fn definition(&self) -> Option<PathBuf> {
        let source = self.message.as_deref().map(SchemaSource::parse)?;
        Builtin::find(&source).is_none().then_some(source.path)
    }

    fn workload(&self) -> Result<Workload> {
        let overrides: IndexMap<String, usize> = self.length.iter().cloned().collect();
        let sizes = Sizes { overrides, presence: self.presence.unwrap_or(1.0), ..Sizes::default() };
        let count = self.messages.unwrap_or(MESSAGES) as usize;
        let seed = self.measuring.seed;
        let mut workload = match &self.input {
            Some(input) => {
                let channel = self.channel.as_deref();
                Workload::recording(input, channel, count, self.whole_schema, &self.include)?
            }
            None => {
                let source = SchemaSource::parse(self.message.as_deref().unwrap_or("lidar"));
                let source = source.with_folders(&self.include);
                Workload::message(&source, &sizes, self.sweep.as_ref(), count, seed)?
            }
        };
        ensure!(
            self.presence.is_none() || workload.schema.has_optional_field(),
            "--presence has no effect: {} has no optional field",
            workload.schema.root().name.original
        );
        workload.choose(self.fixed.as_deref(), self.element.as_deref())?;
        Ok(workload)
    }
}
