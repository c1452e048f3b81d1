//! The messages of a channel as a file of rows: a row a message, or an element of a list in it.

use std::sync::Arc;

use anyhow::{anyhow, bail, Context, Result};
use wiregauge_trace::channel::{Channel, Definition};
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::write::{Output, Writer};

use crate::table_file::{TableFile, TableFormat};
use crate::table_rows::{TableRows, TableSelection};

/// Finds the definition of a channel that does not carry its own.
pub type FindDefinition = fn(&Channel) -> Result<Definition>;

/// Writes the messages of one channel as a table.
pub struct MessageTable<W: Output + Send + 'static> {
    /// None once it is begun.
    out: Option<(W, TableFormat)>,
    selection: TableSelection,
    find_definition: FindDefinition,
    channels: Vec<Channel>,
    table: Option<(TableRows, TableFile<W>)>,
    rows: u64,
    skipped: u64,
    first_failure: Option<String>,
}

impl<W: Output + Send + 'static> MessageTable<W> {
    /// Begins a table. What OSI's files lack is found by `find_definition`.
    pub fn new(
        out: W,
        form: TableFormat,
        selection: TableSelection,
        find_definition: FindDefinition,
    ) -> MessageTable<W> {
        MessageTable {
            out: Some((out, form)),
            selection,
            find_definition,
            channels: Vec::new(),
            table: None,
            rows: 0,
            skipped: 0,
            first_failure: None,
        }
    }

    /// Begins the table with the first message, whose channel says the columns.
    fn open(&mut self, channel: usize) -> Result<(TableRows, TableFile<W>)> {
        let mut channel = self.channels[channel].clone();
        if channel.definition.data.is_empty() && channel.message_encoding == "protobuf" {
            channel.definition = Arc::new((self.find_definition)(&channel)?);
        }
        let rows = TableRows::new(&channel, &self.selection)?;
        let (out, form) = self.out.take().context("the table was begun")?;
        let file = TableFile::begin(out, form, &rows.schema())?;
        Ok((rows, file))
    }
}

impl<W: Output + Send + 'static> Writer for MessageTable<W> {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        self.channels.push(channel.clone());
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let channel = usize::from(channel);
        let (mut rows, mut file) = match self.table.take() {
            Some(table) => table,
            None => self.open(channel)?,
        };
        rows.check_channel(&self.channels[channel]).context("--channel chooses one")?;
        match rows.push(head, data) {
            Ok(()) => {}
            Err(error) if self.selection.skips_failed => {
                self.skipped += 1;
                self.first_failure.get_or_insert_with(|| format!("{error:#}"));
            }
            Err(error) => return Err(error),
        }
        if rows.is_full() {
            self.rows += rows.len() as u64;
            file.write(rows.finish()?)?;
        }
        self.table = Some((rows, file));
        Ok(())
    }

    fn remarks(&self) -> Vec<String> {
        let held = self.table.as_ref().map_or(0, |(rows, _)| rows.len() as u64);
        let mut remarks = vec![format!("{} rows", self.rows + held)];
        if let Some(reason) = &self.first_failure {
            let skipped = self.skipped;
            remarks.push(format!("{skipped} messages left out, the first as {reason}"));
        }
        remarks
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let reason = self.first_failure.take();
        let Some((mut rows, mut file)) = self.table.take() else {
            bail!("no message was selected");
        };
        match reason {
            Some(reason) if self.rows == 0 && rows.is_empty() => {
                return Err(anyhow!("no message can be read: {reason}"));
            }
            _ if !rows.is_empty() => file.write(rows.finish()?)?,
            _ => {}
        }
        file.finish()
    }
}
