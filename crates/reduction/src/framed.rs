//! A frame around columns that are coded one by one: what a reader must know of each, some
//! thirty bytes a column, as the formats that tell it themselves have it too.

use anyhow::{ensure, Context, Result};

use crate::reduction::Reduction;
use crate::table::{code, type_of, Column, Table};

/// Most rows.
pub const LARGEST: usize = (1 << 31) - 1;

/// Codes a column by itself.
pub trait Coder {
    /// Appends its bytes.
    ///
    /// # Errors
    /// When it cannot say the values.
    fn encode(&mut self, column: &Column, out: &mut Vec<u8>) -> Result<()>;

    /// Fills a column, whose type, length and resolution are known.
    ///
    /// # Errors
    /// When these are no such bytes.
    fn decode(&mut self, bytes: &[u8], column: &mut Column) -> Result<()>;
}

/// Columns one behind the other.
pub struct Framed<C>(pub C);

impl<C: Coder> Reduction for Framed<C> {
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.extend_from_slice(&(table.rows() as u64).to_le_bytes());
        out.push(u8::try_from(table.columns.len())?);
        for column in &table.columns {
            out.push(u8::try_from(column.name.len())?);
            out.extend_from_slice(column.name.as_bytes());
            out.push(code(column.values.kind()));
            out.extend_from_slice(&column.resolution.unwrap_or_default().to_le_bytes());
            let length = out.len();
            out.extend_from_slice(&[0; 8]);
            self.0.encode(column, out).with_context(|| column.name.clone())?;
            let size = (out.len() - length - 8) as u64;
            out[length..length + 8].copy_from_slice(&size.to_le_bytes());
        }
        Ok(())
    }

    fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<()> {
        let mut rest = bytes;
        let rows = usize::try_from(u64::from_le_bytes(*array(&mut rest)?))?;
        ensure!(rows <= LARGEST, "{rows} rows");
        let [columns] = *array(&mut rest)?;
        for at in 0..usize::from(columns) {
            let [length] = *array(&mut rest)?;
            let name = std::str::from_utf8(take(&mut rest, length.into())?)?;
            let [kind] = *array(&mut rest)?;
            let resolution = f64::from_le_bytes(*array(&mut rest)?);
            let size = usize::try_from(u64::from_le_bytes(*array(&mut rest)?))?;
            let own = take(&mut rest, size)?;
            let kind = type_of(kind).with_context(|| format!("{name} is of no type"))?;
            let column = table.place(at, name, kind, rows);
            column.resolution = (resolution > 0.0).then_some(resolution);
            self.0.decode(own, column).with_context(|| name.to_owned())?;
        }
        table.columns.truncate(columns.into());
        ensure!(rest.is_empty(), "{} bytes behind the columns", rest.len());
        Ok(())
    }
}

/// So many bytes of the rest.
///
/// # Errors
/// When there are less.
pub fn take<'b>(rest: &mut &'b [u8], size: usize) -> Result<&'b [u8]> {
    let (own, behind) = rest.split_at_checked(size).context("cut short")?;
    *rest = behind;
    Ok(own)
}

/// A number's bytes of the rest.
///
/// # Errors
/// When there are less.
pub fn array<'b, const SIZE: usize>(rest: &mut &'b [u8]) -> Result<&'b [u8; SIZE]> {
    let (own, behind) = rest.split_first_chunk().context("cut short")?;
    *rest = behind;
    Ok(own)
}
