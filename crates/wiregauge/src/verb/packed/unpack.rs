//! `wiregauge packed unpack`: columns become rows again.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packing::output_container::check_container;
use wiregauge_packing::points_file;
use wiregauge_packing::text::format_costs;
use wiregauge_packing::unpacker::Unpacker;
use wiregauge_system::notice::print_notices;
use wiregauge_trace::write::Writer;

use super::super::trace::copy_args::CopyArgs;
use crate::list_format::ListFormat;

/// Unpack what pack made: reflections, detections, PointCloud2, arrays of points.
///
/// If it was packed without loss, the messages are the same to the byte.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge packed unpack small.mcap -o drive.mcap
  wiregauge packed unpack packed_sv.osi -o drive_sv.osi
  wiregauge packed unpack scan.packed -o scan.bin")]
pub struct Arguments {
    /// Input: .mcap, .osi, or a file with one packed field.
    input: PathBuf,
    /// Output file: .mcap or .osi. For a packed field: an array of points.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Leave out columns that OSI has no field for. Without it they are an error.
    #[arg(long)]
    lossy: bool,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
    #[command(flatten)]
    copying: CopyArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let costs = if points_file::is_field(&self.input)? {
            points_file::unpack(&self.input, &self.output)?
        } else {
            check_container(&self.output)?;
            let (mut costs, origin) = (None, self.input.display().to_string());
            let wrap = |writer| -> Box<dyn Writer> {
                let (unpacker, told) = Unpacker::new(writer, &origin, self.lossy);
                costs = Some(told);
                Box::new(unpacker)
            };
            let copied = self.copying.copy_through(&self.input, &self.output, wrap)?;
            print_notices(&copied.conversion_notices(&self.output));
            costs.map(|costs| costs.take()).unwrap_or_default()
        };
        self.format.print(&costs[..], format_costs)?;
        Ok(ExitCode::SUCCESS)
    }
}
