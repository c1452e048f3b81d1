//! The files that a function takes: one, several, or all that a pattern names.

use std::path::PathBuf;

use anyhow::anyhow;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use wiregauge_trace::remote_file::is_remote;

use crate::error::to_python;

/// Files, as Python says them.
#[derive(FromPyObject)]
pub enum Files {
    /// One, or a pattern.
    One(PathBuf),
    /// Several.
    Several(Vec<PathBuf>),
}

impl Files {
    /// All of them. A name with `*`, `?` or `[` that is no file itself is a pattern, whose
    /// files come in the order of their names; `**` stands for folders in folders.
    pub fn list(self, python: Python<'_>) -> PyResult<Vec<PathBuf>> {
        let given = match self {
            Files::One(path) => vec![path],
            Files::Several(paths) => paths,
        };
        let mut files = Vec::with_capacity(given.len());
        for path in given {
            let is_pattern = path.to_string_lossy().contains(['*', '?', '[']) && !path.exists();
            // What is in an archive is not listed.
            if !is_pattern || is_remote(&path) {
                files.push(path);
                continue;
            }
            let found = python.import("glob")?.getattr("iglob")?;
            let found = found
                .call((path.as_os_str(),), Some(&[("recursive", true)].into_py_dict(python)?))?;
            let mut found = found
                .try_iter()?
                .map(|path| path?.extract())
                .collect::<PyResult<Vec<PathBuf>>>()?;
            if found.is_empty() {
                return Err(to_python(anyhow!("no file is called {}", path.display())));
            }
            found.sort();
            files.append(&mut found);
        }
        Ok(files)
    }
}
