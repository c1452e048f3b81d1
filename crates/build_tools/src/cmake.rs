//! CMake and ninja.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{self, Path};
use std::process::{Command, Stdio};

use anyhow::{ensure, Context, Result};

use crate::callers_flags::remove_callers_flags;
use crate::tool::{first_error, run, without_colours, CompilerProcess};

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
    let mut cmake = Command::new("cmake");
    cmake.args(["-G", "Ninja"]).args(settings).arg("-S").arg(folder).arg("-B").arg(build);
    run(remove_callers_flags(&mut cmake), "cmake")?;
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
/// writes, of which one begins with `FAILED` for each step that did. Tells each step: how many
/// are done of how many, and what it is.
///
/// # Errors
/// When `tell` has one, and when ninja fails for another reason than a step.
pub fn ninja(
    build: &Path,
    targets: &[String],
    tell: &mut dyn FnMut(usize, usize, &str) -> Result<()>,
) -> Result<Vec<String>> {
    let mut ninja = Command::new("ninja");
    ninja.args(["-k", "0", "-C"]).arg(build).args(targets).env("NINJA_STATUS", "[%f/%t] ");
    let ninja = without_colours(&mut ninja)
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
    let status = child.0.wait()?;
    ensure!(
        status.success() || log.iter().any(|line| line.starts_with(FAILED)),
        "ninja fails: {}",
        first_error(&[&log.join("\n")])
    );
    Ok(log)
}

/// How a line of ninja's begins that tells which step failed.
const FAILED: &str = "FAILED";

/// Why what was to be built is not there, by ninja's log: for a step of its own that failed, or
/// another that it may need.
pub fn explain_missing(log: &[String], is_own: impl Fn(&str) -> bool) -> String {
    explain_failure(log, is_own)
        .or_else(|| explain_failure(log, |_| true))
        .unwrap_or_else(|| "ninja does not say why".into())
}

/// Why the first of the wanted steps failed, by ninja's log; none where none of them did.
pub fn explain_failure(log: &[String], is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let at = log.iter().position(|line| line.starts_with(FAILED) && is_wanted(line))?;
    Some(failure_reason(log, at))
}

/// Why the step failed of which ninja's log says so in this line: what stands behind its
/// command, which may speak of errors, too.
fn failure_reason(log: &[String], failed: usize) -> String {
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
    fn what_is_not_there_is_explained_by_its_own_step_or_another() {
        let log = [
            "FAILED: a.o ",
            "g++ a.cpp",
            "a: error: no",
            "FAILED: b.o ",
            "g++ b.cpp",
            "b: error: no",
        ];
        let log = log.map(str::to_owned);
        let explain = |own: &str| explain_missing(&log, |line| line.contains(own));
        assert_eq!(explain("b.o"), "b: error: no");
        assert_eq!(explain("c.o"), "a: error: no");
        assert_eq!(explain_missing(&log[1..3], |_| true), "ninja does not say why");
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
