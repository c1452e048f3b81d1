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

use crate::memory::MaxMemory;
use crate::output::{command, deliver, tell, Form, Outlet};
use crate::patience::StepPatience;
use crate::progress::Progress;
use crate::recorder::host;
use crate::required::Required;
use crate::tools;

/// How long a measurement takes and where its result goes.
#[derive(clap::Args)]
pub struct Measuring {
    /// Be done in a minute.
    #[arg(long, conflicts_with = "time")]
    quick: bool,
    /// How long the measurement may take in all: 300, which is seconds, or 5min.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    time: Option<Duration>,
    /// Processes that each pair of FMUs is measured in.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// Rounds in each process; as many as the time allows, unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: Option<u32>,
    /// Steps of an epoch; calibrated, unless given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536))]
    steps: Option<u64>,
    /// Steps of each process that are done first and not counted; those before
    /// the first message are not counted either.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    warm_up: u64,
    /// Seed of the order of turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    steps_take: StepPatience,
    #[command(flatten)]
    memory: MaxMemory,
    /// Write the messages of the first steps to files in this folder.
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Keep every step with its times in this file (Arrow, at most 100 million
    /// rows): docs/cosim.md.
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,

    /// Write the result here; - is standard output, and the table then goes to
    /// standard error.
    #[arg(short, long, value_name = "FILE", default_value = "run.json")]
    output: PathBuf,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    #[command(flatten)]
    required: Required,
}

/// What is measured.
pub struct Workload {
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
    outlet: Outlet,
    samples: Option<Target>,
}

impl Measuring {
    /// How long a step may take.
    pub fn patience(&self) -> Duration {
        self.steps_take.patience
    }

    /// Looks whether the result can be kept, and the steps, which replaces none
    /// of `inputs`.
    pub fn open(&self, inputs: &[&Path]) -> Result<Destination> {
        self.memory.apply();
        let outlet = Outlet::open(&self.output, self.format, inputs, &self.required)?;
        let samples = outlet.samples(self.samples.as_deref(), inputs)?;
        Ok(Destination { outlet, samples })
    }

    /// Measures, writes the result and shows it.
    pub fn carry_out(
        &self,
        workload: Workload,
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
            time: self.time.unwrap_or(Duration::from_secs(if self.quick { 40 } else { 240 })),
            most_rounds: self.rounds.unwrap_or(if self.quick { 60 } else { 200 }),
            patience: self.steps_take.patience,
            steps: self.steps,
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
        let kept = samples.map_or(Ok(()), finish);
        if let (Err(_), Err(error)) = (&measured, &kept) {
            tell(&format!("wiregauge: {error:#}"));
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
            command: command(),
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
        if matches!(self.format, Form::Csv | Form::Json) {
            say_what_is_missing(&run);
        }
        let code = deliver(&mut run, measured.warnings, outlet);
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

/// Moves the file of steps to its place.
fn finish(samples: StepFile) -> Result<()> {
    let shown = samples.display_name().to_owned();
    let kept = samples.finish()?;
    if kept > 0 {
        tell(&format!("{kept} steps in {shown}"));
    }
    Ok(())
}

/// Forms for programs have no place for why there are no figures.
fn say_what_is_missing(run: &Run) {
    for subject in &run.subjects {
        let Some((what, why)) = subject.status.absence() else { continue };
        tell(&escape_short(&format!("wiregauge: {}: {what}: {why}", subject.title)));
    }
}
