//! Choosing how the codes of a block are kept.

use crate::bits::packed_size;
use crate::block::{places_size, Layers};

/// How many codes there are of which length.
pub(crate) struct Lengths {
    pub rows: usize,
    /// Codes that are longer than so many bits.
    pub longer: [usize; 65],
    /// Of the longest one.
    pub longest: usize,
}

impl Lengths {
    /// The layers that take less than so many bytes, and what they take: the smallest, of several
    /// the first. Widths are multiples of the step.
    pub fn layers(&self, step: usize, below: usize) -> Option<(Layers, usize)> {
        let Lengths { rows, longer, longest } = self;
        let rows = *rows;
        let most = longest.next_multiple_of(step).min(64);
        let mut size = below;
        let mut best = None;
        let one = packed_size(rows, most);
        if one < size {
            best = Some(Layers { widths: [most, 0, 0], counts: [rows, 0, 0] });
            size = one;
        }
        // What the bits above a width take at least, however they are layered.
        let mut bits = [0; 65];
        for width in (0..most).rev() {
            bits[width] = bits[width + 1] + longer[width];
        }
        for first in (0..most).step_by(step) {
            let second = longer[first];
            let lowest = packed_size(rows, first) + places_size(rows, second);
            if lowest + bits[first].div_ceil(8) >= size {
                continue;
            }
            let two = lowest + packed_size(second, most - first);
            if two < size {
                best = Some(Layers { widths: [first, most - first, 0], counts: [rows, second, 0] });
                size = two;
            }
            for both in (first + step..most).step_by(step) {
                let middle = second * (both - first);
                if lowest + (middle + bits[both]).div_ceil(8) >= size {
                    break; // so it is with all that are wider
                }
                let third = longer[both];
                let three = lowest
                    + middle.div_ceil(8)
                    + places_size(second, third)
                    + packed_size(third, most - both);
                if three < size {
                    let widths = [first, both - first, most - both];
                    best = Some(Layers { widths, counts: [rows, second, third] });
                    size = three;
                }
            }
        }
        best.map(|best| (best, size))
    }
}
