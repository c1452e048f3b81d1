//! What is shown to the user on standard output.

use std::io::IsTerminal;

use anyhow::Result;

use crate::file;
use crate::notice::end_line;
use crate::text::escape_lines;

/// Writes a text and ends its last line. That the reader closed the pipe, as `head` does, is no
/// error.
///
/// # Errors
/// When standard output cannot be written.
pub fn print(text: &str) -> Result<()> {
    file::print(end_line(text).as_bytes())
}

/// Writes a text for people: what a terminal would obey is written out.
///
/// # Errors
/// As for [`print()`].
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
