//! Parts of one file in an archive, fetched by programs of which each does one thing at a time.

use std::fmt;
use std::path::PathBuf;
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{ensure, Result};
use wiregauge_trace::remote_file::{FetchedRange, RangeSource};

use crate::conversation::{Conversation, Request};

/// How many programs wait for the next request.
const IDLE: usize = 4;

/// The programs that wait, and the process that started them. Another one, which was forked
/// off, has none.
static WAITING: Mutex<(u32, Vec<Conversation>)> = Mutex::new((0, Vec::new()));

/// A file in an archive.
pub struct ArchiveRanges {
    program: PathBuf,
    url: String,
    /// What the first answer told.
    version: OnceLock<String>,
}

impl ArchiveRanges {
    /// A file by its whole address.
    pub fn new(program: PathBuf, url: String) -> ArchiveRanges {
        ArchiveRanges { program, url, version: OnceLock::new() }
    }
}

impl fmt::Debug for ArchiveRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its address may be signed.
        f.write_str("ArchiveRanges")
    }
}

impl RangeSource for ArchiveRanges {
    fn fetch(&self, from: u64, length: u64) -> Result<FetchedRange> {
        let mut program = match take_waiting() {
            Some(program) => program,
            None => Conversation::start(&self.program)?,
        };
        let version = self.version.get().map(String::as_str);
        let answer = program.ask(&Request { url: &self.url, from, length, version })?;
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.0 == process::id() && waiting.1.len() < IDLE {
            waiting.1.push(program);
        }
        drop(waiting);
        let answer = answer?;
        let version = self.version.get_or_init(|| answer.version.clone());
        ensure!(
            *version == answer.version,
            "it was changed while it was read; run the command again"
        );
        Ok(FetchedRange { bytes: answer.bytes, size: answer.size, version: answer.version })
    }
}

/// A program that waits.
fn take_waiting() -> Option<Conversation> {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.0 != process::id() {
        // Those of the process that this one was forked from are not to be ended.
        waiting.1.drain(..).for_each(std::mem::forget);
        waiting.0 = process::id();
    }
    waiting.1.pop()
}
