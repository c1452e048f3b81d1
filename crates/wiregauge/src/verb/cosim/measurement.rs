//! What every co-simulation measurement has in common: how long it takes, how
//! it is carried out, and where its result goes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use wiregauge_cosim::master::measure;
use wiregauge_cosim::master::plan::{Entrant, Load, Plan};
use wiregauge_cosim::master::samples::StepFile;
use wiregauge_result::environment::Environment;
use wiregauge_result::run::{Case, Reference, Run, Settings, FORMAT, VERSION};
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::file::Target;
use wiregauge_system::quantity::parse_timeout;
use wiregauge_system::text::escape_short;

use crate::max_memory::MaxMemoryArgs;
use crate::output::{
    command_line, judge_and_write, print_notice, print_written_rows, ResultFormat, ResultTarget,
};
use crate::progress::Progress;
use crate::recorder::host;
use crate::requirements::RequirementArgs;
use crate::step_timeout::StepTimeoutArgs;
use crate::tools;

/// How long a measurement takes and where its result goes.
#[derive(clap::Args)]
pub struct MeasurementArgs {
    /// Finish in about a minute.
    #[arg(long, conflicts_with = "duration")]
    quick: bool,
    /// How long to measure in all: 5min, or 300 (seconds) [default: 4min].
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    duration: Option<Duration>,
    /// In how many processes each pair of FMUs is measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// Rounds in each process [default: as many as the time allows].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// Steps of an epoch [default: calibrated].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    epoch_steps: Option<u64>,
    /// First steps of each process that do not count. Steps before the first message
    /// do not count either.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    warm_up: u64,
    /// Seed of the order of turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    steps_take: StepTimeoutArgs,
    #[command(flatten)]
    memory: MaxMemoryArgs,
    /// Write the messages of the first steps into this folder.
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Write every step with its times to this file (Arrow, at most 100 million rows):
    /// docs/cosim.md.
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,

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

/// What is measured.
pub struct CosimWorkload {
    /// One line that says what.
    pub title: String,
    /// What it is measured on.
    pub cases: Vec<Load>,
    /// Who takes part.
    pub entrants: Vec<Entrant>,
    /// Whether the FMUs take new buffers and objects in each step.
    pub fresh: bool,
    /// Published figures to show beside the measured ones.
    pub reference: Option<Reference>,
    /// What is to be derived from the samples.
    pub derive: Box<dyn Fn(&mut Run)>,
}

/// Where a measurement goes.
pub struct Destination {
    outlet: ResultTarget,
    samples: Option<Target>,
}

impl MeasurementArgs {
    /// How long a step may take.
    pub fn patience(&self) -> Duration {
        self.steps_take.timeout
    }

    /// Looks whether the result can be kept, and the steps, which replaces none
    /// of `inputs`.
    pub fn open(&self, inputs: &[&Path]) -> Result<Destination> {
        self.memory.apply();
        let outlet = ResultTarget::open(&self.output, self.format, inputs, &self.required)?;
        let samples = outlet.samples(self.samples.as_deref(), inputs)?;
        Ok(Destination { outlet, samples })
    }

    /// Measures, writes the result and shows it.
    pub fn carry_out(
        &self,
        workload: CosimWorkload,
        destination: Destination,
        progress: Progress,
    ) -> Result<ExitCode> {
        let Destination { outlet, samples } = destination;
        let began = Instant::now();
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let life = if workload.fresh { "fresh" } else { "reused" };
        let settings = Settings {
            processes: self.processes.unwrap_or(if self.quick { 3 } else { 5 }),
            rounds: self.rounds.unwrap_or(5),
            epoch_ns: if self.quick { 2_000_000 } else { 10_000_000 },
            buffers: life.into(),
            objects: life.into(),
            scratch: "reused".into(),
            seed: self.seed,
        };
        let plan = Plan {
            cases: workload.cases,
            entrants: workload.entrants,
            host: host()?,
            settings,
            time: self.duration.unwrap_or(Duration::from_secs(if self.quick { 40 } else { 240 })),
            most_rounds: self.rounds.unwrap_or(if self.quick { 60 } else { 200 }),
            patience: self.steps_take.timeout,
            steps: self.epoch_steps,
            warm_up: self.warm_up,
            dump: self.dump.clone(),
        };
        // Probed after the build, whose load is not the measurement's.
        let mut environment = Environment::probe(tools::fmu_versions());
        let show = |what: &str, done: usize, total: usize| progress.show(what, done, total);
        let mut samples = samples.map(|target| begin(target, &plan)).transpose()?;
        let measured = measure(&plan, samples.as_mut(), &show);
        environment.finish();
        drop(progress);
        // Also those of before an interruption.
        let kept = samples.map_or(Ok(()), |samples| print_written_rows(samples.finish(), "steps"));
        if let (Err(_), Err(error)) = (&measured, &kept) {
            print_notice(&format!("wiregauge: {error:#}"));
        }
        let measured = measured?;

        let mut settings = plan.settings.clone();
        settings.rounds = measured.rounds;
        let mut cases: Vec<Case> = plan.cases.into_iter().map(|load| load.case).collect();
        for (case, note) in measured.notes {
            cases[case].notes.push(note);
        }
        let mut run = Run {
            format: FORMAT.into(),
            version: VERSION,
            title: workload.title,
            kind: RunKind::Cosim,
            command: command_line(),
            started,
            seconds: began.elapsed().as_secs_f64(),
            environment,
            warnings: Vec::new(),
            settings,
            cases,
            subjects: measured.subjects,
            measurements: measured.measurements,
            facts: measured.facts,
            curves: measured.curves,
            slowest: measured.slowest,
            require: None,
            reference: workload.reference,
        };
        (workload.derive)(&mut run);
        if matches!(self.format, ResultFormat::Csv | ResultFormat::Json) {
            print_missing_figures(&run);
        }
        let code = judge_and_write(&mut run, measured.warnings, outlet);
        kept?;
        code
    }
}

/// An empty file of steps.
fn begin(target: Target, plan: &Plan) -> Result<StepFile> {
    let cases = plan.cases.iter().map(|load| load.case.id.clone());
    let subjects = plan.entrants.iter().map(|entrant| entrant.subject.id.clone());
    StepFile::create(target, cases.collect(), subjects.collect())
}

/// Forms for programs have no place for why there are no figures.
fn print_missing_figures(run: &Run) {
    for subject in &run.subjects {
        let Some((what, why)) = subject.status.absence() else { continue };
        print_notice(&escape_short(&format!("wiregauge: {}: {what}: {why}", subject.title)));
    }
}
