//! The types of a column's elements.

use crate::half::Half;

/// The type of a column's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Element {
    /// No bytes: the presence bitmap is all there is.
    None = 0,
    /// A double.
    F64 = 1,
    /// A float.
    F32 = 2,
    /// IEEE 754 binary16.
    F16 = 3,
    /// An unsigned integer of 8 bytes.
    U64 = 4,
    /// An unsigned integer of 4 bytes.
    U32 = 5,
    /// An unsigned integer of 2 bytes.
    U16 = 6,
    /// An unsigned integer of one byte.
    U8 = 7,
    /// A signed integer of 8 bytes.
    I64 = 8,
    /// A signed integer of 4 bytes.
    I32 = 9,
    /// A signed integer of 2 bytes.
    I16 = 10,
    /// A signed integer of one byte.
    I8 = 11,
}

impl Element {
    const ALL: [Element; 12] = [
        Element::None,
        Element::F64,
        Element::F32,
        Element::F16,
        Element::U64,
        Element::U32,
        Element::U16,
        Element::U8,
        Element::I64,
        Element::I32,
        Element::I16,
        Element::I8,
    ];

    /// Bytes of one element.
    pub fn size(self) -> usize {
        [0, 8, 4, 2, 8, 4, 2, 1, 8, 4, 2, 1][self as usize]
    }

    /// Whether it can be scaled.
    pub fn is_integer(self) -> bool {
        self as u8 >= Element::U64 as u8
    }

    /// Whether it can be reduced to a resolution.
    pub(crate) fn is_decimal(self) -> bool {
        matches!(self, Element::F64 | Element::F32)
    }

    pub(crate) fn is_signed(self) -> bool {
        self as u8 >= Element::I64 as u8
    }

    pub(crate) fn from_code(code: u8) -> Option<Element> {
        Element::ALL.get(usize::from(code)).copied()
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type of an element.
pub trait Number: Copy + sealed::Sealed {
    /// Its element type.
    const ELEMENT: Element;
    /// Its bytes.
    const SIZE: usize;
    #[doc(hidden)]
    const IS_FLOAT: bool;
    #[doc(hidden)]
    fn load(bytes: &[u8]) -> Self;
    /// A row of a column: one comparison tells whether it is there.
    #[doc(hidden)]
    fn load_row(column: &[u8], row: usize) -> Self;
    #[doc(hidden)]
    fn store(self, bytes: &mut [u8]);
    /// Its bits, the highest of a signed type or a float repeated above.
    #[doc(hidden)]
    fn bits(self) -> i64;
    #[doc(hidden)]
    fn from_bits(bits: i64) -> Self;
    /// The number of an f64 or f32.
    #[doc(hidden)]
    fn to_f64(self) -> f64 {
        f64::NAN
    }
    #[doc(hidden)]
    fn from_f64(_: f64) -> Self {
        Self::from_bits(0)
    }
}

macro_rules! numbers {
    ($($type:ty: $element:ident),*) => {$(
        impl sealed::Sealed for $type {}
        impl Number for $type {
            const ELEMENT: Element = Element::$element;
            const SIZE: usize = size_of::<$type>();
            const IS_FLOAT: bool = false;
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().expect("an element's bytes"))
            }
            #[inline]
            fn load_row(column: &[u8], row: usize) -> Self {
                <$type>::from_le_bytes(column.as_chunks().0[row])
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn bits(self) -> i64 {
                self as i64
            }
            #[inline]
            fn from_bits(bits: i64) -> Self {
                bits as $type
            }
        }
    )*};
}

numbers!(u64: U64, u32: U32, u16: U16, u8: U8, i64: I64, i32: I32, i16: I16, i8: I8);

macro_rules! floats {
    ($($type:ty, $bits:ty, $signed:ty: $element:ident, $to:expr, $from:expr);*) => {$(
        impl sealed::Sealed for $type {}
        impl Number for $type {
            const ELEMENT: Element = Element::$element;
            const SIZE: usize = size_of::<$type>();
            const IS_FLOAT: bool = true;
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                <$type>::from_bits(<$bits>::load(bytes))
            }
            #[inline]
            fn load_row(column: &[u8], row: usize) -> Self {
                <$type>::from_bits(<$bits>::load_row(column, row))
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                self.to_bits().store(bytes);
            }
            #[inline]
            fn bits(self) -> i64 {
                self.to_bits() as $signed as i64
            }
            #[inline]
            fn from_bits(bits: i64) -> Self {
                <$type>::from_bits(bits as $bits)
            }
            #[inline]
            fn to_f64(self) -> f64 {
                $to(self)
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                $from(value)
            }
        }
    )*};
}

