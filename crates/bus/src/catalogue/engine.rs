//! The programs that bring the heavier transports. They are built on first use
//! (or by `wiregauge bus transports --build`) from sources that this program
//! carries, below the build folder, and kept by what they were made from.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use indexmap::IndexMap;
use wiregauge_build_tools::program_apart::{self, profile, RELEASE};
use wiregauge_build_tools::versions::installed_versions;
use wiregauge_build_tools::{check_starts_programs, embedded, lock, network, Need};
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_result::warning::MissingTool;
use wiregauge_system::interrupt::Interrupted;

/// A program that brings a transport.
#[derive(Debug)]
pub struct Engine {
    /// Its name, and that of its feature.
    pub name: &'static str,
    /// What it takes to build and run it.
    pub needs: &'static [Need],
    /// What is known of its deaths: a word of what is said of one, and what to do
    /// about it.
    pub advice: &'static [(&'static str, &'static str)],
}

/// Versions of what engines are built with, by name.
pub fn tool_versions() -> IndexMap<String, String> {
    installed_versions(&["rustc", "c++"]).into_iter().collect()
}

/// How engines are built.
pub fn flags() -> String {
    match &*profile() {
        RELEASE => "release: opt-level 3, one codegen unit".into(),
        other => format!("profile {other} of engines/Cargo.toml: for tests, not for figures"),
    }
}

/// Longest that cargo may be silent.
const PATIENCE: Duration = Duration::from_secs(1800);

impl Engine {
    /// What it needs and this machine lacks.
    pub fn missing_tool(&self) -> Option<MissingTool> {
        let (tool, package) = self.needs.iter().find(|need| !need.is_installed())?.names();
        Some(MissingTool { tool: tool.to_string(), package: package.to_string() })
    }

    /// Its program, where it was built already.
    pub fn find_built(&self, folder: &Path) -> Option<PathBuf> {
        Some(programs_folder(folder).join("bin").join(self.name)).filter(|program| program.exists())
    }

    /// Builds it below the build folder, unless it is there. Tells what it does
    /// and how much of how much is done.
    ///
    /// # Errors
    /// When something is missing, it does not compile, or the user asks to stop.
    pub fn build(&self, folder: &Path, progress: &dyn Fn(&str, usize, usize)) -> Result<PathBuf> {
        if let Some(program) = self.find_built(folder) {
            return Ok(program);
        }
        if let Some(missing) = self.missing_tool() {
            let MissingTool { tool, package } = missing;
            bail!("{tool} is not installed; apt-get install {package}");
        }
        let place = programs_folder(folder);
        fs::create_dir_all(place.join("bin"))
            .with_context(|| format!("cannot make {}", place.display()))?;
        check_starts_programs(&place, "WIREGAUGE_BUILD")?;
        let _lock = lock(&place)?;
        if let Some(program) = self.find_built(folder) {
            return Ok(program);
        }
        embedded::engines().write(&place)?;
        let made = self.compile(&place, &folder.join("engines/target"), progress)?;
        let program = place.join("bin").join(self.name);
        program_apart::keep(&made, &program)?;
        Ok(program)
    }

    fn compile(
        &self,
        place: &Path,
        target: &Path,
        progress: &dyn Fn(&str, usize, usize),
    ) -> Result<PathBuf> {
        let folder = place.join("engines");
        let mut command = network::cargo();
        command
            .args(["build", "--profile", &profile(), "--locked", "--message-format=json"])
            .args(["--features", self.name, "--bin", self.name])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", target);
        let mut cargo = Child::spawn(command, Limits::default())
            .context("cannot start cargo; install Rust with rustup")?;
        let mut done = 0;
        // Not all packages of the lock are this program's, and some are compiled
        // twice: the bar is a guess.
        let lock = fs::read_to_string(folder.join("Cargo.lock")).unwrap_or_default();
        let total = lock.matches("[[package]]").count();
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
                Err(ChildFailure::Died(death)) => break death,
                Err(ChildFailure::Interrupted) => return Err(Interrupted.into()),
                Err(other) => return Err(other).context("cargo"),
            }
        };
        if let (Some(program), true) = (program, death.status.is_some_and(|s| s.success())) {
            return Ok(program);
        }
        let has_error = death.stderr.lines().any(|line| line.starts_with("error"));
        let said = has_error.then(|| network::explain_cargo(&death.stderr));
        let why = errors.into_iter().next().or(said).unwrap_or_else(|| death.to_string());
        Err(anyhow!("{} does not compile: {why} (see {})", self.name, folder.display()))
    }
}

/// Where the programs of these sources and this profile go.
fn programs_folder(folder: &Path) -> PathBuf {
    let hash = &embedded::engines().hash()[..16];
    let name = match &*profile() {
        RELEASE => hash.to_owned(),
        other => format!("{hash}-{other}"),
    };
    folder.join("engines").join(name)
}
