//! The files that edits write.

use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_system::file::Target;
use wiregauge_trace::open;

/// Opens a file that is made of recordings. It replaces none of their files.
///
/// # Errors
/// When it is a file of an input, or cannot be written.
pub fn open_target(output: &Path, inputs: &[PathBuf]) -> Result<Target> {
    let mut files = Vec::new();
    for input in inputs {
        files.extend(open::list_files(input)?);
    }
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    Target::open(output, &files)
}

/// The end of the name of a file in the container of the input: `osi` or `mcap`. Bags are not
/// written, so theirs is `mcap`.
///
/// # Errors
/// When the input is no recording.
pub fn extension(input: &Path) -> Result<&'static str> {
    Ok(match open::container_name(input)? {
        "OSI" => "osi",
        _ => "mcap",
    })
}

/// Where a repaired file is written unless the user names another: `drive_repaired.mcap` for
/// `drive.mcap`, `drive.bag` or `drive.mcap.gz`.
///
/// # Errors
/// When the input is no recording.
pub fn repaired_path(input: &Path) -> Result<PathBuf> {
    let name = input.file_stem().unwrap_or_default().to_string_lossy();
    let ends = [".osi", ".mcap", ".bag", ".db3"];
    let stem = ends.iter().find_map(|end| name.strip_suffix(end));
    let extension = extension(input)?;
    Ok(input.with_file_name(format!("{}_repaired.{extension}", stem.unwrap_or(&name))))
}

/// Whether the reader of standard output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_gone = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    error.chain().any(is_gone)
}

/// Names of files, for errors.
pub(crate) fn join_names(files: &[PathBuf]) -> String {
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}
