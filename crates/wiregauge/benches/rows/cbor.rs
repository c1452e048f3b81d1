//! Ciborium by hand.

use hand::{ByHand, Lidar};

struct Cbor;

fn main() {
    hand::serve(Cbor)
}

impl ByHand for Cbor {
    const LIBRARY: &'static str = "ciborium";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        ciborium::into_writer(message, out).expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        ciborium::from_reader(wire).expect("a message")
    }
}
