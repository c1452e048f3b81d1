//! What came over a control connection and is not read yet: a line of JSON each
//! message, perhaps sealed.

use std::sync::PoisonError;

use anyhow::{ensure, Context, Result};
use serde::de::DeserializeOwned;

use crate::seal::SharedSeal;

/// Longest message, in bytes.
const MAX_MESSAGE: usize = 64 << 20;
/// Bytes of the length before what was encrypted at once.
const PREFIX: usize = 2;

/// Bytes that came, and the messages in them.
#[derive(Debug)]
pub struct Inbox {
    seal: Option<SharedSeal>,
    /// What came and is sealed.
    raw: Vec<u8>,
    unread: Vec<u8>,
    /// How much of it holds no line's end.
    searched: usize,
    longest: usize,
}

impl Inbox {
    /// Of a connection that is encrypted where there is a seal.
    pub fn new(seal: Option<SharedSeal>) -> Inbox {
        let (raw, unread) = (Vec::new(), Vec::new());
        Inbox { seal, raw, unread, searched: 0, longest: MAX_MESSAGE }
    }

    /// Takes no message of more bytes from now on.
    pub fn limit_message_size(&mut self, longest: Option<usize>) {
        self.longest = longest.unwrap_or(MAX_MESSAGE);
    }

    /// Takes what came.
    ///
    /// # Errors
    /// When it is not sealed by the key.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(seal) = &self.seal else {
            self.unread.extend_from_slice(bytes);
            return Ok(());
        };
        self.raw.extend_from_slice(bytes);
        let mut seal = seal.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = 0;
        while let Some(prefix) = self.raw[taken..].first_chunk::<PREFIX>() {
            let start = taken + PREFIX;
            let end = start + usize::from(u16::from_be_bytes(*prefix));
            let Some(sealed) = self.raw.get(start..end) else { break };
            let plain = seal.decrypt(sealed).context("a message was not encrypted with the key")?;
            self.unread.extend_from_slice(&plain);
            taken = end;
        }
        self.raw.drain(..taken);
        Ok(())
    }

    /// The next message, where all of it came.
    ///
    /// # Errors
    /// One that is too long, or none of these.
    pub fn next_message<M: DeserializeOwned>(&mut self) -> Result<Option<M>> {
        let news = &self.unread[self.searched..];
        let Some(end) = news.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.unread.len();
            let longest = self.longest;
            ensure!(self.searched <= longest, "a message has more than {longest} bytes");
            return Ok(None);
        };
        let line: Vec<u8> = self.unread.drain(..=self.searched + end).collect();
        self.searched = 0;
        serde_json::from_slice(&line).map(Some).with_context(|| {
            let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
            format!("not a message of wiregauge: {shown:?}")
        })
    }
}
