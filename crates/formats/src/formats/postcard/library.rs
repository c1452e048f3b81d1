//! Postcard, as it is called.

use crate::message::Root;
use wiregauge_runner::Error;

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    *out = postcard::to_extend(message, std::mem::take(out))?;
    Ok(())
}

pub fn decode<T: serde::de::DeserializeOwned>(wire: &[u8]) -> Result<T, Error> {
    Ok(postcard::from_bytes(wire)?)
}
