//! The measurement of FMUs: their steps, as a result.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use indexmap::IndexMap;
use wiregauge_build_tools::versions::{installed_versions, CPP_FLAGS};
use wiregauge_cosim::master;
use wiregauge_cosim::master::plan::{Entrant, Load, Plan};
use wiregauge_cosim::master::samples::StepFile;
use wiregauge_result::cautions::add_warnings;
use wiregauge_result::run::{Case, Reference, Run, Settings};
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::file::Target;
use wiregauge_system::notice::print_notice;
#[cfg(feature = "clap")]
use wiregauge_system::quantity::parse_timeout;

use crate::host::host;

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

/// How it is measured: four minutes, unless the user wants less or more.
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CosimOptions {
    /// Finish in about a minute.
    #[cfg_attr(feature = "clap", arg(long = "quick", conflicts_with = "duration"))]
    pub is_quick: bool,
    /// How long to measure in all: 5min, or 300 (seconds) [default: 4min].
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = parse_timeout))]
    pub duration: Option<Duration>,
    /// In how many processes each pair of FMUs is measured.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100)))]
    pub processes: Option<u32>,
    /// Rounds in each process [default: as many as the time allows].
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000)))]
    pub rounds: Option<u32>,
    /// Steps of an epoch [default: calibrated].
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=65_536)))]
    pub epoch_steps: Option<u64>,
    /// First steps of each process that do not count. Steps before the first message
    /// do not count either.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=10_000)))]
    pub warm_up: u64,
    /// Seed of the order of turns.
    #[cfg_attr(feature = "clap", arg(long, default_value_t = 1))]
    pub seed: u64,
    /// How long a step may take.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub step: StepTimeout,
    /// Write the messages of the first steps into this folder.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FOLDER"))]
    pub dump: Option<PathBuf>,
}

/// How long the steps of FMUs may take.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct StepTimeout {
    /// How long a step may take before its FMU counts as hung: 2min, or 60 (seconds).
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_timeout))]
    pub timeout: Duration,
}

/// What came of it.
pub struct CosimResult {
    /// The result; what speaks against its figures is in it.
    pub run: Run,
    /// Whether the file of steps could be kept.
    pub kept: Result<()>,
}

impl CosimOptions {
    fn settings(&self, fresh: bool) -> Settings {
        let life = if fresh { "fresh" } else { "reused" };
        Settings {
            processes: self.processes.unwrap_or(if self.is_quick { 3 } else { 5 }),
            rounds: self.rounds.unwrap_or(5),
            epoch_ns: if self.is_quick { 2_000_000 } else { 10_000_000 },
            buffers: life.into(),
            objects: life.into(),
            scratch: "reused".into(),
            background: String::new(),
            seed: self.seed,
        }
    }

    fn plan(&self, cases: Vec<Load>, entrants: Vec<Entrant>, fresh: bool) -> Result<Plan> {
        let time = Duration::from_secs(if self.is_quick { 40 } else { 240 });
        Ok(Plan {
            cases,
            entrants,
            host: host()?,
            settings: self.settings(fresh),
            time: self.duration.unwrap_or(time),
            most_rounds: self.rounds.unwrap_or(if self.is_quick { 60 } else { 200 }),
            patience: self.step.timeout,
            steps: self.epoch_steps,
            warm_up: self.warm_up,
            dump: self.dump.clone(),
        })
    }
}

/// Measures, and writes the steps to `samples`, if they are to be kept. `show` gets what is
/// going on, and is dropped when that is over.
///
/// # Errors
/// What concerns all entrants, or an interruption before anything was measured; what concerns
/// one entrant is its status.
pub fn measure(
    workload: CosimWorkload,
    options: &CosimOptions,
    samples: Option<Target>,
    show: impl Fn(&str, usize, usize),
) -> Result<CosimResult> {
    let mut builder = RunBuilder::begin(RunKind::Cosim);
    let plan = options.plan(workload.cases, workload.entrants, workload.fresh)?;
    builder.watch_machine(fmu_versions());
    let mut samples = samples.map(|target| begin(target, &plan)).transpose()?;
    let measured = master::measure(&plan, samples.as_mut(), &show);
    builder.stop_watching();
    drop(show);
    // Also those of before an interruption.
    let kept = samples.map_or(Ok(()), |samples| samples.finish().announce("steps"));
    if let (Err(_), Err(error)) = (&measured, &kept) {
        print_notice(&format!("wiregauge: {error:#}"));
    }
    let measured = measured?;
    let settings = Settings { rounds: measured.rounds, ..plan.settings };
    let mut cases: Vec<Case> = plan.cases.into_iter().map(|load| load.case).collect();
    for (case, note) in measured.notes {
        cases[case].notes.push(note);
    }
    let mut run = Run {
        cases,
        subjects: measured.subjects,
        measurements: measured.measurements,
        facts: measured.facts,
        curves: measured.curves,
        slowest: measured.slowest,
        reference: workload.reference,
        ..builder.finish(workload.title, settings)
    };
    (workload.derive)(&mut run);
    add_warnings(&mut run, measured.warnings);
    Ok(CosimResult { run, kept })
}

/// An empty file of steps.
fn begin(target: Target, plan: &Plan) -> Result<StepFile> {
    let cases = plan.cases.iter().map(|load| load.case.id.clone());
    let subjects = plan.entrants.iter().map(|entrant| entrant.subject.id.clone());
    StepFile::create(target, cases.collect(), subjects.collect())
}

/// Versions of what FMUs are built with.
fn fmu_versions() -> IndexMap<String, String> {
    let programs = ["c++", "cmake", "protoc", "flatc"];
    let mut versions = IndexMap::from_iter(installed_versions(&programs));
    versions.insert("C++ flags".into(), CPP_FLAGS.into());
    versions
}
