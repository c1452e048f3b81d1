//! Results as text, a file a form.

pub mod budget;
pub mod compare;
pub mod csv;
pub mod json;
pub mod junit;
pub mod markdown;
pub(crate) mod plain_text;
pub mod ranking;
pub mod terminal;

use wiregauge_result::run::Run;

/// Form of a result on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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

/// Results in a form; as a table, with lines of at most so many characters.
pub fn render(runs: &[Run], form: ResultFormat, width: Option<usize>) -> String {
    match form {
        ResultFormat::Table => terminal::render(runs, width),
        ResultFormat::Md => markdown::render(runs),
        ResultFormat::Csv => csv::render(runs),
        ResultFormat::Json => json::render(runs),
    }
}
