//! Rows of 64 bytes, as OSI's branch `feature/raytracerconfig` proposes them for ray tracers:
//! sixteen f32 at stated offsets, in `SensorView.raytracer_view` (1005).

use anyhow::{bail, ensure, Context, Result};
use wiregauge_points::{each, Type};

use crate::reduction::{DecodeUnit, Fidelity, Reduction, ReductionEntry, ReductionFactory};
use crate::scalar::Scalar;
use crate::table::{Column, Table};

inventory::submit! {
    ReductionEntry {
        name: "osi-raytracer",
        title: "OSI ray tracer rows",
        order: 15,
        library: "",
        is_bound: false,
        keeps: Fidelity::ItsType,
        exact: false,
        decode_unit: DecodeUnit::Row,
        options: &[
            "rows of 64 bytes, RAYTRACER_FORMAT_SBR of OSI's branch feature/raytracerconfig \
             (818547e, September 2025), which is in no release: 16 little-endian f32, in \
             SensorView.raytracer_view (1005)",
            "x, y and z are the hit point of arrival, time_of_flight stands where the path length \
             does, signal_strength and intensity where the Jones matrix has the real part of vv, \
             each as the number that it is; columns of the layout's own names are themselves. \
             Fields without a column are zero, and are paid for",
            "refused: columns that the layout has no field for, rows without a value, and integers \
             that no f32 holds",
        ],
        compressors: &[crate::compressor::Compressor::Zstd],
        sorted_by: None,
        make: ReductionFactory::Rust(|| Box::new(RayTracer::default())),
    }
}

/// Floats of a row.
const FLOATS: usize = 16;
/// Bytes of a row.
const ROW: usize = 4 * FLOATS;

/// The layout's fields in order; the Jones matrix by its entries.
const FIELDS: [&str; FLOATS] = [
    "intersection_path_length",
    "relative_speed",
    "jones_vv_re",
    "jones_vv_im",
    "jones_vh_re",
    "jones_vh_im",
    "jones_hv_re",
    "jones_hv_im",
    "jones_hh_re",
    "jones_hh_im",
    "direction_of_arrival_x",
    "direction_of_arrival_y",
    "direction_of_arrival_z",
    "direction_of_departure_x",
    "direction_of_departure_y",
    "direction_of_departure_z",
];

/// Columns of points, and the field that stands nearest to each.
const NEAREST: [(&str, usize); 6] = [
    ("time_of_flight", 0),
    ("signal_strength", 2),
    ("intensity", 2),
    ("x", 10),
    ("y", 11),
    ("z", 12),
];

/// `view_configuration` with `raytracer_format` 2, and the tag of `raytracer_data`.
const HEAD: [u8; 5] = [0x0a, 2, 0x48, 2, 0x12];
/// The tag of `raytracer_view`: number 1005, with a length.
const TAG: [u8; 2] = [0xea, 0x3e];

/// A column without its values, which the layout does not tell.
struct Known {
    name: String,
    kind: Type,
    resolution: Option<f64>,
    field: usize,
}

/// What the last table was called that was written: a reader of OSI knows it by the format.
#[derive(Default)]
struct RayTracer {
    columns: Vec<Known>,
}

fn field(column: &Column) -> Result<usize> {
    let own = FIELDS.iter().position(|name| *name == column.name);
    let nearest = NEAREST.iter().find(|(name, _)| *name == column.name).map(|(_, field)| *field);
    own.or(nearest).with_context(|| {
        format!("{}: OSI's rows for ray tracers have no field for it", column.name)
    })
}

/// Writes a column to its place in each row.
fn scatter<T: Scalar>(values: &[T], is_exact: bool, rows: &mut [u8], field: usize) -> Result<()> {
    let mut is_kept = true;
    for (value, row) in values.iter().zip(rows.chunks_exact_mut(ROW)) {
        let single = value.double() as f32;
        is_kept &= !is_exact || T::near(f64::from(single)).same(*value);
        row[4 * field..4 * field + 4].copy_from_slice(&single.to_le_bytes());
    }
    ensure!(is_kept, "not every value is an f32, and it has no resolution that allows another");
    Ok(())
}

fn gather<T: Scalar>(rows: &[u8], field: usize, values: &mut [T]) {
    for (value, row) in values.iter_mut().zip(rows.chunks_exact(ROW)) {
        let bytes = [0, 1, 2, 3].map(|byte| row[4 * field + byte]);
        *value = T::near(f64::from(f32::from_le_bytes(bytes)));
    }
}

