//! Reflections and detections of OSI, as sub-messages or in the packed field.

mod fields;
mod leaf;
mod place;
mod pose;
mod rows;

use std::borrow::Cow;

use anyhow::{Context, Result};

use self::fields::{all_of, merged, messages};
use self::leaf::List;
use self::place::{place, Placed};
use crate::points::Points;

pub use self::leaf::Root;
pub use self::place::{Elevation, Rays, Reading};

/// The frame that mounting positions are in: the host vehicle's.
const VEHICLE: &str = "vehicle";

/// The points of a message, list by list.
pub fn points(root: Root, message: &[u8], reading: Reading) -> Result<Vec<Points>> {
    let found = match root {
        Root::SensorView => views("", message)?,
        Root::SensorData => {
            let mut found = Vec::new();
            for (at, view) in messages(message, 8)?.into_iter().enumerate() {
                found.extend(views(&format!("sensor_view[{at}]."), view)?);
            }
            found.extend(detections(message)?);
            found
        }
    };
    found.into_iter().map(|found| found.points(reading)).collect()
}

/// A list of rows in a message.
struct Found<'m> {
    path: String,
    list: List,
    /// The message that holds it.
    holder: Cow<'m, [u8]>,
    /// Where the sensor is, as the message says it.
    mounted: Cow<'m, [u8]>,
    /// How the sensor looks.
    configuration: Cow<'m, [u8]>,
}

/// The reflections of a SensorView.
fn views<'m>(path: &str, message: &'m [u8]) -> Result<Vec<Found<'m>>> {
    let mut found = Vec::new();
    let kinds = [
        (1001, "radar_sensor_view", List::RadarReflections),
        (1002, "lidar_sensor_view", List::LidarReflections),
    ];
    for (number, name, list) in kinds {
        for (at, holder) in messages(message, number)?.into_iter().enumerate() {
            let configuration = merged(holder, 1)?;
            let mounted = merged(&configuration, 2)?.into_owned().into();
            let (path, holder) = (format!("{path}{name}[{at}]"), holder.into());
            found.push(Found { path, list, holder, mounted, configuration });
        }
    }
    Ok(found)
}

/// The detections of a SensorData.
fn detections(message: &[u8]) -> Result<Vec<Found<'static>>> {
    let mut found = Vec::new();
    // It may come in several pieces that belong together.
    let features = merged(message, 26)?;
    let kinds =
        [(2, "radar_sensor", List::RadarDetections), (3, "lidar_sensor", List::LidarDetections)];
    for (number, name, list) in kinds {
        for (at, holder) in messages(&features, number)?.into_iter().enumerate() {
            let mounted = merged(&merged(holder, 1)?, 3)?.into_owned().into();
            let (path, holder) = (format!("feature_data.{name}[{at}]"), holder.to_vec().into());
            found.push(Found { path, list, holder, mounted, configuration: Cow::default() });
        }
    }
    // Each with what has a position in space, if any of it does, and what has none.
    let kinds = [
        (4, "ultrasonic_sensor", List::UltrasonicDetections, ""),
        (4, "ultrasonic_sensor", List::IndirectDetections, ".indirect_detection"),
        (5, "camera_sensor", List::CameraDetections, ""),
        (5, "camera_sensor", List::CameraPoints, ".point"),
    ];
    for (number, name, list, part) in kinds {
        for (at, holder) in messages(&features, number)?.into_iter().enumerate() {
            if list != List::CameraPoints && messages(holder, list.number())?.is_empty() {
                continue;
            }
            let mounted = merged(&merged(holder, 1)?, 3)?.into_owned().into();
            let path = format!("feature_data.{name}[{at}]{part}");
            let (holder, configuration) = (holder.to_vec().into(), Cow::default());
            found.push(Found { path, list, holder, mounted, configuration });
        }
    }
    if all_of(message)?.any(|(number, _)| number == 27) {
        found.push(Found {
            path: "logical_detection_data".into(),
            list: List::LogicalDetections,
            holder: merged(message, 27)?.into_owned().into(),
            // They are in the coordinates of the virtual sensor.
            mounted: merged(message, 6)?.into_owned().into(),
            configuration: Cow::default(),
        });
    }
    Ok(found)
}

impl Found<'_> {
    fn points(self, reading: Reading) -> Result<Points> {
        let path = self.path;
        let (count, mut columns) =
            rows::columns(self.list, &self.holder).with_context(|| path.clone())?;
        let placed = place(self.list, count, &columns, &self.configuration, reading)
            .with_context(|| path.clone())?;
        let (unplaced, by_elevation) = match placed {
            Placed::At { coordinates, by_elevation } => {
                columns.splice(0..0, coordinates);
                (None, by_elevation)
            }
            Placed::Nowhere(why) => (Some(why), false),
        };
        let pose = pose::of(&self.mounted)?;
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
