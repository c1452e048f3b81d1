//! A runner under callgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::find_program;
use wiregauge_child_process::runner::Launch;

use crate::count::{Count, Form};

/// The caches that are simulated, the same on every machine: 32 KiB each for code and data, and
/// 8 MiB behind them.
pub const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

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

    /// Valgrind itself, which has other tools.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Prepares to count what this runner executes; as a simulation, also what becomes of its
    /// branches and of its reads and writes in the caches of [`CACHES`].
    ///
    /// # Errors
    /// When there is no room for what is counted.
    pub fn count(&self, launch: &Launch, is_simulation: bool) -> Result<Count> {
        Count::prepare(launch, Form::Dumps, |counts| {
            let mut words = vec![self.program.display().to_string()];
            let options = [
                "--tool=callgrind",
                "--quiet",
                // Nobody asks it anything while it runs.
                "--vgdb=no",
                // A runner may be a script that becomes another program.
                "--trace-children=yes",
                "--dump-before=clock_gettime*",
            ];
            words.extend(options.map(String::from));
            if is_simulation {
                words.extend(["--branch-sim=yes", "--cache-sim=yes"].map(String::from));
                words.extend(CACHES.map(String::from));
            }
            words.push(format!("--callgrind-out-file={counts}.%p"));
            words
        })
    }
}
