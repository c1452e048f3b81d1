//! Random schemas and messages for property tests, with the cargo feature
//! `arbitrary`.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use proptest::sample::Index;

use crate::assemble::{assemble, unlegalized};
use crate::generate::{generate, Sizes};
use crate::model::{
    Cardinality, Element, Enum, EnumValue, Field, ProtobufEncoding, Record, Role, Scalar, Schema,
    TypeDef, TypeId,
};
use crate::value::Value;

/// Any schema that does not recurse: up to five records of up to six fields,
/// with enums, maps, unions and times, awkward names, and every record with at
/// least one field.
pub fn schema() -> impl Strategy<Value = Schema> {
    let record = prop::collection::vec(field(), 1..=6);
    (enumeration(), prop::collection::vec(record, 1..=5)).prop_map(|(enumeration, records)| {
        let mut types = vec![
            TypeDef::Enum(enumeration),
            time("time", Role::Timestamp),
            time("span", Role::Duration),
        ];
        for (at, drafts) in records.into_iter().enumerate() {
            let mut fields = Vec::new();
            for (position, draft) in drafts.into_iter().enumerate() {
                fields.push(finish(draft, position, &mut types));
            }
            let name = unlegalized(&format!("test/Record{at}"));
            types.push(TypeDef::Record(Record { name, fields, role: Role::Plain }));
        }
        let root = types.len() - 1;
        assemble(types, root).expect("field names are distinct")
    })
}

/// A schema and a message of it: everything present or about half of it, lists
/// of 0 to 3, strings and bytes of 0 to 20.
pub fn message() -> impl Strategy<Value = (Schema, Value)> {
    let sizes = (0..=3usize, 0..=20usize, prop_oneof![Just(0.5), Just(1.0)]);
    (schema(), sizes, any::<u64>()).prop_map(|(schema, (list, text, presence), seed)| {
        let sizes = Sizes { list, text, bytes: text, presence, ..Sizes::default() };
        let value = generate(&schema, &sizes, seed).expect("the sizes name no paths");
        (schema, value)
    })
}

/// A schema with other names: those of types, of fields, of values and of unions are taken
/// from `next`, which must not run out of new ones.
pub fn renamed(mut schema: Schema, mut next: impl FnMut() -> String) -> Schema {
    for def in &mut schema.types {
        let mut taken = HashSet::new();
        let mut other = || loop {
            let name = next();
            if taken.insert(name.clone()) {
                return name;
            }
        };
        let original = format!("{}.{}", other(), other());
        match def {
            TypeDef::Record(record) => {
                record.name = unlegalized(&original);
                let mut unions: HashMap<String, String> = HashMap::new();
                for field in &mut record.fields {
                    field.name = unlegalized(&other());
                    if let Some(union) = &mut field.union {
                        *union = unions.entry(union.clone()).or_insert_with(&mut other).clone();
                    }
                }
            }
            TypeDef::Enum(def) => {
                def.name = unlegalized(&original);
                def.values.iter_mut().for_each(|value| value.name = unlegalized(&other()));
            }
        }
    }
    let Schema { types, root, .. } = schema;
    assemble(types, root).expect("no name is there twice")
}

/// A field whose record type, if any, is still to be chosen.
#[derive(Clone, Debug)]
struct Draft {
    name: &'static str,
    element: DraftElement,
    cardinality: Cardinality,
    in_union: bool,
}

#[derive(Clone, Debug)]
enum DraftElement {
    Simple(Element),
    /// One of the types made so far.
    Type(Index),
    /// A map from this key to this scalar.
    Map(Element, Scalar),
}

fn field() -> impl Strategy<Value = Draft> {
    let names = ["data", "type", "x_", "HTTPServer", "pointCount", "a_1", "Ünicode", "scan"];
    let cardinality = prop_oneof![
        Just(Cardinality::Required),
        Just(Cardinality::Implicit),
        Just(Cardinality::Optional),
        Just(Cardinality::List { bound: None }),
        (1..5u32).prop_map(|bound| Cardinality::List { bound: Some(bound) }),
        (1..4u32).prop_map(|len| Cardinality::Array { len }),
    ];
    (prop::sample::select(names.to_vec()), element(), cardinality, any::<bool>()).prop_map(
        |(name, element, cardinality, in_union)| Draft { name, element, cardinality, in_union },
    )
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop::sample::select(Scalar::ALL.to_vec())
}

