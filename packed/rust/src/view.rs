//! Reading a field in place.

use std::marker::PhantomData;
use std::ops::Range;

use crate::blocks::Blocks;
use crate::element::{load_value, Element, Number};
use crate::error::{Error, Fault, Result};
use crate::format::{
    DESCRIPTOR, HEADER, MAGIC, MAXIMUM_COLUMNS, MAXIMUM_ROWS, MAXIMUM_SIZE, REDUCED, SCALED,
    VERSION,
};
use crate::layout::{is_name, is_scale};
use crate::reduce::is_resolution;

/// A field that has been checked.
#[derive(Clone, Debug)]
pub struct View<'a> {
    rows: usize,
    minor: u16,
    columns: Vec<Values<'a>>,
}

/// A column of any element type.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// Its name.
    pub name: &'a str,
    /// The type of its elements; none where that, or a flag, is one of a later version.
    pub element: Option<Element>,
    /// Offset and scale of integers: value = offset + scale × raw.
    pub scale: Option<(f64, f64)>,
    /// Its elements' bytes, not aligned; those that they are reduced to.
    pub data: &'a [u8],
    /// Its presence bitmap; none where every row has a value.
    pub bitmap: Option<&'a [u8]>,
    blocks: Option<Blocks<'a>>,
}

impl<'a> Values<'a> {
    /// Whether its elements are reduced, so that they are not there in place.
    pub fn is_reduced(&self) -> bool {
        self.blocks.is_some()
    }

    /// The resolution that it is reduced to, in the column's unit; none where
    /// every bit is kept.
    pub fn resolution(&self) -> Option<f64> {
        self.blocks.and_then(|blocks| blocks.resolution())
    }

    /// Copies elements from row `first` on, restored where they are reduced and
    /// before their scale; false where the element type is another one.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[must_use]
    pub fn read<T: Number>(&self, first: usize, out: &mut [T]) -> bool {
        if self.element != Some(T::ELEMENT) {
            return false;
        }
        if let Some(blocks) = self.blocks {
            blocks.restore(first..first + out.len(), out);
            return true;
        }
        let bytes = &self.data[first * T::SIZE..][..out.len() * T::SIZE];
        for (value, bytes) in out.iter_mut().zip(bytes.chunks_exact(T::SIZE)) {
            *value = T::load(bytes);
        }
        true
    }

    /// All elements, restored where they are reduced and before their scale; none where the
    /// element type is another one. Elements in place are copied as they are.
    #[must_use]
    pub fn to_vec<T: Number + Default>(&self, rows: usize) -> Option<Vec<T>> {
        if self.element != Some(T::ELEMENT) {
            return None;
        }
        if self.blocks.is_some() {
            let mut elements = vec![T::default(); rows];
            return self.read(0, &mut elements).then_some(elements);
        }
        Some(self.data.chunks_exact(T::SIZE).map(T::load).collect())
    }

    /// Whether a row has a value.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    pub fn present(&self, row: usize) -> bool {
        is_present(self.bitmap, row)
    }

    /// A row's value in OSI's unit; what an absent row has means nothing. NaN
    /// where the element type is unknown or none. Of a reduced column it restores
    /// a whole block: to go through rows, [`Values::read`] them.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn value(&self, row: usize) -> f64 {
        let Some(element) = self.element else { return f64::NAN };
        let raw = match self.blocks {
            None => load_value(element, self.bytes(element, row)),
            Some(blocks) => blocks.value(row),
        };
        self.scale.map_or(raw, |(offset, scale)| offset + scale * raw)
    }

    /// The bytes of a reduced column's elements; none where it is not reduced.
    pub(crate) fn restore_elements(&self) -> Option<Vec<u8>> {
        self.blocks.map(|blocks| blocks.elements())
    }

    /// The same column of elements that have been restored.
    pub(crate) fn with_elements(self, data: &'a [u8]) -> Self {
        Values { data, blocks: None, ..self }
    }

    pub(crate) fn bytes(&self, element: Element, row: usize) -> &[u8] {
        &self.data[row * element.size()..][..element.size()]
    }
}

