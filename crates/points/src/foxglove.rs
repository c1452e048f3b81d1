//! Points in Foxglove's messages, by the numbers of their fields in
//! <https://docs.foxglove.dev/docs/sdk/schemas>: a recording need not carry the definition.

use anyhow::{ensure, Context, Result};
use wiregauge_trace::read::Nanoseconds;
use wiregauge_trace::wire::Content;

use crate::column::{Column, Type, Values};
use crate::interleaved::{reason_unplaced, PointField, PointLayout};
use crate::message_fields::{double, merge_messages, read_fields, vector};
use crate::points::{Points, Pose};
use crate::rays::Rays;

/// The types that have points, in Protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoxgloveType {
    /// `foxglove.PointCloud`.
    PointCloud,
    /// `foxglove.LaserScan`.
    LaserScan,
}

/// What both begin with.
#[derive(Default)]
struct Head {
    time: Vec<u8>,
    frame: String,
    pose: Vec<u8>,
}

impl FoxgloveType {
    /// By its name; none where it has no points.
    pub fn from_name(name: &str) -> Option<FoxgloveType> {
        match name {
            "foxglove.PointCloud" => Some(FoxgloveType::PointCloud),
            "foxglove.LaserScan" => Some(FoxgloveType::LaserScan),
            _ => None,
        }
    }

    /// The points of a message, with the columns that are wanted.
    pub fn points(self, message: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Points> {
        match self {
            FoxgloveType::PointCloud => read_cloud(message, wanted),
            FoxgloveType::LaserScan => read_scan(message, wanted),
        }
    }
}

fn read_cloud(message: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Points> {
    let mut head = Head::default();
    let (mut step, mut fields, mut data) = (0, Vec::new(), &[][..]);
    for (number, content) in read_fields(message)? {
        match (number, content) {
            (4, content) => step = fixed32(content).unwrap_or(step),
            (5, Content::Bytes(field)) => fields.push(read_field(field)?),
            (6, Content::Bytes(bytes)) => data = bytes,
            (number, content) => head.add(number, content)?,
        }
    }
    ensure!(step > 0 || data.is_empty(), "a point has 0 bytes, and there are {}", data.len());
    let width = data.len() / step.max(1);
    ensure!(
        width * step == data.len(),
        "{} bytes are no whole number of points of {step} bytes",
        data.len()
    );
    let layout = PointLayout { width, height: 1, step, row_step: step, is_big_endian: false };
    layout.check(data)?;
    let (columns, names) = layout.columns(&fields, data, wanted)?;
    Ok(Points { unplaced: reason_unplaced(&names), ..head.into_points(width, columns)? })
}

fn read_field(message: &[u8]) -> Result<PointField> {
    let (mut name, mut offset, mut kind) = (String::new(), 0, 0);
    for (number, content) in read_fields(message)? {
        match (number, content) {
            (1, Content::Bytes(bytes)) => name = read_text(bytes)?,
            (2, content) => offset = fixed32(content).unwrap_or(offset),
            (3, Content::Number(number)) => kind = number,
            _ => {}
        }
    }
    Ok(PointField { name, offset, kind: numeric_type(kind).ok_or(kind), count: 1 })
}

/// The type that a number of `PackedElementField.NumericType` stands for.
fn numeric_type(number: u64) -> Option<Type> {
    let all =
        [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32, Type::F32, Type::F64];
    all.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}

/// A ray whose range is not finite has no position.
fn read_scan(message: &[u8], wanted: &dyn Fn(&str) -> bool) -> Result<Points> {
    let mut head = Head::default();
    let (mut first, mut last) = (0.0, 0.0);
    let (mut ranges, mut intensities) = (Vec::new(), Vec::new());
    for (number, content) in read_fields(message)? {
        match number {
            4 => first = double(content).unwrap_or(first),
            5 => last = double(content).unwrap_or(last),
            6 => add_doubles(&mut ranges, content)?,
            7 => add_doubles(&mut intensities, content)?,
            _ => head.add(number, content)?,
        }
    }
    let count = ranges.len();
    ensure!(
        intensities.is_empty() || intensities.len() == count,
        "{count} ranges, but {} intensities",
        intensities.len()
    );
    let step = (last - first) / count.saturating_sub(1).max(1) as f64;
    let rays = Rays {
        angles: (0..count).map(|ray| first + ray as f64 * step).collect(),
        present: ranges.iter().map(|range| range.is_finite()).collect(),
        ranges: Values::F64(ranges),
        intensities: (!intensities.is_empty()).then_some(Values::F64(intensities)),
    };
    head.into_points(count, rays.into_columns(wanted))
}

impl Head {
    /// Takes a field of it. A message that comes in pieces is put together as Protobuf does: one
    /// behind the other.
    fn add(&mut self, number: u64, content: Content) -> Result<()> {
        match (number, content) {
            (1, Content::Bytes(bytes)) => self.time.extend_from_slice(bytes),
            (2, Content::Bytes(bytes)) => self.frame = read_text(bytes)?,
            (3, Content::Bytes(bytes)) => self.pose.extend_from_slice(bytes),
            _ => {}
        }
        Ok(())
    }

    fn into_points(self, count: usize, columns: Vec<Column>) -> Result<Points> {
        let (mut seconds, mut nanos) = (0, 0);
        for (number, content) in read_fields(&self.time)? {
            match (number, content) {
                (1, Content::Number(number)) => seconds = number as i64,
                (2, Content::Number(number)) => nanos = number as i32,
                _ => {}
            }
        }
        let time = Nanoseconds::from(seconds) * 1_000_000_000 + Nanoseconds::from(nanos);
        Ok(Points {
            list: String::new(),
            count,
            columns,
            frame: Some(self.frame),
            pose: read_pose(&self.pose)?,
            time: (!self.time.is_empty()).then_some(time),
            unplaced: None,
            by_elevation: false,
        })
    }
}

/// A pose; none where it is not said.
fn read_pose(message: &[u8]) -> Result<Option<Pose>> {
    if message.is_empty() {
        return Ok(None);
    }
    let position = vector(&merge_messages(message, 1)?)?;
    let mut orientation = vector(&merge_messages(message, 2)?)?;
    // Where it is not said, nothing is turned.
    if orientation == [0.0; 4] {
        orientation = Pose::ORIGIN.orientation;
    }
    Ok(Some(Pose { position, orientation }))
}

fn read_text(bytes: &[u8]) -> Result<String> {
    Ok(std::str::from_utf8(bytes).context("a text is not UTF-8")?.to_owned())
}

fn fixed32(content: Content) -> Option<usize> {
    match content {
        Content::Fixed(bytes) => Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize),
        _ => None,
    }
}

/// Adds one double, or those of a packed list.
fn add_doubles(list: &mut Vec<f64>, content: Content) -> Result<()> {
    match content {
        Content::Bytes(bytes) => {
            let (numbers, rest) = bytes.as_chunks::<8>();
            ensure!(rest.is_empty(), "{} bytes are no list of doubles", bytes.len());
            list.extend(numbers.iter().map(|number| f64::from_le_bytes(*number)));
        }
        content => list.extend(double(content)),
    }
    Ok(())
}
