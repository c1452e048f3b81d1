//! Python environments of our own, made once in the build folder of packages in
//! pinned versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::build_cache::{build_folder, create_folder_atomically};
use crate::need::Need;
use crate::network::allow_download;
use crate::{hash, lock, run};

/// What makes an environment.
const PYTHON: Need = Need::Program("python3", "python3-venv");

/// An environment with pinned packages.
#[derive(Clone, Debug)]
pub struct PythonEnvironment {
    /// Its interpreter.
    pub program: PathBuf,
}

/// The interpreter that `python3` starts, wherever that leads to.
///
/// # Errors
/// When there is none.
pub fn interpreter() -> Result<PathBuf> {
    let text = "import sys; print(sys.executable)";
    let said = run(Command::new("python3").args(["-I", "-c", text]), "python3")
        .context("python3 is missing; apt-get install python3")?;
    Ok(PathBuf::from(said.trim()))
}

impl PythonEnvironment {
    /// The environment of these requirements below the build folder; made on first
    /// use, which needs `python3` with its `venv` module and a package index. Where
    /// they have hashes, pip wants one of all.
    ///
    /// # Errors
    /// When it cannot be made, with the remedy.
    pub fn create(build: &Path, requirements: &str) -> Result<PythonEnvironment> {
        let tools = build.join("tools");
        fs::create_dir_all(&tools).with_context(|| format!("cannot make {}", tools.display()))?;
        let tools = tools.canonicalize()?;
        let _lock = lock(&tools)?;
        let folder = tools.join(format!("python-{}", &hash([requirements.into()])[..16]));
        let python = PythonEnvironment { program: folder.join("bin/python") };
        // Written last: half an environment is none.
        let complete = folder.join("complete");
        if complete.exists() {
            return Ok(python);
        }
        allow_download(&describe_packages(requirements))?;
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        create_environment(&folder, &["--without-pip"])?;
        let list = folder.join("requirements.txt");
        fs::write(&list, requirements)?;
        // Isolated: what `PYTHONPATH` has would count as installed, and not be found later.
        let mut install = Command::new(&python.program);
        install
            .arg("-I")
            .arg(pip(&tools)?)
            .args(["install", "--quiet", "--disable-pip-version-check", "--no-user"])
            .args(["--only-binary", ":all:", "--no-deps", "-r"])
            .arg(&list);
        for elsewhere in ["PIP_PREFIX", "PIP_ROOT", "PIP_TARGET"] {
            install.env_remove(elsewhere);
        }
        run(&mut install, "pip").context(
            "cannot install Python packages; Python 3.11 and a package index are needed",
        )?;
        fs::write(&complete, "")?;
        Ok(python)
    }

    /// The same for a step that runs in this folder.
    ///
    /// # Errors
    /// When it cannot be made, or the folder is in no build folder.
    pub fn create_for_step(step_folder: &Path, requirements: &str) -> Result<PythonEnvironment> {
        PythonEnvironment::create(build_folder(step_folder)?, requirements)
    }

    /// Runs a program text with these arguments to its end; returns what it
    /// wrote to standard output.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub fn run(&self, text: &str, arguments: &[&Path]) -> Result<String> {
        run(Command::new(&self.program).args(["-I", "-c"]).arg(text).args(arguments), "python")
    }
}

/// Makes an environment without packages.
fn create_environment(folder: &Path, options: &[&str]) -> Result<()> {
    if let Some(lack) = PYTHON.explain_missing() {
        bail!("{lack}");
    }
    run(
        Command::new("python3").args(["-I", "-m", "venv"]).args(options).arg(folder),
        "python3 -m venv",
    )
    .context("cannot create a Python environment; apt-get install python3-venv")?;
    Ok(())
}

/// The folder of pip, which any interpreter of this release runs as a program. It is in one
/// environment for all: unpacking it takes longer than most packages do.
fn pip(tools: &Path) -> Result<PathBuf> {
    let text = "import sys; print(sys.executable, sys.version)";
    let interpreter = run(Command::new("python3").args(["-I", "-c", text]), "python3")?;
    let folder = tools.join(format!("pip-{}", &hash([interpreter.into()])[..16]));
    if !folder.exists() {
        create_folder_atomically(&folder, |half| create_environment(half, &[]))?;
    }
    let mut interpreter = Command::new(folder.join("bin/python"));
    interpreter.args(["-I", "-c", "import pip; print(pip.__path__[0])"]);
    let said = run(&mut interpreter, "python")?;
    Ok(PathBuf::from(said.trim()))
}

/// The packages of a list, in words: lines such as `name==1.2 \`, between hashes and comments.
fn describe_packages(requirements: &str) -> String {
    let names = requirements.lines().filter_map(|line| Some(line.split_once("==")?.0));
    let names: Vec<&str> = names.filter(|name| !name.starts_with([' ', '#'])).collect();
    match names[..] {
        [name] => format!("the Python package {name}"),
        [first, ref others @ ..] => {
            format!("the Python packages {first} and {} more", others.len())
        }
        [] => "Python packages".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_counted_without_their_hashes() {
        let list = "# a comment\nattrs==26.1.0 \\\n    --hash=sha256:0==\n";
        assert_eq!(describe_packages(list), "the Python package attrs");
        let two = format!("{list}numpy==2.4.6\n");
        assert_eq!(describe_packages(&two), "the Python packages attrs and 1 more");
    }
}
