//! Reducing a column: numbers of few bits in blocks.

use crate::bits::{pack, packed_size};
use crate::block::{is_listed, places_size, Form, Head, Layers, BLOCK, POWERS};
use crate::blocks::ENTRY;
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
        let mut numbers = Numbers::new();
        for (at, values) in values.chunks(BLOCK).enumerate() {
            let bits = presence.map(|bits| &bits[at * BLOCK / 8..]);
            let error = numbers.reduce(values, bits, how, &mut out.bytes);
            let error = error.ok_or_else(|| Error::new(Fault::Steps, 0, name))?;
            out.error = out.error.max(error);
            let end = (out.bytes.len() - count * ENTRY) as u32;
            end.store(&mut out.bytes[at * ENTRY..][..ENTRY]);
        }
        Ok(out)
    }

    /// Reduces elements of any type that are given as bytes.
    pub(crate) fn of_elements(
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
    ((rounded.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64), rounded - ROUND)
}

/// The numbers of a block, while they are being found.
struct Numbers {
    numbers: [i64; BLOCK],
    /// Rows whose values cannot be numbers.
    plain: Vec<u16>,
    /// Another attempt at the same block.
    other: [i64; BLOCK],
}

/// How numbers are to be kept, and what it costs in bytes.
struct Plan {
    differences: bool,
    base: i64,
    layers: Layers,
    size: usize,
}

impl Numbers {
    fn new() -> Self {
        Numbers { numbers: [0; BLOCK], plain: Vec::new(), other: [0; BLOCK] }
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
        let mut error = 0.0;
        let mut form = None;
        if let Some(resolution) = how.resolution {
            error = self.steps(values, has, all, resolution)?;
            form = Some(Form::Steps);
        } else if T::ELEMENT.is_decimal() {
            form = self.decimal(values, has, all);
        }
        // Bits hold whatever there is.
        let mut best = None;
        if let Some(form) = form {
            let plan = Plan::new(&self.numbers[..rows], step);
            let size = plan.size + self.plain.len() * (2 + T::SIZE);
            best = Some((form, plan, size));
        }
        if best.is_none() || how.resolution.is_none() || !self.plain.is_empty() {
            let form = bits(values, has, all, &mut self.other[..rows]);
            let plan = Plan::new(&self.other[..rows], step);
            if best.as_ref().is_none_or(|&(_, _, size)| plan.size < size) {
                self.plain.clear();
                self.numbers = self.other;
                error = 0.0;
                let size = plan.size;
                best = Some((form, plan, size));
            }
        }
        let (form, plan, _) = best.expect("bits at least");
        let Plan { differences, base, layers, .. } = plan;
        Head { form, differences, base, layers, plain: self.plain.len() }.write(out);
        plan.write(&self.numbers[..rows], out);
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

    /// Numbers of resolutions; gives the largest error.
    fn steps<T: Number>(
        &mut self,
        values: &[T],
        has: impl Fn(usize) -> bool,
        all: bool,
        resolution: f64,
    ) -> Option<f64> {
        let half = resolution / 2.0;
        let step = |value: T| {
            let value = value.to_f64();
            let steps = value / resolution;
            let (number, whole) = round(steps);
            let error = (T::from_f64(whole * resolution).to_f64() - value).abs();
            (number, error, steps)
        };
        // In lanes, as the largest of doubles in a row is one that a compiler must
        // find one by one.
        const LANES: usize = 8;
        let mut fits = [true; LANES];
        let mut most = [0.0f64; LANES];
        for (numbers, values) in self.numbers.chunks_mut(LANES).zip(values.chunks(LANES)) {
            for lane in 0..values.len() {
                let (nearest, error, steps) = step(values[lane]);
                numbers[lane] = nearest;
                // What is no number fits nowhere.
                fits[lane] &= (error <= half) & (steps.abs() < MOST);
                most[lane] = if error > most[lane] { error } else { most[lane] };
            }
        }
        let mut largest = most.into_iter().fold(0.0, f64::max);
        if fits == [true; LANES] && all {
            return Some(largest);
        }
        largest = 0.0;
        let mut holes = [false; BLOCK];
        for (row, &value) in values.iter().enumerate() {
            let (_, error, steps) = step(value);
            holes[row] = true;
            if !has(row) {
                continue;
            }
            if value.to_f64().is_finite() && steps.abs() >= MOST {
                return None;
            }
            if error <= half {
                holes[row] = false;
                largest = largest.max(error);
            } else {
                self.plain.push(row as u16);
            }
        }
        fill(&mut self.numbers[..values.len()], &holes);
        Some(largest)
    }

    /// Numbers of tenths, hundredths and so on, where half of a sample are some.
    fn decimal<T: Number>(
        &mut self,
        values: &[T],
        has: impl Fn(usize) -> bool,
        all: bool,
    ) -> Option<Form> {
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
            self.numbers[row] = nearest;
            holes[row] = !(same && has(row));
            fits &= !holes[row];
            if !same && has(row) {
                self.plain.push(row as u16);
            }
        }
        if !fits {
            fill(&mut self.numbers[..rows], &holes);
        }
        Some(Form::Decimal(best.1 as u8))
    }
}

