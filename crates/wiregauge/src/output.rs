//! Results to files and to standard output.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{ensure, Result};
use clap::ValueEnum;
use wiregauge_report::text::{csv, json, markdown, terminal};
use wiregauge_result::run::{Run, Status};
use wiregauge_result::warning;
use wiregauge_system::file::{self, Target};
use wiregauge_system::interrupt;
use wiregauge_system::notice::end_line;
pub use wiregauge_system::notice::print_notice;
use wiregauge_system::text::escape_lines;

use crate::requirements::{RequirementArgs, VerdictTarget, FAILED};

/// Form of a result on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    /// Aligned text for a terminal.
    Table,
    /// Markdown.
    Md,
    /// One line a figure, for spreadsheets.
    Csv,
    /// Derived statistics, for scripts.
    Json,
}

/// Results in a form for standard output.
pub fn render(runs: &[Run], form: ResultFormat) -> String {
    match form {
        ResultFormat::Table => terminal::render(runs, line_width()),
        ResultFormat::Md => markdown::render(runs),
        ResultFormat::Csv => csv::render(runs),
        ResultFormat::Json => json::render(runs),
    }
}

/// Writes a result. That the reader closed the pipe, as `head` does, is no
/// error.
pub fn print(text: &str) -> Result<()> {
    file::print(end_line(text).as_bytes())
}

/// Writes a result for people: what a terminal would obey is written out.
pub fn print_escaped(text: &str) -> Result<()> {
    print(&escape_lines(text))
}

/// How many characters a line may have: what `COLUMNS` says, or the terminal;
/// none where there is no terminal.
pub fn line_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let own =
        || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into());
    let terminal = || if std::io::stdout().is_terminal() { own() } else { None };
    said.filter(|width| *width > 0).or_else(terminal)
}

/// Where a result goes, tried out before anything is measured.
pub struct ResultTarget {
    target: Target,
    form: ResultFormat,
    judge: VerdictTarget,
}

impl ResultTarget {
    /// Looks whether the result can be kept there, and the verdict on it. They
    /// replace no input.
    pub fn open(
        output: &Path,
        form: ResultFormat,
        inputs: &[&Path],
        required: &RequirementArgs,
    ) -> Result<ResultTarget> {
        Ok(ResultTarget {
            target: Target::open(output, inputs)?,
            form,
            judge: required.open(inputs, false)?,
        })
    }
}

impl ResultTarget {
    /// Where `--samples` go: none of `inputs`, and not where the result goes.
    pub fn samples(&self, path: Option<&Path>, inputs: &[&Path]) -> Result<Option<Target>> {
        let Some(path) = path else { return Ok(None) };
        let target = Target::open(path, inputs)?;
        ensure!(
            !target.is_output(),
            "samples are no text for standard output: name a file for --samples"
        );
        ensure!(
            !self.target.is_same(&target),
            "{} is for the result already: name another file for --samples",
            target.display_name()
        );
        Ok(Some(target))
    }
}

/// Writes a result and shows it, as [`write_result`] does. The exit status also says that the
/// measurement was interrupted.
pub fn write_measured(mut run: Run, outlet: ResultTarget) -> Result<ExitCode> {
    let code = write_result(&mut run, outlet)?;
    Ok(if interrupt::interrupted() { ExitCode::from(130) } else { code })
}

/// Writes a judged result to a file and shows it, whatever becomes of the file.
/// The exit status says whether a subject failed, be it on one case only, or a
/// requirement does not hold.
pub fn write_result(
    run: &mut Run,
    ResultTarget { target, form, judge }: ResultTarget,
) -> Result<ExitCode> {
    judge.mark(run);
    let table = render(std::slice::from_ref(run), form);
    let (shown, to_output) = (target.display_name().to_owned(), target.is_output());
    let written = target.write(run.text()?.as_bytes());
    // Standard output belongs to the result, if it was asked for there.
    let printed = if to_output {
        print_notice(&table);
        Ok(())
    } else {
        print(&table)
    };
    if let Err(error) = written {
        return Err(save_elsewhere(run, error));
    }
    printed?;
    if !to_output {
        print_notice(&format!(
            "result in {shown}; wiregauge report {shown} -o report.html makes a page of it"
        ));
    }
    let failed = run.subjects.iter().any(|s| matches!(s.status, Status::Failed(_)))
        || run.warnings.iter().any(|warning| warning.code == warning::FAILED);
    let verdict = judge.write(run)?;
    Ok(ExitCode::from(if failed { FAILED } else { verdict }))
}

/// Keeps a result that could not be written where it was wanted.
fn save_elsewhere(run: &Run, error: anyhow::Error) -> anyhow::Error {
    let kept = || {
        let file = tempfile::Builder::new().prefix("wiregauge-").suffix(".json").tempfile().ok()?;
        file.as_file().write_all(run.text().ok()?.as_bytes()).ok()?;
        Some(file.keep().ok()?.1)
    };
    match kept() {
        Some(path) => error.context(format!("the result is in {} instead", path.display())),
        None => error.context("the result is lost"),
    }
}
