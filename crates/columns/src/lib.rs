//! Recorded messages as Arrow columns, by a plan that is made once from their definition.
//!
//! Nothing stands between the bytes of a message and its columns: no objects are built, and
//! numbers that lie at the same distance are read column by column.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Float32Type;
//! use wiregauge_columns::{ColumnPlan, ColumnReader, Wire};
//! use wiregauge_schema::msg::{read_text, Dialect};
//!
//! let definition = "uint32 id\nfloat32 speed\n";
//! let schema = read_text(definition, "car/msg/State", Dialect::Ros2, "State.msg")?;
//! let plan = ColumnPlan::messages(&schema, Wire::Cdr, &["speed".into()])?;
//!
//! let mut reader = ColumnReader::new(Arc::new(plan));
//! reader.push(&[0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0xc0, 0x3f])?;
//! let batch = reader.finish()?;
//! assert_eq!(batch.column(0).as_primitive::<Float32Type>().value(0), 1.5);
//! # Ok::<(), anyhow::Error>(())
//! ```

mod column;
mod cursor;
mod fixed_layout;
mod flatbuffer;
mod head_columns;
mod message_table;
mod number_list;
mod parquet_file;
mod plan;
mod protobuf;
mod selection;
mod sequential;
mod table_file;
mod table_rows;
mod zeros;

pub use cursor::{Cursor, SequentialLayout};
pub use head_columns::ElementHeads;
pub use message_table::{FindDefinition, MessageTable};
pub use plan::{ColumnPlan, ColumnReader, Wire};
pub use table_file::{TableFile, TableFormat};
pub use table_rows::{TableRows, TableSelection};
pub use zeros::zero_buffer;
