//! The calls of Protobuf's wire.

use crate::glue::Root;
use crate::wiregauge_protobuf::{self, Error};

pub fn serialize(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    wiregauge_protobuf::serialize(message, out)
}

pub fn deserialize_into(bytes: &[u8], message: &mut Root) -> Result<(), Error> {
    wiregauge_protobuf::deserialize_into(bytes, message)
}
