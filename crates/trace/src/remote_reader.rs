//! The reader of a recording in an archive. What could not be fetched ends the reading: it is
//! told as what it is, and not as damage of the recording.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use wiregauge_system::interrupt;

use crate::read::{MessageInfo, Reader};
use crate::reader_adapter::ReaderAdapter;
use crate::remote_file::{known_file, unless_unfetched, RemoteFile};

/// A reader of a recording in an archive.
pub(crate) struct RemoteReader {
    /// That which the other one reads: its address may stand for another one later.
    file: Option<Arc<RemoteFile>>,
    inner: Box<dyn Reader>,
}

impl RemoteReader {
    /// Around another one, which may have been opened.
    ///
    /// # Errors
    /// When something could not be fetched, or with the error of the other one.
    pub fn around(inner: Result<Box<dyn Reader>>, path: &Path) -> Result<Box<dyn Reader>> {
        let inner = unless_unfetched(path, inner)?;
        Ok(Box::new(RemoteReader { file: known_file(path), inner }))
    }
}

impl ReaderAdapter for RemoteReader {
    fn inner(&self) -> &dyn Reader {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Reader {
        &mut *self.inner
    }

    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        let next = self.inner.next();
        // Where damage is left out, what follows a fault would be taken for damage.
        if !matches!(next, Ok(Some(_))) || !self.inner.losses().is_empty() {
            interrupt::check()?;
            self.file.as_ref().map_or(Ok(()), |file| file.require_fetched())?;
        }
        next
    }

    fn changed(&self) -> Option<&[u8]> {
        None
    }

    fn added_remarks(&self) -> Vec<String> {
        Vec::new()
    }
}