#[inline]
fn is_present(bitmap: Option<&[u8]>, row: usize) -> bool {
    bitmap.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 != 0)
}

/// A column of one element type, without its scale.
#[derive(Clone, Copy, Debug)]
pub struct ColumnView<'a, T> {
    data: &'a [u8],
    bitmap: Option<&'a [u8]>,
    number: PhantomData<T>,
}

impl<'a, T: Number + 'a> ColumnView<'a, T> {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.data.len() / T::SIZE
    }

    /// A row's element; what an absent row has means nothing.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn get(&self, row: usize) -> T {
        T::load_row(self.data, row)
    }

    /// Whether a row has a value.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn present(&self, row: usize) -> bool {
        is_present(self.bitmap, row)
    }

    /// Whether rows may be absent.
    pub fn is_optional(&self) -> bool {
        self.bitmap.is_some()
    }

    /// The elements of all rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + 'a {
        self.data.chunks_exact(T::SIZE).map(T::load)
    }
}

impl<'a> View<'a> {
    /// Checks everything once, as `docs/packed.md` lists it.
    ///
    /// # Errors
    ///
    /// Every fault from [`Fault::Truncated`] to [`Fault::Scale`],
    /// [`Fault::Element`], [`Fault::Resolution`] and [`Fault::Blocks`], with the column's index and
    /// name where one is meant.
    pub fn open(bytes: &'a [u8]) -> Result<Self> {
        if bytes.len() < HEADER {
            return Err(Fault::Truncated.into());
        }
        if &bytes[..8] != MAGIC {
            return Err(Fault::Magic.into());
        }
        let major = u16::load(&bytes[8..10]);
        if major != VERSION.0 {
            return Err(Error::new(Fault::Version, major.into(), ""));
        }
        let header = usize::from(u16::load(&bytes[12..14]));
        let descriptor = usize::from(u16::load(&bytes[14..16]));
        if header < HEADER || descriptor < DESCRIPTOR {
            return Err(Fault::Header.into());
        }
        let rows = u64::load(&bytes[16..24]);
        let columns = u32::load(&bytes[24..28]) as usize;
        let names = u32::load(&bytes[28..32]);
        if bytes.len() > MAXIMUM_SIZE || rows > MAXIMUM_ROWS || columns > MAXIMUM_COLUMNS {
            return Err(Fault::Limit.into());
        }
        let described = header + columns * descriptor;
        if described as u64 + u64::from(names) > bytes.len() as u64 {
            return Err(Fault::Truncated.into());
        }
        let head = described + names as usize;
        let mut view = View {
            rows: rows as usize,
            minor: u16::load(&bytes[10..12]),
            columns: Vec::with_capacity(columns),
        };
        let mut taken: Vec<[Range<usize>; 2]> = Vec::with_capacity(columns);
        for index in 0..columns {
            let at = &bytes[header + index * descriptor..][..DESCRIPTOR];
            let (values, spans) = describe(bytes, at, described..head, rows, index)?;
            view.columns.push(values);
            taken.push(spans);
        }
        for (index, spans) in taken.iter().enumerate() {
            let name = view.columns[index].name;
            for (other, parts) in view.columns.iter().zip(&taken).take(index) {
                if other.name == name {
                    return Err(Error::new(Fault::Duplicate, index as u32, name));
                }
                if spans.iter().any(|a| parts.iter().any(|b| is_shared(a, b))) {
                    return Err(Error::new(Fault::Overlap, index as u32, name));
                }
            }
        }
        Ok(view)
    }

    /// Rows of the field.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The minor version that it was written by.
    pub fn minor_version(&self) -> u16 {
        self.minor
    }

    /// All columns in their order.
    pub fn columns(&self) -> &[Values<'a>] {
        &self.columns
    }

