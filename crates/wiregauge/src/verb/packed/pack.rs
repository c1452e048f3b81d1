//! `wiregauge packed pack`: rows become columns.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_packed::PackOptions;
use wiregauge_packing::output_container::check_container;
use wiregauge_packing::packer::Packer;
use wiregauge_packing::points_file;
use wiregauge_packing::structure::Structure;
use wiregauge_packing::text::format_costs;
use wiregauge_system::notice::print_notices;
use wiregauge_trace_edit::encoding::convert_to_protobuf;

use super::super::trace::copy_args::CopyArgs;
use super::super::trace::error_policy::ErrorPolicy;
use super::reduction_args::ReductionArgs;
use crate::list_format::ListFormat;

/// Pack reflections, detections and points. It prints the size of each column and its
/// largest error.
///
/// Without a preset or a resolution, columns keep every bit, and readers find the values
/// in place. With a resolution, columns are smaller and are decoded in blocks. No error is
/// larger than half of the resolution. OSI's messages in FlatBuffers become Protobuf with
/// packed fields.
#[derive(clap::Args)]
#[command(after_help = "\
Presets, whose other columns keep every bit:
  lidar-1mm    range to 1 mm (time of flight to 6.67 ps), signal strength to
               0.1 dB; of points x, y and z to 1 mm
  lidar-exact  every bit
  radar-1cm    range to 1 cm, strengths to 0.1 dB, angles to 0.01 degrees,
               speed to 1 cm/s (Doppler shift to 5 Hz, as much at 77 GHz)
  radar-exact  every bit

Examples:
  wiregauge packed pack drive.mcap -o small.mcap --preset lidar-1mm,radar-1cm
  wiregauge packed pack drive_sv.osi -o small_sv.osi --preset lidar-exact \\
      --resolution time_of_flight=6.67ps --resolution signal_strength=0.1dB
  wiregauge packed pack scans.mcap -o small.mcap --channel /points \\
      --resolution x=1mm --resolution y=1mm --resolution z=1mm
  wiregauge packed pack scan.bin -o scan.packed --point x:f32,y:f32,z:f32")]
pub struct Arguments {
    /// Input: .mcap, .osi, a bag, or with --point an array of points.
    input: PathBuf,
    /// Output file: .mcap or .osi. For an array of points: a packed field.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    #[command(flatten)]
    reducing: ReductionArgs,
    /// The input is an array of points with these fields: x:f32,y:f32,z:f32.
    #[arg(long, value_name = "NAME:TYPE,…")]
    point: Option<Structure>,
    /// What to do with a message that cannot be packed, such as a damaged cloud. If one is
    /// skipped, the exit status is 1.
    #[arg(long, value_enum, value_name = "WAY", default_value = "stop")]
    errors: ErrorPolicy,
    /// For messages in FlatBuffers: leave out what Protobuf's definition has no field for,
    /// and name it.
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
        let plan = self.reducing.plan();
        let costs = match &self.point {
            Some(Structure(points)) => points_file::pack(&self.input, &self.output, points, &plan)?,
            None => {
                check_container(&self.output)?;
                let pack_options = PackOptions { plan, ..PackOptions::default() };
                let (mut costs, origin) = (None, self.input.display().to_string());
                let wrap = |writer| {
                    let (packer, told) = Packer::new(writer, &origin, pack_options);
                    costs = Some(told);
                    let packer = Box::new(packer.skip_failed(self.errors == ErrorPolicy::Skip));
                    convert_to_protobuf(packer, &origin, self.lossy)
                };
                let copied = self.copying.copy_through(&self.input, &self.output, wrap)?;
                print_notices(&copied.conversion_notices(&self.output));
                costs.map(|costs| costs.take()).unwrap_or_default()
            }
        };
        self.format.print(&costs[..], format_costs)?;
        let is_whole = costs.iter().all(|channel| channel.skipped == 0);
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
