//! Draco's rows: no value is off by more than half of the resolution, whatever Draco rounds; the
//! tree gives the same points in another order; and what cannot be said is refused with its column.

mod support;

use proptest::prelude::*;
use wiregauge_points::Values;
use wiregauge_reduction::deviation::{deviations, Deviation};
use wiregauge_reduction::reduction::Fidelity;
use wiregauge_reduction::row::ReductionRow;
use wiregauge_reduction::table::{Column, Table};

use support::{build_folder, column, table, through};

const ROWS: [&str; 2] = ["draco", "draco-kd"];
const TREE: &str = "draco-kd";

/// What the judge of a run does, with tables that the reduction has had before.
fn proven(row: &str, tables: &[&Table]) -> anyhow::Result<Vec<Deviation>> {
    let row = ReductionRow::find(row).unwrap();
    let sent = tables.last().unwrap();
    let back = through(row, tables)?;
    deviations(sent, &row.restore_order(sent, back, &build_folder())?, Fidelity::Resolution)
}

/// Holds that nothing is off by more than it may be; the largest error of each column.
fn holds(row: &str, tables: &[&Table]) -> Vec<f64> {
    let told = proven(row, tables).unwrap_or_else(|error| panic!("{row}: {error:#}"));
    for told in &told {
        assert!(told.largest <= told.allowed, "{row}: {told:?}");
    }
    told.into_iter().map(|told| told.largest).collect()
}

fn singles(name: &str, resolution: f64, values: impl Iterator<Item = f64>) -> Column {
    column(name, Some(resolution), Values::F32(values.map(|value| value as f32).collect()))
}

/// A scan of rings, each point with its number.
fn scan(points: usize, resolution: f64) -> Table {
    let angle = |point: usize| point as f64 * 0.0061;
    let range =
        |point: usize| 20.0 + 15.0 * (angle(point) * 3.0).sin() + (point % 7) as f64 * 0.013;
    let of = |name: &str, value: fn(f64, f64) -> f64| {
        singles(name, resolution, (0..points).map(|p| value(range(p), angle(p))))
    };
    let number = (0..points as u32).collect();
    let columns = vec![
        column("number", None, Values::U32(number)),
        of("y", |range, angle| range * angle.sin()),
        of("x", |range, angle| range * angle.cos()),
        of("z", |range, _| 0.1 * range - 3.0),
        column("ring", None, Values::U16((0..points).map(|p| (p % 128) as u16).collect())),
        column("heat", None, Values::I8((0..points).map(|p| (p % 200) as u8 as i8).collect())),
    ];
    Table { columns }
}

/// What Draco can say of any table: integers of no wide span, and in the tree no floats without
/// a resolution.
fn fitting(row: &str, mut table: Table) -> Table {
    for column in &mut table.columns {
        if let Values::U32(list) = &mut column.values {
            list.iter_mut().for_each(|value| *value &= 0xf_ffff);
        }
    }
    table.columns.retain(|column| row != TREE || column.name != "free");
    table
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_comes_back(first in table(), second in table()) {
        for row in ROWS {
            let (first, second) = (fitting(row, first.clone()), fitting(row, second.clone()));
            holds(row, &[&first, &second]);
        }
    }

    /// Any place and span at any resolution, in f32 and f64, as a position and apart: within half
    /// of the resolution, or refused because f32 is not fine enough.
    #[test]
    fn every_step_is_fine_enough(
        place in -1e7..1e7f64,
        place_by in -9..1i32,
        span in -6..7i32,
        resolution in -12..2i32,
        mantissa in 1.0..10.0f64,
        shares in prop::collection::vec((-1.0..1.0f64, any::<bool>()), 1..200),
    ) {
        let resolution = mantissa * 10f64.powi(resolution);
        let place = place * 10f64.powi(place_by);
        // Some lie between two steps, where rounding decides.
        let values = || shares.iter().map(|(share, is_between)| {
            let value = place + share * 10f64.powi(span);
            if *is_between { ((value / resolution).floor() + 0.5) * resolution } else { value }
        });
        let xyz = ["x", "y", "z"].map(|name| singles(name, resolution, values()));
        let tables = [
            Table { columns: xyz.into() },
            Table { columns: vec![singles("x", resolution, values())] },
            Table { columns: vec![column("x", Some(resolution), Values::F64(values().collect()))] },
        ];
        for table in tables {
            match proven("draco", &[&table]) {
                Ok(told) => for told in told {
                    prop_assert!(told.largest <= told.allowed, "{told:?}");
                },
                Err(error) => {
                    let told = error.to_string();
                    prop_assert!(told.starts_with("x: ") && told.contains("finer than f32"), "{told}");
                }
            }
        }
    }
}

