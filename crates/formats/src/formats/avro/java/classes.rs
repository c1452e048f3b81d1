//! The classes of Avro's compiler as generated code reads and sets them: what their methods
//! are called.

use wiregauge_schema::{Scalar, Schema, TypeDef, TypeId};

use crate::formats::avro;
use crate::java_form::JavaForm;
use crate::java_glue::Library;
use crate::java_number::Number;
use crate::java_objects::{self, Objects};
use crate::slot::{self, Slot};

/// The schema with other names where the compiler uses them for itself, or derives them of
/// another field's. Bytes know nothing of names.
pub fn renamed(schema: &Schema) -> Schema {
    const TYPES: [&str; 8] = [
        "BinaryMessageDecoder",
        "BinaryMessageEncoder",
        "IndexOutOfBoundsException",
        "JsonSchemaParser",
        "SchemaStore",
        "SpecificData",
        "SuppressWarnings",
        "Utf8",
    ];
    // Getters that every class has, and packages that it names.
    const OWN: [&str; 8] =
        ["Schema", "ClassSchema", "SpecificData", "Encoder", "Decoder", "Java", "Org", "Wg"];
    let mut schema = schema.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        if TYPES.contains(&record.name.legal.as_str()) {
            // No legal name ends like this.
            record.name.legal.push('_');
        }
        let all: Vec<String> = record.fields.iter().map(|f| camel(&f.name.legal)).collect();
        for field in &mut record.fields {
            let own = camel(&field.name.legal);
            let is_derived =
                own.strip_suffix("Builder").is_some_and(|of| all.iter().any(|n| n == of));
            if is_derived || OWN.contains(&own.as_str()) {
                // Letters side by side that no legal name has.
                field.name.legal.push_str("_OWN");
            }
        }
    }
    schema
}

/// A field's name as the compiler makes one of Java of it.
fn camel(name: &str) -> String {
    name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// Its classes, and what their fields are called in them.
pub struct Classes {
    /// The schema, with names of theirs.
    pub schema: Schema,
}

impl Classes {
    /// What a field is called in the definition.
    pub fn name(&self, id: TypeId, slot: &Slot) -> String {
        let slots = slot::slots(&self.schema, self.schema.record(id));
        let own =
            slots.into_iter().find(|own| own.place == slot.place && own.number == slot.number);
        own.expect("the same slots").field.name.legal
    }
}

impl Library for Classes {
    fn slots(&self, form: &JavaForm, id: TypeId) -> Vec<Slot> {
        slot::slots(form.schema, form.schema.record(id))
    }

    fn class(&self, _: &JavaForm, id: TypeId) -> String {
        avro::record_type(&self.schema, id)
    }

    fn get(&self, _: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        format!("{at}.get{}()", camel(&self.name(id, slot)))
    }

    fn count(&self, form: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        let value = self.get(form, at, id, slot);
        match slot.field.repeats_octets() {
            true => self.octets(&value),
            false => format!("{value}.size()"),
        }
    }

    fn at(&self, form: &JavaForm, at: &str, id: TypeId, slot: &Slot) -> String {
        let value = self.get(form, at, id, slot);
        match slot.field.repeats_octets() {
            true => java_objects::octet(&value),
            false => format!("{value}.get(i)"),
        }
    }

    fn octets(&self, value: &str) -> String {
        format!("{value}.remaining()")
    }

    fn counted(&self, number: Number, value: &str, _: bool) -> String {
        // Octets are by their bits.
        number.counted(value, true)
    }
}

impl Objects for Classes {
    fn set(&self, id: TypeId, slot: &Slot, value: &str) -> String {
        format!("o.set{}({value});", camel(&self.name(id, slot)))
    }

    fn carrier(&self, number: Number) -> Number {
        Number(match avro::scalar_type(number.0) {
            "int" => Scalar::I32,
            "long" => Scalar::I64,
            _ => number.0,
        })
    }
}
