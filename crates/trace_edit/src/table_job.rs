//! A table of any messages in place of a trace file.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_columns::{MessageTable, TableFormat, TableSelection};
use wiregauge_trace::copy::ProgressCallback;
use wiregauge_trace::write::OutputFormat;

use crate::copy_job::{CopyInput, CopyOptions};
use crate::encoding::osi_definition;
use crate::message_filter::MessageFilter;
use crate::output_file::open_target;

/// A table that is made of the messages of a file.
pub struct TableJob<'j> {
    /// The file.
    pub input: &'j Path,
    /// Which of its messages: those of one channel.
    pub filter: &'j MessageFilter,
    /// How the file is read.
    pub options: &'j CopyOptions,
    /// What becomes rows and columns.
    pub selection: TableSelection,
}

impl TableJob<'_> {
    /// Writes the table, and says what the user must know. `news` is told how many bytes of how
    /// many were read.
    ///
    /// # Errors
    /// When the input is damaged, has no message that was selected, or has those of several
    /// channels; when no such field is there; or the output's name
    /// asks for no table, or it cannot be written.
    pub fn write(self, output: &Path, news: &mut ProgressCallback) -> Result<Vec<String>> {
        let form = TableFormat::for_table(output)?;
        let files: [PathBuf; 1] = [self.input.to_owned()];
        let draft = open_target(output, &files)?.start_draft()?;
        let table = MessageTable::new(draft, form, self.selection, osi_definition);
        let readers = self.options.open(&files)?;
        let input = CopyInput::new(&files, self.filter);
        let summary =
            self.options.copy_into(&input, readers, OutputFormat::Osi, Box::new(table), news)?;
        Ok(summary.read_notices(output))
    }
}
