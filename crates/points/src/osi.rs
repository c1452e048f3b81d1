//! Reflections and detections of OSI, as sub-messages or in the packed field.

mod leaf;
mod pose;
mod positions;
mod rows;

use std::borrow::Cow;

use anyhow::{Context, Result};

use self::leaf::PointListKind;
use self::positions::{compute_positions, Positions};
use self::rows::Rows;
use crate::column::Type;
use crate::message_fields::{merge_messages, merge_pieces, messages, messages_of};
use crate::points::Points;

pub use self::leaf::Root;
pub use self::positions::{Elevation, Rays, SensorConventions};

/// The frame that mounting positions are in: the host vehicle's.
const VEHICLE: &str = "vehicle";

/// The points of a message, list by list, with the columns that are wanted, and maybe others.
pub fn read_points(
    root: Root,
    message: &[u8],
    reading: SensorConventions,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Points>> {
    let (features, logical);
    let found = match root {
        Root::SensorView => find_views("", message)?,
        Root::SensorData => {
            let [views, feature_pieces, logical_pieces] = messages_of(message, [8, 26, 27])?;
            let mut found = Vec::new();
            for (at, view) in views.into_iter().enumerate() {
                found.extend(find_views(&format!("sensor_view[{at}]."), view)?);
            }
            // They may come in several pieces that belong together.
            features = merge_pieces(&feature_pieces);
            found.extend(detections(&features)?);
            if !logical_pieces.is_empty() {
                logical = merge_pieces(&logical_pieces);
                found.push(PointList {
                    path: "logical_detection_data".into(),
                    list: PointListKind::LogicalDetections,
                    holder: &logical,
                    // They are in the coordinates of the virtual sensor.
                    mounting: Mounting::Position(merge_messages(message, 6)?),
                });
            }
            found
        }
    };
    found.into_iter().map(|found| found.into_points(reading, is_wanted)).collect()
}

/// The columns that the points of a list can have.
pub fn defined_columns(list: &str) -> Vec<(String, Type, &'static str)> {
    let leaves = PointListKind::from_path(list).map_or(&[][..], PointListKind::leaves);
    let positions = ["x", "y", "z"].map(|name| (name.to_owned(), Type::F64, "m"));
    let leaves = leaves.iter().map(|leaf| (leaf.column(), leaf.column_type(), leaf.unit));
    positions.into_iter().chain(leaves).collect()
}

/// A list of rows in a message.
struct PointList<'m> {
    path: String,
    list: PointListKind,
    /// The message that holds it.
    holder: &'m [u8],
    mounting: Mounting<'m>,
}

/// Where a message says where the sensor is.
enum Mounting<'m> {
    /// In the configuration that its view begins with.
    Configuration,
    /// In the head that its data begin with.
    Head,
    /// Elsewhere.
    Position(Cow<'m, [u8]>),
}

/// The reflections of a SensorView.
fn find_views<'m>(path: &str, message: &'m [u8]) -> Result<Vec<PointList<'m>>> {
    let mut found = Vec::new();
    let kinds = [
        (1001, "radar_sensor_view", PointListKind::RadarReflections),
        (1002, "lidar_sensor_view", PointListKind::LidarReflections),
    ];
    for (number, name, list) in kinds {
        for (at, holder) in messages(message, number)?.into_iter().enumerate() {
            let (path, mounting) = (format!("{path}{name}[{at}]"), Mounting::Configuration);
            found.push(PointList { path, list, holder, mounting });
        }
    }
    Ok(found)
}

/// The detections of a SensorData.
fn detections(features: &[u8]) -> Result<Vec<PointList<'_>>> {
    let mut found = Vec::new();
    let kinds = [
        (2, "radar_sensor", PointListKind::RadarDetections),
        (3, "lidar_sensor", PointListKind::LidarDetections),
    ];
    for (number, name, list) in kinds {
        for (at, holder) in messages(features, number)?.into_iter().enumerate() {
            let (path, mounting) = (format!("feature_data.{name}[{at}]"), Mounting::Head);
            found.push(PointList { path, list, holder, mounting });
        }
    }
    // Each with what has a position in space, if any of it does, and what has none.
    let kinds = [
        (4, "ultrasonic_sensor", PointListKind::UltrasonicDetections, ""),
        (4, "ultrasonic_sensor", PointListKind::IndirectDetections, ".indirect_detection"),
        (5, "camera_sensor", PointListKind::CameraDetections, ""),
        (5, "camera_sensor", PointListKind::CameraPoints, ".point"),
    ];
    for (number, name, list, part) in kinds {
        for (at, holder) in messages(features, number)?.into_iter().enumerate() {
            if list != PointListKind::CameraPoints && messages(holder, list.number())?.is_empty() {
                continue;
            }
            let path = format!("feature_data.{name}[{at}]{part}");
            found.push(PointList { path, list, holder, mounting: Mounting::Head });
        }
    }
    Ok(found)
}

impl PointList<'_> {
    fn into_points(
        self,
        reading: SensorConventions,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Points> {
        let path = self.path;
        // Where points are follows from other columns.
        let is_placed = ["x", "y", "z"].iter().any(|name| is_wanted(name));
        let read = |is_read: &dyn Fn(&str) -> bool| {
            rows::read(self.list, self.holder, is_read).with_context(|| path.clone())
        };
        let mut rows = read(&|name| is_placed || is_wanted(name))?;
        if rows.columns.is_empty() && !is_placed {
            // Its points have rows, too, where it has none of the columns.
            rows = read(&|_| true)?;
        }
        let Rows { count, mut columns, first } = rows;
        let first = merge_pieces(&first);
        let (mounted, configuration) = match self.mounting {
            Mounting::Configuration => (merge_messages(&first, 2)?, &first[..]),
            Mounting::Head => (merge_messages(&first, 3)?, &[][..]),
            Mounting::Position(position) => (position, &[][..]),
        };
        let place = || {
            compute_positions(self.list, count, &columns, configuration, reading)
                .with_context(|| path.clone())
        };
        let (unplaced, by_elevation) = match is_placed.then(place).transpose()? {
            Some(Positions::Known { coordinates, by_elevation }) => {
                columns.splice(0..0, coordinates);
                (None, by_elevation)
            }
            Some(Positions::Unknown(why)) => (Some(why), false),
            None => (None, false),
        };
        let pose = pose::read_pose(&mounted)?;
        Ok(Points {
            list: path,
            count,
            columns,
            frame: pose.map(|_| VEHICLE.into()),
            pose,
            time: None,
            unplaced,
            by_elevation,
        })
    }
}
