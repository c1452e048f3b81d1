//! The calls of a wire that writes field after field.

use crate::glue::{OnWire, Root};
use crate::wiregauge::{self, Error};

pub fn serialize(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    wiregauge::serialize::<OnWire, _>(message, out)
}

pub fn deserialize_into(bytes: &[u8], message: &mut Root) -> Result<(), Error> {
    wiregauge::deserialize_into::<OnWire, _>(bytes, message)
}
