//! Holds what a view shows against what a holder has.
#![allow(dead_code, unused_imports, unused_macros)] // Who takes it takes its part.

pub use super::wiregauge::Wire;
use super::wiregauge::{self, Error, List, Numbers, Shown, Value};

/// What shows what a holder has.
pub trait Same<Held: ?Sized> {
    /// Whether it does.
    fn same(&self, held: &Held) -> bool;
}

/// By their bits, so that a NaN is itself.
macro_rules! numbers {
    ($($kind:ty)*) => {$(
        impl Same<$kind> for $kind {
            fn same(&self, held: &$kind) -> bool {
                self.to_le_bytes() == held.to_le_bytes()
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

/// An enum or truth value.
macro_rules! number {
    ($kind:path) => {
        impl $crate::views::Same<$kind> for $kind {
            fn same(&self, held: &$kind) -> bool {
                self == held
            }
        }
    };
}
pub(crate) use number;

number!(bool);

impl Same<String> for &str {
    fn same(&self, held: &String) -> bool {
        self == held
    }
}

impl Same<Vec<u8>> for &[u8] {
    fn same(&self, held: &Vec<u8>) -> bool {
        self == held
    }
}

impl<const N: usize> Same<[u8; N]> for &[u8] {
    fn same(&self, held: &[u8; N]) -> bool {
        *self == held.as_slice()
    }
}

impl<Seen: Same<Held>, Held> Same<Option<Held>> for Option<Seen> {
    fn same(&self, held: &Option<Held>) -> bool {
        match (self, held) {
            (Some(seen), Some(held)) => seen.same(held),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<T: Same<T> + Value + Copy> Same<[T]> for Numbers<'_, T> {
    fn same(&self, held: &[T]) -> bool {
        let mut copy = vec![T::default(); held.len()];
        if self.len() != held.len() || self.is_empty() != held.is_empty() {
            return false;
        }
        self.copy_to(&mut copy);
        let mut through = self.iter();
        self.bytes().len() == size_of_val(held)
            && self.get(held.len()).is_none()
            && through.len() == held.len()
            && held.iter().all(|held| through.next().is_some_and(|seen| seen.same(held)))
            && through.next().is_none()
            && held.iter().zip(&copy).all(|(held, seen)| seen.same(held))
            && (0..held.len()).all(|at| self.get(at).is_some_and(|seen| seen.same(&held[at])))
    }
}

/// Gone through, and by their places from each place on.
impl<'a, W: Wire, T: Shown<W>> Same<[T]> for List<'a, W, T>
where
    T::Seen<'a>: Same<T>,
{
    fn same(&self, held: &[T]) -> bool {
        if self.len() != held.len() || self.is_empty() != held.is_empty() {
            return false;
        }
        let mut through = self.iter();
        // Reached in two steps.
        let is_at = |place: usize| {
            let (mut rest, half) = (self.iter(), place / 2);
            (half == 0 || rest.nth(half - 1).is_some())
                && rest.nth(place - half).is_some_and(|seen| seen.same(&held[place]))
                && rest.len() == held.len() - place - 1
        };
        through.len() == held.len()
            && held.iter().all(|held| through.next().is_some_and(|seen| seen.same(held)))
            && through.next().is_none()
            && self.iter().nth(held.len()).is_none()
            && (0..held.len()).all(is_at)
    }
}

impl<T> Same<Vec<T>> for Numbers<'_, T>
where
    Self: Same<[T]>,
{
    fn same(&self, held: &Vec<T>) -> bool {
        Same::<[T]>::same(self, held)
    }
}

impl<T, const N: usize> Same<[T; N]> for Numbers<'_, T>
where
    Self: Same<[T]>,
{
    fn same(&self, held: &[T; N]) -> bool {
        Same::<[T]>::same(self, held)
    }
}

impl<W, T> Same<Vec<T>> for List<'_, W, T>
where
    Self: Same<[T]>,
{
    fn same(&self, held: &Vec<T>) -> bool {
        Same::<[T]>::same(self, held)
    }
}

impl<W, T, const N: usize> Same<[T; N]> for List<'_, W, T>
where
    Self: Same<[T]>,
{
    fn same(&self, held: &[T; N]) -> bool {
        Same::<[T]>::same(self, held)
    }
}

/// A record: each field of its view, and the holder that is made of it.
macro_rules! record {
    ($held:path, $($seen:ident)::+: $($field:ident = $method:ident),*) => {
        impl<W: $crate::views::Wire> $crate::views::Same<$held> for $($seen)::+<'_, W> {
            fn same(&self, held: &$held) -> bool {
                $crate::views::written::<W, _>(&self.to_holder())
                    == $crate::views::written::<W, _>(held)
                    $(&& $crate::views::Same::same(&self.$method(), &held.$field))*
            }
        }
    };
}
pub(crate) use record;

/// A type of which the reader of holders has its view held against them.
macro_rules! held {
    ($held:path) => {
        impl $crate::cross::Held for $held {
            fn hold<W: $crate::views::Wire>(
                bytes: &[u8],
                read: &Result<Self, $crate::wiregauge::Error>,
            ) {
                $crate::views::hold::<W, Self>(bytes, read);
            }
        }
    };
}
pub(crate) use held;

/// The bytes of what was read.
pub fn written<W: Wire, T: Value>(holder: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    wiregauge::serialize::<W, T>(holder, &mut bytes).expect("what was read is written");
    bytes
}

/// The view of bytes says of them what the reader of holders did, and shows the same.
pub fn hold<W: Wire, T: Shown<W>>(bytes: &[u8], read: &Result<T, Error>)
where
    for<'a> T::Seen<'a>: Same<T>,
{
    match (wiregauge::check::<W, T>(bytes), read) {
        (Ok(seen), Ok(held)) => assert!(seen.same(held), "other fields of {bytes:02x?}"),
        (seen, read) => {
            assert_eq!(seen.err(), read.as_ref().err().copied(), "of {bytes:02x?}");
        }
    }
}