/// The elements' bits as numbers in the order of the values, without the lowest
/// ones that are 0 in all of them.
fn bits<T: Number>(values: &[T], has: impl Fn(usize) -> bool, all: bool, out: &mut [i64]) -> Form {
    let mut any = 0;
    for (row, &value) in values.iter().enumerate() {
        any |= if all || has(row) { value.bits() } else { 0 };
    }
    let shift = if any == 0 { 0 } else { any.trailing_zeros() as u8 };
    let mut holes = [false; BLOCK];
    for (row, &value) in values.iter().enumerate() {
        out[row] = to_order(value, shift);
        holes[row] = !all && !has(row);
    }
    if !all {
        fill(out, &holes);
    }
    Form::Bits(shift)
}

/// Holes take the number before them, the first ones the first that there is.
fn fill(numbers: &mut [i64], holes: &[bool; BLOCK]) {
    let first = (0..numbers.len()).find(|&row| !holes[row]);
    let mut last = first.map_or(0, |row| numbers[row]);
    for (number, &hole) in numbers.iter_mut().zip(holes) {
        if hole {
            *number = last;
        }
        last = *number;
    }
}

/// A number's difference to the one before, its sign as its lowest bit.
fn difference(before: i64, number: i64) -> u64 {
    let difference = number.wrapping_sub(before);
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn length(code: u64) -> usize {
    64 - code.leading_zeros() as usize
}

impl Plan {
    /// The smaller of two: above the smallest number, or as differences.
    fn new(numbers: &[i64], step: usize) -> Self {
        let smallest = numbers.iter().copied().min().unwrap_or_default();
        let first = numbers.first().copied().unwrap_or_default();
        // Two counts each, in turn: neighbours are often of one length, and would
        // wait for one another.
        let mut above = [[0u32; 65]; 2];
        let mut differences = [[0u32; 65]; 2];
        let mut before = first;
        for (row, &number) in numbers.iter().enumerate() {
            above[row % 2][length(number.wrapping_sub(smallest) as u64)] += 1;
            differences[row % 2][length(difference(before, number))] += 1;
            before = number;
        }
        let sum = |[even, odd]: [[u32; 65]; 2]| std::array::from_fn(|at| even[at] + odd[at]);
        let (above, differences) = (sum(above), sum(differences));
        let above = layers(&above, step);
        let differences = layers(&differences, step);
        if above.size() <= differences.size() {
            Plan { differences: false, base: smallest, layers: above, size: above.size() }
        } else {
            Plan { differences: true, base: first, layers: differences, size: differences.size() }
        }
    }

    fn write(&self, numbers: &[i64], out: &mut Vec<u8>) {
        let mut codes = [0; BLOCK];
        let codes = &mut codes[..numbers.len()];
        let mut before = self.base;
        for (code, &number) in codes.iter_mut().zip(numbers) {
            if self.differences {
                *code = difference(before, number);
                before = number;
            } else {
                *code = number.wrapping_sub(self.base) as u64;
            }
        }
        let Layers { widths, counts } = self.layers;
        let mut above = [0; BLOCK];
        split(codes, widths[0], counts[1], &mut above, out);
        let codes = &mut above[..counts[1]];
        let mut above = [0; BLOCK];
        split(codes, widths[1], counts[2], &mut above, out);
        pack(&above[..counts[2]], widths[2], out);
    }
}

/// Writes the lowest bits of all, and which of them go on above.
fn split(
    codes: &mut [u64],
    width: usize,
    next: usize,
    above: &mut [u64; BLOCK],
    out: &mut Vec<u8>,
) {
    if next == 0 {
        pack(codes, width, out);
        return;
    }
    // Without a branch: which of them go on is anybody's guess.
    let mut places = [0u64; BLOCK / 64];
    let mut at = 0;
    let mask = (1 << width) - 1;
    for (row, code) in codes.iter_mut().enumerate() {
        let rest = *code >> width;
        above[at] = rest;
        at += usize::from(rest != 0);
        places[row / 64] |= u64::from(rest != 0) << (row % 64);
        *code &= mask;
    }
    pack(codes, width, out);
    if is_listed(codes.len(), next) {
        for (at, mut word) in places.into_iter().enumerate() {
            while word != 0 {
                out.extend((64 * at as u16 + word.trailing_zeros() as u16).to_le_bytes());
                word &= word - 1;
            }
        }
        return;
    }
    let bytes = places.iter().flat_map(|word| word.to_le_bytes());
    out.extend(bytes.take(places_size(codes.len(), next)));
}

/// The smallest layers for codes of these lengths, of several the first. Widths
/// are multiples of the step.
fn layers(lengths: &[u32; 65], step: usize) -> Layers {
    let mut longer = [0; 65]; // codes that are longer
    for width in (0..64).rev() {
        longer[width] = longer[width + 1] + lengths[width + 1] as usize;
    }
    let rows = longer[0] + lengths[0] as usize;
    let longest = (0..65).rev().find(|&length| lengths[length] != 0).unwrap_or(0);
    let most = longest.next_multiple_of(step);
    let mut best = Layers { widths: [most, 0, 0], counts: [rows, 0, 0] };
    let mut size = best.size();
    for first in (0..most).step_by(step) {
        let second = longer[first];
        let lowest = packed_size(rows, first) + places_size(rows, second);
        if lowest >= size {
            continue;
        }
        let two = lowest + packed_size(second, most - first);
        if two < size {
            best = Layers { widths: [first, most - first, 0], counts: [rows, second, 0] };
            size = two;
        }
        for both in (first + step..most).step_by(step) {
            let third = longer[both];
            let three = lowest
                + packed_size(second, both - first)
                + places_size(second, third)
                + packed_size(third, most - both);
            if three < size {
                let widths = [first, both - first, most - both];
                best = Layers { widths, counts: [rows, second, third] };
                size = three;
            }
        }
    }
    best
}
