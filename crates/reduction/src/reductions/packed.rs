//! The packed field.

use anyhow::{ensure, Context, Result};
use wiregauge_packed::{
    Column as Planned, Element, Layout, Number, Reduced, Reduction as How, View,
};
use wiregauge_points::{each, Type, Values};

use crate::compressor::Compressor;
use crate::reduction::{DecodeUnit, Fidelity, Reduction, ReductionEntry, ReductionFactory};
use crate::table::{self, Column, Table};

inventory::submit! {
    ReductionEntry {
        name: "packed",
        title: "Packed",
        order: 40,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Everything,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &["columns as they are, each aligned to 64 bytes", COPIED],
        compressors: &[Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Packed { way: PackMode::Plain })),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "packed-f32",
        title: "Packed, f32",
        order: 41,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::ItsType,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &[
            "columns of f64 with a resolution become f32, as which they are read; all others stay",
            COPIED,
        ],
        compressors: &[Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Packed { way: PackMode::Narrow })),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "packed-reduced",
        title: "Packed, reduced",
        order: 42,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Block(1024),
        options: &["columns are reduced to their resolution, those without one exactly", CHECKED],
        compressors: &[Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Packed { way: PackMode::Reduced })),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "packed-whole-bytes",
        title: "Packed, whole bytes",
        order: 43,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Block(1024),
        options: &["as reduced, in widths of whole bytes, for a compressor behind it", CHECKED],
        compressors: &[Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Packed { way: PackMode::WholeBytes })),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "packed-exact",
        title: "Packed, exact",
        order: 44,
        library: LIBRARY,
        is_bound: false,
        keeps: Fidelity::Everything,
        exact: true,
        decode_unit: DecodeUnit::Block(1024),
        options: &["every column is reduced exactly", CHECKED],
        compressors: &[Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Packed { way: PackMode::Exact })),
    }
}

const LIBRARY: &str = concat!("wiregauge-packed ", env!("CARGO_PKG_VERSION"));
const COPIED: &str = "decoding copies the columns out of the field, where a reader could read them";
const CHECKED: &str = "decoding checks the whole field first";

/// How columns are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackMode {
    Plain,
    Narrow,
    Reduced,
    WholeBytes,
    Exact,
}

struct Packed {
    way: PackMode,
}

/// A column on its way into the field.
enum Content<'a> {
    Plain(&'a Values),
    Narrow(&'a [f64]),
    Reduced(Reduced),
}

impl Packed {
    fn reduction_of(&self, column: &Column) -> Option<How> {
        let resolution = column.resolution.map_or(How::exact(), How::resolution);
        match self.way {
            PackMode::Plain | PackMode::Narrow => None,
            PackMode::Reduced => Some(resolution),
            PackMode::WholeBytes => Some(resolution.in_whole_bytes()),
            PackMode::Exact => Some(How::exact()),
        }
    }

    fn content<'a>(&self, column: &'a Column) -> Result<(Planned, Content<'a>)> {
        let name = column.name.as_str();
        if let Some(how) = self.reduction_of(column) {
            let reduced =
                each!(&column.values, list => Reduced::new(name, list, column.presence(), &how))?;
            return Ok((Planned::reduced(name, &reduced), Content::Reduced(reduced)));
        }
        Ok(match (&column.values, column.resolution) {
            (Values::F64(list), Some(_)) if self.way == PackMode::Narrow => {
                (Planned::new(name, Element::F32), Content::Narrow(list))
            }
            (values, _) => {
                (Planned::new(name, table::element(values.kind())), Content::Plain(values))
            }
        })
    }
}

fn type_of_element(element: Element) -> Option<Type> {
    Type::ALL.into_iter().find(|kind| table::element(*kind) == element)
}

impl Reduction for Packed {
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        let contents: Vec<(Planned, Content)> =
            table.columns.iter().map(|column| self.content(column)).collect::<Result<_>>()?;
        let planned = contents.iter().zip(&table.columns).map(|((planned, _), column)| {
            let planned = planned.clone();
            if column.present.is_empty() {
                planned
            } else {
                planned.optional()
            }
        });
        let planned: Vec<Planned> = planned.collect();
        let layout = Layout::plan(&planned, table.rows() as u64, 0, 64)?;
        out.resize(layout.size(), 0);
        let mut field = layout.write(out)?;
        let contents = contents.iter().zip(&table.columns);
        for (mut place, ((_, content), column)) in field.columns().into_iter().zip(contents) {
            if let Some(bits) = place.presence() {
                bits.copy_from_slice(&column.present);
            }
            match content {
                Content::Reduced(reduced) => place.put(reduced)?,
                Content::Narrow(list) => {
                    let mut sink = place.sink::<f32>().context("a column of f32")?;
                    sink.fill(list.iter().map(|value| *value as f32));
                }
                Content::Plain(values) => each!(values, list => {
                    fn fill<T: Number>(list: &[T], place: &mut wiregauge_packed::ColumnMut) -> Option<()> {
                        place.sink::<T>()?.fill(list.iter().copied());
                        Some(())
                    }
                    fill(list, &mut place).context("a column of its type")?
                }),
            }
        }
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()> {
        let view = View::open(bytes)?;
        for (at, values) in view.columns().iter().enumerate() {
            let kind =
                values.element.and_then(type_of_element).context("a column has another type")?;
            let column = table.prepare_column(at, values.name, kind, view.rows());
            ensure!(
                each!(&mut column.values, list => values.read(0, list)),
                "a column of its type"
            );
            column.present.extend_from_slice(values.bitmap.unwrap_or_default());
        }
        table.columns.truncate(view.columns().len());
        Ok(())
    }
}
