//! What came of a run, as its conductor heard it.

pub mod background;
pub mod senders;
pub mod windows;

use anyhow::{bail, Result};
use wiregauge_participant::control::{Pinged, ReceiverResult, SenderResult, TransportInfo};
use wiregauge_system::interrupt::{self, Interrupted};

use crate::record::background::BackgroundRecord;

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// What the transport says of itself.
    pub about: TransportInfo,
    /// Round trips between the sender and the first receiver, where they were
    /// taken.
    pub round_trips: Option<Pinged>,
    /// What the sender did; of several what they did together.
    pub sent: SenderResult,
    /// What each receiver saw, in the order of the plans.
    pub received: Vec<ReceiverResult>,
    /// What its background took, where it has one.
    pub background: Option<BackgroundRecord>,
    /// Why it broke off, if it did: then there are the windows that were told
    /// until then, and nothing else.
    pub broken: Option<String>,
}

impl RunRecord {
    /// The record of a run that came to its end.
    ///
    /// # Errors
    /// Why it did not.
    pub fn require_complete(self) -> Result<RunRecord> {
        match self.broken {
            Some(_) if interrupt::interrupted() => Err(Interrupted.into()),
            Some(reason) => bail!(reason),
            None => Ok(self),
        }
    }
}
