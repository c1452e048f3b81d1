//! Recordings whose reflections, detections and points become packed fields, and back:
//! OSI's messages by their own field, those of ROS as the message that its transports of
//! compressed clouds use, arrays of points as a field by itself.

pub mod cloud;
pub mod costs;
mod cursor;
mod definition;
pub mod info;
pub mod packer;
mod passage;
pub mod remedy;
pub mod structure;
mod subject;
pub mod unpacker;

pub use passage::Costs;
