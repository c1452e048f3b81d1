//! Several results, read from their files.

use std::path::PathBuf;

use anyhow::{bail, Result};
use wiregauge_result::run::Run;
use wiregauge_system::file::is_same_file;

use crate::model::ranking::named_result::NamedResult;

/// Reads results and names them.
///
/// # Errors
/// When one cannot be read, or is given twice. The line names the file.
pub fn read_results(paths: &[PathBuf]) -> Result<Vec<NamedResult>> {
    for (at, path) in paths.iter().enumerate() {
        if let Some(other) =
            paths[..at].iter().find(|other| *other == path || is_same_file(other, path))
        {
            match other == path {
                true => bail!("{} is given twice", path.display()),
                false => bail!("{} and {} are one file", other.display(), path.display()),
            }
        }
    }
    let read = |path: &PathBuf| Ok((path.clone(), Run::read(path)?));
    let files = paths.iter().map(read).collect::<Result<_>>()?;
    Ok(NamedResult::from_files(files))
}
