//! `wiregauge trace convert`: another container, the same messages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};

use super::encoding::Encoded;
use super::pointing::Pointing;
use super::putting::Putting;
use super::selecting::Selecting;

/// Write a trace file as another container, by the end of its name: .mcap, .osi,
/// .txth or .jsonl; or in another encoding; or the points in it, as clouds or as a
/// table.
///
/// From .osi to .mcap and back, and between compressions, messages are the same
/// to the byte. Definitions and versions that an .osi file does not carry come from
/// OSI's official package, from the messages themselves and from you; what nobody
/// tells is left out and named. The text forms are for people and scripts: there
/// messages are parsed.
///
/// Between Protobuf and FlatBuffers fields belong together by their names. Tables keep
/// what is there and what is absent, so that messages come back the same; what has
/// no place in the other definition is an error, unless --lossy leaves it out.
///
/// Packed fields are read as what is in them; `wiregauge packed pack` makes them.
///
/// Points are reflections and detections of OSI, plain or in the packed field, and
/// PointCloud2 of ROS. --points writes them as foxglove.PointCloud, which Foxglove and
/// Lichtblick show; .arrow and .parquet are tables, a row a point.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace convert drive_sv.osi -o drive.mcap --protobuf-version 3.21.12
  wiregauge trace convert drive.mcap -o drive_sd.osi --channel 'Lidar.OSMPSensorDataOut'
  wiregauge trace convert drive.mcap -o small.mcap --compression zstd --chunk 4MiB
  wiregauge trace convert drive_sv.osi.xz -o drive_sv.txth      for your eyes
  wiregauge trace convert drive_sv.osi -o flat.mcap --encoding flatbuffers-tables
  wiregauge trace convert flat.mcap -o drive_sv.osi --encoding protobuf
  wiregauge trace convert packed.mcap -o drive_sv.osi --encoding protobuf
      from packed fields, as from FlatBuffers
  wiregauge trace convert ground_truth.osi -o whole_gt.osi --type gt --repeat-static
      what esmini tells in the first message, in each of them
  wiregauge trace convert drive.mcap -o clouds.mcap --points
  wiregauge trace convert drive_sd.osi -o drive.parquet
      a row a point, for DuckDB, Polars or Spark")]
pub struct Arguments {
    /// What is read: .mcap, .osi, .bag, .db3, each also packed by gzip, xz or zstd, the folder
    /// of a ROS 2 bag, or .txth.
    input: PathBuf,
    /// What is written.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    #[command(flatten)]
    selecting: Selecting,
    #[command(flatten)]
    pointing: Pointing,
    #[command(flatten)]
    encoded: Encoded,
    #[command(flatten)]
    putting: Putting,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let Arguments { input, output, selecting, pointing, encoded, putting } = &self;
        if pointing.is_wanted(output) {
            ensure!(
                !encoded.is_wanted(),
                "points are the same in any encoding of their messages; leave out --encoding"
            );
            let all = pointing.write(input, selecting, output, putting)?;
            return Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        if let Some(way) = encoded.of(output)? {
            let origin = input.display().to_string();
            let outcome =
                putting.write_by(input, selecting, output, |writer| way.before(writer, &origin))?;
            outcome.tell_read(output);
            return Ok(ExitCode::SUCCESS);
        }
        self.putting.copy(&[self.input], &self.selecting, &self.output)?;
        Ok(ExitCode::SUCCESS)
    }
}
