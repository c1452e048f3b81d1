//! `wiregauge codecs points`: how small columns of points become, what that takes, and what
//! is left of them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use wiregauge_build_tools::default_build_folder;
use wiregauge_codec_run::effort::Effort;
use wiregauge_codec_run::point_entrants::{rows, PointChoice};
use wiregauge_codec_run::point_measurement::{measure_points, PointTask};
use wiregauge_reduction::row::{describe_rows, ReductionRow};
use wiregauge_reduction::runner;
use wiregauge_result::run_builder::RunBuilder;
use wiregauge_result::run_kind::RunKind;
use wiregauge_system::output::print;
use wiregauge_system::progress::ProgressDisplay;
use wiregauge_system::quantity::parse_timeout;

use crate::exit_status::write_measured;
use crate::max_memory::MaxMemoryArgs;
use crate::result_args::ResultArgs;

/// Measure how small points become, how long that takes, and how exact they stay: in the
/// packed field and in other formats.
///
/// All rows get the same columns at the same resolutions: range to 1 mm and strength to
/// 0.1 dB, unless you say otherwise. Each row is checked against the input before it is
/// timed. Without a file it measures a scene of 131,072 lidar reflections.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge codecs points --quick
      a scene, in a minute
  wiregauge codecs points drive.mcap --channel /ouster/points
      a recording: PointCloud2, or OSI's reflections and detections
  wiregauge codecs points drive.mcap --as-reflections
      clouds as time of flight and signal strength
  wiregauge codecs points 000000.bin scan.pcd.bin cloud.pcd --exact
      files of KITTI, nuScenes and PCL; rows without loss, too
  wiregauge codecs points scan.bin --columns x,y,z --resolution x=5mm
  wiregauge codecs points --codecs packed-reduced,pcodec,scaled+zstd
  wiregauge codecs points --list
      the rows, their libraries and options")]
pub struct Arguments {
    /// Recordings (.mcap, .osi) and files of points: .bin of KITTI, .pcd.bin of nuScenes,
    /// .pcd.
    files: Vec<PathBuf>,
    /// How many messages of each list take turns, at most.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    messages: u32,
    #[command(flatten)]
    choice: PointChoice,
    /// Measure only these rows, and the bound.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    codecs: Vec<String>,
    /// Also measure rows that keep every bit.
    #[arg(long)]
    exact: bool,
    /// List the rows with their options.
    #[arg(long, exclusive = true)]
    list: bool,

    /// Finish in about a minute.
    #[arg(long, conflicts_with = "duration")]
    quick: bool,
    /// How long to measure in all: 10min, or 300 (seconds) [default: 5min].
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    duration: Option<Duration>,
    #[command(flatten)]
    memory: MaxMemoryArgs,
    /// In how many processes each row is measured.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    processes: Option<u32>,
    /// Seed of the scene and of the order of turns.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    delivery: ResultArgs,
    /// Carry out a row on behalf of another process.
    #[arg(long, hide = true, exclusive = true)]
    serve: Option<String>,
}

impl Arguments {
    /// Whether this process is to serve another one.
    pub fn serves(&self) -> bool {
        self.serve.is_some()
    }

    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        self.memory.apply();
        if let Some(id) = &self.serve {
            let row = ReductionRow::find(id).with_context(|| format!("unknown row {id}"))?;
            runner::run(row, &default_build_folder()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.list {
            print(&describe_rows())?;
            return Ok(ExitCode::SUCCESS);
        }
        let rows = rows(&self.codecs, |row| self.exact || !row.entry.exact)?;
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        let outlet = self.delivery.open(&inputs)?;
        let builder = RunBuilder::begin(RunKind::Points);
        let task = PointTask {
            files: self.files,
            messages: self.messages as usize,
            choice: self.choice,
            rows,
            effort: Effort {
                is_quick: self.quick,
                duration: self.duration,
                processes: self.processes,
                seed: self.seed,
            },
        };
        let run = measure_points(&task, builder, &ProgressDisplay::new().into_callback())?;
        write_measured(run, outlet)
    }
}
