//! What a series needs to know of the program that measures it.

use indexmap::IndexMap;
use wiregauge_system::progress::ProgressDisplay;

/// What the program gives to a series.
pub struct SeriesContext<'a> {
    /// Versions of the tools that programs are built with, by their names. It is asked
    /// once, after the build.
    pub tool_versions: &'a dyn Fn() -> IndexMap<String, String>,
    /// Shows what goes on, and how much of how much is done.
    pub show: &'a dyn Fn(&str, usize, usize),
}

impl SeriesContext<'_> {
    /// Calls what measures with a context that shows progress meanwhile.
    pub fn with_progress<T>(
        tool_versions: &dyn Fn() -> IndexMap<String, String>,
        measure: impl FnOnce(&SeriesContext) -> T,
    ) -> T {
        let progress = ProgressDisplay::new();
        measure(&SeriesContext {
            tool_versions,
            show: &|what, done, total| progress.show(what, done, total),
        })
    }
}
