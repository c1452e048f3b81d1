//! What is generated together: definitions, and their types once each.

use std::collections::BTreeMap;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::documentation::{Constant, TypeDocumentation};
use wiregauge_schema::{Element, Field, Record, Schema, TypeDef, TypeId};

use crate::doc_comment;

/// Definitions that become one module.
pub struct Package {
    /// What its files are called, without an end: `point_cloud2`.
    pub name: String,
    /// Every type once, each after those that it uses. Its root is the last of
    /// the messages.
    pub schema: Schema,
    /// The messages that were asked for.
    pub messages: Vec<TypeId>,
    /// What they were read from, as its user would call it.
    pub origins: Vec<String>,
    /// What Java's packages are in: `org.example`, or nothing.
    pub within: String,
    /// Whether its holders need no allocator; [`without_alloc`](crate::without_alloc) sees to it
    /// that they can.
    pub is_without_alloc: bool,
}

impl Package {
    /// Of schemas, each with what it was read from.
    ///
    /// # Errors
    /// When there is none, or two define a type in different ways, or a name is no
    /// name of a file and module.
    pub fn new(name: Option<&str>, definitions: Vec<(String, Schema)>) -> Result<Package> {
        let mut types: Vec<TypeDef> = Vec::new();
        let mut known: BTreeMap<String, TypeId> = BTreeMap::new();
        let (mut messages, mut origins) = (Vec::new(), Vec::new());
        let mut wording = wiregauge_schema::Documentation::default();
        for (origin, schema) in &definitions {
            let mut ids = vec![usize::MAX; schema.types.len()];
            let fresh = schema.types.iter().filter(|def| !known.contains_key(def.original()));
            let fresh: Vec<&str> = fresh.map(TypeDef::original).collect();
            // Names first: types may use each other in a circle.
            for (id, def) in schema.types.iter().enumerate() {
                let next = known.len();
                ids[id] = *known.entry(def.original().to_owned()).or_insert(next);
            }
            for (id, def) in schema.types.iter().enumerate() {
                let def = renumbered(def, &ids);
                if fresh.contains(&def.original()) {
                    types.push(def);
                } else if !is_same(&types[ids[id]], &def) {
                    bail!(
                        "{} is defined twice, in {origin} and before, and the definitions differ; \
                         generate them separately",
                        def.original()
                    );
                }
            }
            if !messages.contains(&ids[schema.root]) {
                messages.push(ids[schema.root]);
                origins.push(origin.clone());
            }
            wording.extend(&schema.wording);
        }
        let root = *messages.last().context("there is nothing to generate")?;
        let name = match name {
            Some(name) => name.to_owned(),
            None => default_name(types[messages[0]].original()),
        };
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        ensure!(
            name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit()),
            "'{name}' is not a module name; use small letters, digits and underscores"
        );
        let schema = Schema { wording, ..Schema::new(types, root) };
        Ok(Package {
            name,
            schema,
            messages,
            origins,
            within: String::new(),
            is_without_alloc: false,
        })
    }

    /// What the definition says of a type.
    pub fn documentation(&self, original: &str) -> Option<&TypeDocumentation> {
        self.schema.wording.find_type(original)
    }

    /// The comment on a type; empty where it has none.
    pub fn comment(&self, original: &str) -> &str {
        self.documentation(original).map_or("", |words| &words.comment)
    }

    /// The comment on a field or value of a type; empty where it has none.
    pub fn member_comment(&self, original: &str, member: &str) -> &str {
        self.schema.wording.find_member(original, member).map_or("", |words| &words.comment)
    }

    /// The constants of a record.
    pub fn constants(&self, record: &Record) -> &[Constant] {
        self.documentation(&record.name.original).map_or(&[], |words| &words.constants)
    }

    /// The names of each type's constants.
    pub fn constant_names(&self) -> Vec<Vec<&str>> {
        let types = self.schema.types.iter();
        types
            .map(|def| {
                let constants =
                    self.documentation(def.original()).map_or(&[][..], |words| &words.constants);
                constants.iter().map(|constant| constant.name.as_str()).collect()
            })
            .collect()
    }

    /// The type of a field as its author spelled it, where that is known.
    pub fn spelling(&self, record: &Record, field: &Field) -> Option<&str> {
        let words = self.schema.wording.find_member(&record.name.original, &field.name.original)?;
        (!words.spelling.is_empty()).then_some(&words.spelling)
    }

    /// The most bytes that a text may have: `string<=10`.
    pub fn text_bound(&self, record: &Record, field: &Field) -> Option<u32> {
        let bound = self.spelling(record, field)?.strip_prefix("string<=")?;
        bound.split('[').next()?.parse().ok()
    }

    /// What the heads of files say: what they were made from, and by what.
    pub fn header_lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Generated by wiregauge {} from:", env!("CARGO_PKG_VERSION"))];
        for (message, origin) in self.messages.iter().zip(&self.origins) {
            // The name of a file may have any letters.
            let origin = doc_comment::printable_line(origin);
            lines.push(format!("  {} ({origin})", self.schema.types[*message].original()));
        }
        lines.push("Changes are lost when it is generated again.".into());
        lines
    }
}

/// Whether two types of a name are one: not by their legal names, which depend on
/// the other types of their schemas.
fn is_same(a: &TypeDef, b: &TypeDef) -> bool {
    match (a, b) {
        (TypeDef::Record(a), TypeDef::Record(b)) => a.fields == b.fields && a.role == b.role,
        (TypeDef::Enum(a), TypeDef::Enum(b)) => a.values == b.values && a.repr == b.repr,
        _ => false,
    }
}

fn renumbered(def: &TypeDef, ids: &[TypeId]) -> TypeDef {
    let mut def = def.clone();
    if let TypeDef::Record(record) = &mut def {
        for field in &mut record.fields {
            if let Element::Record(id) | Element::Enum(id) = &mut field.element {
                *id = ids[*id];
            }
        }
    }
    def
}

/// `point_cloud2` for `sensor_msgs/msg/PointCloud2`.
fn default_name(original: &str) -> String {
    let last = original.rsplit(['/', '.']).next().unwrap_or(original);
    let mut name = String::new();
    let letters: Vec<char> = last.chars().filter(char::is_ascii_alphanumeric).collect();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let next_is_small = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        let after_small = before.is_some_and(|c| !c.is_ascii_uppercase());
        if letter.is_ascii_uppercase() && before.is_some() && (after_small || next_is_small) {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.insert_str(0, "message_");
    }
    name
}
