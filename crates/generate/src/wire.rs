//! The wires: what becomes of a message's fields in bytes.

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// ROS 1: one field after another, little-endian, no gaps.
    RosMsg,
    /// XCDR version 1, little-endian, as ROS 2 writes it: numbers at multiples of
    /// their size, texts that end in a zero.
    Cdr,
    /// Protobuf: fields behind keys, in the order of their numbers.
    Protobuf,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 3] = [Wire::RosMsg, Wire::Cdr, Wire::Protobuf];
    /// Those that write field after field.
    pub const SEQUENTIAL: [Wire; 2] = [Wire::RosMsg, Wire::Cdr];

    /// As the command line and names in code have it, with an underscore there.
    pub fn name(self) -> &'static str {
        match self {
            Wire::RosMsg => "ros-msg",
            Wire::Cdr => "cdr",
            Wire::Protobuf => "protobuf",
        }
    }

    /// The largest alignment of a number; 1 where nothing is aligned.
    pub fn alignment(self) -> usize {
        match self {
            Wire::RosMsg | Wire::Protobuf => 1,
            Wire::Cdr => 8,
        }
    }

    /// Whether it writes field after field.
    pub fn is_sequential(self) -> bool {
        Wire::SEQUENTIAL.contains(&self)
    }

    /// Whether a record without fields takes a byte.
    pub fn has_filler(self) -> bool {
        self == Wire::Cdr
    }
}
