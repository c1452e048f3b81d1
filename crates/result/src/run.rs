//! The one result form, `run.json`: what was measured, on what, with which
//! samples, in which environment. Everything that reads results reads this.
//!
//! A *subject* (a codec, an encoding, a transport) is measured on a *case*
//! (a message at some size) for a *metric* (encode time, size). Raw samples
//! are kept; every statistic is derived from them when a result is read.

use std::path::Path;

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::explanation::Explanation;
use crate::requirement::Requirements;
use crate::row_pairs::RowPairs;
use crate::run_kind::RunKind;
use crate::runner_files::RunnerFiles;
use crate::warning::Warning;
use wiregauge_system::input;

/// Name of the form, in [`Run::format`].
pub const FORMAT: &str = "wiregauge.run";
/// Version of the form. Readers refuse a newer one.
pub const VERSION: u32 = 1;
/// Largest result file that is read, in bytes: a hundred times what a long
/// sweep of all codecs comes to.
const LARGEST: u64 = 1 << 30;

/// A result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Always [`FORMAT`].
    pub format: String,
    /// [`VERSION`] of the writer.
    pub version: u32,
    /// One line that says what was measured.
    pub title: String,
    /// The verb that made it.
    pub kind: RunKind,
    /// The command line that reproduces it.
    pub command: Vec<String>,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The machine, its state and the tools.
    pub environment: Environment,
    /// What keeps the figures from being trusted, and what to do about it.
    pub warnings: Vec<Warning>,
    /// How the gauge was set.
    pub settings: Settings,
    /// What was measured on.
    pub cases: Vec<Case>,
    /// What was measured.
    pub subjects: Vec<Subject>,
    /// The samples.
    pub measurements: Vec<Measurement>,
    /// Single figures that are counted rather than sampled.
    pub facts: Vec<Fact>,
    /// Figures over something that is no case: a distribution over its shares,
    /// a latency over the rate that was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
    /// The slowest single samples and steps, and what the machine did meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowestSample>,
    /// Where subjects execute their instructions, if that was to be explained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanations: Vec<Explanation>,
    /// Published figures to show beside the measured ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// What is required of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<Requirements>,
    /// Rows that were measured to be compared with each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<RowPairs>,
}

/// How the gauge was set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Processes that each subject was restarted in.
    pub processes: u32,
    /// Rounds in each process; one sample per subject and metric a round.
    pub rounds: u32,
    /// Shortest wanted epoch in nanoseconds.
    pub epoch_ns: u64,
    /// `reused` or `fresh` output buffers.
    pub buffers: String,
    /// `reused` or `fresh` message objects.
    pub objects: String,
    /// `reused` or `fresh` scratch space, the library's own between messages:
    /// builders, arenas, transports. Files of before it was written kept it.
    #[serde(default = "reused")]
    pub scratch: String,
    /// Seed of generated values, corruptions and the order of turns.
    pub seed: u64,
    /// What loaded the hosts beside a run of the bus; empty where nothing did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub background: String,
}

fn reused() -> String {
    "reused".into()
}

/// What was measured on: a message, or a set of recorded ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Key, such as `points=10000`.
    pub id: String,
    /// Name of the message type.
    pub message: String,
    /// Where the definition and the values come from.
    pub source: String,
    /// How many different messages take turns.
    pub messages: u64,
    /// Mean size of a message in the canonical form, in bytes; 0 where it has
    /// none, as in co-simulation.
    pub canonical_bytes: f64,
    /// The swept number and its name, such as `points` 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<Parameter>,
    /// The number that the experiment `fixed` reads, as a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
    /// The number that the experiment `element` reads, as a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Mean length of the list whose element that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<f64>,
    /// What else there is to say, such as fields left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Case {
    /// A case of one message, of which no more is known yet.
    pub fn new(
        id: impl Into<String>,
        message: impl Into<String>,
        source: impl Into<String>,
    ) -> Case {
        Case {
            id: id.into(),
            message: message.into(),
            source: source.into(),
            messages: 1,
            canonical_bytes: 0.0,
            parameter: None,
            fixed: None,
            element: None,
            elements: None,
            notes: Vec::new(),
        }
    }
}

