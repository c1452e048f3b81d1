//! Which field of a definition in FlatBuffers is which of one in Protobuf: by their names, or
//! by those that the message compiler makes of them where languages have words like that.
//!
//! A struct holds numbers only, so what else a record has stands beside the list of structs,
//! as the message compiler puts it: `reflection` and `reflection_object_id`.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use prost_reflect::{FieldDescriptor, Kind as Protobuf, MessageDescriptor};

use wiregauge_schema::name;

use crate::definition::{Definition, Field, FieldCount, FieldKind, Object};

/// A type in both.
pub struct Pair {
    pub object: Object,
    pub message: MessageDescriptor,
    /// By Protobuf's number.
    pub members: BTreeMap<u32, Member>,
}

/// A field in both.
pub struct Member {
    pub flat: Field,
    pub proto: FieldDescriptor,
    /// What kind of pair it is; none where it is no record.
    pub pair: Option<usize>,
    /// What stands beside a list of structs, by Protobuf's number in the element.
    pub side_lists: BTreeMap<u32, Member>,
}

impl Member {
    /// Whether it is in a group of which at most one is there: absent, it has no value.
    pub fn is_in_oneof(&self) -> bool {
        self.proto.containing_oneof().is_some_and(|group| !group.is_synthetic())
    }
}

/// A message type in both.
pub struct Pairing {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) root: usize,
}

impl Pairing {
    /// Of the table with this full name, without one the root, and a message.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn new(
        definition: &Definition,
        name: &str,
        message: &MessageDescriptor,
    ) -> Result<Pairing> {
        let mut pairer = PairingBuilder { definition, pairs: Vec::new(), known: HashMap::new() };
        let root = pairer.pair(definition.table(name)?, message);
        let pairs = pairer.pairs.into_iter().flatten().collect();
        Ok(Pairing { pairs, root })
    }
}

struct PairingBuilder<'d> {
    definition: &'d Definition,
    /// None while a pair is being made.
    pairs: Vec<Option<Pair>>,
    known: HashMap<(usize, String), usize>,
}

impl PairingBuilder<'_> {
    /// The number of a pair, which is made on its first use: types may hold themselves.
    fn pair(&mut self, object: usize, message: &MessageDescriptor) -> usize {
        let key = (object, message.full_name().to_owned());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let number = self.pairs.len();
        self.known.insert(key, number);
        self.pairs.push(None);
        let object = self.definition.objects[object].clone();
        let mut members = BTreeMap::new();
        for (proto, name) in fields_with_names(message) {
            let Some(mut member) = self.member(&object, &name, &proto) else { continue };
            if let Protobuf::Message(element) = proto.kind() {
                self.add_side_lists(&object, &mut member, &element);
            }
            members.insert(proto.number(), member);
        }
        self.pairs[number] = Some(Pair { object, message: message.clone(), members });
        number
    }

    /// The field of this name that holds what a field of Protobuf does.
    fn member(&mut self, object: &Object, name: &str, proto: &FieldDescriptor) -> Option<Member> {
        let fields = &object.fields;
        let exact = fields.iter().find(|field| field.name == proto.name());
        let flat = exact.or_else(|| fields.iter().find(|field| field.name == name))?.clone();
        let is_list = proto.is_list() || proto.is_map();
        let is_vector = flat.count == FieldCount::Vector;
        let pair = match (&flat.kind, proto.kind()) {
            (FieldKind::Object(id), Protobuf::Message(of)) if is_list == is_vector => {
                Some(self.pair(*id, &of))
            }
            (FieldKind::Text, Protobuf::String) if is_list == is_vector => None,
            (FieldKind::Scalar(of), Protobuf::Bytes) if of.size() == 1 && is_vector && !is_list => {
                None
            }
            (FieldKind::Scalar(_), Protobuf::Message(_) | Protobuf::String | Protobuf::Bytes) => {
                return None
            }
            (FieldKind::Scalar(_), _) if is_list == is_vector => None,
            _ => return None,
        };
        // An array of a struct has a length of its own, which no list of Protobuf has.
        (!matches!(flat.count, FieldCount::Array(_))).then(|| Member {
            flat,
            proto: proto.clone(),
            pair,
            side_lists: BTreeMap::new(),
        })
    }

    fn add_side_lists(
        &mut self,
        object: &Object,
        member: &mut Member,
        element: &MessageDescriptor,
    ) {
        let FieldKind::Object(id) = member.flat.kind else { return };
        let inner = &self.definition.objects[id];
        if inner.fixed.is_none() || member.flat.count != FieldCount::Vector {
            return;
        }
        for (proto, legal) in fields_with_names(element) {
            let name = format!("{}_{legal}", member.flat.name);
            let is_single = !proto.is_list() && !proto.is_map();
            let in_struct = inner.fields.iter().any(|field| field.name == legal);
            let flat = object.fields.iter().find(|field| field.name == name);
            let Some(flat) =
                flat.filter(|f| is_single && !in_struct && f.count == FieldCount::Vector)
            else {
                continue;
            };
            let pair = match (&flat.kind, proto.kind()) {
                (FieldKind::Object(id), Protobuf::Message(of)) => Some(self.pair(*id, &of)),
                (FieldKind::Text, Protobuf::String) => None,
                _ => continue,
            };
            let flat = flat.clone();
            let beside = Member { flat, proto: proto.clone(), pair, side_lists: BTreeMap::new() };
            member.side_lists.insert(proto.number(), beside);
        }
    }
}

/// The fields of a message, and how the message compiler calls them.
fn fields_with_names(
    message: &MessageDescriptor,
) -> impl Iterator<Item = (FieldDescriptor, String)> {
    let fields: Vec<FieldDescriptor> = message.fields().collect();
    let names = name::legal_fields(&fields.iter().map(|field| field.name()).collect::<Vec<_>>());
    fields.into_iter().zip(names.into_iter().map(|name| name.legal))
}
