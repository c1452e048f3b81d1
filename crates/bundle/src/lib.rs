//! A bundle: one file with the program, the prebuilt runners of chosen rows with their shared
//! libraries, and the messages that they are measured on. It measures on a machine without
//! compilers, network or root; on one that is reached over ssh it leaves nothing.
//!
//! Other crates say what is measured. Here it is packed, checked, unpacked and brought there.

mod board;
mod board_check;
mod bundle_files;
mod elf;
mod manifest;
mod opened_bundle;
mod remote_run;
mod served_run;

pub use board::Board;
pub use board_check::now;
pub use bundle_files::BundleFiles;
pub use elf::ElfFacts;
pub use manifest::{BundledCase, BundledReading, BundledRow, Manifest};
pub use opened_bundle::OpenedBundle;
pub use remote_run::RemoteRun;
pub use served_run::ServedRun;