fn element() -> impl Strategy<Value = DraftElement> {
    let key = prop_oneof![
        Just(Element::String),
        prop::sample::select(vec![Scalar::Bool, Scalar::U32, Scalar::I64])
            .prop_map(Element::Scalar),
    ];
    prop_oneof![
        6 => scalar().prop_map(|s| DraftElement::Simple(Element::Scalar(s))),
        1 => Just(DraftElement::Simple(Element::String)),
        1 => Just(DraftElement::Simple(Element::Bytes)),
        3 => any::<Index>().prop_map(DraftElement::Type),
        1 => (key, scalar()).prop_map(|(key, value)| DraftElement::Map(key, value)),
    ]
}

fn enumeration() -> impl Strategy<Value = Enum> {
    let repr = prop::sample::select(vec![Scalar::U8, Scalar::I8, Scalar::U16, Scalar::I32]);
    (repr, prop::collection::btree_set(1..100i64, 0..5)).prop_map(|(repr, mut numbers)| {
        // Formats that omit zeros need a zero to omit.
        numbers.insert(0);
        let value = |number| EnumValue { name: unlegalized(&format!("VALUE_{number}")), number };
        Enum {
            name: unlegalized("test/Kind"),
            repr,
            values: numbers.into_iter().map(value).collect(),
        }
    })
}

fn time(name: &str, role: Role) -> TypeDef {
    let field = |name, id, scalar| Field {
        name: unlegalized(name),
        id,
        element: Element::Scalar(scalar),
        cardinality: Cardinality::Required,
        wire: ProtobufEncoding::default(),
        union: None,
        default: None,
    };
    let fields = vec![field("secs", 1, Scalar::I64), field("nanos", 2, Scalar::I32)];
    TypeDef::Record(Record { name: unlegalized(&format!("test/{name}")), fields, role })
}

/// Makes a field of a draft; ids have gaps, as Protobuf's may.
fn finish(draft: Draft, position: usize, types: &mut Vec<TypeDef>) -> Field {
    let mut cardinality = draft.cardinality;
    let element = match draft.element {
        DraftElement::Simple(element) => element,
        DraftElement::Type(index) => {
            let types_for_fields = usable(types);
            let id = types_for_fields[index.index(types_for_fields.len())];
            match &types[id] {
                TypeDef::Record(_) => Element::Record(id),
                TypeDef::Enum(_) => Element::Enum(id),
            }
        }
        DraftElement::Map(key, value) => {
            cardinality = Cardinality::List { bound: None };
            types.push(map_entry(types.len(), key, value));
            Element::Record(types.len() - 1)
        }
    };
    // No reader makes an implicit record: a record in Protobuf has presence.
    if matches!(element, Element::Record(_)) && cardinality == Cardinality::Implicit {
        cardinality = Cardinality::Required;
    }
    // `uint8[]` is bytes in every reader.
    let octets =
        element == Element::Scalar(Scalar::U8) && cardinality == Cardinality::List { bound: None };
    let (element, cardinality) = match octets {
        true => (Element::Bytes, Cardinality::Required),
        false => (element, cardinality),
    };
    let in_union = draft.in_union && cardinality == Cardinality::Optional;
    Field {
        name: unlegalized(&format!("{}{position}", draft.name)),
        id: 3 * position as u32 + 1,
        element,
        cardinality,
        wire: ProtobufEncoding::default(),
        union: in_union.then(|| "choice".to_owned()),
        default: None,
    }
}

/// The types that a field may name: all but the entries of maps.
fn usable(types: &[TypeDef]) -> Vec<TypeId> {
    let is_entry = |def: &TypeDef| matches!(def, TypeDef::Record(r) if r.role == Role::MapEntry);
    (0..types.len()).filter(|id| !is_entry(&types[*id])).collect()
}

fn map_entry(at: usize, key: Element, value: Scalar) -> TypeDef {
    let field = |name, id, element| Field {
        name: unlegalized(name),
        id,
        element,
        cardinality: Cardinality::Required,
        wire: ProtobufEncoding::default(),
        union: None,
        default: None,
    };
    let fields = vec![field("key", 1, key), field("value", 2, Element::Scalar(value))];
    let name = unlegalized(&format!("test/Entry{at}"));
    TypeDef::Record(Record { name, fields, role: Role::MapEntry })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest! {
        #[test]
        fn schemas_survive_json(schema in schema()) {
            let text = serde_json::to_string(&schema).unwrap();
            prop_assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
        }

        #[test]
        fn types_stand_after_those_they_use(schema in schema()) {
            prop_assert_eq!(schema.recursive_type(), None);
            for (id, record) in schema.records() {
                for field in &record.fields {
                    if let Element::Record(used) | Element::Enum(used) = field.element {
                        prop_assert!(used < id);
                    }
                }
            }
        }
    }
}
