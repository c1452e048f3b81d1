//! `wiregauge repeat persival`: the report's table 1.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_osi::fmus::Model;

use crate::experiment::{persival, Publication};
use crate::fmu_entrants::FmuEntrants;
use crate::progress::Progress;
use crate::verb::cosim::measurement::{CosimWorkload, MeasurementArgs};

/// What it repeats.
pub const PUBLICATION: Publication = Publication {
    name: "persival",
    about: "Persival's co-simulation of source and sensor, table 1",
    source: "Persival: ASAM OSI Flatbuffers Performance Report",
    year: "2022",
};

/// Repeat Persival's co-simulation of source and sensor.
///
/// It measures table 1 of the ASAM OSI Flatbuffers Performance Report: three numbers of
/// reflections, three of objects, the Debug build, the Object API and structs. It adds
/// the packed field. The last row, a trace that is played, is `wiregauge repeat traces`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge repeat persival --quick
  wiregauge repeat persival --fresh -o fresh.json")]
pub struct Arguments {
    /// Verify FlatBuffers before they are read.
    #[arg(long)]
    verify: bool,
    /// Use new buffers and objects in each step, as the report does.
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    measuring: MeasurementArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let destination = self.measuring.open(&[])?;
        let progress = Progress::new();
        let fmu_entrants =
            FmuEntrants { model: Model::Sensor, verify: self.verify, fresh: self.fresh };
        let workload = CosimWorkload {
            title: "Persival's experiment: SensorView from source to sensor".into(),
            cases: persival::cases(),
            entrants: fmu_entrants.entrants(&persival::members(), &progress)?,
            fresh: self.fresh,
            reference: Some(persival::reference()),
            derive: Box::new(|_| {}),
        };
        self.measuring.carry_out(workload, destination, progress)
    }
}
