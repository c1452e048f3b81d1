//! Points in messages of ROS 1 and ROS 2, by their types' names: a recording need not carry the
//! definition.

mod cloud;
mod header;
mod packed_cloud;
mod scan;

use anyhow::Result;
use wiregauge_columns::{Cursor, SequentialLayout};

use self::header::Header;
use crate::points::Points;

/// The types that have points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RosType {
    PointCloud2,
    /// Of point_cloud_transport.
    CompressedPointCloud2,
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
        let (package, name) = name.split_once('/')?;
        let kind = match (package, name.strip_prefix("msg/").unwrap_or(name)) {
            ("sensor_msgs", "PointCloud2") => RosType::PointCloud2,
            ("sensor_msgs", "LaserScan") => RosType::LaserScan,
            ("point_cloud_interfaces", "CompressedPointCloud2") => RosType::CompressedPointCloud2,
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
            RosType::PointCloud2 => cloud::read_points(&mut cursor, header, false, wanted)?,
            RosType::CompressedPointCloud2 => {
                cloud::read_points(&mut cursor, header, true, wanted)?
            }
            RosType::LaserScan => scan::read_points(&mut cursor, header, wanted)?,
        };
        cursor.finish()?;
        Ok(points)
    }
}
