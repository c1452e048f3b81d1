//! Point clouds, whose fields each message describes itself.

use anyhow::{ensure, Result};
use wiregauge_columns::Cursor;

use super::header::{read_text, read_truth, read_u32, Header};
use super::packed_cloud;
use crate::column::Type;
use crate::interleaved::{reason_unplaced, PointField, PointLayout};
use crate::points::Points;

/// The fewest bytes of a field's description: its name's length, offset, type and count.
const SMALLEST_FIELD: usize = 4 + 4 + 1 + 4;

/// The points of a `sensor_msgs/PointCloud2` behind its header, or of the message that is the
/// same but for packed points.
pub fn read_points(
    cursor: &mut Cursor,
    header: Header,
    is_packed: bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Points> {
    let (height, width) = (read_u32(cursor)? as usize, read_u32(cursor)? as usize);
    let count = cursor.length()?;
    let left = cursor.left();
    ensure!(count <= left / SMALLEST_FIELD, "{count} fields, but only {left} bytes are left");
    let fields = (0..count).map(|_| read_field(cursor)).collect::<Result<Vec<_>>>()?;
    let is_big_endian = read_truth(cursor)?;
    let (step, row_step) = (read_u32(cursor)? as usize, read_u32(cursor)? as usize);
    let length = cursor.length()?;
    let data = cursor.take(length)?;
    read_truth(cursor)?;
    let (columns, names) = match is_packed {
        true => packed_cloud::columns(&read_text(cursor)?, &fields, width * height, data, wanted)?,
        false => {
            let layout = PointLayout { width, height, step, row_step, is_big_endian };
            layout.check(data)?;
            layout.columns(&fields, data, wanted)?
        }
    };
    Ok(Points {
        list: String::new(),
        count: width * height,
        columns,
        frame: Some(header.frame),
        pose: None,
        time: Some(header.time),
        unplaced: reason_unplaced(&names),
        by_elevation: false,
    })
}

fn read_field(cursor: &mut Cursor) -> Result<PointField> {
    let (name, offset) = (read_text(cursor)?, read_u32(cursor)? as usize);
    let datatype = cursor.number(1)?;
    // 0 stands for one, as PCL takes it.
    let count = (read_u32(cursor)? as usize).max(1);
    let kind = type_of_datatype(datatype).ok_or(datatype);
    Ok(PointField { name, offset, kind, count })
}

/// The type that a number of `PointField` stands for.
fn type_of_datatype(datatype: u64) -> Option<Type> {
    let all =
        [Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::U32, Type::F32, Type::F64];
    all.get(usize::try_from(datatype).ok()?.checked_sub(1)?).copied()
}
