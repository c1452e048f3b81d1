//! The codes of a block's numbers: how long they are, and writing them in layers.
//!
//! Loops are such that compilers find vectors in them on any processor of 64 bits:
//! no branches, no count of leading zeros, and 32 bits where a block's numbers lie
//! near one another.

use std::array::from_fn;

use crate::bits::pack;
use crate::block::{is_listed, positions_size, Layers, BLOCK};
use crate::element::Number;
use crate::layer_choice::Lengths;

/// A number or a code, in as many bits as a block needs.
pub(crate) trait Code: Copy + Default + PartialEq + Into<u64> {
    /// How far a number is above the smallest one.
    fn above(self, smallest: Self) -> Self;
    /// A number's difference to the one before, its sign as its lowest bit.
    fn difference(self, before: Self) -> Self;
    /// A code's bits without leading zeros.
    fn length(self) -> u8;
    /// What it has above so many lowest bits, fewer than all.
    fn without(self, width: usize) -> Self;
    /// Its lowest bits, fewer than all.
    fn lowest(self, width: usize) -> Self;
}

macro_rules! code {
    ($type:ty, $signed:ty; $exact:ty, $float:ty, $mantissa:literal, $exponent:ty, $none:literal) => {
        impl Code for $type {
            fn above(self, smallest: Self) -> Self {
                self.wrapping_sub(smallest)
            }

            fn difference(self, before: Self) -> Self {
                let difference = self.wrapping_sub(before) as $signed;
                ((difference << 1) ^ (difference >> (<$signed>::BITS - 1))) as $type
            }

            fn length(self) -> u8 {
                // A float's exponent says it. Without the bit below the highest one
                // nothing rounds up to the next power.
                let highest = (self & !(self >> 1)) as $exact as $float;
                ((highest.to_bits() >> $mantissa) as $exponent).saturating_sub($none) as u8
            }

            fn without(self, width: usize) -> Self {
                self >> width
            }

            fn lowest(self, width: usize) -> Self {
                self & ((1 << width) - 1)
            }
        }
    };
}

// Of 32 bits the highest is never set, so that signed conversions do, which all
// processors have.
code!(u32, i32; i32, f32, 23, u8, 126);
code!(u64, i64; u64, f64, 52, u16, 1022);

/// The numbers of a block.
pub(crate) struct Numbers {
    /// Their lowest bits, which are enough where `is_narrow`.
    pub low: [u32; BLOCK],
    /// All bits, which are there where it is not.
    pub all: [u64; BLOCK],
    pub smallest: i64,
    pub largest: i64,
    pub first: i64,
    pub rows: usize,
}

impl Numbers {
    pub fn new() -> Self {
        Numbers { low: [0; BLOCK], all: [0; BLOCK], smallest: 0, largest: 0, first: 0, rows: 0 }
    }

    /// Whether they are so near one another that 31 bits are enough for each code.
    pub fn is_narrow(&self) -> bool {
        (self.largest.wrapping_sub(self.smallest) as u64) < 1 << 30
    }

    /// Takes the bits of elements of 4 bytes at most in the order of their values.
    pub fn take_low<T: Number>(&mut self, values: &[T], shift: u8) {
        let magnitude = i32::MAX >> (32 - 8 * T::SIZE) >> shift;
        let is_signed = T::IS_FLOAT || T::ELEMENT.is_signed();
        let one = |value: T| {
            let bits = value.bits() as u32;
            if !is_signed {
                return bits >> shift;
            }
            let bits = (bits as i32) >> shift;
            (if T::IS_FLOAT { bits ^ (bits >> 31) & magnitude } else { bits }) as u32
        };
        for (low, &value) in self.low.iter_mut().zip(values) {
            *low = one(value);
        }
        // As signed numbers, which all processors compare.
        let turned = if is_signed { 0 } else { 1 << 31 };
        let signed = || self.low[..values.len()].iter().map(|&low| (low ^ turned) as i32);
        let smallest = signed().fold(i32::MAX, i32::min);
        let largest = signed().fold(i32::MIN, i32::max);
        let number = |low: u32| if is_signed { (low as i32).into() } else { low.into() };
        self.smallest = number(smallest as u32 ^ turned);
        self.largest = number(largest as u32 ^ turned);
        self.first = number(self.low[0]);
        self.rows = values.len();
        if !self.is_narrow() {
            for (all, &low) in self.all[..values.len()].iter_mut().zip(&self.low) {
                *all = number(low) as u64;
            }
        }
    }

    /// Takes so many from `all`.
    pub fn take_all(&mut self, rows: usize) {
        let numbers = &self.all[..rows];
        let signed = || numbers.iter().map(|&number| number as i64);
        self.first = numbers[0] as i64;
        self.smallest = signed().fold(self.first, i64::min);
        self.largest = signed().fold(self.first, i64::max);
        self.rows = rows;
        if self.is_narrow() {
            for (low, &number) in self.low.iter_mut().zip(numbers) {
                *low = number as u32;
            }
        }
    }
}

