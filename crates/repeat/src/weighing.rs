//! What programs weigh, where an experiment was about that.

use std::path::Path;

use anyhow::Result;
use wiregauge_build_tools::Progress;
use wiregauge_result::run::{Case, Fact, Measurement, Subject};

/// Weighs programs.
pub type Weigh = fn(&Weighing) -> Result<Weights>;

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
