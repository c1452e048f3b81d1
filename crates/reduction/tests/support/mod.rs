//! Columns that are made up, and rows that carry them.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use wiregauge_points::Values;
use wiregauge_reduction::row::ReductionRow;
use wiregauge_reduction::table::{Column, Table};

/// Where glue is compiled.
pub fn build_folder() -> PathBuf {
    let own = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("reduction");
    std::env::var_os("WIREGAUGE_BUILD").map_or_else(own, PathBuf::from)
}

/// A column without a unit.
pub fn column(name: &str, resolution: Option<f64>, values: Values) -> Column {
    Column { name: name.into(), unit: String::new(), resolution, values, present: Vec::new() }
}

/// Walks with jumps, as scans have them, and numbers of anything.
fn numbers(rows: usize) -> impl Strategy<Value = Vec<f64>> {
    let walk = prop::collection::vec((-0.05..0.05f64, prop::bool::weighted(0.1)), rows).prop_map(
        |steps| {
            let mut at = 20.0;
            let walked = steps.into_iter().map(|(step, jump)| {
                at += if jump { 300.0 * step } else { step };
                at
            });
            walked.collect::<Vec<f64>>()
        },
    );
    prop_oneof![walk, prop::collection::vec(-200.0..200.0f64, rows)]
}

/// Columns of several types, with a resolution and without.
pub fn table() -> impl Strategy<Value = Table> {
    (0..3000usize)
        .prop_flat_map(|rows| {
            let bytes = prop::collection::vec(any::<u8>(), rows);
            let words = prop::collection::vec(any::<u32>(), rows);
            let bits = prop::option::of(prop::collection::vec(any::<u8>(), rows.div_ceil(8)));
            (numbers(rows), numbers(rows), numbers(rows), bytes, words, bits)
        })
        .prop_map(|(a, b, c, bytes, words, bits)| {
            let rows = a.len();
            let single = |list: &[f64]| list.iter().map(|value| *value as f32).collect();
            let mut table = Table {
                columns: vec![
                    column("x", Some(1e-3), Values::F64(a)),
                    column("y", Some(1e-3), Values::F32(single(&b))),
                    column("free", None, Values::F64(c)),
                    column("intensity", None, Values::U8(bytes)),
                    column("t", None, Values::U32(words)),
                ],
            };
            for column in table.columns.iter_mut().step_by(2) {
                column.present = bits.clone().unwrap_or_default();
                if let (Some(last), 1..) = (column.present.last_mut(), rows % 8) {
                    *last &= (1 << (rows % 8)) - 1;
                }
            }
            table
        })
}

/// What came back of a table, through a reduction that has had others before.
pub fn through(row: ReductionRow, tables: &[&Table]) -> anyhow::Result<Table> {
    let mut reduction = row.create(&build_folder())?;
    let (mut out, mut back) = (Vec::new(), Table::default());
    for table in tables {
        reduction.encode(table, &mut out)?;
        reduction.decode(&out, &mut back)?;
    }
    Ok(back)
}
