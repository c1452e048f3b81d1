//! The last step of every reader: from types as they were found to a schema.

use std::collections::HashSet;

use anyhow::{bail, ensure, Result};

use crate::model::{Element, Name, Schema, TypeDef, TypeId};
use crate::name;

/// Most types, and most fields and enum values together, that a definition may
/// have. Compilers of the formats would take hours over more.
const MOST_TYPES: usize = 10_000;
const MOST_NAMES: usize = 50_000;

/// Deepest nesting of records. Readers of Protobuf follow 100, and whoever walks
/// a message calls itself for each.
const DEEPEST: usize = 100;

/// Makes a schema of the types a reader found, in any order, with only the
/// original names set. Types that the root does not reach are dropped, the
/// others ordered and given legal names. Fails where the root is an enum, where
/// two fields of a record bear the same name, and where there are more types or
/// names, or deeper nesting, than any format could be measured with.
pub(crate) fn assemble(types: Vec<TypeDef>, root: TypeId) -> Result<Schema> {
    if let TypeDef::Enum(other) = &types[root] {
        bail!("{} is an enum, not a message; choose a message", other.name.original);
    }
    let mut schema = reachable(types, root);
    check_extent(&schema)?;
    for (_, record) in schema.records() {
        let mut seen = HashSet::new();
        for field in &record.fields {
            let (record, field) = (&record.name.original, &field.name.original);
            ensure!(seen.insert(field), "{record} has two fields '{field}'; rename one");
        }
    }
    legalize(&mut schema);
    Ok(schema)
}

fn check_extent(schema: &Schema) -> Result<()> {
    let root = &schema.root().name.original;
    let types = schema.types.len();
    ensure!(types <= MOST_TYPES, "{root} uses {types} types; {MOST_TYPES} at most can be measured");
    let names: usize = schema
        .types
        .iter()
        .map(|def| match def {
            TypeDef::Record(record) => record.fields.len(),
            TypeDef::Enum(def) => def.values.len(),
        })
        .sum();
    ensure!(
        names <= MOST_NAMES,
        "{root} has {names} fields and enum values; {MOST_NAMES} at most can be measured"
    );
    // Each stands after what it uses; a record in a circle also before, and where
    // a message with such a record ends its values tell.
    let mut depths = vec![0usize; types];
    for (id, record) in schema.records() {
        let inner = record.fields.iter().filter_map(|field| match field.element {
            Element::Record(inner) => Some(depths[inner]),
            _ => None,
        });
        depths[id] = 1 + inner.max().unwrap_or(0);
    }
    let depth = depths[schema.root];
    ensure!(
        depth <= DEEPEST,
        "{root} nests {depth} records deep; {DEEPEST} at most can be measured, which is the limit \
         of Protobuf's readers"
    );
    Ok(())
}

/// A name of which only the original is known yet.
pub(crate) fn unlegalized(original: &str) -> Name {
    Name { original: original.to_owned(), legal: String::new() }
}

/// Keeps what the root reaches, each type after those that it uses; types that
/// contain themselves have no such order and stand in any.
pub fn reachable(types: Vec<TypeDef>, root: TypeId) -> Schema {
    let order = order(&types, root);
    let mut renumbered = vec![usize::MAX; types.len()];
    for (new, old) in order.iter().enumerate() {
        renumbered[*old] = new;
    }
    let mut types: Vec<Option<TypeDef>> = types.into_iter().map(Some).collect();
    let mut kept: Vec<TypeDef> = order.iter().filter_map(|old| types[*old].take()).collect();
    for def in &mut kept {
        if let TypeDef::Record(record) = def {
            for field in &mut record.fields {
                if let Element::Enum(id) | Element::Record(id) = &mut field.element {
                    *id = renumbered[*id];
                }
            }
        }
    }
    Schema::new(kept, renumbered[root])
}

