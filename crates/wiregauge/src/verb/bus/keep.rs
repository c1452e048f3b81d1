//! `--samples`: every sample of a series in a file of its own.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_bus::catalogue::Entry;
use wiregauge_bus::conduct::samples::{allot, Samples, Words};
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
    /// Write every sample with its times to this file (Arrow, at most 100 million rows):
    /// docs/bus.md.
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
    pub samples: Samples,
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
        let words = Words {
            cases: cases.iter().map(|case| case.id.clone()).collect(),
            subjects: rows.iter().map(|row| row.id().to_owned()).collect(),
            receivers,
        };
        Ok(Keeping { samples: Samples::begin(target, words)?, allotted })
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
        Some(_) => allot(loads, rows, duration),
        None => Ok(vec![0; loads.len()]),
    }
}

/// Names of all receivers that these loads have here.
pub fn receivers(placement: &Placement, loads: &[Load], entries: &[Entry]) -> Vec<String> {
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
