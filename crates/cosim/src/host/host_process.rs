//! The master's side of a conversation with a host.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use wiregauge_child_process::child::{
    describe, describe_memory_limit, Child, ChildFailure, Death, Limits,
};
use wiregauge_system::text::escape_short;
use wiregauge_timing::scratch::Scratch;

use crate::host::job::{HostSummary, Job, Proof, TimedSteps, PROTOCOL};
use crate::host::position::HostPosition;

/// How long a host that gave up may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// How long FMUs and their process may take to end, where a step may take longer.
const END: Duration = Duration::from_secs(60);
/// Lines of an FMU's own words behind an error, and the most of each that is
/// shown, in characters.
const LINES: usize = 3;
const LINE: usize = 240;

/// Why a host gave no good answer.
#[derive(Debug)]
pub enum HostError {
    /// It refused, or an FMU did; the text names which.
    Refused(String),
    /// It is gone; where it was last.
    Broken(ChildFailure, Option<String>),
}

impl HostError {
    /// Whether it is none, but the user asked to stop.
    pub fn is_interruption(&self) -> bool {
        matches!(self, HostError::Broken(ChildFailure::Interrupted, _))
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::Refused(why) => f.write_str(why),
            HostError::Broken(broken, place) => {
                if let Some(place) = place {
                    write!(f, "{place}: ")?;
                }
                match broken {
                    ChildFailure::Died(death) => write!(f, "the process {}", describe_death(death)),
                    ChildFailure::Hung => write!(f, "the process {broken}; --timeout allows more"),
                    other => write!(f, "the process {other}"),
                }
            }
        }
    }
}

/// How a process ended, with the last lines that it printed.
fn describe_death(death: &Death) -> String {
    if let Some(most) = death.beyond {
        return describe_memory_limit(most);
    }
    let how = match death.status {
        Some(status) => match status.code() {
            Some(code) => format!("ended with exit code {code}"),
            None => format!("was {}", describe(status)),
        },
        None => "closed its pipes but kept running".into(),
    };
    format!("{how}{}{}", last_printed_lines(&death.stderr), advice(&death.stderr))
}

/// The last lines of what FMUs printed, to be put behind an error.
fn last_printed_lines(text: &str) -> String {
    let mut lines: Vec<String> = text
        .lines()
        .rev()
        .map(|line| escape_short(&line.trim().chars().take(LINE).collect::<String>()))
        .filter(|line| !line.is_empty())
        .take(LINES)
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    lines.reverse();
    format!("; printed last: {}", lines.join(" | "))
}

/// What to do about an error that many meet.
fn advice(text: &str) -> &'static str {
    let is_twice = text.contains("File already exists in database")
        || (text.contains("Symbol name") && text.contains("conflicts"));
    if is_twice {
        "; both FMUs contain OSI's generated code and share one libprotobuf: link both with one \
         shared OSI library of the same name (docs/cosim.md)"
    } else {
        ""
    }
}

impl std::error::Error for HostError {}

impl From<io::Error> for HostError {
    fn from(error: io::Error) -> HostError {
        HostError::Refused(format!("a host cannot be started: {error}"))
    }
}

/// How a host ended.
pub struct HostExit {
    /// Its folder, which may hold logs and is left until it is dropped, and what it said of
    /// its steps.
    pub left: Option<(Scratch, HostSummary)>,
    /// What went wrong in the last calls of its FMUs, or after them.
    pub trouble: Option<HostError>,
}

/// A running host, in a folder of its own.
pub struct HostProcess {
    /// None once it has given up.
    child: Option<Child>,
    folder: Scratch,
    place: HostPosition,
    patience: Duration,
    /// Names of the FMUs that it runs.
    names: [String; 2],
}