/// A swept number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// What is swept: `points`, `size factor`.
    pub name: String,
    /// Its value in this case.
    pub value: f64,
}

/// What was measured: a codec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// Key, such as `flatbuffers-cpp-structs`.
    pub id: String,
    /// Name in tables: `FlatBuffers C++ structs`.
    pub title: String,
    /// Language of the runner.
    pub language: String,
    /// Library and version: `flatbuffers 2.0.8`.
    pub library: String,
    /// How the library itself was built, where that is known: `-O3 beside the
    /// runner`, `Debian's shared library, -O2`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub built: String,
    /// What its program was made with, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Options of the library that matter, as docs/codecs.md lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// A bound (no operation, memcpy) and not a codec to choose.
    #[serde(default)]
    pub bound: bool,
    /// Reads bytes without checking them first: damaged ones are its reader's
    /// misfortune. Marked wherever the subject stands.
    #[serde(default)]
    pub unchecked: bool,
    /// What the format cannot say and how it is said instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lowerings: Vec<String>,
    /// Why its instructions were not counted, where they should have been.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub not_counted: String,
    /// Its runner, where it can be measured again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<RunnerFiles>,
    /// Whether there are figures, and why not.
    pub status: Status,
}

impl Subject {
    /// A subject that is to be measured, of which no more is known yet.
    pub fn new(id: impl Into<String>, title: impl Into<String>, language: &str) -> Subject {
        Subject {
            id: id.into(),
            title: title.into(),
            language: language.into(),
            library: String::new(),
            built: String::new(),
            origin: None,
            options: Vec::new(),
            bound: false,
            unchecked: false,
            lowerings: Vec::new(),
            not_counted: String::new(),
            runner: None,
            status: Status::Measured,
        }
    }
}

/// What a subject's program was made with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The compiler and its version; empty where there was none.
    pub compiler: String,
    /// Flags of the generated code and of headers.
    pub flags: String,
    /// What it needed, by package, with versions.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub packages: IndexMap<String, String>,
    /// The year of the library's version, where its package tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<u32>,
    /// The month in which its makers released the library's version, as `2022-12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
    /// What the library's makers had released last, as far as wiregauge knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<NewestRelease>,
}

/// The newest release of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewestRelease {
    /// Its version.
    pub version: String,
    /// The month of its release, as `2026-09`.
    pub released: String,
}

impl Origin {
    /// Months between the release of the library and the newest of its makers; none
    /// where one of the two is not known.
    pub fn months_behind(&self) -> Option<i64> {
        let months = |text: &str| {
            let (year, month) = text.split_once('-')?;
            Some(12 * year.parse::<i64>().ok()? + month.parse::<i64>().ok()?)
        };
        Some(months(&self.newest.as_ref()?.released)? - months(self.released.as_ref()?)?)
    }
}

/// Whether a subject has figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reason")]
pub enum Status {
    /// Proven right and measured.
    Measured,
    /// Not on this machine: which tool is missing and which package brings it.
    Skipped(String),
    /// The format cannot express the message, and why.
    Rejected(String),
    /// It gave wrong results, crashed, hung or did not build.
    Failed(String),
}

impl Status {
    /// The state in a word, and why, where there are no figures.
    pub fn absence(&self) -> Option<(&'static str, &str)> {
        match self {
            Status::Measured => None,
            Status::Skipped(reason) => Some(("skipped", reason)),
            Status::Rejected(reason) => Some(("rejected", reason)),
            Status::Failed(reason) => Some(("failed", reason)),
        }
    }
}

