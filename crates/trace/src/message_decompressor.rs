//! Messages of ROS 2 that the recorder packed one by one, unpacked: `compression_mode:
//! message` of rosbag2, in whatever container.

use std::io::Read;

use anyhow::{ensure, Result};
use zstd::zstd_safe::{DCtx, ResetDirective};

use crate::compressed_file::ZSTD;
use crate::read::{MessageInfo, Reader, LARGEST};
use crate::reader_adapter::ReaderAdapter;

/// A reader whose messages in CDR are not packed. In CDR a message begins with 0, so that
/// one that begins as zstd does is packed.
pub struct MessageDecompressor {
    inner: Box<dyn Reader>,
    /// What unpacks one message after another.
    decoder: DCtx<'static>,
    /// Whether the message that came last was packed, and what it is.
    is_unpacked: bool,
    message: Vec<u8>,
    /// Messages that begin as if they were packed, and are not.
    spoilt: u64,
}

impl MessageDecompressor {
    /// Unpacks what another reader reads.
    pub fn new(inner: Box<dyn Reader>) -> MessageDecompressor {
        let (decoder, message) = (DCtx::create(), Vec::new());
        MessageDecompressor { inner, decoder, is_unpacked: false, message, spoilt: 0 }
    }

    fn unpack(&mut self) -> Result<()> {
        let packed = self.inner.data()?;
        self.message.clear();
        // What was damaged before leaves nothing behind.
        let reset = self.decoder.reset(ResetDirective::SessionOnly);
        ensure!(reset.is_ok(), "zstd cannot be reset");
        let unpacked = zstd::Decoder::with_context(packed, &mut self.decoder)
            .take(LARGEST + 1)
            .read_to_end(&mut self.message);
        if unpacked.is_err() || self.message.len() as u64 > LARGEST {
            // Who decodes it says what is wrong with it.
            self.message.clear();
            self.message.extend_from_slice(packed);
            self.spoilt += 1;
        }
        Ok(())
    }
}

impl ReaderAdapter for MessageDecompressor {
    fn inner(&self) -> &dyn Reader {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn Reader {
        self.inner.as_mut()
    }

    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        self.is_unpacked = false;
        let Some(head) = self.inner.next()? else { return Ok(None) };
        let is_cdr = self.inner.channels()[&head.channel].message_encoding == "cdr";
        if !is_cdr || self.inner.first_bytes(ZSTD.len())? != ZSTD {
            return Ok(Some(head));
        }
        self.unpack()?;
        self.is_unpacked = true;
        Ok(Some(MessageInfo { size: self.message.len() as u64, ..head }))
    }

    fn changed(&self) -> Option<&[u8]> {
        Some(&self.message[..]).filter(|_| self.is_unpacked)
    }

    fn take_changed(&mut self) -> Option<Vec<u8>> {
        self.is_unpacked.then(|| std::mem::take(&mut self.message))
    }

    fn added_remarks(&self) -> Vec<String> {
        match self.spoilt {
            0 => Vec::new(),
            spoilt => vec![format!(
                "messages that look like zstd but cannot be unpacked: {spoilt}; they are kept \
                 unchanged"
            )],
        }
    }
}
