//! Opens trace files of any container.

use std::path::Path;

use anyhow::Result;

use crate::container::Kind;
use crate::read::Reader;
use crate::{mcap, osi, txth};

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

/// Whether a file is a trace of OSI and not MCAP.
///
/// # Errors
/// On a file of another kind, with what to do about it.
pub fn is_osi(path: &Path) -> Result<bool> {
    Ok(match Kind::of(path)? {
        Kind::Osi => true,
        Kind::Mcap => false,
        kind => kind.refuse_as_trace(path)?,
    })
}

/// Opens a trace file as [`open`] does, and traces as text too, for which OSI's definitions
/// are needed.
///
/// # Errors
/// On a file of another kind, and on text that does not tell where a message ends.
pub fn open_with(
    path: &Path,
    wish: &Wish,
    definitions: &dyn Fn() -> Result<Vec<u8>>,
) -> Result<Box<dyn Reader>> {
    match path.extension().is_some_and(|end| end.eq_ignore_ascii_case("txth")) {
        true => Ok(Box::new(txth::Reader::open(path, wish.osi_type.as_deref(), &definitions()?)?)),
        false => open(path, wish),
    }
}

/// What the user says of a file that does not tell it.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// The type of the messages of an `.osi` file: `sv`, `SensorView` or
    /// `osi3.SensorView`.
    pub osi_type: Option<String>,
}
