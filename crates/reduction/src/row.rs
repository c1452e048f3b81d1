//! The rows of the table.

use std::path::Path;

use anyhow::{Context, Result};

use crate::compressed::CompressedReduction;
use crate::compressor::Compressor;
use crate::native::NativeReduction;
use crate::reduction::{DecodeUnit, Reduction, ReductionEntry, ReductionFactory};
use crate::row_permutation::check_same_rows;
use crate::shim::Native;
use crate::table::Table;

/// A reduction, with or without a compressor behind it.
#[derive(Clone, Copy)]
pub struct ReductionRow {
    /// The reduction.
    pub entry: &'static ReductionEntry,
    /// What comes behind it.
    pub compressor: Option<Compressor>,
}

impl ReductionRow {
    /// All rows.
    pub fn all() -> Vec<ReductionRow> {
        let mut entries: Vec<&ReductionEntry> =
            inventory::iter::<ReductionEntry>.into_iter().collect();
        entries.sort_by_key(|entry| entry.order);
        let rows = entries.into_iter().flat_map(|entry| {
            let behind = entry.compressors.iter().map(|compressor| Some(*compressor));
            std::iter::once(None)
                .chain(behind)
                .map(move |behind| ReductionRow { entry, compressor: behind })
        });
        rows.collect()
    }

    /// The row of a key.
    pub fn find(id: &str) -> Option<ReductionRow> {
        ReductionRow::all().into_iter().find(|row| row.id() == id)
    }

    /// Its key: `packed-reduced+zstd`.
    pub fn id(&self) -> String {
        match self.compressor {
            Some(compressor) => format!("{}+{}", self.entry.name, compressor.name()),
            None => self.entry.name.into(),
        }
    }

    /// Name in tables.
    pub fn title(&self) -> String {
        match self.compressor {
            Some(compressor) => format!("{}, {}", self.entry.title, compressor.title()),
            None => self.entry.title.into(),
        }
    }

    /// Whether it is no reduction to choose.
    pub fn is_bound(&self) -> bool {
        self.entry.is_bound && self.compressor.is_none()
    }

    /// What has to be decoded for one row.
    pub fn decode_unit(&self) -> DecodeUnit {
        self.compressor.map_or(self.entry.decode_unit, |_| DecodeUnit::Whole)
    }

    /// Libraries and versions.
    pub fn library(&self) -> String {
        match self.compressor {
            Some(compressor) => {
                let own = Some(self.entry.library).filter(|library| !library.is_empty());
                own.into_iter().chain([compressor.library()]).collect::<Vec<_>>().join(", ")
            }
            None => self.entry.library.into(),
        }
    }

    /// What moves its figures.
    pub fn options(&self) -> Vec<String> {
        let behind = self.compressor.iter().map(|compressor| compressor.options());
        self.entry.options.iter().copied().chain(behind).map(str::to_owned).collect()
    }

    /// The glue by which a library in C++ carries it out; none where this program does.
    pub fn shim(&self) -> Option<&'static Native> {
        match self.entry.make {
            ReductionFactory::Shim(shim, ..) => Some(shim),
            ReductionFactory::Rust(_) => None,
        }
    }

    /// Whether rows keep their order.
    pub fn keeps_order(&self) -> bool {
        self.entry.sorted_by.is_none()
    }

    /// What carries it out; glue to a library in C++ is compiled below the build folder, unless
    /// it is there.
    ///
    /// # Errors
    /// When the glue does not compile, or cannot be loaded.
    pub fn create(&self, build: &Path) -> Result<Box<dyn Reduction>> {
        let inner = match self.entry.make {
            ReductionFactory::Rust(make) => make(),
            ReductionFactory::Shim(shim, variant, admit) => {
                Box::new(NativeReduction::load(&shim.build(build)?, variant, admit)?)
            }
        };
        Ok(match self.compressor {
            Some(compressor) => Box::new(CompressedReduction::new(inner, compressor)),
            None => inner,
        })
    }

    /// What came back of a table, in the order in which it was sent: where the row keeps no
    /// order, the same values by the row that does, when all rows came back with each of them.
    ///
    /// # Errors
    /// When other rows came back.
    pub fn restore_order(&self, sent: &Table, back: Table, build: &Path) -> Result<Table> {
        let Some(other) = self.entry.sorted_by else { return Ok(back) };
        let mut other = ReductionRow::find(other).context("there is no such row")?.create(build)?;
        let (mut bytes, mut ordered) = (Vec::new(), Table::default());
        other.encode(sent, &mut bytes)?;
        other.decode(&bytes, &mut ordered)?;
        check_same_rows(&ordered, &back)?;
        Ok(ordered)
    }
}

/// The rows with what moves their figures, and what this machine lacks for them.
pub fn describe_rows() -> String {
    let mut text = String::new();
    for row in ReductionRow::all() {
        let mark = if row.entry.exact { ", with --exact" } else { "" };
        let library = Some(row.library()).filter(|library| !library.is_empty());
        let library = library.map_or(String::new(), |library| format!(" ({library})"));
        text += &format!("{}: {}{library}{mark}\n", row.id(), row.title());
        row.options().iter().for_each(|option| text += &format!("    {option}\n"));
        if let Some(lack) = row.shim().and_then(Native::missing_requirement) {
            text += &format!("    skipped on this machine: {lack}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_one_row_each() {
        let rows = ReductionRow::all();
        let mut ids: Vec<String> = rows.iter().map(ReductionRow::id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), rows.len());
        assert!(rows.len() > 20, "{ids:?}");
        assert!(
            ReductionRow::find("packed-reduced+zstd").is_some()
                && ReductionRow::find("packed").is_some()
        );
        assert!(ReductionRow::find("packed+gzip").is_none());
        let bounds: Vec<String> =
            rows.iter().filter(|row| row.is_bound()).map(ReductionRow::id).collect();
        assert_eq!(bounds, ["columns"]);
    }
}
