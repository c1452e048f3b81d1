//! Finds the parts of a recording that are read apart.

use std::path::Path;

use anyhow::Result;

use crate::container::ContainerKind;
use crate::file_range::FileRange;
use crate::input_splits::FileSplits;
use crate::open::OpenHints;
use crate::remote_file::unless_unfetched;
use crate::select::Selection;
use crate::{mcap, osi};

/// The parts of a file with about so many bytes each. What cannot be told apart without reading
/// is one part. No message is read, but the heads of those in an `.osi` file without an index.
///
/// # Errors
/// When it is no recording, or cannot be read. Whether it is undamaged shows when it is read.
pub fn find_splits(
    path: &Path,
    hints: &OpenHints,
    selection: &Selection,
    most: u64,
) -> Result<FileSplits> {
    unless_unfetched(path, find_file_splits(path, hints, selection, most))
}

fn find_file_splits(
    path: &Path,
    hints: &OpenHints,
    selection: &Selection,
    most: u64,
) -> Result<FileSplits> {
    if path.is_dir() {
        return Ok(FileSplits::unsplit(0, "the folder of a ROS 2 bag is one split"));
    }
    match ContainerKind::detect(path)? {
        ContainerKind::Mcap => mcap::find_splits(path, selection, most),
        ContainerKind::Osi => osi::find_splits(path, hints.osi_type.as_deref(), selection, most),
        ContainerKind::Bag | ContainerKind::Sqlite => {
            Ok(FileSplits::unsplit(FileRange::open(path)?.end(), "a bag is one split"))
        }
    }
}
