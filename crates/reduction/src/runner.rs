//! A reduction as a runner, which the gauge starts, proves and measures as it does others.

use std::cell::Cell;
use std::path::Path;

use anyhow::Result;
use wiregauge_runner::{serve, Direct, Error, Hello, Message, Tally};

use crate::reduction::Reduction;
use crate::row::ReductionRow;
use crate::table::Table;

thread_local! {
    /// What this process was started for.
    static REDUCER: Cell<Option<Reducer>> = const { Cell::new(None) };
}

/// Serves a gauge on standard input and output.
///
/// # Errors
/// Of these, and when the row cannot be made.
pub fn run(row: ReductionRow, build: &Path) -> Result<()> {
    let reduction = row.create(build)?;
    let library = reduction.library().unwrap_or_else(|| row.library());
    let library = Box::leak(library.into_boxed_str());
    REDUCER.set(Some(Reducer { reduction, library, out: Vec::new() }));
    Ok(serve(Reducer::default())?)
}

/// The bytes of the last table lie in memory of its own.
struct Reducer {
    reduction: Box<dyn Reduction>,
    library: &'static str,
    out: Vec<u8>,
}

impl Default for Reducer {
    fn default() -> Reducer {
        REDUCER.take().expect("set before it serves")
    }
}

#[derive(Default)]
struct CanonicalTable(Table);

impl Message for CanonicalTable {
    fn from_canonical(bytes: &[u8]) -> Result<CanonicalTable, Error> {
        Table::from_bytes(bytes).map(CanonicalTable).map_err(to_error)
    }

    fn to_canonical(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_bytes());
    }
}

fn to_error(error: anyhow::Error) -> Error {
    Error::new(format!("{error:#}"))
}

impl Direct for Reducer {
    type Message = CanonicalTable;

    fn hello(&self) -> Hello {
        Hello { library: self.library, phased: false, verifies: false, unchecked: false }
    }

    /// A table that it cannot say is no fault of it.
    fn admit(&mut self, points: &CanonicalTable) -> Result<(), Error> {
        let admitted = self.reduction.admit(&points.0);
        let outcome = admitted.and_then(|()| self.reduction.encode(&points.0, &mut self.out));
        outcome.map_err(|error| Error::rejected(format!("{error:#}")))
    }

    fn encode(&mut self, points: &CanonicalTable, _: &mut Vec<u8>) -> Result<(), Error> {
        self.reduction.encode(&points.0, &mut self.out).map_err(to_error)
    }

    fn written(&self, _: &[u8], mut take: impl FnMut(&[u8])) {
        take(&self.out);
    }

    fn forget_output(&mut self) {
        self.out = Vec::new();
    }

    fn decode(&mut self, wire: &[u8], points: &mut CanonicalTable) -> Result<(), Error> {
        self.reduction.decode(wire, &mut points.0).map_err(to_error)
    }

    fn project<T: Tally>(
        &mut self,
        _: &[u8],
        _: &mut CanonicalTable,
        _: &mut T,
    ) -> Result<(), Error> {
        Err(not_supported())
    }

    fn fixed<T: Tally>(
        &mut self,
        _: &[u8],
        _: &mut CanonicalTable,
        _: &mut T,
    ) -> Result<(), Error> {
        Err(not_supported())
    }

    fn element<T: Tally>(
        &mut self,
        _: &[u8],
        _: &mut CanonicalTable,
        _: &mut T,
    ) -> Result<(), Error> {
        Err(not_supported())
    }
}

fn not_supported() -> Error {
    Error::new("columns are decoded whole")
}
