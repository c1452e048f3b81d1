//! The program that reads archives: where it is, and how it is built where it is nowhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use wiregauge_build_tools::{
    check_starts_programs, default_build_folder, embedded, find_program, installed_below,
    installed_folders, lock, network, program_apart,
};
use wiregauge_child_process::child::{Child, ChildFailure, Limits};
use wiregauge_system::interrupt::Interrupted;
use wiregauge_system::notice::print_notice;

/// Its name.
pub const NAME: &str = "wiregauge-archive";

/// Longest that it may take to compile.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The program: what is installed with this one, or built before, or now.
///
/// # Errors
/// When it is not there and cannot be built.
pub fn find_or_build(prefixes: &[PathBuf]) -> Result<PathBuf> {
    let below = prefixes.iter().map(|prefix| installed_below(prefix));
    let mut installed =
        below.chain(installed_folders()).map(|folder| folder.join("archive").join(NAME));
    if let Some(program) = installed.find(|program| program.is_file()) {
        return Ok(program);
    }
    let profile = program_apart::profile();
    let sources = embedded::archive();
    let folder = default_build_folder()?.join("archive");
    let place = folder.join(format!("{}-{profile}", &sources.hash()[..16]));
    let program = place.join("bin").join(NAME);
    if program.is_file() {
        return Ok(program);
    }
    if find_program("cargo").is_none() {
        bail!(
            "what reads archives is not installed, and Rust, which builds it, is neither; install \
             wiregauge from a package, or Rust with rustup"
        );
    }
    fs::create_dir_all(place.join("bin"))
        .with_context(|| format!("cannot make {}", place.display()))?;
    check_starts_programs(&place, "WIREGAUGE_BUILD")?;
    let _lock = lock(&place)?;
    if !program.is_file() {
        sources.write(&place)?;
        print_notice("building what reads archives: once, for some minutes");
        let made = compile(&place, &folder.join("target"), &profile)?;
        program_apart::keep(&made, &program)?;
    }
    Ok(program)
}

fn compile(place: &Path, target: &Path, profile: &str) -> Result<PathBuf> {
    let mut command = network::cargo();
    command
        .args(["build", "--profile", profile, "--locked"])
        .current_dir(place.join("archive"))
        .env("CARGO_TARGET_DIR", target);
    let cargo = Child::spawn(command, Limits::default()).context("cannot start cargo")?;
    let death = match cargo.finish(Instant::now() + PATIENCE) {
        Ok(death) => death,
        Err(ChildFailure::Interrupted) => return Err(Interrupted.into()),
        Err(other) => return Err(other).context("cargo"),
    };
    if death.status.is_some_and(|status| status.success()) {
        return Ok(target.join(profile).join(NAME));
    }
    bail!(
        "{NAME} does not compile: {} (see {})",
        network::explain_cargo(&death.stderr),
        place.display()
    )
}
