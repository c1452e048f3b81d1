//! Columns as they lie in memory: what a plain copy costs.

use anyhow::{ensure, Result};
use wiregauge_points::each;

use crate::compressor::Compressor;
use crate::framed::{ColumnCoder, Framed};
use crate::reduction::{DecodeUnit, Fidelity, ReductionEntry, ReductionFactory};
use crate::table::Column;

inventory::submit! {
    ReductionEntry {
        name: "columns",
        title: "Columns as they are",
        order: 0,
        library: "memcpy",
        is_bound: true,
        keeps: Fidelity::Everything,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &["each column is copied, there and back"],
        compressors: &[Compressor::Zstd, Compressor::Lz4],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Framed(Plain))),
    }
}

/// Copies.
pub struct Plain;

impl ColumnCoder for Plain {
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()> {
        each!(&column.values, list => out.extend_from_slice(bytemuck::cast_slice(list)));
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()> {
        each!(&mut column.values, list => {
            ensure!(bytes.len() == size_of_val(&list[..]), "a column has another length");
            bytemuck::cast_slice_mut(list).copy_from_slice(bytes);
        });
        Ok(())
    }
}
