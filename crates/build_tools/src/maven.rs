//! Generators that come from Maven Central: fetched once and kept in the build
//! folder, for all messages and without a network from then on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{bail, ensure, Context, Result};
use sha2::{Digest, Sha256};

use crate::build_cache::build_folder;
use crate::need::Need;
use crate::tool::first_error;

/// What [`artifact`] needs on the machine.
pub const NEED: Need = Need::Program("mvn", "maven");

/// The goal of Maven that copies one artifact into a folder.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// A jar that is pinned, or a program.
#[derive(Clone, Copy, Debug)]
pub struct Jar {
    /// What Maven knows it by: `group:name:version`, with `:exe:MACHINE` behind it where
    /// it is a program.
    pub coordinates: &'static str,
    /// The hash of the file in hexadecimal.
    pub sha256: &'static str,
}

/// A pinned jar, for programs in this build folder. Fetches it unless that was done.
///
/// # Errors
/// When it cannot be fetched, or is not the file that was pinned.
pub fn jar(build: &Path, jar: &Jar) -> Result<PathBuf> {
    pinned(&build.join("tools"), jar)
}

/// A pinned program for a step that runs in this folder. Fetches it unless that was done.
///
/// # Errors
/// When it cannot be fetched, or is not the file that was pinned.
pub fn program(step_folder: &Path, program: &Jar) -> Result<PathBuf> {
    let path = pinned(&tools(step_folder)?, program)?;
    // Maven keeps no such rights.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", path.display()))?;
    Ok(path)
}

/// What is in this folder, or was fetched into it, and is what was pinned.
fn pinned(tools: &Path, jar: &Jar) -> Result<PathBuf> {
    let path = in_folder(tools, jar.coordinates)?;
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        hash == jar.sha256,
        "{} is not the pinned {} (its sha256 is {hash}); remove the file, and wiregauge fetches it \
         again",
        path.display(),
        jar.coordinates
    );
    Ok(path)
}

/// The jar with these coordinates, `group:name:version`, for a step that runs
/// in this folder. Fetches it unless an earlier step has.
pub fn artifact(step_folder: &Path, coordinates: &str) -> Result<PathBuf> {
    in_folder(&tools(step_folder)?, coordinates)
}

/// The jar in this folder, after it was fetched where it is not there.
fn in_folder(tools: &Path, coordinates: &str) -> Result<PathBuf> {
    let file = match coordinates.split(':').collect::<Vec<_>>()[..] {
        [_, name, version] => format!("{name}-{version}.jar"),
        [_, name, version, kind, machine] => format!("{name}-{version}-{machine}.{kind}"),
        _ => bail!("'{coordinates}' is not group:name:version"),
    };
    let jar = tools.join(&file);
    fs::create_dir_all(tools).with_context(|| format!("cannot make {}", tools.display()))?;
    // One fetches; whoever comes meanwhile waits, and then finds the jar.
    let lock = fs::File::create(tools.join("lock"))
        .with_context(|| format!("cannot write into {}", tools.display()))?;
    lock.lock()?;
    if jar.exists() {
        return Ok(jar);
    }
    // A fetch that is interrupted must not leave half a jar under its name.
    let partial = tools.join("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fetch(coordinates, &partial)?;
    fs::rename(partial.join(&file), &jar)
        .with_context(|| format!("Maven brought no {file} for {coordinates}"))?;
    fs::remove_dir_all(&partial)?;
    Ok(jar)
}

/// The folder of fetched tools.
fn tools(step_folder: &Path) -> Result<PathBuf> {
    Ok(build_folder(step_folder)?.join("tools"))
}

/// Has Maven copy an artifact into a folder, its checksum verified.
fn fetch(coordinates: &str, folder: &Path) -> Result<()> {
    let output = Command::new("mvn")
        .args(["--batch-mode", "--quiet", "--strict-checksums", "-Dstyle.color=never", COPY])
        .arg(format!("-Dartifact={coordinates}"))
        .arg(format!("-DoutputDirectory={}", folder.display()))
        // A project file in the caller's folder is no concern of this.
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .context("cannot start mvn; apt-get install maven")?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].concat();
        let why = first_error(&[&String::from_utf8_lossy(&text)]);
        bail!("Maven cannot fetch {coordinates}: {why}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fetched_is_used() {
        let build = tempfile::tempdir().unwrap();
        let step = build.path().join("messages/m0/cpp/sbe");
        fs::create_dir_all(&step).unwrap();
        fs::create_dir_all(build.path().join("tools")).unwrap();
        let jar = build.path().join("tools/tool-1.0.jar");
        fs::write(&jar, "a jar").unwrap();
        assert_eq!(artifact(&step, "org.example:tool:1.0").unwrap(), jar);
    }

    #[test]
    fn a_jar_that_is_another_is_refused() {
        let build = tempfile::tempdir().unwrap();
        fs::create_dir_all(build.path().join("tools")).unwrap();
        fs::write(build.path().join("tools/tool-1.0.jar"), "a jar").unwrap();
        let pinned = |sha256| Jar { coordinates: "org.example:tool:1.0", sha256 };
        let error = jar(build.path(), &pinned("00")).unwrap_err().to_string();
        assert!(error.contains("tool-1.0.jar is not the pinned org.example:tool:1.0"), "{error}");
        let hash = "fc8bd814a3051a9717431182d5af2a2d654481aac82a028c05c73afa4ca38823";
        assert!(jar(build.path(), &pinned(hash)).is_ok());
    }

    #[test]
    fn a_program_may_be_run_and_another_is_refused() {
        let build = tempfile::tempdir().unwrap();
        let step = build.path().join("messages/m0/java/one");
        fs::create_dir_all(&step).unwrap();
        fs::create_dir_all(build.path().join("tools")).unwrap();
        let path = build.path().join("tools/tool-1.0-linux-x86_64.exe");
        fs::write(&path, "a jar").unwrap();
        let pinned = |sha256| Jar { coordinates: "org.example:tool:1.0:exe:linux-x86_64", sha256 };
        let error = program(&step, &pinned("00")).unwrap_err().to_string();
        assert!(error.contains("is not the pinned"), "{error}");
        let hash = "fc8bd814a3051a9717431182d5af2a2d654481aac82a028c05c73afa4ca38823";
        assert_eq!(program(&step, &pinned(hash)).unwrap(), path);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o111, 0o111);
    }

    #[test]
    fn coordinates_are_checked() {
        let build = tempfile::tempdir().unwrap();
        fs::create_dir_all(build.path().join("messages")).unwrap();
        let error = artifact(build.path(), "tool:1.0").unwrap_err();
        assert_eq!(error.to_string(), "'tool:1.0' is not group:name:version");
    }
}
