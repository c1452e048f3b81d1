//! Bincode, by the old form of its integers, by hand.

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
        bincode::decode_from_slice(wire, bincode::config::legacy()).expect("a message").0
    }
}