/// The codes of a block's numbers in both ways.
pub(crate) struct Codes {
    narrow: CodeLists<u32>,
    /// Which few columns need.
    wide: Option<Box<CodeLists<u64>>>,
    is_narrow: bool,
}

struct CodeLists<C> {
    above: CodeList<C>,
    differences: CodeList<C>,
    /// The codes of the layers above.
    second: CodeList<C>,
    third: [C; BLOCK],
}

struct CodeList<C> {
    codes: [C; BLOCK],
    lengths: [u8; BLOCK],
}

impl Codes {
    pub fn new() -> Self {
        Codes { narrow: CodeLists::new(), wide: None, is_narrow: true }
    }

    /// Finds the codes; gives how many bits they have above the smallest number, and
    /// as differences.
    pub fn find(&mut self, numbers: &Numbers) -> [usize; 2] {
        let Numbers { low, all, smallest, rows, .. } = numbers;
        self.is_narrow = numbers.is_narrow();
        if self.is_narrow {
            self.narrow.find(&low[..*rows], *smallest as u32)
        } else {
            let wide = self.wide.get_or_insert_with(|| Box::new(CodeLists::new()));
            wide.find(&all[..*rows], *smallest as u64)
        }
    }

    /// The lengths of those that were found.
    pub fn lengths(&self, differences: bool, rows: usize) -> Lengths {
        match &self.wide {
            Some(wide) if !self.is_narrow => wide.code_list(differences).count(rows),
            _ => self.narrow.code_list(differences).count(rows),
        }
    }

    /// Appends the layers of those that were found, once.
    pub fn write(&mut self, differences: bool, layers: &Layers, out: &mut Vec<u8>) {
        match &mut self.wide {
            Some(wide) if !self.is_narrow => wide.write(differences, layers, out),
            _ => self.narrow.write(differences, layers, out),
        }
    }
}

impl<C: Code> CodeLists<C> {
    fn new() -> Self {
        CodeLists {
            above: CodeList::new(),
            differences: CodeList::new(),
            second: CodeList::new(),
            third: [C::default(); BLOCK],
        }
    }

    fn find(&mut self, numbers: &[C], smallest: C) -> [usize; 2] {
        let rows = numbers.len();
        for (code, &number) in self.above.codes.iter_mut().zip(numbers) {
            *code = number.above(smallest);
        }
        self.differences.codes[0] = C::default();
        let befores = numbers.iter().zip(&numbers[1..]);
        for (code, (&before, &number)) in self.differences.codes[1..].iter_mut().zip(befores) {
            *code = number.difference(before);
        }
        [self.above.measure(rows), self.differences.measure(rows)]
    }

    fn code_list(&self, differences: bool) -> &CodeList<C> {
        if differences {
            &self.differences
        } else {
            &self.above
        }
    }

    fn write(&mut self, differences: bool, layers: &Layers, out: &mut Vec<u8>) {
        let Layers { widths, counts } = layers;
        let first = if differences { &mut self.differences } else { &mut self.above };
        first.split(counts[0], widths[0], counts[1], &mut self.second.codes, out);
        if counts[2] != 0 {
            self.second.measure(counts[1]);
        }
        self.second.split(counts[1], widths[1], counts[2], &mut self.third, out);
        pack(&self.third[..counts[2]], widths[2], out);
    }
}

impl<C: Code> CodeList<C> {
    fn new() -> Self {
        CodeList { codes: [C::default(); BLOCK], lengths: [0; BLOCK] }
    }

    /// Finds the lengths of so many codes; gives their sum.
    fn measure(&mut self, rows: usize) -> usize {
        let (lengths, _) = self.lengths.as_chunks_mut::<16>();
        let (codes, _) = self.codes.as_chunks::<16>();
        for (lengths, codes) in lengths.iter_mut().zip(codes).take(rows.div_ceil(16)) {
            *lengths = from_fn(|i| codes[i].length());
        }
        // Behind them nothing is longer than any width.
        let end = rows.next_multiple_of(8);
        self.lengths[rows..end].fill(0);
        // Sums of pairs, of 128 times 128 at most.
        let eights = self.lengths[..end].chunks_exact(8);
        let pairs = eights.map(eight_of).map(|eight| (eight & PAIRS) + (eight >> 8 & PAIRS));
        let sums: u64 = pairs.sum();
        (0..4).map(|pair| (sums >> (16 * pair)) as usize & 0xffff).sum()
    }

    fn count(&self, rows: usize) -> Lengths {
        let lengths = &self.lengths[..rows.next_multiple_of(8)];
        let (mut longer, mut longest) = ([0; 65], 0);
        while longest < 64 {
            // A count in each byte, of 128 at most.
            let eights = lengths.chunks_exact(8).map(|eight| longer_of_eight(eight, longest));
            let counts: u64 = eights.sum();
            if counts == 0 {
                break;
            }
            longer[longest] = counts.to_le_bytes().iter().map(|&count| usize::from(count)).sum();
            longest += 1;
        }
        Lengths { rows, longer, longest }
    }

