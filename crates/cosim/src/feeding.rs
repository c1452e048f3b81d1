//! An FMU that is given messages which no FMU makes: those of a trace.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, ensure, Context, Result};
use wiregauge_conversation::child::Broken;
use wiregauge_participant::scratch::Scratch;
use wiregauge_system::interrupt;

use crate::host::job::{Feed, Job, Taker};
use crate::host::remote::{Remote, Trouble};
use crate::master::live::{seat, START};
use crate::master::plan::Parameters;
use crate::package::coupling::the_only;
use crate::package::description::Binary;
use crate::package::Package;

/// An FMU in a process of its own, that waits for messages.
pub struct Feeding {
    package: Package,
    input: Binary,
    results: Vec<Binary>,
    remote: Remote,
    message: PathBuf,
    made: PathBuf,
    time: f64,
}

/// What came of a step.
pub struct Fed {
    /// The messages that it made, each with its variable's place in [`Feeding::results`].
    pub messages: Vec<(usize, Vec<u8>)>,
    /// Why there are no further steps.
    pub end: Option<String>,
}

impl Feeding {
    /// Starts an FMU whose input, the one with a name where there are several, takes messages
    /// of a type.
    ///
    /// # Errors
    /// Says what is wrong with it, or that it takes others.
    pub fn start(
        path: &Path,
        input: Option<&str>,
        wanted: &str,
        parameters: &Parameters,
        host: &(PathBuf, Vec<String>),
        patience: Duration,
    ) -> Result<Feeding> {
        let package = Package::open(path)?;
        let input = the_only(&package, "input", input, "--variable NAME")?;
        let (takes, encoding) = (input.mime.message(), input.mime.encoding());
        ensure!(
            input.mime.message.is_none()
                || (wanted == format!("osi3.{takes}")
                    && ["protobuf", "packed"].contains(&encoding)),
            "{}: {} takes {takes} in {encoding}, and the messages are {wanted} in protobuf",
            package.name,
            input.name
        );
        let results = package.description.binaries_of("output");
        let results: Vec<Binary> = results.into_iter().filter(|of| of.declared).cloned().collect();
        let mut names = results.iter().map(|result| result.name.clone());
        let folder = Scratch::new().context("a host cannot be started")?;
        let [message, made] = ["message", "result"].map(|name| folder.path().join(name));
        let model = Taker {
            seat: seat(&package, &Vec::new(), parameters),
            input: input.name.clone(),
            result: names.next(),
            beside: names.collect(),
        };
        let feed = Feed { model, message: message.clone(), result: made.clone(), start: START };
        let job = Job::Feed(Box::new(feed));
        let remote = Remote::start_in(folder, host, &job, patience).map_err(error)?;
        Ok(Feeding { package, input, results, remote, message, made, time: START })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.package.name
    }

    /// What it makes: its outputs that say what they carry.
    pub fn results(&self) -> &[Binary] {
        &self.results
    }

    /// The step that it proposes, in seconds.
    pub fn step_size(&self) -> Option<f64> {
        self.package.description.step
    }

    /// The time that it has come to, in seconds.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Gives it a message and steps it by so many seconds.
    ///
    /// # Errors
    /// Says where and how it failed.
    pub fn step(&mut self, message: &[u8], size: f64) -> Result<Fed> {
        fs::write(&self.message, message)
            .with_context(|| format!("{}: cannot hand a message over", self.input.name))?;
        let end = self.remote.feed(self.time, size).map_err(error)?;
        self.time += size;
        let mut messages = Vec::new();
        for at in 0..self.results.len() {
            let path = match at {
                0 => self.made.clone(),
                beside => self.made.with_extension((beside - 1).to_string()),
            };
            let made = fs::read(&path).ok().filter(|bytes| !bytes.is_empty());
            let _ = fs::remove_file(&path);
            messages.extend(made.map(|bytes| (at, bytes)));
        }
        Ok(Fed { messages, end })
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it does not end well.
    pub fn finish(self) -> Result<()> {
        self.remote.finish().map_err(error)?;
        Ok(())
    }
}

/// What went wrong with a host, as an error of the command.
pub fn error(trouble: Trouble) -> anyhow::Error {
    match trouble {
        Trouble::Broken(Broken::Interrupted, _) => interrupt::Interrupted.into(),
        other => anyhow!("{other}"),
    }
}
