//! Whether anything may be downloaded. What was downloaded before is used either way.

use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{ensure, Result};

use crate::callers_flags::remove_callers_flags;
use crate::tool::{first_error, without_colours};

/// The variable that keeps wiregauge from downloading; empty is as if it were not set.
pub const OFFLINE_VARIABLE: &str = "WIREGAUGE_OFFLINE";

/// Why nothing is downloaded, and what to do about it.
const FORBIDDEN: &str =
    "--offline or WIREGAUGE_OFFLINE forbids it; run the same command once with a network";

static OFFLINE: AtomicBool = AtomicBool::new(false);

/// The variable by which Cargo is told flags before all others.
const ENCODED_FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";

/// Keeps this process from downloading from now on.
pub fn forbid_downloads() {
    OFFLINE.store(true, Ordering::Relaxed);
}

/// Whether the user wants nothing to be downloaded.
pub fn is_offline() -> bool {
    OFFLINE.load(Ordering::Relaxed)
        || env::var_os(OFFLINE_VARIABLE).is_some_and(|value| !value.is_empty())
}

/// That this may be downloaded now, because it is not there yet.
///
/// # Errors
/// When the user wants nothing to be downloaded.
pub fn allow_download(what: &str) -> Result<()> {
    ensure!(!is_offline(), "cannot download {what}: {FORBIDDEN}");
    Ok(())
}

/// Cargo, which downloads crates only where it may, and has no flags but those that it is given.
pub fn cargo() -> Command {
    let mut command = Command::new("cargo");
    command.args(is_offline().then_some("--offline"));
    without_colours(remove_callers_flags(&mut command)).env("CARGO_TERM_COLOR", "never");
    // None, where the user's configuration of Cargo has some for all builds.
    if env::var_os(ENCODED_FLAGS).is_none() {
        command.env(ENCODED_FLAGS, "");
    }
    command
}

/// What cargo said of a failure, with what to do where it lacks crates that it may not
/// download.
pub fn explain_cargo(said: &str) -> String {
    let error = said.lines().find(|line| line.starts_with("error"));
    let error = error.map_or_else(|| first_error(&[said]), str::to_owned);
    let signs = ["--offline was specified", "failed to download", "no matching package"];
    match is_offline() && signs.iter().any(|sign| said.contains(sign)) {
        true => format!("{error}: {FORBIDDEN}"),
        false => error,
    }
}
