//! The package of the Rust runners of one message, and cargo, which builds it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{anyhow, Context, Result};
use serde::Deserialize;
use wiregauge_build_tools::{
    copy_program, lock, network, write_if_changed, CompilerProcess, Progress,
};
use wiregauge_normalized::{rust, Unit};

use crate::build::runner_build::{BuildFolders, RunnerBuild};
use crate::build::variant::LINES;

/// What cargo reports of its work, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Report {
    CompilerArtifact {
        package_id: String,
        target: Target,
        executable: Option<PathBuf>,
    },
    CompilerMessage {
        target: Target,
        message: Diagnostic,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    /// Notes below it.
    #[serde(default)]
    children: Vec<Diagnostic>,
}

impl Diagnostic {
    /// It, or what the linker says of why it failed.
    fn into_reason(self) -> String {
        let lines = || self.children.iter().flat_map(|note| note.message.lines()).map(str::trim);
        let is_reason = |line: &&str| {
            ["undefined reference", "cannot find", "error: "]
                .iter()
                .any(|words| line.contains(words))
        };
        match self.message.starts_with("linking with") {
            true => match lines().find(is_reason).or_else(|| lines().next_back()) {
                Some(reason) => format!("{}: {reason}", self.message),
                None => self.message,
            },
            false => self.message,
        }
    }
}

/// The package of the Rust runners of one message.
pub(super) struct CargoPackage {
    /// Where its manifest is.
    pub(super) folder: PathBuf,
    /// Cargo's target folder, which all messages share.
    target: PathBuf,
    /// Whether it may only use what is locked.
    is_locked: bool,
    /// How many packages there are.
    packages: usize,
}

