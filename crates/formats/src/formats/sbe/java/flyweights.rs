//! Where a message's records stand: in Java a record has a flyweight of its own wherever it
//! does.

use std::collections::{BTreeMap, BTreeSet};

use wiregauge_normalized::SourceWriter;
use wiregauge_schema::{Element, Field, Record, Schema, TypeId};

use crate::formats::sbe::layout::{
    block_size, group, min_size, placement, FieldPlacement, GroupEntry,
};
use crate::language::java::message::JavaMessage;

/// The records that stand in blocks.
pub fn composites(schema: &Schema) -> impl Iterator<Item = TypeId> {
    let mut all = BTreeSet::new();
    for (_, record) in schema.records() {
        for field in &record.fields {
            if let (FieldPlacement::Block, Element::Record(id)) =
                (placement(schema, field), field.element)
            {
                all.insert(id);
            }
        }
    }
    all.into_iter()
}

/// Where a record stands: the names of its classes from the outermost on.
pub struct Flyweight {
    /// The record.
    pub id: TypeId,
    /// Its classes; none where it has no bytes.
    pub names: Vec<String>,
    /// The spots of its fields that are records, by their places.
    pub inner: BTreeMap<usize, usize>,
}

impl Flyweight {
    /// Its class, an `Encoder` or a `Decoder`.
    pub fn class(&self, way: &str) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("{name}{way}")).collect();
        format!("wg.{}", names.join("."))
    }
}

/// All spots of a message, itself first.
pub fn find_flyweights(schema: &Schema) -> Vec<Flyweight> {
    let spot = |id: TypeId, names: Vec<String>| Flyweight { id, names, inner: BTreeMap::new() };
    let mut all = vec![spot(schema.root, vec![schema.root().name.legal.clone()])];
    let mut composites = BTreeMap::new();
    let mut done = 0;
    while done < all.len() {
        for (at, field) in schema.record(all[done].id).fields.iter().enumerate() {
            let Element::Record(id) = field.element else { continue };
            let number = match placement(schema, field) {
                FieldPlacement::Block => *composites.entry(id).or_insert_with(|| {
                    all.push(spot(id, vec![schema.record(id).name.legal.clone()]));
                    all.len() - 1
                }),
                FieldPlacement::Group => {
                    let mut names = all[done].names.clone();
                    names.push(format!("{}_", capital(&field.name.legal)));
                    all.push(spot(id, names));
                    all.len() - 1
                }
                _ => {
                    all.push(spot(id, Vec::new()));
                    all.len() - 1
                }
            };
            all[done].inner.insert(at, number);
        }
        done += 1;
    }
    all
}

/// A name behind a word.
pub fn capital(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// The glue of a message.
pub struct Glue<'a> {
    /// Its normalized form.
    pub form: &'a JavaMessage<'a>,
    /// The message.
    pub schema: &'a Schema,
    /// Where its records stand.
    pub spots: &'a [Flyweight],
}

impl Glue<'_> {
    /// The record of a spot.
    pub fn record(&self, number: usize) -> &Record {
        self.schema.record(self.spots[number].id)
    }

    /// Opens a field's group as `g`, of `n` entries.
    pub fn enter(&self, field: &Field, from: &str, g: &str, n: &str, code: &mut SourceWriter) {
        let entry = group(self.schema, field).0;
        let block = match entry {
            GroupEntry::Number(scalar) => scalar.size() as u64,
            GroupEntry::Octets => 0,
            GroupEntry::Record(id) => block_size(self.schema, id),
        };
        let behind = min_size(self.schema, entry) - block;
        code.line(format!("var {g} = {from}.{}_();", field.name.legal));
        code.line(format!(
            "int {n} = Blocks.count(in, decoder.limit(), {g}.count(), {g}.actingBlockLength(), \
             {block}, {behind});"
        ));
    }
}
