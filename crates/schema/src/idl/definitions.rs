//! All that files of OMG IDL define, and the schema of a struct.

use std::collections::btree_map::{BTreeMap, Entry};

use anyhow::{bail, ensure, Context, Result};

use super::expression::evaluate;
use super::types::{Expression, IdlDefinition, IdlMember, IdlType, DEEPEST};
use crate::assemble::{assemble, unlegalized};
use crate::documentation::{Documentation, MemberDocumentation, TypeDocumentation};
use crate::model::{
    Cardinality, Element, Enum, EnumValue, Field, ProtobufEncoding, Record, Role, Scalar, Schema,
    TypeDef, TypeId,
};

/// All that is defined, by `module::Type`.
#[derive(Default)]
pub(super) struct IdlDefinitions(pub(super) BTreeMap<String, IdlDefinition>);

impl IdlDefinitions {
    /// Adds a definition.
    ///
    /// # Errors
    /// When there is another one of the name. Recordings repeat a file that two others use, so the
    /// same may come again.
    pub(super) fn add(&mut self, path: &[String], definition: IdlDefinition) -> Result<()> {
        match self.0.entry(path.join("::")) {
            Entry::Vacant(entry) => {
                entry.insert(definition);
            }
            Entry::Occupied(entry) => {
                ensure!(*entry.get() == definition, "{} is defined in two ways", entry.key());
            }
        }
        Ok(())
    }

    /// What a name means in a module, with its full name.
    pub(super) fn find(&self, name: &str, scope: &[String]) -> Result<(&str, &IdlDefinition)> {
        let full = |outer: usize| match outer {
            0 => name.trim_start_matches("::").to_owned(),
            _ => format!("{}::{name}", scope[..outer].join("::")),
        };
        let outermost = if name.starts_with("::") { 0 } else { scope.len() };
        let mut all = (0..=outermost).rev();
        let found = all.find_map(|outer| self.0.get_key_value(&full(outer)));
        let (name, definition) =
            found.with_context(|| format!("there is no definition of {name}"))?;
        Ok((name, definition))
    }

    /// What a field is made of: an element and how often it is there.
    fn resolve_field(
        &self,
        kind: &IdlType,
        sizes: &[Expression],
    ) -> Result<(IdlType, Multiplicity)> {
        let mut times = Multiplicity::Once;
        for size in sizes {
            times = times.times_array(self.length(size)?)?;
        }
        let mut kind = kind.clone();
        for _ in 0..DEEPEST {
            kind = match kind {
                IdlType::List(inner, bound) => {
                    ensure!(
                        matches!(times, Multiplicity::Once),
                        "a list of lists, which wiregauge cannot read"
                    );
                    let bound = bound.map(|bound| self.length(&bound));
                    times = Multiplicity::List(bound.transpose()?);
                    *inner
                }
                IdlType::Named(name, scope) => match self.find(&name, &scope)? {
                    (_, IdlDefinition::Alias(inner, sizes)) => {
                        for size in sizes {
                            times = times.times_array(self.length(size)?)?;
                        }
                        inner.clone()
                    }
                    (_, IdlDefinition::Other(what)) => bail!("{what}, which wiregauge cannot read"),
                    (full, _) => return Ok((IdlType::Named(full.to_owned(), Vec::new()), times)),
                },
                IdlType::Other(what) => bail!("{what}, which wiregauge cannot read"),
                plain => return Ok((plain, times)),
            };
        }
        bail!("the typedefs refer to each other in a circle")
    }

    /// The value of an expression of constants.
    pub(super) fn evaluate(&self, expression: &Expression) -> Result<i128> {
        evaluate(expression, &|name| match self.find(name, &expression.scope)? {
            (_, IdlDefinition::Number(number)) => Ok(*number),
            _ => bail!("{name} is not a constant"),
        })
    }

    /// The length of an array or the bound of a list.
    fn length(&self, length: &Expression) -> Result<u32> {
        let number = self.evaluate(length)?;
        ensure!(number != 0, "an array has no elements");
        u32::try_from(number).with_context(|| format!("a length of {number}"))
    }

    /// The full name of the root, of which a recording may leave out the middle.
    fn root(&self, name: &str) -> Result<String> {
        let path = name.replace('/', "::");
        let full = match path.rsplit_once("::") {
            Some((package, last)) => format!("{package}::msg::{last}"),
            None => path.clone(),
        };
        let known = [path, full].into_iter().find(|name| self.0.contains_key(name));
        known.with_context(|| format!("there is no definition of {name}"))
    }

