//! `wiregauge repeat pedestrian` and others: published experiments of FMUs.

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use wiregauge_repeat::fmu_experiment::FmuExperiment;
use wiregauge_system::progress::ProgressDisplay;

use crate::verb::cosim::measurement::MeasurementArgs;

/// What an experiment of FMUs takes.
#[derive(clap::Args)]
pub struct FmuArgs {
    /// Verify FlatBuffers before they are read.
    #[arg(long)]
    pub verify: bool,
    /// Use new buffers and objects in each step.
    #[arg(long)]
    pub fresh: bool,
    #[command(flatten)]
    pub measuring: MeasurementArgs,
}

/// What an experiment takes.
pub fn arguments(verb: Command, experiment: &FmuExperiment) -> Command {
    let name = experiment.publication.name;
    let about = experiment.explanation.lines().next().unwrap_or_default();
    FmuArgs::augment_args(verb).about(about).long_about(experiment.explanation).after_help(format!(
        "Examples:\n  wiregauge repeat {name} --quick\n  \
         wiregauge repeat {name} --fresh -o fresh.json"
    ))
}

/// Carries it out.
pub fn run(matches: &ArgMatches, experiment: &FmuExperiment) -> Result<ExitCode> {
    let FmuArgs { verify, fresh, measuring } = FmuArgs::from_arg_matches(matches)?;
    let destination = measuring.open(&[])?;
    let progress = ProgressDisplay::new();
    let workload = experiment.workload(verify, fresh, &progress.stoppable())?;
    measuring.carry_out(workload, destination, progress)
}
