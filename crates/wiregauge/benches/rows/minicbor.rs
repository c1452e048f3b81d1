//! Minicbor by hand.

use hand::{ByHand, Lidar};

struct Minicbor;

fn main() {
    hand::serve(Minicbor)
}

impl ByHand for Minicbor {
    const LIBRARY: &'static str = "minicbor";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        minicbor::encode(message, out).expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        minicbor::decode(wire).expect("a message")
    }
}
