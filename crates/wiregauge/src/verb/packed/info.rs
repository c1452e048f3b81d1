//! `wiregauge packed info`: what is packed in files, and how.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packing::info::{read_field_info, read_info};
use wiregauge_trace::open::OpenHints;

use super::super::trace::progress::byte_progress;
use super::{points, summary};
use crate::list_format::ListFormat;

/// Show the packed fields in files: columns, types, resolutions, bytes, and rows that are
/// not packed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge packed info small.mcap
  wiregauge packed info scan.packed *.osi --format json")]
pub struct Arguments {
    /// Input: .mcap, .osi, or a file with one packed field.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Type of the messages in an .osi file, if its name does not say it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let wish = OpenHints { osi_type: self.kind };
        let mut shown = byte_progress("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            let told = match points::is_field(path)? {
                true => read_field_info(path, &points::read(path)?)?,
                false => read_info(path, &wish, &mut shown)?,
            };
            infos.push(told);
        }
        drop(shown);
        summary::print_infos(&infos, self.format)?;
        Ok(ExitCode::SUCCESS)
    }
}
