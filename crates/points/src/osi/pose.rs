//! Where a sensor is on the vehicle.

use anyhow::Result;

use crate::message_fields::{merge_messages, read_fields, vector};
use crate::points::Pose;

/// The pose that a `MountingPosition` says; none where there is none.
pub fn read_pose(mounted: &[u8]) -> Result<Option<Pose>> {
    if read_fields(mounted)?.next().is_none() {
        return Ok(None);
    }
    let position = vector(&merge_messages(mounted, 1)?)?;
    let [roll, pitch, yaw] = vector(&merge_messages(mounted, 2)?)?;
    Ok(Some(Pose { position, orientation: quaternion(roll, pitch, yaw) }))
}

/// Of angles in rad, performed yaw first, pitch about the new y-axis and roll about the new
/// x-axis, each by the right-hand rule, as `Orientation3d` has them.
fn quaternion(roll: f64, pitch: f64, yaw: f64) -> [f64; 4] {
    let [(sr, cr), (sp, cp), (sy, cy)] = [roll, pitch, yaw].map(|angle| (angle / 2.0).sin_cos());
    [
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    /// Turns a vector.
    fn turned([x, y, z, w]: [f64; 4], [a, b, c]: [f64; 3]) -> [f64; 3] {
        // v + 2w(q × v) + 2q × (q × v)
        let cross = |[a, b, c]: [f64; 3], [d, e, f]: [f64; 3]| {
            [b * f - c * e, c * d - a * f, a * e - b * d]
        };
        let first = cross([x, y, z], [a, b, c]);
        let second = cross([x, y, z], first);
        [0, 1, 2].map(|at| [a, b, c][at] + 2.0 * (w * first[at] + second[at]))
    }

    fn is_near(a: [f64; 3], b: [f64; 3]) -> bool {
        a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_sensor_is_turned_by_the_right_hand_rule() {
        let x = [1.0, 0.0, 0.0];
        for (roll, pitch, yaw, wanted) in [
            (0.0, 0.0, FRAC_PI_2, [0.0, 1.0, 0.0]),
            // The nose goes down.
            (0.0, FRAC_PI_2, 0.0, [0.0, 0.0, -1.0]),
            (FRAC_PI_2, 0.0, 0.0, x),
            // Yaw first, then pitch about the new y-axis.
            (0.0, FRAC_PI_2, FRAC_PI_2, [0.0, 0.0, -1.0]),
        ] {
            let found = turned(quaternion(roll, pitch, yaw), x);
            assert!(is_near(found, wanted), "{roll} {pitch} {yaw}: {found:?}");
        }
        // Left of a sensor that looks left and is rolled by a quarter is up.
        let found = turned(quaternion(FRAC_PI_2, 0.0, FRAC_PI_2), [0.0, 1.0, 0.0]);
        assert!(is_near(found, [0.0, 0.0, 1.0]), "{found:?}");
    }

    #[test]
    fn nothing_is_no_pose() {
        assert_eq!(read_pose(&[]).unwrap(), None);
        let bytes = [&[0x0a, 9, 0x11][..], &2.5f64.to_le_bytes()].concat();
        let wanted = Pose { position: [0.0, 2.5, 0.0], ..Pose::ORIGIN };
        assert_eq!(read_pose(&bytes).unwrap(), Some(wanted));
    }
}
