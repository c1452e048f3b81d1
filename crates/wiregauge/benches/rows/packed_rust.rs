//! The packed field by hand, in a message of Prost's: its columns are filled where they lie.

/// What prost-build makes of the definition.
mod wg {
    include!("wg.rs");
}

use hand::{ByHand, Info, Lidar, Point};
use prost::Message;
use wiregauge_packed::{Column, ColumnMut, Element, Layout, Number, View};

struct Packed;

fn main() {
    hand::serve(Packed)
}

fn fill<T: Number>(column: &mut ColumnMut, values: impl Iterator<Item = T>) {
    column.sink().expect("it is of this type").fill(values);
}

impl ByHand for Packed {
    const LIBRARY: &'static str = "prost";
    type Object = wg::LidarPointsMsg;
    const HAS_OBJECT: bool = true;

    fn encode(&mut self, message: &Lidar, out: &mut Vec<u8>) {
        Self::write(&Self::fill(message), out);
    }
    fn decode(&mut self, wire: &[u8]) -> Lidar {
        let object = Self::parse(wire);
        let info = object.info.unwrap_or_default();
        let view = View::open(&object.points).expect("a packed field");
        let position = ["position[0]", "position[1]", "position[2]"]
            .map(|name| view.column::<f32>(name).expect("a column"));
        let intensity = view.column::<u8>("intensity").expect("a column");
        let point = |row| Point {
            position: [position[0].get(row), position[1].get(row), position[2].get(row)],
            intensity: intensity.get(row),
        };
        Lidar {
            info: Info { kind: info.kind, timestamp: info.timestamp, guid: info.guid },
            points: (0..view.rows()).map(point).collect(),
        }
    }
    fn fill(message: &Lidar) -> wg::LidarPointsMsg {
        let Lidar { info, points } = message;
        let columns = [
            Column::new("position[0]", Element::F32),
            Column::new("position[1]", Element::F32),
            Column::new("position[2]", Element::F32),
            Column::new("intensity", Element::U8),
        ];
        let layout = Layout::plan(&columns, points.len() as u64, 0, 64).expect("it fits");
        let mut field = vec![0; layout.size()];
        let mut table = layout.write(&mut field).expect("the size is the layout's");
        let mut columns = table.columns();
        let [x, y, z, intensity] = &mut columns[..] else { unreachable!("four columns") };
        fill(x, points.iter().map(|point| point.position[0]));
        fill(y, points.iter().map(|point| point.position[1]));
        fill(z, points.iter().map(|point| point.position[2]));
        fill(intensity, points.iter().map(|point| point.intensity));
        wg::LidarPointsMsg {
            info: Some(wg::MsgInfo { kind: info.kind, timestamp: info.timestamp, guid: info.guid }),
            points: field,
        }
    }
    fn write(object: &wg::LidarPointsMsg, out: &mut Vec<u8>) {
        object.encode(out).expect("a Vec has room");
    }
    #[inline(never)]
    fn parse(wire: &[u8]) -> wg::LidarPointsMsg {
        wg::LidarPointsMsg::decode(wire).expect("a message")
    }
}
