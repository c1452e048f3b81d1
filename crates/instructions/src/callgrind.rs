//! A runner under callgrind.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::find_program;
use wiregauge_child_process::runner::{Launch, MALLOC};

use crate::dump;

/// Where programs are looked for by the runner: the same on every machine.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What counts.
#[derive(Clone, Debug)]
pub struct Callgrind {
    program: PathBuf,
    /// As it says it itself: `valgrind-3.19.0`.
    pub version: String,
}

impl Callgrind {
    /// The machine's.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> Result<Callgrind> {
        let missing =
            "valgrind, which counts instructions, is not installed; apt-get install valgrind";
        let program = find_program("valgrind").context(missing)?;
        let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start {}", program.display()))?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        ensure!(version.starts_with("valgrind"), "{} is no valgrind", program.display());
        Ok(Callgrind { program, version })
    }

    /// Prepares to count what this runner executes.
    ///
    /// # Errors
    /// When there is no room for what is counted.
    pub fn count(&self, launch: &Launch) -> Result<Count> {
        let folder = tempfile::Builder::new().prefix("wiregauge-instructions-").tempdir().context(
            "cannot make a folder for counts in the temporary folder; set TMPDIR to one",
        )?;
        let mut arguments = vec!["-i".to_owned(), format!("PATH={PATH}")];
        // What the user set to have his libraries found.
        if let Ok(path) = env::var("LD_LIBRARY_PATH") {
            arguments.push(format!("LD_LIBRARY_PATH={path}"));
        }
        arguments.extend(MALLOC.map(|(name, value)| format!("{name}={value}")));
        // Python's own order of its sets and dictionaries of texts.
        arguments.push("PYTHONHASHSEED=0".into());
        arguments.push(self.program.display().to_string());
        arguments.extend(
            [
                "--tool=callgrind",
                "--quiet",
                // Nobody asks it anything while it runs.
                "--vgdb=no",
                // A runner may be a script that becomes another program.
                "--trace-children=yes",
                "--dump-before=clock_gettime*",
            ]
            .map(String::from),
        );
        let counts = folder.path().join("counts.%p");
        arguments.push(format!("--callgrind-out-file={}", counts.display()));
        let program = locate(&launch.program).unwrap_or_else(|| launch.program.clone());
        arguments.push(program.display().to_string());
        arguments.extend(launch.arguments.iter().cloned());
        let launch = Launch { program: "env".into(), arguments, ..launch.clone() };
        Ok(Count { folder, launch, idle_readings: 0 })
    }
}

/// A runner whose instructions are counted.
#[derive(Debug)]
pub struct Count {
    folder: tempfile::TempDir,
    /// How it is started.
    pub launch: Launch,
    /// Readings of the clock that each request has besides.
    idle_readings: usize,
}

/// What a request took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Instructions of what was timed.
    pub timed: u64,
    /// Pairs of readings of the clock.
    pub pairs: u64,
    /// Instructions from the end of the request before to the last reading of the clock.
    pub all: u64,
}

impl Count {
    /// How often the runner reads the clock for a request in which nothing is timed, as some
    /// languages do to write and to wait. Call it after such a request.
    ///
    /// # Errors
    /// When the dumps cannot be read.
    pub fn learn_idle_readings(&mut self) -> Result<()> {
        self.idle_readings = self.dumps()?.len();
        Ok(())
    }

    /// Instructions between one reading of the clock and the next, for all pairs since the
    /// last call, and all instructions since then. The first reading begins a pair; those after
    /// the reply are left out.
    ///
    /// # Errors
    /// When the runner did not read its clock in pairs, or what was counted cannot be read.
    pub fn take(&self) -> Result<Counted> {
        let dumps = self.dumps()?;
        let mut counts = Vec::with_capacity(dumps.len());
        for path in dumps.values() {
            let text = fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            counts.push(dump::total(&text).with_context(|| format!("of {}", path.display()))?);
            let _ = fs::remove_file(path);
        }
        let readings = counts.len().saturating_sub(self.idle_readings);
        ensure!(
            readings > 0,
            "the runner does not read its clock by clock_gettime of a shared C library"
        );
        let processes: BTreeSet<u64> = dumps.keys().map(|(process, _)| *process).collect();
        ensure!(processes.len() == 1, "more than one process of the runner reads the clock");
        ensure!(
            readings.is_multiple_of(2),
            "the runner reads its clock {readings} times for a loop, and not in pairs"
        );
        let timed = counts[..readings].iter().skip(1).step_by(2).sum();
        Ok(Counted { timed, pairs: readings as u64 / 2, all: counts[..readings].iter().sum() })
    }

    /// Forgets what was counted until now; many dumps would fill the disk.
    ///
    /// # Errors
    /// When their folder cannot be read.
    pub fn skip(&self) -> Result<()> {
        for path in self.dumps()?.values() {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// What was written at readings of the clock, by process and in order: `counts.4711.3`.
    fn dumps(&self) -> Result<BTreeMap<(u64, u64), PathBuf>> {
        let folder = self.folder.path();
        let entries = fs::read_dir(folder);
        let entries = entries.with_context(|| format!("cannot read {}", folder.display()))?;
        let dump = |path: PathBuf| {
            let name = path.file_name()?.to_str()?.strip_prefix("counts.")?;
            let (process, number) = name.split_once('.')?;
            Some(((process.parse().ok()?, number.parse().ok()?), path))
        };
        Ok(entries.flatten().filter_map(|entry| dump(entry.path())).collect())
    }
}

/// Where the shell would find a program.
fn locate(program: &Path) -> Option<PathBuf> {
    match program.components().count() {
        1 => find_program(program),
        _ => program.canonicalize().ok(),
    }
}
