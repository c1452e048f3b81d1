//! How lists are shown.

use clap::ValueEnum;

/// Form on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Aligned text for a terminal.
    Table,
    /// For scripts.
    Json,
}
