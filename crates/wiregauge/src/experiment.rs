//! The published experiments, a file each. Those of codecs register themselves.

automod::dir!(pub "src/experiment");

use anyhow::Result;
use wiregauge_gauge::runners::plan::Experiment;
use wiregauge_result::run::Reference;

use crate::workload::Workload;

/// A published experiment of codecs, to be repeated whole by its name.
pub struct Published {
    /// Its name on the command line: `polysync`.
    pub name: &'static str,
    /// What it repeats, in a line.
    pub about: &'static str,
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
    /// Messages that each cell must have processed at least.
    pub least_iterations: u64,
    /// Why some options would do nothing.
    pub fixed: &'static str,
    /// Those options.
    pub useless: &'static [&'static str],
}

inventory::collect!(Published);

impl Published {
    /// All of them, by name.
    pub fn all() -> Vec<&'static Published> {
        let mut all: Vec<_> = inventory::iter::<Published>().collect();
        all.sort_by_key(|published| published.name);
        all
    }

    /// The one of this name.
    pub fn find(name: &str) -> Option<&'static Published> {
        inventory::iter::<Published>().find(|published| published.name == name)
    }
}
