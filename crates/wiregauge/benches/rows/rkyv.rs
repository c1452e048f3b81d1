//! rkyv by hand: the archive is trusted, and the serializer's arena is kept.

use hand::{ByHand, Lidar};
use rkyv::rancor::Error;
use rkyv::ser::allocator::Arena;

#[derive(Default)]
struct Rkyv {
    arena: Arena,
}

fn main() {
    hand::serve(Rkyv::default())
}

impl ByHand for Rkyv {
    const LIBRARY: &'static str = "rkyv";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        let arena = self.arena.acquire();
        rkyv::api::high::to_bytes_in_with_alloc::<_, _, Error>(message, out, arena)
            .expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        // SAFETY: the bytes are those of this program, and lie where the allocator puts them.
        let archive = unsafe { rkyv::access_unchecked::<rkyv::Archived<Lidar>>(wire) };
        rkyv::deserialize::<Lidar, Error>(archive).expect("a message")
    }
}
