//! pcodec: an entropy coder for columns of numbers.

use anyhow::{bail, ensure, Result};
use pco::data_types::Number;
use pco::standalone::{simple_compress_into, simple_decompress_into};
use pco::ChunkConfig;
use wiregauge_points::each;

use super::scaled::width;
use crate::framed::{ColumnCoder, Framed};
use crate::reduction::{DecodeUnit, Fidelity, ReductionEntry, ReductionFactory};
use crate::scalar::{steps, Scalar};
use crate::table::Column;

inventory::submit! {
    ReductionEntry {
        name: "pcodec",
        title: "pcodec",
        order: 60,
        library: "pco 1.1.0",
        is_bound: false,
        keeps: Fidelity::Resolution,
        exact: false,
        decode_unit: DecodeUnit::Block(1 << 18),
        options: &[
            "columns with a resolution become i32 or i64 of it, which pcodec then gets; all \
             others it gets as they are",
            "a file of its own a column, at its default level 8, in chunks of 262,144; columns of \
             bytes by the switch that allows them",
        ],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Framed(Pcodec { exact: false, ..Pcodec::default() }))),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "pcodec-exact",
        title: "pcodec, exact",
        order: 61,
        library: "pco 1.1.0",
        is_bound: false,
        keeps: Fidelity::Everything,
        exact: true,
        decode_unit: DecodeUnit::Block(1 << 18),
        options: &["a file of its own a column, at its default level 8, in chunks of 262,144"],
        compressors: &[],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Framed(Pcodec { exact: true, ..Pcodec::default() }))),
    }
}

#[derive(Default)]
struct Pcodec {
    exact: bool,
    steps: Vec<i64>,
    narrow: Vec<i32>,
}

/// What stands before a column: the width of its whole numbers, or that it is as it was.
const AS_IT_WAS: u8 = 0;

impl ColumnCoder for Pcodec {
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()> {
        let Some(resolution) = column.resolution.filter(|_| !self.exact) else {
            out.push(AS_IT_WAS);
            return each!(&column.values, list => put(list, out));
        };
        let most = each!(&column.values, list => steps(list, resolution, &mut self.steps))?;
        let width = width(most).max(4);
        out.push(width);
        if width == 8 {
            return put(&self.steps, out);
        }
        self.narrow.clear();
        self.narrow.extend(self.steps.iter().map(|step| *step as i32));
        put(&self.narrow, out)
    }

    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()> {
        let Some((width, bytes)) = bytes.split_first() else { bail!("cut short") };
        if *width == AS_IT_WAS {
            return each!(&mut column.values, list => get(bytes, list));
        }
        let Some(resolution) = column.resolution else { bail!("numbers without a resolution") };
        let rows = column.values.len();
        match width {
            8 => {
                self.steps.resize(rows, 0);
                get(bytes, &mut self.steps)?;
                let steps = &self.steps;
                each!(&mut column.values, list => scale(steps, list, |step| step as f64 * resolution));
            }
            _ => {
                self.narrow.resize(rows, 0);
                get(bytes, &mut self.narrow)?;
                let steps = &self.narrow;
                each!(&mut column.values, list => scale(steps, list, |step| f64::from(step) * resolution));
            }
        }
        Ok(())
    }
}

fn put<T: Number>(values: &[T], out: &mut Vec<u8>) -> Result<()> {
    simple_compress_into(values, &ChunkConfig::default().with_enable_8_bit(true), out)?;
    Ok(())
}

fn get<T: Number>(bytes: &[u8], values: &mut [T]) -> Result<()> {
    let progress = simple_decompress_into(bytes, values)?;
    ensure!(
        progress.finished && progress.n_processed == values.len(),
        "{} values of {}",
        progress.n_processed,
        values.len()
    );
    Ok(())
}

fn scale<S: Copy, T: Scalar>(steps: &[S], values: &mut [T], double: impl Fn(S) -> f64) {
    for (to, from) in values.iter_mut().zip(steps) {
        *to = T::near(double(*from));
    }
}
