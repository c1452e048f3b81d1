//! OSI's descriptors, out of the official Python package.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wiregauge_build_tools::{default_build_folder, write_if_changed};

use crate::python::Python;

/// The encoded `FileDescriptorSet` of all of OSI with its imports, each file
/// after those that it imports. Kept in the build folder.
pub fn descriptors(build: &Path, python: &Python) -> Result<Vec<u8>> {
    let folder = build.join("osi").join(crate::VERSION);
    let path = folder.join("osi.fds");
    if let Ok(bytes) = fs::read(&path) {
        return Ok(bytes);
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let partial = folder.join(format!("osi.fds.{}", std::process::id()));
    python.run(include_str!("descriptors.py"), &[&partial])?;
    let bytes = fs::read(&partial)?;
    fs::remove_file(&partial)?;
    write_if_changed(&path, &bytes)?;
    Ok(bytes)
}

/// OSI's definitions, from the official package, kept in the default build folder.
///
/// # Errors
/// When they are not there and the package cannot be installed.
pub fn osi_definitions() -> Result<Vec<u8>> {
    let build = default_build_folder()?;
    let definitions = Python::environment(&build).and_then(|python| descriptors(&build, &python));
    definitions.context("OSI's definitions, which this trace needs, are not available")
}