impl CargoPackage {
    /// Writes what the programs of these builds share.
    pub(super) fn write(
        place: &BuildFolders,
        unit: &Unit,
        builds: &[&RunnerBuild],
    ) -> Result<CargoPackage> {
        let release = builds[0].variant.release.as_deref();
        let folder = place.message.join(builds[0].variant.group());
        let message = folder.join("src/message");
        fs::create_dir_all(&message)?;
        let fixed = place.common.folder.join("rust");
        // In a shared target folder cargo tells packages apart by name and version,
        // not by path: without a version of its own, one message's programs would
        // pass for another's.
        let hash = place.message.file_name().context("the message's folder has a name")?;
        let of_release = release.map_or_else(String::new, |release| format!("-r{}", release.key()));
        let flags = builds[0].variant.flags.as_deref();
        let of_flags = flags.map_or_else(String::new, |flags| format!("-f{}", flags.key()));
        let of_lines = if builds[0].variant.has_lines { LINES } else { "" };
        let version = hash.to_string_lossy();
        let version = format!("version = \"0.0.0-{version}{of_release}{of_flags}{of_lines}\"");
        let own = |text: String| text.replacen("version = \"0.0.0\"", &version, 1);
        let link = link_fixed_parts(&folder, &place.common.folder)?;
        let manifest = fs::read_to_string(fixed.join("Cargo.toml"))?
            .replace("path = \"..", &format!("path = \"{link}"))
            .replace("[workspace]", &format!("[workspace]\nexclude = [\"{link}\"]"));
        let locked = fs::read_to_string(fixed.join("Cargo.lock"))?;
        let manifest = match release {
            Some(release) => release.manifest(&own(manifest))?,
            None => own(manifest),
        };
        // Cargo has written into the lock what another release depends on.
        let is_locked = release.is_some()
            && folder.join("Cargo.lock").exists()
            && fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|old| old == manifest);
        if !is_locked {
            write_if_changed(&folder.join("Cargo.lock"), own(locked.clone()).as_bytes())?;
        }
        write_if_changed(&folder.join("Cargo.toml"), manifest.as_bytes())?;
        for file in rust::message(unit) {
            let path = message.join(&file.path);
            fs::create_dir_all(path.parent().unwrap_or(&message))?;
            write_if_changed(&path, file.text.as_bytes())?;
        }
        Ok(CargoPackage {
            folder,
            target: place.target.clone(),
            is_locked: release.is_none(),
            packages: locked.matches("[[package]]").count(),
        })
    }

    /// Builds the programs with these settings of Cargo's profile; an outcome for each
    /// build, in order. They are put into the folder `out` of the package.
    pub(super) fn build(
        &self,
        builds: &[&RunnerBuild],
        profile: &[String],
        out: &str,
        adjust: impl FnOnce(&mut Command),
        progress: Progress,
    ) -> Result<Vec<Result<PathBuf>>> {
        // Programs of all messages go by the same names in the target folder: they are
        // taken out of it before another message's are built there.
        let programs_folder = self.folder.join(out);
        fs::create_dir_all(&programs_folder)?;
        fs::create_dir_all(&self.target)?;
        let _lock = lock(&self.target)?;
        let mut command = network::cargo();
        command
            .args(["build", "--release", "--keep-going", "--message-format=json"])
            .args(self.is_locked.then_some("--locked"))
            .args(
                profile.iter().flat_map(|setting| {
                    ["--config".to_owned(), format!("profile.release.{setting}")]
                }),
            )
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for build in builds {
            command.args(["--bin", build.variant.codec.name]);
            for feature in &build.emission.features {
                command.args(["--features", feature]);
            }
        }
        adjust(&mut command);
        let mut child = CompilerProcess(
            command.spawn().context("cannot start cargo; install Rust with rustup")?,
        );
        let errors = child.0.stderr.take().context("cargo's stderr is piped")?;
        let errors =
            std::thread::spawn(move || std::io::read_to_string(errors).unwrap_or_default());

        let total = self.packages + builds.len();
        let mut seen = BTreeSet::new();
        let mut programs = BTreeMap::new();
        let mut failures = BTreeMap::new();
        let output = BufReader::new(child.0.stdout.take().context("cargo's stdout is piped")?);
        for line in output.lines() {
            match serde_json::from_str(&line?) {
                Ok(Report::CompilerArtifact { package_id, target, executable }) => {
                    seen.insert((package_id, executable.is_some().then(|| target.name.clone())));
                    progress(&format!("compiling Rust: {}", target.name), seen.len(), total)?;
                    if let Some(executable) = executable {
                        let program = programs_folder.join(&target.name);
                        let _ = fs::remove_file(&program);
                        fs::hard_link(&executable, &program)
                            .or_else(|_| copy_program(&executable, &program))?;
                        programs.insert(target.name, program);
                    }
                }
                Ok(Report::CompilerMessage { target, message }) if message.level == "error" => {
                    failures.entry(target.name).or_insert_with(|| message.into_reason());
                }
                _ => {}
            }
        }
        let status = child.0.wait()?;
        let errors = errors.join().unwrap_or_default();
        Ok(builds
            .iter()
            .map(|build| {
                let name = build.variant.codec.name;
                programs.remove(name).ok_or_else(|| {
                    let why = failures.get(name).cloned().unwrap_or_else(|| {
                        format!("cargo {status}: {}", network::explain_cargo(&errors))
                    });
                    anyhow!("does not compile: {why} (see {})", build.folder.display())
                })
            })
            .collect())
    }
}

/// Links the fixed parts into a package, by the name of their folder, which is their hash. Cargo
/// makes the path of what lies beside a package a part of all that it compiles: programs would be
/// others in each build folder.
fn link_fixed_parts(package: &Path, fixed: &Path) -> Result<String> {
    let name = fixed.file_name().context("the folder of fixed parts has a name")?;
    let link = package.join(name);
    if fs::read_link(&link).ok().as_deref() != Some(fixed) {
        let _ = fs::remove_file(&link);
        symlink(fixed, &link)?;
    }
    Ok(name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_the_linker_failed_is_told() {
        let note =
            "ld: warning: old\n/a.o: in function `f':\n(.text+0x4): undefined reference to `g'";
        let diagnostic = |message: &str, children| Diagnostic {
            level: "error".into(),
            message: message.into(),
            children,
        };
        let failed = diagnostic("linking with `cc` failed", vec![diagnostic(note, Vec::new())]);
        let wanted = "linking with `cc` failed: (.text+0x4): undefined reference to `g'";
        assert_eq!(failed.into_reason(), wanted);
        let other = diagnostic("mismatched types", vec![diagnostic(note, Vec::new())]);
        assert_eq!(other.into_reason(), "mismatched types");
    }
}
