//! Minicbor, as it is called.

use crate::message::Root;
use wiregauge_runner::Error;

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    minicbor::encode(message, out)?;
    Ok(())
}

pub fn decode<T: for<'a> minicbor::Decode<'a, ()>>(wire: &[u8]) -> Result<T, Error> {
    Ok(minicbor::decode(wire)?)
}
