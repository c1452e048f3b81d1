//! `wiregauge repeat traces`: the report's trace file player.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{ensure, Context, Result};
use wiregauge_cosim::master::plan::{Entrant, HostWork, Pair, Parameters};
use wiregauge_cosim::recording::Recording;
use wiregauge_osi::fmus::{Encoding, Fmu, Model};
use wiregauge_result::run::{Fact, Run, Status};
use wiregauge_system::interrupt;

use crate::experiment::traces::{
    case, play_mode_name, play_modes, recorded_encoding, reference, source, FILE, MESSAGES, STEP,
};
use crate::experiment::Publication;
use crate::fmu_entrants::{build_fmus, encodings, memcpy, subject, Member};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::verb::cosim::measurement::{CosimWorkload, MeasurementArgs};
use crate::workload::build_folder;

/// What it repeats.
pub const PUBLICATION: Publication = Publication {
    name: "traces",
    about: "Persival's trace file player, the last row of its table 1",
    source: "Persival: ASAM OSI Flatbuffers Performance Report",
    year: "2022",
};

/// Repeat Persival's trace file player.
///
/// It records a trace of 6 s in every encoding, with 668,052 reflections and 10 objects
/// in each message. Then it plays the trace to the sensor: raw, as it is in the file, and
/// parsed. This is the last row of table 1 of the ASAM OSI Flatbuffers Performance Report.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge repeat traces --quick
  wiregauge repeat traces --codecs protobuf,flatbuffers-tables
      only the report's row
  wiregauge repeat traces --keep traces
      keep the traces there, 1 GB each")]
pub struct Arguments {
    /// Measure only these encodings of messages.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "all")]
    codecs: Vec<String>,
    /// Messages of each trace. Fewer take less room and time.
    #[arg(long, value_name = "N", default_value_t = MESSAGES, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    messages: u64,
    /// Keep the traces in this folder.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Verify FlatBuffers before they are read.
    #[arg(long)]
    verify: bool,
    /// Use new buffers and objects in each step.
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    measuring: MeasurementArgs,
}

