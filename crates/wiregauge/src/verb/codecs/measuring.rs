//! What every measurement of codecs has in common: who takes part, how long it takes and
//! where its result goes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{bail, Result};
use clap::ValueEnum;
use wiregauge_formats::{build, Codec, RunnerLanguage};
use wiregauge_gauge::runners::measure;
use wiregauge_gauge::runners::plan::{Experiment, Plan};
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Fact, Reference, Run, Settings, FORMAT, VERSION};
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::interrupt;
use wiregauge_system::quantity::parse_timeout;

use crate::codec_selection::{self, CodecEntrants, UserRunner};
use crate::libraries::{self, LibraryArgs};
use crate::max_memory::MaxMemoryArgs;
use crate::output::{command_line, judge_and_write, ResultFormat, ResultTarget};
use crate::progress::Progress;
use crate::requirements::RequirementArgs;
use crate::small_arrays::SmallArrays;
use crate::workload::{build_folder, Workload};

/// Who takes part, how long it takes and where the result goes.
#[derive(clap::Args)]
pub struct Measuring {
    /// Measure only these codecs, and the bounds.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub codecs: Vec<String>,
    /// Measure only codecs in these languages: rust, cpp, python, java, or all. By
    /// default: those of the named codecs, or rust and cpp without the code that
    /// wiregauge generates.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", value_parser = codec_selection::parse_languages)]
    language: Vec<Languages>,
    #[command(flatten)]
    libraries: LibraryArgs,
    /// Also measure a runner of yours (docs/runner-protocol.md).
    #[arg(long, value_name = "NAME=COMMAND")]
    runner: Vec<UserRunner>,
    /// Measure only these experiments.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub experiments: Vec<String>,
    /// Keep the library's helpers (builders, arenas, transports) from message to
    /// message, or make them new.
    #[arg(long, value_enum, value_name = "LIFE", default_value = "reused")]
    scratch: Life,
    /// How formats without fixed arrays write those of up to four numbers.
    #[arg(long, value_enum, value_name = "FORM", default_value = "fields")]
    small_arrays: SmallArrays,
    /// Keep output buffers from message to message, or make them new.
    #[arg(long, value_enum, value_name = "LIFE", default_value = "reused")]
    buffers: Life,
    /// Keep message objects from message to message, or make them new.
    #[arg(long, value_enum, value_name = "LIFE", default_value = "fresh")]
    objects: Life,
    /// Give each decoder N damaged messages, and count what it does with them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    corrupt: u64,
    /// Seed of generated values, damage and the order of turns.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Finish in about a minute.
    #[arg(long, conflicts_with = "duration")]
    quick: bool,
    /// How long to measure in all, after the runners are built: 10min, or 300
    /// (seconds) [default: 5min].
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    duration: Option<Duration>,
    /// In how many processes each codec is measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// How long a runner may take for one answer before it counts as hung: 2min, or 60
    /// (seconds).
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_timeout)]
    timeout: Duration,
    #[command(flatten)]
    memory: MaxMemoryArgs,

    /// Write the result here. With -, the result goes to standard output and the table
    /// to standard error.
    #[arg(short, long, value_name = "PATH", default_value = "run.json")]
    output: PathBuf,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ResultFormat,
    #[command(flatten)]
    required: RequirementArgs,
}

/// What a word of --language stands for.
type Languages = Vec<&'static RunnerLanguage>;

/// How long something lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Life {
    /// From message to message.
    Reused,
    /// For one message.
    Fresh,
}

impl Life {
    fn word(self) -> String {
        match self {
            Life::Reused => "reused".into(),
            Life::Fresh => "fresh".into(),
        }
    }
}

/// The experiments in the order of the table; phases stand with their whole.
const EXPERIMENTS: [&str; 12] = [
    "encode",
    "encode/populate",
    "encode/write",
    "decode",
    "decode/parse",
    "decode/extract",
    "decode/checked",
    "project",
    "project/checked",
    "fixed",
    "element",
    "verify",
];

/// All experiments.
pub fn experiments() -> Vec<Experiment> {
    EXPERIMENTS.iter().map(|name| Experiment::plain(name)).collect()
}

/// What is measured.
pub struct Task {
    /// One line that says what.
    pub title: String,
    /// The message and its values.
    pub workload: Workload,
    /// Who takes part.
    pub codecs: Vec<&'static Codec>,
    /// What is measured of each.
    pub experiments: Vec<Experiment>,
    /// Messages that each cell must have processed at least, unless it is to be quick.
    pub least_iterations: u64,
    /// Published figures to show beside the measured ones.
    pub reference: Option<Reference>,
    /// What follows from the samples.
    pub derive: fn(&Run) -> Vec<Fact>,
}

