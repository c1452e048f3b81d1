//! The classes of Avro's compiler as generated code reads and sets them: what their methods
//! are called.

use wiregauge_schema::{Scalar, Schema, TypeDef, TypeId};

use crate::flattened_field::{self, FlattenedField};
use crate::formats::avro;
use crate::language::java::glue::JavaLibrary;
use crate::language::java::message::JavaMessage;
use crate::language::java::number::JavaNumber;
use crate::language::java::objects::{self, JavaObjects};

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
    pub fn name(&self, id: TypeId, slot: &FlattenedField) -> String {
        let slots = flattened_field::flatten_fields(&self.schema, self.schema.record(id));
        let own =
            slots.into_iter().find(|own| own.place == slot.place && own.number == slot.number);
        own.expect("the same slots").field.name.legal
    }
}

impl JavaLibrary for Classes {
    fn format_fields(&self, form: &JavaMessage, id: TypeId) -> Vec<FlattenedField> {
        flattened_field::flatten_fields(form.schema, form.schema.record(id))
    }

    fn class(&self, _: &JavaMessage, id: TypeId) -> String {
        avro::record_type(&self.schema, id)
    }

    fn get(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        format!("{at}.get{}()", camel(&self.name(id, slot)))
    }

    fn list_length(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        let value = self.get(form, at, id, slot);
        match slot.field.repeats_octets() {
            true => self.octets_length(&value),
            false => format!("{value}.size()"),
        }
    }

    fn element_at(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        let value = self.get(form, at, id, slot);
        match slot.field.repeats_octets() {
            true => objects::octet(&value),
            false => format!("{value}.get(i)"),
        }
    }

    fn octets_length(&self, value: &str) -> String {
        format!("{value}.remaining()")
    }

    fn sum_term(&self, number: JavaNumber, value: &str, _: bool) -> String {
        // Octets are by their bits.
        number.sum_term(value, true)
    }
}

impl JavaObjects for Classes {
    fn set(&self, id: TypeId, slot: &FlattenedField, value: &str) -> String {
        format!("o.set{}({value});", camel(&self.name(id, slot)))
    }

    fn carrier(&self, number: JavaNumber) -> JavaNumber {
        JavaNumber(match avro::scalar_type(number.0) {
            "int" => Scalar::I32,
            "long" => Scalar::I64,
            _ => number.0,
        })
    }
}
