//! Wincode, as it is called.

use crate::message::Root;
use wincode::config::{deserialize_exact, serialize_into, serialized_size, Configuration};
use wincode::SchemaRead;
use wiregauge_runner::Error;

/// Lists of up to 1 GiB.
type Config = Configuration<true, { 1 << 30 }>;

const CONFIG: Config = Config::new();

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    out.reserve(serialized_size(message, CONFIG)? as usize);
    serialize_into(out, message, CONFIG)?;
    Ok(())
}

pub fn decode<T: for<'a> SchemaRead<'a, Config, Dst = T>>(wire: &[u8]) -> Result<T, Error> {
    Ok(deserialize_exact(wire, CONFIG)?)
}
