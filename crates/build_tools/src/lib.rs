//! How programs are built and kept: the build folder, tools that are run and what
//! they need, the toolchains that they are of, and the sources that wiregauge carries.

mod build_cache;
pub mod cache_contents;
mod callers_flags;
pub mod cmake;
pub mod embedded;
pub mod maven;
mod need;
pub mod network;
pub mod package;
pub mod program_apart;
mod program_file;
mod progress;
pub mod python;
mod shared_object;
mod tool;
pub mod toolchain;
pub mod versions;

pub use build_cache::{
    build_folder, check_starts_programs, create_build_folder, default_build_folder, hash,
    hash_file, hash_reader, installed_below, installed_folders, lock, write_if_changed,
};
pub use need::{find_program, find_programs, Need};
pub use program_file::{copy_program, write_script};
pub use progress::Progress;
pub use shared_object::compile_shared_object;
pub use tool::{first_error, is_root, run, rustc, shell_quoted, CompilerProcess};
pub use toolchain::Toolchain;
