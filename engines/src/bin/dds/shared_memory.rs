//! Samples in shared memory: what Cyclone needs for it, and how much there has to be.

use anyhow::{bail, ensure, Result};
use wiregauge_participant::dds_options::HISTORY;
use wiregauge_participant::transport::Topic;

use crate::roudi::Pool;
/// What is said of it.
pub const ABOUT: &str =
    "way=memory has samples in the shared memory of iceoryx, whose RouDi the run \
                         starts unless one runs: octets of one size, lent by dds_loan_sample, read \
                         in place by dds_takecdr; KeepLast, since Cyclone uses it for no other \
                         history, with 64 MiB of samples, at least 2 and at most 128, unless \
                         history=N is said; nobody waits for a reader: what one does not take in \
                         time is lost, also with reliability=reliable";
/// What is said of samples that vary.
pub const ONE_SIZE: &str =
    "Cyclone DDS has shared memory for samples of one size only, and these vary: use dds";
/// What is said where the library has none.
pub const NOT_BUILT_IN: &str =
    "this Cyclone DDS is built without shared memory (iceoryx); that of \
                                Debian 12 and 13 has it";
/// What the configuration gets besides.
const SETTINGS: &str = "<CycloneDDS><Domain><SharedMemory><Enable>true</Enable>\
                        <LogLevel>error</LogLevel></SharedMemory></Domain></CycloneDDS>";

/// Memory that a reader's unread samples may take, about, in bytes.
const KEPT: usize = 64 << 20;
/// Unread samples that a reader keeps at most. Of 256 that iceoryx lets it hold, it may have taken 100
/// besides.
const MOST_KEPT: i32 = 128;
/// Samples that a reader may have taken.
const TAKEN: usize = 100;
/// Samples that a writer may be at: one that is lent, and the last that was sent.
const AT_WORK: usize = 4;

/// How samples travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As datagrams, or by whatever else Cyclone's configuration says.
    Network,
    /// In shared memory.
    Memory,
}

impl Way {
    /// What is said of a topic.
    ///
    /// # Errors
    /// Another word than there is for it.
    pub fn from_topic(topic: &Topic) -> Result<Way> {
        Ok(match topic.options.get("way").map_or("network", String::as_str) {
            "network" => Way::Network,
            "memory" => Way::Memory,
            other => bail!("way is network or memory, not '{other}'"),
        })
    }
}

/// What a topic takes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Unread samples that are kept.
    pub depth: i32,
    /// All of the run's samples.
    pub pool: Pool,
}

impl Plan {
    /// That of a topic in shared memory; none of another.
    ///
    /// # Errors
    /// What Cyclone has no shared memory for.
    pub fn for_topic(topic: &Topic) -> Result<Option<Plan>> {
        if Way::from_topic(topic)? == Way::Network {
            return Ok(None);
        }
        ensure!(!topic.varies, "{ONE_SIZE}");
        ensure!(
            topic.options.get("security").is_none_or(|word| word == "none"),
            "way=memory has no security: who may open the shared memory reads it"
        );
        let most = format!("1 to {MOST_KEPT} in shared memory");
        let depth = match topic.options.get(HISTORY).map(String::as_str) {
            None => (KEPT / topic.size).clamp(2, MOST_KEPT as usize) as i32,
            Some("all") => bail!("history is {most}: Cyclone has none there that keeps all"),
            Some(_) => {
                let depth = topic.quality()?.kept_or_all();
                ensure!(depth <= MOST_KEPT, "history is {most}, not {depth}");
                depth
            }
        };
        // One queue is iceoryx's, and another Cyclone's; then the one that is just taken out of the first.
        let taken = if depth == MOST_KEPT { TAKEN } else { 1 };
        let of_topic = topic.readers * (2 * depth as usize + taken + 1) + AT_WORK;
        // There is a topic back to the first sender besides.
        let count = of_topic * (topic.names_to_read("").len() + 1);
        Ok(Some(Plan { depth, pool: Pool { size: topic.size, count } }))
    }
}

/// This configuration with shared memory. The library takes several, parted by commas.
pub fn configuration(own: &str) -> String {
    match own.trim() {
        "" => SETTINGS.into(),
        own => format!("{own},{SETTINGS}"),
    }
}
