//! The master's side of a conversation with a host.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wiregauge_gauge::process::{Broken, Child, Limits};

use crate::job::{Job, Product, Step, PROTOCOL};
use crate::place::Place;

/// Why a host gave no good answer.
#[derive(Debug)]
pub enum Trouble {
    /// It refused, or an FMU did; the text names which.
    Refused(String),
    /// It is gone; where it was last.
    Broken(Broken, Option<String>),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Refused(why) => f.write_str(why),
            Trouble::Broken(broken, Some(place)) => write!(f, "{place}: the process {broken}"),
            Trouble::Broken(broken, None) => write!(f, "the process {broken}"),
        }
    }
}

impl std::error::Error for Trouble {}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Refused(format!("a host cannot be started: {error}"))
    }
}

/// A running host, in a folder of its own.
pub struct Remote {
    child: Child,
    folder: TempDir,
    place: Place,
    patience: Duration,
    /// Names of the FMUs that it runs.
    names: [String; 2],
}

impl Remote {
    /// Starts a host and has it load a job.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn start(
        host: &(PathBuf, Vec<String>),
        job: &Job,
        patience: Duration,
    ) -> Result<Remote, Trouble> {
        let folder = tempfile::Builder::new().prefix("wiregauge-host-").tempdir()?;
        Remote::start_in(folder, host, job, patience)
    }

    /// Starts a host in a folder that was made for it.
    ///
    /// # Errors
    /// As [`Remote::start`].
    pub fn start_in(
        folder: TempDir,
        host: &(PathBuf, Vec<String>),
        job: &Job,
        patience: Duration,
    ) -> Result<Remote, Trouble> {
        let place = Place::open(folder.path())?;
        let mut command = Command::new(&host.0);
        command.args(&host.1).current_dir(folder.path());
        let child = Child::spawn(command, Limits::default())?;
        let names = match job {
            Job::Fmus(chain) => [&chain.source, &chain.model].map(|seat| seat.name.clone()),
            Job::Memcpy { .. } => ["memcpy".into(), "memcpy".into()],
        };
        let mut remote = Remote { child, folder, place, patience, names };
        remote.ask(&format!("hello {PROTOCOL}"), &[])?;
        let payload = serde_json::to_vec(job).map_err(io::Error::from)?;
        remote.ask(&format!("load {}", payload.len()), &payload)?;
        Ok(remote)
    }

    /// So many steps: the index of the first, and what each took.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn run(&mut self, count: u64) -> Result<(u64, Vec<Step>), Trouble> {
        let answer = self.ask(&format!("run {count}"), &[])?;
        let text = String::from_utf8_lossy(&answer);
        let mut lines = text.lines();
        let first = lines.next().and_then(|line| line.parse().ok());
        let steps: Option<Vec<Step>> = lines.map(Step::parse).collect();
        match (first, steps) {
            (Some(first), Some(steps)) if steps.len() as u64 == count => Ok((first, steps)),
            _ => Err(self.nonsense("run")),
        }
    }

    /// So many steps: what came out of source and model in each.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn prove(&mut self, count: u64) -> Result<Vec<[Product; 2]>, Trouble> {
        let answer = self.ask(&format!("prove {count}"), &[])?;
        serde_json::from_slice(&answer).map_err(|_| self.nonsense("prove"))
    }

    /// Has it free the FMUs and ends it; its folder, which may hold logs, is
    /// left until it is dropped.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn finish(mut self) -> Result<TempDir, Trouble> {
        self.ask("finish", &[])?;
        // How it ends after that is of no concern: all is said and freed.
        match self.child.finish(Instant::now() + self.patience) {
            Err(Broken::Interrupted) => Err(Trouble::Broken(Broken::Interrupted, None)),
            _ => Ok(self.folder),
        }
    }

    /// Its working folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sends a request with its payload and returns the reply's.
    fn ask(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>, Trouble> {
        let deadline = Instant::now() + self.patience;
        let outcome = self.exchange(request, payload, deadline);
        let (good, reply) = outcome.map_err(|broken| {
            let names = [self.names[0].as_str(), self.names[1].as_str()];
            Trouble::Broken(broken, self.place.describe(names))
        })?;
        if good {
            return Ok(reply);
        }
        Err(Trouble::Refused(String::from_utf8_lossy(&reply).trim().to_owned()))
    }

    fn exchange(
        &mut self,
        request: &str,
        payload: &[u8],
        deadline: Instant,
    ) -> Result<(bool, Vec<u8>), Broken> {
        let mut message = format!("{request}\n").into_bytes();
        message.extend_from_slice(payload);
        self.child.write_all(&message, deadline)?;
        let line = self.child.read_line(deadline)?;
        let answer = line.split_once(' ').and_then(|(word, size)| Some((word, size.parse().ok()?)));
        let Some((word @ ("ok" | "error"), size)) = answer else {
            let shown: String = line.chars().take(60).collect();
            self.child.kill();
            return Err(Broken::Nonsense(format!("{shown:?} to '{request}'")));
        };
        Ok((word == "ok", self.child.read_exact(size, deadline)?))
    }

    fn nonsense(&mut self, request: &str) -> Trouble {
        self.child.kill();
        Trouble::Broken(Broken::Nonsense(format!("its answer to '{request}'")), None)
    }
}

/// The files in a folder and its folders, with their sizes.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
