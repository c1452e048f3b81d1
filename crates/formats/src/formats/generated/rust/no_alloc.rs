//! The calls of a wire that writes field after field, into memory that is there.

use crate::glue::{OnWire, Root};
use crate::wiregauge_no_alloc::{self, Error};

pub fn serialize(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    out.resize(Root::MAX_BYTES, 0);
    let size = wiregauge_no_alloc::serialize::<OnWire, _>(message, out)?;
    out.truncate(size);
    Ok(())
}

pub fn deserialize_into(bytes: &[u8], message: &mut Root) -> Result<(), Error> {
    wiregauge_no_alloc::deserialize_into::<OnWire, _>(bytes, message)
}
