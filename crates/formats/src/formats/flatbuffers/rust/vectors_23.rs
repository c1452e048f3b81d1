//! Vectors, as the crate has them from 22.9 on: it gives elements and bytes, and
//! slices no more.

use flatbuffers::{Follow, Push, Table, Vector, WIPOffset};

use crate::tables::Builder;

/// What moves as a block: numbers, and flatc's structs.
pub trait Block: Push<Output = Self> + Copy + 'static {}
impl<T: Push<Output = T> + Copy + 'static> Block for T {}

pub fn vector<T: Block>(from: &[T], builder: &mut Builder) -> WIPOffset<Vector<'static, T>> {
    builder.create_vector(from)
}

/// The bytes that a table lies in.
pub fn room(table: &Table) -> usize {
    table.buf().len()
}

/// Structs of flatc, where they lie.
pub fn structs_of<'a, T: Block>(list: Vector<'a, T>) -> &'a [T] {
    const { assert!(align_of::<T>() == 1) }
    let bytes = list.bytes();
    // SAFETY: the bytes are those of so many structs, which are arrays of bytes
    // and need no alignment.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

/// Numbers, for which any bytes will do.
pub trait Number: Block + for<'a> Follow<'a, Inner = Self> {}
macro_rules! numbers {
    ($($number:ty)*) => { $(impl Number for $number {})* };
}
numbers!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

/// Appends numbers as one block.
pub fn append<T: Number>(list: Vector<'_, T>, to: &mut Vec<T>) {
    if cfg!(target_endian = "big") {
        return to.extend(list);
    }
    let bytes = list.bytes();
    let count = bytes.len() / size_of::<T>();
    to.reserve(count);
    // SAFETY: there is room behind what is there, and any bytes are numbers.
    unsafe {
        let end = to.as_mut_ptr().add(to.len()).cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), end, count * size_of::<T>());
        to.set_len(to.len() + count);
    }
}
