//! The other languages' libraries as programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use wiregauge_osi::python::Python;

use super::{build_folder, compile, HERE};

/// The C++ header as a program.
pub fn cpp() -> Command {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    Command::new(TOOL.get_or_init(|| compile("tool", &["packed/rust/tests/tool.cpp"])))
}

/// The interpreter with OSI's package and ours.
pub fn interpreter() -> Command {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    let program = PYTHON.get_or_init(|| {
        Python::environment(&build_folder()).expect("Python and the OSI package").program
    });
    let mut command = Command::new(program);
    command.env("PYTHONPATH", Path::new(HERE).join("../../python"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The Python package as a program.
pub fn python() -> Command {
    let mut command = interpreter();
    command.arg(Path::new(HERE).join("tests/tool.py"));
    command
}

/// A language's name, and its program.
pub type Tool = (&'static str, fn() -> Command);

/// The other languages.
pub const TOOLS: [Tool; 2] = [("C++", cpp), ("Python", python)];
