//! Columns as they lie in memory: what a plain copy costs.

use anyhow::{ensure, Result};
use wiregauge_points::each;

use crate::compressor::Compressor;
use crate::framed::{Coder, Framed};
use crate::reduction::{Entry, Keeps, Make, Part};
use crate::table::Column;

inventory::submit! {
    Entry {
        name: "columns",
        title: "Columns as they are",
        order: 0,
        library: "memcpy",
        is_bound: true,
        keeps: Keeps::Everything,
        exact: false,
        part: Part::Row,
        options: &["each column is copied, there and back"],
        behind: &[Compressor::Zstd, Compressor::Lz4],
        sorted_by: None,
        make: Make::Here(|| Box::new(Framed(Plain))),
    }
}

/// Copies.
pub struct Plain;

impl Coder for Plain {
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()> {
        each!(&column.values, list => out.extend_from_slice(bytemuck::cast_slice(list)));
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()> {
        each!(&mut column.values, list => {
            ensure!(bytes.len() == size_of_val(&list[..]), "a column of another length");
            bytemuck::cast_slice_mut(list).copy_from_slice(bytes);
        });
        Ok(())
    }
}