impl HostProcess {
    /// Starts a host and has it load a job.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn start(
        host: &(PathBuf, Vec<String>),
        job: &Job,
        patience: Duration,
    ) -> Result<HostProcess, HostError> {
        let folder = Scratch::new()?;
        HostProcess::start_in(folder, host, job, patience)
    }

    /// Starts a host in a folder that was made for it.
    ///
    /// # Errors
    /// As [`HostProcess::start`].
    pub fn start_in(
        folder: Scratch,
        host: &(PathBuf, Vec<String>),
        job: &Job,
        patience: Duration,
    ) -> Result<HostProcess, HostError> {
        let place = HostPosition::open(folder.path())?;
        let mut command = Command::new(&host.0);
        command.args(&host.1).current_dir(folder.path());
        let child = Child::spawn(command, Limits::default())?;
        let names = match job {
            Job::Fmus(chain) => {
                let model = chain.model.as_ref().map(|receiver| receiver.setup.name.clone());
                [chain.source.name.clone(), model.unwrap_or_default()]
            }
            Job::Feed(feed) => [String::new(), feed.model.setup.name.clone()],
            Job::Memcpy { .. } => ["memcpy".into(), "memcpy".into()],
        };
        let mut remote = HostProcess { child: Some(child), folder, place, patience, names };
        remote.send_request(&format!("hello {PROTOCOL}"), &[])?;
        let payload = serde_json::to_vec(job).map_err(io::Error::from)?;
        remote.send_request(&format!("load {}", payload.len()), &payload)?;
        Ok(remote)
    }

    /// So many steps that lead and so many that count, all with a message: what
    /// each took.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn run(&mut self, lead: u64, count: u64) -> Result<TimedSteps, HostError> {
        let answer = self.send_request(&format!("run {lead} {count}"), &[])?;
        match TimedSteps::parse(&String::from_utf8_lossy(&answer)) {
            Some(ran) if ran.steps.len() as u64 == lead + count || ran.end.is_some() => Ok(ran),
            _ => Err(self.protocol_error("run")),
        }
    }

    /// So many steps, whether they have a message or not, that are not timed.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn skip(&mut self, count: u64) -> Result<TimedSteps, HostError> {
        let answer = self.send_request(&format!("skip {count}"), &[])?;
        TimedSteps::parse(&String::from_utf8_lossy(&answer))
            .ok_or_else(|| self.protocol_error("skip"))
    }

    /// So many steps: what came out of source and model in each.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn prove(&mut self, count: u64) -> Result<Proof, HostError> {
        let answer = self.send_request(&format!("prove {count}"), &[])?;
        serde_json::from_slice(&answer).map_err(|_| self.protocol_error("prove"))
    }

    /// One step of an FMU that is fed, from a time on: why there are no further ones.
    ///
    /// # Errors
    /// Says why it failed.
    pub fn feed(&mut self, time: f64, size: f64) -> Result<Option<String>, HostError> {
        let answer = self.send_request(&format!("feed {time} {size}"), &[])?;
        let end = String::from_utf8_lossy(&answer).into_owned();
        Ok((!end.is_empty()).then_some(end))
    }

    /// Has it free the FMUs and ends it.
    ///
    /// # Errors
    /// Says which FMU failed and why.
    pub fn finish(self) -> Result<(), HostError> {
        self.end()?.trouble.map_or(Ok(()), Err)
    }

    /// The same where what was done before is good, however it ends.
    ///
    /// # Errors
    /// When the user asked to stop.
    pub fn end(mut self) -> Result<HostExit, HostError> {
        self.patience = self.patience.min(END);
        let account = match self.send_request("finish", &[]) {
            Err(trouble) if trouble.is_interruption() => return Err(trouble),
            Err(trouble) => return Ok(HostExit { left: None, trouble: Some(trouble) }),
            Ok(answer) => {
                serde_json::from_slice(&answer).map_err(|_| self.protocol_error("finish"))?
            }
        };
        // What it left to be done at its exit belongs to it.
        let ended = self.child.take().map(|child| child.finish(Instant::now() + self.patience));
        let broken = match ended {
            Some(Ok(death)) if !death.status.is_some_and(|status| status.success()) => {
                Some(ChildFailure::Died(death))
            }
            Some(Err(broken)) => Some(broken),
            _ => None,
        };
        let trouble = broken.map(|broken| HostError::Broken(broken, self.describe_position()));
        match trouble {
            Some(trouble) if trouble.is_interruption() => Err(trouble),
            trouble => Ok(HostExit { left: Some((self.folder, account)), trouble }),
        }
    }

    /// Where it is or was last, in words.
    fn describe_position(&self) -> Option<String> {
        self.place.describe([self.names[0].as_str(), self.names[1].as_str()])
    }

    /// Sends a request with its payload and returns the reply's.
    fn send_request(&mut self, request: &str, payload: &[u8]) -> Result<Vec<u8>, HostError> {
        let deadline = Instant::now() + self.patience;
        let Some(child) = &mut self.child else {
            return Err(HostError::Refused("the host has failed before".into()));
        };
        let (good, reply) = match exchange(child, request, payload, deadline) {
            Err(broken) => return Err(HostError::Broken(broken, self.describe_position())),
            Ok(answer) => answer,
        };
        if good {
            return Ok(reply);
        }
        // What the FMUs printed may still be on its way: all of it is there
        // when the process has ended.
        let mut words = self.child.as_ref().map_or_else(String::new, Child::stderr);
        match self.child.take().map(|child| child.finish(Instant::now() + GRACE)) {
            Some(Ok(death)) => words = death.stderr,
            Some(Err(ChildFailure::Interrupted)) => {
                return Err(HostError::Broken(ChildFailure::Interrupted, None));
            }
            _ => {}
        }
        let why = escape_short(String::from_utf8_lossy(&reply).trim());
        let advice = advice(&format!("{why}\n{words}"));
        Err(HostError::Refused(format!("{why}{}{advice}", last_printed_lines(&words))))
    }

    fn protocol_error(&mut self, request: &str) -> HostError {
        self.child = None;
        HostError::Broken(ChildFailure::Nonsense(format!("its answer to '{request}'")), None)
    }
}

