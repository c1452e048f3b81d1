//! What every measurement of codecs has in common: who takes part, how long it takes and
//! where its result goes.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, Result};
use clap::builder::ArgPredicate;
use clap::ValueEnum;
use wiregauge_codec_run::bundled_rows::BundleRun;

use wiregauge_codec_run::effort::Effort;
use wiregauge_codec_run::explained_rows;
use wiregauge_codec_run::measurement::{
    experiments, measure, select_experiments, MeasureOptions, Task,
};
use wiregauge_codec_run::row_plan::Sampling;
use wiregauge_codec_run::row_selection::RowSelection;
use wiregauge_instructions::Callgrind;
use wiregauge_report::result_target::ResultTarget;
use wiregauge_result::run::Settings;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::parse_timeout;

use crate::exit_status::write_measured;
use crate::max_memory::MaxMemoryArgs;
use crate::result_args::ResultArgs;

/// Who takes part, how long it takes and where the result goes.
#[derive(clap::Args)]
pub struct Measuring {
    #[command(flatten)]
    pub rows: RowSelection,
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
    /// Keep output buffers from message to message, or make them new.
    #[arg(long, value_enum, value_name = "LIFE", default_value = "reused")]
    buffers: Life,
    /// Keep message objects from message to message, or make them new.
    #[arg(long, value_enum, value_name = "LIFE", default_value = "fresh")]
    objects: Life,
    /// Give each decoder N damaged messages, and count what it does with them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    corrupt: u64,
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

/// What is measured of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Metric {
    Time,
    Instructions,
}

impl Metric {
    fn word(self) -> &'static str {
        match self {
            Metric::Time => "time",
            Metric::Instructions => "instructions",
        }
    }
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
    pub fn open(&self, inputs: &[&Path], is_emulated: bool) -> Result<Destination> {
        self.memory.apply();
        self.check(is_emulated && self.rows.target.is_some())?;
        Ok(Destination {
            outlet: self.delivery.open(inputs)?,
            builder: RunBuilder::begin(RunKind::Codecs),
        })
    }

    /// The codecs that are named, or else those that are explained.
    pub fn codecs(&self) -> Vec<String> {
        match self.rows.codecs.is_empty() {
            true => explained_rows::codecs(&self.explain, &self.rows.runners),
            false => self.rows.codecs.clone(),
        }
    }

    /// Builds the runners, measures, writes the result and shows it.
    pub fn carry_out(&self, task: Task, destination: Destination) -> Result<ExitCode> {
        let Destination { outlet, builder } = destination;
        let counts = self.counts() && self.rows.target.is_none();
        let options = MeasureOptions {
            rows: self.rows.options()?,
            runners: self.rows.runners.clone(),
            sampling: self.sampling(counts)?,
            explained: self.explain.clone(),
        };
        let run = measure(task, options, builder, &ProgressDisplay::new().into_callback())?;
        write_measured(run, outlet)
    }

    /// Measures a bundle, writes the result and shows it, or hands it over.
    pub fn measure_bundle(
        &self,
        bundle: &Path,
        fail_above: Option<f64>,
        is_served: bool,
    ) -> Result<ExitCode> {
        let task = BundleRun {
            codecs: self.rows.codecs.clone(),
            runners: self.rows.runners.clone(),
            experiments: select_experiments(experiments(), &self.experiments)?,
            fail_above,
            sampling: self.sampling(self.counts())?,
        };
        if is_served {
            self.memory.apply();
            task.serve(bundle)?;
            return Ok(ExitCode::SUCCESS);
        }
        let Destination { outlet, builder } = self.open(&[bundle], false)?;
        let run = task.measure(bundle, builder, &ProgressDisplay::new().into_callback())?;
        write_measured(run, outlet)
    }

    /// The words that have another machine measure in the same way.
    pub fn remote_flags(&self) -> Vec<String> {
        let names: Vec<&str> = self.metric.iter().map(|metric| metric.word()).collect();
        let mut words = vec![
            format!("--metric={}", names.join(",")),
            format!("--scratch={}", self.scratch.word()),
            format!("--buffers={}", self.buffers.word()),
            format!("--objects={}", self.objects.word()),
            format!("--corrupt={}", self.corrupt),
            format!("--timeout={}s", self.timeout.as_secs_f64()),
        ];
        words.extend(self.quick.then(|| "--quick".into()));
        words.extend(self.duration.map(|time| format!("--duration={}s", time.as_secs_f64())));
        words.extend(self.processes.map(|number| format!("--processes={number}")));
        words.extend(self.memory.word());
        words.extend(self.experiments.iter().map(|name| format!("--experiments={name}")));
        words
    }

    /// Refuses what would have no effect.
    fn check(&self, is_emulated: bool) -> Result<()> {
        let given = [
            ("--quick", self.quick),
            ("--duration", self.duration.is_some()),
            ("--processes", self.processes.is_some()),
        ];
        let useless = given.iter().find(|(_, given)| *given && !self.timed());
        if let Some((option, _)) = useless {
            bail!("{option} has no effect: without time among --metric nothing is timed");
        }
        self.rows.options()?;
        if is_emulated && self.metric != [Metric::Instructions] {
            bail!("an emulator tells no times; give --metric instructions with --target");
        }
        if is_emulated && self.corrupt > 0 {
            bail!("--corrupt has no effect with --target: an emulator is no test of decoders");
        }
        Ok(())
    }

    fn timed(&self) -> bool {
        self.metric.contains(&Metric::Time)
    }

    fn counts(&self) -> bool {
        self.metric.contains(&Metric::Instructions) || !self.explain.is_empty()
    }

    fn sampling(&self, counts: bool) -> Result<Sampling> {
        Ok(Sampling {
            effort: self.effort(),
            settings: self.settings(),
            patience: self.timeout,
            corruptions: self.corrupt,
            timed: self.timed(),
            least_iterations: 0,
            instructions: counts.then(Callgrind::find).transpose()?,
        })
    }

    fn effort(&self) -> Effort {
        Effort {
            is_quick: self.quick,
            duration: self.duration,
            processes: self.processes,
            seed: self.rows.seed,
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
