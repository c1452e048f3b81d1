//! What every writer of trace files can.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IntoInnerError, Stdout, Write};

use anyhow::{anyhow, Error, Result};
use wiregauge_system::file::{Draft, WriteError};

use crate::channel::Channel;
use crate::read::{Attachment, FileHeader, MessageInfo};

/// Where bytes are written, and are for good once they are settled.
pub trait Output: Write {
    /// Keeps what was written.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn commit(self) -> Result<()>;
}

impl Output for Draft {
    fn commit(self) -> Result<()> {
        self.finish()
    }
}

impl Output for Stdout {
    fn commit(mut self) -> Result<()> {
        Ok(self.flush()?)
    }
}

/// Writes what is still in the buffer, and keeps all of it.
pub(super) fn flush_and_commit(out: BufWriter<impl Output>) -> Result<()> {
    out.into_inner().map_err(IntoInnerError::into_error)?.commit()
}

/// What a file that is written says of itself when it cannot be, as on a full disk; none
/// where something else is wrong.
pub fn output_error(error: &Error) -> Option<Error> {
    let all = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    let mut own = all.filter(|error| error.get_ref().is_some_and(|inner| inner.is::<WriteError>()));
    own.next().map(|error| anyhow!("{error}"))
}

/// What writes a container. Nothing counts as written before it is finished.
pub trait Writer {
    /// Takes what the files say of themselves that this one is made of. Nothing is written
    /// before it.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write_header(&mut self, _about: &FileHeader) -> Result<()> {
        Ok(())
    }

    /// Adds a channel. Its number in this file.
    ///
    /// # Errors
    /// When the container cannot hold it beside those before.
    fn add_channel(&mut self, channel: &Channel) -> Result<u16>;

    /// Writes a message of a channel that was added.
    ///
    /// # Errors
    /// When it cannot be written, or not be said in this container.
    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()>;

    /// Whether the container has room for what is no message.
    fn has_room(&self) -> bool {
        false
    }

    /// Keeps metadata of the whole file; whether the container can.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write_metadata(&mut self, _name: &str, _entries: &BTreeMap<String, String>) -> Result<bool> {
        Ok(false)
    }

    /// Keeps a file within the file; whether the container can.
    ///
    /// # Errors
    /// When it cannot be read or written.
    fn write_attachment(&mut self, _attachment: &Attachment) -> Result<bool> {
        Ok(false)
    }

    /// What the user should be told of what was written, once all of it was.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether messages were written otherwise than they came.
    fn has_changed(&self) -> bool {
        false
    }

    /// Writes what is left, and keeps all of it.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
}
