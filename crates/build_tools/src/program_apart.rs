//! Programs that are built apart from this one, from sources that it carries: by which of cargo's
//! profiles, and how one is put where it is kept.

use std::env;
use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::program_file::copy_program;

/// The variable that names another of the profiles in their `Cargo.toml`: `quick` compiles in
/// half the time. Its programs are for tests, not for figures.
pub const PROFILE_VARIABLE: &str = "WIREGAUGE_ENGINE_PROFILE";

/// Cargo's own profile.
pub const RELEASE: &str = "release";

/// The profile that they are compiled with: cargo's release, unless the variable names another;
/// an empty variable names none.
pub fn profile() -> String {
    let named = env::var(PROFILE_VARIABLE).ok().filter(|name| !name.is_empty());
    named.unwrap_or_else(|| RELEASE.into())
}

/// Puts what was made at its place: copied aside and then renamed, so that no half program is
/// found.
///
/// # Errors
/// When it cannot be copied there.
pub fn keep(made: &Path, program: &Path) -> Result<()> {
    let aside = program.with_extension("new");
    copy_program(made, &aside)?;
    Ok(fs::rename(&aside, program)?)
}
