//! Cap'n Proto's packed encoding by hand: built over a first segment that is kept, and
//! unpacked into memory that is kept.

/// What capnpc makes of the definition.
#[rustfmt::skip]
mod message_capnp;

use capnp::message::{Builder, ReaderOptions};
use capnp::{serialize_packed, ErrorKind};
use hand::ByHand;

struct CapnProto {
    segment: ScratchSpaceHeapAllocator<'static>,
    /// Words of the segment.
    room: usize,
    unpacked: Vec<Word>,
}

fn main() {
    hand::serve(CapnProto { segment: segment(1), room: 1, unpacked: Vec::new() })
}

impl ByHand for CapnProto {
    const LIBRARY: &'static str = "capnp";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        let words = word_count(message);
        if self.room < words {
            (self.segment, self.room) = (segment(words), words);
        }
        let mut builder = Builder::new(&mut self.segment);
        fill(message, builder.init_root());
        serialize_packed::write_message(out, &builder).expect("a Vec has room");
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        loop {
            let room = Word::words_to_bytes_mut(&mut self.unpacked);
            let options = ReaderOptions::new();
            match serialize_packed::read_message_no_alloc(wire, room, options).map(lidar) {
                Ok(message) => return message,
                // The bytes do not say how many they become.
                Err(error) if error.kind == ErrorKind::BufferNotLargeEnough => {
                    let words = (2 * self.unpacked.len()).max(wire.len() / 4);
                    self.unpacked = Word::allocate_zeroed_vec(words);
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
