//! How rows are written, as those before them tell: most messages of a channel are written as the
//! one before.

use super::shape::Shape;

/// Rows are written in at most so many ways that are looked for.
const MOST_SHAPES: usize = 8;

/// The shapes of the rows of this message and of the one before.
#[derive(Debug, Default)]
pub(crate) struct KnownShapes {
    shapes: Vec<KnownShape>,
    /// How many shapes are not looked for in this message, as its rows could not be told so.
    failed: usize,
}

#[derive(Debug)]
struct KnownShape {
    shape: Shape,
    /// Whether a row of this message is written so.
    is_used: bool,
}

impl KnownShapes {
    /// Another message begins: what the last one did not have is forgotten.
    pub(super) fn begin_message(&mut self) {
        self.shapes.retain_mut(|known| std::mem::take(&mut known.is_used));
        self.failed = 0;
    }

    /// The shape of the rows that these bytes begin with, and how many have it.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<(&Shape, usize)> {
        self.shapes.iter_mut().find_map(|known| {
            let count = known.shape.count(bytes);
            known.is_used |= count > 0;
            (count > 0).then_some((&known.shape, count))
        })
    }

    /// Whether no other shape is looked for.
    pub(super) fn is_full(&self) -> bool {
        self.shapes.len() + self.failed >= MOST_SHAPES
    }

    pub(super) fn add(&mut self, shape: Shape) {
        self.shapes.push(KnownShape { shape, is_used: false });
    }

    /// A row has no shape: after two of them none is looked for in this message.
    pub(super) fn count_failure(&mut self) {
        self.failed += MOST_SHAPES / 2;
    }
}
