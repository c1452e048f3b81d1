//! Writing a field in place: where everything lies, and its columns to fill.

use std::marker::PhantomData;
use std::ops::Range;

use crate::element::{store_value, Element, Number};
use crate::error::{Error, Fault, Result};
use crate::format::{
    DESCRIPTOR, HEADER, MAGIC, MAXIMUM_ALIGNMENT, MAXIMUM_COLUMNS, MAXIMUM_NAME, MAXIMUM_ROWS,
    MAXIMUM_SIZE, REDUCED, SCALED, VERSION,
};
use crate::reduce::{is_resolution, Reduced};

/// A column to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// 1 to 255 bytes of printable ASCII without blank, such as `position.distance`.
    pub name: String,
    /// The type of its elements.
    pub element: Element,
    /// Whether there is a presence bitmap.
    pub optional: bool,
    /// Offset and scale of integers: value = offset + scale × raw.
    pub scale: Option<(f64, f64)>,
    /// What its elements are reduced to.
    pub reduced: Option<Extent>,
}

/// What a column's elements are reduced to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// In the column's unit; none where every bit is kept.
    pub resolution: Option<f64>,
    /// Bytes.
    pub size: usize,
}

impl Column {
    /// A column that every row has.
    pub fn new(name: &str, element: Element) -> Self {
        Column { name: name.into(), element, optional: false, scale: None, reduced: None }
    }

    /// A column of doubles that every row has.
    pub fn f64(name: &str) -> Self {
        Column::new(name, Element::F64)
    }

    /// A column whose elements have been reduced.
    pub fn reduced(name: &str, elements: &Reduced) -> Self {
        let extent = Extent { resolution: elements.resolution, size: elements.size() };
        Column { reduced: Some(extent), ..Column::new(name, elements.element) }
    }

    /// Bytes of the elements of so many rows.
    pub(crate) fn size(&self, rows: usize) -> usize {
        self.reduced.map_or(rows * self.element.size(), |extent| extent.size)
    }

    /// The same with a presence bitmap.
    pub fn optional(self) -> Self {
        Column { optional: true, ..self }
    }

    /// The same with value = offset + scale × raw.
    pub fn scaled(self, offset: f64, scale: f64) -> Self {
        Column { scale: Some((offset, scale)), ..self }
    }
}

/// Whether a name is one that a column may have.
pub(crate) fn is_name(name: &[u8]) -> bool {
    (1..=MAXIMUM_NAME).contains(&name.len()) && name.iter().all(|c| (0x21..=0x7e).contains(c))
}

/// Whether a scale is one that a column may have.
pub(crate) fn is_scale(element: Element, (offset, scale): (f64, f64)) -> bool {
    element.is_integer() && scale != 0.0 && scale.is_finite() && offset.is_finite()
}

#[derive(Clone, Debug)]
struct ColumnPlace {
    column: Column,
    // From the first column's first byte, which is aligned.
    data: usize,
    presence: usize,
}

/// Where everything lies in a field of known columns and rows.
#[derive(Clone, Debug)]
pub struct Layout {
    places: Vec<ColumnPlace>,
    rows: usize,
    alignment: usize,
    // Header, descriptors and names; padding; columns.
    head: usize,
    pad: usize,
    body: usize,
}

