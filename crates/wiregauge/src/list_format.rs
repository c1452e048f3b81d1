//! How lists are shown.

use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use wiregauge_system::output::print;

/// Form on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Aligned text for a terminal.
    Table,
    /// For scripts.
    Json,
}

impl ListFormat {
    /// Prints a list, for people by its text.
    pub fn print<T: Serialize + ?Sized>(
        self,
        list: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<()> {
        print(&match self {
            ListFormat::Table => text(list),
            ListFormat::Json => serde_json::to_string_pretty(list)?,
        })
    }
}
