//! Packs recordings and files of points: reflections, detections and points become packed
//! fields, which are smaller and are read in place. It also unpacks them again.
//!
//! In OSI's messages the packed field is a field of the message. ROS's clouds become messages
//! of ROS's transports for compressed clouds. An array of points becomes a packed field alone:
//!
//! ```
//! use wiregauge_packed::Plan;
//! use wiregauge_packing::structure::Structure;
//!
//! let Structure(points) = "x:f32,y:f32".parse()?;
//! let rows: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
//! let (field, _) = points.pack(&rows, &Plan::default())?;
//!
//! let Structure(points) = Structure::from_field(&field)?;
//! assert_eq!(points.unpack(&field, 1 << 20)?, rows);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cloud;
pub mod costs;
mod cursor;
mod definition;
pub mod error_advice;
pub mod info;
pub mod output_container;
mod packable;
pub mod packer;
mod packing_writer;
pub mod points_file;
pub mod structure;
pub mod text;
pub mod unpacker;

pub use packing_writer::Costs;
