//! What is reduced: columns of points.

use anyhow::{bail, ensure, Context, Result};
use serde::{Deserialize, Serialize};
use wiregauge_packed::Element;
use wiregauge_points::{each, Type, Values};

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty where none is known.
    pub unit: String,
    /// The resolution that is enough, in that unit; none where every bit is wanted.
    pub resolution: Option<f64>,
    /// A value for each row; that of a row that has none means nothing.
    pub values: Values,
    /// A bit for each row that has a value, the lowest of a byte first; empty where all have.
    pub present: Vec<u8>,
}

impl Column {
    /// Whether a row has a value.
    pub fn has(&self, row: usize) -> bool {
        self.present.is_empty() || self.present[row / 8] >> (row % 8) & 1 != 0
    }

    /// The bits of its rows; none where all have a value.
    pub fn presence(&self) -> Option<&[u8]> {
        Some(&self.present[..]).filter(|bits| !bits.is_empty())
    }
}

/// Columns of as many rows each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
}

const TYPES: [(&str, Type); 9] = [
    ("i8", Type::I8),
    ("u8", Type::U8),
    ("i16", Type::I16),
    ("u16", Type::U16),
    ("i32", Type::I32),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("f32", Type::F32),
    ("f64", Type::F64),
];

/// A type by its code.
pub fn type_from_code(code: u8) -> Option<Type> {
    TYPES.get(usize::from(code)).map(|(_, kind)| *kind)
}

/// The code of a type.
pub fn type_code(kind: Type) -> u8 {
    TYPES.iter().position(|(_, known)| *known == kind).expect("all of them") as u8
}

/// What a type is called: `f32`.
pub fn type_name(kind: Type) -> &'static str {
    TYPES[usize::from(type_code(kind))].0
}

/// The type in the packed field's words.
pub fn element(kind: Type) -> Element {
    match kind {
        Type::I8 => Element::I8,
        Type::U8 => Element::U8,
        Type::I16 => Element::I16,
        Type::U16 => Element::U16,
        Type::I32 => Element::I32,
        Type::U32 => Element::U32,
        Type::U64 => Element::U64,
        Type::F32 => Element::F32,
        Type::F64 => Element::F64,
    }
}

/// What is said of the columns before their bytes.
#[derive(Serialize, Deserialize)]
struct TableHead {
    rows: usize,
    columns: Vec<HeadColumn>,
}

#[derive(Serialize, Deserialize)]
struct HeadColumn {
    name: String,
    unit: String,
    resolution: Option<f64>,
    code: u8,
    optional: bool,
}

impl Table {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Bytes of the values as they lie in memory, and of the bits that say which are there.
    pub fn size(&self) -> usize {
        let size = |column: &Column| {
            column.values.len() * column.values.kind().size() + column.present.len()
        };
        self.columns.iter().map(size).sum()
    }

    /// The canonical bytes: a line that says the columns, then of each its values, and which
    /// rows have one.
    pub fn to_bytes(&self) -> Vec<u8> {
        let columns = self.columns.iter().map(|column| HeadColumn {
            name: column.name.clone(),
            unit: column.unit.clone(),
            resolution: column.resolution,
            code: type_code(column.values.kind()),
            optional: column.presence().is_some(),
        });
        let head = TableHead { rows: self.rows(), columns: columns.collect() };
        let mut out = serde_json::to_vec(&head).expect("names and numbers");
        out.push(b'\n');
        for column in &self.columns {
            each!(&column.values, list => out.extend_from_slice(bytemuck::cast_slice(list)));
            out.extend_from_slice(&column.present);
        }
        out
    }

    /// The table of canonical bytes.
    ///
    /// # Errors
    /// When they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Table> {
        let end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .context("the line with the columns is missing")?;
        let head: TableHead = serde_json::from_slice(&bytes[..end])?;
        let mut rest = &bytes[end + 1..];
        let mut table = Table::default();
        for HeadColumn { name, unit, resolution, code, optional } in head.columns {
            let kind =
                type_from_code(code).with_context(|| format!("{name} has an unknown type"))?;
            let bits = if optional { head.rows.div_ceil(8) } else { 0 };
            let size = head.rows.checked_mul(kind.size());
            let Some((own, behind)) = size.and_then(|size| rest.split_at_checked(size)) else {
                bail!("{name} does not have {} values", head.rows)
            };
            let Some((present, behind)) = behind.split_at_checked(bits) else {
                bail!("{name} does not have the bits of {} rows", head.rows)
            };
            rest = behind;
            let mut values = kind.empty_values();
            fill(&mut values, head.rows, own);
            let present = present.to_vec();
            table.columns.push(Column { name, unit, resolution, values, present });
        }
        ensure!(rest.is_empty(), "{} bytes follow the last column", rest.len());
        Ok(table)
    }

    /// Makes room for a column of these rows, in memory that was there before where it can
    /// be; what it holds is anything, and all rows have a value.
    pub fn prepare_column(
        &mut self,
        at: usize,
        name: &str,
        kind: Type,
        rows: usize,
    ) -> &mut Column {
        if self.columns.len() <= at {
            let values = kind.empty_values();
            let (name, unit) = (String::new(), String::new());
            let present = Vec::new();
            self.columns.push(Column { name, unit, resolution: None, values, present });
        }
        let column = &mut self.columns[at];
        column.present.clear();
        if column.name != name {
            name.clone_into(&mut column.name);
        }
        if column.values.kind() != kind {
            column.values = kind.empty_values();
        }
        each!(&mut column.values, list => list.resize(rows, Default::default()));
        column
    }
}

/// Fills a column with the bytes of its values.
fn fill(values: &mut Values, rows: usize, bytes: &[u8]) {
    each!(values, list => {
        list.resize(rows, Default::default());
        bytemuck::cast_slice_mut(list).copy_from_slice(bytes);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_bytes_come_back_and_lies_are_refused() {
        let column = |name: &str, values| Column {
            name: name.into(),
            unit: "m".into(),
            resolution: Some(1e-3),
            values,
            present: Vec::new(),
        };
        let mut table = Table {
            columns: vec![
                column("x", Values::F64(vec![1.5, -0.0])),
                column("ring", Values::U8(vec![1, 2])),
                column("t", Values::U64(vec![u64::MAX, 0])),
            ],
        };
        table.columns[1].present = vec![0b10];
        let bytes = table.to_bytes();
        assert_eq!(Table::from_bytes(&bytes).unwrap(), table);
        for wrong in [&bytes[..bytes.len() - 1], &bytes[..5], &[&bytes[..], b"x"].concat()] {
            assert!(Table::from_bytes(wrong).is_err());
        }
        assert_eq!((table.rows(), table.size()), (2, 35));
        assert!(!table.columns[1].has(0) && table.columns[1].has(1) && table.columns[0].has(0));
    }
}
