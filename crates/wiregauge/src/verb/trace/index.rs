//! `wiregauge trace index`: the way to each message of an .osi file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_system::notice::print_notice;
use wiregauge_system::progress::byte_progress;
use wiregauge_system::text::format_count;
use wiregauge_trace::open::container_name;
use wiregauge_trace::osi::index::index_path;
use wiregauge_trace::osi::index_writer::write;

use super::osi_type_arg::OsiTypeArg;

/// Write an index beside .osi files, FILE.osi.index, to find messages faster.
///
/// cat, cut, convert, play and all that choose messages by time or number use it. They
/// first check whether it belongs to the file. If it does not, they say so and do not use
/// it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace index drive_sv.osi
  wiregauge trace cat drive_sv.osi --range 100000")]
pub struct Arguments {
    /// Input: .osi.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    typed: OsiTypeArg,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        for path in &self.files {
            let (kind, shown) = (container_name(path)?, path.display());
            ensure!(
                kind != "MCAP",
                "{shown} is MCAP, which has its index inside; if the index is missing, 'wiregauge \
                 trace repair' writes it"
            );
            ensure!(
                kind == "OSI",
                "{shown} is a {kind}, but only .osi files get an index file; 'wiregauge trace \
                 convert {shown} -o drive.mcap' writes a file with an index"
            );
            let messages =
                write(path, self.typed.osi_type.as_deref(), &mut byte_progress("indexing"))?;
            print_notice(&format!(
                "{} in {}",
                format_count(messages, "message"),
                index_path(path).display()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}
