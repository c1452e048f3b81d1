//! Scans of a plane: a ray each angle.

use anyhow::{ensure, Result};
use wiregauge_columns::Cursor;

use super::header::{read_f32, Header};
use crate::column::Values;
use crate::points::Points;
use crate::rays::Rays;

/// The points of a `sensor_msgs/LaserScan` behind its header: one for each ray. A ray whose range
/// is none has no position.
pub fn read_points(
    cursor: &mut Cursor,
    header: Header,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Points> {
    let (first, _last, step) = (read_f32(cursor)?, read_f32(cursor)?, read_f32(cursor)?);
    let (_between_rays, _between_scans) = (read_f32(cursor)?, read_f32(cursor)?);
    let (least, most) = (read_f32(cursor)?, read_f32(cursor)?);
    let ranges = read_floats(cursor)?;
    let intensities = read_floats(cursor)?;
    let count = ranges.len();
    ensure!(
        intensities.is_empty() || intensities.len() == count,
        "{count} ranges, but {} intensities",
        intensities.len()
    );
    let angles = (0..count).map(|ray| f64::from(first) + ray as f64 * f64::from(step));
    let angles: Vec<f64> = angles.collect();
    let is_echo = |range: &f32| range.is_finite() && (least..=most).contains(range);
    let present: Vec<bool> = ranges.iter().map(is_echo).collect();
    let rays = Rays {
        angles,
        ranges: Values::F32(ranges),
        intensities: (!intensities.is_empty()).then_some(Values::F32(intensities)),
        present,
    };
    let columns = rays.into_columns(wanted);
    Ok(Points {
        list: String::new(),
        count,
        columns,
        frame: Some(header.frame),
        pose: None,
        time: Some(header.time),
        unplaced: None,
        by_elevation: false,
    })
}

fn read_floats(cursor: &mut Cursor) -> Result<Vec<f32>> {
    let count = cursor.length()?;
    let left = cursor.left();
    ensure!(count <= left / 4, "{count} numbers, but only {left} bytes are left");
    (0..count).map(|_| read_f32(cursor)).collect()
}
