//! The fields of a record as formats without fixed arrays have them: a short
//! array of numbers is so many fields, as its author would write it there.

use wiregauge_schema::path::{ElementIndex, PathStep};
use wiregauge_schema::{Cardinality, Field, Record, Schema};

/// One field of such a format.
#[derive(Clone)]
pub struct FlattenedField {
    /// The field as the format has it.
    pub field: Field,
    /// Place in the record of the field that it is, or is one number of.
    pub place: usize,
    /// The member of the normalized structure: `guid`, `position[1]`.
    pub value: String,
    /// Which number of an array it is.
    pub number: Option<u32>,
}

/// The slots of a record. Where an array is spread, fields are numbered by their
/// positions, as there are more than the definition has numbers for.
pub fn flatten_fields(schema: &Schema, record: &Record) -> Vec<FlattenedField> {
    let mut slots = Vec::new();
    for (place, slot) in keep_fields(record).into_iter().enumerate() {
        let Some(len) = schema.flattened_length(&slot.field) else {
            slots.push(slot);
            continue;
        };
        let stem = element_prefix(record, &slot.field, len);
        slots.extend((0..len).map(|number| {
            let mut field = slot.field.clone();
            field.name.legal = format!("{stem}_{number}");
            field.cardinality = Cardinality::Required;
            let value = format!("{}[{number}]", slot.value);
            FlattenedField { field, place, value, number: Some(number) }
        }));
    }
    if slots.iter().any(|slot| slot.number.is_some()) {
        for (id, slot) in (1..).zip(&mut slots) {
            slot.field.id = id;
        }
    }
    slots
}

/// A slot for each field as it is.
pub fn keep_fields(record: &Record) -> Vec<FlattenedField> {
    let slot = |(place, field): (usize, &Field)| FlattenedField {
        field: field.clone(),
        place,
        value: field.name.legal.clone(),
        number: None,
    };
    record.fields.iter().enumerate().map(slot).collect()
}

/// What `_0`, `_1` … are appended to. Names must differ from those of all other
/// fields without regard to underscores.
pub fn element_prefix(record: &Record, field: &Field, len: u32) -> String {
    let key = |name: &str| name.replace('_', "");
    let mut stem = field.name.legal.clone();
    let is_taken = |stem: &str| {
        let mut names = (0..len).map(|number| key(&format!("{stem}{number}")));
        names.any(|name| record.fields.iter().any(|f| key(&f.name.legal) == name))
    };
    while is_taken(&stem) {
        stem.push_str("_at");
    }
    stem
}

/// Where a step of a path goes: the slot, and which element of that. None where
/// the path leads behind the end of a spread array.
pub fn find_step<'s>(
    slots: &'s [FlattenedField],
    step: &PathStep,
) -> Option<(&'s FlattenedField, ElementIndex)> {
    let numbers = slots.iter().filter(|slot| slot.place == step.field && slot.number.is_some());
    let wanted = match step.index {
        ElementIndex::At(index) => index,
        ElementIndex::Middle | ElementIndex::Single => numbers.count() as u32 / 2,
    };
    slots.iter().filter(|slot| slot.place == step.field).find_map(|slot| match slot.number {
        None => Some((slot, step.index)),
        Some(number) => (number == wanted).then_some((slot, ElementIndex::Single)),
    })
}

#[cfg(test)]
mod tests {
    use wiregauge_schema::msg::{self, Dialect};

    use super::*;

    fn schema(text: &str) -> Schema {
        msg::read_text(text, "point", Dialect::Ros2, "point.msg").expect("it reads")
    }

    fn names(schema: &Schema) -> Vec<(String, u32)> {
        let slots = flatten_fields(schema, schema.root());
        slots.into_iter().map(|slot| (slot.field.name.legal, slot.field.id)).collect()
    }

    #[test]
    fn only_short_arrays_of_numbers_are_spread() {
        let mut schema = schema("float32[2] a\nstring[2] b\nint8[5] c\n");
        let spread = [("a_0", 1), ("a_1", 2), ("b", 3), ("c", 4)];
        assert_eq!(names(&schema), spread.map(|(name, id)| (name.to_string(), id)));
        schema.small_array = 0;
        let whole = [("a", 1), ("b", 2), ("c", 3)];
        assert_eq!(names(&schema), whole.map(|(name, id)| (name.to_string(), id)));
    }

    #[test]
    fn no_two_slots_have_one_name() {
        let schema = schema("float32[2] a\nint8 a_1\n");
        let names: Vec<String> = names(&schema).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a_at_0", "a_at_1", "a1"]);
    }

    #[test]
    fn a_path_finds_its_number() {
        let schema = schema("int8 before\nfloat32[3] a\n");
        let slots = flatten_fields(&schema, schema.root());
        let name = |index| {
            let step = PathStep { field: 1, index };
            find_step(&slots, &step).map(|(slot, _)| slot.field.name.legal.clone())
        };
        assert_eq!(name(ElementIndex::At(2)).as_deref(), Some("a_2"));
        assert_eq!(name(ElementIndex::Middle).as_deref(), Some("a_1"));
        assert_eq!(name(ElementIndex::At(3)), None);
    }
}
