//! The rows of the table.

use std::path::Path;

use anyhow::{Context, Result};

use crate::behind::Behind;
use crate::compressor::Compressor;
use crate::native::Native;
use crate::places::same_rows;
use crate::reduction::{Entry, Make, Part, Reduction};
use crate::shim::Shim;
use crate::table::Table;

/// A reduction, with or without a compressor behind it.
#[derive(Clone, Copy)]
pub struct Row {
    /// The reduction.
    pub entry: &'static Entry,
    /// What comes behind it.
    pub behind: Option<Compressor>,
}

impl Row {
    /// All rows.
    pub fn all() -> Vec<Row> {
        let mut entries: Vec<&Entry> = inventory::iter::<Entry>.into_iter().collect();
        entries.sort_by_key(|entry| entry.order);
        let rows = entries.into_iter().flat_map(|entry| {
            let behind = entry.behind.iter().map(|compressor| Some(*compressor));
            std::iter::once(None).chain(behind).map(move |behind| Row { entry, behind })
        });
        rows.collect()
    }

    /// The row of a key.
    pub fn find(id: &str) -> Option<Row> {
        Row::all().into_iter().find(|row| row.id() == id)
    }

    /// Its key: `packed-reduced+zstd`.
    pub fn id(&self) -> String {
        match self.behind {
            Some(compressor) => format!("{}+{}", self.entry.name, compressor.name()),
            None => self.entry.name.into(),
        }
    }

    /// Name in tables.
    pub fn title(&self) -> String {
        match self.behind {
            Some(compressor) => format!("{}, {}", self.entry.title, compressor.title()),
            None => self.entry.title.into(),
        }
    }

    /// Whether it is no reduction to choose.
    pub fn is_bound(&self) -> bool {
        self.entry.is_bound && self.behind.is_none()
    }

    /// What has to be decoded for one row.
    pub fn part(&self) -> Part {
        self.behind.map_or(self.entry.part, |_| Part::Whole)
    }

    /// Libraries and versions.
    pub fn library(&self) -> String {
        match self.behind {
            Some(compressor) => {
                let own = Some(self.entry.library).filter(|library| !library.is_empty());
                own.into_iter().chain([compressor.library()]).collect::<Vec<_>>().join(", ")
            }
            None => self.entry.library.into(),
        }
    }

    /// What moves its figures.
    pub fn options(&self) -> Vec<String> {
        let behind = self.behind.iter().map(|compressor| compressor.options());
        self.entry.options.iter().copied().chain(behind).map(str::to_owned).collect()
    }

    /// The glue by which a library in C++ carries it out; none where this program does.
    pub fn shim(&self) -> Option<&'static Shim> {
        match self.entry.make {
            Make::Shim(shim, ..) => Some(shim),
            Make::Here(_) => None,
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
    pub fn make(&self, build: &Path) -> Result<Box<dyn Reduction>> {
        let inner = match self.entry.make {
            Make::Here(make) => make(),
            Make::Shim(shim, variant, admit) => {
                Box::new(Native::load(&shim.build(build)?, variant, admit)?)
            }
        };
        Ok(match self.behind {
            Some(compressor) => Box::new(Behind::new(inner, compressor)),
            None => inner,
        })
    }

    /// What came back of a table, in the order in which it was sent: where the row keeps no
    /// order, the same values by the row that does, when all rows came back with each of them.
    ///
    /// # Errors
    /// When other rows came back.
    pub fn sorted(&self, sent: &Table, back: Table, build: &Path) -> Result<Table> {
        let Some(other) = self.entry.sorted_by else { return Ok(back) };
        let mut other = Row::find(other).context("no such row")?.make(build)?;
        let (mut bytes, mut ordered) = (Vec::new(), Table::default());
        other.encode(sent, &mut bytes)?;
        other.decode(&bytes, &mut ordered)?;
        same_rows(&ordered, &back)?;
        Ok(ordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_one_row_each() {
        let rows = Row::all();
        let mut ids: Vec<String> = rows.iter().map(Row::id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), rows.len());
        assert!(rows.len() > 20, "{ids:?}");
        assert!(Row::find("packed-reduced+zstd").is_some() && Row::find("packed").is_some());
        assert!(Row::find("packed+gzip").is_none());
        let bounds: Vec<String> = rows.iter().filter(|row| row.is_bound()).map(Row::id).collect();
        assert_eq!(bounds, ["columns"]);
    }
}
