//! Numbers of one size, as the bits that they have in memory.

use arrow_buffer::Buffer;

/// Numbers of one, two, four or eight bytes.
#[derive(Clone, Debug)]
pub(crate) enum NumberList {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
}

/// Does the same for the list, whatever its numbers are.
macro_rules! each {
    ($words:expr, $list:ident => $what:expr) => {
        match $words {
            NumberList::One($list) => $what,
            NumberList::Two($list) => $what,
            NumberList::Four($list) => $what,
            NumberList::Eight($list) => $what,
        }
    };
}

impl NumberList {
    /// None yet, each of so many bytes.
    pub fn new(size: usize) -> NumberList {
        match size {
            1 => NumberList::One(Vec::new()),
            2 => NumberList::Two(Vec::new()),
            4 => NumberList::Four(Vec::new()),
            8 => NumberList::Eight(Vec::new()),
            _ => unreachable!("no number has {size} bytes"),
        }
    }

    /// Bytes of each.
    pub fn size(&self) -> usize {
        match self {
            NumberList::One(_) => 1,
            NumberList::Two(_) => 2,
            NumberList::Four(_) => 4,
            NumberList::Eight(_) => 8,
        }
    }

    pub fn len(&self) -> usize {
        each!(self, list => list.len())
    }

    pub fn truncate(&mut self, count: usize) {
        each!(self, list => list.truncate(count));
    }

    /// Adds a number by its lowest bits.
    #[inline]
    pub fn push(&mut self, bits: u64) {
        match self {
            NumberList::One(list) => list.push(bits as u8),
            NumberList::Two(list) => list.push(bits as u16),
            NumberList::Four(list) => list.push(bits as u32),
            NumberList::Eight(list) => list.push(bits),
        }
    }

    /// Adds the number that these bytes begin with, little-endian.
    #[inline]
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        each!(self, list => list.push(Word::read(bytes, false)));
    }

    /// Adds so many zeros.
    pub fn push_zeros(&mut self, count: usize) {
        each!(self, list => list.resize(list.len() + count, 0));
    }

    /// Makes the last number another one.
    #[inline]
    pub fn set_last(&mut self, bits: u64) {
        match self {
            NumberList::One(list) => set_last(list, bits as u8),
            NumberList::Two(list) => set_last(list, bits as u16),
            NumberList::Four(list) => set_last(list, bits as u32),
            NumberList::Eight(list) => set_last(list, bits),
        }
    }

    /// Adds numbers that lie one after another, little-endian unless they are to be swapped.
    pub fn extend(&mut self, bytes: &[u8], is_swapped: bool) {
        each!(self, list => extend(list, bytes, is_swapped));
    }

    /// Adds the numbers that begin the rows of these bytes, from `first` on; the last row may
    /// end behind its number.
    pub fn extend_strided(&mut self, bytes: &[u8], first: usize, stride: usize, is_swapped: bool) {
        each!(self, list => extend_strided(list, &bytes[first..], stride, is_swapped));
    }

    /// Their bytes from a number on, to look at single ones.
    pub fn octets_from(&self, first: usize) -> Option<&[u8]> {
        match self {
            NumberList::One(list) => Some(&list[first..]),
            _ => None,
        }
    }

    /// Adds numbers by their lowest bits.
    pub fn extend_numbers(&mut self, numbers: impl Iterator<Item = u64>) {
        each!(self, list => extend_numbers(list, numbers));
    }

    /// All of them; none are left, but room for as many, as the next batch has about as many.
    pub fn take(&mut self) -> Buffer {
        each!(self, list => {
            let room = Vec::with_capacity(list.len());
            Buffer::from_vec(std::mem::replace(list, room))
        })
    }
}

/// A number as its bits.
trait Word: Copy {
    const SIZE: usize;

    /// Of the lowest bits.
    fn truncate(bits: u64) -> Self;

    /// Of the first bytes.
    fn read(bytes: &[u8], is_swapped: bool) -> Self;
}

macro_rules! words {
    ($($word:ty)*) => {
        $(impl Word for $word {
            const SIZE: usize = size_of::<$word>();

            #[inline]
            fn truncate(bits: u64) -> $word {
                bits as $word
            }

            #[inline]
            fn read(bytes: &[u8], is_swapped: bool) -> $word {
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(&bytes[..size_of::<$word>()]);
                let word = <$word>::from_le_bytes(word);
                if is_swapped { word.swap_bytes() } else { word }
            }
        })*
    };
}

words! { u8 u16 u32 u64 }

#[inline]
fn set_last<T>(list: &mut [T], word: T) {
    if let Some(last) = list.last_mut() {
        *last = word;
    }
}

fn extend_numbers<T: Word>(list: &mut Vec<T>, numbers: impl Iterator<Item = u64>) {
    list.extend(numbers.map(T::truncate));
}

fn extend<T: Word>(list: &mut Vec<T>, bytes: &[u8], is_swapped: bool) {
    let words = bytes.chunks_exact(T::SIZE);
    // Apart, so that one of them is a copy of memory.
    match is_swapped {
        false => list.extend(words.map(|word| T::read(word, false))),
        true => list.extend(words.map(|word| T::read(word, true))),
    }
}

fn extend_strided<T: Word>(list: &mut Vec<T>, bytes: &[u8], stride: usize, is_swapped: bool) {
    let rows = bytes.chunks_exact(stride);
    let last = Some(rows.remainder()).filter(|row| row.len() >= T::SIZE);
    match is_swapped {
        false => list.extend(rows.map(|row| T::read(row, false))),
        true => list.extend(rows.map(|row| T::read(row, true))),
    }
    list.extend(last.map(|row| T::read(row, is_swapped)));
}
