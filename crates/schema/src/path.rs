//! Paths to one number in a message: `info.guid`, `points[].position[1]`.

use std::collections::HashSet;

use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};

use crate::model::{Cardinality, Element, Schema, TypeId};

/// One step of a path: a field and, where it repeats, which element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathStep {
    /// Index of the field in its record.
    pub field: usize,
    /// Which element of a list or array.
    pub index: ElementIndex,
}

/// Which element of a field a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementIndex {
    /// The field does not repeat.
    Single,
    /// The middle element, index `len / 2`, written `[]`.
    Middle,
    /// The element with this index.
    At(u32),
}

/// A path from the root to one number. Where an element on the way is not
/// there (an absent option, an index behind the end), the path reads 0.
pub type FieldPath = Vec<PathStep>;

/// The two numbers that the field experiments read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projection {
    /// A number outside of every list; none where the message has none.
    pub fixed: Option<FieldPath>,
    /// A number in the middle element of a list; none where there is no list.
    pub element: Option<FieldPath>,
}

impl Projection {
    /// Chooses the first number of the fixed region and the first number
    /// behind a list, in the order of definition.
    pub fn choose(schema: &Schema) -> Projection {
        Projection {
            fixed: first(schema, schema.root, false, &mut HashSet::new()),
            element: first(schema, schema.root, true, &mut HashSet::new()),
        }
    }
}

/// The first number below a record, behind a list or behind none. Where there
/// was none in a record, `seen` with the same wish, there is none the next time:
/// the ways through a schema can be more than could ever be walked.
fn first(
    schema: &Schema,
    id: TypeId,
    behind_list: bool,
    seen: &mut HashSet<(TypeId, bool)>,
) -> Option<FieldPath> {
    if !seen.insert((id, behind_list)) {
        return None;
    }
    schema.record(id).fields.iter().enumerate().find_map(|(field, def)| {
        let (index, repeats) = match def.cardinality {
            Cardinality::List { .. } => (ElementIndex::Middle, true),
            Cardinality::Array { len: 0 } => return None,
            Cardinality::Array { .. } => (ElementIndex::At(0), false),
            _ => (ElementIndex::Single, false),
        };
        if repeats && !behind_list {
            return None;
        }
        let step = PathStep { field, index };
        match def.element {
            Element::Record(inner) => {
                let mut path = vec![step];
                path.extend(first(schema, inner, behind_list && !repeats, seen)?);
                Some(path)
            }
            Element::String | Element::Bytes => None,
            Element::Scalar(_) | Element::Enum(_) => (repeats == behind_list).then(|| vec![step]),
        }
    })
}

/// Reads a path in text form, by original or legal field names.
pub fn parse(schema: &Schema, text: &str) -> Result<FieldPath> {
    let mut path = FieldPath::new();
    let mut record = Some(schema.root);
    for part in text.split('.') {
        let id = record.with_context(|| {
            format!("path '{text}': a number has no fields; end the path there")
        })?;
        let (name, index) = match part.split_once('[') {
            None => (part, None),
            Some((name, rest)) => {
                let inner = rest
                    .strip_suffix(']')
                    .with_context(|| format!("path '{text}': a ']' is missing"))?;
                (name, Some(inner))
            }
        };
        let fields = &schema.record(id).fields;
        let field = fields
            .iter()
            .position(|f| f.name.original == name || f.name.legal == name)
            .with_context(|| {
                format!("path '{text}': {} has no field '{name}'", schema.record(id).name.original)
            })?;
        let repeats = matches!(
            fields[field].cardinality,
            Cardinality::List { .. } | Cardinality::Array { .. }
        );
        let index = match index {
            None if repeats => ElementIndex::Middle,
            None => ElementIndex::Single,
            Some(_) if !repeats => {
                bail!("path '{text}': '{name}' is not a list; leave out the [...]")
            }
            Some("") => ElementIndex::Middle,
            Some(number) => {
                ElementIndex::At(number.parse().with_context(|| format!("path '{text}'"))?)
            }
        };
        record = match fields[field].element {
            Element::Record(inner) => Some(inner),
            Element::String | Element::Bytes => bail!("path '{text}': '{name}' is not a number"),
            Element::Scalar(_) | Element::Enum(_) => None,
        };
        path.push(PathStep { field, index });
    }
    if record.is_some() {
        bail!("path '{text}' ends at a record; add one of its fields");
    }
    Ok(path)
}

/// A path in text form, by original names.
pub fn display(schema: &Schema, path: &[PathStep]) -> String {
    let mut text = String::new();
    let mut id = schema.root;
    for step in path {
        let field = &schema.record(id).fields[step.field];
        if !text.is_empty() {
            text.push('.');
        }
        text.push_str(&field.name.original);
        match step.index {
            ElementIndex::Single => {}
            ElementIndex::Middle => text.push_str("[]"),
            ElementIndex::At(at) => text.push_str(&format!("[{at}]")),
        }
        if let Element::Record(inner) = field.element {
            id = inner;
        }
    }
    text
}
