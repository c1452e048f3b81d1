//! What samples carry: generated content, a message as codecs write it, or points as they are
//! made small.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;
use tempfile::TempDir;
use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Runner, RunnerError};
use wiregauge_formats::build::Variant;
use wiregauge_gauge::runners::check::{prove, status};
use wiregauge_gauge::runners::plan::{Entrant, Judge, Load};
use wiregauge_participant::codec_process::CodecSetup;
use wiregauge_reduction::table::Table;
use wiregauge_result::run::{Case, Subject};
use wiregauge_schema::{SchemaSource, Sizes};

use crate::codec_selection::{self, UserRunner};
use crate::point_entrants::{entrant, rows, PointRowArgs};
use crate::progress::Progress;
use crate::workload::{build_folder, Workload};

/// How long a codec may take over one answer.
const PATIENCE: Duration = Duration::from_secs(60);
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
    /// [default: all codecs; of points f32, scaled, packed-reduced,
    /// packed-reduced+zstd].
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
    choice: PointRowArgs,
}

/// A message with the codecs that write it.
pub struct PayloadMessage {
    /// The message as it is named in the result.
    pub case: Case,
    /// The codecs.
    pub codecs: Vec<PayloadCodec>,
    /// How many points it has, where it is of points.
    pub points: Option<f64>,
    /// Keeps the message and its schema for the participants.
    _folder: TempDir,
}

/// A codec that has proven itself on the message, or why not.
#[derive(Clone)]
pub struct PayloadCodec {
    /// How it is named in the result.
    pub subject: Subject,
    /// The encoded message's size in bytes.
    pub size: usize,
    /// How participants start it; none where the status says why.
    pub coding: Option<CodecSetup>,
}

impl PayloadArgs {
    /// The recording.
    pub fn input(&self) -> Option<&Path> {
        let cloud = self.cloud.as_deref().filter(|cloud| *cloud != Path::new(SCENE));
        self.input.as_deref().or(cloud)
    }

    /// Builds the codecs and has each carry the message; none for generated
    /// content.
    pub fn load(&self, seed: u64, progress: &Progress) -> Result<Option<PayloadMessage>> {
        if let Some(cloud) = &self.cloud {
            return self.points(cloud, seed).map(Some);
        }
        ensure!(
            !self.choice.is_of_points(),
            "--columns, --as-reflections and --resolution need --cloud"
        );
        ensure!(
            self.choice.channel.is_empty() || self.input.is_some(),
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
        let load = median(workload.loads()?)?;
        let mut codecs = codec_selection::select_codecs(&self.codecs, &[])?;
        let only_own = self.codecs.is_empty() && !self.runner.is_empty();
        codecs.retain(|codec| !codec.is_bound && !only_own);
        let variants: Vec<Variant> = codecs.into_iter().map(Variant::from_codec).collect();
        let built =
            codec_selection::build(&workload, &variants, &self.runner, &build_folder()?, progress)?;
        PayloadMessage::from_entrants(load, built.entrants).map(Some)
    }

    /// A list of points, with those who make it small.
    fn points(&self, source: &Path, seed: u64) -> Result<PayloadMessage> {
        let rows = rows(&self.codecs, |row| DEFAULT_ROWS.contains(&row.id().as_str()))?;
        let files: Vec<PathBuf> = self.input().map(Path::to_owned).into_iter().collect();
        let (loads, _) = self.choice.cases(&files, MAX_CLOUDS, seed)?;
        if loads.len() > 1 {
            let names: Vec<&str> = loads.iter().map(|load| load.case.id.as_str()).collect();
            bail!(
                "{} has several lists of points: choose one by --channel ({})",
                source.display(),
                names.join(", ")
            );
        }
        let load = median(loads)?;
        let table = Table::from_bytes(&load.samples[0].canonical)?;
        let entrants = rows.into_iter().map(entrant).collect::<Result<_>>()?;
        Ok(PayloadMessage {
            points: Some(table.rows() as f64),
            ..PayloadMessage::from_entrants(load, entrants)?
        })
    }

    fn workload(&self, seed: u64) -> Result<Workload> {
        if let Some(input) = &self.input {
            let channel = match &self.choice.channel[..] {
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

impl PayloadMessage {
    /// A message with those of the entrants that can carry it.
    fn from_entrants(load: Load, entrants: Vec<Entrant>) -> Result<PayloadMessage> {
        let folder = tempfile::tempdir().context("no folder for the message")?;
        let message = folder.path().join("message");
        fs::write(&message, &load.samples[0].canonical)?;
        let mut codecs = Vec::new();
        for (number, Entrant { mut subject, runner, judge }) in entrants.into_iter().enumerate() {
            let (mut size, mut coding) = (0, None);
            if let Some(launch) = runner {
                match encoded(&launch, &load, &mut subject, judge.as_ref()) {
                    Ok(bytes) => {
                        let schema = folder.path().join(format!("schema{number}"));
                        fs::write(&schema, &launch.schema)?;
                        let Launch { program, arguments, .. } = launch;
                        let message = message.clone();
                        (size, coding) =
                            (bytes, Some(CodecSetup { program, arguments, schema, message }));
                    }
                    Err(trouble) => subject.status = status(trouble),
                }
            }
            codecs.push(PayloadCodec { subject, size, coding });
        }
        Ok(PayloadMessage { case: load.case, codecs, points: None, _folder: folder })
    }
}

/// Of several messages the one of median size.
fn median(loads: Vec<Load>) -> Result<Load> {
    let mut load = loads.into_iter().next().context("no message")?;
    let count = load.samples.len();
    load.samples.sort_by_key(|sample| sample.canonical.len());
    load.samples = load.samples.into_iter().skip(count / 2).take(1).collect();
    let sample = load.samples.first().context("no message")?;
    load.case.canonical_bytes = sample.canonical.len() as f64;
    load.case.messages = 1;
    if count > 1 {
        load.case.notes = vec![format!("the one of median size among {count} recorded messages")];
    }
    Ok(load)
}

/// Has a codec carry the message; the size that it writes.
fn encoded(
    launch: &Launch,
    load: &Load,
    subject: &mut Subject,
    judge: Option<&Judge>,
) -> Result<usize, RunnerError> {
    let mut runner = Runner::start(launch, Limits::default(), None, PATIENCE)?;
    subject.library.clone_from(&runner.hello.library);
    let encoded = prove(&mut runner, &load.samples, false, judge)?.encoded;
    Ok(encoded.iter().map(Vec::len).sum())
}
