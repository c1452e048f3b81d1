//! What samples carry: generated content, a message as codecs write it, or points as they are
//! made small.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Result};
use indexmap::IndexMap;
use wiregauge_build_tools::default_build_folder;
use wiregauge_bus::series::payload::{median_message, PayloadMessage};
use wiregauge_codec_run::codec_selection::{self, UserRunner};
use wiregauge_codec_run::point_entrants::{entrant, rows, PointChoice};
use wiregauge_codec_run::workload::Workload;
use wiregauge_formats::build::Variant;
use wiregauge_reduction::table::Table;
use wiregauge_schema::{SchemaSource, Sizes};
use wiregauge_system::progress::ProgressDisplay;

/// Recorded messages to choose one from.
const MAX_RECORDED: usize = 64;
/// Messages of points to choose one from.
const MAX_CLOUDS: usize = 16;
/// What stands for the scene instead of a file.
const SCENE: &str = "scene";
/// The rows of points where none is named: each in the way of its own, cheap to dear.
const DEFAULT_ROWS: [&str; 4] = ["f32", "scaled", "packed-reduced", "packed-reduced+zstd"];

/// The message that samples carry, if not generated content.
#[derive(clap::Args)]
pub struct PayloadArgs {
    /// Send this message as codecs write it, with generated values: lidar, rsb, or a
    /// definition of yours.
    #[arg(long, value_name = "NAME|FILE[:TYPE]", conflicts_with = "input")]
    message: Option<String>,
    /// Length of a list, string or bytes field in generated values.
    #[arg(long, value_name = "PATH=N", value_parser = codec_selection::length, requires = "message")]
    length: Vec<(String, usize)>,
    /// Send the message of median size from this recording (.mcap).
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Measure only these codecs; with --cloud, rows of `wiregauge codecs points`
    /// [default: all codecs; of points f32, scaled, packed-reduced, packed-reduced+zstd].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    codecs: Vec<String>,
    /// Also measure a runner of yours (docs/runner-protocol.md).
    #[arg(long, value_name = "NAME=COMMAND")]
    runner: Vec<UserRunner>,
    /// Send points as `wiregauge codecs points` writes them: the message of median size
    /// from a recording, from a file of points, or from the scene.
    #[arg(long, value_name = "FILE|scene", conflicts_with_all = ["message", "input", "runner"])]
    cloud: Option<PathBuf>,
    #[command(flatten)]
    choice: PointChoice,
}

impl PayloadArgs {
    /// The recording.
    pub fn input(&self) -> Option<&Path> {
        let cloud = self.cloud.as_deref().filter(|cloud| *cloud != Path::new(SCENE));
        self.input.as_deref().or(cloud)
    }

    /// Builds the codecs and has each carry the message; none for generated content.
    pub fn load(&self, seed: u64, progress: &ProgressDisplay) -> Result<Option<PayloadMessage>> {
        if let Some(cloud) = &self.cloud {
            return self.points(cloud, seed).map(Some);
        }
        ensure!(
            !self.choice.is_of_points(),
            "--columns, --as-reflections and --resolution need --cloud"
        );
        ensure!(
            self.choice.channels.is_empty() || self.input.is_some(),
            "--channel needs a recording: --input FILE or --cloud FILE"
        );
        if self.message.is_none() && self.input.is_none() {
            ensure!(
                self.codecs.is_empty() && self.runner.is_empty(),
                "--codecs and --runner need a message: --message lidar, or --input FILE"
            );
            return Ok(None);
        }
        let workload = self.workload(seed)?;
        let load = median_message(workload.loads()?)?;
        let mut codecs = codec_selection::select_codecs(&self.codecs, &[])?;
        let only_own = self.codecs.is_empty() && !self.runner.is_empty();
        codecs.retain(|codec| !codec.is_bound && !only_own);
        let variants: Vec<Variant> = codecs.into_iter().map(Variant::from_codec).collect();
        let built = codec_selection::build(
            &workload,
            &variants,
            &self.runner,
            None,
            &default_build_folder()?,
            &progress.stoppable(),
        )?;
        PayloadMessage::from_entrants(load, built.entrants).map(Some)
    }

    /// A list of points, with those who make it small.
    fn points(&self, source: &Path, seed: u64) -> Result<PayloadMessage> {
        let rows = rows(&self.codecs, |row| DEFAULT_ROWS.contains(&row.id().as_str()))?;
        let files: Vec<PathBuf> = self.input().map(Path::to_owned).into_iter().collect();
        let list = self.choice.single_case(source, &files, MAX_CLOUDS, seed)?;
        let load = median_message(vec![list])?;
        let table = Table::from_bytes(&load.samples[0].canonical)?;
        let entrants = rows.into_iter().map(entrant).collect::<Result<_>>()?;
        let mut message = PayloadMessage::from_entrants(load, entrants)?;
        message.points = Some(table.rows() as f64);
        Ok(message)
    }

    fn workload(&self, seed: u64) -> Result<Workload> {
        if let Some(input) = &self.input {
            let channel = match &self.choice.channels[..] {
                [] => None,
                [channel] => Some(channel.as_str()),
                _ => bail!("all samples carry the same message; choose one --channel"),
            };
            return Workload::recording(input, channel, MAX_RECORDED, false, &[]);
        }
        let overrides: IndexMap<String, usize> = self.length.iter().cloned().collect();
        let sizes = Sizes { overrides, ..Sizes::default() };
        let message = SchemaSource::parse(self.message.as_deref().unwrap_or_default());
        Workload::message(&message, &sizes, None, 1, seed)
    }
}
