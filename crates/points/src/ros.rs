//! Point clouds of ROS, whose fields each message describes itself.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::msg::{read_text, Dialect};
use wiregauge_schema::{Schema, Value};
use wiregauge_system::text::format_count;
use wiregauge_trace::read::Nanoseconds;
use wiregauge_trace::{cdr, ros1};

use crate::column::{each, unit, Column, Type};
use crate::points::Points;

/// `sensor_msgs/PointCloud2` but for the first fields of its header. A recording need not
/// carry the definition: the type's name stands for it.
const FIELDS: &str = "\
std_msgs/Header header
uint32 height
uint32 width
sensor_msgs/PointField[] fields
bool is_bigendian
uint32 point_step
uint32 row_step
uint8[] data
bool is_dense
================================================================================
MSG: sensor_msgs/PointField
string name
uint32 offset
uint8 datatype
uint32 count
================================================================================
MSG: std_msgs/Header
";

type DecodeRos = fn(&Schema, &[u8]) -> Result<Value>;

/// What reads them in an encoding.
#[derive(Debug)]
pub struct PointCloud2Reader {
    schema: Schema,
    decode: DecodeRos,
}

impl PointCloud2Reader {
    /// In ROS 2's encoding, or in ROS 1's; none for another one.
    pub fn from_encoding(encoding: &str) -> Option<PointCloud2Reader> {
        let (dialect, stamp, decode): (_, _, DecodeRos) = match encoding {
            "cdr" => (Dialect::Ros2, "builtin_interfaces/Time stamp", cdr::decode),
            "ros1" => (Dialect::Ros1, "uint32 seq\ntime stamp", ros1::decode),
            _ => return None,
        };
        let text = format!("{FIELDS}{stamp}\nstring frame_id\n");
        let schema = read_text(&text, "sensor_msgs/PointCloud2", dialect, "PointCloud2");
        Some(PointCloud2Reader { schema: schema.expect("its own definition"), decode })
    }

    /// The points of a message.
    pub fn points(&self, message: &[u8]) -> Result<Points> {
        let value = (self.decode)(&self.schema, message)?;
        let [header, height, width, fields, is_big_endian, step, row_step, Value::Bytes(data), _] =
            record_values(&value)?
        else {
            bail!("not a PointCloud2");
        };
        let header: &[Value] = record_values(header)?;
        let [.., stamp, Value::String(frame)] = header else { bail!("not a PointCloud2") };
        let layout = PointLayout {
            width: read_integer(width)? as usize,
            height: read_integer(height)? as usize,
            step: read_integer(step)? as usize,
            row_step: read_integer(row_step)? as usize,
            is_big_endian: *is_big_endian == Value::Bool(true),
        };
        layout.check(data)?;
        let Value::List(fields) = fields else { bail!("not a PointCloud2") };
        let mut columns: Vec<Column> = Vec::new();
        let mut names = BTreeSet::new();
        let mut wanted = 0;
        for field in fields {
            for column in layout.columns(field, data, &mut wanted)? {
                let is_new = names.insert(column.name.clone());
                ensure!(is_new, "two fields have the name {}", column.name);
                columns.push(column);
            }
        }
        let has = |name: &str| names.contains(name);
        let is_placed = ["x", "y", "z"].into_iter().filter(|name| has(name)).count() >= 2;
        let unplaced = (!is_placed).then_some("it needs at least two of the fields x, y and z");
        Ok(Points {
            list: String::new(),
            count: layout.width * layout.height,
            columns,
            frame: Some(frame.clone()),
            pose: None,
            time: Some(time(stamp)?),
            unplaced,
            by_elevation: false,
        })
    }
}

fn record_values(value: &Value) -> Result<&[Value]> {
    match value {
        Value::Record(fields) => Ok(fields),
        _ => bail!("not a PointCloud2"),
    }
}

fn read_integer(value: &Value) -> Result<i64> {
    match value {
        Value::Unsigned(number) => Ok(i64::try_from(*number)?),
        Value::Signed(number) => Ok(*number),
        _ => bail!("not a PointCloud2"),
    }
}

fn time(stamp: &Value) -> Result<Nanoseconds> {
    let [seconds, nanos] = record_values(stamp)? else { bail!("not a PointCloud2") };
    Ok(Nanoseconds::from(read_integer(seconds)?) * 1_000_000_000
        + Nanoseconds::from(read_integer(nanos)?))
}

