//! CMake and ninja.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{self, Path};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::tool::{first_error, run, CompilerProcess};

/// A path as CMake reads it as one word.
pub fn quote(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

/// The setting of a linker's flags, by which libraries are found that others load.
pub fn linker_flags(flags: &str) -> String {
    format!("-DCMAKE_EXE_LINKER_FLAGS={} -Wl,--disable-new-dtags", flags.trim())
}

/// Configures a CMake project in `folder` to be built in `build`.
pub fn configure(folder: &Path, build: &Path, settings: &[String]) -> Result<()> {
    if was_moved(build) {
        fs::remove_dir_all(build).with_context(|| format!("cannot remove {}", build.display()))?;
    }
    run(
        Command::new("cmake")
            .args(["-G", "Ninja"])
            .args(settings)
            .arg("-S")
            .arg(folder)
            .arg("-B")
            .arg(build)
            // The caller's flags are not the project's.
            .env_remove("CFLAGS")
            .env_remove("CXXFLAGS"),
        "cmake",
    )?;
    Ok(())
}

/// Whether what is in a build folder was configured at another place, as when the
/// checkout was renamed: CMake refuses it.
fn was_moved(build: &Path) -> bool {
    let Ok(cache) = fs::read_to_string(build.join("CMakeCache.txt")) else { return false };
    let place = cache.lines().find_map(|line| line.strip_prefix("CMAKE_CACHEFILE_DIR:INTERNAL="));
    let here = path::absolute(build).unwrap_or_else(|_| build.to_owned());
    place.is_some_and(|place| Path::new(place) != here)
}

/// Builds what it can of these targets, or of all; returns the lines that ninja
/// writes. Tells each step: how many are done of how many, and what it is.
pub fn ninja(
    build: &Path,
    targets: &[String],
    tell: &mut dyn FnMut(usize, usize, &str) -> Result<()>,
) -> Result<Vec<String>> {
    let ninja = Command::new("ninja")
        .args(["-k", "0", "-C"])
        .arg(build)
        .args(targets)
        .env("NINJA_STATUS", "[%f/%t] ")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .context("cannot start ninja; apt-get install ninja-build")?;
    let mut child = CompilerProcess(ninja);
    let mut log = Vec::new();
    for line in BufReader::new(child.0.stdout.take().context("ninja's stdout is piped")?).lines() {
        let line = line?;
        if let Some((done, total, what)) = step(&line) {
            tell(done, total, what)?;
        }
        log.push(line);
    }
    child.0.wait()?;
    Ok(log)
}

/// Why the step failed of which ninja's log says so in this line: what stands behind its
/// command, which may speak of errors, too.
pub fn failure_reason(log: &[String], failed: usize) -> String {
    first_error(&[&log[(failed + 2).min(log.len())..].join("\n")])
}

/// `[3/17] what` in parts.
fn step(line: &str) -> Option<(usize, usize, &str)> {
    let (done, rest) = line.strip_prefix('[')?.split_once('/')?;
    let (total, what) = rest.split_once(']')?;
    Some((done.parse().ok()?, total.parse().ok()?, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_step_is_not_its_command() {
        let log =
            ["[1/2] a", "FAILED: a.o ", "g++ -Werror a.cpp", "a.cpp:1:1: error: no", "[2/2] b"];
        let log = log.map(str::to_owned);
        assert_eq!(failure_reason(&log, 1), "a.cpp:1:1: error: no");
        assert_eq!(failure_reason(&log[..2], 1), "it printed no reason");
    }

    #[test]
    fn a_project_that_was_moved_is_configured_anew() {
        let folder = tempfile::tempdir().unwrap();
        let [project, build] = ["project", "build"].map(|name| folder.path().join(name));
        fs::create_dir(&project).unwrap();
        let text = "cmake_minimum_required(VERSION 3.20)\nproject(nothing LANGUAGES NONE)\n";
        fs::write(project.join("CMakeLists.txt"), text).unwrap();
        configure(&project, &build, &[]).unwrap();
        fs::write(build.join("kept"), "").unwrap();
        configure(&project, &build, &[]).unwrap();
        assert!(build.join("kept").exists(), "what was not moved stays");
        let moved = folder.path().join("moved");
        fs::rename(&build, &moved).unwrap();
        configure(&project, &moved, &[]).unwrap();
        assert!(!moved.join("kept").exists());
    }
}
