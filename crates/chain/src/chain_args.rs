//! The arguments that say which chain is measured, and how.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use wiregauge_system::quantity::{parse_speed, parse_time};

use crate::chain::Chain;

/// Which chain is measured, and how.
#[derive(clap::Args)]
pub struct ChainArgs {
    /// The chain (TOML): its stages, and the hops between them.
    #[arg(value_name = "FILE")]
    chain: PathBuf,
    /// Speed of the vehicle, for distances: 100km/h, 60mph, 30m/s [default: the file's,
    /// else 100km/h].
    #[arg(long, value_name = "SPEED", value_parser = parse_speed)]
    vehicle_speed: Option<f64>,
    /// How long the chain is measured, and each of the best changes [default: the
    /// file's, else 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    duration: Option<Duration>,
}

impl ChainArgs {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.chain
    }

    /// The chain.
    ///
    /// # Errors
    /// Those of the file, and too short a time.
    pub fn read(&self) -> Result<Chain> {
        Chain::read(&self.chain)?.with(self.vehicle_speed, self.duration)
    }
}
