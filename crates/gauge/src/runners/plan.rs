//! What is to be measured: cases, subjects, experiments and how long.

use std::path::PathBuf;
use std::time::Duration;

use wiregauge_child_process::reply::Reading;
use wiregauge_child_process::runner::{Launch, Lifetimes};
use wiregauge_instructions::memory::MemoryCounter;
use wiregauge_instructions::Counter;
use wiregauge_result::run::{Case, Settings, Subject};

/// A whole measurement.
pub struct Plan {
    /// What is measured on; every subject's runner takes every case.
    pub cases: Vec<Load>,
    /// What is measured.
    pub entrants: Vec<Entrant>,
    /// The experiments, in the order of the table.
    pub experiments: Vec<Experiment>,
    /// Processes, least rounds, epoch, lifetimes and seed.
    pub settings: Settings,
    /// How long proof, counting of allocations and timing may take in all.
    pub time: Duration,
    /// How long one answer of a runner may take before it counts as hung.
    pub patience: Duration,
    /// Most rounds in one process.
    pub most_rounds: u32,
    /// Messages that each cell must have processed at least, over all its
    /// processes and rounds; those of languages that warm up excepted.
    pub least_iterations: u64,
    /// The allocation counter to preload, if allocations are to be counted.
    pub counter: Option<PathBuf>,
    /// Whether epochs are timed. Without, messages are proven, and what is counted is
    /// counted.
    pub timed: bool,
    /// What counts instructions, if these are to be counted.
    pub instructions: Option<Counter>,
    /// Of which subjects it is explained where these were executed; this counts them, too.
    pub explained: Option<Explained>,
    /// Whether encoded messages are compressed, too, to see what comes of that.
    pub squeeze: bool,
    /// Corruptions to feed each decoder, on the first message of each case.
    pub corruptions: u64,
}

impl Plan {
    /// How long what a codec uses lives.
    pub fn lifetimes(&self) -> Lifetimes {
        Lifetimes {
            scratch: self.settings.scratch.clone(),
            objects: self.settings.objects.clone(),
            buffers: self.settings.buffers.clone(),
        }
    }
}

/// What is explained.
pub struct Explained {
    /// The ids of the subjects.
    pub subjects: Vec<String>,
    /// What counts what they copy and allocate.
    pub memory: MemoryCounter,
}

/// A case and its messages.
pub struct Load {
    /// How it is named in the result.
    pub case: Case,
    /// Its messages.
    pub samples: Vec<Sample>,
}

/// One message and what must be found in it.
pub struct Sample {
    /// The canonical bytes.
    pub canonical: Vec<u8>,
    /// What the full projection, the fixed field and the element's field read.
    pub readings: [Reading; 3],
}

/// What speaks for itself: a figure of what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// Name in the result, as `error/x`.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The figure; of several messages the largest counts.
    pub value: f64,
}

/// Holds what came back of a message against what was sent, both in canonical bytes, where
/// a subject may change values: how far they are apart, or why that is no such message.
pub type Judge = Box<dyn Fn(&[u8], &[u8]) -> Result<Vec<Deviation>, String> + Send + Sync>;

/// A subject and, unless there is a reason why not, its runner.
pub struct Entrant {
    /// How it is named in the result. Its status is `Measured` where it is to
    /// be measured, and is changed when it fails.
    pub subject: Subject,
    /// Its runner; none where the status says why.
    pub runner: Option<Launch>,
    /// Who judges what comes back, and that alone; without one every byte must come back,
    /// and the reading experiments must find what was sent.
    pub judge: Option<Judge>,
}

/// An experiment of the runner protocol and the settings that it runs with.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Name in the result.
    pub metric: String,
    /// Name in the protocol.
    pub name: String,
    /// Another name, for runners that do not offer that one.
    pub otherwise: Option<String>,
    /// `reused` or `fresh`, where it differs from the settings.
    pub objects: Option<String>,
}

impl Experiment {
    /// An experiment by its own name with the plan's settings.
    pub fn plain(name: &str) -> Experiment {
        Experiment { metric: name.into(), name: name.into(), otherwise: None, objects: None }
    }

    /// What a runner that offers these is asked for; none where it cannot.
    pub fn offered_name<'a>(&'a self, offered: &[String]) -> Option<&'a str> {
        let names = [Some(&self.name), self.otherwise.as_ref()];
        names.into_iter().flatten().find(|name| offered.contains(name)).map(String::as_str)
    }
}
