//! What a reduction is, and which there are.

use anyhow::Result;

use crate::compressor::Compressor;
use crate::shim::Native;
use crate::table::Table;

/// Makes a table small, and makes the table again.
pub trait Reduction {
    /// Asked once of a table, before anything is timed.
    ///
    /// # Errors
    /// When it would not say the table as it is, with the reason.
    fn admit(&mut self, _table: &Table) -> Result<()> {
        Ok(())
    }

    /// Library and version, where only it knows them.
    fn library(&self) -> Option<String> {
        None
    }

    /// Writes the table in place of whatever `out` holds from before.
    ///
    /// # Errors
    /// When it cannot say the table, with the reason.
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()>;

    /// Makes the table in place of whatever it was before.
    ///
    /// # Errors
    /// When these are no such bytes.
    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()>;
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Every bit.
    Everything,
    /// What its type holds, whatever the resolution.
    ItsType,
    /// The stated resolution.
    Resolution,
}

/// What has to be decoded for one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeUnit {
    /// That row.
    Row,
    /// A block of so many rows.
    Block(usize),
    /// Everything.
    Whole,
}

/// A reduction as rows of the table. Its file submits it with [`inventory::submit!`].
pub struct ReductionEntry {
    /// Its key: `packed-reduced`.
    pub name: &'static str,
    /// Name in tables.
    pub title: &'static str,
    /// Its place in lists.
    pub order: u32,
    /// Library and version.
    pub library: &'static str,
    /// No reduction to choose, but what nothing costs.
    pub is_bound: bool,
    /// What comes back.
    pub keeps: Fidelity,
    /// A row without loss that is shown only where that is asked for.
    pub exact: bool,
    /// What has to be decoded for one row.
    pub decode_unit: DecodeUnit,
    /// Every choice that moves a figure, a line each.
    pub options: &'static [&'static str],
    /// The compressors that it is also shown with, one behind the other's back.
    pub compressors: &'static [Compressor],
    /// Where rows change places: the row that gives the same values in their order.
    pub sorted_by: Option<&'static str>,
    /// What makes one.
    pub make: ReductionFactory,
}

/// What makes a reduction.
pub enum ReductionFactory {
    /// This program.
    Rust(fn() -> Box<dyn Reduction>),
    /// Glue to a library in C++, the variant of it, and what it is asked of a table first.
    Shim(&'static Native, i32, fn(&Table) -> Result<()>),
}

inventory::collect!(ReductionEntry);
