//! Reducing a column: numbers of few bits in blocks.

use std::array::from_fn;

use crate::block::{BlockForm, BlockHead, Layers, BLOCK, POWERS};
use crate::blocks::ENTRY;
use crate::codes::{Codes, Numbers};
use crate::element::{for_element, to_order, Element, Number};
use crate::error::{Error, Fault, Result};
use crate::half::Half;

/// How a column is reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reduction {
    /// The resolution in the column's unit: no value changes by more than half
    /// of it. None keeps every bit.
    pub resolution: Option<f64>,
    /// Whether widths are whole bytes. That is larger by itself, and smaller
    /// where the whole is compressed afterwards.
    pub whole_bytes: bool,
}

impl Reduction {
    /// Keeps every bit.
    pub fn exact() -> Self {
        Reduction::default()
    }

    /// Keeps values to half of this, in the column's unit.
    pub fn resolution(resolution: f64) -> Self {
        Reduction { resolution: Some(resolution), ..Reduction::default() }
    }

    /// The same in whole bytes, for what is compressed afterwards.
    pub fn in_whole_bytes(self) -> Self {
        Reduction { whole_bytes: true, ..self }
    }
}

/// Whether a resolution is one that a column of these elements may have.
pub(crate) fn is_resolution(element: Element, resolution: f64) -> bool {
    element.is_decimal() && resolution > 0.0 && resolution.is_finite()
}

/// A column's elements, reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    pub(crate) element: Element,
    pub(crate) resolution: Option<f64>,
    pub(crate) bytes: Vec<u8>,
    error: f64,
}

impl Reduced {
    /// Reduces the elements of all rows. Of an optional column `presence` is the
    /// bitmap; absent rows take what is before them.
    ///
    /// # Errors
    ///
    /// With the column's name: [`Fault::Resolution`] where the resolution is no
    /// positive number, or the elements neither f64 nor f32; [`Fault::Steps`]
    /// where a value is 2⁵¹ resolutions or more away from 0.
    ///
    /// # Panics
    ///
    /// If the bitmap has fewer bits than there are rows.
    pub fn new<T: Number>(
        name: &str,
        values: &[T],
        presence: Option<&[u8]>,
        how: &Reduction,
    ) -> Result<Self> {
        let element = T::ELEMENT;
        if how.resolution.is_some_and(|resolution| !is_resolution(element, resolution)) {
            return Err(Error::new(Fault::Resolution, 0, name));
        }
        let count = values.len().div_ceil(BLOCK);
        let mut out = Reduced {
            element,
            resolution: how.resolution,
            bytes: vec![0; count * ENTRY],
            error: 0.0,
        };
        let mut blocks = Blocks::new();
        for (at, values) in values.chunks(BLOCK).enumerate() {
            let bits = presence.map(|bits| &bits[at * BLOCK / 8..]);
            let error = blocks.reduce(values, bits, how, &mut out.bytes);
            let error = error.ok_or_else(|| Error::new(Fault::Steps, 0, name))?;
            out.error = out.error.max(error);
            let end = (out.bytes.len() - count * ENTRY) as u32;
            end.store(&mut out.bytes[at * ENTRY..][..ENTRY]);
        }
        Ok(out)
    }

    /// Reduces elements of any type that are given as bytes.
    pub(crate) fn from_elements(
        name: &str,
        element: Element,
        bytes: &[u8],
        presence: Option<&[u8]>,
        how: &Reduction,
    ) -> Result<Self> {
        macro_rules! all {
            ($type:ty) => {{
                let values: Vec<$type> =
                    bytes.chunks_exact(<$type>::SIZE).map(<$type>::load).collect();
                Reduced::new(name, &values, presence, how)
            }};
        }
        for_element!(element, all, Err(Error::new(Fault::Element, 0, name)))
    }

