//! Persival's trace file player, carried out: traces are recorded, and played to the sensor.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::{default_build_folder, Progress};
use wiregauge_cosim::master::plan::{Entrant, HostWork, Pair, Parameters};
use wiregauge_cosim::recording::Recording;
use wiregauge_cosim_run::fmu_entrants::{build_fmus, encodings, memcpy, Member};
use wiregauge_cosim_run::measurement::CosimWorkload;
use wiregauge_cosim_run::recorder::Recorder;
use wiregauge_osi::fmus::{Encoding, Fmu, Model};
use wiregauge_result::run::{Fact, Run, Status, Subject};
use wiregauge_system::interrupt;

use crate::experiment::traces::{
    case, play_mode_name, play_modes, recorded_encoding, reference, source, FILE, STEP,
};

/// How the experiment is repeated.
pub struct TracePlayer {
    /// Names of encodings; `all` for all.
    pub encodings: Vec<String>,
    /// Messages of each trace.
    pub messages: u64,
    /// The folder that traces are kept in; they are removed in the end where there is none.
    pub keep: Option<PathBuf>,
    /// Whether FlatBuffers verifies before it reads.
    pub verify: bool,
    /// Whether the FMUs take new buffers and objects in each step.
    pub fresh: bool,
    /// How long a step may take.
    pub patience: Duration,
}

/// Traces that were recorded, to be played.
pub struct RecordedTraces {
    /// What is measured.
    pub workload: CosimWorkload,
    /// Where the traces lie: they are gone when this is.
    pub folder: TraceFolder,
}

/// What there is of an encoding: its source, player and sensor.
type Built = [Result<PathBuf>; 3];

impl TracePlayer {
    /// Builds the FMUs and records the traces.
    ///
    /// # Errors
    /// An encoding that there is not, a folder that cannot be made, or an interruption.
    pub fn record(&self, progress: Progress) -> Result<RecordedTraces> {
        let encodings = encodings(&self.encodings)?;
        let built = build(&encodings, progress)?;
        let folder = self.folder()?;
        let files = self.record_all(&encodings, &built, folder.path(), progress)?;
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
        Ok(RecordedTraces { workload, folder })
    }

    /// Where traces lie: they are removed in the end unless they are to be kept.
    fn folder(&self) -> Result<TraceFolder> {
        match &self.keep {
            Some(folder) => {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
                Ok(TraceFolder::Kept(std::path::absolute(folder)?))
            }
            None => {
                let build = default_build_folder()?;
                fs::create_dir_all(&build)?;
                let folder = tempfile::Builder::new().prefix("traces-").tempdir_in(build)?;
                Ok(TraceFolder::Temporary(folder))
            }
        }
    }

    /// Records what each encoding's source makes. The paths, by the encoding that was
    /// recorded, or why there is none.
    fn record_all(
        &self,
        encodings: &[Encoding],
        built: &[Built],
        folder: &Path,
        progress: Progress,
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
                Ok(fmu) => match self.record_one(fmu, &path, progress) {
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

    fn record_one(&self, fmu: &Path, path: &Path, progress: Progress) -> Result<bool> {
        let pair = Pair {
            source: fmu.to_owned(),
            source_parameters: source(),
            step: Some(STEP),
            ..Pair::default()
        };
        let recorder = Recorder::new(path, &[], self.patience);
        // An interruption ends it anyway.
        let show = |what: &str, done, total| drop(progress(what, done, total));
        recorder.record(&Recording::from_source(&pair, &[])?, self.messages, show)
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
        let mut subject = Subject::new(id, format!("{}, {way}", encoding.title), "C++");
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

/// Where traces lie.
pub enum TraceFolder {
    /// In the user's folder.
    Kept(PathBuf),
    /// In one that is removed with this.
    Temporary(tempfile::TempDir),
}

impl TraceFolder {
    fn path(&self) -> &Path {
        match self {
            TraceFolder::Kept(path) => path,
            TraceFolder::Temporary(folder) => folder.path(),
        }
    }
}

/// Builds source, player and sensor of each encoding.
fn build(encodings: &[Encoding], progress: Progress) -> Result<Vec<Built>> {
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
