//! What a process that loads its machine is told, and what it tells.

use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// How a machine is to be loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackgroundSetup {
    /// How many busy loops there are.
    pub processors: usize,
    /// Its end of the flow, if it has one.
    pub flow: Option<FlowEnd>,
}

/// An end of the flow of datagrams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowEnd {
    /// Datagrams go from here.
    Sends {
        /// The ends that receive.
        to: Vec<SocketAddr>,
        /// Bits a second to each of them.
        rate: u64,
        /// By which datagrams of this flow are known.
        token: String,
    },
    /// Datagrams come here.
    Receives {
        /// The address at which they come.
        at: IpAddr,
        /// By which datagrams of this flow are known.
        token: String,
    },
}

/// What the process tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackgroundReport {
    /// The machine is loaded from now on; the port at which a flow comes.
    Ready(Option<u16>),
    /// It is loaded no more, and this was taken.
    Took(TakenBackground),
    /// It cannot be loaded so, and why.
    Failed(String),
}

/// What was really taken of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakenBackground {
    /// For so many nanoseconds.
    pub time: u64,
    /// The processor time of all busy loops together, in nanoseconds.
    pub processor_time: u64,
    /// The bits that were sent to each other host, or that came, with headers.
    pub bits: u64,
}
