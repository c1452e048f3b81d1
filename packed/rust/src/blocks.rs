//! A reduced column: an index, then its blocks.

use std::ops::Range;

use crate::block::{Block, BlockForm, BLOCK, POWERS};
use crate::element::{for_element, from_order, load_value, Element, Number};
use crate::half::Half;

/// A reduced column that has been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks<'a> {
    index: &'a [u8],
    bytes: &'a [u8],
    rows: usize,
    element: Element,
    resolution: Option<f64>,
}

/// Bytes of an entry of the index.
pub(crate) const ENTRY: usize = 4;

impl<'a> Blocks<'a> {
    /// None where the bytes do not hold so many rows in sound blocks.
    pub fn open(
        bytes: &'a [u8],
        rows: usize,
        element: Element,
        resolution: Option<f64>,
    ) -> Option<Self> {
        let count = rows.div_ceil(BLOCK);
        let (index, bytes) = bytes.split_at_checked(count * ENTRY)?;
        let blocks = Blocks { index, bytes, rows, element, resolution };
        let mut begin = 0;
        for at in 0..count {
            let end = blocks.end(at);
            Block::open(bytes.get(begin..end)?, blocks.rows_of(at), element, resolution.is_some())?;
            begin = end;
        }
        (begin == bytes.len()).then_some(blocks)
    }

    pub fn resolution(&self) -> Option<f64> {
        self.resolution
    }

    fn end(&self, at: usize) -> usize {
        u32::load(&self.index[at * ENTRY..][..ENTRY]) as usize
    }

    fn rows_of(&self, at: usize) -> usize {
        (self.rows - at * BLOCK).min(BLOCK)
    }

    fn block(&self, at: usize) -> Block<'a> {
        let begin = if at == 0 { 0 } else { self.end(at - 1) };
        let bytes = &self.bytes[begin..self.end(at)];
        let block = Block::open(bytes, self.rows_of(at), self.element, self.resolution.is_some());
        block.expect("a block that was checked")
    }

    /// The elements of some rows.
    pub fn restore<T: Number>(&self, rows: Range<usize>, mut out: &mut [T]) {
        let mut row = rows.start;
        while row < rows.end {
            let at = row / BLOCK;
            let inside = row % BLOCK;
            let count = (rows.end - row).min(BLOCK - inside);
            let (now, later) = out.split_at_mut(count);
            if count == self.rows_of(at) {
                self.restore_block(at, now);
            } else {
                let mut all = [T::from_bits(0); BLOCK];
                let all = &mut all[..self.rows_of(at)];
                self.restore_block(at, all);
                now.copy_from_slice(&all[inside..inside + count]);
            }
            out = later;
            row += count;
        }
    }

    /// A row's element, before its scale.
    pub fn value(&self, row: usize) -> f64 {
        macro_rules! one {
            ($type:ty) => {{
                let mut out = [<$type>::from_bits(0)];
                self.restore(row..row + 1, &mut out);
                let mut bytes = [0; 8];
                out[0].store(&mut bytes[..<$type>::SIZE]);
                load_value(self.element, &bytes[..<$type>::SIZE])
            }};
        }
        for_element!(self.element, one, f64::NAN)
    }

    /// The bytes of all elements.
    pub fn elements(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.rows * self.element.size()];
        macro_rules! all {
            ($type:ty) => {{
                let mut block = [<$type>::from_bits(0); BLOCK];
                let places = bytes.chunks_mut(BLOCK * <$type>::SIZE);
                for (at, place) in places.enumerate() {
                    let block = &mut block[..self.rows_of(at)];
                    self.restore_block(at, block);
                    let places = place.chunks_exact_mut(<$type>::SIZE);
                    for (place, &mut value) in places.zip(block) {
                        value.store(place);
                    }
                }
            }};
        }
        for_element!(self.element, all, ());
        bytes
    }

    fn restore_block<T: Number>(&self, at: usize, out: &mut [T]) {
        let block = self.block(at);
        let mut numbers = [0; BLOCK];
        let numbers = &mut numbers[..out.len()];
        block.numbers(numbers);
        let numbers = numbers.iter().map(|&number| number as i64);
        match block.head.form {
            BlockForm::Bits(shift) => {
                for (value, number) in out.iter_mut().zip(numbers) {
                    *value = from_order(number, shift);
                }
            }
            BlockForm::Steps => {
                let resolution = self.resolution.unwrap_or_default();
                for (value, number) in out.iter_mut().zip(numbers) {
                    *value = T::from_f64(number as f64 * resolution);
                }
            }
            BlockForm::Decimal(power) => {
                let power = POWERS[usize::from(power)];
                for (value, number) in out.iter_mut().zip(numbers) {
                    *value = T::from_f64(number as f64 / power);
                }
            }
        }
        let rows = block.plain_rows.chunks_exact(2);
        for (row, bytes) in rows.zip(block.plain.chunks_exact(T::SIZE)) {
            out[usize::from(u16::load(row))] = T::load(bytes);
        }
    }
}
