//! A table of any messages: the arguments for that.

use wiregauge_columns::TableSelection;

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
    pub fn selection(&self, skips_failed: bool) -> Option<TableSelection> {
        let (rows, fields) = (self.rows.clone(), self.fields.clone());
        let is_wanted = rows.is_some() || !fields.is_empty();
        is_wanted.then_some(TableSelection { rows, fields, skips_failed })
    }
}
