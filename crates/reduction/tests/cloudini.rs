//! cloudini's rows, where it is installed: what they give back, and what they refuse. They are
//! asked for by --ignored, as nothing here brings cloudini.

mod support;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use wiregauge_points::Values;
use wiregauge_reduction::deviation::deviations;
use wiregauge_reduction::reduction::Fidelity;
use wiregauge_reduction::row::ReductionRow;
use wiregauge_reduction::table::{Column, Table};

use support::{build_folder, column, table, through};

const ROWS: [&str; 3] = ["cloudini", "cloudini-lz4", "cloudini-zstd"];

fn row(id: &str) -> ReductionRow {
    let row = ReductionRow::find(id).unwrap();
    assert_eq!(row.shim().unwrap().missing_requirement(), None, "{id}");
    row
}

/// What f32 costs that is computed in f32: four roundings.
fn rounding(column: &Column) -> f64 {
    match &column.values {
        Values::F32(list) => {
            list.iter().fold(0f64, |most, v| most.max(f64::from(v.abs()))) * 0.5f64.powi(22)
        }
        _ => 0.0,
    }
}

/// Holds that nothing is off by more than half of the resolution, and what is rounded in f32.
fn holds(id: &str, tables: &[&Table]) {
    let sent = tables.last().unwrap();
    let back = through(row(id), tables).unwrap_or_else(|error| panic!("{id}: {error:#}"));
    let told = deviations(sent, &back, Fidelity::Resolution);
    for told in told.unwrap_or_else(|error| panic!("{id}: {error:#}")) {
        let column = sent.columns.iter().find(|column| column.name == told.column).unwrap();
        assert!(told.largest <= told.allowed + rounding(column), "{id}: {told:?}");
    }
}

#[test]
#[ignore = "wants WIREGAUGE_CLOUDINI"]
fn what_is_kept_comes_back() {
    let mut runner = TestRunner::new(ProptestConfig { cases: 24, ..ProptestConfig::default() });
    let outcome = runner.run(&(table(), table()), |(first, second)| {
        ROWS.into_iter().for_each(|id| holds(id, &[&first, &second]));
        Ok(())
    });
    outcome.unwrap();
}

/// A scan whose leading three columns cloudini takes at once, with what is no number among them.
fn scan(points: usize) -> Table {
    let values = |factor: f64, odd: usize| {
        let value = move |p: usize| (p as f64 * 0.0061 * factor).sin() * 30.0 * factor;
        let value = move |p: usize| if p % 97 == odd { f64::NAN } else { value(p) };
        (0..points).map(value).collect::<Vec<f64>>()
    };
    let single = |list: Vec<f64>| Values::F32(list.iter().map(|v| *v as f32).collect());
    let columns = vec![
        column("x", Some(1e-3), single(values(1.0, 3))),
        column("y", Some(5e-3), single(values(1.1, 3))),
        column("z", Some(1.234_567_89e-3), single(values(0.3, 50))),
        column(
            "time",
            Some(6.671_281_9e-12),
            Values::F64((0..points).map(|p| p as f64 * 1e-11).collect()),
        ),
        column("strength", Some(0.1), Values::F64(values(2.0, 200))),
        column("ring", None, Values::U16((0..points).map(|p| (p % 128) as u16).collect())),
        column("t", None, Values::U32((0..points).map(|p| p as u32 % 2048 * 48_811).collect())),
        column("flag", None, Values::I8((0..points).map(|p| (p % 256) as u8 as i8).collect())),
        column("all", None, Values::U64((0..points as u64).map(|p| p << 40).collect())),
    ];
    Table { columns }
}

#[test]
#[ignore = "wants WIREGAUGE_CLOUDINI"]
fn few_points_and_many_come_back() {
    for id in ROWS {
        let tables = [0, 1, 2, 100_000, 3, 0, 32_768, 32_769].map(scan);
        for until in 1..=tables.len() {
            holds(id, &tables[..until].iter().collect::<Vec<_>>());
        }
    }
}

/// One encoder does for clouds of the same fields, and no others.
#[test]
#[ignore = "wants WIREGAUGE_CLOUDINI"]
fn other_columns_and_resolutions_may_follow() {
    let all = scan(500);
    let some = Table { columns: all.columns[2..5].to_vec() };
    let mut finer = all.clone();
    finer.columns[0].resolution = Some(1e-4);
    for id in ROWS {
        for tables in [[&all, &some, &all], [&all, &finer, &all], [&all, &all, &finer]] {
            (1..=3).for_each(|until| holds(id, &tables[..until]));
        }
    }
}

#[test]
#[ignore = "wants WIREGAUGE_CLOUDINI"]
fn what_has_no_resolution_keeps_every_bit() {
    let ends = |low: i64, high: i64| (0..5000).map(move |p| if p % 3 == 0 { low } else { high });
    let columns = vec![
        column("a", None, Values::F32((0..5000).map(|p| f32::from_bits(p * 858_993)).collect())),
        column("b", None, Values::F64((0..5000).map(|p| f64::from_bits(p << 50)).collect())),
        column(
            "c",
            None,
            Values::I32(ends(i32::MIN.into(), i32::MAX.into()).map(|v| v as i32).collect()),
        ),
        column("d", None, Values::U32(ends(0, u32::MAX.into()).map(|v| v as u32).collect())),
        column("e", None, Values::I16(ends(-32768, 32767).map(|v| v as i16).collect())),
        column("f", None, Values::U8(ends(0, 255).map(|v| v as u8).collect())),
    ];
    let table = Table { columns };
    for id in ROWS {
        let back = through(row(id), &[&table]).unwrap();
        deviations(&table, &back, Fidelity::Everything)
            .unwrap_or_else(|error| panic!("{id}: {error}"));
    }
}

#[test]
#[ignore = "wants WIREGAUGE_CLOUDINI"]
fn what_cannot_be_said_is_refused_with_its_column() {
    let of = |resolution, values| Table { columns: vec![column("x", Some(resolution), values)] };
    for (table, word) in [
        (of(1e-3, Values::F64(vec![0.0, f64::INFINITY])), "infinity"),
        (of(1e-3, Values::F32(vec![0.0, f32::NEG_INFINITY])), "infinity"),
        (of(1e-3, Values::F64(vec![0.0, 1e300])), "2^51"),
        (of(1e-3, Values::F32(vec![0.0, 1.1e6])), "2^30"),
        (of(1e-35, Values::F64(vec![0.0])), "f32"),
    ] {
        for id in ROWS {
            let mut reduction = row(id).create(&build_folder()).unwrap();
            let told = reduction.admit(&table).unwrap_err().to_string();
            assert!(told.starts_with("x: ") && told.contains(word), "{id}: {told}");
        }
    }
}

#[test]
#[ignore = "wants WIREGAUGE_CLOUDINI"]
fn what_is_cut_short_is_refused() {
    let table = scan(3000);
    for id in ROWS {
        let mut reduction = row(id).create(&build_folder()).unwrap();
        let mut out = Vec::new();
        reduction.encode(&table, &mut out).unwrap();
        assert!(2 * out.len() < table.size(), "{id}: {}", out.len());
        for size in [0, 1, 30, 500, out.len() / 2] {
            let back = reduction.decode(&out[..size], &mut Table::default());
            assert!(back.is_err(), "{id} of {size} bytes");
        }
    }
}
