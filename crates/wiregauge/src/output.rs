//! Results to files and to standard output.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::ValueEnum;
use wiregauge_gauge::run::{Run, Status};
use wiregauge_gauge::warning::Warning;
use wiregauge_gauge::{judge, warning};

use crate::verb::report::render;

/// Form of a result on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Aligned text for a terminal.
    Table,
    /// Markdown.
    Md,
    /// One line a figure, for spreadsheets.
    Csv,
    /// Derived statistics, for scripts.
    Json,
}

/// Writes a result. That the reader closed the pipe, as `head` does, is no
/// error.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| {
        if text.ends_with('\n') {
            out.flush()
        } else {
            out.write_all(b"\n").and_then(|()| out.flush())
        }
    });
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Judges a result, with `more` to be said of it, writes it to a file and shows
/// it. The exit status says whether a subject failed.
pub fn deliver(run: &mut Run, more: Vec<Warning>, file: &Path, form: Form) -> Result<ExitCode> {
    let mut cautions = run.environment.cautions();
    cautions.extend(judge::cautions(run));
    run.warnings = warning::merge(&cautions);
    run.warnings.extend(more);
    hand_over(run, file, form)
}

/// Writes a judged result to a file and shows it. The exit status says whether
/// a subject failed, be it on one case only.
pub fn hand_over(run: &Run, file: &Path, form: Form) -> Result<ExitCode> {
    run.write(file)?;
    print(&render(std::slice::from_ref(run), form))?;
    let shown = file.display();
    eprintln!("result in {shown}; wiregauge report {shown} -o report.html makes a page of it");
    let failed = run.subjects.iter().any(|s| matches!(s.status, Status::Failed(_)))
        || run.warnings.iter().any(|warning| warning.code == warning::FAILED);
    Ok(ExitCode::from(u8::from(failed)))
}

/// The command line, as a shell takes it.
pub fn command() -> Vec<String> {
    std::iter::once("wiregauge".to_owned()).chain(std::env::args().skip(1)).collect()
}
