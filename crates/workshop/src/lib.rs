//! How programs are built and kept: the build folder, tools that are run and what
//! they need, the toolchains that they are of, and the sources that wiregauge carries.

pub mod cmake;
pub mod embedded;
mod keep;
pub mod maven;
mod need;
mod tool;
pub mod toolchain;

pub use keep::{hash, lock, write_if_new};
pub use need::Need;
pub use tool::{first_error, run, Compiler};
pub use toolchain::Toolchain;

/// What a build tells of its progress: a short word on what it does, and how
/// much of how much is done. An error that it returns, such as the user's wish
/// to stop, ends the build.
pub type Progress<'a> = &'a dyn Fn(&str, usize, usize) -> anyhow::Result<()>;