impl Layout {
    /// Plans a field. Columns lie at multiples of the alignment (a power of two
    /// up to 4096, in bytes), counted from `start` bytes before the field: 0 for
    /// a field by itself.
    ///
    /// # Errors
    ///
    /// [`Fault::Limit`], [`Fault::Name`], [`Fault::Duplicate`], [`Fault::Scale`],
    /// [`Fault::Resolution`] and [`Fault::Element`], with the column's index and name.
    pub fn plan(columns: &[Column], rows: u64, start: usize, alignment: usize) -> Result<Self> {
        if columns.len() > MAXIMUM_COLUMNS
            || rows > MAXIMUM_ROWS
            || alignment > MAXIMUM_ALIGNMENT
            || !alignment.is_power_of_two()
        {
            return Err(Fault::Limit.into());
        }
        let mut layout = Layout {
            places: Vec::with_capacity(columns.len()),
            rows: rows as usize,
            alignment,
            head: HEADER + columns.len() * DESCRIPTOR,
            pad: 0,
            body: 0,
        };
        let mut at = 0u64;
        for (index, column) in columns.iter().enumerate() {
            let fault = |fault| Error::new(fault, index as u32, &column.name);
            if !is_name(column.name.as_bytes()) {
                return Err(fault(Fault::Name));
            }
            if columns[..index].iter().any(|other| other.name == column.name) {
                return Err(fault(Fault::Duplicate));
            }
            if column.scale.is_some_and(|scale| !is_scale(column.element, scale)) {
                return Err(fault(Fault::Scale));
            }
            if let Some(Extent { resolution, size }) = column.reduced {
                if column.element == Element::None {
                    return Err(fault(Fault::Element));
                }
                if size > MAXIMUM_SIZE {
                    return Err(Fault::Limit.into());
                }
                if resolution.is_some_and(|step| !is_resolution(column.element, step)) {
                    return Err(fault(Fault::Resolution));
                }
            }
            layout.head += column.name.len();
            at = at.next_multiple_of(alignment as u64);
            let data = at as usize;
            at += column.size(layout.rows) as u64;
            let mut presence = 0;
            if column.optional {
                at = at.next_multiple_of(alignment.min(8) as u64);
                presence = at as usize;
                at += rows.div_ceil(8);
            }
            if at > MAXIMUM_SIZE as u64 {
                return Err(Fault::Limit.into());
            }
            layout.places.push(ColumnPlace { column: column.clone(), data, presence });
        }
        layout.body = at as usize;
        layout.shift(start);
        if layout.size() > MAXIMUM_SIZE {
            return Err(Fault::Limit.into());
        }
        Ok(layout)
    }

    /// Bytes of the field.
    pub fn size(&self) -> usize {
        self.head + self.pad + self.body
    }

    /// Rows of the field.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Takes all padding away, before the first shift.
    pub(crate) fn remove_padding(&mut self) {
        self.pad = 0;
    }

    /// Adds padding so that the columns are aligned where the field begins
    /// `start` bytes into its message. Never takes any away, so that shifting
    /// it repeatedly while lengths around it grow comes to an end.
    pub(crate) fn shift(&mut self, start: usize) {
        if !self.places.is_empty() {
            let at = start + self.head + self.pad;
            self.pad += at.next_multiple_of(self.alignment) - at;
        }
    }

    /// Writes everything but the columns' elements and gives the columns to fill.
    ///
    /// # Errors
    ///
    /// [`Fault::Buffer`] where the buffer does not have [`Layout::size`] bytes.
    pub fn write<'a>(&'a self, buffer: &'a mut [u8]) -> Result<Table<'a>> {
        if buffer.len() != self.size() {
            return Err(Fault::Buffer.into());
        }
        let base = self.head + self.pad;
        buffer[..base].fill(0);
        buffer[..8].copy_from_slice(MAGIC);
        VERSION.0.store(&mut buffer[8..10]);
        let reduced = self.places.iter().any(|place| place.column.reduced.is_some());
        let minor = if reduced { VERSION.1 } else { 0 };
        minor.store(&mut buffer[10..12]);
        (HEADER as u16).store(&mut buffer[12..14]);
        (DESCRIPTOR as u16).store(&mut buffer[14..16]);
        (self.rows as u64).store(&mut buffer[16..24]);
        (self.places.len() as u32).store(&mut buffer[24..28]);
        let names = HEADER + self.places.len() * DESCRIPTOR;
        ((self.head - names) as u32).store(&mut buffer[28..32]);
        let mut name = 0;
        let mut end = base;
        for (index, place) in self.places.iter().enumerate() {
            let Column { name: text, element, optional, scale, reduced } = &place.column;
            let size = place.column.size(self.rows);
            let resolution = reduced.and_then(|extent| extent.resolution);
            let (offset, factor) = scale.unwrap_or((0.0, resolution.unwrap_or_default()));
            let presence = if *optional { base + place.presence } else { 0 };
            let at = &mut buffer[HEADER + index * DESCRIPTOR..][..DESCRIPTOR];
            ((base + place.data) as u64).store(&mut at[..8]);
            (size as u64).store(&mut at[8..16]);
            (presence as u64).store(&mut at[16..24]);
            offset.store(&mut at[24..32]);
            factor.store(&mut at[32..40]);
            (name as u32).store(&mut at[40..44]);
            (text.len() as u16).store(&mut at[44..46]);
            at[46] = *element as u8;
            at[47] = if scale.is_some() { SCALED } else { 0 };
            at[47] |= if reduced.is_some() { REDUCED } else { 0 };
            buffer[names + name..][..text.len()].copy_from_slice(text.as_bytes());
            name += text.len();
            // Gaps and bitmaps.
            buffer[end..base + place.data].fill(0);
            end = base + place.data + size;
            if *optional {
                let bits = presence + self.rows.div_ceil(8);
                buffer[end..bits].fill(0);
                end = bits;
            }
        }
        Ok(Table { layout: self, buffer })
    }

