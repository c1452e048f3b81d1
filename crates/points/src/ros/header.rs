//! What messages of ROS begin with, and the numbers and texts in them.

use anyhow::{ensure, Context, Result};
use wiregauge_columns::{Cursor, SequentialLayout};
use wiregauge_trace::read::Nanoseconds;

/// What such messages begin with.
pub struct Header {
    /// When it was.
    pub time: Nanoseconds,
    /// Its frame.
    pub frame: String,
}

impl Header {
    pub fn read(cursor: &mut Cursor, layout: SequentialLayout) -> Result<Header> {
        if layout == SequentialLayout::ROS1 {
            cursor.number(4)?;
        }
        let seconds = read_u32(cursor)?;
        // ROS 2 has seconds before 1970, ROS 1 has some behind 2038.
        let seconds = match layout == SequentialLayout::ROS1 {
            true => Nanoseconds::from(seconds),
            false => Nanoseconds::from(seconds as i32),
        };
        let nanos = Nanoseconds::from(read_u32(cursor)?);
        Ok(Header { time: seconds * 1_000_000_000 + nanos, frame: read_text(cursor)? })
    }
}

pub fn read_u32(cursor: &mut Cursor) -> Result<u32> {
    Ok(cursor.number(4)? as u32)
}

pub fn read_f32(cursor: &mut Cursor) -> Result<f32> {
    read_u32(cursor).map(f32::from_bits)
}

pub fn read_truth(cursor: &mut Cursor) -> Result<bool> {
    let octet = cursor.number(1)?;
    ensure!(octet <= 1, "a bool is 0 or 1, not {octet}");
    Ok(octet == 1)
}

pub fn read_text(cursor: &mut Cursor) -> Result<String> {
    let text = std::str::from_utf8(cursor.text()?);
    Ok(text.context("a text is not UTF-8")?.to_owned())
}
