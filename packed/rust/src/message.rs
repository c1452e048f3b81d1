//! A whole message around packed fields, in one buffer.

use crate::error::{Fault, Result};
use crate::find::{Kind, Root};
use crate::frame::{plan_lengths, write, MessagePart};
use crate::layout::{Column, Layout, Table};

/// A SensorView or SensorData whose packed fields are written in place. See the
/// example at the crate's root.
pub struct Message<'a> {
    root: Root,
    parts: Vec<MessagePart<'a>>,
    size: Option<usize>,
}

impl<'a> Message<'a> {
    /// Begins a message. `rest` are its other fields, serialized.
    pub fn new(root: Root, rest: &'a [u8]) -> Self {
        Message { root, parts: vec![MessagePart::Bytes(rest)], size: None }
    }

    /// Adds a LidarSensorView, RadarSensorView, LidarDetectionData or
    /// RadarDetectionData. `rest` are its other fields, such as
    /// view_configuration or header, serialized.
    ///
    /// # Errors
    ///
    /// [`Fault::Kind`] where the message cannot hold the kind, and those of
    /// [`Layout::plan`].
    pub fn add(&mut self, kind: Kind, columns: &[Column], rows: u64, rest: &'a [u8]) -> Result<()> {
        self.add_aligned(kind, columns, rows, rest, 64)
    }

    /// The same with another alignment than 64 bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Message::add`].
    pub fn add_aligned(
        &mut self,
        kind: Kind,
        columns: &[Column],
        rows: u64,
        rest: &'a [u8],
        alignment: usize,
    ) -> Result<()> {
        let number = match (self.root, kind) {
            (Root::SensorView, Kind::LidarReflections) => 1002,
            (Root::SensorView, Kind::RadarReflections) => 1001,
            (Root::SensorData, Kind::LidarDetections) => 3,
            (Root::SensorData, Kind::RadarDetections) => 2,
            _ => return Err(Fault::Kind.into()),
        };
        let layout = Layout::plan(columns, rows, 0, alignment)?;
        let parts = vec![MessagePart::Bytes(rest), MessagePart::Table { layout, size: 0 }];
        let part = MessagePart::Nested { number, parts, size: 0 };
        self.size = None;
        if self.root == Root::SensorView {
            self.parts.push(part);
        } else if let Some(MessagePart::Nested { parts, .. }) = self.parts.get_mut(1) {
            parts.push(part);
        } else {
            self.parts.push(MessagePart::Nested { number: 26, parts: vec![part], size: 0 });
        }
        Ok(())
    }

    /// Settles all lengths and gives the message's size in bytes. The columns
    /// lie aligned from its beginning.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`] where the message has more bytes than Protobuf allows.
    pub fn plan(&mut self) -> Result<usize> {
        let size = plan_lengths(&mut self.parts)?;
        self.size = Some(size);
        Ok(size)
    }

    /// Writes everything but the columns' elements and gives the tables to fill,
    /// in the order in which they were added.
    ///
    /// # Errors
    ///
    /// [`Fault::Buffer`] where the message is not planned, or the buffer has
    /// another size than [`Message::plan`] gave.
    pub fn write<'b>(&'b self, buffer: &'b mut [u8]) -> Result<Vec<Table<'b>>> {
        if self.size != Some(buffer.len()) {
            return Err(Fault::Buffer.into());
        }
        let mut places = Vec::new();
        write(&self.parts, buffer, &mut places);
        places.into_iter().map(|(layout, place)| layout.write(place)).collect()
    }
}
