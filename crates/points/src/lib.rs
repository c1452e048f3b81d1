//! Points out of recorded messages: reflections and detections of OSI, plain or in the
//! packed field, and point clouds of ROS; and out of files of points. They become clouds that viewers show, or tables.

mod cloud;
mod cloud_writer;
pub mod column;
mod column_builder;
pub mod file;
mod notices;
mod osi;
mod points;
mod ros;
mod source;
mod survey;
pub mod table;

pub use cloud_writer::CloudWriter;
pub use column::{Column, Type, Values};
pub use notices::SkipCounter;
pub use osi::{Elevation, Rays, SensorConventions};
pub use points::{Points, Pose};
pub use source::{DecoderLookup, PointSource, ToProtobuf};
pub use survey::{Survey, TableContents};
pub use table::TableWriter;