    /// The largest difference that it made, in the column's unit.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// Below this a double has room for a fraction, and adding `ROUND` rounds.
const MOST: f64 = (1u64 << 51) as f64;
const ROUND: f64 = (3u64 << 51) as f64;

/// The nearest whole number, of two the even one.
fn round(value: f64) -> (i64, f64) {
    let rounded = value + ROUND;
    (number(rounded), rounded - ROUND)
}

/// What a double to which `ROUND` was added says.
fn number(rounded: f64) -> i64 {
    (rounded.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64)
}

/// Blocks while they are being written.
struct Blocks {
    /// Rows whose values cannot be numbers.
    plain: Vec<u16>,
    attempt: BlockAttempt,
    /// Another one at the same block.
    other: Option<Box<BlockAttempt>>,
}

/// Values that are taken together.
const LANES: usize = 4;

/// Numbers of a block in one form.
struct BlockAttempt {
    numbers: Numbers,
    codes: Codes,
}

/// How numbers are to be kept, and what it costs in bytes.
struct LayerChoice {
    form: BlockForm,
    differences: bool,
    base: i64,
    layers: Layers,
    size: usize,
}

impl Blocks {
    fn new() -> Self {
        Blocks { plain: Vec::new(), attempt: BlockAttempt::new(), other: None }
    }

    /// Appends a block; gives the largest error, or none where a value is too
    /// large.
    fn reduce<T: Number>(
        &mut self,
        values: &[T],
        presence: Option<&[u8]>,
        how: &Reduction,
        out: &mut Vec<u8>,
    ) -> Option<f64> {
        let rows = values.len();
        let has = |row: usize| presence.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 != 0);
        let all = presence.is_none() || (0..rows).all(has);
        let step = if how.whole_bytes { 8 } else { 1 };
        self.plain.clear();
        let attempt = &mut self.attempt;
        let mut is_other = false;
        let mut error = 0.0;
        let mut best = None;
        if let Some(resolution) = how.resolution {
            error = attempt.steps(values, has, all, resolution, &mut self.plain)?;
            best = attempt.choose(BlockForm::Steps, step, usize::MAX);
        } else if T::ELEMENT.is_decimal() {
            if let Some(form) = attempt.decimal(values, has, all, &mut self.plain) {
                best = attempt.choose(form, step, usize::MAX);
            }
        }
        // Bits hold whatever there is.
        let plain = self.plain.len() * (2 + T::SIZE);
        if best.is_none() || how.resolution.is_none() || !self.plain.is_empty() {
            let below = best.as_ref().map_or(usize::MAX, |best| best.size + plain);
            let other = match best {
                None => &mut *attempt,
                Some(_) => self.other.get_or_insert_with(|| Box::new(BlockAttempt::new())),
            };
            let form = other.bits(values, has, all);
            if let Some(bits) = other.choose(form, step, below) {
                is_other = best.is_some();
                best = Some(bits);
                error = 0.0;
                self.plain.clear();
            }
        }
        let LayerChoice { form, differences, base, layers, .. } = best.expect("bits at least");
        BlockHead { form, differences, base, layers, plain: self.plain.len() }.write(out);
        let attempt = match &mut self.other {
            Some(other) if is_other => other.as_mut(),
            _ => attempt,
        };
        attempt.codes.write(differences, &layers, out);
        for row in &self.plain {
            out.extend(row.to_le_bytes());
        }
        for &row in &self.plain {
            let begin = out.len();
            out.resize(begin + T::SIZE, 0);
            values[usize::from(row)].store(&mut out[begin..]);
        }
        Some(error)
    }
}

impl BlockAttempt {
    fn new() -> Self {
        BlockAttempt { numbers: Numbers::new(), codes: Codes::new() }
    }

    /// The smaller of two, above the smallest number or as differences, if it takes
    /// less than so many bytes.
    fn choose(&mut self, form: BlockForm, step: usize, below: usize) -> Option<LayerChoice> {
        let Numbers { smallest, first, rows, .. } = self.numbers;
        let bits = self.codes.find(&self.numbers);
        // What is likely to be smaller goes first: it bounds the other one.
        let likely = bits[1] < bits[0];
        let mut best = None;
        for differences in [likely, !likely] {
            let below = best.as_ref().map_or(below, |best: &LayerChoice| {
                best.size + usize::from(!differences) // without differences where they tie
            });
            if bits[usize::from(differences)].div_ceil(8) >= below {
                continue;
            }
            let lengths = self.codes.lengths(differences, rows);
            if let Some((layers, size)) = lengths.layers(step, below) {
                let base = if differences { first } else { smallest };
                best = Some(LayerChoice { form, differences, base, layers, size });
            }
        }
        best
    }