/// Steps are as wide as they may be, so that Draco is charged no bit too many.
#[test]
fn steps_are_not_finer_than_asked_for() {
    for resolution in [1e-3, 5e-3, 0.25] {
        let table = scan(50_000, resolution);
        for error in holds("draco", &[&table]) {
            assert!(error > 0.49 * resolution && error <= 0.501 * resolution, "{error}");
        }
    }
    let times = (0..50_000).map(|p| 1e-7 + f64::from(p % 4001) * 1.37e-11).collect();
    let times = Table { columns: vec![column("time", Some(6.67e-12), Values::F64(times))] };
    let error = holds("draco", &[&times])[0];
    assert!(error > 0.49 * 6.67e-12 && error <= 0.5 * 6.67e-12, "{error}");
}

#[test]
fn few_points_and_many_come_back() {
    for row in ROWS {
        let tables = [0, 1, 2, 100_000, 3, 0, 5000].map(|points| scan(points, 1e-3));
        for until in 1..=tables.len() {
            holds(row, &tables[..until].iter().collect::<Vec<_>>());
        }
    }
}

#[test]
fn other_columns_and_resolutions_may_follow() {
    let all = scan(500, 1e-3);
    let some = Table { columns: all.columns[2..].to_vec() };
    let mut apart = all.clone();
    apart.columns[1].resolution = Some(1e-4);
    for row in ROWS {
        for tables in [[&all, &some, &all], [&all, &apart, &all], [&some, &all, &apart]] {
            (1..=3).for_each(|until| drop(holds(row, &tables[..until])));
        }
    }
}

#[test]
fn the_tree_alone_changes_places() {
    let table = scan(5000, 1e-3);
    for name in ROWS {
        let row = ReductionRow::find(name).unwrap();
        assert_eq!(row.keeps_order(), name != TREE);
        let back = through(row, &[&table]).unwrap();
        let same = back.columns[0].values == table.columns[0].values;
        assert_eq!(same, row.keeps_order(), "{name}");
    }
}

/// All that lies on one place, far away, and beside what is not quantized.
#[test]
fn hard_columns_come_back() {
    let far =
        |name, by: f64| singles(name, 1e-3, (0..2000).map(move |p| by + f64::from(p % 9) * 0.5));
    let constant = |value: f64| singles("c", 1e-3, (0..2000).map(move |_| value));
    let ends = |kind: Values| column("ends", None, kind);
    let repeat = |ends: [i32; 2]| (0..2000).map(move |p| ends[p % 2]);
    for row in ROWS {
        for columns in [
            vec![far("x", 691_000.0), far("y", 5_334_000.0), far("z", -520.0)],
            vec![far("x", 0.0), far("y", 0.0)],
            vec![constant(0.0)],
            vec![constant(-7.3e8), far("x", 3.0)],
            vec![constant(1.0), ends(Values::I8(repeat([-128, 127]).map(|v| v as i8).collect()))],
            vec![
                constant(1.0),
                ends(Values::I16(repeat([-32768, 32767]).map(|v| v as i16).collect())),
            ],
            vec![constant(1.0), ends(Values::U16(repeat([0, 65535]).map(|v| v as u16).collect()))],
            vec![
                constant(1.0),
                ends(Values::U32(
                    repeat([(1 << 30) - (1 << 27), (1 << 30) - 1]).map(|v| v as u32).collect(),
                )),
            ],
            vec![
                constant(1.0),
                ends(Values::I32(repeat([-(1 << 30), (1 << 27) - 1 - (1 << 30)]).collect())),
            ],
        ] {
            holds(row, &[&Table { columns }]);
        }
    }
    let kept = Table {
        columns: vec![
            column("a", None, Values::F32(vec![f32::NAN, f32::INFINITY, -0.0])),
            column("b", None, Values::F64(vec![f64::NAN, 1e300, 5e-324])),
            column("c", None, Values::U64(vec![u64::MAX, 0, 1 << 63])),
        ],
    };
    let back = through(ReductionRow::find("draco").unwrap(), &[&kept]).unwrap();
    deviations(&kept, &back, Fidelity::Everything).unwrap();
}

