//! Ciborium, as it is called.

use crate::message::Root;
use wiregauge_runner::Error;

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    ciborium::into_writer(message, out)?;
    Ok(())
}

pub fn decode<T: serde::de::DeserializeOwned>(wire: &[u8]) -> Result<T, Error> {
    Ok(ciborium::from_reader(wire)?)
}