floats!(
    f64, u64, i64: F64, f64::from, f64::from;
    f32, u32, i32: F32, f64::from, |value| value as f32
);

impl sealed::Sealed for Half {}
impl Number for Half {
    const ELEMENT: Element = Element::F16;
    const SIZE: usize = 2;
    const IS_FLOAT: bool = true;
    #[inline]
    fn load(bytes: &[u8]) -> Self {
        Half(u16::load(bytes))
    }
    #[inline]
    fn load_row(column: &[u8], row: usize) -> Self {
        Half(u16::load_row(column, row))
    }
    #[inline]
    fn store(self, bytes: &mut [u8]) {
        self.0.store(bytes);
    }
    #[inline]
    fn bits(self) -> i64 {
        (self.0 as i16).into()
    }
    #[inline]
    fn from_bits(bits: i64) -> Self {
        Half(bits as u16)
    }
}

/// Bits without so many lowest ones, in the order of the values: floats are sign
/// and magnitude, and of negative ones the magnitude is turned over.
pub(crate) fn to_order<T: Number>(value: T, shift: u8) -> i64 {
    turn::<T>(value.bits() >> shift, shift)
}

/// The value again.
pub(crate) fn from_order<T: Number>(number: i64, shift: u8) -> T {
    T::from_bits(turn::<T>(number, shift) << shift)
}

fn turn<T: Number>(number: i64, shift: u8) -> i64 {
    let magnitude = i64::MAX >> (64 - 8 * T::SIZE) >> shift;
    if T::IS_FLOAT {
        number ^ (number >> 63) & magnitude
    } else {
        number
    }
}

/// Calls a macro with the Rust type of an element, or gives what is said for none.
macro_rules! for_element {
    ($element:expr, $call:ident, $none:expr) => {
        match $element {
            Element::None => $none,
            Element::F64 => $call!(f64),
            Element::F32 => $call!(f32),
            Element::F16 => $call!(Half),
            Element::U64 => $call!(u64),
            Element::U32 => $call!(u32),
            Element::U16 => $call!(u16),
            Element::U8 => $call!(u8),
            Element::I64 => $call!(i64),
            Element::I32 => $call!(i32),
            Element::I16 => $call!(i16),
            Element::I8 => $call!(i8),
        }
    };
}
pub(crate) use for_element;

/// The element's number, before its scale, as near as a double can be.
pub(crate) fn load_value(element: Element, bytes: &[u8]) -> f64 {
    match element {
        Element::None => f64::NAN,
        Element::F64 => f64::load(bytes),
        Element::F32 => f64::from(f32::load(bytes)),
        Element::F16 => Half::load(bytes).to_f64(),
        Element::U64 => u64::load(bytes) as f64,
        Element::U32 => f64::from(u32::load(bytes)),
        Element::U16 => f64::from(u16::load(bytes)),
        Element::U8 => f64::from(bytes[0]),
        Element::I64 => i64::load(bytes) as f64,
        Element::I32 => f64::from(i32::load(bytes)),
        Element::I16 => f64::from(i16::load(bytes)),
        Element::I8 => f64::from(i8::load(bytes)),
    }
}

/// Rounds a number to the element type; false where it is out of range.
pub(crate) fn store_value(
    element: Element,
    scale: Option<(f64, f64)>,
    value: f64,
    bytes: &mut [u8],
) -> bool {
    match element {
        Element::None => return false,
        Element::F64 => value.store(bytes),
        Element::F32 => {
            let narrow = value as f32;
            if value.is_finite() && narrow.is_infinite() {
                return false;
            }
            narrow.store(bytes);
        }
        Element::F16 => {
            let narrow = Half::from_f64(value);
            if value.is_finite() && narrow.0 & 0x7fff == 0x7c00 {
                return false;
            }
            narrow.store(bytes);
        }
        _ => {
            let raw = scale.map_or(value, |(offset, scale)| (value - offset) / scale);
            return store_integer(element, raw.round_ties_even(), bytes);
        }
    }
    true
}

/// Stores a whole number; false where it is out of range.
fn store_integer(element: Element, whole: f64, bytes: &mut [u8]) -> bool {
    let bits = 8 * element.size() as i32 - i32::from(element.is_signed());
    // Exclusive, as the largest 64 bit integers are no doubles.
    let top = 2f64.powi(bits);
    let bottom = if element.is_signed() { -top } else { 0.0 };
    if !(whole >= bottom && whole < top) {
        return false;
    }
    let raw = if element.is_signed() { whole as i64 as u64 } else { whole as u64 };
    bytes.copy_from_slice(&raw.to_le_bytes()[..element.size()]);
    true
}
