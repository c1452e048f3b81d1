//! What people want of the scans of a sensor, under a name.

use crate::find::Kind;

/// Resolutions of columns under a name; all other columns are exact.
#[derive(Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it keeps.
    pub about: &'static str,
    /// Of which rows of OSI it tells. Points of other structures are anybody's.
    pub kinds: [Kind; 2],
    /// Resolutions by column, each in the column's unit.
    pub resolutions: &'static [(&'static str, f64)],
}

const LIDAR: [Kind; 2] = [Kind::LidarReflections, Kind::LidarDetections];
const RADAR: [Kind; 2] = [Kind::RadarReflections, Kind::RadarDetections];

/// A hundredth of a degree.
const ANGLE: f64 = std::f64::consts::PI / 18_000.0;

/// All of them.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "lidar-1mm",
        about: "range to 1 mm (time of flight to 6.67 ps), signal strength to 0.1 dB",
        kinds: LIDAR,
        resolutions: &[
            ("time_of_flight", 6.67e-12),
            ("signal_strength", 0.1),
            ("position.distance", 1e-3),
            ("x", 1e-3),
            ("y", 1e-3),
            ("z", 1e-3),
        ],
    },
    Preset {
        name: "lidar-exact",
        about: "every bit of every column",
        kinds: LIDAR,
        resolutions: &[],
    },
    Preset {
        name: "radar-1cm",
        about: "range to 1 cm (time of flight to 66.7 ps), strengths to 0.1 dB, angles to 0.01°, \
                speed to 1 cm/s (Doppler shift to 5 Hz, as much at 77 GHz)",
        kinds: RADAR,
        resolutions: &[
            ("time_of_flight", 6.67e-11),
            ("signal_strength", 0.1),
            ("doppler_shift", 5.0),
            ("source_horizontal_angle", ANGLE),
            ("source_vertical_angle", ANGLE),
            ("position.distance", 0.01),
            ("position.azimuth", ANGLE),
            ("position.elevation", ANGLE),
            ("radial_velocity", 0.01),
            ("rcs", 0.1),
            ("snr", 0.1),
            ("x", 0.01),
            ("y", 0.01),
            ("z", 0.01),
        ],
    },
    Preset {
        name: "radar-exact",
        about: "every bit of every column",
        kinds: RADAR,
        resolutions: &[],
    },
];

impl Preset {
    /// The preset of a name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Whether it tells of such rows, or of points.
    pub(crate) fn is_for(&self, kind: Option<Kind>) -> bool {
        kind.is_none_or(|kind| self.kinds.contains(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf::{leaves, LeafType};

    #[test]
    fn presets_name_columns_of_their_rows() {
        for preset in &PRESETS {
            for (column, _) in preset.resolutions {
                let of = |kind: Kind| leaves(kind).iter().find(|leaf| leaf.name == *column);
                let found = preset.kinds.into_iter().find_map(of);
                let is_number = found.is_some_and(|leaf| leaf.kind == LeafType::Number);
                assert!(is_number || ["x", "y", "z"].contains(column), "{}: {column}", preset.name);
            }
        }
    }
}
