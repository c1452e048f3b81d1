//! Made-up messages of a wanted size.
//!
//! The values vary from element to element, because equal ones would flatter
//! every format that compresses or omits. They depend on nothing but schema,
//! sizes and seed: the same three give the same message for ever.

use std::collections::{HashMap, HashSet};

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;

use crate::model::{Cardinality, Element, Field, Record, Role, Scalar, Schema, TypeId};
use crate::value::Value;

/// Deepest nesting of records in a message.
const DEEPEST: usize = 200;

/// How large a generated message is.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// Elements in a list.
    pub list: usize,
    /// Characters in a string.
    pub text: usize,
    /// Octets in a bytes field.
    pub bytes: usize,
    /// Elements, characters or octets of single fields, by path: `points`,
    /// `header.frame_id`. Of a list of strings it is the number of strings.
    pub overrides: IndexMap<String, usize>,
    /// Probability from 0 to 1 that an optional field is there.
    pub presence: f64,
}

impl Default for Sizes {
    /// Lists of 10, strings and bytes of 16, everything present.
    fn default() -> Sizes {
        Sizes { list: 10, text: 16, bytes: 16, overrides: IndexMap::new(), presence: 1.0 }
    }
}

/// Generates a message.
///
/// Floats are finite, from -100 to 100; integers of all magnitudes that their
/// type holds; enums take a value they define, times a valid one, and of a union
/// at most one member is there. Bounds of lists limit the default size. A record
/// that contains itself ends at the first optional field or list that would
/// repeat it. The entries of a map have distinct keys, in order; there may be
/// fewer than wanted where the key's type has no more.
///
/// Fails on a path in `overrides` that does not exist, does not vary in size or
/// exceeds a bound, and on a record that cannot but contain itself.
pub fn generate(schema: &Schema, sizes: &Sizes, seed: u64) -> Result<Value> {
    ensure!(
        (0.0..=1.0).contains(&sizes.presence),
        "presence is a probability from 0 to 1, not {}",
        sizes.presence
    );
    let mut overrides = HashMap::new();
    for (path, size) in &sizes.overrides {
        overrides.insert(resolve(schema, path, *size)?, *size);
    }
    let mut generator = Generator {
        schema,
        sizes,
        overrides,
        random: Random(seed),
        path: Vec::new(),
        open: Vec::new(),
    };
    generator.record(schema.root)
}

/// What a generated message would take, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// In memory, as a [`Value`].
    pub memory: u128,
    /// In the canonical form.
    pub canonical: u128,
}

impl Estimate {
    fn plus(self, other: Estimate) -> Estimate {
        Estimate {
            memory: self.memory.saturating_add(other.memory),
            canonical: self.canonical.saturating_add(other.canonical),
        }
    }

    /// Of so many of these.
    pub fn times(self, count: usize) -> Estimate {
        Estimate {
            memory: self.memory.saturating_mul(count as u128),
            canonical: self.canonical.saturating_mul(count as u128),
        }
    }
}

/// Estimates what [`generate`] would make, with every optional field there and
/// every member of a union, without making it. Fails like it on a path that
/// does not exist. The schema must not recurse.
pub fn estimate(schema: &Schema, sizes: &Sizes) -> Result<Estimate> {
    let mut overrides = HashMap::new();
    for (path, size) in &sizes.overrides {
        overrides.insert(resolve(schema, path, *size)?, *size);
    }
    // Each type once as it is without overrides, those that it uses before it.
    let mut plain = vec![Estimate::default(); schema.types.len()];
    for (id, record) in schema.records() {
        let fields = record
            .fields
            .iter()
            .map(|field| estimate_field(schema, sizes, field, None, |inner| plain[inner]));
        plain[id] = fields.fold(empty_value(), Estimate::plus);
    }
    Ok(estimate_record(schema, sizes, &overrides, &plain, schema.root, &mut Vec::new()))
}

/// A record on a path that may lead to an override.
fn estimate_record(
    schema: &Schema,
    sizes: &Sizes,
    overrides: &HashMap<Vec<usize>, usize>,
    plain: &[Estimate],
    id: TypeId,
    path: &mut Vec<usize>,
) -> Estimate {
    if !overrides.keys().any(|known| known.starts_with(path)) {
        return plain[id];
    }
    let mut total = empty_value();
    for (index, field) in schema.record(id).fields.iter().enumerate() {
        path.push(index);
        let wanted = overrides.get(path).copied();
        let field = estimate_field(schema, sizes, field, wanted, |inner| {
            estimate_record(schema, sizes, overrides, plain, inner, path)
        });
        total = total.plus(field);
        path.pop();
    }
    total
}

/// A value without content.
fn empty_value() -> Estimate {
    Estimate { memory: size_of::<Value>() as u128, canonical: 0 }
}

