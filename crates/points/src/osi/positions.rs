//! Where points are, in the coordinates of their sensor.

use anyhow::Result;

use super::leaf::PointListKind;
use crate::column::{each, Column, Values};
use crate::message_fields::{double, messages, read_fields, vector};
use wiregauge_trace::wire::Content;

/// Half the speed of light in m/s: light goes there and back.
const HALF_LIGHT: f64 = 299_792_458.0 / 2.0;

/// Which way a positive elevation points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Elevation {
    /// By the right-hand rule about y, as OSI's Spherical3d has it.
    #[default]
    Down,
    /// The sine is the height.
    Up,
}

/// Where the rays of a grid stand in the field of view, of which OSI says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Rays {
    /// The first and the last one at the edges of the field of view.
    Edges,
    /// Each in the middle of its share of the field of view.
    Centers,
}

/// What nothing in a message tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct SensorConventions {
    /// Which way a positive elevation points, where the user says it.
    pub elevation: Option<Elevation>,
    /// Where the rays of a grid stand, where the user says it.
    pub rays: Option<Rays>,
}

/// Where the points of a list are.
pub enum Positions {
    /// There: `x`, `y` and `z`.
    Known { coordinates: Vec<Column>, by_elevation: bool },
    /// Nothing tells it.
    Unknown(&'static str),
}

/// Finds out where the points of a list are.
pub fn compute_positions(
    list: PointListKind,
    count: usize,
    columns: &[Column],
    configuration: &[u8],
    reading: SensorConventions,
) -> Result<Positions> {
    let sign = reading.elevation.unwrap_or_default();
    let spherical = |distance: &str, factor: f64, azimuth: &str, elevation: &str| {
        let [distance, azimuth, elevation] =
            [distance, azimuth, elevation].map(|name| column(columns, name));
        let Some(distance) = distance else {
            return Positions::Unknown("no point has a distance");
        };
        let angle = |column: Option<&Column>, at: usize| column.map_or(0.0, |of| value(of, at));
        build_positions(count, true, |at| {
            let direction = direction(angle(azimuth, at), angle(elevation, at), sign);
            distance.has(at).then(|| direction.map(|of| of * factor * value(distance, at)))
        })
    };
    if count == 0 {
        return Ok(build_positions(0, false, |_| None));
    }
    Ok(match list {
        PointListKind::LidarDetections | PointListKind::RadarDetections => {
            spherical("position_distance", 1.0, "position_azimuth", "position_elevation")
        }
        PointListKind::CameraPoints => {
            spherical("point_distance", 1.0, "point_azimuth", "point_elevation")
        }
        PointListKind::UltrasonicDetections => {
            Positions::Unknown("an ultrasonic detection has a distance but no direction")
        }
        PointListKind::IndirectDetections => {
            Positions::Unknown("an indirect ultrasonic detection can be anywhere on an ellipsoid")
        }
        PointListKind::CameraDetections => Positions::Unknown(
            "a camera's detection is a shape in the image; its points are in another list",
        ),
        PointListKind::RadarReflections => {
            let angles = ("source_horizontal_angle", "source_vertical_angle");
            if column(columns, angles.0).is_none() {
                return Ok(Positions::Unknown("no reflection has a source_horizontal_angle"));
            }
            spherical("time_of_flight", HALF_LIGHT, angles.0, angles.1)
        }
        PointListKind::LogicalDetections => {
            let named = ["position_x", "position_y", "position_z"];
            let found = named.map(|name| column(columns, name));
            if found.iter().all(Option::is_none) {
                return Ok(Positions::Unknown("no detection has a position"));
            }
            build_positions(count, false, |at| {
                let is_there = found.iter().flatten().any(|column| column.has(at));
                is_there.then(|| found.map(|column| column.map_or(0.0, |of| value(of, at))))
            })
        }
        PointListKind::LidarReflections => {
            let Some(time) = column(columns, "time_of_flight") else {
                return Ok(Positions::Unknown("no reflection has a time_of_flight"));
            };
            let directions = match directions(configuration, count, reading)? {
                Ok(directions) => directions,
                Err(why) => return Ok(Positions::Unknown(why)),
            };
            build_positions(count, false, |at| {
                time.has(at).then(|| directions[at].map(|of| of * HALF_LIGHT * value(time, at)))
            })
        }
    })
}

fn column<'c>(columns: &'c [Column], name: &str) -> Option<&'c Column> {
    columns.iter().find(|column| column.name == name)
}

