//! Memory for what is built.

use std::ptr::NonNull;

use capnp::message::{Allocator, HeapAllocator};
use capnp::Word;

/// The heap, except that one segment stays from message to message, with room
/// for all of the largest one: what the library's ScratchSpaceHeapAllocator does,
/// for memory that it owns.
#[derive(Default)]
pub struct KeepingAllocator {
    heap: HeapAllocator,
    kept: Option<Segment>,
    /// Words of the last message.
    used: u32,
}

struct Segment {
    start: NonNull<u8>,
    words: u32,
    /// How many words from the start may not be zero.
    dirty: u32,
}

impl KeepingAllocator {
    /// Words of the kept segment.
    pub fn word_count(&self) -> u32 {
        self.kept.as_ref().map_or(0, |kept| kept.words)
    }

    /// Between two messages: makes the kept segment large enough for the last.
    pub fn fit(&mut self) {
        let used = std::mem::take(&mut self.used);
        if self.word_count() < used {
            self.free();
            let mut heap = HeapAllocator::new().first_segment_words(used);
            let (start, words) = heap.allocate_segment(used);
            self.kept = Some(Segment { start, words, dirty: 0 });
        }
    }

    fn free(&mut self) {
        if let Some(kept) = self.kept.take() {
            // SAFETY: the segment is the heap's with so many words, and was handed out to
            // nobody: it would not be kept.
            unsafe { self.heap.deallocate_segment(kept.start, kept.words, kept.dirty) }
        }
    }
}

impl Drop for KeepingAllocator {
    fn drop(&mut self) {
        self.free();
    }
}

// SAFETY: segments are the heap's, which are zero, aligned and apart. A kept one is
// handed out to one at a time, after what may have been written is zero again.
unsafe impl Allocator for KeepingAllocator {
    fn allocate_segment(&mut self, minimum: u32) -> (NonNull<u8>, u32) {
        match self.kept.take_if(|kept| kept.words >= minimum) {
            Some(kept) => {
                // SAFETY: the segment is nobody else's, and of its words the dirty come first.
                unsafe { kept.start.write_bytes(0, kept.dirty as usize * size_of::<Word>()) };
                (kept.start, kept.words)
            }
            None => self.heap.allocate_segment(minimum),
        }
    }

    unsafe fn deallocate_segment(&mut self, start: NonNull<u8>, words: u32, dirty: u32) {
        self.used = self.used.saturating_add(dirty);
        if self.kept.as_ref().is_none_or(|kept| kept.words < words) {
            self.free();
            self.kept = Some(Segment { start, words, dirty });
        } else {
            // SAFETY: the caller's segment is the heap's with so many words, and is not
            // kept: it is given back once.
            unsafe { self.heap.deallocate_segment(start, words, dirty) }
        }
    }
}
