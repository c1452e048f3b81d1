//! The programs that bring the heavier transports. They are built on first use
//! (or by `wiregauge bus transports --build`) from sources that this program
//! carries, below the build folder, and kept by what they were made from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use wiregauge_codegen::build::{hash, lock, write_if_new};
use wiregauge_codegen::Need;
use wiregauge_conversation::child::{Broken, Child, Limits};
use wiregauge_result::warning::MissingTool;
use wiregauge_system::interrupt::Interrupted;

/// A program that brings a transport.
#[derive(Debug)]
pub struct Engine {
    /// Its name, and that of its feature.
    pub name: &'static str,
    /// What it takes to build and run it.
    pub needs: &'static [Need],
}

/// Cyclone DDS.
pub static DDS: Engine = Engine {
    name: "dds",
    needs: &[
        Need::Program("idlc", "cyclonedds-tools"),
        Need::Header("dds/dds.h", "cyclonedds-dev"),
        Need::Program("cc", "build-essential"),
    ],
};
/// zenoh.
pub static ZENOH: Engine = Engine { name: "zenoh", needs: &[] };
/// iceoryx2.
pub static ICEORYX2: Engine = Engine { name: "iceoryx2", needs: &[] };
/// All of them.
pub static ALL: [&Engine; 3] = [&DDS, &ZENOH, &ICEORYX2];

/// What they are made from, by path below their folder.
const FILES: &[(&str, &str)] = &[
    ("participants/Cargo.toml", include_str!("../../../../participants/Cargo.toml")),
    ("participants/Cargo.lock", include_str!("../../../../participants/Cargo.lock")),
    ("participants/build.rs", include_str!("../../../../participants/build.rs")),
    ("participants/dds/dds.c", include_str!("../../../../participants/dds/dds.c")),
    ("participants/dds/sample.idl", include_str!("../../../../participants/dds/sample.idl")),
    ("participants/src/bin/dds.rs", include_str!("../../../../participants/src/bin/dds.rs")),
    (
        "participants/src/bin/iceoryx2.rs",
        include_str!("../../../../participants/src/bin/iceoryx2.rs"),
    ),
    ("participants/src/bin/zenoh.rs", include_str!("../../../../participants/src/bin/zenoh.rs")),
    ("crates/participant/Cargo.toml", include_str!("../../../participant/Cargo.toml")),
    ("crates/participant/src/clock.rs", include_str!("../../../participant/src/clock.rs")),
    (
        "crates/participant/src/codec_process.rs",
        include_str!("../../../participant/src/codec_process.rs"),
    ),
    ("crates/participant/src/control.rs", include_str!("../../../participant/src/control.rs")),
    ("crates/participant/src/duty.rs", include_str!("../../../participant/src/duty.rs")),
    ("crates/participant/src/echo.rs", include_str!("../../../participant/src/echo.rs")),
    ("crates/participant/src/inbox.rs", include_str!("../../../participant/src/inbox.rs")),
    ("crates/participant/src/latency.rs", include_str!("../../../participant/src/latency.rs")),
    ("crates/participant/src/lib.rs", include_str!("../../../participant/src/lib.rs")),
    ("crates/participant/src/lockstep.rs", include_str!("../../../participant/src/lockstep.rs")),
    ("crates/participant/src/misses.rs", include_str!("../../../participant/src/misses.rs")),
    (
        "crates/participant/src/participant.rs",
        include_str!("../../../participant/src/participant.rs"),
    ),
    ("crates/participant/src/progress.rs", include_str!("../../../participant/src/progress.rs")),
    ("crates/participant/src/realtime.rs", include_str!("../../../participant/src/realtime.rs")),
    ("crates/participant/src/receiver.rs", include_str!("../../../participant/src/receiver.rs")),
    ("crates/participant/src/record.rs", include_str!("../../../participant/src/record.rs")),
    ("crates/participant/src/sample.rs", include_str!("../../../participant/src/sample.rs")),
    ("crates/participant/src/scratch.rs", include_str!("../../../participant/src/scratch.rs")),
    ("crates/participant/src/seal.rs", include_str!("../../../participant/src/seal.rs")),
    ("crates/participant/src/sender.rs", include_str!("../../../participant/src/sender.rs")),
    ("crates/participant/src/sequence.rs", include_str!("../../../participant/src/sequence.rs")),
    ("crates/participant/src/slowest.rs", include_str!("../../../participant/src/slowest.rs")),
    ("crates/participant/src/token.rs", include_str!("../../../participant/src/token.rs")),
    ("crates/participant/src/transport.rs", include_str!("../../../participant/src/transport.rs")),
    (
        "crates/participant/src/transports.rs",
        include_str!("../../../participant/src/transports.rs"),
    ),
    (
        "crates/participant/src/transports/memory.rs",
        include_str!("../../../participant/src/transports/memory.rs"),
    ),
    (
        "crates/participant/src/transports/tcp.rs",
        include_str!("../../../participant/src/transports/tcp.rs"),
    ),
    ("crates/participant/src/usage.rs", include_str!("../../../participant/src/usage.rs")),
    ("crates/participant/src/wake_up.rs", include_str!("../../../participant/src/wake_up.rs")),
    ("crates/participant/src/window.rs", include_str!("../../../participant/src/window.rs")),
];