/// A point's value; 0 where it has none, as Protobuf takes it.
#[allow(clippy::unnecessary_cast, reason = "one of the types is a double")]
fn value(column: &Column, at: usize) -> f64 {
    match column.has(at) {
        true => each!(&column.values, list => list[at] as f64),
        false => 0.0,
    }
}

fn build_positions(
    count: usize,
    by_elevation: bool,
    point: impl Fn(usize) -> Option<[f64; 3]>,
) -> Positions {
    let points: Vec<Option<[f64; 3]>> = (0..count).map(point).collect();
    let absent = points.iter().any(Option::is_none);
    let present = absent.then(|| points.iter().map(Option::is_some).collect::<Vec<bool>>());
    let coordinates = ["x", "y", "z"].iter().enumerate().map(|(axis, name)| Column {
        name: (*name).into(),
        unit: "m",
        values: Values::F64(points.iter().map(|at| at.map_or(f64::NAN, |at| at[axis])).collect()),
        present: present.clone(),
    });
    Positions::Known { coordinates: coordinates.collect(), by_elevation }
}

/// The direction of angles in rad: azimuth about the z-axis first, elevation about the new
/// y-axis.
fn direction(azimuth: f64, elevation: f64, sign: Elevation) -> [f64; 3] {
    let ((sin_a, cos_a), (sin_e, cos_e)) = (azimuth.sin_cos(), elevation.sin_cos());
    let z = match sign {
        Elevation::Down => -sin_e,
        Elevation::Up => sin_e,
    };
    [cos_e * cos_a, cos_e * sin_a, z]
}

/// The directions of a lidar's rays, or why nobody knows them.
fn directions(
    configuration: &[u8],
    count: usize,
    reading: SensorConventions,
) -> Result<Result<Vec<[f64; 3]>, &'static str>> {
    let told = messages(configuration, 11)?;
    if !told.is_empty() {
        if told.len() != count {
            return Ok(Err("view_configuration.directions and the reflections differ in number"));
        }
        return Ok(Ok(told.into_iter().map(vector).collect::<Result<_>>()?));
    }
    let (mut field, mut rays) = ([0.0; 2], [0u64; 2]);
    for (number, content) in read_fields(configuration)? {
        match (number, content) {
            (4 | 5, content) => field[number as usize - 4] = double(content).unwrap_or(0.0),
            (6 | 7, Content::Number(count)) => rays[number as usize - 6] = count,
            _ => {}
        }
    }
    if rays[0].checked_mul(rays[1]) != Some(count as u64) || field.contains(&0.0) {
        return Ok(Err(
            "the directions of its rays are not known: its view_configuration has neither \
             directions nor a grid with one ray per reflection",
        ));
    }
    let Some(stand) = reading.rays else {
        return Ok(Err(
            "its view_configuration has a grid of rays, but OSI does not define where they lie in \
             the field of view: give --rays edges or --rays centers",
        ));
    };
    let share = |at: u64, of: u64| match stand {
        Rays::Edges if of > 1 => at as f64 / (of - 1) as f64,
        _ => (at as f64 + 0.5) / of as f64,
    };
    // From left to right, and from top to bottom.
    let rays = (0..count as u64).map(|at| {
        let azimuth = field[0] * (0.5 - share(at % rays[0], rays[0]));
        let up = field[1] * (0.5 - share(at / rays[0], rays[1]));
        direction(azimuth, up, Elevation::Up)
    });
    Ok(Ok(rays.collect()))
}
