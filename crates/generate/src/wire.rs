//! The wires: what becomes of a message's fields in bytes.

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// ROS 1: one field after another, little-endian, no gaps.
    RosMsg,
    /// XCDR version 1, little-endian, as ROS 2 writes it: numbers at multiples of
    /// their size, texts that end in a zero.
    Cdr,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 2] = [Wire::RosMsg, Wire::Cdr];

    /// As the command line and names in code have it, with an underscore there.
    pub fn name(self) -> &'static str {
        match self {
            Wire::RosMsg => "ros-msg",
            Wire::Cdr => "cdr",
        }
    }

    /// The largest alignment of a number; 1 where nothing is aligned.
    pub fn alignment(self) -> usize {
        match self {
            Wire::RosMsg => 1,
            Wire::Cdr => 8,
        }
    }

    /// Whether a record without fields takes a byte.
    pub fn has_filler(self) -> bool {
        self == Wire::Cdr
    }
}
