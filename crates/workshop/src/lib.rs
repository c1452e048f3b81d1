//! How programs are built and kept: the build folder, tools that are run and what
//! they need, the toolchains that they are of, and the sources that wiregauge carries.

pub mod cmake;
pub mod embedded;
mod keep;
pub mod maven;
mod need;
pub mod package;
mod progress;
pub mod python;
mod tool;
pub mod toolchain;

pub use keep::{build_folder, hash, lock, write_if_new};
pub use need::Need;
pub use progress::Progress;
pub use tool::{first_error, quoted, run, Compiler};
pub use toolchain::Toolchain;
