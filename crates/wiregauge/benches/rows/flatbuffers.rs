//! FlatBuffers by hand, points as structs: the builder is kept, and so is the list of
//! structs. The bytes are trusted, and points read as a block: they lie in memory alike.

/// What flatc makes of the definition.
#[rustfmt::skip]
mod message_generated;

use flatbuffers::FlatBufferBuilder;
use hand::{ByHand, Info, Lidar, Point};
use message_generated::wg;

#[derive(Default)]
struct Flatbuffers {
    builder: FlatBufferBuilder<'static>,
    points: Vec<wg::LidarPoint>,
}

fn main() {
    hand::serve(Flatbuffers::default())
}

impl ByHand for Flatbuffers {
    const LIBRARY: &'static str = "flatbuffers";
    type Object = ();

    fn encode(&mut self, message: &Lidar, _: &mut Vec<u8>) {
        let builder = &mut self.builder;
        builder.reset();
        let point = |from: &Point| wg::LidarPoint::new(&from.position, from.intensity);
        self.points.clear();
        self.points.extend(message.points.iter().map(point));
        // Before 22.9 only this one moves a block.
        #[cfg(feature = "flatc-2")]
        let points = builder.create_vector_direct(&self.points);
        #[cfg(not(feature = "flatc-2"))]
        let points = builder.create_vector(&self.points);
        let Info { kind, timestamp, guid } = message.info;
        let info = wg::MsgInfo::new(kind, timestamp, guid);
        let fields = wg::LidarPointsMsgArgs { info: Some(&info), points: Some(points) };
        let root = wg::LidarPointsMsg::create(builder, &fields);
        builder.finish(root, None);
    }
    fn written<'a>(&'a self, _: &'a [u8]) -> [&'a [u8]; 2] {
        [self.builder.finished_data(), &[]]
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        // SAFETY: the bytes are those of this program.
        let root = unsafe { wg::root_as_lidar_points_msg_unchecked(wire) };
        let info = root.info();
        let from = root.points().expect("it is written always");
        let count = from.len();
        #[cfg(not(feature = "flatc-2"))]
        let from = from.bytes();
        let mut points = Vec::<Point>::with_capacity(count);
        // SAFETY: there is room for so many, and any bytes are a point.
        unsafe {
            let bytes = count * size_of::<Point>();
            let to = points.as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(from.as_ptr().cast::<u8>(), to, bytes);
            points.set_len(count);
        }
        Lidar {
            info: Info { kind: info.kind(), timestamp: info.timestamp(), guid: info.guid() },
            points,
        }
    }
}

const _: () = assert!(size_of::<Point>() == size_of::<wg::LidarPoint>(), "both lie alike");
