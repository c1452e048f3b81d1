//! Bincode, as it is called.

use crate::message::Root;
use bincode::config;
use wiregauge_runner::Error;

pub fn encode(message: &Root, out: &mut Vec<u8>) -> Result<(), Error> {
    bincode::encode_into_std_write(message, out, config::legacy())?;
    Ok(())
}

pub fn decode<T: bincode::Decode<()>>(wire: &[u8]) -> Result<T, Error> {
    let (value, _) = bincode::decode_from_slice(wire, config::legacy())?;
    Ok(value)
}
