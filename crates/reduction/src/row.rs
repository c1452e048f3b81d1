//! The rows of the table.

use crate::behind::Behind;
use crate::compressor::Compressor;
use crate::reduction::{Entry, Part, Reduction};

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

    /// What carries it out.
    pub fn make(&self) -> Box<dyn Reduction> {
        let inner = (self.entry.make)();
        match self.behind {
            Some(compressor) => Box::new(Behind::new(inner, compressor)),
            None => inner,
        }
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
