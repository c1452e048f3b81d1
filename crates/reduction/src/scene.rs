//! A scene of a lidar, for who has no recording.

use wiregauge_points::Values;

use crate::reflections::{reflection, reflections};
use crate::table::Table;

/// Beams of the sensor.
const BEAMS: u32 = 128;
/// Directions of a turn.
const TURN: u32 = 1024;

/// Ground, walls and boxes around a sensor that stands 1.8 m above the ground, with 1 cm of
/// noise in the range and a tenth of it in the strength: time of flight and signal strength
/// of every ray, beam by beam.
pub fn scene(seed: u64) -> Table {
    let mut state = seed;
    let mut noise = || {
        // Twelve uniform numbers are near enough to a normal one.
        let sum: f64 = (0..12)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 11) as f64 / (1u64 << 53) as f64
            })
            .sum();
        sum - 6.0
    };
    let (mut times, mut strengths) = (Vec::new(), Vec::new());
    for beam in 0..BEAMS {
        for direction in 0..TURN {
            let down = -0.35 + 0.7 * f64::from(beam) / f64::from(BEAMS);
            let around = std::f64::consts::TAU * f64::from(direction) / f64::from(TURN);
            let ground = if down < -0.01 { 1.8 / -down.sin() } else { 120.0 };
            let wall = 20.0 / around.cos().abs().max(0.1);
            let is_box = direction / 32 % 5 == 0 && down < 0.05;
            let object = if is_box { 8.0 + f64::from(direction / 32) } else { 120.0 };
            let range = ground.min(wall).min(object);
            let strength = (1.0 + 0.1 * noise()).max(0.01) / range;
            let (time, strength) = reflection(range + 0.01 * noise(), strength);
            times.push(time);
            strengths.push(strength);
        }
    }
    reflections(Values::F64(times), Values::F64(strengths))
}
