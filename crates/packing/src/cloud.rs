//! A cloud of points in a message of ROS: PointCloud2, and CompressedPointCloud2 of
//! point_cloud_transport, which is the same but for the bytes of the points and for a text
//! behind it that says how these are written.

use anyhow::{bail, ensure, Context, Result};
use wiregauge_packed::{Element, Plan, PointField, Points, Precision, MAXIMUM_COLUMNS};
use wiregauge_trace::read::LARGEST;

use crate::cursor::Cursor;
pub use crate::cursor::RosEncoding;
use crate::error_advice::add_advice;

/// What the packed field is called where the format of a compressed cloud is told.
pub const FORMAT: &str = "wgpacked";

/// Largest number of bytes that a writer may add to fill up a word.
const MAX_PADDING: usize = 7;

/// A message taken apart.
pub struct Cloud<'d> {
    cursor: Cursor<'d>,
    /// What stands before the length of the points' bytes.
    front: &'d [u8],
    /// What a point is made of.
    pub points: Points,
    /// How many there are.
    pub count: u64,
    /// How many rows of how many points they lie in, and how many bytes apart these begin.
    rows: (u32, u32, u32),
    /// The bytes of the points, or of what they are packed to.
    pub content: &'d [u8],
    is_dense: u8,
    /// How they are packed.
    pub format: Option<&'d str>,
    /// What fills up the last word.
    tail: &'d [u8],
}

