//! Files that hold one cloud of points: those of data sets, and of the Point Cloud Library.

mod array;
mod lzf;
mod pcd;

use std::path::Path;

use anyhow::{Context, Result};
use wiregauge_system::input;

use crate::column::Column;
use crate::points::Points;

/// Largest file in bytes that is read: 2 GiB.
const LARGEST: u64 = 2 << 30;

/// What a file of points is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointFileFormat {
    /// KITTI's `.bin`: x, y, z and intensity as f32.
    Kitti,
    /// nuScenes' `.pcd.bin`: the same and the ring.
    NuScenes,
    /// The Point Cloud Library's `.pcd`.
    Pcd,
}

impl PointFileFormat {
    /// The form that a file's name tells; none where it is no file of points.
    pub fn from_path(path: &Path) -> Option<PointFileFormat> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        [
            (".pcd.bin", PointFileFormat::NuScenes),
            (".bin", PointFileFormat::Kitti),
            (".pcd", PointFileFormat::Pcd),
        ]
        .into_iter()
        .find_map(|(end, form)| name.ends_with(end).then_some(form))
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            PointFileFormat::Kitti => "points of KITTI",
            PointFileFormat::NuScenes => "points of nuScenes",
            PointFileFormat::Pcd => "points of PCL",
        }
    }

    /// The points of a file.
    ///
    /// # Errors
    /// When it cannot be read, or is no such file.
    pub fn read(self, path: &Path) -> Result<Points> {
        let bytes = input::read(path, LARGEST)?;
        let columns = match self {
            PointFileFormat::Kitti => array::columns(&bytes, &["x", "y", "z", "intensity"]),
            PointFileFormat::NuScenes => {
                array::columns(&bytes, &["x", "y", "z", "intensity", "ring"])
            }
            PointFileFormat::Pcd => pcd::columns(&bytes),
        };
        let columns = columns.with_context(|| path.display().to_string())?;
        Ok(points(columns))
    }
}

fn points(columns: Vec<Column>) -> Points {
    let count = columns.first().map_or(0, |column| column.values.len());
    Points {
        list: String::new(),
        count,
        columns,
        frame: None,
        pose: None,
        time: None,
        unplaced: None,
        by_elevation: false,
    }
}
