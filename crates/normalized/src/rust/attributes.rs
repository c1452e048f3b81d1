//! How libraries are told of fields that they do not take by themselves.

use wiregauge_schema::{Cardinality, Element, Field};

/// Whether a field is octets, which serde has to be told of: by itself it takes
/// them for a list of numbers.
pub fn is_octets(field: &Field) -> bool {
    field.element == Element::Bytes || field.is_octet_list()
}

/// How serde takes a field where not by itself: octets, and arrays of any length.
pub fn serde_attribute(field: &Field) -> Option<&'static str> {
    match field.cardinality {
        _ if is_octets(field) && field.element != Element::Bytes => {
            Some("#[serde(with = \"crate::message::octets\")]")
        }
        Cardinality::Required | Cardinality::Implicit if is_octets(field) => {
            Some("#[serde(with = \"crate::message::octets\")]")
        }
        Cardinality::Optional if is_octets(field) => {
            Some("#[serde(with = \"crate::message::octets::optional\")]")
        }
        _ if is_octets(field) => Some("#[serde(with = \"crate::message::octets::list\")]"),
        Cardinality::Array { len } if len > 32 => {
            Some("#[serde(with = \"serde_big_array::BigArray\")]")
        }
        _ => None,
    }
}

/// How minicbor takes a field: its number, and octets as such.
pub fn minicbor_attribute(place: usize, field: &Field) -> String {
    let repeats = matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. });
    match is_octets(field) {
        false => format!("#[n({place})]"),
        true if repeats && field.element == Element::Bytes => {
            format!("#[cbor(n({place}), with = \"crate::message::octets::cbor\")]")
        }
        true => format!("#[cbor(n({place}), with = \"minicbor::bytes\")]"),
    }
}
