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
use wiregauge_system::text::escape_short;

use crate::exit_status::write_measured;
use crate::max_memory::MaxMemoryArgs;
use crate::result_args::ResultArgs;

/// How long a measurement takes and where its result goes.
#[derive(clap::Args)]
pub struct MeasurementArgs {
    #[command(flatten)]
    options: CosimOptions,
    #[command(flatten)]
    memory: MaxMemoryArgs,
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
        self.options.step.timeout
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
        let CosimResult { run, kept } = measure(workload, &self.options, samples, show)?;
        if matches!(self.delivery.format(), ResultFormat::Csv | ResultFormat::Json) {
            print_missing_figures(&run);
        }
        let code = write_measured(run, outlet);
        kept?;
        code
    }
}

/// Forms for programs have no place for why there are no figures.
fn print_missing_figures(run: &Run) {
    for subject in &run.subjects {
        let Some((what, why)) = subject.status.absence() else { continue };
        print_notice(&escape_short(&format!("wiregauge: {}: {what}: {why}", subject.title)));
    }
}
