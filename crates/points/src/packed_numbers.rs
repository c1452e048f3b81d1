//! Columns of the packed field in the types that they have there.

use wiregauge_packed as packed;
use wiregauge_packed::{Element, Half, Number};

use crate::column::Values;

/// Numbers in their own type. Tables have none of two bytes with a point, so these take four,
/// which hold their values; integers of 64 bits with a sign become doubles, and scaled ones
/// their values. None of what has no elements that are known.
pub fn unpack_numbers(column: &packed::Values, rows: usize) -> Option<Values> {
    if let Some(scale) = column.scale {
        return unpack_scaled(column, rows, scale);
    }
    let element = column.element?;
    Some(match element {
        Element::F64 => Values::F64(column.to_vec(rows)?),
        Element::F32 => Values::F32(column.to_vec(rows)?),
        Element::F16 => {
            let halves = column.to_vec::<Half>(rows)?.into_iter();
            Values::F32(halves.map(|half| half.to_f64() as f32).collect())
        }
        Element::I64 => Values::F64(convert(column.to_vec::<i64>(rows)?, |value| value as f64)),
        Element::U64 | Element::U32 | Element::U16 | Element::U8 => {
            unpack_unsigned(column, element, rows)?
        }
        Element::I32 | Element::I16 | Element::I8 => unpack_signed(column, element, rows)?,
        Element::None => return None,
    })
}

/// Scaled integers as their values: each message may have an offset and a scale of its own.
fn unpack_scaled(column: &packed::Values, rows: usize, scale: (f64, f64)) -> Option<Values> {
    fn raw<T: Number + Default>(
        column: &packed::Values,
        rows: usize,
        (offset, scale): (f64, f64),
        into: impl Fn(T) -> f64,
    ) -> Option<Values> {
        let raw = column.to_vec::<T>(rows)?.into_iter();
        Some(Values::F64(raw.map(|raw| offset + scale * into(raw)).collect()))
    }
    match column.element? {
        Element::U64 => raw(column, rows, scale, |value: u64| value as f64),
        Element::U32 => raw::<u32>(column, rows, scale, f64::from),
        Element::U16 => raw::<u16>(column, rows, scale, f64::from),
        Element::U8 => raw::<u8>(column, rows, scale, f64::from),
        Element::I64 => raw(column, rows, scale, |value: i64| value as f64),
        Element::I32 => raw::<i32>(column, rows, scale, f64::from),
        Element::I16 => raw::<i16>(column, rows, scale, f64::from),
        Element::I8 => raw::<i8>(column, rows, scale, f64::from),
        _ => None,
    }
}

/// Numbers without a sign; none of others.
pub fn unpack_unsigned(column: &packed::Values, element: Element, rows: usize) -> Option<Values> {
    Some(match element {
        Element::U64 => Values::U64(column.to_vec(rows)?),
        Element::U32 => Values::U32(column.to_vec(rows)?),
        Element::U16 => Values::U16(column.to_vec(rows)?),
        Element::U8 => Values::U8(column.to_vec(rows)?),
        _ => return None,
    })
}

/// Numbers with a sign; none of others.
pub fn unpack_signed(column: &packed::Values, element: Element, rows: usize) -> Option<Values> {
    Some(match element {
        Element::I32 => Values::I32(column.to_vec(rows)?),
        Element::I16 => Values::I16(column.to_vec(rows)?),
        Element::I8 => Values::I8(column.to_vec(rows)?),
        _ => return None,
    })
}

/// The same in another type.
pub fn convert<T, V>(raw: Vec<T>, into: impl Fn(T) -> V) -> Vec<V> {
    raw.into_iter().map(into).collect()
}