/// The samples of one subject on one case for one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// [`Case::id`].
    pub case: String,
    /// [`Subject::id`].
    pub subject: String,
    /// What is measured, such as `encode`. A phase of another metric is named
    /// after it: `encode/populate`.
    pub metric: String,
    /// Unit of the samples: `ns`.
    pub unit: String,
    /// Iterations that one sample is the mean of, per process.
    pub iterations: Vec<u64>,
    /// `samples[process][round]`. Samples of different subjects with the same
    /// indices were taken in the same round and may be compared as a pair.
    /// A lost sample is null.
    pub samples: Vec<Vec<Option<f64>>>,
}

/// A single figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// [`Case::id`].
    pub case: String,
    /// [`Subject::id`].
    pub subject: String,
    /// What it is: `size`, `size/lz4`, `allocations/encode`, `corrupt/rejected`.
    pub metric: String,
    /// Unit: `B`, `1`.
    pub unit: String,
    /// The figure.
    pub value: f64,
}

/// A figure over something that is no case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// [`Case::id`].
    pub case: String,
    /// [`Subject::id`].
    pub subject: String,
    /// What it is: `latency`.
    pub metric: String,
    /// Unit of the figures: `ns`.
    pub unit: String,
    /// What it goes over: `share`, for the time that this share of all stays
    /// within, `time`, in seconds since the first sample, `rate` or `size`.
    pub over: String,
    /// The points, ascending.
    pub points: Vec<(f64, f64)>,
}

/// One of the slowest samples or steps, and what the machine did to the process
/// that waited for it. The counters are of the time `over` before its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowestSample {
    /// [`Case::id`].
    pub case: String,
    /// [`Subject::id`].
    pub subject: String,
    /// What is slow: `latency`, `step`, `exchange`.
    pub metric: String,
    /// Which receiver it is of, as in [`Measurement::samples`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<u64>,
    /// Which process it is of, as in [`Measurement::samples`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<u64>,
    /// Which sample or step it is.
    pub sequence: u64,
    /// When it was sent or began, in seconds since the first one was due or
    /// began.
    pub at: f64,
    /// Unit of the value: `ns`.
    pub unit: String,
    /// How long it took.
    pub value: f64,
    /// Seconds that the counters are of.
    pub over: f64,
    /// Share of that time that a hypervisor took of each processor.
    pub steal: f64,
    /// Times that a thread of the process was taken off its processor.
    pub involuntary: u64,
    /// Times that one waited for something.
    pub voluntary: u64,
    /// Pages that were missing and in memory.
    pub minor_faults: u64,
    /// Pages that had to be read from disk.
    pub major_faults: u64,
}

/// Published figures to show beside the measured ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Who published it, what and when.
    pub title: String,
    /// The machine and conditions of the publication.
    pub conditions: String,
    /// What a reader must know to compare the two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// Slopes of lines through a sweep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slopes: Vec<Slope>,
}

/// One published slope of a line through a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slope {
    /// Name of what is swept: a case's parameter, or `kB` for the message size.
    pub parameter: String,
    /// Name in the publication: `Protobuf`.
    pub name: String,
    /// [`Subject::id`] that stands for it here.
    pub subject: String,
    /// Metric: `step`, `size`.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// The published slope, per one of the parameter.
    pub value: f64,
    /// The published uncertainty, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
}

/// One published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// [`Case::id`] that it belongs to.
    pub case: String,
    /// Name in the publication: `Commercial DDS`.
    pub name: String,
    /// [`Subject::id`] that stands for it here.
    pub subject: String,
    /// Metric: `encode`, `size`.
    pub metric: String,
    /// Unit, the same as the measurement's.
    pub unit: String,
    /// The published mean.
    pub value: f64,
    /// The published standard deviation, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
}

impl Figure {
    /// What was published of a case under a name, with no deviation; who stands for it here.
    pub fn new(
        case: impl Into<String>,
        (name, subject): (&str, &str),
        metric: &str,
        unit: &str,
        value: f64,
    ) -> Figure {
        Figure {
            case: case.into(),
            name: name.into(),
            subject: subject.into(),
            metric: metric.into(),
            unit: unit.into(),
            value,
            deviation: None,
        }
    }
}

/// Whether a metric is the size of an encoded message, as it is or compressed.
pub fn is_size(metric: &str) -> bool {
    metric == "size" || metric.starts_with("size/")
}

