//! How much memory programs of others may take: the argument for that.

use wiregauge_child_process::child;
use wiregauge_system::quantity::parse_nonzero_bytes;

/// How much memory runners and hosts of FMUs may take.
#[derive(clap::Args)]
pub struct MaxMemoryArgs {
    /// Most memory for a runner or a host of FMUs; one that takes more is ended: 4GiB
    /// [default: three quarters of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = parse_nonzero_bytes)]
    max_memory: Option<u64>,
}

impl MaxMemoryArgs {
    /// The word that has another machine do the same.
    pub fn word(&self) -> Option<String> {
        self.max_memory.map(|bytes| format!("--max-memory={bytes}"))
    }

    /// Holds whoever is started from now on to it.
    pub fn apply(&self) {
        if let Some(bytes) = self.max_memory {
            child::memory::set_limit(bytes);
        }
    }
}
