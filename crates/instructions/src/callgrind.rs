//! A runner under callgrind.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{ensure, Context, Result};
use wiregauge_build_tools::find_program;
use wiregauge_child_process::runner::Launch;

use crate::count::{count_folder, Count, Form};
use crate::environment::fixed_environment;

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
        let folder = count_folder()?;
        let mut arguments = fixed_environment();
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
        Ok(Count::new(folder, launch, Form::Dumps))
    }
}

/// Where the shell would find a program.
fn locate(program: &Path) -> Option<PathBuf> {
    match program.components().count() {
        1 => find_program(program),
        _ => program.canonicalize().ok(),
    }
}