/// The most bytes that a point has: eight times the longest descriptors of PCL.
const LARGEST: usize = 1 << 16;

/// How points lie in the bytes.
struct PointLayout {
    width: usize,
    height: usize,
    step: usize,
    row_step: usize,
    is_big_endian: bool,
}

impl PointLayout {
    fn check(&self, data: &[u8]) -> Result<()> {
        let PointLayout { width, height, step, row_step, .. } = *self;
        let row = width.checked_mul(step).filter(|row| *row <= row_step || height <= 1);
        let row = row.context("a row of points is longer than row_step")?;
        let all = match height {
            0 => Some(0),
            _ => (height - 1).checked_mul(row_step).and_then(|before| before.checked_add(row)),
        };
        let is_there = all.is_some_and(|all| all <= data.len());
        ensure!(
            is_there,
            "{} of {}, but only {}",
            format_count(height as u64, "row"),
            format_count(width as u64, "point"),
            format_count(data.len() as u64, "byte")
        );
        // Where there are no points, nothing but this bounds what fields count.
        ensure!(step <= LARGEST, "a point has {step} bytes; {LARGEST} is the limit");
        // Points without bytes would be as many as the message claims.
        ensure!(step > 0 || width == 0 || height == 0, "a point has 0 bytes");
        Ok(())
    }

    /// The columns of a field: one, or as many as it counts. `wanted` is how many bytes of
    /// a point were taken so far.
    fn columns(&self, field: &Value, data: &[u8], wanted: &mut usize) -> Result<Vec<Column>> {
        let [Value::String(name), offset, datatype, count] = record_values(field)? else {
            bail!("not a PointField")
        };
        // Old drivers fill gaps by fields of these names.
        if name.is_empty() || name == "_" {
            return Ok(Vec::new());
        }
        let datatype = read_integer(datatype)?;
        let kind = type_of_datatype(datatype)
            .with_context(|| format!("field {name} has the unknown type {datatype}"))?;
        // 0 stands for one, as PCL takes it.
        let (offset, count) =
            (read_integer(offset)? as usize, (read_integer(count)? as usize).max(1));
        let end = count.checked_mul(kind.size()).and_then(|size| offset.checked_add(size));
        ensure!(end.is_some_and(|end| end <= self.step), "field {name} lies outside of the point");
        *wanted += count * kind.size();
        ensure!(*wanted <= self.step, "field {name} overlaps a field before it");
        let column = |at: usize| {
            let mut values = kind.empty_values();
            let start = offset + at * kind.size();
            each!(&mut values, list => self.gather(data, start, list));
            let name = if count == 1 { name.clone() } else { format!("{name}_{at}") };
            Column { unit: unit(&name), name, values, present: None }
        };
        Ok((0..count).map(column).collect())
    }

    fn gather<const SIZE: usize, T: Number<SIZE>>(
        &self,
        data: &[u8],
        start: usize,
        into: &mut Vec<T>,
    ) {
        into.reserve_exact(self.width * self.height);
        for row in 0..self.height {
            for point in 0..self.width {
                let at = row * self.row_step + point * self.step + start;
                let mut bytes = [0; SIZE];
                bytes.copy_from_slice(&data[at..at + SIZE]);
                if self.is_big_endian {
                    bytes.reverse();
                }
                into.push(T::from_le(bytes));
            }
        }
    }
}

/// The type that a number of `PointField` stands for.
fn type_of_datatype(datatype: i64) -> Option<Type> {
    let all =
        [Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32, Type::F32, Type::F64];
    all.get(usize::try_from(datatype).ok()?.checked_sub(1)?).copied()
}

/// A number in so many bytes.
trait Number<const SIZE: usize> {
    fn from_le(bytes: [u8; SIZE]) -> Self;
}

macro_rules! numbers {
    ($($kind:ty, $size:literal;)*) => {
        $(impl Number<$size> for $kind {
            fn from_le(bytes: [u8; $size]) -> $kind {
                <$kind>::from_le_bytes(bytes)
            }
        })*
    };
}

numbers! { i8, 1; u8, 1; i16, 2; u16, 2; i32, 4; u32, 4; u64, 8; f32, 4; f64, 8; }
