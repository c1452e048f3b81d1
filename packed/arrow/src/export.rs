//! A field's columns as an array of structures, which is a record batch to Arrow.

use std::ffi::{c_void, CStr, CString};
use std::ptr;
use std::sync::Arc;

use wiregauge_packed::{Element, Half, Number, Values, View};

use crate::interface::{ArrowArray, ArrowSchema, Children, NULLABLE};

/// What keeps the bytes of a field.
type Owner = Arc<dyn Send + Sync>;

/// What a schema lets go.
struct SchemaParts {
    name: CString,
    children: Children<ArrowSchema>,
}

/// What an array lets go.
struct ArrayParts {
    /// Its bits of presence, null where every row has a value, and its elements.
    buffers: [*const c_void; 2],
    children: Children<ArrowArray>,
    /// The bytes of the field, where some lie in place.
    _owner: Option<Owner>,
    /// The elements where they do not: a vector of them.
    _elements: Option<Box<dyn Send>>,
}

/// All columns of a field that the message keeps; columns of a later version are left out.
/// Scaled columns are doubles in OSI's unit, columns without elements say as booleans which
/// rows have the message. `open` finds the field: [`View::open`] where the message is one, or
/// what takes it out of [`wiregauge_packed::first`].
///
/// The message is kept until the last array is released.
///
/// # Errors
///
/// Those of `open`.
pub fn to_arrow<B, O, E>(message: Arc<B>, open: O) -> Result<(ArrowSchema, ArrowArray), E>
where
    B: AsRef<[u8]> + Send + Sync + 'static,
    O: for<'a> FnOnce(&'a [u8]) -> Result<View<'a>, E>,
{
    let view = open((*message).as_ref())?;
    let owner: Owner = message.clone();
    let mut schemas = Children::default();
    let mut arrays = Children::default();
    for column in view.columns() {
        let Some(element) = column.element else { continue };
        let marks = element == Element::None;
        let bitmap = column.bitmap.filter(|_| !marks);
        let bits = bitmap.map_or(ptr::null(), |bits| bits.as_ptr().cast());
        // Names are printable ASCII.
        let name = CString::new(column.name).unwrap_or_default();
        schemas.add(schema(name, format(column, element), bitmap.is_some(), Children::default()));
        let (elements, owned) = elements(column, element, view.rows());
        arrays.add(array(
            ArrayParts {
                buffers: [bits, elements],
                children: Children::default(),
                _owner: Some(owner.clone()),
                _elements: owned,
            },
            view.rows(),
            2,
        ));
    }
    let buffers = [ptr::null(); 2];
    let parts = ArrayParts { buffers, children: arrays, _owner: None, _elements: None };
    Ok((schema(CString::default(), c"+s", false, schemas), array(parts, view.rows(), 1)))
}

fn schema(
    name: CString,
    format: &'static CStr,
    is_nullable: bool,
    children: Children<ArrowSchema>,
) -> ArrowSchema {
    let mut parts = Box::new(SchemaParts { name, children });
    ArrowSchema {
        format: format.as_ptr(),
        name: parts.name.as_ptr(),
        metadata: ptr::null(),
        flags: if is_nullable { NULLABLE } else { 0 },
        n_children: parts.children.count(),
        children: parts.children.addresses(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

fn array(parts: ArrayParts, rows: usize, buffers: i64) -> ArrowArray {
    let mut parts = Box::new(parts);
    ArrowArray {
        length: rows as i64,
        // How many are null nobody has counted.
        null_count: if parts.buffers[0].is_null() { 0 } else { -1 },
        offset: 0,
        n_buffers: buffers,
        n_children: parts.children.count(),
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.addresses(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// Lets go what belongs to a schema.
///
/// # Safety
///
/// It is one that [`schema()`] made, where it was moved to, and is called once.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the private data are the box that `schema` took apart.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<SchemaParts>()));
        (*schema).release = None;
        (*schema).private_data = ptr::null_mut();
    }
}

/// Lets go what belongs to an array.
///
/// # Safety
///
/// It is one that [`array()`] made, where it was moved to, and is called once.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the private data are the box that `array` took apart.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<ArrayParts>()));
        (*array).release = None;
        (*array).private_data = ptr::null_mut();
    }
}

fn format(column: &Values<'_>, element: Element) -> &'static CStr {
    if column.scale.is_some() {
        return c"g";
    }
    match element {
        Element::None => c"b",
        Element::F64 => c"g",
        Element::F32 => c"f",
        Element::F16 => c"e",
        Element::U64 => c"L",
        Element::U32 => c"I",
        Element::U16 => c"S",
        Element::U8 => c"C",
        Element::I64 => c"l",
        Element::I32 => c"i",
        Element::I16 => c"s",
        Element::I8 => c"c",
    }
}

type Elements = (*const c_void, Option<Box<dyn Send>>);

/// The elements as Arrow wants them, and what keeps them where they do not lie in place.
fn elements(column: &Values<'_>, element: Element, rows: usize) -> Elements {
    match element {
        Element::None => match column.bitmap {
            Some(bits) => (bits.as_ptr().cast(), None),
            None => owned(vec![0xffu8; rows.div_ceil(8)]),
        },
        Element::F64 => typed_elements::<f64>(column, rows),
        Element::F32 => typed_elements::<f32>(column, rows),
        Element::F16 => typed_elements::<Half>(column, rows),
        Element::U64 => typed_elements::<u64>(column, rows),
        Element::U32 => typed_elements::<u32>(column, rows),
        Element::U16 => typed_elements::<u16>(column, rows),
        Element::U8 => typed_elements::<u8>(column, rows),
        Element::I64 => typed_elements::<i64>(column, rows),
        Element::I32 => typed_elements::<i32>(column, rows),
        Element::I16 => typed_elements::<i16>(column, rows),
        Element::I8 => typed_elements::<i8>(column, rows),
    }
}

fn typed_elements<T: Number + Send + 'static>(column: &Values<'_>, rows: usize) -> Elements {
    if let Some((offset, scale)) = column.scale {
        let mut raw = [T::from_bits(0); BLOCK];
        let mut values = Vec::with_capacity(rows);
        for first in (0..rows).step_by(BLOCK) {
            let raw = &mut raw[..BLOCK.min(rows - first)];
            assert!(column.read(first, raw), "the type is the column's");
            values.extend(raw.iter().map(|raw| offset + scale * number(*raw)));
        }
        return owned(values);
    }
    let at = column.data.as_ptr();
    let is_there = cfg!(target_endian = "little") && at.cast::<T>().is_aligned() && rows > 0;
    if is_there && !column.is_reduced() {
        return (at.cast(), None);
    }
    let mut values = vec![T::from_bits(0); rows];
    assert!(column.read(0, &mut values), "the type is the column's");
    owned(values)
}

/// An integer as near as a double can be.
fn number<T: Number>(raw: T) -> f64 {
    match T::ELEMENT {
        Element::U64 => raw.bits() as u64 as f64,
        _ => raw.bits() as f64,
    }
}

/// Rows that are decoded at once.
const BLOCK: usize = 1024;

fn owned<T: Send + 'static>(values: Vec<T>) -> Elements {
    (values.as_ptr().cast(), Some(Box::new(values)))
}
