// What both encodings share.

use capnp::message::{Reader, ReaderSegments, ScratchSpaceHeapAllocator};
use capnp::Word;
use hand::{Info, Lidar, Point};
use message_capnp::lidar_points_msg;

/// Words that a message has room in.
fn word_count(message: &Lidar) -> usize {
    16 + 2 * message.points.len()
}

/// A segment for the rest of the program, which hardly ever needs a larger one.
fn segment(words: usize) -> ScratchSpaceHeapAllocator<'static> {
    let words = Word::allocate_zeroed_vec(words).leak();
    ScratchSpaceHeapAllocator::new(Word::words_to_bytes_mut(words))
}

fn fill(message: &Lidar, mut root: lidar_points_msg::Builder) {
    let mut info = root.reborrow().init_info();
    info.set_kind(message.info.kind);
    info.set_timestamp(message.info.timestamp);
    info.set_guid(message.info.guid);
    let mut points = root.init_points(message.points.len() as u32);
    for (at, point) in (0..).zip(&message.points) {
        let mut to = points.reborrow().get(at);
        to.set_position0(point.position[0]);
        to.set_position1(point.position[1]);
        to.set_position2(point.position[2]);
        to.set_intensity(point.intensity);
    }
}

fn lidar(reader: Reader<impl ReaderSegments>) -> Lidar {
    let root = reader.get_root::<lidar_points_msg::Reader>().expect("a message");
    let info = root.get_info().expect("a message");
    let point = |from: message_capnp::lidar_point::Reader| Point {
        position: [from.get_position0(), from.get_position1(), from.get_position2()],
        intensity: from.get_intensity(),
    };
    Lidar {
        info: Info {
            kind: info.get_kind(),
            timestamp: info.get_timestamp(),
            guid: info.get_guid(),
        },
        points: root.get_points().expect("a message").iter().map(point).collect(),
    }
}
