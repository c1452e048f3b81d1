//! A table of any messages: the arguments for that.

use std::path::Path;

use anyhow::{Context, Result};
use wiregauge_columns::{TableFormat, TableSelection};

/// The arguments that say what a table has.
#[derive(clap::Args)]
pub struct TableArgs {
    /// Write these fields of the messages of a channel as a table: header.stamp, or * for all.
    #[arg(long, value_name = "PATH,…", value_delimiter = ',')]
    fields: Vec<String>,
    /// For tables: the list whose elements are the rows, instead of messages.
    #[arg(long, value_name = "LIST")]
    rows: Option<String>,
}

impl TableArgs {
    /// What the table has, if one of fields is wanted.
    ///
    /// # Errors
    /// When the file's name asks for no table.
    pub fn selection(
        &self,
        output: &Path,
        skips_failed: bool,
    ) -> Result<Option<(TableSelection, TableFormat)>> {
        if self.fields.is_empty() && self.rows.is_none() {
            return Ok(None);
        }
        let form = TableFormat::from_path(output).with_context(|| {
            format!("{}: end the name in .arrow or .parquet for a table", output.display())
        })?;
        let fields = self.fields.iter().filter(|field| *field != "*").cloned().collect();
        Ok(Some((TableSelection { rows: self.rows.clone(), fields, skips_failed }, form)))
    }
}
