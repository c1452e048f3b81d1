//! Scans of a plane as points: a ray each angle.

use crate::column::{Column, Values};

/// What a scan says of its rays.
pub struct Rays {
    /// In rad, about the axis z.
    pub angles: Vec<f64>,
    /// In m, as float or double; so are the positions.
    pub ranges: Values,
    /// None where it does not say them.
    pub intensities: Option<Values>,
    /// Which rays met something: the others have no position.
    pub present: Vec<bool>,
}

impl Rays {
    /// A point for each ray: the columns that are wanted.
    pub fn into_columns(self, wanted: &dyn Fn(&str) -> bool) -> Vec<Column> {
        let Rays { angles, ranges, intensities, present } = self;
        let on_axis = |axis: fn(f64) -> f64| {
            let value = |ray: usize, range: f64| match present[ray] {
                true => range * axis(angles[ray]),
                false => f64::NAN,
            };
            match &ranges {
                Values::F32(list) => {
                    let list = list.iter().map(|range| f64::from(*range)).enumerate();
                    Values::F32(list.map(|(ray, range)| value(ray, range) as f32).collect())
                }
                Values::F64(list) => {
                    let list = list.iter().enumerate();
                    Values::F64(list.map(|(ray, range)| value(ray, *range)).collect())
                }
                other => unreachable!("ranges are floats, not {:?}", other.kind()),
            }
        };
        let positions =
            [("x", on_axis(f64::cos)), ("y", on_axis(f64::sin)), ("z", on_axis(|_| 0.0))];
        let absent = present.contains(&false).then_some(present);
        let position = |(name, values)| (name, "m", values, absent.clone());
        let columns = positions
            .map(position)
            .into_iter()
            .chain([("angle", "rad", Values::F64(angles), None), ("range", "m", ranges, None)]);
        let columns = columns.chain(intensities.map(|values| ("intensity", "", values, None)));
        columns
            .filter(|(name, ..)| wanted(name))
            .map(|(name, unit, values, present)| Column {
                name: name.into(),
                unit,
                values,
                present,
            })
            .collect()
    }
}
