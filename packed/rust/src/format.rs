//! The numbers of the layout, as docs/packed.md has them.

/// The field's number in LidarSensorView, RadarSensorView, LidarDetectionData
/// and RadarDetectionData.
pub const FIELD: u32 = 52307;

/// The version of the layout: major and minor. A field without a reduced column
/// is written as 1.0, which is the same.
pub const VERSION: (u16, u16) = (1, 1);

/// The most bytes that a field or message may have: Protobuf's own limit.
pub const MAXIMUM_SIZE: usize = 0x7fff_ffff;

/// The most rows that a field may have.
pub const MAXIMUM_ROWS: u64 = 0x7fff_ffff;

/// The most columns that a field may have.
pub const MAXIMUM_COLUMNS: usize = 256;

/// The most bytes that a column's name may have.
pub const MAXIMUM_NAME: usize = 255;

/// The largest alignment of columns in bytes.
pub const MAXIMUM_ALIGNMENT: usize = 4096;

pub(crate) const MAGIC: &[u8; 8] = b"WGPACKED";
pub(crate) const HEADER: usize = 32;
pub(crate) const DESCRIPTOR: usize = 48;
pub(crate) const SCALED: u8 = 1;
pub(crate) const REDUCED: u8 = 2;
