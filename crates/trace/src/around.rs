//! A reader around another one: what it does not do itself, the other one does. All methods
//! of [`Reader`] are handed on here, so that no such reader forgets one.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::channel::Channel;
use crate::read::{About, Attachment, Counted, Head, Loss, Metadata, Nanoseconds, Reader};

/// What a reader around another one does; by itself all as the other one.
pub(crate) trait Around {
    /// The other one.
    fn inner(&self) -> &dyn Reader;

    /// As above.
    fn inner_mut(&mut self) -> &mut dyn Reader;

    /// See [`Reader::next`].
    fn advance(&mut self) -> Result<Option<Head>>;

    /// The message that came last where it is another one than the inner reader's.
    fn changed(&self) -> Option<&[u8]>;

    /// See [`Reader::narrow`].
    fn narrow(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.inner_mut().narrow(from, to);
    }

    /// See [`Reader::hop`].
    fn hop(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        self.inner_mut().hop(wanted, most)
    }

    /// What is to be told beside what the inner reader tells.
    fn own_remarks(&self) -> Vec<String>;
}

impl<A: Around> Reader for A {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        self.inner().channels()
    }

    fn next(&mut self) -> Result<Option<Head>> {
        self.advance()
    }

    fn front(&mut self, most: usize) -> Result<&[u8]> {
        match self.changed().is_some() {
            true => Ok(self.changed().map(|all| &all[..most.min(all.len())]).unwrap_or_default()),
            false => self.inner_mut().front(most),
        }
    }

    fn data(&mut self) -> Result<&[u8]> {
        match self.changed().is_some() {
            true => Ok(self.changed().unwrap_or_default()),
            false => self.inner_mut().data(),
        }
    }

    fn narrow(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        Around::narrow(self, from, to);
    }

    fn choose(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        self.inner_mut().choose(wanted);
    }

    fn hop(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        Around::hop(self, wanted, most)
    }

    fn counted(&mut self) -> Result<Option<Counted>> {
        self.inner_mut().counted()
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

    fn about(&self) -> About {
        self.inner().about()
    }

    fn salvage(&mut self) {
        self.inner_mut().salvage();
    }

    fn losses(&self) -> &[Loss] {
        self.inner().losses()
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = self.inner().remarks();
        remarks.extend(self.own_remarks());
        remarks
    }

    fn progress(&self) -> (u64, u64) {
        self.inner().progress()
    }
}
