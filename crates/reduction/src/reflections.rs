//! Points as a simulation's lidar has them: a time of flight and a signal strength each.

use anyhow::{Context, Result};
use wiregauge_points::{each, Values};

use crate::scalar::Scalar;
use crate::table::{Column, Table};

/// m/s.
const LIGHT: f64 = 299_792_458.0;

/// Columns that say how strong an echo was, in the names that sensors give them.
const STRENGTHS: [&str; 4] = ["intensity", "signal", "reflectivity", "i"];

/// A range in m and a strength of any unit, as time of flight in s and signal strength in dB.
pub fn reflection(range: f64, strength: f64) -> (f64, f64) {
    (2.0 * range / LIGHT, 10.0 * strength.log10())
}

/// The table of the two columns.
pub fn reflections(times: Values, strengths: Values) -> Table {
    let column = |name: &str, unit: &str, values| Column {
        name: name.into(),
        unit: unit.into(),
        resolution: None,
        values,
        present: Vec::new(),
    };
    let columns =
        vec![column("time_of_flight", "s", times), column("signal_strength", "dB", strengths)];
    Table { columns }
}

/// The points of a cloud as reflections that its sensor got: of `x`, `y` and `z` the distance,
/// of the strength its logarithm, where 1 stands for less.
///
/// # Errors
/// When it lacks one of them.
pub fn reflections_of_points(cloud: &Table) -> Result<Table> {
    let whole = |column: &&Column| column.present.is_empty();
    let column = |names: &[&str]| {
        let found = names
            .iter()
            .find_map(|name| cloud.columns.iter().filter(whole).find(|c| c.name == *name));
        found.map(|column| each!(&column.values, list => list.iter().map(|v| v.double()).collect::<Vec<f64>>()))
    };
    let [x, y, z] = ["x", "y", "z"].map(|name| {
        column(&[name])
            .with_context(|| format!("--as-reflections needs the column {name} in every row"))
    });
    let (x, y, z) = (x?, y?, z?);
    let strength = column(&STRENGTHS).with_context(|| {
        format!("--as-reflections needs one of the columns {} in every row", STRENGTHS.join(", "))
    })?;
    // Strengths from 0 to 1, as KITTI has them, are 255 times as fine.
    let most = strength.iter().copied().fold(0.0, f64::max);
    let factor = if most > 1.0 { 1.0 } else { 255.0 };
    let (mut times, mut strengths) = (Vec::new(), Vec::new());
    for (((x, y), z), strength) in x.iter().zip(&y).zip(&z).zip(&strength) {
        let range = (x * x + y * y + z * z).sqrt();
        let (time, strength) = reflection(range, (factor * strength).max(1.0) / 255.0);
        times.push(time);
        strengths.push(strength);
    }
    Ok(reflections(Values::F64(times), Values::F64(strengths)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_reflections() {
        let column = |name: &str, values: &[f32]| Column {
            name: name.into(),
            unit: String::new(),
            resolution: None,
            values: Values::F32(values.to_vec()),
            present: Vec::new(),
        };
        let mut cloud =
            Table { columns: vec![column("x", &[3.0]), column("y", &[4.0]), column("z", &[0.0])] };
        assert!(reflections_of_points(&cloud).unwrap_err().to_string().contains("intensity"));
        cloud.columns.push(column("intensity", &[255.0]));
        let table = reflections_of_points(&cloud).unwrap();
        assert_eq!(table.columns[0].values, Values::F64(vec![10.0 / LIGHT]));
        assert_eq!(table.columns[1].values, Values::F64(vec![0.0]));
    }
}
