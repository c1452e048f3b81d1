//! From packed fields to sub-messages.

use crate::element::Element;
use crate::error::{Error, Fault, Result};
use crate::find::{Kind, MessageLevel, Root, ROWS};
use crate::format::{FIELD, MAXIMUM_SIZE};
use crate::leaf::{leaves, Leaf, LeafType};
use crate::row::Row;
use crate::view::{Values, View};
use crate::wire::{put_head, Fields};

/// How a message is unpacked.
#[derive(Clone, Debug, PartialEq)]
pub struct UnpackOptions {
    /// Whether columns that OSI has no field for are left out.
    pub drop_unknown: bool,
    /// The most bytes that the result may have.
    pub limit: usize,
}

impl Default for UnpackOptions {
    fn default() -> Self {
        UnpackOptions { drop_unknown: false, limit: MAXIMUM_SIZE }
    }
}

/// Replaces packed fields by reflections and detections; all else stays byte for
/// byte.
///
/// # Errors
///
/// [`Fault::Foreign`] where OSI has no field for a column, unless the options
/// drop it; [`Fault::Both`] where a message has rows and a packed field;
/// [`Fault::Element`] and [`Fault::Value`] where OSI's field cannot have the
/// column's values; [`Fault::Limit`] where the result would be too long;
/// [`Fault::Wire`] and [`Fault::Depth`] where the bytes are not Protobuf; and
/// those of [`View::open`].
pub fn unpack(root: Root, message: &[u8], options: &UnpackOptions) -> Result<Vec<u8>> {
    let out = convert(root.into(), message, options)?.unwrap_or_else(|| message.to_vec());
    if out.len() > options.limit {
        return Err(Fault::Limit.into());
    }
    Ok(out)
}

/// A message unpacked; none where it stays as it is.
fn convert(level: MessageLevel, bytes: &[u8], options: &UnpackOptions) -> Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    let mut kept = 0;
    let mut changed = false;
    let packed = match level {
        MessageLevel::Rows(kind) => find_packed_field(bytes)?.map(|at| (kind, at)),
        _ => None,
    };
    for field in Fields::new(bytes) {
        let field = field?;
        let (2, span) = (field.kind, field.span) else { continue };
        let mut inner = None;
        match packed {
            Some((kind, at)) if field.number == FIELD => {
                out.extend_from_slice(&bytes[kept..span.start]);
                if span.start == at {
                    rows(kind, field.content, options, &mut out)?;
                }
                kept = span.end;
                changed = true;
            }
            _ => {
                if let Some(level) = level.inner(field.number) {
                    inner = convert(level, field.content, options)?;
                }
            }
        }
        if let Some(inner) = inner {
            out.extend_from_slice(&bytes[kept..span.start]);
            put_head(&mut out, field.number, inner.len());
            out.extend_from_slice(&inner);
            kept = span.end;
            changed = true;
        }
        if out.len() > options.limit {
            return Err(Fault::Limit.into());
        }
    }
    out.extend_from_slice(&bytes[kept..]);
    Ok(changed.then_some(out))
}

/// Where the packed field is that counts: of several the last.
fn find_packed_field(bytes: &[u8]) -> Result<Option<usize>> {
    let mut packed = None;
    let mut rows = false;
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.kind) {
            (FIELD, 2) => packed = Some(field.span.start),
            (ROWS, 2) => rows = true,
            _ => {}
        }
    }
    if packed.is_some() && rows {
        return Err(Fault::Both.into());
    }
    Ok(packed)
}

/// A column and the leaf that it is of, or as a marker the leaf's message.
struct LeafColumn<'a> {
    values: Values<'a>,
    element: Element,
    leaf: usize,
    marker: bool,
}

/// Appends a field's rows as sub-messages.
fn rows(kind: Kind, field: &[u8], options: &UnpackOptions, out: &mut Vec<u8>) -> Result<()> {
    let all = leaves(kind);
    let view = View::open(field)?;
    let mut origins = Vec::new();
    for (index, &values) in view.columns().iter().enumerate() {
        let fault = |fault| Error::new(fault, index as u32, values.name);
        let of = |leaf: &Leaf| values.name == leaf.name;
        let marks = |leaf: &Leaf| leaf.inner == 1 && values.name == leaf.marker();
        let leaf = all.iter().position(|leaf| of(leaf) || marks(leaf));
        let (Some(leaf), Some(element)) = (leaf, values.element) else {
            if options.drop_unknown {
                continue;
            }
            return Err(fault(Fault::Foreign));
        };
        let marker = !of(&all[leaf]);
        let whole = element.is_integer() && values.scale.is_none();
        let fits = match element {
            Element::None => marker,
            _ => !marker && (all[leaf].kind == LeafType::Number || whole),
        };
        if !fits {
            return Err(fault(Fault::Element));
        }
        origins.push(LeafColumn { values, element, leaf, marker });
    }
    // An empty row takes two bytes: more rows than that are refused unread.
    if view.rows() > options.limit / 2 {
        return Err(Fault::Limit.into());
    }
    let restored: Vec<Option<Vec<u8>>> =
        origins.iter().map(|origin| origin.values.restore_elements()).collect();
    for (origin, elements) in origins.iter_mut().zip(&restored) {
        if let Some(elements) = elements {
            origin.values = origin.values.with_elements(elements);
        }
    }
    let mut row = Row::default();
    let begin = out.len();
    for at in 0..view.rows() {
        row.has = 0;
        row.messages = 0;
        for origin in origins.iter().filter(|origin| origin.values.present(at)) {
            let leaf = &all[origin.leaf];
            if leaf.inner != 0 {
                row.messages |= 1 << leaf.number;
            }
            if !origin.marker {
                row.has |= 1 << origin.leaf;
                row.values[origin.leaf] = value(origin, leaf, at)
                    .ok_or_else(|| Error::new(Fault::Value, leaf.number, leaf.name))?;
            }
        }
        row.write(kind, out);
        if out.len() - begin > options.limit {
            return Err(Fault::Limit.into());
        }
    }
    Ok(())
}

/// A value as OSI's field has it; none where it cannot.
fn value(origin: &LeafColumn<'_>, leaf: &Leaf, at: usize) -> Option<u64> {
    let bytes = origin.values.bytes(origin.element, at);
    if leaf.kind == LeafType::Number && origin.element != Element::F64 {
        return Some(origin.values.value(at).to_bits());
    }
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let mut out = u64::from_le_bytes(wide);
    if origin.element.is_signed() {
        // Moves the sign to the top and back.
        let unused = 64 - 8 * bytes.len();
        out = ((out << unused) as i64 >> unused) as u64;
    }
    let fits = match leaf.kind {
        LeafType::Number => true,
        LeafType::Identifier => !origin.element.is_signed() || out as i64 >= 0,
        LeafType::Enumeration if origin.element.is_signed() => i32::try_from(out as i64).is_ok(),
        LeafType::Enumeration => out <= i32::MAX as u64,
    };
    fits.then_some(out)
}
