//! `wiregauge repeat pedestrian`: BMW's sweep over the number of objects.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_osi::fmus::{Model, ENCODINGS};

use crate::experiment::{pedestrian, Publication};
use crate::fmu_entrants::{FmuEntrants, Member};
use crate::progress::Progress;
use crate::verb::cosim::measurement::{CosimWorkload, MeasurementArgs};

/// What it repeats.
pub const PUBLICATION: Publication = Publication {
    name: "pedestrian",
    about: "BMW's pedestrian agent over the number of objects, in all encodings",
    source: "BMW: FlatBuffer Performance in OSI based Agent Models",
    year: "2022",
};

/// Repeat BMW's measurement of a pedestrian agent.
///
/// It measures the time of a step over the number of objects, in steps of ten, in every
/// encoding. Lines are fitted per object and per kB.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge repeat pedestrian --quick")]
pub struct Arguments {
    /// Verify FlatBuffers before they are read.
    #[arg(long)]
    verify: bool,
    /// Use new buffers and objects in each step.
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
            FmuEntrants { model: Model::Pedestrian, verify: self.verify, fresh: self.fresh };
        let workload = CosimWorkload {
            title: "BMW's experiment: a pedestrian among objects".into(),
            cases: pedestrian::cases(),
            entrants: fmu_entrants.entrants(&ENCODINGS.map(Member::new), &progress)?,
            fresh: self.fresh,
            reference: Some(pedestrian::reference()),
            derive: Box::new(pedestrian::add_agent),
        };
        self.measuring.carry_out(workload, destination, progress)
    }
}
