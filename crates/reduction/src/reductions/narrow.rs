//! Floats of fewer bits.

use anyhow::{ensure, Result};
use half::slice::HalfFloatSliceExt;
use wiregauge_points::{each, Values};

use super::columns::Plain;
use crate::compressor::Compressor;
use crate::framed::{ColumnCoder, Framed};
use crate::reduction::{DecodeUnit, Fidelity, ReductionEntry, ReductionFactory};
use crate::scalar::{get, put, Scalar};
use crate::table::Column;

inventory::submit! {
    ReductionEntry {
        name: "f32",
        title: "f32",
        order: 10,
        library: "",
        is_bound: false,
        keeps: Fidelity::ItsType,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &["columns of f64 with a resolution become f32, all others stay"],
        compressors: &[Compressor::Zstd, Compressor::Lz4],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Framed(Single))),
    }
}

inventory::submit! {
    ReductionEntry {
        name: "f16",
        title: "f16",
        order: 20,
        library: "half 2.7.1",
        is_bound: false,
        keeps: Fidelity::ItsType,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &[
            "columns with a resolution become f16, all others stay",
            "a column is scaled by the power of two that takes its largest value to the upper end",
        ],
        compressors: &[Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(Framed(Half::default()))),
    }
}

/// Floats of 32 bits in place of 64.
struct Single;

impl ColumnCoder for Single {
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()> {
        match (&column.values, column.resolution) {
            (Values::F64(list), Some(_)) => {
                put(out, list, |value| value as f32);
                Ok(())
            }
            _ => Plain.encode(column, out),
        }
    }

    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()> {
        match (&mut column.values, column.resolution) {
            (Values::F64(list), Some(_)) => get(bytes, list, |value: f32| f64::from(value)),
            _ => Plain.decode(bytes, column),
        }
    }
}

/// Values that are converted at a time.
const BLOCK: usize = 1024;
/// Below this a half is no infinity when it has been rounded.
const UPPER: i32 = 15;

/// Floats of 16 bits.
struct Half {
    singles: [f32; BLOCK],
    halves: [half::f16; BLOCK],
}

impl Default for Half {
    fn default() -> Half {
        Half { singles: [0.0; BLOCK], halves: [half::f16::ZERO; BLOCK] }
    }
}

impl Half {
    fn put<T: Scalar>(&mut self, values: &[T], out: &mut Vec<u8>) {
        let finite = values.iter().map(|v| v.double().abs()).filter(|v| v.is_finite());
        let largest = finite.fold(0.0, f64::max);
        let exponent = if largest > 0.0 { largest.log2().floor() as i32 + 1 } else { 0 };
        let power = (UPPER - exponent).clamp(-1000, 1000);
        out.extend_from_slice(&power.to_le_bytes());
        let factor = 2f64.powi(power);
        for values in values.chunks(BLOCK) {
            for (to, from) in self.singles.iter_mut().zip(values) {
                *to = (from.double() * factor) as f32;
            }
            let halves = &mut self.halves[..values.len()];
            halves.convert_from_f32_slice(&self.singles[..values.len()]);
            let bits: &[u16] = halves.reinterpret_cast();
            out.extend_from_slice(bytemuck::cast_slice(bits));
        }
    }

    fn get<T: Scalar>(&mut self, bytes: &[u8], values: &mut [T]) -> Result<()> {
        ensure!(bytes.len() == 4 + 2 * values.len(), "a column has another length");
        let (power, bytes) = bytes.split_at(4);
        let power: i32 = bytemuck::pod_read_unaligned(power);
        let factor = 2f64.powi(-power.clamp(-1000, 1000));
        for (values, bytes) in values.chunks_mut(BLOCK).zip(bytes.chunks(2 * BLOCK)) {
            for (to, from) in self.halves.iter_mut().zip(bytes.chunks_exact(2)) {
                *to = half::f16::from_le_bytes([from[0], from[1]]);
            }
            let singles = &mut self.singles[..values.len()];
            self.halves[..values.len()].convert_to_f32_slice(singles);
            for (to, from) in values.iter_mut().zip(singles) {
                *to = T::near(f64::from(*from) * factor);
            }
        }
        Ok(())
    }
}

impl ColumnCoder for Half {
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()> {
        match column.resolution {
            Some(_) => each!(&column.values, list => self.put(list, out)),
            None => Plain.encode(column, out)?,
        }
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()> {
        match column.resolution {
            Some(_) => each!(&mut column.values, list => self.get(bytes, list)),
            None => Plain.decode(bytes, column),
        }
    }
}
