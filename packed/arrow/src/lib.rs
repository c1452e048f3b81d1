//! Columns of the packed field as Arrow arrays, by Arrow's C data interface: columns that
//! lie in place are not copied, reduced ones are decoded into the arrays' own buffers.
//!
//! ```
//! use std::sync::Arc;
//! use wiregauge_packed::{Column, Layout, View};
//!
//! let layout = Layout::plan(&[Column::f64("time_of_flight")], 2, 0, 64)?;
//! let mut field = vec![0; layout.size()];
//! layout.write(&mut field)?.columns()[0].sink::<f64>().unwrap().fill([1e-7, 2e-7]);
//!
//! let (schema, array) = wiregauge_packed_arrow::to_arrow(Arc::new(field), |bytes| View::open(bytes))?;
//! assert_eq!((array.n_children, array.length), (1, 2));
//! // An Arrow library takes both by their addresses; dropped, they release themselves.
//! # Ok::<(), wiregauge_packed::Error>(())
//! ```

mod export;
mod interface;

pub use export::to_arrow;
pub use interface::{ArrowArray, ArrowSchema};
