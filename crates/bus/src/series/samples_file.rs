//! Every sample of a series in a file of its own.

use std::time::Duration;

use anyhow::Result;
use wiregauge_participant::control::Role;
use wiregauge_result::run::Case;
use wiregauge_system::file::Target;

use crate::catalogue::TransportEntry;
use crate::conduct::samples::{samples_per_run, Labels, SampleFile};
use crate::load::Load;
use crate::placement::Placement;
use crate::series::transport_row::TransportRow;

/// The file of a series, and how many samples of each load go into it.
pub struct SeriesSamples {
    /// The file.
    pub samples: SampleFile,
    /// Of each load.
    pub allotted: Vec<u64>,
}

impl SeriesSamples {
    /// Begins the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(
        target: Target,
        allotted: Vec<u64>,
        cases: &[Case],
        rows: &[TransportRow],
        receivers: Vec<String>,
    ) -> Result<SeriesSamples> {
        let words = Labels {
            cases: cases.iter().map(|case| case.id.clone()).collect(),
            subjects: rows.iter().map(|row| row.id().to_owned()).collect(),
            receivers,
        };
        Ok(SeriesSamples { samples: SampleFile::create(target, words)?, allotted })
    }
}

/// How many samples of each load are kept, over so many transports and codecs;
/// none where nothing is.
///
/// # Errors
/// When there would be more than a file has.
pub fn samples_per_load(
    target: Option<&Target>,
    loads: &[Load],
    rows: usize,
    duration: Duration,
) -> Result<Vec<u64>> {
    match target {
        Some(_) => samples_per_run(loads, rows, duration),
        None => Ok(vec![0; loads.len()]),
    }
}

/// Names of all receivers that these loads have here.
pub fn receiver_names(
    placement: &Placement,
    loads: &[Load],
    entries: &[TransportEntry],
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for load in loads {
        for entry in entries {
            let plans = placement.plans_of_senders(load.senders, load.receivers, entry.reach);
            for (name, role) in plans.into_iter().flat_map(|plan| plan.participants) {
                if role == Role::Receiver && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
    names
}