#[test]
fn what_cannot_be_said_is_refused_with_its_column() {
    let two = |values: Values| {
        vec![singles("x", 1e-3, [1.0, 2.0].into_iter()), column("w", None, values)]
    };
    let odd = |odd: f64| vec![column("x", Some(1e-3), Values::F64(vec![0.0, 1.0, odd]))];
    let odd_z = |odd: f64| {
        let good = |name| singles(name, 1e-3, [1.0, 2.0].into_iter());
        vec![good("x"), good("y"), singles("z", 1e-3, [odd, 1.0].into_iter())]
    };
    let exact = |values| vec![column("w", None, values)];
    for (columns, rows, words) in [
        (odd(f64::NAN), &ROWS[..], ["x: ", "NaN"]),
        (odd(f64::INFINITY), &ROWS, ["x: ", "infinity"]),
        (odd(f64::NEG_INFINITY), &ROWS, ["x: ", "infinity"]),
        (odd(1e300), &ROWS, ["x: ", "finer than f32"]),
        (odd(1e9), &ROWS, ["x: ", "finer than f32"]),
        (odd_z(f64::NAN), &ROWS, ["z: ", "NaN"]),
        (odd_z(f64::NEG_INFINITY), &ROWS, ["z: ", "infinity"]),
        (odd_z(1e30), &ROWS, ["x: ", ""]),
        (two(Values::U32(vec![1 << 30, 1 << 30])), &ROWS, ["w: ", "2^30"]),
        (two(Values::U32(vec![1 << 27, 0])), &ROWS, ["w: ", "2^27"]),
        (two(Values::I32(vec![i32::MIN; 2])), &ROWS, ["w: ", "2^30"]),
        (two(Values::I32(vec![1 << 26, -(1 << 26)])), &ROWS, ["w: ", "2^27"]),
        (odd_z(3e5), &ROWS, ["x: ", "finer than f32"]),
        (exact(Values::F32(vec![1.0])), &ROWS[1..], ["w: ", "without a resolution"]),
        (exact(Values::F64(vec![1.0])), &ROWS[1..], ["w: ", "without a resolution"]),
        (exact(Values::U64(vec![1])), &ROWS[1..], ["w: ", "64 bits"]),
    ] {
        let table = Table { columns };
        for row in rows {
            let told = match proven(row, &[&table]) {
                Ok(told) => panic!("{row} takes {table:?}: {told:?}"),
                Err(error) => format!("{error:#}"),
            };
            assert!(told.starts_with(words[0]) && told.contains(words[1]), "{row}: {told}");
        }
    }
}

/// A table that is refused leaves nothing behind for the next one.
#[test]
fn after_a_refusal_all_is_well() {
    for row in ROWS {
        let mut reduction = ReductionRow::find(row).unwrap().create(&build_folder()).unwrap();
        let (mut out, mut back) = (Vec::new(), Table::default());
        let mut bad = scan(300, 1e-3);
        bad.columns[1] = singles("y", 1e-3, (0..300).map(|_| f64::NAN));
        assert!(reduction.encode(&bad, &mut out).is_err());
        let good = scan(200, 1e-3);
        reduction.encode(&good, &mut out).unwrap();
        reduction.decode(&out, &mut back).unwrap();
        let back =
            ReductionRow::find(row).unwrap().restore_order(&good, back, &build_folder()).unwrap();
        deviations(&good, &back, Fidelity::Resolution).unwrap();
    }
}

#[test]
fn what_is_cut_short_or_of_another_table_is_refused() {
    let table = scan(3000, 1e-3);
    for row in ROWS {
        let mut reduction = ReductionRow::find(row).unwrap().create(&build_folder()).unwrap();
        let mut out = Vec::new();
        reduction.encode(&table, &mut out).unwrap();
        for size in [0, 1, 30, out.len() / 2] {
            let back = reduction.decode(&out[..size], &mut Table::default());
            assert!(back.is_err(), "{row} of {size} bytes");
        }
        let mut more = out.clone();
        more[0] ^= 1;
        assert!(reduction.decode(&more, &mut Table::default()).is_err(), "{row}: another number");
    }
}

#[test]
fn both_are_smaller() {
    let table = scan(20_000, 1e-3);
    for row in ROWS {
        let mut out = Vec::new();
        ReductionRow::find(row)
            .unwrap()
            .create(&build_folder())
            .unwrap()
            .encode(&table, &mut out)
            .unwrap();
        assert!(2 * out.len() < table.size(), "{row}: {} of {}", out.len(), table.size());
    }
}

/// Which rows have a value cannot be said where the order is lost.
#[test]
fn the_tree_refuses_rows_without_a_value() {
    let mut gap = column("x", Some(1e-3), Values::F64(vec![1.0, 1.0, 2.0]));
    gap.present = vec![0b101];
    let table = Table { columns: vec![gap] };
    for (id, refused) in [("draco", false), ("draco-kd", true)] {
        let mut reduction = ReductionRow::find(id).unwrap().create(&build_folder()).unwrap();
        let admitted = reduction.admit(&table).map_err(|error| error.to_string());
        assert_eq!(admitted.is_err(), refused, "{id}");
        assert!(
            !refused || admitted.unwrap_err().starts_with("x: some rows have no value"),
            "{id}"
        );
    }
}