    /// Writes the lowest bits of all, and which of them go on above.
    fn split(
        &mut self,
        rows: usize,
        width: usize,
        next: usize,
        above: &mut [C; BLOCK],
        out: &mut Vec<u8>,
    ) {
        if next == 0 {
            pack(&self.codes[..rows], width, out);
            return;
        }
        let mut places = [0u8; BLOCK / 8];
        let mut at = 0;
        let eights = self.lengths.chunks_exact(8).zip(self.codes.chunks_exact(8));
        for (place, (lengths, codes)) in places[..rows.div_ceil(8)].iter_mut().zip(eights) {
            let longer = longer_of_eight(lengths, width);
            *place = (longer.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
            // Without a branch: which of them go on is anybody's guess.
            for code in codes {
                let rest = code.without(width);
                above[at % BLOCK] = rest;
                at += usize::from(rest != C::default());
            }
        }
        let codes = &mut self.codes[..rows];
        for code in &mut *codes {
            *code = code.lowest(width);
        }
        pack(codes, width, out);
        let places = &places[..rows.div_ceil(8)];
        if !is_listed(rows, next) {
            out.extend(&places[..positions_size(rows, next)]);
            return;
        }
        for (at, &place) in places.iter().enumerate() {
            let mut place = place;
            while place != 0 {
                out.extend((8 * at as u16 + place.trailing_zeros() as u16).to_le_bytes());
                place &= place - 1;
            }
        }
    }
}

/// Which of eight lengths are above a width, a byte each.
fn longer_of_eight(lengths: &[u8], width: usize) -> u64 {
    (eight_of(lengths) + ONES * (0x7f - width as u64)) >> 7 & ONES
}

fn eight_of(lengths: &[u8]) -> u64 {
    u64::from_le_bytes(lengths.try_into().expect("eight"))
}

/// Every second byte.
const PAIRS: u64 = u64::MAX / 0xffff * 0xff;

/// A one in each byte.
const ONES: u64 = u64::MAX / 0xff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_what_leading_zeros_leave() {
        for power in 0..64 {
            for code in [(1u64 << power) - 1, 1 << power, (1 << power) + 1, u64::MAX >> power] {
                assert_eq!(u32::from(code.length()), 64 - code.leading_zeros(), "{code:x}");
                let narrow = code as u32 >> 1;
                assert_eq!(u32::from(narrow.length()), 32 - narrow.leading_zeros(), "{narrow:x}");
            }
        }
    }

    #[test]
    fn codes_are_counted_and_split_as_one_by_one() {
        for rows in [1, 7, 8, 9, 64, 100, 1023, 1024] {
            let mut state = rows as u64;
            let codes: Vec<u64> = (0..rows)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 33) >> (state % 31)
                })
                .collect();
            let length = |code: u64| 64 - code.leading_zeros() as usize;
            let (mut narrow, mut wide) = (CodeList::<u32>::new(), CodeList::<u64>::new());
            // As they are after a longer block.
            narrow.codes.fill(u32::MAX >> 1);
            wide.codes.fill(u64::MAX);
            for (row, &code) in codes.iter().enumerate() {
                (narrow.codes[row], wide.codes[row]) = (code as u32, code);
            }
            let sum: usize = codes.iter().map(|&code| length(code)).sum();
            assert_eq!([narrow.measure(rows), wide.measure(rows)], [sum; 2]);
            for lengths in [narrow.count(rows), wide.count(rows)] {
                assert_eq!(lengths.longest, codes.iter().map(|&code| length(code)).max().unwrap());
                for (width, &longer) in lengths.longer.iter().enumerate() {
                    let more = codes.iter().filter(|&&code| length(code) > width);
                    assert_eq!(longer, more.count(), "{rows} rows, {width} bits");
                }
            }
            let width = 9;
            let next = narrow.count(rows).longer[width];
            let mut expected = Vec::new();
            let lowest: Vec<u64> = codes.iter().map(|code| code & 0x1ff).collect();
            pack(&lowest, width, &mut expected);
            let mut bitmap = vec![0u8; if next == 0 { 0 } else { rows.div_ceil(8) }];
            for (row, _) in codes.iter().enumerate().filter(|(_, code)| **code > 0x1ff) {
                bitmap[row / 8] |= 1 << (row % 8);
            }
            expected.extend(bitmap);
            let above: Vec<u64> =
                codes.iter().map(|code| code >> width).filter(|&rest| rest != 0).collect();
            let (mut out, mut wide_out) = (Vec::new(), Vec::new());
            let (mut rest, mut wide_rest) = ([0; BLOCK], [0; BLOCK]);
            narrow.split(rows, width, next, &mut rest, &mut out);
            wide.split(rows, width, next, &mut wide_rest, &mut wide_out);
            assert_eq!((&out, &wide_out), (&expected, &expected), "{rows} rows");
            assert_eq!(wide_rest[..next], above);
            assert!(rest[..next].iter().zip(&above).all(|(&a, &b)| u64::from(a) == b));
        }
    }
}
