//! The calls of a wire that writes field after field, into memory that is there.

use crate::glue::{OnWire, Root};
use crate::wiregauge_no_alloc::{self, Error};

/// Into the memory that the vector has, as a program's own buffer has it; more only if that is too
/// little.
pub fn serialize(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut room = out.capacity().min(Root::MAX_BYTES);
    loop {
        out.resize(room, 0);
        match wiregauge_no_alloc::serialize::<OnWire, _>(message, out) {
            Err(Error::NoRoom) if room < Root::MAX_BYTES => room = Root::MAX_BYTES,
            result => {
                out.truncate(result?);
                return Ok(());
            }
        }
    }
}

pub fn deserialize_into(bytes: &[u8], message: &mut Root) -> Result<(), Error> {
    wiregauge_no_alloc::deserialize_into::<OnWire, _>(bytes, message)
}
