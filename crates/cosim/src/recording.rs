//! A co-simulation that is recorded: its messages are taken, and nothing is timed.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use wiregauge_participant::scratch::Scratch;
use wiregauge_system::interrupt;

use crate::feeding::error;
use crate::host::job::{Chain, Job, Taker};
use crate::host::remote::Remote;
use crate::master::live::{seat, START};
use crate::master::plan::{Pair, Parameters};
use crate::master::ready::{proposing, step_size};
use crate::package::coupling::{couple, the_only};
use crate::package::description::Binary;
use crate::package::{names_apart, Package};

/// A source, and perhaps a model that takes from it, unpacked and coupled.
pub struct Recording {
    source: Package,
    output: Binary,
    model: Option<Taking>,
    /// The step size in seconds.
    pub step: f64,
    parameters: [Parameters; 2],
}

struct Taking {
    package: Package,
    input: Binary,
    result: Option<Binary>,
}

/// A variable whose messages are recorded.
pub struct Recorded<'r> {
    /// What its FMU is called.
    pub fmu: &'r str,
    /// The variable.
    pub binary: &'r Binary,
}

/// A message as it came out of a step.
pub struct Message<'m> {
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
pub enum End {
    /// All steps were done.
    All,
    /// An FMU ended the simulation, and how.
    Early(String),
    /// An FMU failed or the user wanted no more; what came before is good.
    Broken(anyhow::Error),
}

impl Recording {
    /// Unpacks the source of a pair alone, of which `wanted.output` may name the variable.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn of_source(pair: &Pair) -> Result<Recording> {
        let source = Package::open(&pair.source)?;
        let output = the_only(&source, "output", pair.wanted.output.as_deref(), "--variable NAME")?;
        let (step, _) = step_size(pair.step, &[(&source, "as the source proposes")])?;
        let parameters = [pair.source_parameters.clone(), Vec::new()];
        Ok(Recording { source, output, model: None, step, parameters })
    }

    /// Unpacks and couples both FMUs of a pair.
    ///
    /// # Errors
    /// Names the FMU, and what is wrong with it.
    pub fn of_both(pair: &Pair) -> Result<Recording> {
        let names = names_apart(&pair.source, &pair.model);
        let source = Package::open_as(&pair.source, &names[0])?;
        let package = Package::open_as(&pair.model, &names[1])?;
        let coupling = couple(&source, &package, &pair.wanted)?;
        let (step, _) = step_size(pair.step, &proposing(&source, &package))?;
        let model = Some(Taking { package, input: coupling.input, result: coupling.result });
        let parameters = [pair.source_parameters.clone(), pair.model_parameters.clone()];
        Ok(Recording { source, output: coupling.output, model, step, parameters })
    }

    /// What is recorded: the source's output, and where there is one the model's.
    pub fn variables(&self) -> Vec<Recorded<'_>> {
        let result = self.model.as_ref().and_then(|model| {
            model.result.as_ref().map(|binary| Recorded { fmu: &model.package.name, binary })
        });
        let output = Recorded { fmu: &self.source.name, binary: &self.output };
        [Some(output), result].into_iter().flatten().collect()
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
        take: &mut dyn FnMut(Message) -> Result<()>,
    ) -> Result<End> {
        let folder = Scratch::new().context("a host cannot be started")?;
        let dump = folder.path().join("messages");
        fs::create_dir(&dump).with_context(|| format!("cannot make {}", dump.display()))?;
        let [of_source, of_model] = &self.parameters;
        let job = Job::Fmus(Box::new(Chain {
            source: seat(&self.source, &Vec::new(), of_source),
            output: self.output.name.clone(),
            model: self.model.as_ref().map(|model| Taker {
                seat: seat(&model.package, &Vec::new(), of_model),
                input: model.input.name.clone(),
                result: model.result.as_ref().map(|result| result.name.clone()),
            }),
            start: START,
            step: self.step,
            logging: true,
            dump: Some(dump.clone()),
        }));
        let mut remote = match Remote::start_in(folder, host, &job, patience) {
            Err(trouble) => return Ok(End::Broken(error(trouble))),
            Ok(remote) => remote,
        };
        for step in 0..steps {
            let end = match remote.skip(1) {
                Err(trouble) => return Ok(End::Broken(error(trouble))),
                Ok(ran) => ran.end,
            };
            for (variable, who) in ["source", "model"].iter().enumerate() {
                let path = dump.join(format!("{who}-{step:06}.bin"));
                let bytes = match fs::read(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    read => read.with_context(|| format!("cannot read {}", path.display()))?,
                };
                fs::remove_file(&path)?;
                let time = START + (step + 1) as f64 * self.step;
                take(Message { variable, step, time, bytes: &bytes })?;
            }
            if let Some(end) = end {
                return Ok(End::Early(end));
            }
            if let Err(interrupted) = interrupt::check() {
                return Ok(End::Broken(interrupted.into()));
            }
        }
        Ok(match remote.finish() {
            Err(trouble) => End::Broken(error(trouble)),
            Ok(_) => End::All,
        })
    }
}
