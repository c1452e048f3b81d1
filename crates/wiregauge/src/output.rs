//! Results to standard output.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};
use clap::ValueEnum;

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