fn estimate_field(
    schema: &Schema,
    sizes: &Sizes,
    field: &Field,
    wanted: Option<usize>,
    record: impl FnOnce(TypeId) -> Estimate,
) -> Estimate {
    let is_list = matches!(field.cardinality, Cardinality::List { .. });
    let octets = |default: usize| {
        let size = wanted.filter(|_| !is_list).unwrap_or(default) as u128;
        empty_value().plus(Estimate { memory: size, canonical: size.saturating_add(4) })
    };
    let element = match field.element {
        Element::Record(inner) => record(inner),
        Element::String => octets(sizes.text),
        Element::Bytes => octets(sizes.bytes),
        Element::Scalar(_) | Element::Enum(_) => {
            let size = schema.scalar(field.element).map_or(0, Scalar::size) as u128;
            empty_value().plus(Estimate { memory: 0, canonical: size })
        }
    };
    match field.cardinality {
        Cardinality::Required | Cardinality::Implicit => element,
        Cardinality::Optional => element.plus(Estimate { memory: 0, canonical: 1 }),
        Cardinality::Array { len } => empty_value().plus(element.times(len as usize)),
        Cardinality::List { bound } => {
            let len = wanted.unwrap_or(sizes.list).min(bound.map_or(usize::MAX, |b| b as usize));
            empty_value().plus(Estimate { memory: 0, canonical: 4 }).plus(element.times(len))
        }
    }
}

/// The field indices that a path in text form names, by original or legal
/// names; checks that the last field can have that size.
fn resolve(schema: &Schema, path: &str, size: usize) -> Result<Vec<usize>> {
    let mut indices = Vec::new();
    let mut id = Some(schema.root);
    let mut last: Option<&Field> = None;
    for part in path.split('.') {
        // As in paths to numbers, `points[].name` and `points.name` are the same.
        let part = part.strip_suffix("[]").unwrap_or(part);
        let record =
            schema.record(id.with_context(|| format!("size of '{path}': there is no such field"))?);
        let index = record
            .fields
            .iter()
            .position(|f| f.name.original == part || f.name.legal == part)
            .with_context(|| {
                let known: Vec<&str> =
                    record.fields.iter().map(|f| f.name.original.as_str()).collect();
                let record = &record.name.original;
                format!("size of '{path}': {record} has no '{part}'; it has {}", known.join(", "))
            })?;
        indices.push(index);
        let field = &record.fields[index];
        id = match field.element {
            Element::Record(inner) => Some(inner),
            _ => None,
        };
        last = Some(field);
    }
    match last.map(|field| (field.cardinality, field.element)) {
        Some((Cardinality::List { bound: Some(bound) }, _)) if size > bound as usize => {
            bail!("size of '{path}': {size} is more than its bound, {bound}")
        }
        Some((Cardinality::List { .. }, _) | (_, Element::String | Element::Bytes)) => Ok(indices),
        _ => bail!("size of '{path}': its size is fixed; choose a list, a string or bytes"),
    }
}

struct Generator<'a> {
    schema: &'a Schema,
    sizes: &'a Sizes,
    /// By field indices from the root.
    overrides: HashMap<Vec<usize>, usize>,
    random: Random,
    /// Field indices from the root to the current field.
    path: Vec<usize>,
    /// The records that contain the current field.
    open: Vec<TypeId>,
}

