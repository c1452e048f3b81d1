//! What the reading experiments make of the numbers that they read: a sum
//! where they are timed, a digest where they have to prove themselves.

/// A number as the schema has it.
pub trait Number: Copy {
    /// As the sum takes it.
    fn value(self) -> f64;
    /// Its bits at its own width, zeros above.
    fn bits(self) -> u64;
}

macro_rules! number {
    ($($type:ty: $unsigned:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn value(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self as $unsigned)
            }
        }
    )*};
}

number!(u8: u8, u16: u16, u32: u32, u64: u64, i8: u8, i16: u16, i32: u32, i64: u64);

impl Number for bool {
    #[inline(always)]
    fn value(self) -> f64 {
        f64::from(u8::from(self))
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

impl Number for f32 {
    #[inline(always)]
    fn value(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Number for f64 {
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// Takes the numbers of one record. Glue is written once for any tally, so that
/// what is proven is the code that is timed.
pub trait Tally: Copy + Default {
    /// A number of the field at this place in its record, of the schema's type:
    /// one of `u8` … `i64`, `f32`, `f64`, `bool`; for an enum its integer.
    fn number<N: Number>(&mut self, field: u32, number: N);
    /// The length of a text or of octets.
    fn length(&mut self, field: u32, length: usize);
    /// What a record inside brought.
    fn record(&mut self, field: u32, inner: Self);
}

/// The sum, in the order in which the numbers come.
#[derive(Clone, Copy, Default)]
pub struct Sum(pub f64);

impl Tally for Sum {
    #[inline(always)]
    fn number<N: Number>(&mut self, _: u32, number: N) {
        self.0 += number.value();
    }
    #[inline(always)]
    fn length(&mut self, _: u32, length: usize) {
        self.0 += length as f64;
    }
    #[inline(always)]
    fn record(&mut self, _: u32, inner: Self) {
        self.0 += inner.0;
    }
}

/// How many numbers there were and a hash of all their bits, in any order but
/// each in its own field and record (docs/runner-protocol.md has the formula).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Numbers and lengths.
    pub count: u64,
    /// The hash.
    pub hash: u64,
}

impl Digest {
    fn add(&mut self, field: u32, bits: u64) {
        let place = (u64::from(field) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = self.hash.wrapping_add(mix(bits.wrapping_add(place)));
    }
}

impl Tally for Digest {
    fn number<N: Number>(&mut self, field: u32, number: N) {
        self.count += 1;
        self.add(field, number.bits());
    }
    fn length(&mut self, field: u32, length: usize) {
        self.count += 1;
        self.add(field, length as u64);
    }
    fn record(&mut self, field: u32, inner: Self) {
        self.count += inner.count;
        self.add(field, inner.hash);
    }
}

/// The finalizer of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
