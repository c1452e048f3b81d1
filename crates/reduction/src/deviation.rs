//! How far a table that came back is from the one that was sent.

use anyhow::{ensure, Result};
use wiregauge_points::{each, Values};

use crate::reduction::Fidelity;
use crate::scalar::Scalar;
use crate::table::{Column, Table};

/// What became of a column with a resolution.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// The column.
    pub column: String,
    /// Its unit.
    pub unit: String,
    /// The largest difference, in that unit.
    pub largest: f64,
    /// What it may be: half of the resolution, and what the column's own type rounds to.
    pub allowed: f64,
}

/// Holds what came back against what was sent, column by column in the order of the rows.
///
/// # Errors
/// When it is no such table: other rows, other columns; where a number comes back as none or
/// none as a number; where a bit is another one and all are to be kept, or the column has no
/// resolution.
pub fn deviations(sent: &Table, back: &Table, keeps: Fidelity) -> Result<Vec<Deviation>> {
    ensure!(
        (sent.rows(), sent.columns.len()) == (back.rows(), back.columns.len()),
        "{} rows of {} columns come back as {} rows of {} columns",
        sent.rows(),
        sent.columns.len(),
        back.rows(),
        back.columns.len()
    );
    let mut deviations = Vec::new();
    for (sent, back) in sent.columns.iter().zip(&back.columns) {
        let name = &sent.name;
        ensure!(*name == back.name, "column {name} comes back as {}", back.name);
        ensure!(sent.present == back.present, "{name} comes back with values in other rows");
        let exact = keeps == Fidelity::Everything || sent.resolution.is_none();
        let largest = match (&sent.values, &back.values) {
            (Values::I8(a), Values::I8(b)) => largest_difference(sent, a, b, exact),
            (Values::U8(a), Values::U8(b)) => largest_difference(sent, a, b, exact),
            (Values::I16(a), Values::I16(b)) => largest_difference(sent, a, b, exact),
            (Values::U16(a), Values::U16(b)) => largest_difference(sent, a, b, exact),
            (Values::I32(a), Values::I32(b)) => largest_difference(sent, a, b, exact),
            (Values::U32(a), Values::U32(b)) => largest_difference(sent, a, b, exact),
            (Values::U64(a), Values::U64(b)) => largest_difference(sent, a, b, exact),
            (Values::F32(a), Values::F32(b)) => largest_difference(sent, a, b, exact),
            (Values::F64(a), Values::F64(b)) => largest_difference(sent, a, b, exact),
            (Values::F64(a), Values::F32(b)) if keeps == Fidelity::ItsType && !exact => {
                let b: Vec<f64> = b.iter().map(|value| f64::from(*value)).collect();
                largest_difference(sent, a, &b, exact)
            }
            (a, b) => anyhow::bail!("{name} of {:?} comes back as {:?}", a.kind(), b.kind()),
        }?;
        if let Some(resolution) = sent.resolution {
            let (column, unit) = (name.clone(), sent.unit.clone());
            let allowed = resolution / 2.0 + rounding(sent);
            deviations.push(Deviation { column, unit, largest, allowed });
        }
    }
    Ok(deviations)
}

/// The largest difference in rows that have a value.
fn largest_difference<T: Scalar>(
    column: &Column,
    sent: &[T],
    back: &[T],
    exact: bool,
) -> Result<f64> {
    let name = &column.name;
    let mut largest = 0.0f64;
    for (row, (a, b)) in sent.iter().zip(back).enumerate() {
        if a.same(*b) || !column.has(row) {
            continue;
        }
        let (a, b) = (a.double(), b.double());
        ensure!(!exact, "{name} of row {row} is {a:e} and comes back as {b:e}");
        if a.is_nan() && b.is_nan() {
            continue;
        }
        let apart = (a - b).abs();
        ensure!(apart.is_finite(), "{name} of row {row} is {a:e} and comes back as {b:e}");
        largest = largest.max(apart);
    }
    Ok(largest)
}

/// By how much the column's own type may miss a value, at most.
fn rounding(column: &Column) -> f64 {
    let largest = each!(&column.values, list => {
        list.iter().map(|value| value.double().abs()).filter(|value| value.is_finite()).fold(0.0, f64::max)
    });
    let places = match column.values {
        Values::F32(_) => 24,
        _ => 53,
    };
    largest * 0.5f64.powi(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(resolution: Option<f64>, values: &[f64]) -> Table {
        let values = Values::F64(values.to_vec());
        let (name, unit) = ("x".into(), "m".into());
        Table { columns: vec![Column { name, unit, resolution, values, present: Vec::new() }] }
    }

    #[test]
    fn the_largest_difference_is_found() {
        let sent = table(Some(0.5), &[1.0, f64::NAN, 8.0]);
        let back = table(None, &[1.25, f64::NAN, 7.5]);
        let told = deviations(&sent, &back, Fidelity::Resolution).unwrap();
        assert_eq!((told[0].largest, told[0].unit.as_str()), (0.5, "m"));
        assert!(told[0].allowed >= 0.25 && told[0].allowed < 0.250_001);
        assert!(deviations(&sent, &back, Fidelity::Everything).is_err());
    }

    #[test]
    fn what_is_no_such_table_is_refused() {
        let sent = table(Some(0.5), &[1.0, f64::INFINITY]);
        for back in
            [&[1.0][..], &[1.0, f64::NAN], &[1.0, f64::NEG_INFINITY], &[f64::NAN, f64::INFINITY]]
        {
            assert!(
                deviations(&sent, &table(None, back), Fidelity::Resolution).is_err(),
                "{back:?}"
            );
        }
        let exact = table(None, &[0.0]);
        assert!(deviations(&exact, &table(None, &[-0.0]), Fidelity::Resolution).is_err());
        let mut gap = table(None, &[1.0]);
        gap.columns[0].present = vec![0];
        assert!(deviations(&exact, &gap, Fidelity::Resolution).is_err(), "no value where one was");
        let mut sent = table(None, &[0.0]);
        sent.columns[0].present = vec![0];
        deviations(&sent, &gap, Fidelity::Everything).expect("what is absent means nothing");
        let mut other = table(None, &[0.0]);
        other.columns[0].name = "y".into();
        assert!(deviations(&exact, &other, Fidelity::Resolution).is_err());
    }
}
