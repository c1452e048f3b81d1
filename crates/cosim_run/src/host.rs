//! The program that FMUs run in.

use std::path::PathBuf;

use anyhow::Result;

/// The program that FMUs run in: this one, by its verb `cosim host`.
///
/// # Errors
/// When the system does not tell where this program is.
pub fn host() -> Result<(PathBuf, Vec<String>)> {
    Ok((std::env::current_exe()?, vec!["cosim".into(), "host".into()]))
}
