//! Generates holders of messages in a `build.rs`, by the program `wiregauge`, and has cargo
//! do so again where a definition or the program has changed.
//!
//! ```no_run
//! # fn main() -> Result<(), wiregauge_build::Error> {
//! wiregauge_build::Holders::new("scan").definition("scan.msg").wire("cdr").generate()
//! # }
//! ```
//!
//! The crate's code then has the modules `scan`, `scan_view` and `wiregauge` by
//! `include!(concat!(env!("OUT_DIR"), "/scan.include.rs"));`.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the program, where it is not on the path.
pub const VARIABLE: &str = "WIREGAUGE";

/// Why holders were not generated, in one line that says what to do about it.
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As [`fmt::Display`], since that is what a `main` shows of an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// The holders of one module.
#[derive(Clone, Debug)]
pub struct Holders {
    module: String,
    definitions: Vec<String>,
    include: Vec<PathBuf>,
    wires: Vec<String>,
}

impl Holders {
    /// Holders in a module of this name.
    pub fn new(module: impl Into<String>) -> Holders {
        Holders {
            module: module.into(),
            definitions: Vec::new(),
            include: Vec::new(),
            wires: Vec::new(),
        }
    }

    /// Adds a definition: a file, a folder of them, or `FILE:TYPE`.
    pub fn definition(mut self, definition: impl Into<String>) -> Holders {
        self.definitions.push(definition.into());
        self
    }

    /// Adds a folder in which definitions that these use are looked for.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Holders {
        self.include.push(folder.into());
        self
    }

    /// Adds a wire: `ros-msg`, `cdr`, `xcdr2`, `someip` or `protobuf`.
    pub fn wire(mut self, wire: impl Into<String>) -> Holders {
        self.wires.push(wire.into());
        self
    }

    /// Writes the holders into cargo's `OUT_DIR`, and `MODULE.include.rs` beside them, which
    /// has them as modules. Tells cargo what they were made from.
    ///
    /// # Errors
    /// Where the program is not there, or refuses a definition, which it says itself; where
    /// this is no build script.
    pub fn generate(&self) -> Result<(), Error> {
        let out = env::var_os("OUT_DIR").map(PathBuf::from);
        let out = out.ok_or_else(|| Error("OUT_DIR is not set; call this in a build.rs".into()))?;
        let program =
            env::var_os(VARIABLE).map_or_else(|| PathBuf::from("wiregauge"), PathBuf::from);
        for path in self.watched(&program) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        println!("cargo::rerun-if-env-changed={VARIABLE}");
        self.generate_into(&program, &out)
    }

    fn generate_into(&self, program: &Path, out: &Path) -> Result<(), Error> {
        let mut command = Command::new(program);
        command.arg("generate").args(&self.definitions).arg("--language=rust");
        command.args(["--module", &self.module, "--wire", &self.wires.join(",")]);
        for folder in &self.include {
            command.arg("-I").arg(folder);
        }
        // What it prints are paths, which cargo might take for its own words.
        let output = command.arg("-o").arg(out).stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            let program = program.display();
            Error(format!("cannot start {program}: {error}; install wiregauge, or set {VARIABLE}"))
        })?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(Error(format!("no holders were generated: {}", said.trim_end())));
        }
        eprint!("{said}");
        let path = out.join(format!("{}.include.rs", self.module));
        let written = fs::write(&path, self.modules(out));
        written.map_err(|error| Error(format!("cannot write {}: {error}", path.display())))
    }

    /// What cargo looks at: definitions, their folders, and the program.
    fn watched(&self, program: &Path) -> Vec<PathBuf> {
        let file = |definition: &String| match definition.rsplit_once(':') {
            Some((file, _)) if !Path::new(definition).exists() => PathBuf::from(file),
            _ => PathBuf::from(definition),
        };
        let mut watched: Vec<PathBuf> = self.definitions.iter().map(file).collect();
        watched.extend(self.include.iter().cloned());
        let path = env::var_os("PATH").unwrap_or_default();
        let mut places = env::split_paths(&path).map(|folder| folder.join(program));
        // A program that is named by its path is that one: a join keeps it.
        watched.extend(places.find(|place| place.is_file()));
        watched
    }

    /// The modules as an `include!` takes them. Files have attributes at their head, so they
    /// are modules of their own and cannot be included themselves.
    fn modules(&self, out: &Path) -> String {
        let views = format!("{}_view", self.module);
        let names = [self.module.as_str(), views.as_str(), "wiregauge"].into_iter();
        let files = names.map(|name| (name, out.join(format!("{name}.rs"))));
        let there = files.filter(|(_, file)| file.exists());
        there.map(|(name, file)| format!("#[path = {file:?}]\npub mod {name};\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a program that keeps its arguments, or fails where `fails`.
    fn write_program(folder: &Path, text: &str) -> PathBuf {
        let (source, path) = (folder.join("source"), folder.join("program"));
        fs::write(&source, format!("#!/bin/sh\n{text}\n")).expect("written");
        // A file that this process has written may be open in what another thread has just
        // started, and then it cannot be started itself.
        let mut install = Command::new("install");
        install.args(["-m", "755"]).args([&source, &path]);
        assert!(install.status().expect("starts").success());
        path
    }

    #[test]
    fn the_program_is_called_and_its_files_become_modules() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path();
        let program = write_program(
            out,
            "cd \"$(dirname \"$0\")\"; echo \"$@\" > words; touch scan.rs wiregauge.rs",
        );
        let holders = Holders::new("scan").definition("a.msg:A").wire("cdr").wire("ros-msg");
        holders.include("more").generate_into(&program, out).expect("generated");
        let words = fs::read_to_string(out.join("words")).expect("written");
        let wanted = "generate a.msg:A --language=rust --module scan --wire cdr,ros-msg -I more -o";
        assert!(words.starts_with(wanted), "{words}");
        let text = fs::read_to_string(out.join("scan.include.rs")).expect("written");
        assert!(text.contains("/scan.rs\"]\npub mod scan;\n"), "{text}");
        assert!(text.contains("pub mod wiregauge;") && !text.contains("scan_view"), "{text}");
    }

    #[test]
    fn what_fails_is_told_in_one_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let holders = Holders::new("scan").definition("a.msg").wire("cdr");
        let error = holders.generate_into(Path::new("/nowhere/wiregauge"), folder.path());
        let error = format!("{:?}", error.expect_err("it is not there"));
        assert!(
            error.contains("/nowhere/wiregauge") && error.contains("install wiregauge"),
            "{error}"
        );
        let program =
            write_program(folder.path(), "echo 'a.msg: there is no such file' >&2; exit 2");
        let error = holders.generate_into(&program, folder.path()).expect_err("it fails");
        assert_eq!(error.to_string(), "no holders were generated: a.msg: there is no such file");
    }

    #[test]
    fn cargo_looks_at_files_folders_and_the_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = write_program(folder.path(), "");
        let holders = Holders::new("m").definition("a.proto:A").definition("msgs").include("more");
        let wanted = [Path::new("a.proto"), Path::new("msgs"), Path::new("more"), &program];
        assert_eq!(holders.watched(&program), wanted);
    }
}