impl Generator<'_> {
    fn record(&mut self, id: TypeId) -> Result<Value> {
        let record = self.schema.record(id);
        ensure!(
            !self.open.contains(&id),
            "{} always contains itself, so a message would never end",
            record.name.original
        );
        // Circles of many records would be followed through each of them.
        ensure!(self.open.len() < DEEPEST, "{} is nested too deeply", record.name.original);
        self.open.push(id);
        let chosen = self.choose_members(record);
        let mut values = Vec::with_capacity(record.fields.len());
        for (index, field) in record.fields.iter().enumerate() {
            self.path.push(index);
            let excluded = field.union.is_some() && !chosen.contains(&index);
            values.push(match excluded {
                true => Value::Absent,
                false => self.field(record.role, index, field)?,
            });
            self.path.pop();
        }
        self.open.pop();
        Ok(Value::Record(values))
    }

    /// One member of each union of a record, by index.
    fn choose_members(&mut self, record: &Record) -> Vec<usize> {
        let mut unions: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (index, field) in record.fields.iter().enumerate() {
            if let Some(union) = &field.union {
                unions.entry(union).or_default().push(index);
            }
        }
        let members = unions.values();
        members.map(|members| members[self.random.below(members.len() as u64) as usize]).collect()
    }

    fn field(&mut self, role: Role, index: usize, field: &Field) -> Result<Value> {
        let repeats_itself =
            matches!(field.element, Element::Record(id) if self.open.contains(&id));
        let wanted = self.overrides.get(&self.path).copied();
        match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => {
                self.element(role, index, field.element, wanted)
            }
            Cardinality::Optional => {
                // Drawn in any case, so that one field does not shift the others.
                let present = self.random.unit() < self.sizes.presence;
                match present && !repeats_itself {
                    true => self.element(role, index, field.element, wanted),
                    false => Ok(Value::Absent),
                }
            }
            Cardinality::List { bound } => {
                let bound = bound.map_or(usize::MAX, |bound| bound as usize);
                let len = if repeats_itself { 0 } else { wanted.unwrap_or(self.sizes.list) };
                self.list(field.element, len.min(bound))
            }
            Cardinality::Array { len } => {
                let elements = (0..len).map(|_| self.element(Role::Plain, 0, field.element, None));
                Ok(Value::List(elements.collect::<Result<_>>()?))
            }
        }
    }

    fn list(&mut self, element: Element, len: usize) -> Result<Value> {
        let is_map = matches!(element, Element::Record(id)
            if self.schema.record(id).role == Role::MapEntry);
        let mut values = Vec::with_capacity(len);
        let mut keys = HashSet::new();
        for _ in 0..len {
            let value = self.element(Role::Plain, 0, element, None)?;
            if !is_map || keys.insert(format!("{:?}", value.map_key())) {
                values.push(value);
            }
        }
        if is_map {
            values.sort_by(Value::compare_keys);
        }
        Ok(Value::List(values))
    }

    /// An element of the field with this index in a record of this role.
    fn element(
        &mut self,
        role: Role,
        index: usize,
        element: Element,
        size: Option<usize>,
    ) -> Result<Value> {
        Ok(match element {
            Element::Record(id) => self.record(id)?,
            Element::String => Value::String(self.random.text(size.unwrap_or(self.sizes.text))),
            Element::Bytes => Value::Bytes(self.random.bytes(size.unwrap_or(self.sizes.bytes))),
            Element::Enum(id) => {
                let def = self.schema.enumeration(id);
                let at = self.random.below(def.values.len() as u64) as usize;
                integer(def.repr, def.values[at].number)
            }
            Element::Scalar(scalar) => match (role, index) {
                (Role::Timestamp, 0) => {
                    integer(scalar, 1_600_000_000 + self.random.below(100_000_000) as i64)
                }
                (Role::Duration, 0) => integer(scalar, self.random.below(1000) as i64),
                (Role::Timestamp | Role::Duration, _) => {
                    integer(scalar, self.random.below(1_000_000_000) as i64)
                }
                _ => self.random.scalar(scalar),
            },
        })
    }
}

