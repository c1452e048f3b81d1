//! `wiregauge trace info`: what is in trace files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_system::file::Target;
use wiregauge_system::progress::byte_progress;
use wiregauge_trace::info::read_info;
use wiregauge_trace::info::text::format_info;
use wiregauge_trace_edit::info_page::render_info;

use super::osi_type_arg::OsiTypeArg;
use crate::list_format::ListFormat;

/// Show what is in trace files: channels, types, versions, times, rates, sizes.
///
/// It uses the summary of an MCAP file and the index of a bag; --all reads all messages. An
/// .osi file has neither, so it skips from message to message by their lengths.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace info drive.mcap
  wiregauge trace info --all drive.mcap
      also rates, gaps and sizes, for which it reads all messages
  wiregauge trace info --all drive.mcap --page drive.html
      the same as a page, with the sizes of messages as a picture
  wiregauge trace info *.osi --format json")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; or the folder of
    /// a ROS 2 bag.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read every message, also of MCAP and bags.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    typed: OsiTypeArg,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
    /// Also write a page, with the sizes of messages as a picture.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let wish = self.typed.open_hints();
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        let wanted = self.page.as_ref().map(|page| Target::open(page, &inputs)).transpose()?;
        let mut shown = byte_progress("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            infos.push(read_info(path, &wish, self.all, &mut shown)?);
        }
        drop(shown);
        if let Some(target) = wanted {
            target.write(render_info(&infos).as_bytes())?;
        }
        self.format.print(&infos[..], |infos| {
            infos.iter().map(format_info).collect::<Vec<_>>().join("\n")
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
