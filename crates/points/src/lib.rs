//! Points from recorded messages and from files: OSI's reflections and detections, plain or
//! packed, point clouds and scans of ROS and Foxglove, and files of KITTI, nuScenes and PCL. They become clouds that
//! viewers show, or tables in Arrow and Parquet.
//!
//! ```
//! use wiregauge_points::file::PointFileFormat;
//! use wiregauge_points::Values;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("two.pcd");
//! let head = "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\n";
//! std::fs::write(&path, format!("{head}DATA ascii\n1 2 3\n4 5 6\n"))?;
//!
//! let format = PointFileFormat::from_path(&path).expect("a .pcd file");
//! let points = format.read(&path)?;
//! assert_eq!(points.count, 2);
//! assert_eq!(points.columns[1].name, "y");
//! assert_eq!(points.columns[1].values, Values::F32(vec![2.0, 5.0]));
//! # Ok::<(), anyhow::Error>(())
//! ```

mod channel_points;
mod cloud;
mod cloud_writer;
pub mod column;
mod column_builder;
pub mod file;
mod foxglove;
mod interleaved;
mod message_fields;
mod notices;
mod osi;
mod packed_numbers;
mod point_rows;
mod points;
mod rays;
mod ros;
mod source;
mod table;
mod table_contents;

pub use channel_points::ChannelPoints;
pub use cloud_writer::CloudWriter;
pub use column::{Column, Type, Values};
pub use notices::SkipCounter;
pub use osi::{Elevation, Rays, SensorConventions};
pub use points::{Points, Pose};
pub use source::{DecoderLookup, PointSource, ToProtobuf};
pub use table::{PointTable, TableWriter};
