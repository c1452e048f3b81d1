//! rmp-serde by hand.

use hand::{ByHand, Lidar};

struct MessagePack;

fn main() {
    hand::serve(MessagePack)
}

impl ByHand for MessagePack {
    const LIBRARY: &'static str = "rmp-serde";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        rmp_serde::encode::write(out, message).expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        rmp_serde::from_slice(wire).expect("a message")
    }
}
