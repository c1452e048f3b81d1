//! A co-simulation that is recorded: its messages are taken, and nothing is timed.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use wiregauge_system::interrupt;
use wiregauge_timing::scratch::Scratch;

use crate::fmu_feed::to_error;
use crate::host::host_process::HostProcess;
use crate::host::job::{Chain, Job, ReceiverSetup};
use crate::master::coupled_pair::{start_time, step_size, step_size_sources};
use crate::master::live::fmu_setup;
use crate::master::plan::{Pair, Parameters};
use crate::package::coupling::{couple, outputs};
use crate::package::description::Binary;
use crate::package::{distinct_names, Package};

/// A source, and perhaps a model that takes from it, unpacked and coupled.
pub struct Recording {
    source: Package,
    /// What is coupled, or the first that is recorded.
    output: Binary,
    model: Option<RecordedModel>,
    /// What is recorded.
    tracks: Vec<OutputTrack>,
    /// Simulation time of the start, in seconds.
    start: f64,
    /// The step size in seconds.
    pub step: f64,
    /// Whether messages may say another version of OSI than is declared.
    pub any_version: bool,
    parameters: [Parameters; 2],
}

struct RecordedModel {
    package: Package,
    input: Binary,
    result: Option<Binary>,
}

/// An output that is recorded.
struct OutputTrack {
    of_model: bool,
    binary: Binary,
}

/// A variable whose messages are recorded.
pub struct RecordedVariable<'r> {
    /// What its FMU is called.
    pub fmu: &'r str,
    /// The variable.
    pub binary: &'r Binary,
}

impl RecordedVariable<'_> {
    /// What its channel is called.
    pub fn topic(&self) -> String {
        topic(self.fmu, &self.binary.name)
    }
}

/// What the channel of an FMU's variable is called, as OSI recommends it: the variable with
/// its FMU before it.
pub fn topic(fmu: &str, variable: &str) -> String {
    format!("{}.{variable}", fmu.strip_suffix(".fmu").unwrap_or(fmu))
}

/// A message as it came out of a step.
pub struct RecordedMessage<'m> {
    /// Its variable's place in [`Recording::variables`].
    pub variable: usize,
    /// The step, from 0.
    pub step: u64,
    /// Simulation time at the end of the step, in seconds.
    pub time: f64,
    /// Its bytes.
    pub bytes: &'m [u8],
}

/// How a recording came to its end.
#[derive(Default)]
pub struct RecordingEnd {
    /// Which FMU ended the simulation before all steps were done, and how.
    pub early: Option<String>,
    /// Why an FMU failed, or that the user wanted no more; what came before is good.
    pub failed: Option<anyhow::Error>,
}

impl RecordingEnd {
    fn failed(error: anyhow::Error) -> RecordingEnd {
        RecordingEnd { failed: Some(error), ..RecordingEnd::default() }
    }
}

