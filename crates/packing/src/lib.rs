//! Recordings whose reflections, detections and points become packed fields, and back:
//! OSI's messages by their own field, those of ROS as the message that its transports of
//! compressed clouds use, arrays of points as a field by itself.

pub mod cloud;
pub mod costs;
mod cursor;
mod definition;
pub mod error_advice;
pub mod info;
mod packable;
pub mod packer;
mod packing_writer;
pub mod points_file;
pub mod structure;
pub mod text;
pub mod unpacker;

pub use packing_writer::Costs;
