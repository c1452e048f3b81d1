//! What is known of each point: OSI's fields, by their numbers, with their units.

/// The message at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// `osi3.SensorView`.
    SensorView,
    /// `osi3.SensorData`.
    SensorData,
}

/// The lists of points that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Of `LidarSensorView`.
    LidarReflections,
    /// Of `RadarSensorView`.
    RadarReflections,
    /// Of `LidarDetectionData`.
    LidarDetections,
    /// Of `RadarDetectionData`.
    RadarDetections,
    /// Of `LogicalDetectionData`.
    LogicalDetections,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A double.
    Number,
    /// A message with a number of 64 bits.
    Identifier,
    /// The number of an enumeration's entry.
    Enumeration,
}

/// A field of a point, or of a message in it.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// As the packed field names its column: `position.distance`.
    pub name: &'static str,
    pub unit: &'static str,
    pub number: u64,
    /// Its number in the message that `number` is; 0 where it is the point's own.
    pub inner: u64,
    pub kind: Kind,
}

impl Leaf {
    /// Its column's name: a dot would have to be quoted in SQL.
    pub fn column(&self) -> String {
        self.name.replace('.', "_")
    }
}

const fn number(name: &'static str, unit: &'static str, number: u64) -> Leaf {
    Leaf { name, unit, number, inner: 0, kind: Kind::Number }
}

const fn inner(name: &'static str, unit: &'static str, number: u64, inner: u64) -> Leaf {
    Leaf { name, unit, number, inner, kind: Kind::Number }
}

const fn identifier(name: &'static str, number: u64) -> Leaf {
    Leaf { name, unit: "", number, inner: 1, kind: Kind::Identifier }
}

const fn enumeration(name: &'static str, number: u64) -> Leaf {
    Leaf { name, unit: "", number, inner: 0, kind: Kind::Enumeration }
}

const LIDAR_REFLECTION: &[Leaf] = &[
    number("signal_strength", "dB", 1),
    number("time_of_flight", "s", 2),
    number("doppler_shift", "Hz", 3),
    inner("normal_to_surface.x", "1", 5, 1),
    inner("normal_to_surface.y", "1", 5, 2),
    inner("normal_to_surface.z", "1", 5, 3),
    identifier("object_id", 6),
];

const RADAR_REFLECTION: &[Leaf] = &[
    number("signal_strength", "dB", 1),
    number("time_of_flight", "s", 2),
    number("doppler_shift", "Hz", 3),
    number("source_horizontal_angle", "rad", 4),
    number("source_vertical_angle", "rad", 5),
];

const LIDAR_DETECTION: &[Leaf] = &[
    number("existence_probability", "1", 1),
    identifier("object_id", 2),
    inner("position.distance", "m", 3, 1),
    inner("position.azimuth", "rad", 3, 2),
    inner("position.elevation", "rad", 3, 3),
    inner("position_rmse.distance", "m", 4, 1),
    inner("position_rmse.azimuth", "rad", 4, 2),
    inner("position_rmse.elevation", "rad", 4, 3),
    number("height", "m", 5),
    number("height_rmse", "m", 6),
    number("intensity", "%", 7),
    number("free_space_probability", "1", 8),
    enumeration("classification", 9),
    number("reflectivity", "1", 10),
    number("echo_pulse_width", "m", 11),
    number("radial_velocity", "m/s", 12),
    identifier("beam_id", 13),
];

const RADAR_DETECTION: &[Leaf] = &[
    number("existence_probability", "1", 1),
    identifier("object_id", 2),
    inner("position.distance", "m", 3, 1),
    inner("position.azimuth", "rad", 3, 2),
    inner("position.elevation", "rad", 3, 3),
    inner("position_rmse.distance", "m", 4, 1),
    inner("position_rmse.azimuth", "rad", 4, 2),
    inner("position_rmse.elevation", "rad", 4, 3),
    number("radial_velocity", "m/s", 5),
    number("radial_velocity_rmse", "m/s", 6),
    number("rcs", "dB m^2", 7),
    number("snr", "dB", 8),
    number("point_target_probability", "1", 9),
    identifier("ambiguity_id", 10),
    enumeration("classification", 11),
];

const LOGICAL_DETECTION: &[Leaf] = &[
    number("existence_probability", "1", 1),
    identifier("object_id", 2),
    inner("position.x", "m", 3, 1),
    inner("position.y", "m", 3, 2),
    inner("position.z", "m", 3, 3),
    inner("position_rmse.x", "m", 4, 1),
    inner("position_rmse.y", "m", 4, 2),
    inner("position_rmse.z", "m", 4, 3),
    inner("velocity.x", "m/s", 5, 1),
    inner("velocity.y", "m/s", 5, 2),
    inner("velocity.z", "m/s", 5, 3),
    inner("velocity_rmse.x", "m/s", 6, 1),
    inner("velocity_rmse.y", "m/s", 6, 2),
    inner("velocity_rmse.z", "m/s", 6, 3),
    number("intensity", "%", 7),
    number("snr", "dB", 8),
    number("point_target_probability", "1", 9),
    enumeration("classification", 11),
    number("echo_pulse_width", "m", 12),
];

impl List {
    /// What is known of its points.
    pub fn leaves(self) -> &'static [Leaf] {
        match self {
            List::LidarReflections => LIDAR_REFLECTION,
            List::RadarReflections => RADAR_REFLECTION,
            List::LidarDetections => LIDAR_DETECTION,
            List::RadarDetections => RADAR_DETECTION,
            List::LogicalDetections => LOGICAL_DETECTION,
        }
    }

    /// The number of its points in the message that holds it.
    pub fn number(self) -> u64 {
        if self == List::LogicalDetections {
            3
        } else {
            2
        }
    }

    /// Whether it may be in the packed field.
    pub fn is_packable(self) -> bool {
        self != List::LogicalDetections
    }
}
