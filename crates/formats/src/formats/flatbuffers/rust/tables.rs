//! What building and reading tables takes besides the generated accessors.

use flatbuffers::{FlatBufferBuilder, UOffsetT, Vector, WIPOffset};
use wiregauge_runner::Error;

use crate::glue::Scratch;
use crate::vectors::room;

pub type Builder = FlatBufferBuilder<'static>;

/// The vector of the children behind `base`, which it takes from the stack.
pub fn children<T: 'static>(
    base: usize,
    builder: &mut Builder,
    scratch: &mut Scratch,
) -> WIPOffset<Vector<'static, flatbuffers::ForwardsUOffset<T>>> {
    let offsets = scratch.offsets[base..].iter().map(|offset| WIPOffset::<T>::new(*offset));
    let vector = builder.create_vector_from_iter(offsets);
    scratch.offsets.truncate(base);
    vector
}

/// A count of offsets, refused before anything is allocated by it where the
/// message cannot hold so many.
pub fn counted(count: usize, table: &flatbuffers::Table) -> Result<usize, Error> {
    if count > room(table) / size_of::<UOffsetT>() {
        return Err(Error::new("a vector is longer than the message"));
    }
    Ok(count)
}

pub fn keep_sign(value: f64, field: &str) -> Result<(), Error> {
    if value == 0.0 && value.is_sign_negative() {
        return Err(Error::rejected(format!("loses the sign of zero: {field} is -0.0")));
    }
    Ok(())
}
