//! The field in its message.

use crate::error::Result;
use crate::format::FIELD;
use crate::view::View;
use crate::wire::Fields;

/// The message at the root of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// What a sensor model is given.
    SensorView,
    /// What a sensor model gives.
    SensorData,
}

/// What the rows are, and so in which message the field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In SensorView.lidar_sensor_view.
    LidarReflections,
    /// In SensorView.radar_sensor_view.
    RadarReflections,
    /// In SensorData.feature_data.lidar_sensor.
    LidarDetections,
    /// In SensorData.feature_data.radar_sensor.
    RadarDetections,
}

/// The number of `reflection` and of `detection` in their messages.
pub(crate) const ROWS: u32 = 2;

/// A message on the way to the rows, or the one that holds them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageLevel {
    Rows(Kind),
    SensorView,
    SensorData,
    FeatureData,
}

impl MessageLevel {
    pub fn inner(self, number: u32) -> Option<MessageLevel> {
        match (self, number) {
            (MessageLevel::SensorView, 1001) => Some(MessageLevel::Rows(Kind::RadarReflections)),
            (MessageLevel::SensorView, 1002) => Some(MessageLevel::Rows(Kind::LidarReflections)),
            (MessageLevel::SensorData, 8) => Some(MessageLevel::SensorView),
            (MessageLevel::SensorData, 26) => Some(MessageLevel::FeatureData),
            (MessageLevel::FeatureData, 2) => Some(MessageLevel::Rows(Kind::RadarDetections)),
            (MessageLevel::FeatureData, 3) => Some(MessageLevel::Rows(Kind::LidarDetections)),
            _ => None,
        }
    }
}

impl From<Root> for MessageLevel {
    fn from(root: Root) -> Self {
        match root {
            Root::SensorView => MessageLevel::SensorView,
            Root::SensorData => MessageLevel::SensorData,
        }
    }
}

/// A LidarSensorView, RadarSensorView, LidarDetectionData or RadarDetectionData.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<'a> {
    /// Which of them.
    pub kind: Kind,
    /// Its bytes.
    pub message: &'a [u8],
    /// The packed field; of several the last, as Protobuf has it.
    pub field: Option<&'a [u8]>,
    /// Sub-messages of its rows.
    pub rows: usize,
}

/// All views and sensors' detections in the message's order, those of
/// SensorData.sensor_view included.
///
/// # Errors
///
/// [`crate::Fault::Wire`] and [`crate::Fault::Depth`] where the bytes are not Protobuf.
pub fn find(root: Root, message: &[u8]) -> Result<Vec<Found<'_>>> {
    let mut found = Vec::new();
    search(root.into(), message, &mut found)?;
    Ok(found)
}

fn search<'a>(level: MessageLevel, message: &'a [u8], out: &mut Vec<Found<'a>>) -> Result<()> {
    if let MessageLevel::Rows(kind) = level {
        let mut found = Found { kind, message, field: None, rows: 0 };
        for field in Fields::new(message) {
            let field = field?;
            match (field.number, field.kind) {
                (ROWS, 2) => found.rows += 1,
                (FIELD, 2) => found.field = Some(field.content),
                _ => {}
            }
        }
        out.push(found);
        return Ok(());
    }
    for field in Fields::new(message) {
        let field = field?;
        if let (2, Some(inner)) = (field.kind, level.inner(field.number)) {
            search(inner, field.content, out)?;
        }
    }
    Ok(())
}

/// Opens the first packed field of a kind; none where the message has none.
///
/// # Errors
///
/// Those of [`find`] and of [`View::open`].
pub fn first(root: Root, message: &[u8], kind: Kind) -> Result<Option<View<'_>>> {
    let found = find(root, message)?;
    let field = found.iter().filter(|found| found.kind == kind).find_map(|found| found.field);
    field.map(View::open).transpose()
}