    /// Numbers of resolutions; gives the largest error.
    fn steps<T: Number>(
        &mut self,
        values: &[T],
        has: impl Fn(usize) -> bool,
        all: bool,
        resolution: f64,
        plain: &mut Vec<u16>,
    ) -> Option<f64> {
        let rows = values.len();
        let numbers = &mut self.numbers;
        let half = resolution / 2.0;
        let step = |value: T| {
            let value = value.to_f64();
            let rounded = value / resolution + ROUND;
            let error = (T::from_f64((rounded - ROUND) * resolution).to_f64() - value).abs();
            (rounded, error)
        };
        // In lanes, as the largest of doubles in a row is one that a compiler must
        // find one by one.
        let (mut low, mut high) = ([f64::MAX; LANES], [f64::MIN; LANES]);
        let (mut most, mut sum) = ([0.0f64; LANES], [0.0f64; LANES]);
        let mut take = |values: [T; LANES]| {
            let rounded = values.map(|value| value.to_f64() / resolution + ROUND);
            let back = rounded.map(|rounded| T::from_f64((rounded - ROUND) * resolution).to_f64());
            let error: [f64; LANES] = from_fn(|i| (back[i] - values[i].to_f64()).abs());
            low = from_fn(|i| if rounded[i] < low[i] { rounded[i] } else { low[i] });
            high = from_fn(|i| if rounded[i] > high[i] { rounded[i] } else { high[i] });
            most = from_fn(|i| if error[i] > most[i] { error[i] } else { most[i] });
            // Of what is no number the error is none, and so is the sum.
            sum = from_fn(|i| sum[i] + error[i]);
            rounded.map(|rounded| rounded.to_bits() as u32)
        };
        let (lanes, rest) = values.as_chunks::<LANES>();
        let (places, _) = numbers.low.as_chunks_mut::<LANES>();
        for (place, &values) in places.iter_mut().zip(lanes) {
            *place = take(values);
        }
        if let Some(&first) = rest.first() {
            let mut values = [first; LANES];
            values[..rest.len()].copy_from_slice(rest);
            places[lanes.len()] = take(values);
        }
        let largest = most.into_iter().fold(0.0, f64::max);
        let low = low.into_iter().fold(f64::MAX, f64::min);
        let high = high.into_iter().fold(f64::MIN, f64::max);
        let are_numbers = sum.into_iter().sum::<f64>() < f64::INFINITY;
        // Inside the span in which the last bit of a double is a whole number.
        let are_steps = low > ROUND - MOST && high < ROUND + MOST;
        if all && are_numbers && are_steps && largest <= half {
            (numbers.smallest, numbers.largest) = (number(low), number(high));
            (numbers.first, numbers.rows) = (round(values[0].to_f64() / resolution).0, rows);
            if !numbers.is_narrow() {
                for (place, &value) in numbers.all.iter_mut().zip(values) {
                    *place = round(value.to_f64() / resolution).0 as u64;
                }
            }
            return Some(largest);
        }
        let mut largest = 0.0f64;
        let mut holes = [false; BLOCK];
        for (row, &value) in values.iter().enumerate() {
            let (rounded, error) = step(value);
            numbers.all[row] = number(rounded) as u64;
            holes[row] = true;
            if !has(row) {
                continue;
            }
            let value = value.to_f64();
            if value.is_finite() && (value / resolution).abs() >= MOST {
                return None;
            }
            if error <= half {
                holes[row] = false;
                largest = largest.max(error);
            } else {
                plain.push(row as u16);
            }
        }
        fill_absent(&mut numbers.all[..rows], &holes);
        numbers.take_all(rows);
        Some(largest)
    }

    /// Numbers of tenths, hundredths and so on, where half of a sample are some.
    fn decimal<T: Number>(
        &mut self,
        values: &[T],
        has: impl Fn(usize) -> bool,
        all: bool,
        plain: &mut Vec<u16>,
    ) -> Option<BlockForm> {
        let number = |value: T, power: f64| {
            let (number, whole) = round(value.to_f64() * power);
            let same = T::from_f64(whole / power).bits() == value.bits();
            (number, same & ((value.to_f64() * power).abs() < MOST))
        };
        const SAMPLE: usize = 32;
        let rows = values.len();
        let sample = (0..SAMPLE.min(rows)).map(|i| i * rows / SAMPLE.min(rows));
        let sample: Vec<T> = sample.filter(|&row| has(row)).map(|row| values[row]).collect();
        let hits = |power: f64| sample.iter().filter(|&&value| number(value, power).1).count();
        let mut best = (0, 0);
        for (power, &factor) in POWERS.iter().enumerate() {
            let hits = hits(factor);
            if hits > best.0 {
                best = (hits, power);
            }
            if hits == sample.len() {
                break;
            }
        }
        if best.0 == 0 || 2 * best.0 < sample.len() {
            return None;
        }
        let mut holes = [false; BLOCK];
        let mut fits = all;
        for (row, &value) in values.iter().enumerate() {
            let (nearest, same) = number(value, POWERS[best.1]);
            self.numbers.all[row] = nearest as u64;
            holes[row] = !(same && has(row));
            fits &= !holes[row];
            if !same && has(row) {
                plain.push(row as u16);
            }
        }
        if !fits {
            fill_absent(&mut self.numbers.all[..rows], &holes);
        }
        self.numbers.take_all(rows);
        Some(BlockForm::Decimal(best.1 as u8))
    }

