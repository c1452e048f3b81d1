//! A frame around columns that are coded one by one: what a reader must know of each, some
//! thirty bytes a column, as the formats that tell it themselves have it too.

use anyhow::{ensure, Context, Result};

use crate::reduction::Reduction;
use crate::table::{type_code, type_from_code, Column, Table};

/// Most rows.
pub const LARGEST: usize = (1 << 31) - 1;

/// Codes a column by itself.
pub trait ColumnCoder {
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

impl<C: ColumnCoder> Reduction for Framed<C> {
    fn encode(&mut self, table: &Table, out: &mut Vec<u8>) -> Result<()> {
        write_counts(table, out)?;
        for column in &table.columns {
            write_head(column, out)?;
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
        let (rows, columns) = read_counts(&mut rest)?;
        for at in 0..columns {
            let head = ColumnHead::read(&mut rest, rows)?;
            let size = usize::try_from(u64::from_le_bytes(*array(&mut rest)?))?;
            let own = read_bytes(&mut rest, size)?;
            let column = head.prepare_column(table, at, rows)?;
            self.0.decode(own, column).with_context(|| head.name.to_owned())?;
        }
        table.columns.truncate(columns);
        ensure!(rest.is_empty(), "{} bytes follow the last column", rest.len());
        Ok(())
    }
}

/// Writes how many rows and columns there are, in place of whatever `out` holds from before.
///
/// # Errors
/// When there are more than 255 columns.
pub fn write_counts(table: &Table, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    out.extend_from_slice(&(table.rows() as u64).to_le_bytes());
    out.push(u8::try_from(table.columns.len())?);
    Ok(())
}

/// Reads them.
///
/// # Errors
/// When they are cut short, or too many.
pub fn read_counts(rest: &mut &[u8]) -> Result<(usize, usize)> {
    let rows = usize::try_from(u64::from_le_bytes(*array(rest)?))?;
    ensure!(rows <= LARGEST, "{rows} rows");
    let [columns] = *array(rest)?;
    Ok((rows, columns.into()))
}

/// The bit of a column's type that says that rows may lack a value.
const OPTIONAL: u8 = 0x80;

/// Appends what must be known of a column, and which rows have a value.
///
/// # Errors
/// When its name has more than 255 bytes.
pub fn write_head(column: &Column, out: &mut Vec<u8>) -> Result<()> {
    out.push(u8::try_from(column.name.len())?);
    out.extend_from_slice(column.name.as_bytes());
    let optional = if column.present.is_empty() { 0 } else { OPTIONAL };
    out.push(type_code(column.values.kind()) | optional);
    out.extend_from_slice(&column.resolution.unwrap_or_default().to_le_bytes());
    out.extend_from_slice(&column.present);
    Ok(())
}

/// What must be known of a column.
pub struct ColumnHead<'b> {
    /// Its name.
    pub name: &'b str,
    kind: u8,
    resolution: f64,
    present: &'b [u8],
}

impl<'b> ColumnHead<'b> {
    /// Of the rest.
    ///
    /// # Errors
    /// When it is cut short, or its name no text.
    pub fn read(rest: &mut &'b [u8], rows: usize) -> Result<ColumnHead<'b>> {
        let [length] = *array(rest)?;
        let name = std::str::from_utf8(read_bytes(rest, length.into())?)?;
        let [kind] = *array(rest)?;
        let resolution = f64::from_le_bytes(*array(rest)?);
        let bits = if kind & OPTIONAL == 0 { 0 } else { rows.div_ceil(8) };
        let present = read_bytes(rest, bits)?;
        Ok(ColumnHead { name, kind: kind & !OPTIONAL, resolution, present })
    }

    /// The table's column at this place, with room for so many values.
    ///
    /// # Errors
    /// When there is no such type.
    pub fn prepare_column<'t>(
        &self,
        table: &'t mut Table,
        at: usize,
        rows: usize,
    ) -> Result<&'t mut Column> {
        let name = self.name;
        let kind =
            type_from_code(self.kind).with_context(|| format!("{name} has an unknown type"))?;
        let column = table.prepare_column(at, name, kind, rows);
        column.resolution = (self.resolution > 0.0).then_some(self.resolution);
        column.present.extend_from_slice(self.present);
        Ok(column)
    }
}

fn read_bytes<'b>(rest: &mut &'b [u8], size: usize) -> Result<&'b [u8]> {
    let (own, behind) = rest.split_at_checked(size).context("cut short")?;
    *rest = behind;
    Ok(own)
}

fn array<'b, const SIZE: usize>(rest: &mut &'b [u8]) -> Result<&'b [u8; SIZE]> {
    let (own, behind) = rest.split_first_chunk().context("cut short")?;
    *rest = behind;
    Ok(own)
}
