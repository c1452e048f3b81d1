//! Serde_json by hand.

use hand::{ByHand, Lidar};

struct Json;

fn main() {
    hand::serve(Json)
}

impl ByHand for Json {
    const LIBRARY: &'static str = "serde_json";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        serde_json::to_writer(out, message).expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        serde_json::from_slice(wire).expect("a message")
    }
}