/// What there is of an encoding: its source, player and sensor.
type Built = [Result<PathBuf>; 3];

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let destination = self.measuring.open(&[])?;
        let progress = Progress::new();
        let encodings = encodings(&self.codecs)?;
        let built = build(&encodings, &progress)?;
        let folder = self.folder()?;
        let place = folder.path();
        let files = self.record(&encodings, &built, place)?;
        let mut entrants = Vec::new();
        for (encoding, [_, player, sensor]) in encodings.iter().zip(&built) {
            let file = &files[recorded_encoding(encoding)];
            for &parsed in play_modes(encoding) {
                entrants.push(self.entrant(encoding, parsed, [player, sensor], file));
            }
        }
        let mut ids = entrants.iter().map(|entrant| &entrant.subject.id);
        let like = ids.find(|id| id.starts_with("packed")).cloned();
        entrants.push(memcpy(like));
        let sizes: BTreeMap<String, u64> = entrants.iter().filter_map(size_of_trace).collect();
        let workload = CosimWorkload {
            title: "Persival's trace file player: SensorView from a trace to the sensor".into(),
            cases: vec![case(self.messages)],
            entrants,
            fresh: self.fresh,
            reference: Some(reference(self.messages)),
            derive: Box::new(move |run| add_sizes(run, &sizes)),
        };
        self.measuring.carry_out(workload, destination, progress)
    }

    /// Where traces lie: they are removed in the end unless they are to be kept.
    fn folder(&self) -> Result<Folder> {
        match &self.keep {
            Some(folder) => {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                Ok(Folder::Kept(std::path::absolute(folder)?))
            }
            None => {
                let build = build_folder()?;
                fs::create_dir_all(&build)?;
                Ok(Folder::Temporary(tempfile::Builder::new().prefix("traces-").tempdir_in(build)?))
            }
        }
    }

    /// Records what each encoding's source makes. The paths, by the encoding that was
    /// recorded, or why there is none.
    fn record(
        &self,
        encodings: &[Encoding],
        built: &[Built],
        folder: &Path,
    ) -> Result<BTreeMap<&'static str, Result<PathBuf, String>>> {
        let mut files = BTreeMap::new();
        for (encoding, [source_fmu, ..]) in encodings.iter().zip(built) {
            let name = recorded_encoding(encoding);
            if files.contains_key(name) {
                continue;
            }
            let path = folder.join(format!("{name}.bin"));
            let outcome = match source_fmu {
                Err(error) => Err(format!("{error:#}")),
                Ok(fmu) => match self.record_one(fmu, &path) {
                    Err(error) => {
                        interrupt::check()?;
                        Err(format!("{error:#}"))
                    }
                    Ok(true) => Ok(path),
                    Ok(false) => Err("its messages differ from their declaration".into()),
                },
            };
            files.insert(name, outcome);
        }
        Ok(files)
    }

    fn record_one(&self, fmu: &Path, path: &Path) -> Result<bool> {
        let pair = Pair {
            source: fmu.to_owned(),
            source_parameters: source(),
            step: Some(STEP),
            ..Pair::default()
        };
        let recorder = Recorder::new(path, &[], self.measuring.patience());
        recorder.record(&Recording::from_source(&pair, &[])?, self.messages)
    }

    fn entrant(
        &self,
        encoding: &Encoding,
        parsed: bool,
        [player, sensor]: [&Result<PathBuf>; 2],
        file: &Result<PathBuf, String>,
    ) -> Entrant {
        let way = play_mode_name(parsed);
        let id = format!("{}-{way}", encoding.name);
        let mut subject = subject(id, format!("{}, {way}", encoding.title), "C++");
        subject.options.push("built for release".into());
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let switch = |on: bool, name: &str| on.then(|| set(name, "true"));
        let fresh: Parameters = switch(self.fresh, "fresh").into_iter().collect();
        let pair = || -> Result<Pair, String> {
            let path =
                |fmu: &Result<PathBuf>| fmu.as_ref().cloned().map_err(|error| format!("{error:#}"));
            let trace = file.as_ref().map_err(String::clone)?;
            let played = [
                set("trace", &trace.display().to_string()),
                set("pace", "step"),
                set("at_end", "loop"),
            ];
            let played = played.into_iter().chain(switch(parsed, "parse"));
            Ok(Pair {
                source: path(player)?,
                source_parameters: played.chain(fresh.clone()).collect(),
                model: path(sensor)?,
                model_parameters: switch(self.verify, "verify").into_iter().chain(fresh).collect(),
                step: Some(STEP),
                ..Pair::default()
            })
        };
        let work = match pair() {
            Ok(pair) => Some(HostWork::Fmus(Box::new(pair))),
            Err(why) => {
                subject.status = Status::Failed(why);
                None
            }
        };
        Entrant { subject, work, only: Vec::new() }
    }
}

enum Folder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Folder::Kept(path) => path,
            Folder::Temporary(folder) => folder.path(),
        }
    }
}

/// Builds source, player and sensor of each encoding.
fn build(encodings: &[Encoding], progress: &Progress) -> Result<Vec<Built>> {
    let models = [Model::Source, Model::Player, Model::Sensor];
    let fmus = |encoding: &Encoding| {
        let Member { build, fmi, .. } = Member::new(*encoding);
        models.map(|model| Fmu { model, encoding: *encoding, fmi, build })
    };
    let wanted: Vec<Fmu> = encodings.iter().flat_map(fmus).collect();
    let mut built = build_fmus(&wanted, progress)?.into_iter();
    let mut all = Vec::new();
    while let (Some(source), Some(player), Some(sensor)) =
        (built.next(), built.next(), built.next())
    {
        all.push([source, player, sensor]);
    }
    ensure!(all.len() == encodings.len(), "some FMUs were not built");
    Ok(all)
}

/// The bytes of the trace that an entrant plays.
fn size_of_trace(entrant: &Entrant) -> Option<(String, u64)> {
    let Some(HostWork::Fmus(pair)) = &entrant.work else { return None };
    let (_, path) = pair.source_parameters.iter().find(|(name, _)| name == "trace")?;
    Some((entrant.subject.id.clone(), fs::metadata(path).ok()?.len()))
}

/// Adds what the traces take.
fn add_sizes(run: &mut Run, sizes: &BTreeMap<String, u64>) {
    let Some(case) = run.cases.first().map(|case| case.id.clone()) else { return };
    for (subject, bytes) in sizes {
        if run.measurements.iter().any(|measurement| measurement.subject == *subject) {
            run.facts.push(Fact {
                case: case.clone(),
                subject: subject.clone(),
                metric: FILE.into(),
                unit: "B".into(),
                value: *bytes as f64,
            });
        }
    }
}
