//! The packed field of OSI messages: lidar and radar reflections and detections
//! as columns in one `bytes` field, written and read in place. The layout, the
//! columns' names and their units are in `docs/packed.md`.
//!
//! ```
//! use wiregauge_packed::{first, Column, Kind, Message, Root};
//!
//! let columns = [Column::f64("signal_strength"), Column::f64("time_of_flight")];
//! let mut message = Message::new(Root::SensorView, &[]);
//! message.add(Kind::LidarReflections, &columns, 3, &[])?;
//! let mut buffer = vec![0; message.plan()?];
//! let mut tables = message.write(&mut buffer)?;
//! let mut columns = tables[0].columns();
//! columns[0].sink::<f64>().unwrap().fill([-3.0, -6.0, -9.0]); // dB
//! columns[1].sink::<f64>().unwrap().fill([1e-7, 2e-7, 3e-7]); // s
//!
//! let view = first(Root::SensorView, &buffer, Kind::LidarReflections)?.unwrap();
//! let strength = view.column::<f64>("signal_strength").unwrap();
//! assert_eq!(strength.get(1), -6.0);
//! # Ok::<(), wiregauge_packed::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bits;
mod block;
mod blocks;
mod codes;
mod element;
mod error;
mod find;
mod format;
mod frame;
mod half;
mod layer_choice;
mod layout;
mod leaf;
mod message;
mod pack;
mod plan;
mod points;
mod preset;
mod reduce;
mod row;
mod unit;
mod unpack;
mod view;
mod wire;

pub use element::{Element, Number};
pub use error::{Error, Fault};
pub use find::{find, first, Found, Kind, Root};
pub use format::{
    FIELD, MAXIMUM_ALIGNMENT, MAXIMUM_COLUMNS, MAXIMUM_NAME, MAXIMUM_ROWS, MAXIMUM_SIZE, VERSION,
};
pub use half::Half;
pub use layout::{Column, ColumnMut, Extent, Layout, Sink, Table};
pub use message::Message;
pub use pack::{pack, Encoding, PackOptions, Precision};
pub use plan::{How, Plan, Rule};
pub use points::{PointField, Points};
pub use preset::{Preset, PRESETS};
pub use reduce::{Reduced, Reduction};
pub use unit::unit;
pub use unpack::{unpack, UnpackOptions};
pub use view::{ColumnView, Values, View};
