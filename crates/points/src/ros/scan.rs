//! Scans of a plane: a ray each angle.

use anyhow::{ensure, Result};
use wiregauge_columns::Cursor;

use super::{read_f32, Header};
use crate::column::{Column, Values};
use crate::points::Points;

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
    let on_axis = |axis: fn(f64) -> f64| {
        let rays = ranges.iter().zip(&angles).zip(&present);
        let value = |((range, angle), present): ((&f32, &f64), &bool)| match present {
            true => (f64::from(*range) * axis(*angle)) as f32,
            false => f32::NAN,
        };
        Values::F32(rays.map(value).collect())
    };
    let absent = present.contains(&false);
    let column = |name: &str, unit, values| {
        let present = (absent && unit == "m" && name != "range").then(|| present.clone());
        Column { name: name.into(), unit, values, present }
    };
    let mut columns = vec![
        column("x", "m", on_axis(f64::cos)),
        column("y", "m", on_axis(f64::sin)),
        column("z", "m", on_axis(|_| 0.0)),
        column("angle", "rad", Values::F64(angles.clone())),
        column("range", "m", Values::F32(ranges.clone())),
    ];
    if !intensities.is_empty() {
        columns.push(column("intensity", "", Values::F32(intensities)));
    }
    columns.retain(|column| wanted(&column.name));
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
