//! Messages of ROS 2 that the recorder packed one by one, unpacked: `compression_mode:
//! message` of rosbag2, in whatever container.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::{ensure, Result};

use crate::channel::Channel;
use crate::packed::ZSTD;
use crate::read::{About, Attachment, Head, Loss, Metadata, Nanoseconds, Reader, LARGEST};

/// A reader whose messages in CDR are not packed. In CDR a message begins with 0, so that
/// one that begins as zstd does is packed.
pub struct Unpacking {
    inner: Box<dyn Reader>,
    /// Whether the message that came last was packed, and what it is.
    is_unpacked: bool,
    message: Vec<u8>,
    /// Messages that begin as if they were packed, and are not.
    spoilt: u64,
}

impl Unpacking {
    /// Unpacks what another reader reads.
    pub fn new(inner: Box<dyn Reader>) -> Unpacking {
        Unpacking { inner, is_unpacked: false, message: Vec::new(), spoilt: 0 }
    }

    fn unpack(&mut self) -> Result<()> {
        let packed = self.inner.data()?;
        self.message.clear();
        let unpacked = zstd::Decoder::new(packed).map_err(anyhow::Error::from).and_then(|of| {
            of.take(LARGEST + 1).read_to_end(&mut self.message)?;
            ensure!(self.message.len() as u64 <= LARGEST, "a message that is too large");
            Ok(())
        });
        if unpacked.is_err() {
            // Who decodes it says what is wrong with it.
            self.message.clear();
            self.message.extend_from_slice(packed);
            self.spoilt += 1;
        }
        Ok(())
    }
}

impl Reader for Unpacking {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        self.inner.channels()
    }

    fn next(&mut self) -> Result<Option<Head>> {
        self.is_unpacked = false;
        let Some(head) = self.inner.next()? else { return Ok(None) };
        let is_cdr = self.inner.channels()[&head.channel].message_encoding == "cdr";
        if !is_cdr || self.inner.front(ZSTD.len())? != ZSTD {
            return Ok(Some(head));
        }
        self.unpack()?;
        self.is_unpacked = true;
        Ok(Some(Head { size: self.message.len() as u64, ..head }))
    }

    fn front(&mut self, most: usize) -> Result<&[u8]> {
        match self.is_unpacked {
            true => Ok(&self.message[..most.min(self.message.len())]),
            false => self.inner.front(most),
        }
    }

    fn data(&mut self) -> Result<&[u8]> {
        match self.is_unpacked {
            true => Ok(&self.message),
            false => self.inner.data(),
        }
    }

    fn narrow(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.inner.narrow(from, to);
    }

    fn choose(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        self.inner.choose(wanted);
    }

    fn hop(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        self.inner.hop(wanted, most)
    }

    fn metadata(&self) -> &[Metadata] {
        self.inner.metadata()
    }

    fn attachments(&self) -> &[Attachment] {
        self.inner.attachments()
    }

    fn verify(&mut self) {
        self.inner.verify();
    }

    fn about(&self) -> About {
        self.inner.about()
    }

    fn salvage(&mut self) {
        self.inner.salvage();
    }

    fn losses(&self) -> &[Loss] {
        self.inner.losses()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.inner.remarks();
        if self.spoilt > 0 {
            remarks.push(format!(
                "messages that begin as if they were packed by zstd and cannot be unpacked: {}; \
                 they stay as they are",
                self.spoilt
            ));
        }
        remarks
    }

    fn progress(&self) -> (u64, u64) {
        self.inner.progress()
    }
}