    fn elements(&self, place: &ColumnPlace) -> Range<usize> {
        let at = self.head + self.pad + place.data;
        at..at + place.column.size(self.rows)
    }
}

/// A field whose header is written and whose columns are to be filled.
pub struct Table<'a> {
    layout: &'a Layout,
    buffer: &'a mut [u8],
}

impl Table<'_> {
    /// Rows of the field.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// The columns in their order, all to be filled in one go.
    pub fn columns(&mut self) -> Vec<ColumnMut<'_>> {
        let layout = self.layout;
        let mut columns = Vec::with_capacity(layout.places.len());
        let mut rest = &mut *self.buffer;
        let mut at = 0;
        for place in &layout.places {
            let elements = layout.elements(place);
            let (data, behind) = rest[elements.start - at..].split_at_mut(elements.len());
            rest = behind;
            at = elements.end;
            let mut presence = None;
            if place.column.optional {
                let begin = layout.head + layout.pad + place.presence;
                let bits = layout.rows.div_ceil(8);
                let (bitmap, behind) = rest[begin - at..].split_at_mut(bits);
                rest = behind;
                at = begin + bits;
                presence = Some(bitmap);
            }
            columns.push(ColumnMut { column: &place.column, data, presence });
        }
        columns
    }
}

/// A column to be filled.
pub struct ColumnMut<'a> {
    column: &'a Column,
    data: &'a mut [u8],
    presence: Option<&'a mut [u8]>,
}

impl ColumnMut<'_> {
    /// What it is.
    pub fn column(&self) -> &Column {
        self.column
    }

    /// Its elements; none where they are of another type or reduced. Every row
    /// must be written, an absent one by 0.
    pub fn sink<T: Number>(&mut self) -> Option<Sink<'_, T>> {
        let is_plain = T::ELEMENT == self.column.element && self.column.reduced.is_none();
        is_plain.then_some(Sink { data: self.data, number: PhantomData })
    }

    /// Writes the elements that the column was made of.
    ///
    /// # Errors
    ///
    /// [`Fault::Buffer`] where they are not these.
    pub fn put(&mut self, elements: &Reduced) -> Result<()> {
        if self.column.reduced.is_none() || self.data.len() != elements.size() {
            return Err(Error::new(Fault::Buffer, 0, &self.column.name));
        }
        self.data.copy_from_slice(&elements.bytes);
        Ok(())
    }

    /// The presence bitmap of an optional column, to be filled.
    pub fn presence(&mut self) -> Option<&mut [u8]> {
        self.presence.as_deref_mut()
    }

    /// Marks a row as present. All rows of an optional column are absent at
    /// first; for others this does nothing.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[inline]
    pub fn set_present(&mut self, row: usize) {
        if let Some(bits) = &mut self.presence {
            bits[row / 8] |= 1 << (row % 8);
        }
    }

    /// Writes one value in OSI's unit, rounded and scaled as the column says;
    /// false where it is out of range, not a number for an integer, or reduced.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    #[must_use]
    pub fn set(&mut self, row: usize, value: f64) -> bool {
        if self.column.reduced.is_some() {
            return false;
        }
        let element = self.column.element;
        store_value(element, self.column.scale, value, self.bytes(row))
    }

    /// The bytes of all elements, or of what they are reduced to.
    pub(crate) fn all_bytes(&mut self) -> &mut [u8] {
        self.data
    }

    /// The bytes of a row's element.
    pub(crate) fn bytes(&mut self, row: usize) -> &mut [u8] {
        let size = self.column.element.size();
        &mut self.data[row * size..][..size]
    }
}

/// Elements to be filled.
pub struct Sink<'a, T> {
    data: &'a mut [u8],
    number: PhantomData<T>,
}

impl<T: Number> Sink<'_, T> {
    /// Rows.
    pub fn rows(&self) -> usize {
        self.data.len() / T::SIZE
    }

    /// Writes one row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn set(&mut self, row: usize, value: T) {
        value.store(&mut self.data[row * T::SIZE..][..T::SIZE]);
    }

    /// Writes rows from the first one on, as many as there are values and rows.
    pub fn fill(&mut self, values: impl IntoIterator<Item = T>) {
        for (bytes, value) in self.data.chunks_exact_mut(T::SIZE).zip(values) {
            value.store(bytes);
        }
    }
}