/// A number that an integer type holds.
fn integer(scalar: Scalar, number: i64) -> Value {
    match Value::zero(scalar) {
        Value::Unsigned(_) => Value::Unsigned(number as u64),
        _ => Value::Signed(number),
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, good enough for made-up values,
/// and ours, so that no update of a library changes what is measured.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from 0 up to but not including 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An unsigned number of `bits` binary digits at most, each length of which
    /// is equally likely.
    fn magnitude(&mut self, bits: u32) -> u64 {
        let length = self.below(u64::from(bits)) + 1;
        self.next() >> (64 - length)
    }

    fn scalar(&mut self, scalar: Scalar) -> Value {
        let bits = scalar.size() as u32 * 8;
        match scalar {
            Scalar::Bool => Value::Bool(self.next() & 1 == 1),
            Scalar::F32 => Value::F32((self.unit() * 200.0 - 100.0) as f32),
            Scalar::F64 => Value::F64(self.unit() * 200.0 - 100.0),
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => {
                Value::Unsigned(self.magnitude(bits))
            }
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
                let number = self.magnitude(bits - 1) as i64;
                Value::Signed(if self.next() & 1 == 1 { !number } else { number })
            }
        }
    }

    /// Lower-case words with single spaces between them.
    fn text(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len);
        let mut left_in_word = self.below(8) + 2;
        while text.len() < len {
            // No space at the end: some formats trim.
            if left_in_word == 0 && text.len() + 1 < len {
                text.push(' ');
                left_in_word = self.below(8) + 2;
            } else {
                text.push(char::from(b'a' + self.below(26) as u8));
                left_in_word = left_in_word.saturating_sub(1);
            }
        }
        text
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 56) as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::msg::{self, Dialect};
    use crate::{arbitrary, canonical, proto};

    fn scan() -> Schema {
        let text = "string name\nuint8[] data\nfloat32[] xs\nint16[<=3] few\nint64[2] pair";
        msg::read_text(text, "p/Scan", Dialect::Ros2, "test").unwrap()
    }

    fn sized(path: &str, size: usize) -> Sizes {
        let overrides = IndexMap::from([(path.to_owned(), size)]);
        Sizes { overrides, ..Sizes::default() }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_for_ever() {
        let value = generate(&scan(), &Sizes { list: 2, ..Sizes::default() }, 7).unwrap();
        let bytes = canonical::encode(&scan(), &value).unwrap();
        // FNV-1a, as a digest that needs no library.
        let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!(digest, 17249907458809629742, "{value:?}");
        // The published test vector of SplitMix64.
        assert_eq!(Random(1234567).next(), 6457827717110365317);
        assert_ne!(generate(&scan(), &Sizes::default(), 8).unwrap(), value);
    }

    #[test]
    fn sizes_are_respected() {
        let Value::Record(values) = generate(&scan(), &sized("data", 1000), 1).unwrap() else {
            panic!()
        };
        let lens: Vec<usize> = values
            .iter()
            .map(|value| match value {
                Value::String(text) => text.len(),
                Value::Bytes(bytes) => bytes.len(),
                Value::List(values) => values.len(),
                _ => 0,
            })
            .collect();
        assert_eq!(lens, [16, 1000, 10, 3, 2]);
    }

    #[test]
    fn an_estimate_is_what_is_made() {
        for sizes in [Sizes::default(), sized("data", 1000), sized("xs", 300)] {
            let estimate = estimate(&scan(), &sizes).unwrap();
            let value = generate(&scan(), &sizes, 1).unwrap();
            let canonical = canonical::encode(&scan(), &value).unwrap();
            assert_eq!(estimate.canonical, canonical.len() as u128);
            assert_eq!(estimate.memory, u128::from(value.memory()));
        }
        let huge = estimate(&scan(), &sized("data", usize::MAX)).unwrap();
        assert!(huge.times(usize::MAX).times(usize::MAX).memory > u128::from(u64::MAX));
        let text = "int32[4000000000] x\n".to_owned() + "int32[4000000000] y\n";
        let arrays = msg::read_text(&text, "p/R", msg::Dialect::Ros2, "test").unwrap();
        assert!(estimate(&arrays, &Sizes::default()).unwrap().canonical >= 32_000_000_000);
    }

    #[test]
    fn wrong_overrides_are_refused() {
        for (path, wanted) in [
            ("nothing", "has no 'nothing'"),
            ("pair", "size is fixed"),
            ("few", "more than its bound"),
            ("xs.y", "no such field"),
        ] {
            let error = generate(&scan(), &sized(path, 100), 1).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn presence_is_a_probability() {
        let text = "syntax = \"proto2\"; message A { optional int32 a = 1; }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        let presence = |presence| Sizes { presence, ..Sizes::default() };
        let absent = Value::Record(vec![Value::Absent]);
        assert_eq!(generate(&schema, &presence(0.0), 1).unwrap(), absent);
        assert_ne!(generate(&schema, &presence(1.0), 1).unwrap(), absent);
        assert!(generate(&schema, &presence(2.0), 1).is_err());
    }

    #[test]
    fn a_union_has_one_member_and_a_map_ordered_keys() {
        let text = "syntax = \"proto3\"; message A {
            oneof choice { int32 a = 1; int32 b = 2; int32 c = 3; } map<int32, bool> map = 4; }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        for seed in 0..20 {
            let value = generate(&schema, &sized("map", 50), seed).unwrap();
            let Value::Record(values) = value else { panic!() };
            assert_eq!(values.iter().filter(|v| **v == Value::Absent).count(), 2);
            let Value::List(entries) = &values[3] else { panic!() };
            assert!(entries.len() > 25);
            assert!(entries.is_sorted_by(|a, b| a.compare_keys(b).is_lt()));
        }
    }

    #[test]
    fn a_recursive_message_ends() {
        let text = "syntax = \"proto2\"; message A { optional A a = 1; repeated A b = 2; }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        generate(&schema, &Sizes::default(), 1).unwrap();
        let text = "syntax = \"proto2\"; message A { required A a = 1; }";
        let schema = proto::read_texts(&[("a.proto", text)], None).unwrap();
        assert!(generate(&schema, &Sizes::default(), 1).is_err());
    }

    proptest! {
        #[test]
        fn generated_values_survive_the_canonical_form((schema, value) in arbitrary::message()) {
            let bytes = canonical::encode(&schema, &value).unwrap();
            prop_assert_eq!(canonical::decode(&schema, &bytes).unwrap(), value);
        }

        #[test]
        fn canonical_decode_refuses_or_reads_any_bytes(
            (schema, value) in arbitrary::message(),
            noise in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = canonical::encode(&schema, &value).unwrap();
            for (at, byte) in noise {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            if let Ok(value) = canonical::decode(&schema, &bytes) {
                prop_assert_eq!(canonical::encode(&schema, &value).unwrap(), bytes);
            }
        }
    }
}
