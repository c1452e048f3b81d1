//! `--samples`: every sample of a series in a file of its own.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_bus::catalogue::TransportEntry;
use wiregauge_bus::conduct::samples::{samples_per_run, Labels, SampleFile};
use wiregauge_bus::load::Load;
use wiregauge_bus::placement::Placement;
use wiregauge_participant::control::Role;
use wiregauge_result::run::Case;
use wiregauge_system::file::Target;

use super::row::Row;
use crate::output::Outlet;

/// Where samples are kept.
#[derive(clap::Args)]
pub struct Keep {
    /// Keep every sample with its times in this file (Arrow, at most 100 million
    /// rows): docs/bus.md.
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
}

impl Keep {
    /// Looks whether they can be kept there, which replaces none of `inputs` and
    /// not the result.
    pub fn open(&self, inputs: &[&Path], outlet: &Outlet) -> Result<Option<Target>> {
        outlet.samples(self.samples.as_deref(), inputs)
    }

    /// Whether the user asked for it.
    pub fn chosen(&self) -> bool {
        self.samples.is_some()
    }
}

/// The file of a series, and how many samples of each load go into it.
pub struct Keeping {
    /// The file.
    pub samples: SampleFile,
    /// Of each load.
    pub allotted: Vec<u64>,
}

impl Keeping {
    /// Begins the file.
    pub fn begin(
        target: Target,
        allotted: Vec<u64>,
        cases: &[Case],
        rows: &[Row],
        receivers: Vec<String>,
    ) -> Result<Keeping> {
        let words = Labels {
            cases: cases.iter().map(|case| case.id.clone()).collect(),
            subjects: rows.iter().map(|row| row.id().to_owned()).collect(),
            receivers,
        };
        Ok(Keeping { samples: SampleFile::create(target, words)?, allotted })
    }
}

/// How many samples of each load are kept, over so many transports and codecs;
/// none where nothing is.
pub fn allotted(
    target: Option<&Target>,
    loads: &[Load],
    rows: usize,
    duration: std::time::Duration,
) -> Result<Vec<u64>> {
    match target {
        Some(_) => samples_per_run(loads, rows, duration),
        None => Ok(vec![0; loads.len()]),
    }
}

/// Names of all receivers that these loads have here.
pub fn receivers(placement: &Placement, loads: &[Load], entries: &[TransportEntry]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for load in loads {
        for entry in entries {
            let plans = placement.plans(load.receivers, entry.reach);
            for (name, role) in plans.into_iter().flat_map(|plan| plan.participants) {
                if role == Role::Receiver && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    names
}