impl Recording {
    /// Unpacks the source of a pair alone, to record the outputs of these names, and without
    /// names all that say what they carry.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn from_source(pair: &Pair, names: &[String]) -> Result<Recording> {
        let source = Package::open(&pair.source)?;
        let own = topic(&source.name, "");
        let plain = |name: &String| name.strip_prefix(&own).unwrap_or(name).to_owned();
        let binaries = outputs(&source, &names.iter().map(plain).collect::<Vec<_>>())?;
        let output = binaries.first().context("an FMU without outputs is refused")?.clone();
        let track = |binary| OutputTrack { of_model: false, binary };
        let tracks = binaries.into_iter().map(track).collect();
        let (step, _) = step_size(pair.step, &[(&source, "as the source proposes")])?;
        let parameters = [pair.source_parameters.clone(), Vec::new()];
        let start = start_time(&[&source]);
        let any_version = pair.wanted.any_version;
        Ok(Recording { source, output, model: None, tracks, start, step, any_version, parameters })
    }

    /// Unpacks and couples both FMUs of a pair, to record the outputs of these names, as they
    /// are or as [`topic`] tells them, and without names all that say what they carry.
    ///
    /// # Errors
    /// Names the FMU, and what is wrong with it.
    pub fn from_pair(pair: &Pair, names: &[String]) -> Result<Recording> {
        let called = distinct_names(&pair.source, &pair.model);
        let source = Package::open_as(&pair.source, &called[0])?;
        let package = Package::open_as(&pair.model, &called[1])?;
        let coupling = couple(&source, &package, &pair.wanted)?;
        let (step, _) = step_size(pair.step, &step_size_sources(&source, &package))?;
        let start = start_time(&[&source, &package]);
        let coupled = [Some(&coupling.output), coupling.result.as_ref()];
        let mut tracks = Vec::new();
        for (of_model, package) in [(false, &source), (true, &package)] {
            for binary in package.description.binaries_of("output") {
                let topic = topic(&package.name, &binary.name);
                let is_wanted = match names {
                    [] => binary.declared || coupled[usize::from(of_model)] == Some(binary),
                    names => names.iter().any(|name| *name == binary.name || *name == topic),
                };
                if is_wanted {
                    tracks.push(OutputTrack { of_model, binary: binary.clone() });
                }
            }
        }
        let model = Some(RecordedModel { package, input: coupling.input, result: coupling.result });
        let parameters = [pair.source_parameters.clone(), pair.model_parameters.clone()];
        let output = coupling.output;
        let any_version = pair.wanted.any_version;
        let recording =
            Recording { source, output, model, tracks, start, step, any_version, parameters };
        for name in names {
            let there = recording.variables();
            ensure!(
                there.iter().any(|of| of.binary.name == *name || of.topic() == *name),
                "there is no output {name} to record; choose from {}",
                recording.all_topics().join(", ")
            );
        }
        Ok(recording)
    }

    /// The topics of all outputs, of source and model.
    fn all_topics(&self) -> Vec<String> {
        let packages = [Some(&self.source), self.model.as_ref().map(|model| &model.package)];
        let of = |package: &Package| -> Vec<String> {
            let all = package.description.binaries_of("output");
            all.iter().map(|binary| topic(&package.name, &binary.name)).collect()
        };
        packages.into_iter().flatten().flat_map(of).collect()
    }

    /// How long the source proposes to simulate, in seconds, if it does.
    pub fn proposed_duration(&self) -> Option<f64> {
        let duration = self.source.description.stop? - self.start;
        (duration > 0.0).then_some(duration)
    }

    /// What is recorded.
    pub fn variables(&self) -> Vec<RecordedVariable<'_>> {
        let mut all = Vec::new();
        for OutputTrack { of_model, binary } in &self.tracks {
            let fmu = match &self.model {
                Some(model) if *of_model => &model.package.name,
                _ => &self.source.name,
            };
            all.push(RecordedVariable { fmu, binary });
        }
        all
    }

    /// Steps the FMUs in a process of their own, at most so many times, and hands each
    /// message on.
    ///
    /// # Errors
    /// When a message is not taken, or no process can be started.
    pub fn run(
        &self,
        host: &(PathBuf, Vec<String>),
        patience: Duration,
        steps: u64,
        take: &mut dyn FnMut(RecordedMessage) -> Result<()>,
    ) -> Result<RecordingEnd> {
        let folder = Scratch::new().context("a host cannot be started")?;
        let dump = folder.path().join("messages");
        fs::create_dir(&dump).with_context(|| format!("cannot make {}", dump.display()))?;
        let [of_source, of_model] = &self.parameters;
        let result = self.model.as_ref().and_then(|model| model.result.as_ref());
        // Where each track's messages are, and those that are not coupled.
        let (mut files, mut other_outputs) = (Vec::new(), [Vec::new(), Vec::new()]);
        for OutputTrack { of_model, binary } in &self.tracks {
            let who = ["source", "model"][usize::from(*of_model)];
            let coupled = if *of_model { result } else { Some(&self.output) };
            files.push(match coupled == Some(binary) {
                true => who.to_owned(),
                false => {
                    let other_outputs = &mut other_outputs[usize::from(*of_model)];
                    other_outputs.push(binary.name.clone());
                    format!("{who}-{}", other_outputs.len() - 1)
                }
            });
        }
        let [source_others, model_others] = other_outputs;
        let job = Job::Fmus(Box::new(Chain {
            source: fmu_setup(&self.source, &Vec::new(), of_source),
            output: self.output.name.clone(),
            other_outputs: source_others,
            model: self.model.as_ref().map(|model| ReceiverSetup {
                setup: fmu_setup(&model.package, &Vec::new(), of_model),
                input: model.input.name.clone(),
                result: model.result.as_ref().map(|result| result.name.clone()),
                other_outputs: model_others.clone(),
            }),
            start: self.start,
            step: self.step,
            any_version: self.any_version,
            logging: true,
            dump: Some(dump.clone()),
        }));
        let mut remote = match HostProcess::start_in(folder, host, &job, patience) {
            Err(trouble) => return Ok(RecordingEnd::failed(to_error(trouble))),
            Ok(remote) => remote,
        };
        let mut ended = RecordingEnd::default();
        for step in 0..steps {
            let end = match remote.skip(1) {
                Err(trouble) => return Ok(RecordingEnd::failed(to_error(trouble))),
                Ok(ran) => ran.end,
            };
            let path = |file: &str| dump.join(format!("{file}-{step:06}.bin"));
            for (variable, file) in files.iter().enumerate() {
                let path = path(file);
                let bytes = match fs::read(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    read => read.with_context(|| format!("cannot read {}", path.display()))?,
                };
                fs::remove_file(&path)?;
                let time = self.start + (step + 1) as f64 * self.step;
                take(RecordedMessage { variable, step, time, bytes: &bytes })?;
            }
            // What is coupled is there, wanted or not.
            for who in ["source", "model"] {
                let _ = fs::remove_file(path(who));
            }
            if end.is_some() {
                ended.early = end;
                break;
            }
            if let Err(interrupted) = interrupt::check() {
                return Ok(RecordingEnd::failed(interrupted.into()));
            }
        }
        // Who ended the simulation may fail there as well.
        ended.failed = remote.finish().map_err(to_error).err();
        Ok(ended)
    }
}
