//! `wiregauge packed info`: what is packed in files, and how.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packing::info::{read_field_info, read_info};
use wiregauge_packing::points_file;
use wiregauge_packing::text::format_infos;
use wiregauge_system::progress::byte_progress;

use super::super::trace::osi_type_arg::OsiTypeArg;
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
    #[command(flatten)]
    typed: OsiTypeArg,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let wish = self.typed.open_hints();
        let mut shown = byte_progress("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            let told = match points_file::is_field(path)? {
                true => read_field_info(path, &points_file::read(path)?)?,
                false => read_info(path, &wish, &mut shown)?,
            };
            infos.push(told);
        }
        drop(shown);
        self.format.print(&infos[..], format_infos)?;
        Ok(ExitCode::SUCCESS)
    }
}
