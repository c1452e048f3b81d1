//! A definition in FlatBuffers as its compiler writes it for programs: a `.bfbs`, which is a
//! FlatBuffer itself (`reflection.fbs` of the project).

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};

use crate::buffer::{Buffer, Table};
use crate::number::{Number, Scalar};

/// The last place in a vtable, whose size has 16 bits.
const LAST: usize = 0xfffc;
/// Most bytes of a struct, within which its fields begin.
const LARGEST_STRUCT: usize = 0xffff;

/// What a field or an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A number.
    Scalar(Scalar),
    /// Text.
    Text,
    /// A table or a struct, by its number in the definition.
    Object(usize),
    /// Which member of a union there is, by the union's number in the definition.
    Tag(usize),
    /// A union, likewise.
    Union(usize),
    /// What Protobuf has nothing for: nested vectors.
    Other,
}

/// How many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldCount {
    /// One.
    One,
    /// Any number.
    Vector,
    /// An array in a struct, of so many.
    Array(usize),
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: FieldKind,
    /// How many of them.
    pub count: FieldCount,
    /// In a table where its vtable tells of it, in a struct where it lies.
    pub place: usize,
    /// What it is where it is absent; none where that is `null`.
    pub default: Option<Number>,
    /// What calls its numbers, where they are those of an enum.
    pub named: Option<usize>,
}

/// A table or a struct.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its full name.
    pub name: String,
    /// Its fields, by their places.
    pub fields: Vec<Field>,
    /// Bytes and alignment of a struct; none of a table.
    pub fixed: Option<(usize, usize)>,
}

/// An enum, or a union.
#[derive(Clone, Debug)]
pub struct Enum {
    /// What a number is called and, of a union, what is there then.
    pub values: BTreeMap<i64, (String, FieldKind)>,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    pub(crate) objects: Vec<Object>,
    pub(crate) enums: Vec<Enum>,
    root: Option<String>,
}

impl Definition {
    /// Reads a `.bfbs`.
    ///
    /// # Errors
    /// When it is none, or damaged.
    pub fn read(bytes: &[u8]) -> Result<Definition> {
        ensure!(
            bytes.get(4..8) == Some(b"BFBS"),
            "not a definition; make it with 'flatc --schema --binary'"
        );
        let schema = Buffer(bytes).root()?;
        let objects = tables(&schema, 4)?;
        let objects: Vec<Object> = objects.iter().map(object).collect::<Result<_>>()?;
        let enums = tables(&schema, 6)?.iter().map(enumeration).collect::<Result<_>>()?;
        let root = schema.field(12)?.map(|at| schema.buffer().table(at)).transpose()?;
        let root = root.map(|root| text(&root, 4)).transpose()?;
        let definition = Definition { objects, enums, root };
        definition.check()?;
        Ok(definition)
    }

    /// Its tables and structs, as fields number them.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The full name of the root, where there is one.
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// The table with this full name; without one the root.
    ///
    /// # Errors
    /// When there is none.
    pub fn table(&self, name: &str) -> Result<usize> {
        let name = if name.is_empty() { self.root.as_deref().unwrap_or_default() } else { name };
        let found = self.objects.iter().position(|o| o.name == name && o.fixed.is_none());
        found.with_context(|| format!("the definition in FlatBuffers has no table {name}"))
    }

    /// Holds references to objects and the layout of structs within their bounds.
    fn check(&self) -> Result<()> {
        for object in &self.objects {
            if let Some((size, _)) = object.fixed {
                ensure!(
                    (1..=LARGEST_STRUCT).contains(&size),
                    "{} is a struct of {size} bytes; 1 to {LARGEST_STRUCT} are allowed",
                    object.name
                );
            }
            for field in &object.fields {
                let names = match field.kind {
                    FieldKind::Tag(id) | FieldKind::Union(id) => Some(id),
                    _ => field.named,
                };
                let is_there = names.is_none_or(|id| id < self.enums.len());
                ensure!(is_there, "{}.{} has an unknown type", object.name, field.name);
                let lies_in_vtable = field.place % 2 == 0 && (4..=LAST).contains(&field.place);
                ensure!(
                    object.fixed.is_some() || lies_in_vtable,
                    "{}.{} lies outside of its vtable",
                    object.name,
                    field.name
                );
                let size = match field.kind {
                    FieldKind::Scalar(scalar) => scalar.size(),
                    FieldKind::Text
                    | FieldKind::Other
                    | FieldKind::Tag(_)
                    | FieldKind::Union(_) => 4,
                    FieldKind::Object(id) => {
                        let of = self.objects.get(id).context("a field has an unknown type")?;
                        of.fixed.map_or(4, |(size, _)| size)
                    }
                };
                let Some((whole, _)) = object.fixed else { continue };
                let is_plain = match field.kind {
                    FieldKind::Scalar(_) => true,
                    FieldKind::Object(id) => self.objects[id].fixed.is_some(),
                    FieldKind::Text
                    | FieldKind::Other
                    | FieldKind::Tag(_)
                    | FieldKind::Union(_) => false,
                };
                let count = match field.count {
                    FieldCount::One => Some(1),
                    FieldCount::Array(count) => Some(count),
                    FieldCount::Vector => None,
                };
                let end = count.and_then(|n| size.checked_mul(n)?.checked_add(field.place));
                ensure!(
                    is_plain && end.is_some_and(|end| end <= whole),
                    "{}.{} lies outside of its struct",
                    object.name,
                    field.name
                );
            }
        }
        for (name, kind) in self.enums.iter().flat_map(|of| of.values.values()) {
            let is_there = !matches!(kind, FieldKind::Object(id) if *id >= self.objects.len());
            ensure!(is_there, "{name} in a union has an unknown type");
        }
        (0..self.objects.len()).try_for_each(|id| self.check_nesting(id, 0))
    }

