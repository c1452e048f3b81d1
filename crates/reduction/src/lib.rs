//! Makes columns of points smaller: by the packed field and by other projects' methods, all at
//! the same resolution. Each method is a row of `wiregauge codecs points`, and this crate is
//! also the program that measures it.
//!
//! ```
//! use std::path::Path;
//! use wiregauge_reduction::row::ReductionRow;
//! use wiregauge_reduction::scene::scene;
//! use wiregauge_reduction::table::Table;
//!
//! let sent = scene(1); // time of flight and signal strength of 131,072 rays
//! let row = ReductionRow::find("columns").expect("a known row");
//! let mut reduction = row.create(Path::new("build"))?;
//! let (mut bytes, mut received) = (Vec::new(), Table::default());
//! reduction.encode(&sent, &mut bytes)?;
//! reduction.decode(&bytes, &mut received)?;
//! assert_eq!(received.columns[0].values, sent.columns[0].values);
//! # Ok::<(), anyhow::Error>(())
//! ```

mod compressed;
mod compressor;
pub mod deviation;
mod framed;
pub mod load;
mod native;
pub mod reduction;
mod reductions;
pub mod reflections;
pub mod row;
mod row_permutation;
pub mod runner;
mod scalar;
pub mod scene;
pub mod shim;
pub mod table;
