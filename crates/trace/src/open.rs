//! Opens trace files of any container.

use std::path::Path;

use anyhow::Result;

use crate::container::Kind;
use crate::read::Reader;
use crate::{mcap, osi};

/// Opens a trace file: MCAP, or a trace of OSI, plain or packed as a whole by gzip, xz or
/// zstd.
///
/// # Errors
/// On a file of another kind, with what to do about it.
pub fn open(path: &Path, wish: &Wish) -> Result<Box<dyn Reader>> {
    Ok(match Kind::of(path)? {
        Kind::Osi => Box::new(osi::Reader::open(path, wish.osi_type.as_deref())?),
        Kind::Mcap => Box::new(mcap::Reader::open(path)?),
        kind => kind.refuse_as_trace(path)?,
    })
}

/// What the user says of a file that does not tell it.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The type of the messages of an `.osi` file: `sv`, `SensorView` or
    /// `osi3.SensorView`.
    pub osi_type: Option<String>,
}