    /// A column of any element type.
    pub fn values(&self, name: &str) -> Option<Values<'a>> {
        self.columns.iter().find(|column| column.name == name).copied()
    }

    /// The elements of a column in place; none where there is no such column or it
    /// has another element type, an unknown flag or a scale, or is reduced.
    pub fn column<T: Number>(&self, name: &str) -> Option<ColumnView<'a, T>> {
        self.raw_column(name).filter(|_| self.values(name).is_some_and(|all| all.scale.is_none()))
    }

    /// The same for a scaled column: the integers before offset and scale.
    pub fn raw_column<T: Number>(&self, name: &str) -> Option<ColumnView<'a, T>> {
        let Values { data, bitmap, element, blocks, .. } = self.values(name)?;
        (element == Some(T::ELEMENT) && blocks.is_none()).then_some(ColumnView {
            data,
            bitmap,
            number: PhantomData,
        })
    }
}

fn is_shared(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}

/// A column and the places of its elements and its bitmap.
fn describe<'a>(
    bytes: &'a [u8],
    at: &[u8],
    names: Range<usize>,
    rows: u64,
    index: usize,
) -> Result<(Values<'a>, [Range<usize>; 2])> {
    let anonymous = |fault| Error::new(fault, index as u32, "");
    let begin = u64::from(u32::load(&at[40..44]));
    let size = u64::from(u16::load(&at[44..46]));
    if begin + size > names.len() as u64 {
        return Err(anonymous(Fault::Range));
    }
    let name = &bytes[names.start + begin as usize..][..size as usize];
    if !is_name(name) {
        return Err(anonymous(Fault::Name));
    }
    let name = std::str::from_utf8(name).map_err(|_| anonymous(Fault::Name))?;
    let fault = |fault| Error::new(fault, index as u32, name);

    let span = |begin: u64, size: u64| {
        let all = bytes.len() as u64;
        if begin > all || size > all - begin {
            return Err(fault(Fault::Range));
        }
        if begin < names.end as u64 {
            return Err(fault(Fault::Overlap));
        }
        Ok(begin as usize..(begin + size) as usize)
    };
    let size = u64::load(&at[8..16]);
    let data = span(u64::load(&at[..8]), size)?;
    let presence = match u64::load(&at[16..24]) {
        0 => None,
        begin => Some(span(begin, rows.div_ceil(8))?),
    };
    let flags = at[47];
    // Of an element type or flag of a later version nothing more is known.
    let element = Element::from_code(at[46]).filter(|_| flags & !(SCALED | REDUCED) == 0);
    let mut scale = None;
    let mut blocks = None;
    if let Some(element) = element {
        // Both factors are small: rows have been held against their limit.
        if flags & REDUCED == 0 && size != rows * element.size() as u64 {
            return Err(fault(Fault::Range));
        }
        let given = (f64::load(&at[24..32]), f64::load(&at[32..40]));
        if flags & SCALED != 0 {
            if !is_scale(element, given) {
                return Err(fault(Fault::Scale));
            }
            scale = Some(given);
        }
        if flags & REDUCED != 0 {
            let resolution = Some(given.1).filter(|&step| scale.is_none() && step != 0.0);
            if element == Element::None {
                return Err(fault(Fault::Element));
            }
            if resolution.is_some_and(|step| !is_resolution(element, step)) {
                return Err(fault(Fault::Resolution));
            }
            let opened = Blocks::open(&bytes[data.clone()], rows as usize, element, resolution);
            blocks = Some(opened.ok_or_else(|| fault(Fault::Blocks))?);
        }
    }
    let bits = presence.clone().unwrap_or(0..0);
    if is_shared(&data, &bits) {
        return Err(fault(Fault::Overlap));
    }
    let values = Values {
        name,
        element,
        scale,
        data: &bytes[data.clone()],
        bitmap: presence.map(|span| &bytes[span]),
        blocks,
    };
    Ok((values, [data, bits]))
}
