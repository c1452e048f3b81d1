//! What every co-simulation measurement has in common: how long it takes, how
//! it is carried out, and where its result goes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use wiregauge_cosim_run::measurement::{measure, CosimOptions, CosimResult, CosimWorkload};
use wiregauge_report::result_target::ResultTarget;
use wiregauge_report::text::ResultFormat;
use wiregauge_result::run::Run;
use wiregauge_system::file::Target;
use wiregauge_system::notice::print_notice;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::parse_timeout;
use wiregauge_system::text::escape_short;

use crate::exit_status::write_measured;
use crate::max_memory::MaxMemoryArgs;
use crate::result_args::ResultArgs;
use crate::step_timeout::StepTimeoutArgs;

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

    #[command(flatten)]
    delivery: ResultArgs,
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
        let outlet = self.delivery.open(inputs)?;
        let samples = outlet.samples(self.samples.as_deref(), inputs)?;
        Ok(Destination { outlet, samples })
    }

    /// Measures, writes the result and shows it.
    pub fn carry_out(
        &self,
        workload: CosimWorkload,
        destination: Destination,
        progress: ProgressDisplay,
    ) -> Result<ExitCode> {
        let Destination { outlet, samples } = destination;
        let show = progress.into_callback();
        let CosimResult { run, kept } = measure(workload, &self.options(), samples, show)?;
        if matches!(self.delivery.format, ResultFormat::Csv | ResultFormat::Json) {
            print_missing_figures(&run);
        }
        let code = write_measured(run, outlet);
        kept?;
        code
    }

    fn options(&self) -> CosimOptions {
        CosimOptions {
            is_quick: self.quick,
            duration: self.duration,
            processes: self.processes,
            rounds: self.rounds,
            epoch_steps: self.epoch_steps,
            warm_up: self.warm_up,
            seed: self.seed,
            patience: self.patience(),
            dump: self.dump.clone(),
        }
    }
}

/// Forms for programs have no place for why there are no figures.
fn print_missing_figures(run: &Run) {
    for subject in &run.subjects {
        let Some((what, why)) = subject.status.absence() else { continue };
        print_notice(&escape_short(&format!("wiregauge: {}: {what}: {why}", subject.title)));
    }
}
