//! `wiregauge packed info`: what is packed in files, and how.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packing::info::{info, info_of_field};
use wiregauge_trace::open::Wish;

use super::super::trace::progress::news;
use super::{points, shown};
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
        let wish = Wish { osi_type: self.kind };
        let mut shown = news("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            let told = match points::is_field(path)? {
                true => info_of_field(path, &points::read(path)?)?,
                false => info(path, &wish, &mut shown)?,
            };
            infos.push(told);
        }
        drop(shown);
        shown::print_infos(&infos, self.format)?;
        Ok(ExitCode::SUCCESS)
    }
}