fn exchange(
    child: &mut Child,
    request: &str,
    payload: &[u8],
    deadline: Instant,
) -> Result<(bool, Vec<u8>), ChildFailure> {
    let mut message = format!("{request}\n").into_bytes();
    message.extend_from_slice(payload);
    child.write_all(&message, deadline)?;
    let line = child.read_line(deadline)?;
    let answer = line.split_once(' ').and_then(|(word, size)| Some((word, size.parse().ok()?)));
    let Some((word @ ("ok" | "error"), size)) = answer else {
        let shown: String = line.chars().take(60).collect();
        child.kill();
        return Err(ChildFailure::Nonsense(format!("{shown:?} to '{request}'")));
    };
    Ok((word == "ok", child.read_exact(size, deadline)?))
}

/// The files in a folder and its folders, with their sizes.
pub fn list_files(folder: &Path) -> Vec<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        assert_eq!(last_printed_lines(" \n\n"), "");
        assert_eq!(last_printed_lines("a\n\nb\n c \nd\n"), "; printed last: b | c | d");
        assert!(last_printed_lines(&"x".repeat(1000)).len() < 300);
        assert_eq!(last_printed_lines("\x1b[2J\r"), "; printed last: \\u{1b}[2J");
    }

    #[test]
    fn the_same_file_in_one_database_is_put_into_words() {
        let said = "[libprotobuf ERROR descriptor_database.cc:642] File already exists in \
                    database: osi_version.proto";
        assert!(advice(said).contains("one shared OSI library"));
        let said = "[libprotobuf ERROR descriptor_database.cc:120] Symbol name \
                    \"osi3.SensorView\" conflicts with the existing symbol \"osi3\".";
        assert!(advice(said).contains("one shared OSI library"));
        assert_eq!(advice("a file that exists"), "");
    }
}