/// Where a measurement goes, and since when it is under way.
pub struct Destination {
    /// Where the result goes.
    pub outlet: ResultTarget,
    /// When it began.
    pub began: Instant,
    /// The same on the clock.
    pub started: String,
}

impl Measuring {
    /// Looks whether the result can be kept, which replaces none of `inputs`.
    pub fn open(&self, inputs: &[&Path]) -> Result<Destination> {
        self.memory.apply();
        Ok(Destination {
            outlet: ResultTarget::open(&self.output, self.format, inputs, &self.required)?,
            began: Instant::now(),
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        })
    }

    /// The languages that are named.
    pub fn languages(&self) -> Vec<&'static RunnerLanguage> {
        self.language.concat()
    }

    /// Of these experiments those that are wanted.
    pub fn wanted(&self, mut all: Vec<Experiment>) -> Result<Vec<Experiment>> {
        if self.experiments.is_empty() {
            return Ok(all);
        }
        for name in &self.experiments {
            if !all.iter().any(|experiment| experiment.metric == *name) {
                let known: Vec<&str> = all.iter().map(|e| e.metric.as_str()).collect();
                bail!("unknown experiment '{name}'; choose from {}", known.join(", "));
            }
        }
        all.retain(|experiment| self.experiments.contains(&experiment.metric));
        Ok(all)
    }

    /// Builds the runners, measures, writes the result and shows it.
    pub fn carry_out(&self, task: Task, destination: Destination) -> Result<ExitCode> {
        let Task { title, mut workload, codecs, experiments, least_iterations, reference, derive } =
            task;
        self.small_arrays.apply(&mut workload.schema);
        if self.small_arrays == SmallArrays::List {
            workload
                .notes
                .push("short fixed arrays are written as lists in formats without arrays".into());
        }
        let folder = build_folder()?;
        let progress = Progress::new();
        let show = |what: &str, done: usize, total: usize| {
            progress.show(what, done, total);
            interrupt::check().map_err(Into::into)
        };
        let variants = self.libraries.variants(&codecs, &folder, &show)?;
        let CodecEntrants { entrants, tools, libraries } =
            codec_selection::build(&workload, &variants, &self.runner, &folder, &progress)?;
        let plan = Plan {
            cases: workload.loads()?,
            entrants,
            experiments,
            settings: self.settings(),
            time: self.duration.unwrap_or(Duration::from_secs(if self.quick { 55 } else { 285 })),
            patience: self.timeout,
            most_rounds: if self.quick { 60 } else { 200 },
            least_iterations: if self.quick { 0 } else { least_iterations },
            counter: Some(build::build_allocation_counter(&folder)?),
            squeeze: true,
            corruptions: self.corrupt,
        };
        // Probed after the build, whose load is not the measurement's.
        let mut environment = Environment::probe(tools);
        let show = |what: &str, done: usize, total: usize| progress.show(what, done, total);
        let mut measured = measure(&plan, &show)?;
        libraries::add_library_notes(&mut measured.subjects, &libraries);
        environment.finish();
        drop(progress);

        let mut settings = plan.settings.clone();
        settings.rounds = measured.rounds;
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title,
            kind: RunKind::Codecs,
            command: command_line(),
            started: destination.started,
            seconds: destination.began.elapsed().as_secs_f64(),
            environment,
            warnings: Vec::new(),
            settings,
            cases: plan.cases.into_iter().map(|load| load.case).collect(),
            subjects: measured.subjects,
            measurements: measured.measurements,
            facts: measured.facts,
            curves: Vec::new(),
            slowest: Vec::new(),
            require: None,
            reference,
        };
        let more = derive(&run);
        run.facts.extend(more);
        judge_and_write(&mut run, measured.warnings, destination.outlet)
    }

    /// How samples are taken.
    pub fn settings(&self) -> Settings {
        Settings {
            processes: self.processes.unwrap_or(if self.quick { 3 } else { 5 }),
            rounds: 5,
            epoch_ns: if self.quick { 500_000 } else { 2_000_000 },
            scratch: self.scratch.word(),
            buffers: self.buffers.word(),
            objects: self.objects.word(),
            seed: self.seed,
        }
    }
}