    /// A struct is not within itself.
    fn check_nesting(&self, id: usize, depth: usize) -> Result<()> {
        let object = &self.objects[id];
        ensure!(depth < 64, "{} is nested too deeply", object.name);
        if object.fixed.is_some() {
            for field in &object.fields {
                if let FieldKind::Object(inner) = field.kind {
                    self.check_nesting(inner, depth + 1)?;
                }
            }
        }
        Ok(())
    }
}

fn object(table: &Table) -> Result<Object> {
    let name = text(table, 4)?;
    let fields = tables(table, 6)?.iter().map(field).collect::<Result<Vec<_>>>();
    let mut fields = fields.with_context(|| name.clone())?;
    // The file has them by their names.
    fields.sort_by_key(|field| field.place);
    let size = |place| unsigned(table, place, 4);
    let fixed = if unsigned(table, 8, 1)? != 0 { Some((size(12)?, size(10)?)) } else { None };
    if let Some((_, align)) = fixed {
        ensure!(matches!(align, 1 | 2 | 4 | 8 | 16), "{name}: aligned to {align} bytes");
    }
    Ok(Object { name, fields, fixed })
}

fn field(table: &Table) -> Result<Field> {
    let name = text(table, 4)?;
    let of = table.field(6)?.with_context(|| format!("{name} has no type"))?;
    let of = table.buffer().table(of)?;
    let (base, element) = (unsigned(&of, 4, 1)?, unsigned(&of, 6, 1)?);
    let index = unsigned(&of, 8, 4)?;
    let (kind, count) = match base {
        14 => (kind(element, index), FieldCount::Vector),
        17 => (kind(element, index), FieldCount::Array(unsigned(&of, 10, 2)?)),
        _ => (kind(base, index), FieldCount::One),
    };
    // An index that is absent is −1, of nothing.
    let is_enum = of.field(8)?.is_some() && index != u32::MAX as usize;
    let named = (is_enum && matches!(kind, FieldKind::Scalar(_))).then_some(index);
    let default = match kind {
        _ if unsigned(table, 26, 1)? != 0 => None,
        FieldKind::Scalar(Scalar::Float(_)) => {
            Some(Number::Float(f64::from_bits(long(table, 14)?)))
        }
        FieldKind::Scalar(_) => Some(Number::Integer((long(table, 12)? as i64).into())),
        _ => None,
    };
    Ok(Field { name, kind, count, place: unsigned(table, 10, 2)?, default, named })
}

fn enumeration(table: &Table) -> Result<Enum> {
    let name = text(table, 4)?;
    let mut values = BTreeMap::new();
    for value in tables(table, 6)? {
        let of = value.field(10)?.map(|at| value.buffer().table(at)).transpose()?;
        let of = match of {
            Some(of) => kind(unsigned(&of, 4, 1)?, unsigned(&of, 8, 4)?),
            None => FieldKind::Other,
        };
        let called = text(&value, 4).with_context(|| name.clone())?;
        values.insert(long(&value, 6)? as i64, (called, of));
    }
    Ok(Enum { values })
}

/// Of the numbers of `BaseType`.
fn kind(base: usize, index: usize) -> FieldKind {
    FieldKind::Scalar(match base {
        1 => return FieldKind::Tag(index),
        2 => Scalar::Bool,
        3 => Scalar::Signed(1),
        4 => Scalar::Unsigned(1),
        5 => Scalar::Signed(2),
        6 => Scalar::Unsigned(2),
        7 => Scalar::Signed(4),
        8 => Scalar::Unsigned(4),
        9 => Scalar::Signed(8),
        10 => Scalar::Unsigned(8),
        11 => Scalar::Float(4),
        12 => Scalar::Float(8),
        13 => return FieldKind::Text,
        15 => return FieldKind::Object(index),
        16 => return FieldKind::Union(index),
        _ => return FieldKind::Other,
    })
}

fn tables<'b>(table: &Table<'b>, place: usize) -> Result<Vec<Table<'b>>> {
    let Some(at) = table.field(place)? else { return Ok(Vec::new()) };
    let vector = table.buffer().vector(at, 4)?;
    (0..vector.len).map(|n| table.buffer().table(vector.at + 4 * n)).collect()
}

fn text(table: &Table, place: usize) -> Result<String> {
    match table.field(place)? {
        Some(at) => Ok(table.buffer().text(at)?.to_owned()),
        None => bail!("something in the definition has no name"),
    }
}

/// A number of so many bytes; 0 where it is absent.
fn unsigned(table: &Table, place: usize, size: usize) -> Result<usize> {
    let Some(at) = table.field(place)? else { return Ok(0) };
    let bytes = table.buffer().bytes(at, size)?;
    Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn long(table: &Table, place: usize) -> Result<u64> {
    Ok(unsigned(table, place, 8)? as u64)
}
