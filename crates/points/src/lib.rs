//! Points out of recorded messages: reflections and detections of OSI, plain or in the
//! packed field, and point clouds of ROS; and out of files of points. They become clouds that viewers show, or tables.

mod cloud;
mod clouds;
pub mod column;
pub mod file;
mod gather;
mod osi;
mod points;
mod remarks;
mod ros;
mod source;
mod survey;
pub mod table;

pub use clouds::Clouds;
pub use column::{Column, Type, Values};
pub use osi::{Elevation, Rays, Reading};
pub use points::{Points, Pose};
pub use remarks::Skipped;
pub use source::{Decode, Others, Source};
pub use survey::{Found, Survey};
pub use table::Table;
