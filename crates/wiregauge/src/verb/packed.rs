//! `wiregauge packed`: reflections, detections and points as columns in one field.

mod info;
mod pack;
mod reduction_args;
mod unpack;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// Pack scans as columns in one binary field, and unpack them.
///
/// Scans are OSI traces, ROS PointCloud2 and arrays of points. Columns keep every bit, or
/// a resolution. OSI's reflections and detections (.osi, .mcap) become the packed field of
/// docs/packed.md; readers that do not know it skip it. PointCloud2 in MCAP becomes
/// point_cloud_transport's CompressedPointCloud2 with the format wgpacked. All else stays
/// the same to the byte.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge packed pack drive_sv.osi -o packed_sv.osi
      lossless, columns that are read in place
  wiregauge packed pack drive.mcap -o small.mcap --preset lidar-1mm \\
      --whole-bytes
      to a millimetre and 0.1 dB, and zstd of the chunks behind it
  wiregauge packed pack drive.mcap -o exact.mcap --preset lidar-exact
  wiregauge packed unpack exact.mcap -o back.mcap
      the same messages to the byte
  wiregauge packed info small.mcap --format json
  wiregauge packed pack 000000.bin -o scan.packed --preset lidar-1mm \\
      --point x:f32,y:f32,z:f32,intensity:f32
      points of a data set; unpack scan.packed 000000.bin gives them back")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Pack(pack::Arguments),
    Unpack(unpack::Arguments),
    Info(info::Arguments),
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Pack(arguments) => arguments.run(),
            Verb::Unpack(arguments) => arguments.run(),
            Verb::Info(arguments) => arguments.run(),
        }
    }
}
