//! `wiregauge bus participant`: one participant, for a conductor that may be
//! on another machine.

use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;

use anyhow::{Context, Result};
use wiregauge_participant::participant::host_all;
use wiregauge_participant::transports::builtin;

/// Take part in a run that a conductor on this or another machine leads.
#[derive(clap::Args)]
pub struct Arguments {
    /// Where the conductor is.
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    control: SocketAddr,
    /// Name of the participant in the run; more than one make threads of one
    /// process.
    #[arg(long, required = true)]
    name: Vec<String>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        host_all(self.control, &self.name, &builtin())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn address(text: &str) -> Result<SocketAddr> {
    let addresses = text.to_socket_addrs().with_context(|| format!("'{text}' is no HOST:PORT"))?;
    addresses.into_iter().next().with_context(|| format!("'{text}' has no address"))
}
