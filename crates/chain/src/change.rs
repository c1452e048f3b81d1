//! A single change of a chain: another codec, transport or way to read at a hop, or a stage
//! that is faster.

use std::time::Duration;

use wiregauge_bus::catalogue::TransportEntry;
use wiregauge_participant::codec_process::CodecTask;

use crate::chain::{read_name, Chain};
use crate::prediction::TouchedParts;

/// A single change.
#[derive(Clone, Debug)]
pub enum Change {
    /// Another codec at a hop.
    Codec(usize, String),
    /// Another transport at a hop.
    Transport(usize, TransportEntry),
    /// Another way to read at a hop.
    Read(usize, CodecTask),
    /// Another cycle of a stage, in nanoseconds.
    Period(usize, u64),
}

impl Change {
    /// All that are to be considered.
    pub fn all(chain: &Chain) -> Vec<Change> {
        let mut changes = Vec::new();
        for (place, hop) in chain.hops.iter().enumerate() {
            let other = chain.consider.codecs.iter().filter(|codec| **codec != hop.codec);
            changes.extend(other.map(|codec| Change::Codec(place, codec.clone())));
            let transports = chain.consider.transports.iter();
            let other = transports.filter(|transport| transport.id != hop.transport.id);
            changes.extend(other.map(|transport| Change::Transport(place, *transport)));
            let other = chain.consider.reads.iter().filter(|read| **read != hop.read);
            changes.extend(other.map(|read| Change::Read(place, *read)));
        }
        for (place, stage) in chain.stages.iter().enumerate().filter(|(_, s)| s.period > 0) {
            let periods = chain.consider.faster.iter().map(|by| (stage.period as f64 / by) as u64);
            changes.extend(periods.map(|period| Change::Period(place, period.max(1))));
        }
        changes
    }

    /// The chain with the change.
    pub fn apply(&self, chain: &Chain) -> Chain {
        let mut changed = chain.clone();
        match self {
            Change::Codec(hop, codec) => changed.hops[*hop].codec.clone_from(codec),
            Change::Transport(hop, transport) => changed.hops[*hop].transport = *transport,
            Change::Read(hop, read) => changed.hops[*hop].read = *read,
            Change::Period(stage, period) => changed.stages[*stage].period = *period,
        }
        changed
    }

    /// The hop whose parts are others then, and which; none where they stay the same.
    pub fn touched(&self) -> Option<(usize, TouchedParts)> {
        match self {
            Change::Codec(hop, _) => Some((*hop, TouchedParts::Codec)),
            Change::Transport(hop, _) => Some((*hop, TouchedParts::Transport)),
            Change::Read(hop, _) => Some((*hop, TouchedParts::Read)),
            Change::Period(..) => None,
        }
    }

    /// Its key in a result.
    pub fn id(&self, chain: &Chain) -> String {
        match self {
            Change::Codec(hop, codec) => format!("{}:{codec}", hop + 1),
            Change::Transport(hop, transport) => format!("{}:{}", hop + 1, transport.id),
            Change::Read(hop, read) => format!("{}:{}", hop + 1, read.experiment()),
            Change::Period(stage, period) => {
                format!("{}:{}", chain.stages[*stage].name, rate(*period))
            }
        }
    }

    /// What it is, in a few words.
    pub fn title(&self, chain: &Chain) -> String {
        match self {
            Change::Codec(hop, codec) => format!("{}: {codec}", chain.hop_title(*hop)),
            Change::Transport(hop, entry) => format!("{}: {}", chain.hop_title(*hop), entry.id),
            Change::Read(hop, read) => {
                format!("{}: read {} in place", chain.hop_title(*hop), read_name(*read))
            }
            Change::Period(stage, period) => {
                format!("{} at {}", chain.stages[*stage].name, rate(*period))
            }
        }
    }
}

/// A cycle as its rate.
pub fn rate(period: u64) -> String {
    let rate = 1.0 / Duration::from_nanos(period).as_secs_f64();
    let text = format!("{rate:.2}");
    format!("{} Hz", text.trim_end_matches('0').trim_end_matches('.'))
}
