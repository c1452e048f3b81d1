//! Rows that changed places.

use anyhow::{ensure, Result};
use wiregauge_points::each;

use crate::table::{type_code, Table};

/// Holds that both have the same rows to the bit, each as often, in any order.
///
/// # Errors
/// When they have not.
pub fn check_same_rows(one: &Table, other: &Table) -> Result<()> {
    let columns = |table: &Table| -> Vec<(String, u8)> {
        table.columns.iter().map(|c| (c.name.clone(), type_code(c.values.kind()))).collect()
    };
    ensure!(columns(one) == columns(other), "the columns that come back differ");
    ensure!(one.rows() == other.rows(), "{} rows come back as {}", one.rows(), other.rows());
    ensure!(
        sorted_rows(one) == sorted_rows(other),
        "the rows that come back differ from those that were sent"
    );
    Ok(())
}

/// The bytes of each row, sorted.
fn sorted_rows(table: &Table) -> Vec<Vec<u8>> {
    let mut rows = vec![Vec::new(); table.rows()];
    for column in &table.columns {
        each!(&column.values, list => {
            for (row, value) in rows.iter_mut().zip(list) {
                row.extend_from_slice(bytemuck::bytes_of(value));
            }
        });
    }
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use wiregauge_points::Values;

    use super::*;
    use crate::table::Column;

    fn table(x: &[f32], ring: &[u8]) -> Table {
        let column = |name: &str, values| Column {
            name: name.into(),
            unit: String::new(),
            resolution: None,
            values,
            present: Vec::new(),
        };
        let columns =
            vec![column("x", Values::F32(x.into())), column("ring", Values::U8(ring.into()))];
        Table { columns }
    }

    #[test]
    fn only_places_may_change() {
        let sent = table(&[1.0, 2.0, 2.0], &[1, 2, 2]);
        check_same_rows(&sent, &table(&[2.0, 1.0, 2.0], &[2, 1, 2])).unwrap();
        for other in [
            table(&[2.0, 1.0, 2.0], &[1, 2, 2]),
            table(&[1.0, 1.0, 2.0], &[1, 1, 2]),
            table(&[1.0, 2.0], &[1, 2]),
            table(&[1.0, 2.0, 2.1], &[1, 2, 2]),
        ] {
            assert!(check_same_rows(&sent, &other).is_err(), "{other:?}");
        }
    }
}
