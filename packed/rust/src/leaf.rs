//! The fields of OSI that have a column.

use crate::find::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafType {
    Number,
    Identifier,
    Enumeration,
}

/// A field of the row, or of a message in the row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub name: &'static str,
    pub number: u32,
    /// 0 for the row's own.
    pub inner: u32,
    pub kind: LeafType,
    /// OSI's; empty for identifiers and classes.
    pub unit: &'static str,
}

impl Leaf {
    /// The name of its message in the row.
    pub fn parent(&self) -> &'static str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// The name of the column that says whether that message is there.
    pub fn marker(&self) -> String {
        format!("{}?", self.parent())
    }
}

const fn number(name: &'static str, number: u32, unit: &'static str) -> Leaf {
    Leaf { name, number, inner: 0, kind: LeafType::Number, unit }
}

const fn inner(name: &'static str, number: u32, inner: u32, unit: &'static str) -> Leaf {
    Leaf { name, number, inner, kind: LeafType::Number, unit }
}

const fn identifier(name: &'static str, number: u32) -> Leaf {
    Leaf { name, number, inner: 1, kind: LeafType::Identifier, unit: "" }
}

const fn enumeration(name: &'static str, number: u32) -> Leaf {
    Leaf { name, number, inner: 0, kind: LeafType::Enumeration, unit: "" }
}

// By number; a message's fields in one go and numbered from 1.

const LIDAR_REFLECTION: &[Leaf] = &[
    number("signal_strength", 1, "dB"),
    number("time_of_flight", 2, "s"),
    number("doppler_shift", 3, "Hz"),
    inner("normal_to_surface.x", 5, 1, "1"),
    inner("normal_to_surface.y", 5, 2, "1"),
    inner("normal_to_surface.z", 5, 3, "1"),
    identifier("object_id", 6),
];

const RADAR_REFLECTION: &[Leaf] = &[
    number("signal_strength", 1, "dB"),
    number("time_of_flight", 2, "s"),
    number("doppler_shift", 3, "Hz"),
    number("source_horizontal_angle", 4, "rad"),
    number("source_vertical_angle", 5, "rad"),
];

const LIDAR_DETECTION: &[Leaf] = &[
    number("existence_probability", 1, "1"),
    identifier("object_id", 2),
    inner("position.distance", 3, 1, "m"),
    inner("position.azimuth", 3, 2, "rad"),
    inner("position.elevation", 3, 3, "rad"),
    inner("position_rmse.distance", 4, 1, "m"),
    inner("position_rmse.azimuth", 4, 2, "rad"),
    inner("position_rmse.elevation", 4, 3, "rad"),
    number("height", 5, "m"),
    number("height_rmse", 6, "m"),
    number("intensity", 7, "%"),
    number("free_space_probability", 8, "1"),
    enumeration("classification", 9),
    number("reflectivity", 10, "1"),
    number("echo_pulse_width", 11, "m"),
    number("radial_velocity", 12, "m/s"),
    identifier("beam_id", 13),
];

const RADAR_DETECTION: &[Leaf] = &[
    number("existence_probability", 1, "1"),
    identifier("object_id", 2),
    inner("position.distance", 3, 1, "m"),
    inner("position.azimuth", 3, 2, "rad"),
    inner("position.elevation", 3, 3, "rad"),
    inner("position_rmse.distance", 4, 1, "m"),
    inner("position_rmse.azimuth", 4, 2, "rad"),
    inner("position_rmse.elevation", 4, 3, "rad"),
    number("radial_velocity", 5, "m/s"),
    number("radial_velocity_rmse", 6, "m/s"),
    number("rcs", 7, "dB m²"),
    number("snr", 8, "dB"),
    number("point_target_probability", 9, "1"),
    identifier("ambiguity_id", 10),
    enumeration("classification", 11),
];

/// The most that a kind has.
pub(crate) const MOST: usize = LIDAR_DETECTION.len();

pub(crate) fn leaves(kind: Kind) -> &'static [Leaf] {
    match kind {
        Kind::LidarReflections => LIDAR_REFLECTION,
        Kind::RadarReflections => RADAR_REFLECTION,
        Kind::LidarDetections => LIDAR_DETECTION,
        Kind::RadarDetections => RADAR_DETECTION,
    }
}

/// The name of a row.
pub(crate) fn row_name(kind: Kind) -> &'static str {
    match kind {
        Kind::LidarReflections | Kind::RadarReflections => "reflection",
        Kind::LidarDetections | Kind::RadarDetections => "detection",
    }
}
