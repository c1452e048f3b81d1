//! rmp-serde, as it is called.

use crate::message::Root;
use wiregauge_runner::Error;

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    rmp_serde::encode::write(out, message)?;
    Ok(())
}

pub fn decode<T: serde::de::DeserializeOwned>(wire: &[u8]) -> Result<T, Error> {
    Ok(rmp_serde::from_slice(wire)?)
}