fn put_varint(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(rest: &mut &[u8]) -> Result<usize> {
    let mut value = 0;
    for place in 0..9 {
        let (byte, behind) = rest.split_first().context("cut short")?;
        *rest = behind;
        value |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    bail!("a length without an end")
}

fn varint_size(value: usize) -> usize {
    (usize::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}

impl Reduction for RayTracer {
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let size = table.rows() * ROW;
        out.extend_from_slice(&TAG);
        put_varint(HEAD.len() + varint_size(size) + size, out);
        out.extend_from_slice(&HEAD);
        put_varint(size, out);
        let start = out.len();
        out.resize(start + size, 0);
        self.columns.clear();
        for column in &table.columns {
            let field = field(column)?;
            let taken = self.columns.iter().find(|known| known.field == field);
            if let Some(known) = taken {
                bail!("{}: {} stands in its place", column.name, known.name);
            }
            ensure!(
                column.presence().is_none(),
                "{}: some rows have no value, and OSI's rows for ray tracers cannot say so",
                column.name
            );
            let is_exact = column.resolution.is_none();
            each!(&column.values, list => scatter(list, is_exact, &mut out[start..], field))
                .with_context(|| column.name.clone())?;
            self.columns.push(Known {
                name: column.name.clone(),
                kind: column.values.kind(),
                resolution: column.resolution,
                field,
            });
        }
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()> {
        let mut rest = bytes.strip_prefix(&TAG).context("no field 1005")?;
        let size = take_varint(&mut rest)?;
        ensure!(size == rest.len(), "the view has another length");
        let mut rows = rest.strip_prefix(&HEAD).context("no rows of this format")?;
        let size = take_varint(&mut rows)?;
        ensure!(size == rows.len() && size % ROW == 0, "the rows have another length");
        for (at, known) in self.columns.iter().enumerate() {
            let column = table.prepare_column(at, &known.name, known.kind, size / ROW);
            column.resolution = known.resolution;
            each!(&mut column.values, list => gather(rows, known.field, list));
        }
        table.columns.truncate(self.columns.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wiregauge_points::Values;

    use super::*;

    fn column(name: &str, resolution: Option<f64>, values: Values) -> Column {
        Column { name: name.into(), unit: String::new(), resolution, values, present: Vec::new() }
    }

    #[test]
    fn a_row_is_what_osi_says() {
        let names = FIELDS.iter().zip(1u8..);
        let columns =
            names.map(|(name, at)| column(name, None, Values::F32(vec![f32::from(at), 0.5])));
        let sent = Table { columns: columns.collect() };
        let (mut out, mut back) = (Vec::new(), Table::default());
        let mut layout = RayTracer::default();
        layout.encode(&sent, &mut out).unwrap();
        let rows = &out[out.len() - 2 * ROW..];
        // Path length at 0, speed at 4, vv[re] at 8, arrival at 40, departure at 52.
        for (offset, value) in [(0, 1.0f32), (4, 2.0), (8, 3.0), (40, 11.0), (52, 14.0), (60, 16.0)]
        {
            assert_eq!(rows[offset..offset + 4], value.to_le_bytes(), "offset {offset}");
        }
        assert_eq!(out[..2], [0xea, 0x3e]);
        let size = usize::from(out[2] & 0x7f) + 128 * usize::from(out[3]);
        assert_eq!(size, out.len() - 4);
        layout.decode(&out, &mut back).unwrap();
        assert_eq!(back, sent);
        for cut in 0..out.len() {
            assert!(layout.decode(&out[..cut], &mut back).is_err(), "{cut} bytes");
        }
    }

    #[test]
    fn what_the_layout_cannot_say_is_refused() {
        let refused = |column: Column| {
            let table = Table { columns: vec![column] };
            let error = RayTracer::default().encode(&table, &mut Vec::new()).unwrap_err();
            format!("{error:#}")
        };
        assert!(refused(column("ring", None, Values::U8(vec![1]))).contains("no field for it"));
        let mut absent = column("x", None, Values::F32(vec![1.0]));
        absent.present = vec![0];
        assert!(refused(absent).contains("cannot say so"));
        let wide = || Values::F64(vec![0.1]);
        assert!(refused(column("x", None, wide())).contains("not every value is an f32"));
        let table = Table { columns: vec![column("x", Some(1e-3), wide())] };
        RayTracer::default().encode(&table, &mut Vec::new()).unwrap();
        let two = ["signal_strength", "intensity"]
            .map(|name| column(name, Some(0.1), Values::F32(vec![1.0])));
        let table = Table { columns: two.into() };
        let error = RayTracer::default().encode(&table, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("stands in its place"), "{error:#}");
    }
}
