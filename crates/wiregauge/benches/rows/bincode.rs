//! Bincode, by the old form of its integers, by hand.

use bincode::error::DecodeError;
use hand::{ByHand, Lidar};

struct Bincode;

fn main() {
    hand::serve(Bincode)
}

impl ByHand for Bincode {
    const LIBRARY: &'static str = "bincode";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        bincode::encode_into_std_write(message, out, bincode::config::legacy())
            .expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        parse(wire).expect("a message")
    }
}

/// The error is handed on, as in a program that gets its bytes from others: what becomes of it
/// decides over a third of the instructions (docs/by-hand.md).
#[inline(never)]
fn parse(wire: &[u8]) -> Result<Lidar, DecodeError> {
    Ok(bincode::decode_from_slice(wire, bincode::config::legacy())?.0)
}
