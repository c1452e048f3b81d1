//! Zserio by hand: decoding stands in one function of the program, as it does in most.

/// What zserio-rs-build makes of the definition.
#[rustfmt::skip]
mod generated;

use generated::wg::{LidarPoint, LidarPointsMsg, MsgInfo};
use hand::{ByHand, Info, Lidar, Point};

struct Zserio;

fn main() {
    hand::serve(Zserio)
}

impl ByHand for Zserio {
    const LIBRARY: &'static str = "zserio";
    type Object = LidarPointsMsg;
    const HAS_OBJECT: bool = true;

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        Self::write(&Self::fill(message), out);
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        let LidarPointsMsg { info, points } = Self::parse(wire);
        let point = |from: &LidarPoint| Point {
            position: [from.position[0], from.position[1], from.position[2]],
            intensity: from.intensity,
        };
        Lidar {
            info: Info { kind: info.kind, timestamp: info.timestamp, guid: info.guid },
            points: points.iter().map(point).collect(),
        }
    }
    fn fill(message: &Lidar) -> LidarPointsMsg {
        let Info { kind, timestamp, guid } = message.info;
        let point = |from: &Point| LidarPoint {
            position: from.position.to_vec(),
            intensity: from.intensity,
        };
        LidarPointsMsg {
            info: MsgInfo { kind, timestamp, guid },
            points: message.points.iter().map(point).collect(),
        }
    }
    fn write(object: &LidarPointsMsg, out: &mut Vec<u8>) {
        zserio::to_writer(out, object).expect("a Vec has room");
    }
    #[inline(never)]
    fn parse(wire: &[u8]) -> LidarPointsMsg {
        zserio::from_bytes(wire).expect("a message")
    }
}
