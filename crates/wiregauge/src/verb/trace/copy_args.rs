//! What is copied of trace files, and how it is written: the arguments for that.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_system::progress::byte_progress;
use wiregauge_trace::message_sorter::SortOptions;
use wiregauge_trace::write::Writer;
use wiregauge_trace_edit::copy_job::{CopyInput, CopyOptions};
use wiregauge_trace_edit::copy_summary::CopySummary;
use wiregauge_trace_edit::message_filter::MessageFilter;

use super::output_args::OutputArgs;
use super::selection_args::SelectionArgs;

/// Which messages are copied, and how files are read and written.
#[derive(clap::Args)]
pub struct CopyArgs {
    #[command(flatten)]
    selecting: SelectionArgs,
    #[command(flatten)]
    putting: OutputArgs,
}

impl CopyArgs {
    /// The messages that are asked for.
    pub fn filter(&self) -> MessageFilter {
        self.selecting.filter()
    }

    /// How files are read and written.
    pub fn options(&self) -> CopyOptions {
        self.putting.options()
    }

    /// Copies what is selected of some files into one, and shows progress. Messages of a file
    /// are sorted where that is wanted.
    pub fn copy(
        &self,
        files: &[PathBuf],
        output: &Path,
        sorting: Option<SortOptions>,
    ) -> Result<CopySummary> {
        let filter = self.filter();
        let input = CopyInput { sorting, ..CopyInput::new(files, &filter) };
        self.options().copy(&input, output, &mut byte_progress("copying"))
    }

    /// Copies what is selected of a file through a writer, and shows progress.
    pub fn copy_through(
        &self,
        input: &PathBuf,
        output: &Path,
        wrap: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>,
    ) -> Result<CopySummary> {
        let filter = self.filter();
        let input = CopyInput::new(std::slice::from_ref(input), &filter);
        self.options().copy_through(&input, output, &mut byte_progress("copying"), wrap)
    }
}