/// Longest that cargo may be silent.
const PATIENCE: Duration = Duration::from_secs(1800);

impl Engine {
    /// What it needs and this machine lacks.
    pub fn missing(&self) -> Option<MissingTool> {
        let (tool, package) = self.needs.iter().find(|need| !need.is_here())?.names();
        Some(MissingTool { tool: tool.to_string(), package: package.to_string() })
    }

    /// Its program, where it was built already.
    pub fn built(&self, folder: &Path) -> Option<PathBuf> {
        Some(place(folder).join("bin").join(self.name)).filter(|program| program.exists())
    }

    /// Builds it below the build folder, unless it is there. Tells what it does
    /// and how much of how much is done.
    ///
    /// # Errors
    /// When something is missing, it does not compile, or the user asks to stop.
    pub fn build(&self, folder: &Path, progress: &dyn Fn(&str, usize, usize)) -> Result<PathBuf> {
        if let Some(program) = self.built(folder) {
            return Ok(program);
        }
        if let Some(missing) = self.missing() {
            let MissingTool { tool, package } = missing;
            bail!("{tool} is not installed; apt-get install {package}");
        }
        let place = place(folder);
        fs::create_dir_all(place.join("bin"))
            .with_context(|| format!("cannot make {}", place.display()))?;
        let _lock = lock(&place)?;
        if let Some(program) = self.built(folder) {
            return Ok(program);
        }
        for (path, text) in FILES {
            let path = place.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            write_if_new(&path, text.as_bytes())?;
        }
        let made = self.compile(&place, &folder.join("participants/target"), progress)?;
        // Copied aside and then renamed, so that no half program is found.
        let program = place.join("bin").join(self.name);
        let aside = program.with_extension("new");
        fs::copy(&made, &aside).with_context(|| format!("cannot copy {}", made.display()))?;
        fs::rename(&aside, &program)?;
        Ok(program)
    }

    fn compile(
        &self,
        place: &Path,
        target: &Path,
        progress: &dyn Fn(&str, usize, usize),
    ) -> Result<PathBuf> {
        let folder = place.join("participants");
        let mut command = Command::new("cargo");
        command
            .args(["build", "--release", "--locked", "--message-format=json"])
            .args(["--features", self.name, "--bin", self.name])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", target)
            // The caller's wish for its own build is not theirs.
            .env_remove("RUSTFLAGS");
        let mut cargo = Child::spawn(command, Limits::default())
            .context("cannot start cargo; install Rust with rustup")?;
        let mut done = 0;
        // Not all packages of the lock are this program's, and some are compiled
        // twice: the bar is a guess.
        let total = FILES[1].1.matches("[[package]]").count();
        let mut errors: Vec<String> = Vec::new();
        let mut program = None;
        let death = loop {
            match cargo.read_line(Instant::now() + PATIENCE) {
                Ok(line) => {
                    let report: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
                    let name = report["target"]["name"].as_str().unwrap_or_default();
                    match report["reason"].as_str() {
                        Some("compiler-artifact") => {
                            done += 1;
                            progress(&format!("compiling {name}"), done, total.max(done));
                            if let Some(path) = report["executable"].as_str() {
                                program = Some(PathBuf::from(path));
                            }
                        }
                        Some("compiler-message") if report["message"]["level"] == "error" => {
                            let text = report["message"]["message"].as_str().unwrap_or_default();
                            errors.push(text.to_owned());
                        }
                        _ => {}
                    }
                }
                Err(Broken::Died(death)) => break death,
                Err(Broken::Interrupted) => return Err(Interrupted.into()),
                Err(other) => return Err(other).context("cargo"),
            }
        };
        if let (Some(program), true) = (program, death.status.is_some_and(|s| s.success())) {
            return Ok(program);
        }
        let said = death.stderr.lines().find(|line| line.starts_with("error")).map(str::to_owned);
        let why = errors.into_iter().next().or(said).unwrap_or_else(|| death.to_string());
        Err(anyhow!("{} does not compile: {why} (see {})", self.name, folder.display()))
    }
}

/// Where the programs of these sources go.
fn place(folder: &Path) -> PathBuf {
    let content = FILES.iter().flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()]);
    let hash = hash(content.map(<[u8]>::to_vec));
    folder.join("participants").join(&hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files below a folder, by path from there.
    fn files(folder: &Path, below: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder.join(below)).unwrap().flatten() {
            let path = format!("{below}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => found.extend(files(folder, &path)),
                false => found.push(path),
            }
        }
        found
    }

    #[test]
    fn every_source_is_carried() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut there = files(&project, "participants");
        there.extend(files(&project, "crates/participant"));
        there.retain(|path| !path.contains("/target/"));
        there.sort();
        let mut carried: Vec<String> = FILES.iter().map(|(path, _)| path.to_string()).collect();
        carried.sort();
        assert_eq!(there, carried);
    }
}
