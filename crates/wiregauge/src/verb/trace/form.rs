//! How results are shown.

use clap::ValueEnum;

/// Form on standard output.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Text for a terminal.
    Table,
    /// For scripts: a list with an entry a file.
    Json,
}
