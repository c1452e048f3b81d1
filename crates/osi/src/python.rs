//! The Python side of OSI: the official OSI package comes as a Python wheel, and
//! FMPy brings the FMI headers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wiregauge_build_tools::python;

const REQUIREMENTS: &str = include_str!("../requirements.txt");

/// An environment with the pinned packages.
#[derive(Clone, Debug)]
pub struct Python {
    /// Its interpreter.
    pub program: PathBuf,
}

impl Python {
    /// The environment below the build folder; made on first use, which needs
    /// `python3` with its `venv` module and a package index.
    pub fn environment(build: &Path) -> Result<Python> {
        let made = python::PythonEnvironment::create(build, REQUIREMENTS);
        let python::PythonEnvironment { program } =
            made.context("cannot install the OSI package")?;
        Ok(Python { program })
    }

    /// Runs a program text with these arguments to its end; returns what it
    /// wrote to standard output.
    pub fn run(&self, text: &str, arguments: &[&Path]) -> Result<String> {
        python::PythonEnvironment { program: self.program.clone() }.run(text, arguments)
    }

    /// The folder of FMI's C headers, which FMPy brings.
    pub fn fmi_headers(&self) -> Result<PathBuf> {
        let text = "import fmpy, os; print(os.path.join(os.path.dirname(fmpy.__file__), 'c-code'))";
        Ok(PathBuf::from(self.run(text, &[])?.trim()))
    }
}