    /// The elements' bits as numbers in the order of the values, without the lowest
    /// ones that are 0 in all of them.
    fn bits<T: Number>(
        &mut self,
        values: &[T],
        has: impl Fn(usize) -> bool,
        all: bool,
    ) -> BlockForm {
        let mut any = 0;
        for (row, &value) in values.iter().enumerate() {
            any |= if all || has(row) { value.bits() } else { 0 };
        }
        let shift = if any == 0 { 0 } else { any.trailing_zeros() as u8 };
        if all && T::SIZE <= 4 {
            self.numbers.take_low(values, shift);
            return BlockForm::Bits(shift);
        }
        let numbers = &mut self.numbers.all[..values.len()];
        for (number, &value) in numbers.iter_mut().zip(values) {
            *number = to_order(value, shift) as u64;
        }
        if !all {
            let holes = from_fn(|row| row < values.len() && !has(row));
            fill_absent(numbers, &holes);
        }
        self.numbers.take_all(values.len());
        BlockForm::Bits(shift)
    }
}

/// Holes take the number before them, the first ones the first that there is.
fn fill_absent(numbers: &mut [u64], holes: &[bool; BLOCK]) {
    let first = (0..numbers.len()).find(|&row| !holes[row]);
    let mut last = first.map_or(0, |row| numbers[row]);
    for (number, &hole) in numbers.iter_mut().zip(holes) {
        if hole {
            *number = last;
        }
        last = *number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks<T: Number>(values: &[T], whole_bytes: bool) -> Vec<u8> {
        let how = Reduction { resolution: None, whole_bytes };
        Reduced::new("a", values, None, &how).unwrap().bytes
    }

    #[test]
    fn numbers_of_any_type_make_the_same_blocks() {
        // Around what 32 bits hold.
        for span in [2, (1 << 30) - 1, 1 << 30, (1 << 31) - 1, 1 << 31, (1i64 << 32) - 1] {
            for base in [0, -1 << 30, i64::from(i32::MIN), (1 << 32) - 1 - span] {
                let values = [base + 1, base + span, base, base + span / 3, base + span];
                let same = blocks(&values, false);
                for values in [&values[..], &[base, base + span], &[base + span, base]] {
                    let bytes = blocks(values, false);
                    let blocks =
                        crate::blocks::Blocks::open(&bytes, values.len(), Element::I64, None);
                    let mut back = vec![0i64; values.len()];
                    blocks.expect("sound").restore(0..values.len(), &mut back);
                    assert_eq!(back, values);
                }
                let fits = |lowest: i64, highest: i64| {
                    values.iter().all(|value| (lowest..=highest).contains(value))
                };
                if fits(0, u32::MAX.into()) {
                    assert_eq!(blocks(&values.map(|v| v as u32), false), same, "{values:?}");
                }
                if fits(i32::MIN.into(), i32::MAX.into()) {
                    assert_eq!(blocks(&values.map(|v| v as i32), false), same, "{values:?}");
                }
                let steps = Reduction::resolution(1.0);
                let steps = Reduced::new("a", &values.map(|v| v as f64), None, &steps).unwrap();
                // But for the form and, of integers, the shift.
                if same[ENTRY + 2] == 0 {
                    assert_eq!(steps.bytes[ENTRY + 1..], same[ENTRY + 1..], "{values:?}");
                }
            }
        }
    }

    #[test]
    fn differences_are_not_taken_where_they_tie() {
        // They have fewer bits, and as many whole bytes.
        let bytes = blocks(&[0u8, 100, 101, 102], true);
        assert_eq!((bytes[ENTRY + 1], bytes.len()), (0, ENTRY + 20 + 4));
    }
}