    pub(super) fn schema(&self, name: &str) -> Result<Schema> {
        let root = self.root(name)?;
        let mut ids = BTreeMap::from([(root.clone(), 0)]);
        let (mut open, mut types, mut wording) = (vec![root], Vec::new(), Documentation::default());
        while let Some(name) = open.get(types.len()).cloned() {
            let original = name.replace("::", "/");
            let mut fields = Vec::new();
            let mut words = TypeDocumentation::default();
            match &self.0[&name] {
                IdlDefinition::Enum { bits, values } => {
                    types.push(enumeration(&original, *bits, values)?);
                    continue;
                }
                IdlDefinition::Struct { .. } => {}
                _ => bail!("{original} is not a struct"),
            }
            for member in self.members(&name, 0)? {
                let place = || format!("{original}.{}", member.name);
                ensure!(
                    !member.is_optional,
                    "{}: it is optional, which wiregauge cannot read",
                    place()
                );
                let shape = self.resolve_field(&member.kind, &member.sizes);
                let (kind, times) = shape.with_context(place)?;
                if let IdlType::WideText = kind {
                    let spelling = "wstring".to_owned();
                    let said = MemberDocumentation { spelling, ..MemberDocumentation::default() };
                    words.members.insert(member.name.clone(), said);
                }
                let element = match kind {
                    IdlType::Scalar(scalar) => Element::Scalar(scalar),
                    IdlType::Named(full, _) => {
                        let next = ids.len();
                        let id: TypeId = *ids.entry(full.clone()).or_insert(next);
                        if id == next {
                            open.push(full.clone());
                        }
                        match self.0[&full] {
                            IdlDefinition::Enum { .. } => Element::Enum(id),
                            _ => Element::Record(id),
                        }
                    }
                    _ => Element::String,
                };
                let octets = Element::Scalar(Scalar::U8);
                let (element, cardinality) = match times {
                    Multiplicity::List(None) if element == octets => {
                        (Element::Bytes, Cardinality::Required)
                    }
                    Multiplicity::List(bound) => (element, Cardinality::List { bound }),
                    Multiplicity::Array(len) => (element, Cardinality::Array { len }),
                    Multiplicity::Once => (element, Cardinality::Required),
                };
                fields.push(Field {
                    name: unlegalized(&member.name),
                    id: fields.len() as u32 + 1,
                    element,
                    cardinality,
                    wire: ProtobufEncoding::default(),
                    union: None,
                    default: None,
                });
            }
            wording.insert(&original, words);
            types.push(TypeDef::Record(Record {
                name: unlegalized(&original),
                fields,
                role: Role::Plain,
            }));
        }
        let mut schema = assemble(types, 0)?;
        schema.wording = wording;
        Ok(schema)
    }

    /// The fields of a struct, after those of the one that it builds on.
    fn members(&self, name: &str, depth: usize) -> Result<Vec<IdlMember>> {
        ensure!(depth < DEEPEST, "the structs inherit from each other in a circle");
        let IdlDefinition::Struct { base, members, .. } = &self.0[name] else {
            bail!("{name} is not a struct");
        };
        let mut all = Vec::new();
        if let Some(IdlType::Named(base, scope)) = base {
            let (base, _) = self.find(base, scope)?;
            all = self.members(base, depth + 1)?;
        }
        all.extend(members.iter().cloned());
        Ok(all)
    }
}

fn enumeration(original: &str, bits: u32, values: &[(String, i64)]) -> Result<TypeDef> {
    ensure!(!values.is_empty(), "{original} has no values");
    let is_signed = values.iter().any(|(_, number)| *number < 0);
    // XTypes 1.3, 7.3.1.2.1.5: an enum of at most 8 bits takes one byte, and so on.
    let repr = match (bits, is_signed) {
        (..=8, true) => Scalar::I8,
        (..=8, false) => Scalar::U8,
        (9..=16, true) => Scalar::I16,
        (9..=16, false) => Scalar::U16,
        (_, true) => Scalar::I32,
        (_, false) => Scalar::U32,
    };
    let value =
        |(name, number): &(String, i64)| EnumValue { name: unlegalized(name), number: *number };
    let values = values.iter().map(value).collect();
    Ok(TypeDef::Enum(Enum { name: unlegalized(original), repr, values }))
}

/// How often an element is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Multiplicity {
    Once,
    Array(u32),
    List(Option<u32>),
}

impl Multiplicity {
    /// Of an array of these.
    fn times_array(self, len: u32) -> Result<Multiplicity> {
        let before = match self {
            Multiplicity::Once => 1,
            Multiplicity::Array(before) => before,
            Multiplicity::List(_) => bail!("a list of lists, which wiregauge cannot read"),
        };
        Ok(Multiplicity::Array(before.checked_mul(len).context("an array is too long")?))
    }
}
