//! What every measurement of codecs has in common: who takes part, how long it takes and
//! where its result goes.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, Result};
use clap::builder::ArgPredicate;
use clap::ValueEnum;
use wiregauge_build_tools::toolchain::Target;
use wiregauge_codec_run::codec_selection::{parse_languages, UserRunner};
use wiregauge_codec_run::effort::Effort;
use wiregauge_codec_run::explained_rows;
use wiregauge_codec_run::measurement::{measure, MeasureOptions, Task};
use wiregauge_formats::RunnerLanguage;
use wiregauge_instructions::Callgrind;
use wiregauge_report::result_target::ResultTarget;
use wiregauge_result::run::Settings;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_schema::small_arrays::SmallArrays;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::parse_timeout;

use crate::exit_status::write_measured;
use crate::library_args::LibraryArgs;
use crate::max_memory::MaxMemoryArgs;
use crate::result_args::ResultArgs;

/// Who takes part, how long it takes and where the result goes.
#[derive(clap::Args)]
pub struct Measuring {
    /// Measure only these codecs, and the bounds.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    codecs: Vec<String>,
    /// Measure only codecs in these languages: rust, cpp, python, java, or all. By
    /// default: those of the named codecs, or rust and cpp without the code that
    /// wiregauge generates.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", value_parser = parse_languages)]
    language: Vec<Languages>,
    #[command(flatten)]
    libraries: LibraryArgs,
    /// Also measure a runner of yours (docs/runner-protocol.md).
    #[arg(long, value_name = "NAME=COMMAND")]
    runner: Vec<UserRunner>,
    /// What is measured: time, instructions, or both. Valgrind counts instructions, the
    /// same number in each run; docs/instructions.md says what they tell.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "NAME,…",
        default_value = "time",
        default_value_if("explain", ArgPredicate::IsPresent, "instructions")
    )]
    metric: Vec<Metric>,
    /// Count the instructions of this architecture, by an emulator: aarch64-linux-gnu,
    /// arm-linux-gnueabihf, riscv64-linux-gnu or x86_64-linux-gnu (docs/targets.md).
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Explain what one or two rows execute: functions, branches, caches, copies and
    /// allocations; of two also where they differ. Without --codecs, only these.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", conflicts_with = "target")]
    explain: Vec<String>,
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

    #[command(flatten)]
    delivery: ResultArgs,
}

/// What a word of --language stands for.
type Languages = Vec<&'static RunnerLanguage>;

/// What is measured of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Metric {
    Time,
    Instructions,
}

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

/// Where a measurement goes, and the result that it becomes.
pub struct Destination {
    /// Where the result goes.
    pub outlet: ResultTarget,
    /// The result, from the beginning of the measurement on.
    pub builder: RunBuilder,
}

impl Measuring {
    /// Looks whether the result can be kept, which replaces none of `inputs`.
    pub fn open(&self, inputs: &[&Path]) -> Result<Destination> {
        self.memory.apply();
        self.check()?;
        Ok(Destination {
            outlet: self.delivery.open(inputs)?,
            builder: RunBuilder::begin(RunKind::Codecs),
        })
    }

    /// The languages that are named.
    pub fn languages(&self) -> Vec<&'static RunnerLanguage> {
        self.language.concat()
    }

    /// The codecs that are named, or else those that are explained.
    pub fn codecs(&self) -> Vec<String> {
        match self.codecs.is_empty() {
            true => explained_rows::codecs(&self.explain, &self.runner),
            false => self.codecs.clone(),
        }
    }

    /// Builds the runners, measures, writes the result and shows it.
    pub fn carry_out(&self, task: Task, destination: Destination) -> Result<ExitCode> {
        let Destination { outlet, builder } = destination;
        let options = self.options()?;
        let run = measure(task, options, builder, &ProgressDisplay::new().into_callback())?;
        write_measured(run, outlet)
    }

    /// Refuses what would have no effect.
    fn check(&self) -> Result<()> {
        let given = [
            ("--quick", self.quick),
            ("--duration", self.duration.is_some()),
            ("--processes", self.processes.is_some()),
        ];
        let useless = given.iter().find(|(_, given)| *given && !self.timed());
        if let Some((option, _)) = useless {
            bail!("{option} has no effect: without time among --metric nothing is timed");
        }
        self.target()?;
        if self.target.is_some() && self.metric != [Metric::Instructions] {
            bail!("an emulator tells no times; give --metric instructions with --target");
        }
        if self.target.is_some() && self.corrupt > 0 {
            bail!("--corrupt has no effect with --target: an emulator is no test of decoders");
        }
        Ok(())
    }

    fn target(&self) -> Result<Option<&'static Target>> {
        self.target.as_deref().map(Target::find).transpose()
    }

    fn timed(&self) -> bool {
        self.metric.contains(&Metric::Time)
    }

    fn options(&self) -> Result<MeasureOptions> {
        let counted = self.metric.contains(&Metric::Instructions) || !self.explain.is_empty();
        let counted = counted && self.target.is_none();
        Ok(MeasureOptions {
            libraries: self.libraries.options(),
            runners: self.runner.clone(),
            small_array: self.small_arrays.longest(),
            effort: self.effort(),
            settings: self.settings(),
            patience: self.timeout,
            corruptions: self.corrupt,
            timed: self.timed(),
            instructions: counted.then(Callgrind::find).transpose()?,
            target: self.target()?,
            explained: self.explain.clone(),
        })
    }

    fn effort(&self) -> Effort {
        Effort {
            is_quick: self.quick,
            duration: self.duration,
            processes: self.processes,
            seed: self.seed,
        }
    }

    /// How samples are taken.
    pub fn settings(&self) -> Settings {
        Settings {
            scratch: self.scratch.word(),
            buffers: self.buffers.word(),
            objects: self.objects.word(),
            ..self.effort().settings()
        }
    }
}
