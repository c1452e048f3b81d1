//! SIL Kit's registry, at which participants find each other: one for a run, started by who comes
//! first and ended with that program.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::IpAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{ensure, Context, Result};
use wiregauge_participant::daemon::{end_with_parent, Signal};

/// The program.
const PROGRAM: &str = "sil-kit-registry";

/// A registry that this program started.
pub struct Registry(Child);

impl Registry {
    /// Where the registry of the run is, and the registry itself where it was not there yet.
    ///
    /// # Errors
    /// When the program is not there or cannot listen.
    pub fn find_or_start(
        scratch: &Path,
        library: &str,
        bind: IpAddr,
    ) -> Result<(String, Option<Registry>)> {
        let told = scratch.join("registry");
        // Who holds it starts the registry; others wait until it listens.
        let held = File::create(scratch.join("registry.lock"))?;
        held.lock()?;
        if let Ok(uri) = fs::read_to_string(&told) {
            return Ok((uri, None));
        }
        let (uri, registry) = start(scratch, library, bind)?;
        fs::write(&told, &uri)?;
        Ok((uri, Some(registry)))
    }
}

fn start(scratch: &Path, library: &str, bind: IpAddr) -> Result<(String, Registry)> {
    // Its sockets would lie in the folder of temporary files, and stay there.
    let configuration = scratch.join("registry.yaml");
    fs::write(&configuration, "EnableDomainSockets: false\n")?;
    let program = program(library);
    let mut command = Command::new(&program);
    command.arg("--listen-uri").arg(format!("silkit://{bind}:0"));
    command.arg("--registry-configuration").arg(&configuration);
    command.current_dir(scratch).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    // SAFETY: it only asks the system for a signal.
    unsafe { command.pre_exec(end_with_parent(std::process::id(), Signal::Kill)) };
    let child = command.spawn().with_context(|| {
        format!("cannot start {}, which comes with SIL Kit's library", program.display())
    })?;
    let mut registry = Registry(child);
    let mut lines = BufReader::new(registry.0.stdout.take().context("no output")?);
    let mut line = String::new();
    loop {
        line.clear();
        ensure!(lines.read_line(&mut line)? > 0, "{PROGRAM} ends without a word");
        if let Some((_, uri)) = line.split_once("listening on ") {
            // It writes no more than a few lines, which a pipe holds that nobody reads.
            std::mem::forget(lines);
            return Ok((uri.trim().to_owned(), registry));
        }
    }
}

/// Beside the library, in the folder of programs beside it, or on the path.
fn program(library: &str) -> PathBuf {
    let beside = Path::new(library).parent().unwrap_or(Path::new(""));
    let places = [beside.join(PROGRAM), beside.join("bin").join(PROGRAM)];
    let installed = beside.join("../bin").join(PROGRAM);
    let found = places.into_iter().chain([installed]).find(|place| place.is_file());
    found.unwrap_or_else(|| PROGRAM.into())
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
