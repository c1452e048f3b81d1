/// A wire that writes field after field, little-endian unless it says otherwise.
pub trait Wire: Copy {
    /// The largest alignment of a number; 1 where nothing is aligned.
    const ALIGNMENT: usize;
    /// Whether texts end in a zero.
    const ENDS_TEXTS: bool;
    /// Whether the size of a list or array of what is no number stands before it, and
    /// an absent value takes nothing but the flag that says so.
    const DELIMITS: bool;
    /// Whether numbers stand with their highest byte first.
    const IS_BIG_ENDIAN: bool = false;
    /// What stands before the letters of a text.
    const TEXT_MARK: &'static [u8] = &[];
    /// Whether a list's length counts its bytes and not its elements, and what may be
    /// absent is a list of none or one.
    const COUNTS_BYTES: bool = false;
    /// Whether a record without fields takes a byte.
    const HAS_FILLER: bool;
    /// What stands before a message, in bytes.
    const HEADER: &'static [u8];
    /// How many bytes of the header are looked at.
    const HEADER_READ: usize;
    /// How many bytes may follow a message.
    const FILLING: usize;
}

/// ROS MSG, as ROS 1 writes it.
#[derive(Clone, Copy)]
pub enum RosMsg {}

impl Wire for RosMsg {
    const ALIGNMENT: usize = 1;
    const ENDS_TEXTS: bool = false;
    const DELIMITS: bool = false;
    const HAS_FILLER: bool = false;
    const HEADER: &'static [u8] = &[];
    const HEADER_READ: usize = 0;
    const FILLING: usize = 0;
}

/// XCDR version 1, as ROS 2 writes it, without the header of DDS.
#[derive(Clone, Copy)]
pub enum Cdr {}

impl Wire for Cdr {
    const ALIGNMENT: usize = 8;
    const ENDS_TEXTS: bool = true;
    const DELIMITS: bool = false;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[];
    const HEADER_READ: usize = 0;
    const FILLING: usize = 0;
}

/// XCDR version 1 behind the header of DDS, as in messages and recordings of ROS 2.
#[derive(Clone, Copy)]
pub enum CdrWithHeader {}

impl Wire for CdrWithHeader {
    const ALIGNMENT: usize = 8;
    const ENDS_TEXTS: bool = true;
    const DELIMITS: bool = false;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[0, 1, 0, 0];
    const HEADER_READ: usize = 2;
    // DDS fills up to a multiple of four.
    const FILLING: usize = 3;
}

/// XCDR version 2 of final types, without the header of DDS.
#[derive(Clone, Copy)]
pub enum Xcdr2 {}

impl Wire for Xcdr2 {
    const ALIGNMENT: usize = 4;
    const ENDS_TEXTS: bool = true;
    const DELIMITS: bool = true;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[];
    const HEADER_READ: usize = 0;
    const FILLING: usize = 0;
}

/// XCDR version 2 of final types behind the header of DDS.
#[derive(Clone, Copy)]
pub enum Xcdr2WithHeader {}

impl Wire for Xcdr2WithHeader {
    const ALIGNMENT: usize = 4;
    const ENDS_TEXTS: bool = true;
    const DELIMITS: bool = true;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[0, 7, 0, 0];
    const HEADER_READ: usize = 2;
    // DDS fills up to a multiple of four.
    const FILLING: usize = 3;
}

/// The payload of SOME/IP by AUTOSAR's defaults.
#[derive(Clone, Copy)]
pub enum SomeIp {}

impl Wire for SomeIp {
    const ALIGNMENT: usize = 1;
    const ENDS_TEXTS: bool = true;
    const DELIMITS: bool = false;
    const IS_BIG_ENDIAN: bool = true;
    const TEXT_MARK: &'static [u8] = &[0xef, 0xbb, 0xbf];
    const COUNTS_BYTES: bool = true;
    const HAS_FILLER: bool = true;
    const HEADER: &'static [u8] = &[];
    const HEADER_READ: usize = 0;
    const FILLING: usize = 0;
}
