//! Plain old data, as structs of FlatBuffers.

use flatbuffers::{Vector, WIPOffset};

use crate::glue::Scratch;
use crate::tables::Builder;
use crate::vectors::{vector, Block};

/// Plain old data, normalized and as a struct of FlatBuffers.
pub trait Plain: Sized {
    type Wire: Block;
    /// Whether both lie in memory alike.
    const SAME: bool;
    /// Whether some of the bytes belong to no field.
    const GAPS: bool;
    /// Whether some of the fields are truth values.
    const BOOLS: bool;
    fn scratch(scratch: &mut Scratch) -> &mut Vec<Self::Wire>;
    fn pack(&self) -> Self::Wire;
    fn unpack(from: &Self::Wire) -> Self;
}

/// A vector of structs, written as one block. Bytes that belong to no field
/// have no value in the normalized form, and are zero in the message.
pub fn structs<T: Plain>(
    from: &[T],
    builder: &mut Builder,
    scratch: &mut Scratch,
) -> WIPOffset<Vector<'static, T::Wire>> {
    if T::SAME && !T::GAPS {
        // SAFETY: SAME: both have the same size and layout. No GAPS: every byte is one
        // of a field. flatc's structs are arrays of bytes, which need no alignment.
        let wires =
            unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<T::Wire>(), from.len()) };
        return vector(wires, builder);
    }
    let wires = T::scratch(scratch);
    wires.clear();
    wires.extend(from.iter().map(T::pack));
    vector(wires, builder)
}

/// Structs to normalized, as one block where both lie in memory alike.
pub fn take_structs<T: Plain>(from: &[T::Wire], to: &mut Vec<T>) {
    to.clear();
    if T::SAME && !T::BOOLS {
        to.reserve(from.len());
        // SAFETY: there is room. SAME: both have the same size and layout. No BOOLS:
        // any bytes are valid numbers.
        unsafe {
            let bytes = std::mem::size_of_val(from);
            std::ptr::copy_nonoverlapping(
                from.as_ptr().cast::<u8>(),
                to.as_mut_ptr().cast::<u8>(),
                bytes,
            );
            to.set_len(from.len());
        }
    } else {
        to.extend(from.iter().map(T::unpack));
    }
}
