//! `wiregauge packed info`: what is packed in files, and how.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packing::info::{read_field_info, read_info};
use wiregauge_trace::open::OpenHints;

use super::super::trace::form::Form;
use super::super::trace::progress::news;
use super::{points, shown};

/// Show the packed fields in files: their columns, types, resolutions and bytes, and
/// the rows that are not packed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge packed info small.mcap
  wiregauge packed info scan.packed *.osi --format json")]
pub struct Arguments {
    /// What is read: .mcap, .osi, or a packed field by itself.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The type of the messages in an .osi file whose name does not tell it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let wish = OpenHints { osi_type: self.kind };
        let mut shown = news("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            let told = match points::is_field(path)? {
                true => read_field_info(path, &points::read(path)?)?,
                false => read_info(path, &wish, &mut shown)?,
            };
            infos.push(told);
        }
        drop(shown);
        shown::print_infos(&infos, self.format)?;
        Ok(ExitCode::SUCCESS)
    }
}
