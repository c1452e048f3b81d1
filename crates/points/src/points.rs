//! The points of one list in one message.

use wiregauge_trace::read::Nanoseconds;

use crate::column::Column;

/// Where a sensor is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Its origin: x, y and z in m.
    pub position: [f64; 3],
    /// Its axes, as a quaternion: x, y, z, w.
    pub orientation: [f64; 4],
}

impl Pose {
    /// Where the frame itself is.
    pub const ORIGIN: Pose = Pose { position: [0.0; 3], orientation: [0.0, 0.0, 0.0, 1.0] };
}

/// Points as columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// The list in the message: `lidar_sensor_view[0]`; empty where the message is the
    /// list.
    pub list: String,
    /// How many there are.
    pub count: usize,
    /// What is known of them: `x`, `y` and `z` first, unless they are not known.
    pub columns: Vec<Column>,
    /// The frame that `pose` is in, or without a pose the points; none where nothing tells it.
    pub frame: Option<String>,
    /// Where the sensor is, in whose coordinates the points are.
    pub pose: Option<Pose>,
    /// When they were, as the message says it.
    pub time: Option<Nanoseconds>,
    /// Why nobody knows where they are.
    pub unplaced: Option<&'static str>,
    /// Whether a sign of OSI's elevations went into where they are.
    pub by_elevation: bool,
}
