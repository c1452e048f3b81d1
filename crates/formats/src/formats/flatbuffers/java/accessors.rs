//! flatc's classes as `Numbers.java` and `Glue.java` read them: what their methods are called.

use wiregauge_schema::{Cardinality, Element, Schema, TypeDef, TypeId};

use crate::flattened_field::FlattenedField;
use crate::formats::flatbuffers::{field_name, Dialect, ElementKind};
use crate::language::java::glue::JavaLibrary;
use crate::language::java::message::JavaMessage;
use crate::language::java::number::JavaNumber;

/// The schema with other names where flatc's Java code uses them for itself.
pub fn renamed(schema: &Schema) -> Schema {
    const TYPES: [&str; 14] = [
        "BaseVector",
        "BooleanVector",
        "ByteBuffer",
        "ByteOrder",
        "ByteVector",
        "Constants",
        "DoubleVector",
        "FlatBufferBuilder",
        "FloatVector",
        "IntVector",
        "LongVector",
        "ShortVector",
        "StringVector",
        "SuppressWarnings",
    ];
    const DERIVED: [&str; 4] = ["Length", "Vector", "AsByteBuffer", "InByteBuffer"];
    let mut schema = schema.clone();
    for def in &mut schema.types {
        let TypeDef::Record(record) = def else { continue };
        if TYPES.contains(&record.name.legal.as_str()) {
            record.name.legal.push('_');
        }
        let all: Vec<String> = record.fields.iter().map(|f| camel(&f.name.legal)).collect();
        for field in &mut record.fields {
            let own = camel(&field.name.legal);
            let is_derived = all.iter().any(|other| {
                own.strip_prefix(other.as_str()).is_some_and(|rest| DERIVED.contains(&rest))
                    || own == format!("has{}", upper(other))
            });
            if is_derived || own == "builder" || OBJECT.contains(&own.as_str()) {
                // No legal name ends like this.
                field.name.legal.push('_');
            }
        }
    }
    schema
}

/// Methods without parameters that every table has.
const OBJECT: [&str; 8] =
    ["clone", "finalize", "getByteBuffer", "getClass", "hashCode", "notify", "toString", "wait"];

/// A field's name as flatc makes one of Java of it.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    let rest: String =
        words.map(|word| if word.is_empty() { "_".into() } else { upper(word) }).collect();
    first + &rest
}

/// A word behind another.
pub fn upper(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// flatc's classes.
pub struct Accessors<'a> {
    /// The schema, with names of theirs.
    pub dialect: Dialect<'a>,
}

impl Accessors<'_> {
    /// The slots of a record with names of flatc's.
    fn slots(&self, id: TypeId) -> Vec<FlattenedField> {
        self.dialect.slots(id)
    }

    /// What a slot is called in Java.
    pub fn name(&self, id: TypeId, slot: &FlattenedField) -> String {
        let slots = self.slots(id);
        let own = slots.iter().find(|own| own.place == slot.place && own.number == slot.number);
        camel(&field_name(&own.expect("the same slots").field))
    }

    /// What walks a list of a slot, by the object that it is of.
    pub fn walker(at: &str, slot: &FlattenedField) -> (String, String) {
        (format!("{at}v{}", slot.place), format!("{at}e{}", slot.place))
    }
}

impl JavaLibrary for Accessors<'_> {
    fn format_fields(&self, _: &JavaMessage, id: TypeId) -> Vec<FlattenedField> {
        self.dialect.slots(id)
    }

    fn class(&self, _: &JavaMessage, id: TypeId) -> String {
        format!("wg.{}", self.dialect.type_name(id))
    }

    fn get(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        let name = self.name(id, slot);
        match slot.field.element {
            Element::String => format!("{at}.{name}AsByteBuffer()"),
            Element::Bytes => format!("{at}.{name}Length()"),
            _ => format!("{at}.{name}()"),
        }
    }

    fn is_present(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> String {
        let name = self.name(id, slot);
        match (slot.field.element, form.number(&slot.field)) {
            (_, Some(_)) => format!("{at}.has{}()", upper(&name)),
            (Element::Bytes, _) => format!("{at}.{name}Vector() != null"),
            (Element::String, _) => format!("{at}.{name}AsByteBuffer() != null"),
            _ => format!("{at}.{name}() != null"),
        }
    }

    fn list_length(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        match slot.field.cardinality {
            Cardinality::Array { len } if self.dialect.is_struct(id) => len.to_string(),
            _ => format!("{at}.{}Length()", self.name(id, slot)),
        }
    }

    fn before_loop(
        &self,
        form: &JavaMessage,
        at: &str,
        id: TypeId,
        slot: &FlattenedField,
    ) -> Option<String> {
        let (vector, element) = Self::walker(at, slot);
        let name = self.name(id, slot);
        let of = match (self.dialect.kind(slot.field.element), form.number(&slot.field)) {
            (ElementKind::Struct(inner) | ElementKind::Table(inner), _) => {
                let class = self.class(form, inner);
                let own = format!("{class} {element} = new {class}();");
                if self.dialect.is_struct(id) {
                    return Some(own);
                }
                return Some(format!("{own}\n{class}.Vector {vector} = {at}.{name}Vector();"));
            }
            (ElementKind::Bytes, _) => {
                let class = format!("wg.{}", self.dialect.bytes_name());
                return Some(format!(
                    "{class} {element} = new {class}();\n{class}.Vector {vector} = {at}.{name}Vector();"
                ));
            }
            (_, Some(number)) => upper(number.element_type()),
            _ => "String".into(),
        };
        (!self.dialect.is_struct(id))
            .then(|| format!("com.google.flatbuffers.{of}Vector {vector} = {at}.{name}Vector();"))
    }

    fn element_at(&self, _: &JavaMessage, at: &str, id: TypeId, slot: &FlattenedField) -> String {
        let (vector, element) = Self::walker(at, slot);
        let name = self.name(id, slot);
        let is_struct = self.dialect.is_struct(id);
        match self.dialect.kind(slot.field.element) {
            ElementKind::Struct(_) | ElementKind::Table(_) if is_struct => {
                format!("{at}.{name}({element}, i)")
            }
            ElementKind::Struct(_) | ElementKind::Table(_) => format!("{vector}.get({element}, i)"),
            ElementKind::Bytes => format!("{vector}.get({element}, i).valueLength()"),
            _ if is_struct => format!("{at}.{name}(i)"),
            _ => format!("{vector}.get(i)"),
        }
    }

    fn octets_length(&self, value: &str) -> String {
        value.to_owned()
    }

    fn text_length(&self, value: &str) -> String {
        format!("Blocks.octets({value})")
    }

    fn sum_term(&self, number: JavaNumber, value: &str, of_list: bool) -> String {
        number.sum_term(value, of_list)
    }
}
