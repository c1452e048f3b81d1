//! `wiregauge packed unpack`: columns become rows again.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packing::unpacker::Unpacker;

use super::super::trace::form::Form;
use super::super::trace::putting::Putting;
use super::super::trace::selecting::Selecting;
use super::reducing::refuse_text;
use super::{points, shown};

/// Unpack what pack made: reflections, detections, PointCloud2, arrays of points.
///
/// What was packed without loss comes back as the same message to the byte.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge packed unpack small.mcap drive.mcap
  wiregauge packed unpack packed_sv.osi drive_sv.osi
  wiregauge packed unpack scan.packed scan.bin")]
pub struct Arguments {
    /// What is read: .mcap, .osi, or a packed field by itself.
    input: PathBuf,
    /// What is written: .mcap or .osi; of a packed field an array of points.
    output: PathBuf,
    /// Leave out columns that OSI has no field for instead of refusing them.
    #[arg(long)]
    drop_unknown: bool,
    /// Form on standard output.
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let costs = if points::is_field(&self.input)? {
            points::unpack(&self.input, &self.output)?
        } else {
            refuse_text(&self.output)?;
            let (mut costs, origin) = (None, self.input.display().to_string());
            let outcome =
                self.putting.write_by(&self.input, &self.selecting, &self.output, |writer| {
                    let (unpacker, told) = Unpacker::new(writer, &origin, self.drop_unknown);
                    costs = Some(told);
                    Box::new(unpacker)
                })?;
            outcome.tell_of_way(&self.output);
            costs.map(|costs| costs.take()).unwrap_or_default()
        };
        shown::print_costs(&costs, self.format)?;
        Ok(ExitCode::SUCCESS)
    }
}
