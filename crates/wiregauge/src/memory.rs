//! How much memory programs of others may take: the argument for that.

use wiregauge_conversation::child;
use wiregauge_system::quantity::parse_nonzero_bytes;

/// How much memory runners and hosts of FMUs may take.
#[derive(clap::Args)]
pub struct MaxMemory {
    /// Memory that a runner or a host of FMUs may take, before it is ended: 4GiB. Three
    /// quarters of what is available, unless given.
    #[arg(long, value_name = "SIZE", value_parser = parse_nonzero_bytes)]
    max_memory: Option<u64>,
}

impl MaxMemory {
    /// Holds whoever is started from now on to it.
    pub fn apply(&self) {
        if let Some(bytes) = self.max_memory {
            child::memory::set_limit(bytes);
        }
    }
}