/// Whether it is of what a codec adds to a program: `text/both`, `text-Os/both`.
pub fn is_footprint(metric: &str) -> bool {
    let Some((name, _)) = metric.split_once('/') else { return false };
    let name = name.strip_suffix("-Os").unwrap_or(name);
    ["text", "rodata", "data", "bss", "libraries", "stack", "heap-peak", "first-allocations"]
        .contains(&name)
}

/// What a phase is a part of: `encode` of `encode/write`. A checked variant such
/// as `decode/checked` is an experiment of its own.
pub fn parent_metric(metric: &str) -> Option<&str> {
    metric.split_once('/').filter(|(_, part)| *part != "checked").map(|(whole, _)| whole)
}

impl Fact {
    /// Gives it today's name, where files had another.
    fn rename(&mut self) {
        for (old, new) in [("warm-up/", "warm-after/"), ("warm-up-cut/", "not-warm-after/")] {
            if let Some(rest) = self.metric.strip_prefix(old) {
                self.metric = format!("{new}{rest}");
                return;
            }
        }
    }
}

impl Run {
    /// Reads a result file. The error names the file and says what is wrong.
    pub fn read(path: &Path) -> Result<Run> {
        Run::parse(&input::read(path, LARGEST)?, &path.display().to_string())
    }

    /// Reads the text of a result file, which the user calls so.
    ///
    /// # Errors
    /// When it is no result, or one of a newer version.
    pub fn parse(text: &[u8], shown: &str) -> Result<Run> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: serde_json::Value,
            #[serde(default)]
            version: serde_json::Value,
        }
        // Editors of Windows put a mark before the text.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let json = format!("{shown} is not JSON; give a run.json that wiregauge wrote");
        let head: Result<Head, serde_json::Error> = serde_json::from_slice(text);
        let foreign = matches!(&head, Err(error) if error.is_data());
        ensure!(
            !foreign && head.as_ref().map_or(true, |head| head.format == FORMAT),
            "{shown} is not a result of wiregauge: its \"format\" is not \"{FORMAT}\""
        );
        let version = head.context(json)?.version;
        ensure!(
            version.as_u64().is_some_and(|v| v <= u64::from(VERSION)),
            "{shown} has version {version} of the format, but this wiregauge reads up to \
             {VERSION}; update wiregauge"
        );
        let mut run: Run =
            serde_json::from_slice(text).with_context(|| format!("{shown} is damaged"))?;
        run.facts.iter_mut().for_each(Fact::rename);
        Ok(run)
    }

    /// The text of the result file.
    ///
    /// # Errors
    /// None that a run that was measured could have.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    /// Writes the result file whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        wiregauge_system::file::write_whole(path, self.text()?.as_bytes())
    }

    /// Whether time was measured, and not only instructions counted.
    pub fn is_timed(&self) -> bool {
        self.kind != RunKind::Codecs || self.settings.rounds > 0
    }

    /// The case with this id.
    pub fn case(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// The subject with this id.
    pub fn subject(&self, id: &str) -> Option<&Subject> {
        self.subjects.iter().find(|subject| subject.id == id)
    }

    /// The metrics in order of first appearance.
    pub fn metrics(&self) -> Vec<&str> {
        let mut seen = IndexMap::new();
        for measurement in &self.measurements {
            seen.insert(measurement.metric.as_str(), ());
        }
        seen.into_keys().collect()
    }

    /// The samples of a subject on a case for a metric.
    pub fn measurement(&self, case: &str, subject: &str, metric: &str) -> Option<&Measurement> {
        self.measurements
            .iter()
            .find(|m| m.case == case && m.subject == subject && m.metric == metric)
    }

    /// A single figure of a subject on a case.
    pub fn fact(&self, case: &str, subject: &str, metric: &str) -> Option<f64> {
        self.facts
            .iter()
            .find(|f| f.case == case && f.subject == subject && f.metric == metric)
            .map(|f| f.value)
    }
}
