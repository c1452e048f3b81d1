//! What checkers of types and linters say of modules in Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use wiregauge_build_tools::python::PythonEnvironment;

use super::compiled::compile;

/// The checker of types has nothing to say of modules in a folder.
pub fn check_types(python: &PythonEnvironment, folder: &Path, modules: &[PathBuf]) {
    let mut checker = Command::new(&python.program);
    checker.args(["-m", "mypy", "--strict", "--cache-dir=/dev/null"]).args(modules);
    compile(&mut checker, folder, &[]);
}

/// Neither the checker of types nor the linter has something to say of a module.
pub fn lint(python: &PythonEnvironment, module: &Path) {
    let folder = module.parent().expect("a folder");
    check_types(python, folder, &[module.to_owned()]);
    let mut linter = Command::new(&python.program);
    linter.args(["-m", "ruff", "check", "--isolated", "--no-cache"]).arg(module);
    compile(&mut linter, folder, &[]);
}
