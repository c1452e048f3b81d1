//! A `foxglove.PointCloud`: points as viewers show them.

mod definition;
mod protobuf;

pub use self::definition::{definition, NAME};
use self::protobuf::Message;
use crate::column::{each, Column, Type};
use crate::points::{Points, Pose};

/// The numeric types of `foxglove.PackedElementField`.
fn numeric(kind: Type) -> u64 {
    match kind {
        Type::U8 => 1,
        Type::I8 => 2,
        Type::U16 => 3,
        Type::I16 => 4,
        Type::U32 => 5,
        Type::I32 => 6,
        Type::F32 => 7,
        // There is no integer of 64 bits.
        Type::F64 | Type::U64 => 8,
    }
}

/// A cloud of points, encoded. `frame` is theirs where the points do not say one.
pub fn encode(points: &Points, frame: &str) -> Vec<u8> {
    let stride: usize = points.columns.iter().map(|column| column.values.kind().size()).sum();
    let mut out = Message::with_capacity(stride * points.count + 64 * (points.columns.len() + 8));
    if let Some(time) = points.time {
        out.message(1, |out| {
            out.number(1, time.div_euclid(1_000_000_000) as i64 as u64);
            out.number(2, time.rem_euclid(1_000_000_000) as u64);
        });
    }
    out.bytes(2, points.frame.as_deref().unwrap_or(frame).as_bytes());
    let Pose { position, orientation } = points.pose.unwrap_or(Pose::ORIGIN);
    out.message(3, |out| {
        out.message(1, |out| out.doubles(&position));
        out.message(2, |out| out.doubles(&orientation));
    });
    out.fixed(4, stride as u32);
    let mut offset = 0;
    for column in &points.columns {
        out.message(5, |out| {
            out.bytes(1, column.name.as_bytes());
            out.fixed(2, offset as u32);
            out.number(3, numeric(column.values.kind()));
        });
        offset += column.values.kind().size();
    }
    out.bytes(6, &interleaved(points, stride));
    out.finish()
}

/// The values of all columns, point by point.
fn interleaved(points: &Points, stride: usize) -> Vec<u8> {
    let mut data = vec![0; stride * points.count];
    let mut offset = 0;
    for column in &points.columns {
        let kind = column.values.kind();
        if stride > 0 {
            let room = data.chunks_exact_mut(stride).map(|point| &mut point[offset..]);
            write_column(column, room);
        }
        offset += kind.size();
    }
    data
}

/// Puts the values of a column into the points. What is absent is NaN, or 0 where the type
/// has none.
fn write_column<'d>(column: &Column, room: impl Iterator<Item = &'d mut [u8]>) {
    let room = room.enumerate();
    each!(&column.values, list => {
        for (at, room) in room {
            let bytes = list[at].bytes(column.has(at));
            room[..bytes.len()].copy_from_slice(&bytes);
        }
    });
}

/// A value as its bytes in a cloud.
trait Put<const SIZE: usize> {
    fn bytes(self, is_present: bool) -> [u8; SIZE];
}

macro_rules! put {
    ($($kind:ty, $size:literal, $absent:expr;)*) => {
        $(impl Put<$size> for $kind {
            fn bytes(self, is_present: bool) -> [u8; $size] {
                if is_present { self } else { $absent }.to_le_bytes()
            }
        })*
    };
}

put! {
    i8, 1, 0; u8, 1, 0; i16, 2, 0; u16, 2, 0; i32, 4, 0; u32, 4, 0;
    f32, 4, f32::NAN; f64, 8, f64::NAN;
}

impl Put<8> for u64 {
    fn bytes(self, is_present: bool) -> [u8; 8] {
        (self as f64).bytes(is_present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::DescriptorPool;

    #[test]
    fn types_are_called_by_the_numbers_of_the_definition() {
        let pool = DescriptorPool::decode(&definition().data[..]).unwrap();
        let name = "foxglove.PackedElementField.NumericType";
        let names = pool.get_enum_by_name(name).unwrap();
        for (kind, wanted) in [
            (Type::I8, "INT8"),
            (Type::U8, "UINT8"),
            (Type::I16, "INT16"),
            (Type::U16, "UINT16"),
            (Type::I32, "INT32"),
            (Type::U32, "UINT32"),
            (Type::F32, "FLOAT32"),
            (Type::F64, "FLOAT64"),
            (Type::U64, "FLOAT64"),
        ] {
            let found = names.get_value(numeric(kind) as i32).unwrap();
            assert_eq!(found.name(), wanted);
            assert_eq!(kind.size(), if kind == Type::U64 { 8 } else { size_of(wanted) });
        }
    }

    fn size_of(name: &str) -> usize {
        name.trim_start_matches(char::is_alphabetic).parse::<usize>().unwrap() / 8
    }
}
