//! What is known of a place in a message before it is written.

/// What is known of the place that is written or read next: so many bytes behind
/// a multiple of an alignment.
#[derive(Clone, Copy)]
pub struct KnownOffset {
    /// The alignment.
    pub modulus: usize,
    /// The bytes behind it.
    pub rest: usize,
}

impl KnownOffset {
    /// Nothing is known.
    pub const UNKNOWN: KnownOffset = KnownOffset { modulus: 1, rest: 0 };

    /// The gap before a number of this size; none where it is not known.
    pub fn gap(self, size: usize) -> Option<usize> {
        (self.modulus >= size).then(|| (size - self.rest % size) % size)
    }

    /// The place so many bytes on.
    pub fn after(self, bytes: usize) -> KnownOffset {
        KnownOffset { rest: (self.rest + bytes) % self.modulus, ..self }
    }

    /// The place of a number of this size.
    pub fn aligned(self, size: usize) -> KnownOffset {
        match self.gap(size) {
            Some(gap) => self.after(gap),
            None => KnownOffset { modulus: size, rest: 0 },
        }
    }
}
