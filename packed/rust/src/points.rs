//! Arrays of point structures, such as PointCloud2 has them, as columns and back.

use crate::element::Element;
use crate::error::{Error, Fault, Result};
use crate::format::MAXIMUM_SIZE;
use crate::layout::{is_name, Column, Layout};
use crate::pack::Precision;
use crate::plan::Plan;
use crate::reduce::Reduced;
use crate::view::{Values, View};

/// Columns of bytes that no field covers are called so, with their place in a point.
const PADDING: &str = "padding.";

/// A field of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointField {
    /// Its name, and the column's.
    pub name: String,
    /// Where it begins in a point, in bytes.
    pub offset: usize,
    /// Its type.
    pub element: Element,
}

impl PointField {
    fn end(&self) -> usize {
        self.offset.saturating_add(self.element.size())
    }
}

/// Of what the points of an array are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    fields: Vec<PointField>,
    /// Bytes of a point.
    step: usize,
    big_endian: bool,
}

impl Points {
    /// Points of `step` bytes with these fields.
    ///
    /// # Errors
    ///
    /// With the field's name: [`Fault::Name`] where no column can be called so,
    /// [`Fault::Duplicate`], [`Fault::Element`] where it has no elements, and
    /// [`Fault::Points`] where it reaches beyond a point or into another field.
    pub fn new(fields: Vec<PointField>, step: usize, big_endian: bool) -> Result<Self> {
        for (at, field) in fields.iter().enumerate() {
            let fault = |fault| Error::new(fault, at as u32, &field.name);
            if !is_name(field.name.as_bytes()) {
                return Err(fault(Fault::Name));
            }
            if field.element == Element::None {
                return Err(fault(Fault::Element));
            }
            if field.end() > step {
                return Err(fault(Fault::Points));
            }
            for other in &fields[..at] {
                if other.name == field.name {
                    return Err(fault(Fault::Duplicate));
                }
                if other.offset < field.end() && field.offset < other.end() {
                    return Err(fault(Fault::Points));
                }
            }
        }
        Ok(Points { fields, step, big_endian })
    }

    /// The fields as they were given.
    pub fn fields(&self) -> &[PointField] {
        &self.fields
    }

    /// Bytes of a point.
    pub fn step(&self) -> usize {
        self.step
    }

    /// A packed field of points: a column for each of their fields, and one for each byte
    /// between these that some point has set. Also gives what each column took.
    ///
    /// # Errors
    ///
    /// [`Fault::Buffer`] where these are no whole points, and those of [`Plan::reduction`],
    /// [`Reduced::new`] and [`Layout::plan`].
    pub fn pack(&self, data: &[u8], plan: &Plan) -> Result<(Vec<u8>, Vec<Precision>)> {
        let rows = self.rows(data)?;
        let mut columns = Vec::new();
        let mut contents = Vec::new();
        let mut precision = Vec::new();
        for PointField { name, offset, element } in self.fields.iter().chain(&self.padding(data)) {
            let reduction = plan.reduction(None, name, *element)?;
            let elements = self.gather(data, *offset, element.size());
            let reduced = reduction
                .map(|how| Reduced::from_elements(name, *element, &elements, None, &how))
                .transpose()?;
            let column = match &reduced {
                Some(reduced) => Column::reduced(name, reduced),
                None => Column::new(name, *element),
            };
            precision.push(Precision {
                kind: None,
                name: name.clone(),
                element: *element,
                reduction,
                rows,
                error: reduced.as_ref().map_or(0.0, Reduced::error),
                bytes: column.size(rows),
            });
            columns.push(column);
            contents.push((elements, reduced));
        }
        let layout = Layout::plan(&columns, rows as u64, 0, 64)?;
        let mut out = vec![0; layout.size()];
        let mut table = layout.write(&mut out)?;
        for (mut column, (elements, reduced)) in table.columns().into_iter().zip(&contents) {
            match reduced {
                Some(reduced) => column.put(reduced)?,
                None => column.all_bytes().copy_from_slice(elements),
            }
        }
        Ok((out, precision))
    }

    /// The points of a packed field, of at most so many bytes.
    ///
    /// # Errors
    ///
    /// [`Fault::Points`] where the columns are not those of these points, with the column's
    /// name; [`Fault::Limit`]; and those of [`View::open`].
    pub fn unpack(&self, field: &[u8], limit: usize) -> Result<Vec<u8>> {
        let view = View::open(field)?;
        let size = view.rows().checked_mul(self.step);
        let size = size.filter(|size| *size <= limit.min(MAXIMUM_SIZE)).ok_or(Fault::Limit)?;
        let mut out = vec![0; size];
        for wanted in &self.fields {
            if view.values(&wanted.name).is_none() {
                return Err(Error::new(Fault::Points, 0, &wanted.name));
            }
        }
        for (index, values) in view.columns().iter().enumerate() {
            let fault = || Error::new(Fault::Points, index as u32, values.name);
            let (offset, element) = self.place(values).ok_or_else(fault)?;
            let restored = values.restore_elements();
            let elements = restored.as_deref().unwrap_or(values.data);
            self.scatter(elements, offset, element.size(), &mut out);
        }
        Ok(out)
    }

    fn rows(&self, data: &[u8]) -> Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        if self.step == 0 || !data.len().is_multiple_of(self.step) {
            return Err(Fault::Buffer.into());
        }
        Ok(data.len() / self.step)
    }

    /// Where a column goes; none where it is none of these points.
    fn place(&self, values: &Values<'_>) -> Option<(usize, Element)> {
        let element =
            values.element.filter(|_| values.scale.is_none() && values.bitmap.is_none())?;
        let named = self.fields.iter().find(|field| field.name == values.name);
        if let Some(field) = named {
            return (field.element == element).then_some((field.offset, element));
        }
        let offset: usize = values.name.strip_prefix(PADDING)?.parse().ok()?;
        let is_free = offset < self.step && !self.covers(offset) && element == Element::U8;
        is_free.then_some((offset, element))
    }

    fn covers(&self, offset: usize) -> bool {
        self.fields.iter().any(|field| (field.offset..field.end()).contains(&offset))
    }

    /// The bytes of a point that no field covers and some point has set, as fields.
    fn padding(&self, data: &[u8]) -> Vec<PointField> {
        if data.is_empty() {
            return Vec::new(); // A point may then claim any size.
        }
        let free = (0..self.step).filter(|offset| !self.covers(*offset));
        let is_set = |offset: &usize| data.iter().skip(*offset).step_by(self.step).any(|b| *b != 0);
        let field = |offset| PointField {
            name: format!("{PADDING}{offset}"),
            offset,
            element: Element::U8,
        };
        free.filter(is_set).map(field).collect()
    }

    /// A field's elements of all points, little-endian.
    fn gather(&self, data: &[u8], offset: usize, size: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(data.len() / self.step.max(1) * size);
        for point in data.chunks_exact(self.step.max(1)) {
            out.extend_from_slice(&point[offset..][..size]);
        }
        if self.big_endian {
            out.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        out
    }

    /// Puts a field's elements into all points.
    fn scatter(&self, elements: &[u8], offset: usize, size: usize, out: &mut [u8]) {
        let points = out.chunks_exact_mut(self.step.max(1));
        for (point, element) in points.zip(elements.chunks_exact(size)) {
            let place = &mut point[offset..][..size];
            place.copy_from_slice(element);
            if self.big_endian {
                place.reverse();
            }
        }
    }
}
