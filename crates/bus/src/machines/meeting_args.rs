//! The arguments that say how machines that measure together find each other.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use wiregauge_system::notice::print_notice;
use wiregauge_system::quantity::parse_time;
use wiregauge_system::text::escape_short;

use crate::machines::agent::resolve_addresses;
use crate::secret::Key;

/// How machines that measure together find each other.
#[derive(clap::Args)]
pub struct MeetingArgs {
    /// The machine that leads. For that machine itself: others may join only from these
    /// machines. With --rank: where rank 0 runs, if its launcher does not tell.
    #[arg(long, value_name = "HOST[:PORT],…", value_delimiter = ',')]
    pub peer: Vec<String>,
    /// A file with the key of all machines, 64 hexadecimal digits. A machine with
    /// another key cannot join or lead [env: WIREGAUGE_KEY, the digits].
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// How long to wait for the other machines.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_time)]
    pub wait: Duration,
}

impl MeetingArgs {
    /// The key of all machines, if there is one.
    ///
    /// # Errors
    /// Those of [`Key::find`].
    pub fn find_key(&self) -> Result<Option<Key>> {
        Key::find(self.key.as_deref())
    }

    /// The addresses of the machines that `--peer` names.
    ///
    /// # Errors
    /// A host that nobody knows.
    pub fn peer_addresses(&self, port: u16) -> Result<Vec<IpAddr>> {
        let found = self.peer.iter().map(|peer| resolve_addresses(peer, port));
        let found: Vec<_> = found.collect::<Result<_>>()?;
        Ok(found.into_iter().flatten().map(|address| address.ip()).collect())
    }
}

/// Tells the user what goes on, some of it in the words of others.
pub fn print_foreign(what: &str) {
    print_notice(&escape_short(what));
}
