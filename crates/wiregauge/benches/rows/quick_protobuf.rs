//! Quick-protobuf by hand: decoding stands in one function of the program, as it does in most.

/// What pb-rs makes of the definition.
#[rustfmt::skip]
mod wg;

use hand::{ByHand, Info, Lidar, Point};
use quick_protobuf::{BytesReader, MessageRead, MessageWrite, Writer};

struct QuickProtobuf;

fn main() {
    hand::serve(QuickProtobuf)
}

impl ByHand for QuickProtobuf {
    const LIBRARY: &'static str = "quick-protobuf";
    type Object = wg::LidarPointsMsg;
    const HAS_OBJECT: bool = true;

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        Self::write(&Self::fill(message), out);
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        let object = Self::parse(wire);
        let info = object.info.unwrap_or_default();
        let point = |from: &wg::LidarPoint| Point {
            position: [from.position_0, from.position_1, from.position_2],
            intensity: from.intensity as u8,
        };
        Lidar {
            info: Info { kind: info.kind, timestamp: info.timestamp, guid: info.guid },
            points: object.points.iter().map(point).collect(),
        }
    }
    fn fill(message: &Lidar) -> wg::LidarPointsMsg {
        let info = &message.info;
        let point = |from: &Point| wg::LidarPoint {
            position_0: from.position[0],
            position_1: from.position[1],
            position_2: from.position[2],
            intensity: from.intensity.into(),
        };
        wg::LidarPointsMsg {
            info: Some(wg::MsgInfo { kind: info.kind, timestamp: info.timestamp, guid: info.guid }),
            points: message.points.iter().map(point).collect(),
        }
    }
    fn write(object: &wg::LidarPointsMsg, out: &mut Vec<u8>) {
        out.reserve(object.get_size());
        object.write_message(&mut Writer::new(out)).expect("a Vec has room");
    }
    #[inline(never)]
    fn parse(wire: &[u8]) -> wg::LidarPointsMsg {
        let mut reader = BytesReader::from_bytes(wire);
        wg::LidarPointsMsg::from_reader(&mut reader, wire).expect("a message")
    }
}
