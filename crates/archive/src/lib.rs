//! Recordings where archives lie: `s3://`, `gs://`, `az://`, `https://` and `http://`.
//!
//! The network is the business of a program apart (the folder `archive` of the tree), which is
//! found beside the installed program or built on first use. Here it is started and asked for
//! parts of files, and the crate that reads recordings is told to ask here.

mod archive_program;
mod conversation;
mod ranges;
pub mod signed_address;

use std::path::PathBuf;

use wiregauge_trace::remote_file;

use crate::ranges::ArchiveRanges;

/// From now on recordings are read from archives, too. `prefixes` are folders below which the
/// program may be installed, beside that of the program that runs.
pub fn install(prefixes: Vec<PathBuf>) {
    remote_file::set_opener(move |shown| {
        let program = archive_program::find_or_build(&prefixes)?;
        Ok(Box::new(ArchiveRanges::new(program, signed_address::full_address(shown))))
    });
}
