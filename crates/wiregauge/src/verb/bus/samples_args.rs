//! `--samples`: every sample of a series in a file of its own.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_report::result_target::ResultTarget;
use wiregauge_system::file::Target;

/// Where samples are kept.
#[derive(clap::Args)]
pub struct SamplesArgs {
    /// Write every sample with its times to this file (Arrow, at most 100 million rows):
    /// docs/bus.md.
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
}

impl SamplesArgs {
    /// Looks whether they can be kept there, which replaces none of `inputs` and
    /// not the result.
    pub fn open(&self, inputs: &[&Path], outlet: &ResultTarget) -> Result<Option<Target>> {
        outlet.samples(self.samples.as_deref(), inputs)
    }

    /// Whether the user asked for it.
    pub fn is_given(&self) -> bool {
        self.samples.is_some()
    }
}
