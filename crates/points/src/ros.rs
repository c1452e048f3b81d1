//! Points in messages of ROS 1 and ROS 2, by their types' names: a recording need not carry the
//! definition.

mod cloud;
mod scan;

use anyhow::{ensure, Context, Result};
use wiregauge_columns::{Cursor, SequentialLayout};
use wiregauge_trace::read::Nanoseconds;

use crate::points::Points;

/// The types that have points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RosType {
    PointCloud2,
    LaserScan,
}

/// What reads points of a type in an encoding.
#[derive(Clone, Copy, Debug)]
pub struct RosReader {
    kind: RosType,
    layout: SequentialLayout,
}

impl RosReader {
    /// Of a type in ROS 2's encoding, or in ROS 1's; none where it has no points or is in
    /// another one.
    pub fn from_type(name: &str, encoding: &str) -> Option<RosReader> {
        let kind = match name.strip_prefix("sensor_msgs/")? {
            "msg/PointCloud2" | "PointCloud2" => RosType::PointCloud2,
            "msg/LaserScan" | "LaserScan" => RosType::LaserScan,
            _ => return None,
        };
        let layout = match encoding {
            "cdr" => SequentialLayout::CDR,
            "ros1" => SequentialLayout::ROS1,
            _ => return None,
        };
        Some(RosReader { kind, layout })
    }

    /// The points of a message, with the columns that are wanted.
    pub fn points(&self, message: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Points> {
        let mut cursor = Cursor::begin(message, self.layout)?;
        let header = Header::read(&mut cursor, self.layout)?;
        let points = match self.kind {
            RosType::PointCloud2 => cloud::read_points(&mut cursor, header, wanted)?,
            RosType::LaserScan => scan::read_points(&mut cursor, header, wanted)?,
        };
        cursor.finish()?;
        Ok(points)
    }
}

/// What such messages begin with.
struct Header {
    time: Nanoseconds,
    frame: String,
}

impl Header {
    fn read(cursor: &mut Cursor, layout: SequentialLayout) -> Result<Header> {
        if layout == SequentialLayout::ROS1 {
            cursor.number(4)?;
        }
        let seconds = read_u32(cursor)?;
        // ROS 2 has seconds before 1970, ROS 1 has some behind 2038.
        let seconds = match layout == SequentialLayout::ROS1 {
            true => Nanoseconds::from(seconds),
            false => Nanoseconds::from(seconds as i32),
        };
        let nanos = Nanoseconds::from(read_u32(cursor)?);
        Ok(Header { time: seconds * 1_000_000_000 + nanos, frame: read_text(cursor)? })
    }
}

fn read_u32(cursor: &mut Cursor) -> Result<u32> {
    Ok(cursor.number(4)? as u32)
}

fn read_f32(cursor: &mut Cursor) -> Result<f32> {
    read_u32(cursor).map(f32::from_bits)
}

fn read_truth(cursor: &mut Cursor) -> Result<bool> {
    let octet = cursor.number(1)?;
    ensure!(octet <= 1, "a bool is 0 or 1, not {octet}");
    Ok(octet == 1)
}

fn read_text(cursor: &mut Cursor) -> Result<String> {
    let text = std::str::from_utf8(cursor.text()?);
    Ok(text.context("a text is not UTF-8")?.to_owned())
}
