//! The packed field.

use anyhow::{ensure, Context, Result};
use wiregauge_packed::{
    Column as Planned, Element, Layout, Number, Reduced, Reduction as How, View,
};
use wiregauge_points::{each, Type, Values};

use crate::compressor::Compressor;
use crate::reduction::{Entry, Keeps, Make, Part, Reduction};
use crate::table::{self, Column, Table};

inventory::submit! {
    Entry {
        name: "packed",
        title: "Packed",
        order: 40,
        library: LIBRARY,
        is_bound: false,
        keeps: Keeps::Everything,
        exact: false,
        part: Part::Row,
        options: &["columns as they are, each aligned to 64 bytes", COPIED],
        behind: &[Compressor::Zstd],
        sorted_by: None,
        make: Make::Here(|| Box::new(Packed { way: Way::Plain })),
    }
}

inventory::submit! {
    Entry {
        name: "packed-f32",
        title: "Packed, f32",
        order: 41,
        library: LIBRARY,
        is_bound: false,
        keeps: Keeps::ItsType,
        exact: false,
        part: Part::Row,
        options: &[
            "columns of f64 with a resolution become f32, as which they are read; all others stay",
            COPIED,
        ],
        behind: &[Compressor::Zstd],
        sorted_by: None,
        make: Make::Here(|| Box::new(Packed { way: Way::Narrow })),
    }
}

inventory::submit! {
    Entry {
        name: "packed-reduced",
        title: "Packed, reduced",
        order: 42,
        library: LIBRARY,
        is_bound: false,
        keeps: Keeps::Resolution,
        exact: false,
        part: Part::Block(1024),
        options: &["columns are reduced to their resolution, those without one exactly", CHECKED],
        behind: &[Compressor::Zstd],
        sorted_by: None,
        make: Make::Here(|| Box::new(Packed { way: Way::Reduced })),
    }
}

inventory::submit! {
    Entry {
        name: "packed-whole-bytes",
        title: "Packed, whole bytes",
        order: 43,
        library: LIBRARY,
        is_bound: false,
        keeps: Keeps::Resolution,
        exact: false,
        part: Part::Block(1024),
        options: &["as reduced, in widths of whole bytes, for a compressor behind it", CHECKED],
        behind: &[Compressor::Zstd],
        sorted_by: None,
        make: Make::Here(|| Box::new(Packed { way: Way::WholeBytes })),
    }
}

inventory::submit! {
    Entry {
        name: "packed-exact",
        title: "Packed, exact",
        order: 44,
        library: LIBRARY,
        is_bound: false,
        keeps: Keeps::Everything,
        exact: true,
        part: Part::Block(1024),
        options: &["every column is reduced exactly", CHECKED],
        behind: &[Compressor::Zstd],
        sorted_by: None,
        make: Make::Here(|| Box::new(Packed { way: Way::Exact })),
    }
}

const LIBRARY: &str = concat!("wiregauge-packed ", env!("CARGO_PKG_VERSION"));
const COPIED: &str = "decoding copies the columns out of the field, where a reader could read them";
const CHECKED: &str = "decoding checks the whole field first";

/// How columns are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Plain,
    Narrow,
    Reduced,
    WholeBytes,
    Exact,
}

struct Packed {
    way: Way,
}

/// A column on its way into the field.
enum Content<'a> {
    Plain(&'a Values),
    Narrow(&'a [f64]),
    Reduced(Reduced),
}

impl Packed {
    fn how(&self, column: &Column) -> Option<How> {
        let resolution = column.resolution.map_or(How::exact(), How::resolution);
        match self.way {
            Way::Plain | Way::Narrow => None,
            Way::Reduced => Some(resolution),
            Way::WholeBytes => Some(resolution.in_whole_bytes()),
            Way::Exact => Some(How::exact()),
        }
    }

    fn content<'a>(&self, column: &'a Column) -> Result<(Planned, Content<'a>)> {
        let name = column.name.as_str();
        if let Some(how) = self.how(column) {
            let reduced =
                each!(&column.values, list => Reduced::new(name, list, column.presence(), &how))?;
            return Ok((Planned::reduced(name, &reduced), Content::Reduced(reduced)));
        }
        Ok(match (&column.values, column.resolution) {
            (Values::F64(list), Some(_)) if self.way == Way::Narrow => {
                (Planned::new(name, Element::F32), Content::Narrow(list))
            }
            (values, _) => {
                (Planned::new(name, table::element(values.kind())), Content::Plain(values))
            }
        })
    }
}

fn kind(element: Element) -> Option<Type> {
    let all = [
        Type::I8,
        Type::U8,
        Type::I16,
        Type::U16,
        Type::I32,
        Type::U32,
        Type::U64,
        Type::F32,
        Type::F64,
    ];
    all.into_iter().find(|kind| table::element(*kind) == element)
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
            let kind = values.element.and_then(kind).context("a column of another type")?;
            let column = table.place(at, values.name, kind, view.rows());
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
