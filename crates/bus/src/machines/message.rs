//! What the leader and the agents on other machines say to each other.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wiregauge_participant::control;

use crate::background::message::{BackgroundReport, BackgroundSetup};

/// Version of what leader and agent say to each other.
const VERSION: u32 = 4;
/// What two machines must agree on: the version of what leader and agent say,
/// and of what conductor and participants say.
pub fn version() -> String {
    format!("{VERSION}.{}", control::PROTOCOL_VERSION)
}

/// What the leader says to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// It takes part.
    Welcome,
    /// It does not, and why.
    Refused(String),
    /// It is to come again, and why.
    Later(String),
    /// Have this engine's program there.
    Prepare(String),
    /// Start a program with participants.
    Start(Start),
    /// End that of this run.
    End(u64),
    /// Load the machine for this run, as the scenario says.
    StartBackground(u64, BackgroundSetup),
    /// Load it no more.
    EndBackground(u64),
    /// All is done.
    Quit,
    /// Still here.
    Beat,
}

/// A program to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Number by which it is told from others.
    pub run: u64,
    /// The engine whose program it is; none for wiregauge's own.
    pub engine: Option<String>,
    /// Its participants.
    pub names: Vec<String>,
    /// Port of the conductor on the leader's machine.
    pub port: u16,
    /// The run's token.
    pub token: String,
}

/// What the agent says to the leader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentReport {
    /// It wants to take part.
    Join(JoinMessage),
    /// The engine's program is there, or why not.
    Prepared(Result<(), String>),
    /// The program of this run has ended by itself, or never began.
    Died(u64, String),
    /// The program of this run was ended. A hypervisor took this share of the
    /// machine's time meanwhile.
    Ended(u64, Option<f64>),
    /// What loads the machine for this run says.
    Background(u64, BackgroundReport),
    /// Still here.
    Beat,
}

/// Who wants to take part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinMessage {
    /// [`version`].
    pub version: String,
    /// The participants that are to run there.
    pub names: Vec<String>,
    /// [`crate::scenario::Scenario::content`] of its scenario.
    pub scenario: BTreeMap<String, String>,
    /// Its address as it knows it itself.
    pub address: IpAddr,
    /// The machine in a few words.
    pub machine: String,
}
