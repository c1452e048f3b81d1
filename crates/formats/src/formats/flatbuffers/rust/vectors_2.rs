//! Vectors, as the crate has them from 2.0 on: blocks of what has one layout
//! everywhere, and slices of it.

use flatbuffers::{Push, SafeSliceAccess, Table, Vector, WIPOffset};

use crate::tables::Builder;

/// What moves as a block: numbers, and flatc's structs.
pub trait Block: Push<Output = Self> + SafeSliceAccess + Copy + 'static {}
impl<T: Push<Output = T> + SafeSliceAccess + Copy + 'static> Block for T {}

pub fn vector<T: Block>(from: &[T], builder: &mut Builder) -> WIPOffset<Vector<'static, T>> {
    builder.create_vector_direct(from)
}

/// The bytes that a table lies in.
pub fn room(table: &Table) -> usize {
    table.buf.len()
}
