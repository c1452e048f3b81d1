//! A reader around another one: what it does not do itself, the other one does. All methods
//! of [`Reader`] are handed on here, so that no such reader forgets one.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::channel::Channel;
use crate::read::{
    Attachment, FileHeader, Loss, MessageCounts, MessageInfo, Metadata, Nanoseconds, Reader,
};
use crate::shared_bytes::SharedBytes;

/// What a reader around another one does; by itself all as the other one.
pub(crate) trait ReaderAdapter: Send {
    /// The other one.
    fn inner(&self) -> &dyn Reader;

    /// As above.
    fn inner_mut(&mut self) -> &mut dyn Reader;

    /// See [`Reader::next`].
    fn advance(&mut self) -> Result<Option<MessageInfo>>;

    /// The message that came last where it is another one than the inner reader's.
    fn changed(&self) -> Option<&[u8]>;

    /// The same for who keeps it; it is not asked for again.
    fn take_changed(&mut self) -> Option<Vec<u8>> {
        self.changed().map(<[u8]>::to_vec)
    }

    /// See [`Reader::limit_times`].
    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.inner_mut().limit_times(from, to);
    }

    /// See [`Reader::skip_messages`].
    fn skip_messages(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        self.inner_mut().skip_messages(wanted, most)
    }

    /// What is to be told beside what the inner reader tells.
    fn added_remarks(&self) -> Vec<String>;
}

impl<A: ReaderAdapter> Reader for A {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        self.inner().channels()
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        self.advance()
    }

    fn first_bytes(&mut self, most: usize) -> Result<&[u8]> {
        match self.changed().is_some() {
            true => Ok(self.changed().map(|all| &all[..most.min(all.len())]).unwrap_or_default()),
            false => self.inner_mut().first_bytes(most),
        }
    }

    fn data(&mut self) -> Result<&[u8]> {
        match self.changed().is_some() {
            true => Ok(self.changed().unwrap_or_default()),
            false => self.inner_mut().data(),
        }
    }

    fn shared_data(&mut self) -> Result<SharedBytes> {
        match self.take_changed() {
            Some(changed) => Ok(changed.into()),
            None => self.inner_mut().shared_data(),
        }
    }

    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        ReaderAdapter::limit_times(self, from, to);
    }

    fn select_channels(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        self.inner_mut().select_channels(wanted);
    }

    fn limit_positions(&mut self, from: u64, to: u64) -> Result<()> {
        self.inner_mut().limit_positions(from, to)
    }

    fn skip_messages(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        ReaderAdapter::skip_messages(self, wanted, most)
    }

    fn indexed_counts(&mut self) -> Result<Option<MessageCounts>> {
        self.inner_mut().indexed_counts()
    }

    fn metadata(&self) -> &[Metadata] {
        self.inner().metadata()
    }

    fn attachments(&self) -> &[Attachment] {
        self.inner().attachments()
    }

    fn verify(&mut self) {
        self.inner_mut().verify();
    }

    fn file_header(&self) -> FileHeader {
        self.inner().file_header()
    }

    fn salvage(&mut self) {
        self.inner_mut().salvage();
    }

    fn losses(&self) -> &[Loss] {
        self.inner().losses()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.inner().remarks();
        remarks.extend(self.added_remarks());
        remarks
    }

    fn progress(&self) -> (u64, u64) {
        self.inner().progress()
    }
}
