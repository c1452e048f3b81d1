//! Choosing how the codes of a block are kept.

use crate::bits::packed_size;
use crate::block::{positions_size, Layers};

/// How many codes there are of which length.
#[derive(Debug)]
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
            let lowest = packed_size(rows, first) + positions_size(rows, second);
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
                    + positions_size(second, third)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// All layers that there are, in the order in which the first of the smallest counts.
    fn every(of: &Lengths, step: usize) -> Vec<Layers> {
        let most = of.longest.next_multiple_of(step);
        let mut all = vec![Layers { widths: [most, 0, 0], counts: [of.rows, 0, 0] }];
        for first in (0..most).step_by(step) {
            let second = of.longer[first];
            let counts = [of.rows, second, 0];
            all.push(Layers { widths: [first, most - first, 0], counts });
            for both in (first + step..most).step_by(step) {
                let counts = [of.rows, second, of.longer[both]];
                all.push(Layers { widths: [first, both - first, most - both], counts });
            }
        }
        all
    }

    fn size(of: &Layers) -> usize {
        let Layers { widths, counts } = of;
        let packed: usize = (0..3).map(|i| packed_size(counts[i], widths[i])).sum();
        packed + positions_size(counts[0], counts[1]) + positions_size(counts[1], counts[2])
    }

    #[test]
    fn the_first_of_the_smallest_is_found_and_none_that_is_not_below() {
        let mut state = 1u64;
        let mut below = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % end
        };
        for turn in 0..2000 {
            let rows = [1, 3, 40, 1024][turn % 4];
            let (longest, few) = (1 + below(64), 1 + below(4));
            let mut lengths = Lengths { rows, longer: [0; 65], longest };
            let mut left = rows;
            for width in 0..longest {
                left = (if below(few) == 0 { left / (1 + below(4)) } else { left }).max(1);
                lengths.longer[width] = left;
            }
            for step in [1, 8] {
                let every = every(&lengths, step);
                let least = every.iter().map(size).min().unwrap();
                let best = *every.iter().find(|layers| size(layers) == least).unwrap();
                for below in [usize::MAX, least + 1] {
                    assert_eq!(lengths.layers(step, below), Some((best, least)), "{lengths:?}");
                }
                assert_eq!(lengths.layers(step, least), None);
            }
        }
    }
}
