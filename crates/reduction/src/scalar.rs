//! Numbers of columns, as doubles and as bytes.

use anyhow::{ensure, Result};
use bytemuck::Pod;

/// A number of a column.
pub trait Scalar: Pod + Default {
    /// As near as a double can be.
    fn double(self) -> f64;
    /// As near as it can be to a double.
    fn near(value: f64) -> Self;
    /// Whether both are the same to the bit.
    fn same(self, other: Self) -> bool;
}

macro_rules! scalars {
    ($($kind:ty: $bits:expr;)*) => {
        $(impl Scalar for $kind {
            #[inline(always)]
            fn double(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn near(value: f64) -> $kind {
                value as $kind
            }
            fn same(self, other: $kind) -> bool {
                $bits(self) == $bits(other)
            }
        })*
    };
}

fn itself<T>(value: T) -> T {
    value
}

scalars! {
    i8: itself;
    u8: itself;
    i16: itself;
    u16: itself;
    i32: itself;
    u32: itself;
    u64: itself;
    f32: f32::to_bits;
    f64: f64::to_bits;
}

/// Values that are converted before they are copied, so that both stay in the first cache.
const BLOCK: usize = 1024;

/// Appends values in another type.
#[inline(always)]
pub fn put<S: Copy, T: Pod>(out: &mut Vec<u8>, values: &[S], convert: impl Fn(S) -> T) {
    let mut block = [T::zeroed(); BLOCK];
    for values in values.chunks(BLOCK) {
        for (to, from) in block.iter_mut().zip(values) {
            *to = convert(*from);
        }
        out.extend_from_slice(bytemuck::cast_slice(&block[..values.len()]));
    }
}

/// Reads values of another type.
///
/// # Errors
/// When there are not as many.
#[inline(always)]
pub fn get<T: Pod, S>(bytes: &[u8], values: &mut [S], convert: impl Fn(T) -> S) -> Result<()> {
    ensure!(bytes.len() == size_of_val_of::<T>(values.len()), "a column has another length");
    for (to, from) in values.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
        *to = convert(bytemuck::pod_read_unaligned(from));
    }
    Ok(())
}

fn size_of_val_of<T>(count: usize) -> usize {
    count * size_of::<T>()
}

/// The whole numbers of resolutions that values are nearest to, and the largest magnitude.
///
/// # Errors
/// When a value is none, or no such number holds it.
pub fn steps<S: Scalar>(values: &[S], resolution: f64, out: &mut Vec<i64>) -> Result<u64> {
    /// Below this every whole number is a double, and adding `ROUND` rounds to one.
    const MOST: f64 = (1u64 << 51) as f64;
    const ROUND: f64 = (3u64 << 51) as f64;
    out.clear();
    out.reserve(values.len());
    let mut most = 0.0f64;
    let mut is_sound = true;
    for values in values.chunks(BLOCK) {
        out.extend(values.iter().map(|value| {
            let number = value.double() / resolution;
            is_sound &= number.abs() < MOST;
            most = most.max(number.abs());
            ((number + ROUND).to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64)
        }));
    }
    ensure!(is_sound, "NaN, infinity and values above 2⁵¹ resolutions cannot be encoded");
    Ok(most.ceil() as u64)
}
