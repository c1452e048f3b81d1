//! Every row of this program's own on columns that are made up: what it keeps, it gives back.

use proptest::prelude::*;
use wiregauge_points::Values;
use wiregauge_reduction::deviation::deviations;
use wiregauge_reduction::reduction::Fidelity;
use wiregauge_reduction::row::ReductionRow;
use wiregauge_reduction::table::Table;

use crate::support::{build_folder, column, table, through};

/// The rows that this program carries out itself, and that take any columns: OSI's rows for
/// ray tracers have fields of their own, and are tested where they are.
fn rows() -> impl Iterator<Item = ReductionRow> {
    let takes_any = |row: &ReductionRow| row.shim().is_none() && row.entry.name != "osi-raytracer";
    ReductionRow::all().into_iter().filter(takes_any)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_comes_back(first in table(), second in table()) {
        for row in rows() {
            let back = through(row, &[&first, &second]);
            let back = back.map_err(|error| TestCaseError::fail(format!("{}: {error:#}", row.id())))?;
            let told = deviations(&second, &back, row.entry.keeps);
            let told = told.map_err(|error| TestCaseError::fail(format!("{}: {error:#}", row.id())))?;
            for told in told {
                let limit = match row.entry.keeps {
                    Fidelity::Everything => 0.0,
                    Fidelity::Resolution => told.allowed,
                    // Of f16: 11 bits of less than a kilometre.
                    Fidelity::ItsType => 0.26,
                };
                prop_assert!(told.largest <= limit, "{}: {told:?}", row.id());
            }
        }
    }
}

/// NaN and infinities come back as they are, or the row says that it cannot carry them.
#[test]
fn what_is_no_number_comes_back_or_is_refused() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1.0, 1e300];
    for odd in odd {
        let values = [1.0, odd, 2.0, 2.0005];
        let table = Table { columns: vec![column("x", Some(1e-3), Values::F64(values.to_vec()))] };
        for row in rows() {
            match through(row, &[&table]) {
                Err(error) => {
                    let told = format!("{error:#}");
                    assert!(told.starts_with('x') || told.contains("'x'"), "{}: {told}", row.id());
                    let finite = odd.is_finite() && odd < 1e10;
                    assert!(!finite, "{} refuses {odd}: {told}", row.id());
                    assert_ne!(row.entry.keeps, Fidelity::Everything, "{}: {told}", row.id());
                }
                // 1e300 is beyond f32, and told by its error.
                Ok(back) => match deviations(&table, &back, row.entry.keeps) {
                    Ok(_) => {}
                    Err(why) => {
                        let narrow = row.entry.keeps == Fidelity::ItsType && odd == 1e300;
                        assert!(narrow, "{} makes {odd} to {back:?}: {why}", row.id());
                    }
                },
            }
        }
    }
}

/// OSI's rows for ray tracers beside the packed field, as docs/packed-osi.md has it: what is made
/// for sixteen floats takes as much in both, and a sensor with two numbers pays for sixteen.
#[test]
fn rows_for_ray_tracers_and_the_packed_field() {
    const ROWS: usize = 10_000;
    let size = |table: &Table, name: &str| {
        let row = ReductionRow::find(name).expect("a row");
        let mut out = Vec::new();
        let mut reduction = row.create(&build_folder()).expect("it can be made");
        reduction.encode(table, &mut out).expect("it can be said");
        println!("{name}: {} bytes for {ROWS} rows", out.len());
        out.len()
    };
    let numbers = |scale: f32| (0..ROWS).map(|row| row as f32 * scale).collect::<Vec<f32>>();
    let names = [
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
    let all = names.iter().map(|name| column(name, None, Values::F32(numbers(0.5))));
    let all = Table { columns: all.collect() };
    let (rows, packed) = (size(&all, "osi-raytracer"), size(&all, "packed"));
    assert_eq!(rows, 64 * ROWS + 13);
    assert!((64 * ROWS..64 * ROWS + 4096).contains(&packed), "{packed} bytes");
    let two = ["time_of_flight", "signal_strength"];
    let two = two.map(|name| column(name, Some(1e-3), Values::F32(numbers(0.25))));
    let two = Table { columns: two.into() };
    let (rows, packed) = (size(&two, "osi-raytracer"), size(&two, "packed"));
    assert_eq!(rows, 64 * ROWS + 13);
    assert!((8 * ROWS..8 * ROWS + 1024).contains(&packed), "{packed} bytes");
}

/// A version that a row names is the one that is built in.
#[test]
fn versions_are_those_of_the_lock() {
    let lock = include_str!("../../../../Cargo.lock");
    let mut named = 0;
    for row in rows() {
        for library in row.library().split(", ").filter(|library| library.contains(' ')) {
            let (name, version) = library.split_once(' ').unwrap();
            named += 1;
            if name == "zstd" {
                assert_eq!(version, zstd::zstd_safe::version_string());
                continue;
            }
            let wanted = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&wanted), "{}: {library}", row.id());
        }
    }
    assert!(named > 20);
}

/// The rows that are to be small are: on a walk of a millimetre's steps each takes less than
/// half of the doubles.
#[test]
fn rows_to_a_resolution_are_smaller() {
    let values = (0..10_000).map(|row| 20.0 + (f64::from(row) * 0.01).sin()).collect();
    let table = Table { columns: vec![column("x", Some(1e-3), Values::F64(values))] };
    for row in rows() {
        let mut out = Vec::new();
        row.create(&build_folder()).unwrap().encode(&table, &mut out).unwrap();
        let small = row.entry.keeps == Fidelity::Resolution;
        assert!(!small || 2 * out.len() < table.size(), "{}: {}", row.id(), out.len());
        assert!(out.len() < table.size() + 1000, "{}: {}", row.id(), out.len());
    }
}

/// Bytes that are cut short are refused.
#[test]
fn what_is_cut_short_is_refused() {
    let values = (0..3000).map(f64::from).collect();
    let table = Table { columns: vec![column("x", Some(1e-3), Values::F64(values))] };
    for row in rows() {
        let mut reduction = row.create(&build_folder()).unwrap();
        let mut out = Vec::new();
        reduction.encode(&table, &mut out).unwrap();
        for size in [0, 1, out.len() / 2] {
            let back = reduction.decode(&out[..size], &mut Table::default());
            assert!(back.is_err(), "{} of {size} bytes", row.id());
        }
    }
}