impl<'d> Cloud<'d> {
    /// Takes a message apart.
    ///
    /// # Errors
    /// When it is no such message, or its fields are none of a packed field.
    pub fn parse(wire: RosEncoding, is_packed: bool, bytes: &'d [u8]) -> Result<Cloud<'d>> {
        let mut cursor = Cursor::new(wire, bytes)?;
        for _ in 0..if wire == RosEncoding::Ros1 { 3 } else { 2 } {
            cursor.read_u32()?; // The number of ROS 1, then the time.
        }
        cursor.read_string()?;
        let (height, width) = (cursor.read_u32()?, cursor.read_u32()?);
        let fields = fields(&mut cursor)?;
        let is_big_endian = cursor.read_u8()? != 0;
        let step = cursor.read_u32()? as usize;
        let row_step = cursor.read_u32()?;
        let front = &bytes[..cursor.position()];
        let length = cursor.read_u32()? as usize;
        let content = cursor.read_bytes(length)?;
        let is_dense = cursor.read_u8()?;
        let format = if is_packed { Some(cursor.read_string()?) } else { None };
        let tail = cursor.remaining();
        let most = if wire == RosEncoding::Cdr { MAX_PADDING } else { 0 };
        ensure!(
            tail.len() <= most,
            "{} bytes are left over; the definition does not fit this message",
            tail.len()
        );
        let count = u64::from(height) * u64::from(width);
        let points = Points::new(fields, step, is_big_endian)?;
        let rows = (height, width, row_step);
        Ok(Cloud { cursor, front, points, count, rows, content, is_dense, format, tail })
    }

    /// The message with packed points, what each column took, and how many bytes are left
    /// out: those that fill up rows, and those behind the last one.
    ///
    /// # Errors
    /// When there are fewer points than the message tells, or they cannot be packed so.
    pub fn pack(&self, plan: &Plan) -> Result<(Vec<u8>, Vec<Precision>, u64)> {
        let ((height, width, row_step), step) = (self.rows, self.points.step() as u64);
        let row = u64::from(width) * step;
        let wanted = u64::from(height).checked_mul(row);
        if wanted == Some(self.content.len() as u64) {
            let (field, precision) = self.points.pack(self.content, plan).map_err(add_advice)?;
            return Ok((self.replace_points(self.front, &field, Some(FORMAT)), precision, 0));
        }
        ensure!(
            row <= row_step.into() || height <= 1,
            "a row has {row} bytes, but the next row begins after {row_step} bytes; leave the \
             channel out by --exclude-channel"
        );
        let before = u64::from(height.saturating_sub(1)) * u64::from(row_step);
        let all = if height == 0 { 0 } else { before + row };
        ensure!(
            all <= self.content.len() as u64,
            "the cloud has {height} × {width} points of {step} bytes, but only {} bytes; leave the \
             channel out by --exclude-channel",
            self.content.len()
        );
        let mut points = Vec::new();
        // Rows without points may be four billion in a damaged message.
        for at in 0..if row == 0 { 0 } else { height as usize } {
            let start = at * row_step as usize;
            points.extend_from_slice(&self.content[start..start + row as usize]);
        }
        let left_out = self.content.len() - points.len();
        let (field, precision) = self.points.pack(&points, plan).map_err(add_advice)?;
        // Rows follow one another now.
        let mut front = self.front[..self.front.len() - 4].to_vec();
        self.cursor.put_u32(u32::try_from(row).context("a row has 4 GiB or more")?, &mut front);
        Ok((self.replace_points(&front, &field, Some(FORMAT)), precision, left_out as u64))
    }

    /// The message with its points as they were.
    ///
    /// # Errors
    /// When they are packed in another format, or are not those that the message tells.
    pub fn unpack(&self) -> Result<Vec<u8>> {
        let format = self.format.unwrap_or_default();
        if format != FORMAT {
            bail!(
                "the cloud has the format '{format}', not '{FORMAT}'; leave the channel out by \
                 --exclude-channel, and unpack it with point_cloud_transport"
            );
        }
        let wanted = u128::from(self.count) * self.points.step() as u128;
        ensure!(wanted <= u128::from(LARGEST), "{} points are too many", self.count);
        let points = self.points.unpack(self.content, wanted as usize)?;
        ensure!(
            points.len() as u128 == wanted,
            "{} points are packed, but the message declares {}",
            points.len() / self.points.step().max(1),
            self.count
        );
        Ok(self.replace_points(self.front, &points, None))
    }

    /// The same message with other bytes of points.
    fn replace_points(&self, front: &[u8], content: &[u8], format: Option<&str>) -> Vec<u8> {
        let mut out = Vec::with_capacity(front.len() + content.len() + 64);
        out.extend_from_slice(front);
        self.cursor.put_u32(content.len() as u32, &mut out);
        out.extend_from_slice(content);
        out.push(self.is_dense);
        if let Some(format) = format {
            self.cursor.put_string(format, &mut out);
        }
        out.extend_from_slice(self.tail);
        out
    }
}

/// The fields of a point; one that is an array is a field for each of its elements.
fn fields(cursor: &mut Cursor) -> Result<Vec<PointField>> {
    let mut fields = Vec::new();
    for _ in 0..cursor.read_u32()? {
        let name = cursor.read_string()?;
        let offset = cursor.read_u32()? as usize;
        let kind = cursor.read_u8()?;
        // Old drivers say 0 where they mean 1.
        let count = cursor.read_u32()?.max(1) as usize;
        let element = element(kind)
            .with_context(|| format!("field '{name}' has the type {kind}, which does not exist"))?;
        // Old drivers fill gaps by fields of these names: their bytes are kept as gaps are.
        if name.is_empty() || name == "_" {
            continue;
        }
        ensure!(
            fields.len().saturating_add(count) <= MAXIMUM_COLUMNS,
            "a point has more than {MAXIMUM_COLUMNS} numbers; leave the channel out by \
             --exclude-channel"
        );
        for at in 0..count {
            let name = if count == 1 { name.to_owned() } else { format!("{name}[{at}]") };
            let offset = offset.saturating_add(at * element.size());
            fields.push(PointField { name, offset, element });
        }
    }
    Ok(fields)
}

/// The types of sensor_msgs/PointField.
fn element(kind: u8) -> Option<Element> {
    Some(match kind {
        1 => Element::I8,
        2 => Element::U8,
        3 => Element::I16,
        4 => Element::U16,
        5 => Element::I32,
        6 => Element::U32,
        7 => Element::F32,
        8 => Element::F64,
        _ => return None,
    })
}
