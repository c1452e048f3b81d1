//! A block of a reduced column: its head, and where its parts lie.

use crate::bits::{packed_size, unpack};
use crate::element::{Element, Number};

/// Rows of a block; the last one has what is left.
pub(crate) const BLOCK: usize = 1024;

/// Bytes of a block's head.
pub(crate) const HEAD: usize = 20;

/// The powers of ten that are doubles.
pub(crate) const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// What a block's numbers stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockForm {
    /// An element's bits without so many lowest ones, which are 0.
    Bits(u8),
    /// value = number × resolution.
    Steps,
    /// value = number ÷ 10 to this power.
    Decimal(u8),
}

/// Numbers in layers: the first has the lowest bits of all, the next the bits
/// above them of those numbers that have some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    /// Bits of a number in each layer.
    pub widths: [usize; 3],
    /// Numbers in each layer.
    pub counts: [usize; 3],
}

/// Whether the numbers that go on in the next layer are listed; else they have a
/// bitmap.
pub(crate) fn is_listed(count: usize, next: usize) -> bool {
    2 * next < count.div_ceil(8)
}

/// Bytes that say which of `count` numbers go on.
pub(crate) fn positions_size(count: usize, next: usize) -> usize {
    count.div_ceil(8).min(2 * next)
}

/// A block's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHead {
    pub form: BlockForm,
    /// Whether numbers are kept as their differences.
    pub differences: bool,
    /// The first number, or the smallest where they are not kept as differences.
    pub base: i64,
    pub layers: Layers,
    /// Values that stand behind the layers as they are.
    pub plain: usize,
}

impl BlockHead {
    pub fn write(&self, out: &mut Vec<u8>) {
        let (form, detail) = match self.form {
            BlockForm::Bits(shift) => (0, shift),
            BlockForm::Steps => (1, 0),
            BlockForm::Decimal(power) => (2, power),
        };
        let Layers { widths, counts } = self.layers;
        out.extend([form, u8::from(self.differences), detail]);
        out.extend(widths.map(|width| width as u8));
        for count in [counts[1], counts[2], self.plain] {
            out.extend((count as u16).to_le_bytes());
        }
        out.extend(self.base.to_le_bytes());
    }

    /// None where no block of this column has such a head.
    fn read(bytes: &[u8], rows: usize, element: Element, steps: bool) -> Option<Self> {
        let bytes = bytes.get(..HEAD)?;
        let count = |at: usize| usize::from(u16::load(&bytes[at..at + 2]));
        let layers = Layers {
            widths: [bytes[3].into(), bytes[4].into(), bytes[5].into()],
            counts: [rows, count(6), count(8)],
        };
        let form = match (bytes[0], bytes[2]) {
            (0, shift) if usize::from(shift) < 8 * element.size() => BlockForm::Bits(shift),
            (1, 0) if steps => BlockForm::Steps,
            (2, power) if !steps && element.is_decimal() && usize::from(power) < POWERS.len() => {
                BlockForm::Decimal(power)
            }
            _ => return None,
        };
        let plain = count(10);
        let Layers { widths, counts } = layers;
        let is_sound = bytes[1] <= 1
            && widths.iter().sum::<usize>() <= 64
            && counts[0] >= counts[1]
            && counts[1] >= counts[2]
            && (1..3).all(|i| (widths[i] == 0) == (counts[i] == 0))
            && plain <= if matches!(form, BlockForm::Bits(_)) { 0 } else { rows };
        let base = i64::load(&bytes[12..20]);
        is_sound.then_some(BlockHead { form, differences: bytes[1] == 1, base, layers, plain })
    }
}

/// A block that has been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    pub head: BlockHead,
    packed: [&'a [u8]; 3],
    places: [&'a [u8]; 2],
    /// Two bytes each: the rows of the values that stand as they are.
    pub plain_rows: &'a [u8],
    /// Those values.
    pub plain: &'a [u8],
}

impl<'a> Block<'a> {
    /// None where the bytes are not such a block, to the last one.
    pub fn open(bytes: &'a [u8], rows: usize, element: Element, steps: bool) -> Option<Self> {
        let head = BlockHead::read(bytes, rows, element, steps)?;
        let Layers { widths, counts } = head.layers;
        let mut rest = &bytes[HEAD..];
        let mut take = |size: usize| {
            let (taken, behind) = rest.split_at_checked(size)?;
            rest = behind;
            Some(taken)
        };
        let first = take(packed_size(rows, widths[0]))?;
        let first_places = take(positions_size(rows, counts[1]))?;
        let second = take(packed_size(counts[1], widths[1]))?;
        let second_places = take(positions_size(counts[1], counts[2]))?;
        let third = take(packed_size(counts[2], widths[2]))?;
        let plain_rows = take(2 * head.plain)?;
        let plain = take(head.plain * element.size())?;
        let is_sound = rest.is_empty()
            && are_positions(first_places, rows, counts[1])
            && are_positions(second_places, counts[1], counts[2])
            && are_ascending(plain_rows, rows);
        is_sound.then_some(Block {
            head,
            packed: [first, second, third],
            places: [first_places, second_places],
            plain_rows,
            plain,
        })
    }

    /// The numbers of all rows.
    pub fn numbers(&self, out: &mut [u64]) {
        let Layers { widths, counts } = self.head.layers;
        unpack(self.packed[0], widths[0], out);
        if counts[1] != 0 {
            let mut second = [0; BLOCK];
            let second = &mut second[..counts[1]];
            unpack(self.packed[1], widths[1], second);
            if counts[2] != 0 {
                let mut third = [0; BLOCK];
                let third = &mut third[..counts[2]];
                unpack(self.packed[2], widths[2], third);
                add_layer(second, widths[1], third, self.places[1]);
            }
            add_layer(out, widths[0], second, self.places[0]);
        }
        if self.head.differences {
            let mut number = self.head.base as u64;
            for code in out {
                number = number.wrapping_add((*code >> 1) ^ (*code & 1).wrapping_neg());
                *code = number;
            }
        } else {
            for code in out {
                *code = code.wrapping_add(self.head.base as u64);
            }
        }
    }
}

/// Adds the bits of the layer above.
fn add_layer(numbers: &mut [u64], width: usize, above: &[u64], places: &[u8]) {
    if is_listed(numbers.len(), above.len()) {
        for (place, bits) in places.chunks_exact(2).zip(above) {
            numbers[usize::from(u16::load(place))] |= bits << width;
        }
        return;
    }
    let mut above = above.iter();
    for (numbers, places) in numbers.chunks_mut(64).zip(places.chunks(8)) {
        let mut wide = [0; 8];
        wide[..places.len()].copy_from_slice(places);
        let mut places = u64::from_le_bytes(wide);
        while places != 0 {
            let at = places.trailing_zeros() as usize;
            if let (Some(number), Some(bits)) = (numbers.get_mut(at), above.next()) {
                *number |= bits << width;
            }
            places &= places - 1;
        }
    }
}

/// Whether these say which `next` of `count` numbers go on.
fn are_positions(bytes: &[u8], count: usize, next: usize) -> bool {
    if is_listed(count, next) {
        return are_ascending(bytes, count);
    }
    let set: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    let unused =
        bytes.last().filter(|_| !count.is_multiple_of(8)).map_or(0, |last| last >> (count % 8));
    set as usize == next && unused == 0
}

fn are_ascending(places: &[u8], end: usize) -> bool {
    let all = || places.chunks_exact(2).map(|place| usize::from(u16::load(place)));
    all().zip(all().skip(1)).all(|(a, b)| a < b) && all().next_back().is_none_or(|last| last < end)
}
