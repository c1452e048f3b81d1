//! What is known of each point: OSI's fields, by their numbers, with their units.

use crate::column::Type;

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
pub enum PointListKind {
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
    /// Of `UltrasonicDetectionData`: echoes of what a sensor sent itself.
    UltrasonicDetections,
    /// The same: echoes of what another one sent.
    IndirectDetections,
    /// Of `CameraDetectionData`: shapes in an image.
    CameraDetections,
    /// The same: the points of shapes.
    CameraPoints,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafKind {
    /// A double.
    Number,
    /// A message with a number of 64 bits.
    Identifier,
    /// The number of an enumeration's entry.
    Enumeration,
    /// A whole number of 32 bits.
    Count,
    /// Yes or no: 1 or 0.
    Flag,
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
    pub kind: LeafKind,
}

impl Leaf {
    /// The type of its column.
    pub fn column_type(&self) -> Type {
        match self.kind {
            LeafKind::Number => Type::F64,
            LeafKind::Identifier => Type::U64,
            LeafKind::Enumeration => Type::I32,
            LeafKind::Count => Type::U32,
            LeafKind::Flag => Type::U8,
        }
    }

    /// Its column's name: a dot would have to be quoted in SQL.
    pub fn column(&self) -> String {
        self.name.replace('.', "_")
    }
}

const fn number(name: &'static str, unit: &'static str, number: u64) -> Leaf {
    Leaf { name, unit, number, inner: 0, kind: LeafKind::Number }
}

const fn inner(name: &'static str, unit: &'static str, number: u64, inner: u64) -> Leaf {
    Leaf { name, unit, number, inner, kind: LeafKind::Number }
}

const fn identifier(name: &'static str, number: u64) -> Leaf {
    Leaf { name, unit: "", number, inner: 1, kind: LeafKind::Identifier }
}

const fn enumeration(name: &'static str, number: u64) -> Leaf {
    Leaf { name, unit: "", number, inner: 0, kind: LeafKind::Enumeration }
}

const fn count(name: &'static str, number: u64) -> Leaf {
    Leaf { name, unit: "", number, inner: 0, kind: LeafKind::Count }
}

const fn flag(name: &'static str, number: u64) -> Leaf {
    Leaf { name, unit: "", number, inner: 0, kind: LeafKind::Flag }
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

const ULTRASONIC_DETECTION: &[Leaf] = &[
    number("existence_probability", "1", 1),
    identifier("object_id", 2),
    number("distance", "m", 3),
];

const INDIRECT_DETECTION: &[Leaf] = &[
    number("existence_probability", "1", 1),
    identifier("object_id", 2),
    number("ellipsoid_radial", "m", 3),
    number("ellipsoid_axial", "m", 4),
    identifier("receiver_id", 5),
    inner("receiver_origin.x", "m", 6, 1),
    inner("receiver_origin.y", "m", 6, 2),
    inner("receiver_origin.z", "m", 6, 3),
];

/// Without what is a message: its time difference and its colour's description.
const CAMERA_DETECTION: &[Leaf] = &[
    number("existence_probability", "1", 1),
    identifier("object_id", 2),
    enumeration("image_shape_type", 4),
    flag("shape_classification_background", 5),
    flag("shape_classification_foreground", 6),
    flag("shape_classification_flat", 7),
    flag("shape_classification_upright", 8),
    flag("shape_classification_ground", 9),
    flag("shape_classification_sky", 10),
    flag("shape_classification_vegetation", 11),
    flag("shape_classification_road", 12),
    flag("shape_classification_non_driving_lane", 13),
    flag("shape_classification_non_road", 14),
    flag("shape_classification_stationary_object", 15),
    flag("shape_classification_moving_object", 16),
    flag("shape_classification_landmark", 17),
    flag("shape_classification_traffic_sign", 18),
    flag("shape_classification_traffic_light", 19),
    flag("shape_classification_road_marking", 20),
    flag("shape_classification_vehicle", 21),
    flag("shape_classification_pedestrian", 22),
    flag("shape_classification_animal", 23),
    flag("shape_classification_pedestrian_front", 24),
    flag("shape_classification_pedestrian_side", 25),
    flag("shape_classification_pedestrian_rear", 26),
    number("shape_classification_probability", "1", 27),
    enumeration("color", 28),
    number("color_probability", "1", 29),
    identifier("ambiguity_id", 30),
    count("first_point_index", 31),
    count("number_of_points", 32),
];

const CAMERA_POINT: &[Leaf] = &[
    number("existence_probability", "1", 1),
    inner("point.distance", "m", 2, 1),
    inner("point.azimuth", "rad", 2, 2),
    inner("point.elevation", "rad", 2, 3),
    inner("point_rmse.distance", "m", 3, 1),
    inner("point_rmse.azimuth", "rad", 3, 2),
    inner("point_rmse.elevation", "rad", 3, 3),
];

impl PointListKind {
    /// How many kinds there are.
    pub const COUNT: usize = PointListKind::CameraPoints as usize + 1;

    /// Of a list with this path in its message, such as `lidar_sensor_view[0]`.
    pub fn from_path(path: &str) -> Option<PointListKind> {
        let kinds = [
            (".indirect_detection", PointListKind::IndirectDetections),
            (".point", PointListKind::CameraPoints),
            ("radar_sensor_view", PointListKind::RadarReflections),
            ("lidar_sensor_view", PointListKind::LidarReflections),
            ("radar_sensor", PointListKind::RadarDetections),
            ("lidar_sensor", PointListKind::LidarDetections),
            ("ultrasonic_sensor", PointListKind::UltrasonicDetections),
            ("camera_sensor", PointListKind::CameraDetections),
            ("logical_detection_data", PointListKind::LogicalDetections),
        ];
        let found = kinds.into_iter().find(|(name, _)| path.contains(name));
        found.map(|(_, kind)| kind)
    }

    /// What is known of its points.
    pub fn leaves(self) -> &'static [Leaf] {
        match self {
            PointListKind::LidarReflections => LIDAR_REFLECTION,
            PointListKind::RadarReflections => RADAR_REFLECTION,
            PointListKind::LidarDetections => LIDAR_DETECTION,
            PointListKind::RadarDetections => RADAR_DETECTION,
            PointListKind::LogicalDetections => LOGICAL_DETECTION,
            PointListKind::UltrasonicDetections => ULTRASONIC_DETECTION,
            PointListKind::IndirectDetections => INDIRECT_DETECTION,
            PointListKind::CameraDetections => CAMERA_DETECTION,
            PointListKind::CameraPoints => CAMERA_POINT,
        }
    }

    /// The number of its points in the message that holds it.
    pub fn number(self) -> u64 {
        match self {
            PointListKind::LogicalDetections => 3,
            PointListKind::IndirectDetections | PointListKind::CameraPoints => 4,
            _ => 2,
        }
    }

    /// Whether it may be in the packed field.
    pub fn is_packable(self) -> bool {
        matches!(
            self,
            PointListKind::LidarReflections
                | PointListKind::RadarReflections
                | PointListKind::LidarDetections
                | PointListKind::RadarDetections
        )
    }
}
