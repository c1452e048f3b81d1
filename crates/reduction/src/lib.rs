//! Columns of points made small: by the packed field, and by what else is used for that, all
//! at the same stated resolution. Each is a contender whose process is this program itself.

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
