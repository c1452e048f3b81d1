//! Points one behind the other, each of some f32, without a word of what they are.

use anyhow::{ensure, Result};

use crate::column::{unit, Column, Values};

/// The columns of points with these fields.
pub fn columns(bytes: &[u8], names: &[&str]) -> Result<Vec<Column>> {
    let step = 4 * names.len();
    ensure!(
        bytes.len().is_multiple_of(step),
        "{} bytes are not a whole number of points of {step} bytes ({} as f32); KITTI's files end \
         in .bin and have 16 bytes a point, nuScenes' end in .pcd.bin and have 20",
        bytes.len(),
        names.join(", ")
    );
    let column = |(at, name): (usize, &&str)| {
        let value = |point: &[u8]| {
            let at = 4 * at;
            f32::from_le_bytes([point[at], point[at + 1], point[at + 2], point[at + 3]])
        };
        Column {
            name: (*name).to_owned(),
            unit: unit(name),
            values: Values::F32(bytes.chunks_exact(step).map(value).collect()),
            present: None,
        }
    };
    Ok(names.iter().enumerate().map(column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_become_columns_and_parts_of_points_are_refused() {
        let numbers = [1.0f32, 2.0, 3.0, 0.5, -1.0, -2.0, f32::NAN, 0.25];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let names = ["x", "y", "z", "intensity"];
        let columns = columns(&bytes, &names).unwrap();
        assert_eq!(columns[1].values, Values::F32(vec![2.0, -2.0]));
        assert_eq!(columns[3].values, Values::F32(vec![0.5, 0.25]));
        assert_eq!((columns[0].unit, columns[3].unit), ("m", ""));
        let error = super::columns(&bytes[..30], &names).unwrap_err().to_string();
        assert!(error.contains("30 bytes") && error.contains("nuScenes"), "{error}");
        assert!(super::columns(&[], &names).unwrap()[0].values.is_empty());
    }
}