/// The types that the root reaches in depth-first order. With its own stack:
/// definitions come from files, and may nest deeper than a thread's stack.
fn order(types: &[TypeDef], root: TypeId) -> Vec<TypeId> {
    let mut order = Vec::new();
    let mut seen = vec![false; types.len()];
    seen[root] = true;
    let mut open = vec![(root, uses(&types[root]).into_iter())];
    while let Some((id, rest)) = open.last_mut() {
        match rest.next() {
            Some(inner) if !seen[inner] => {
                seen[inner] = true;
                open.push((inner, uses(&types[inner]).into_iter()));
            }
            Some(_) => {}
            None => {
                order.push(*id);
                open.pop();
            }
        }
    }
    order
}

/// The types that a type's fields name.
fn uses(def: &TypeDef) -> Vec<TypeId> {
    let TypeDef::Record(record) = def else { return Vec::new() };
    let elements = record.fields.iter().map(|field| field.element);
    elements
        .filter_map(|element| match element {
            Element::Enum(id) | Element::Record(id) => Some(id),
            _ => None,
        })
        .collect()
}

fn legalize(schema: &mut Schema) {
    let originals: Vec<String> = schema.types.iter().map(|def| def.original().to_owned()).collect();
    for (def, name) in schema.types.iter_mut().zip(name::legal_types(&originals)) {
        match def {
            TypeDef::Record(record) => {
                record.name = name;
                let fields: Vec<&str> =
                    record.fields.iter().map(|f| f.name.original.as_str()).collect();
                let mut unions: Vec<&str> =
                    record.fields.iter().filter_map(|f| f.union.as_deref()).collect();
                // The members of a union need not stand together.
                unions.sort_unstable();
                unions.dedup();
                // A union shares the scope of the fields in most languages.
                let mut names =
                    name::legal_fields(&[fields.as_slice(), unions.as_slice()].concat());
                let unions = names.split_off(fields.len());
                for (field, name) in record.fields.iter_mut().zip(names) {
                    field.name = name;
                    if let Some(union) = &mut field.union {
                        if let Some(name) = unions.iter().find(|name| name.original == *union) {
                            *union = name.legal.clone();
                        }
                    }
                }
            }
            TypeDef::Enum(enumeration) => {
                enumeration.name = name;
                let values: Vec<&str> =
                    enumeration.values.iter().map(|v| v.name.original.as_str()).collect();
                let names = name::legal_values(&values);
                for (value, name) in enumeration.values.iter_mut().zip(names) {
                    value.name = name;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msg::{read_text, Dialect};

    /// A chain of records, each with so many fields of the next.
    fn chain(length: usize, fields: usize) -> Result<Schema> {
        let mut text = String::new();
        for at in 0..length {
            if at > 0 {
                text += &format!("{}\nMSG: p/R{at}\n", "=".repeat(80));
            }
            for field in 0..fields {
                match at + 1 < length {
                    true => text += &format!("R{}[2] f{field}\n", at + 1),
                    false => text += &format!("int32 f{field}\n"),
                }
            }
        }
        read_text(&text, "p/R0", Dialect::Ros2, "test")
    }

    #[test]
    fn depth_and_extent_are_bounded() {
        let error = chain(10_000, 1).unwrap_err().to_string();
        assert!(error.contains("p/msg/R0 nests 10000 records deep; 100 at most"), "{error}");
        let error = chain(10_001, 1).unwrap_err().to_string();
        assert!(error.contains("uses 10001 types"), "{error}");
        // As many ways through it as there are atoms: each type is looked at once.
        let schema = chain(100, 10).unwrap();
        assert!(schema.is_pod(schema.root));
        assert_eq!(schema.max_size(schema.root), None);
        assert_eq!(schema.recursive_type(), None);
        let projection = crate::Projection::choose(&schema);
        assert_eq!(projection.fixed.map(|path| path.len()), Some(100));
        assert_eq!(projection.element, None);
        let estimate = crate::estimate(&schema, &crate::Sizes::default()).unwrap();
        assert!(estimate.memory > u128::from(u64::MAX));
    }
}
