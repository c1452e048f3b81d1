//! Scaled integers: whole numbers of the resolution, in the narrowest type that holds all of
//! a column's.

use anyhow::{bail, Result};
use wiregauge_points::each;

use super::columns::Plain;
use crate::compressor::Compressor;
use crate::framed::{ColumnCoder, Framed};
use crate::reduction::{DecodeUnit, Fidelity, ReductionEntry, ReductionFactory};
use crate::scalar::{get, put, steps, Scalar};
use crate::table::Column;

inventory::submit! {
    ReductionEntry {
        name: "scaled",
        title: "Scaled integers",
        order: 30,
        library: "",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &[
            "columns with a resolution become i16, i32 or i64 of it, whichever holds all values; \
             all others stay",
        ],
        compressors: &[Compressor::Zstd, Compressor::Lz4],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Framed(Scaled::default()))),
    }
}

/// Whole numbers.
#[derive(Default)]
struct Scaled {
    steps: Vec<i64>,
}

impl ColumnCoder for Scaled {
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()> {
        let Some(resolution) = column.resolution else { return Plain.encode(column, out) };
        let most = each!(&column.values, list => steps(list, resolution, &mut self.steps))?;
        let width = width(most);
        out.push(width);
        match width {
            2 => put(out, &self.steps, |step| step as i16),
            4 => put(out, &self.steps, |step| step as i32),
            _ => put(out, &self.steps, |step| step),
        }
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()> {
        let Some(resolution) = column.resolution else { return Plain.decode(bytes, column) };
        let Some((width, bytes)) = bytes.split_first() else { bail!("cut short") };
        each!(&mut column.values, list => read(*width, bytes, resolution, list))
    }
}

/// The bytes that such numbers take.
pub fn width(most: u64) -> u8 {
    match most {
        0..=0x7fff => 2,
        0x8000..=0x7fff_ffff => 4,
        _ => 8,
    }
}

fn read<T: Scalar>(width: u8, bytes: &[u8], resolution: f64, values: &mut [T]) -> Result<()> {
    match width {
        2 => get(bytes, values, |step: i16| T::near(f64::from(step) * resolution)),
        4 => get(bytes, values, |step: i32| T::near(f64::from(step) * resolution)),
        8 => get(bytes, values, |step: i64| T::near(step as f64 * resolution)),
        other => bail!("integers of {other} bytes"),
    }
}
