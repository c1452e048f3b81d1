//! Reflections and detections of OSI, as sub-messages or in the packed field.

mod leaf;
mod pose;
mod positions;
mod rows;

use std::borrow::Cow;

use anyhow::{Context, Result};

use self::leaf::PointListKind;
use self::positions::{compute_positions, Positions};
use crate::column::Type;
use crate::message_fields::{merge_messages, messages, read_fields};
use crate::points::Points;

pub use self::leaf::Root;
pub use self::positions::{Elevation, Rays, SensorConventions};

/// The frame that mounting positions are in: the host vehicle's.
const VEHICLE: &str = "vehicle";

/// The points of a message, list by list.
pub fn read_points(root: Root, message: &[u8], reading: SensorConventions) -> Result<Vec<Points>> {
    let found = match root {
        Root::SensorView => find_views("", message)?,
        Root::SensorData => {
            let mut found = Vec::new();
            for (at, view) in messages(message, 8)?.into_iter().enumerate() {
                found.extend(find_views(&format!("sensor_view[{at}]."), view)?);
            }
            found.extend(detections(message)?);
            found
        }
    };
    found.into_iter().map(|found| found.into_points(reading)).collect()
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
    holder: Cow<'m, [u8]>,
    /// Where the sensor is, as the message says it.
    mounted: Cow<'m, [u8]>,
    /// How the sensor looks.
    configuration: Cow<'m, [u8]>,
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
            let configuration = merge_messages(holder, 1)?;
            let mounted = merge_messages(&configuration, 2)?.into_owned().into();
            let (path, holder) = (format!("{path}{name}[{at}]"), holder.into());
            found.push(PointList { path, list, holder, mounted, configuration });
        }
    }
    Ok(found)
}

/// The detections of a SensorData.
fn detections(message: &[u8]) -> Result<Vec<PointList<'static>>> {
    let mut found = Vec::new();
    // It may come in several pieces that belong together.
    let features = merge_messages(message, 26)?;
    let kinds = [
        (2, "radar_sensor", PointListKind::RadarDetections),
        (3, "lidar_sensor", PointListKind::LidarDetections),
    ];
    for (number, name, list) in kinds {
        for (at, holder) in messages(&features, number)?.into_iter().enumerate() {
            let mounted = merge_messages(&merge_messages(holder, 1)?, 3)?.into_owned().into();
            let (path, holder) = (format!("feature_data.{name}[{at}]"), holder.to_vec().into());
            found.push(PointList { path, list, holder, mounted, configuration: Cow::default() });
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
        for (at, holder) in messages(&features, number)?.into_iter().enumerate() {
            if list != PointListKind::CameraPoints && messages(holder, list.number())?.is_empty() {
                continue;
            }
            let mounted = merge_messages(&merge_messages(holder, 1)?, 3)?.into_owned().into();
            let path = format!("feature_data.{name}[{at}]{part}");
            let (holder, configuration) = (holder.to_vec().into(), Cow::default());
            found.push(PointList { path, list, holder, mounted, configuration });
        }
    }
    if read_fields(message)?.any(|(number, _)| number == 27) {
        found.push(PointList {
            path: "logical_detection_data".into(),
            list: PointListKind::LogicalDetections,
            holder: merge_messages(message, 27)?.into_owned().into(),
            // They are in the coordinates of the virtual sensor.
            mounted: merge_messages(message, 6)?.into_owned().into(),
            configuration: Cow::default(),
        });
    }
    Ok(found)
}

impl PointList<'_> {
    fn into_points(self, reading: SensorConventions) -> Result<Points> {
        let path = self.path;
        let (count, mut columns) =
            rows::columns(self.list, &self.holder).with_context(|| path.clone())?;
        let placed = compute_positions(self.list, count, &columns, &self.configuration, reading)
            .with_context(|| path.clone())?;
        let (unplaced, by_elevation) = match placed {
            Positions::Known { coordinates, by_elevation } => {
                columns.splice(0..0, coordinates);
                (None, by_elevation)
            }
            Positions::Unknown(why) => (Some(why), false),
        };
        let pose = pose::read_pose(&self.mounted)?;
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
