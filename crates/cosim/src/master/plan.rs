//! What is to be measured: cases, subjects, and how long.

use std::path::PathBuf;
use std::time::Duration;

use wiregauge_result::run::{Case, Settings, Subject};

use crate::package::coupling::VariableChoice;

/// Variables by name, and the values to set them to.
pub type Parameters = Vec<(String, String)>;

/// A whole measurement: every entrant takes every case, unless it says which.
pub struct Plan {
    /// What is measured on.
    pub cases: Vec<Load>,
    /// What is measured.
    pub entrants: Vec<Entrant>,
    /// How a host is started: the program and its arguments.
    pub host: (PathBuf, Vec<String>),
    /// Processes, least rounds, epoch and seed. The rounds that were really
    /// run are written into a result.
    pub settings: Settings,
    /// How long the timing may take in all.
    pub time: Duration,
    /// Most rounds in one process.
    pub most_rounds: u32,
    /// How long one answer of a host may take before it counts as hung.
    pub patience: Duration,
    /// Steps of an epoch; calibrated where none.
    pub steps: Option<u64>,
    /// Steps of each process that are done and not counted.
    pub warm_up: u64,
    /// Where each step's messages are written as they come out in the proof.
    pub dump: Option<PathBuf>,
}

/// A case and what it asks of the FMUs.
pub struct Load {
    /// How it is named in the result.
    pub case: Case,
    /// Set in the source.
    pub source: Parameters,
    /// Set in the model.
    pub model: Parameters,
}

/// A subject and, unless its status says why not, what it runs.
pub struct Entrant {
    /// How it is named in the result. Its status is `Measured` where it is to
    /// be measured, and is changed when it fails.
    pub subject: Subject,
    /// What it runs; none where the status says why.
    pub work: Option<HostWork>,
    /// Ids of the only cases that it takes; all where empty.
    pub only: Vec<String>,
}

/// What a subject runs.
pub enum HostWork {
    /// A source and a model.
    Fmus(Box<Pair>),
    /// The bytes of another subject's messages, by memcpy: those of the subject
    /// with this id, or of the first that was proven.
    Memcpy(Option<String>),
}

/// A source and a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// The source's FMU.
    pub source: PathBuf,
    /// Set in the source, after what the case sets.
    pub source_parameters: Parameters,
    /// The model's FMU.
    pub model: PathBuf,
    /// Set in the model, after what the case sets.
    pub model_parameters: Parameters,
    /// Step size in seconds; what the source proposes where none.
    pub step: Option<f64>,
    /// Which variables to couple.
    pub wanted: VariableChoice,
    /// That its messages may differ when it runs again.
    pub varying: bool,
}

impl Entrant {
    /// Whether it takes a case.
    pub fn takes(&self, case: &Case) -> bool {
        self.only.is_empty() || self.only.contains(&case.id)
    }
}
