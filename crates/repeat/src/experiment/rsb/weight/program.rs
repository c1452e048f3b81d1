//! A program that sends and reads a Notification, and how it comes about.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{bail, Context, Result};
use wiregauge_build_tools::{first_error, Need};
use wiregauge_result::run::Origin;

use crate::experiment::rsb::published::TABLE;

/// A program.
pub struct Program {
    /// Its row: the name of the codec that it is one of, where there is that.
    pub id: &'static str,
    /// What it is called in tables.
    pub title: &'static str,
    /// Of its language, as `--language` has it.
    pub key: &'static str,
    /// Its language in tables.
    pub language: &'static str,
    /// How the library is part of it.
    pub built: &'static str,
    /// What a reader must know of how it is made.
    pub options: &'static [&'static str],
    /// What must be on the machine.
    pub needs: &'static [Need],
    /// What it sends; none of one that knows no message.
    pub message: Option<SentMessage>,
    /// How it comes about.
    pub making: Box<dyn ProgramBuilder>,
}

/// What a program sends.
#[derive(Clone, Copy)]
pub enum SentMessage {
    /// Protobuf's bytes.
    Protobuf,
    /// ROS MSG.
    RosMsg,
}

impl SentMessage {
    /// How many bytes that are: the published sizes of the smallest message.
    pub fn size(self) -> f64 {
        let (_, protobuf, ros_msg) = TABLE[0];
        match self {
            SentMessage::Protobuf => protobuf.0,
            SentMessage::RosMsg => ros_msg.0,
        }
    }
}

/// How the programs of a language come about.
pub trait ProgramBuilder {
    /// Writes the program into an empty folder, with what is generated for it.
    fn write(&self, folder: &Path) -> Result<Sources>;
    /// What compiles and links it from its sources; none where nothing does.
    fn compile(&self, folder: &Path) -> Result<Option<Command>>;
    /// What starts it; it reads where it has an argument.
    fn start(&self, folder: &Path) -> Result<Command>;
    /// What of it has to be where it runs.
    fn parts(&self, folder: &Path) -> Result<Parts>;
    /// Its library and version, the compiler and the flags.
    fn origin(&self, folder: &Path) -> (String, Origin);
}

/// Lines that are neither blank nor a comment alone.
pub struct Sources {
    /// Of the program itself.
    pub program: usize,
    /// Of what was generated for it.
    pub generated: usize,
}

/// What has to be where a program runs.
pub struct Parts {
    /// Bytes of the program itself.
    pub program: u64,
    /// The libraries that it loads, with their bytes.
    pub libraries: Vec<(String, u64)>,
}

/// Runs a compiler to its end; how long that took in nanoseconds.
pub fn compile_time(mut command: Command) -> Result<f64> {
    let name = command.get_program().to_string_lossy().into_owned();
    let began = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}; is it installed?"))?;
    let ns = began.elapsed().as_nanos() as f64;
    if !output.status.success() {
        let said = [output.stderr, output.stdout].concat();
        bail!("does not compile: {}", first_error(&[&String::from_utf8_lossy(&said)]));
    }
    Ok(ns)
}

/// Lines of a text that are neither blank nor begin as a comment does.
pub fn code_lines(text: &str, comments: &[&str]) -> usize {
    let is_code =
        |line: &&str| !line.is_empty() && !comments.iter().any(|begin| line.starts_with(begin));
    text.lines().map(str::trim).filter(is_code).count()
}

/// The same of files.
pub fn code_lines_in(paths: impl IntoIterator<Item = PathBuf>, comments: &[&str]) -> Result<usize> {
    let mut sum = 0;
    for path in paths {
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        sum += code_lines(&text, comments);
    }
    Ok(sum)
}

/// Writes a file and the folders that it is in.
pub fn write(folder: &Path, path: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_code() {
        assert_eq!(code_lines("// a\n\n  int a;\n#include <a>\n  // b\n}\n", &["//"]), 3);
    }
}
