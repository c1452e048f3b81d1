//! Bytes that lie in a buffer of a reader, which stays as long as somebody has them.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// The bytes of a message where they were read or unpacked to. Nobody copies them: the
/// reader goes on in another buffer as long as somebody has a part of this one.
#[derive(Clone, Debug)]
pub struct SharedBytes {
    buffer: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl SharedBytes {
    /// A part of a buffer.
    ///
    /// # Panics
    /// When the buffer does not have these bytes.
    pub(crate) fn new(buffer: &Arc<Vec<u8>>, range: Range<usize>) -> SharedBytes {
        assert!(range.start <= range.end && range.end <= buffer.len(), "a part of the buffer");
        SharedBytes { buffer: buffer.clone(), range }
    }

    /// Where the buffer lies that they are a part of, and its length in bytes: two messages
    /// of one chunk have the same.
    pub fn buffer(&self) -> &[u8] {
        &self.buffer
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[self.range.clone()]
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> SharedBytes {
        let range = 0..bytes.len();
        SharedBytes { buffer: Arc::new(bytes), range }
    }
}
