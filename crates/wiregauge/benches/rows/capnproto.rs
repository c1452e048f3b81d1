//! Cap'n Proto by hand: built over a first segment that is kept, and handed over as it lies
//! behind its table.

/// What capnpc makes of the definition.
#[rustfmt::skip]
mod message_capnp;

use capnp::message::{Builder, ReaderOptions};
use capnp::serialize;
use hand::ByHand;

#[derive(Default)]
struct CapnProto {
    /// The last message.
    builder: Option<Builder<ScratchSpaceHeapAllocator<'static>>>,
    /// Words of its segment.
    room: usize,
}

fn main() {
    hand::serve(CapnProto::default())
}

impl ByHand for CapnProto {
    const LIBRARY: &'static str = "capnp";
    type Object = ();

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        let last = self.builder.take().map(Builder::into_allocator);
        let words = word_count(message);
        let allocator = match last {
            Some(kept) if self.room >= words => kept,
            _ => {
                self.room = words;
                segment(words)
            }
        };
        let builder = self.builder.insert(Builder::new(allocator));
        fill(message, builder.init_root());
        // One segment, and its length in words.
        let length = builder.get_segments_for_output()[0].len() / size_of::<Word>();
        out.extend(0u32.to_le_bytes());
        out.extend((length as u32).to_le_bytes());
    }
    fn written<'a>(&'a self, out: &'a [u8]) -> [&'a [u8]; 2] {
        let builder = self.builder.as_ref().expect("a message was built");
        let segments = builder.get_segments_for_output();
        assert_eq!(segments.len(), 1, "there is room for the message");
        [out, segments[0]]
    }
    fn decode(&mut self, mut wire: &[u8]) -> Lidar {
        let options = ReaderOptions::new();
        let reader = serialize::read_message_from_flat_slice_no_alloc(&mut wire, options);
        lidar(reader.expect("a message"))
    }
}
