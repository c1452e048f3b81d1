//! `wiregauge trace convert`: another container, the same messages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use wiregauge_system::notice::print_notices;
use wiregauge_system::progress::byte_progress;
use wiregauge_trace_edit::copy_job::CopyInput;
use wiregauge_trace_edit::table_job::TableJob;

use super::encoding_args::EncodingArgs;
use super::output_args::OutputArgs;
use super::points_args::PointsArgs;
use super::selection_args::SelectionArgs;
use super::table_args::TableArgs;

/// Convert a trace file to another container, another encoding, or points.
///
/// The end of the output's name says the container: .mcap, .osi, .txth or .jsonl. From
/// .osi to .mcap and back, messages stay the same to the byte. Definitions and versions
/// that an .osi file lacks come from OSI's official package, from the messages and from
/// you. What is not known is left out and named. .txth and .jsonl are text: there messages
/// are parsed.
///
/// --encoding converts between Protobuf and FlatBuffers. Fields match by their names.
/// Tables keep what is absent, so that messages come back the same. What has no place in
/// the other definition is an error, unless --lossy leaves it out. Packed fields become
/// the rows that they hold; `wiregauge packed pack` makes them.
///
/// --points writes reflections, detections and point clouds as foxglove.PointCloud, for
/// Foxglove and Lichtblick. .arrow and .parquet are tables with a row for each point, or
/// with --fields and --rows of the fields of any messages.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace convert drive_sv.osi -o drive.mcap --protobuf-version 3.21.12
  wiregauge trace convert drive.mcap -o a_sd.osi --channel 'Lidar.OSMP*'
  wiregauge trace convert drive.mcap -o small.mcap --chunk 4MiB
  wiregauge trace convert drive_sv.osi.xz -o drive_sv.txth      for your eyes
  wiregauge trace convert a_sv.osi -o flat.mcap --encoding flatbuffers-tables
  wiregauge trace convert flat.mcap -o a_sv.osi --encoding protobuf
  wiregauge trace convert packed.mcap -o a_sv.osi --encoding protobuf
      from packed fields
  wiregauge trace convert part_gt.osi -o whole_gt.osi --repeat-static
      repeats in each message what esmini says in the first one only
  wiregauge trace convert drive.mcap -o clouds.mcap --points
  wiregauge trace convert drive_sd.osi -o drive.parquet
      a row for each point, for DuckDB, Polars or Spark
  wiregauge trace convert drive_gt.osi -o objects.parquet \\
      --rows moving_object --fields id,base.position")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; the folder of a
    /// ROS 2 bag; or .txth.
    input: PathBuf,
    /// Output file.
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    #[command(flatten)]
    selecting: SelectionArgs,
    #[command(flatten)]
    pointing: PointsArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    encoded: EncodingArgs,
    #[command(flatten)]
    putting: OutputArgs,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let Arguments { input, output, selecting, pointing, table, encoded, putting } = &self;
        let (filter, options) = (selecting.filter(), putting.options());
        let mut news = byte_progress("copying");
        if let Some(selection) = table.selection(pointing.skips_failed()) {
            let job = TableJob { input, filter: &filter, options: &options, selection };
            let notices = job.write(output, &mut news);
            drop(news);
            print_notices(&notices?);
            return Ok(ExitCode::SUCCESS);
        }
        if pointing.is_wanted(output) {
            ensure!(
                !encoded.is_wanted(),
                "points are the same in any encoding of their messages; leave out --encoding"
            );
            let mut notices = Vec::new();
            let points = pointing.job(input, &filter, &options);
            let skipped = points.write(output, &mut news, &mut notices);
            drop(news);
            print_notices(&notices);
            return Ok(if skipped? == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        let (files, origin) = ([input.clone()], input.display().to_string());
        let input = CopyInput::new(&files, &filter);
        let notices = match encoded.conversion_to(output)? {
            Some(conversion) => {
                let wrap = |writer| conversion.wrap_writer(writer, &origin);
                options.copy_through(&input, output, &mut news, wrap)?.read_notices(output)
            }
            None => options.copy(&input, output, &mut news)?.notices(output),
        };
        drop(news);
        print_notices(&notices);
        Ok(ExitCode::SUCCESS)
    }
}
