//! The wires: what becomes of a message's fields in bytes.

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// ROS 1: one field after another, little-endian, no gaps.
    RosMsg,
    /// XCDR version 1, little-endian, as ROS 2 writes it: numbers at multiples of
    /// their size, texts that end in a zero.
    Cdr,
    /// XCDR version 2 of final types, little-endian: numbers at multiples of four at
    /// most, the size before lists and arrays of what is no number.
    Xcdr2,
    /// The payload of SOME/IP by AUTOSAR's defaults: highest bytes first, no gaps, before
    /// texts and lists how many bytes they take, in 32 bits; texts in UTF-8 between a byte
    /// order mark and a zero.
    SomeIp,
    /// Protobuf: fields behind keys, in the order of their numbers.
    Protobuf,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 5] = [Wire::RosMsg, Wire::Cdr, Wire::Xcdr2, Wire::SomeIp, Wire::Protobuf];
    /// Those that write field after field.
    pub const SEQUENTIAL: [Wire; 4] = [Wire::RosMsg, Wire::Cdr, Wire::Xcdr2, Wire::SomeIp];

    /// As the command line and names in code have it, with an underscore there.
    pub fn name(self) -> &'static str {
        match self {
            Wire::RosMsg => "ros-msg",
            Wire::Cdr => "cdr",
            Wire::Xcdr2 => "xcdr2",
            Wire::SomeIp => "someip",
            Wire::Protobuf => "protobuf",
        }
    }

    /// The largest alignment of a number; 1 where nothing is aligned.
    pub fn alignment(self) -> usize {
        match self {
            Wire::RosMsg | Wire::SomeIp | Wire::Protobuf => 1,
            Wire::Xcdr2 => 4,
            Wire::Cdr => 8,
        }
    }

    /// Whether it writes field after field.
    pub fn is_sequential(self) -> bool {
        Wire::SEQUENTIAL.contains(&self)
    }

    /// Whether a record without fields takes a byte.
    pub fn has_filler(self) -> bool {
        self.is_dds() || self == Wire::SomeIp
    }

    /// Whether numbers stand with their highest byte first.
    pub fn is_big_endian(self) -> bool {
        self == Wire::SomeIp
    }

    /// Whether a list's length counts its bytes and not its elements, and what may be absent
    /// is a list of none or one.
    pub fn counts_bytes(self) -> bool {
        self == Wire::SomeIp
    }

    /// Whether there are views of it: messages are shown where they lie.
    pub fn has_views(self) -> bool {
        self.is_sequential() && !self.is_big_endian()
    }

    /// Whether it is one of DDS: texts end in a zero, and a header may stand before
    /// a message.
    pub fn is_dds(self) -> bool {
        matches!(self, Wire::Cdr | Wire::Xcdr2)
    }

    /// Whether its size stands before a list or array of what is no number, and an
    /// absent value takes nothing but the flag that says so.
    pub fn is_delimited(self) -> bool {
        self == Wire::Xcdr2
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Wire {
    fn value_variants<'a>() -> &'a [Wire] {
        &Wire::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}
