//! Units of columns, and quantities as people write them.

use crate::find::Kind;
use crate::leaf::leaves;

/// A unit's name, the unit that it is a multiple of, and the power of ten of that.
const UNITS: [(&str, &str, i32); 23] = [
    ("s", "s", 0),
    ("ms", "s", -3),
    ("us", "s", -6),
    ("ns", "s", -9),
    ("ps", "s", -12),
    ("m", "m", 0),
    ("cm", "m", -2),
    ("mm", "m", -3),
    ("um", "m", -6),
    ("rad", "rad", 0),
    ("mrad", "rad", -3),
    ("urad", "rad", -6),
    ("deg", "rad", 0),
    ("Hz", "Hz", 0),
    ("kHz", "Hz", 3),
    ("MHz", "Hz", 6),
    ("m/s", "m/s", 0),
    ("cm/s", "m/s", -2),
    ("mm/s", "m/s", -3),
    ("dB", "dB", 0),
    ("%", "%", 0),
    ("1", "1", 0),
    ("", "", 0),
];

/// The unit of a column's values; empty where it has none or none is known. Points have
/// their coordinates in metres, as ROS has them.
pub fn unit(kind: Option<Kind>, column: &str) -> &'static str {
    match kind {
        Some(kind) => {
            let leaf = leaves(kind).iter().find(|leaf| leaf.name == column);
            leaf.map_or("", |leaf| leaf.unit)
        }
        None if matches!(column, "x" | "y" | "z") => "m",
        None => "",
    }
}

/// Whether a column's values can be said in a unit.
pub(crate) fn is_unit_of(column: &str, said: &str) -> bool {
    said.is_empty() || column == said || (column == "dB m²" && said == "dB")
}

/// A quantity such as `6.67ps` in its base unit, and that unit's name, which is empty
/// where none is said.
pub(crate) fn quantity(text: &str) -> Option<(f64, &'static str)> {
    UNITS.iter().find_map(|&(name, base, power)| {
        let number = text.strip_suffix(name)?.trim_end();
        // A number ends in a digit or a point, so that no unit is taken for one.
        let is_number = number.ends_with(|c: char| c.is_ascii_digit() || c == '.')
            && number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        if !is_number || name == "1" {
            return None;
        }
        // With its power in one go: 6.67 times 1e-12 is not 6.67e-12.
        let value = match number.contains(['e', 'E']) {
            true => number.parse::<f64>().ok()? * 10f64.powi(power),
            false => format!("{number}e{power}").parse().ok()?,
        };
        Some((if name == "deg" { value.to_radians() } else { value }, base))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_numbers_with_units() {
        for (text, wanted) in [
            ("6.67ps", Some((6.67e-12, "s"))),
            ("0.1 dB", Some((0.1, "dB"))),
            ("1mm", Some((1e-3, "m"))),
            ("2cm/s", Some((0.02, "m/s"))),
            ("5e-3m", Some((5e-3, "m"))),
            ("1e-3", Some((1e-3, ""))),
            ("180deg", Some((std::f64::consts::PI, "rad"))),
            ("0.1", Some((0.1, ""))),
            ("-1", Some((-1.0, ""))),
            ("1 furlong", None),
            ("inf", None),
            ("nan", None),
            ("dB", None),
            ("", None),
        ] {
            assert_eq!(quantity(text), wanted, "{text}");
        }
    }

    #[test]
    fn columns_have_the_units_of_osi() {
        assert_eq!(unit(Some(Kind::LidarReflections), "time_of_flight"), "s");
        assert_eq!(unit(Some(Kind::RadarDetections), "rcs"), "dB m²");
        assert_eq!(unit(Some(Kind::LidarReflections), "object_id"), "");
        assert_eq!((unit(None, "x"), unit(None, "intensity")), ("m", ""));
    }
}
