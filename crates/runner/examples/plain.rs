//! The shortest runner: the LiDAR message by columns, in two functions.
//!
//!     cargo build --release --example plain
//!     wiregauge codecs --runner plain=target/release/examples/plain

use wiregauge_runner::{message, serve_plain, Error, Plain, Value};

message! {
    struct Info { kind: u64, timestamp: u64, guid: u64 }
    struct Point { position: [f32; 3], intensity: u8 }
    struct Scan { info: Info, points: Vec<Point> }
}

struct Columns;

impl Plain for Columns {
    type Message = Scan;
    const LIBRARY: &'static str = "columns 1";

    fn encode(scan: &Scan, out: &mut Vec<u8>) -> Result<(), Error> {
        scan.info.write(out);
        (scan.points.len() as u32).write(out);
        (0..3)
            .for_each(|axis| scan.points.iter().for_each(|point| point.position[axis].write(out)));
        scan.points.iter().for_each(|point| point.intensity.write(out));
        Ok(())
    }

    fn decode(mut wire: &[u8], scan: &mut Scan) -> Result<(), Error> {
        let (wire, mut count) = (&mut wire, 0u32);
        scan.info.read(wire)?;
        count.read(wire)?;
        if wire.len() != 13 * count as usize {
            return Err(Error::new(format!("{count} points do not fit {} bytes", wire.len())));
        }
        scan.points.resize(count as usize, Point::default());
        (0..3).try_for_each(|axis| {
            scan.points.iter_mut().try_for_each(|point| point.position[axis].read(wire))
        })?;
        scan.points.iter_mut().try_for_each(|point| point.intensity.read(wire))
    }
}

fn main() -> std::io::Result<()> {
    serve_plain::<Columns>()
}
