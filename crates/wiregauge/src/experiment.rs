//! The published experiments, a file each, for `wiregauge repeat`. Those of codecs
//! and of FMUs register themselves.

automod::dir!(pub "src/experiment");

use std::path::Path;

use anyhow::Result;
use wiregauge_build_tools::Progress;
use wiregauge_cosim::master::plan::Load;
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_osi::fmus::Model;
use wiregauge_result::run::{Case, Fact, Measurement, Reference, Run, Subject};

use crate::workload::Workload;
use wiregauge_cosim_run::fmu_entrants::Member;

/// What is repeated.
#[derive(Clone, Copy)]
pub struct Publication {
    /// Its name on the command line: `polysync`.
    pub name: &'static str,
    /// What it measures, in a line.
    pub about: &'static str,
    /// Whose it is, and what it is called.
    pub source: &'static str,
    /// When it was published.
    pub year: &'static str,
}

/// Weighs programs.
pub type Weigh = fn(&Weighing) -> Result<Weights>;

/// A published experiment of codecs, to be repeated whole by its name.
pub struct Published {
    /// What it repeats.
    pub publication: Publication,
    /// Whose experiments these are: `PolySync`.
    pub author: &'static str,
    /// The message and its cases, by a seed.
    pub workload: fn(u64) -> Result<Workload>,
    /// The published figures, if there are any.
    pub reference: Option<fn() -> Reference>,
    /// The codecs that it is about; all where none is named.
    pub codecs: &'static [&'static str],
    /// What it measures, out of what is measured without it.
    pub experiments: fn(Vec<Experiment>) -> Vec<Experiment>,
    /// What follows from the measurements, beside what is counted anyway.
    pub derived: fn(&Run) -> Vec<Fact>,
    /// What programs weigh, where it was about that: `--weight`.
    pub weight: Option<Weigh>,
    /// Messages that each cell must have processed at least.
    pub least_iterations: u64,
}

inventory::collect!(Published);

/// A published experiment of FMUs, to be repeated whole by its name.
pub struct FmuExperiment {
    /// What it repeats.
    pub publication: Publication,
    /// What it does, in a line, and after an empty line what else there is to know.
    pub explanation: &'static str,
    /// Title of the result.
    pub title: &'static str,
    /// The FMU that takes the source's messages.
    pub model: Model,
    /// What it is measured on.
    pub cases: fn() -> Vec<Load>,
    /// Who takes part.
    pub members: fn() -> Vec<Member>,
    /// The published figures.
    pub reference: fn() -> Reference,
    /// Adds what follows from the measurements.
    pub derive: fn(&mut Run),
}

inventory::collect!(FmuExperiment);

impl FmuExperiment {
    /// All of them.
    pub fn all() -> Vec<&'static FmuExperiment> {
        inventory::iter::<FmuExperiment>().collect()
    }
}

/// How programs are to be weighed.
pub struct Weighing<'a> {
    /// The build folder.
    pub build: &'a Path,
    /// Keys of the languages; all where there is none.
    pub languages: &'a [&'static str],
    /// Only these programs; all where there is none.
    pub only: &'a [String],
    /// How often each is compiled.
    pub turns: u32,
    /// What is going on.
    pub show: Progress<'a>,
}

/// What programs weigh.
pub struct Weights {
    /// What all of them do.
    pub case: Case,
    /// The programs.
    pub subjects: Vec<Subject>,
    /// How long compiling them takes.
    pub measurements: Vec<Measurement>,
    /// What is counted of them.
    pub facts: Vec<Fact>,
}

impl Published {
    /// All of them.
    pub fn all() -> Vec<&'static Published> {
        inventory::iter::<Published>().collect()
    }
}
