//! `wiregauge cosim pedestrian`: BMW's sweep over the number of objects.

use std::process::ExitCode;

use anyhow::Result;
use wiregauge_osi::fmus::{Model, ENCODINGS};

use super::pace::{Matter, Pace};
use crate::crew::{Crew, Member};
use crate::experiment::pedestrian;
use crate::progress::Progress;

/// Repeat BMW's measurement of a pedestrian agent.
///
/// The step's time over the number of objects, in steps of ten, with lines
/// fitted per object and per kB, in every encoding.
#[derive(clap::Args)]
pub struct Arguments {
    /// Have FlatBuffers verify messages before they read them.
    #[arg(long)]
    verify: bool,
    /// Have the FMUs take new buffers and objects in each step.
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    pace: Pace,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let destination = self.pace.open(&[])?;
        let progress = Progress::new();
        let crew = Crew { model: Model::Pedestrian, verify: self.verify, fresh: self.fresh };
        let matter = Matter {
            title: "BMW's experiment: a pedestrian among objects".into(),
            cases: pedestrian::cases(),
            entrants: crew.entrants(&ENCODINGS.map(Member::new), &progress)?,
            fresh: self.fresh,
            reference: Some(pedestrian::reference()),
            derive: pedestrian::add_agent,
        };
        self.pace.carry_out(matter, destination, progress)
    }
}
