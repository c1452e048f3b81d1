//! The message in ROS's own language, of which octets in a list or an array become a list of
//! records with one list of bytes each.

use wiregauge_schema::{Cardinality, Element, Field, Record, Schema, TypeDef, TypeId};

use crate::codec::Support;
use crate::lowering::{self, Lowering};
use crate::sequential::{self, flag_name};

/// How a type is said there.
pub fn check_type(schema: &Schema, id: TypeId) -> Support {
    let TypeDef::Record(record) = &schema.types[id] else {
        return Support::lowered(vec![Lowering::enumeration()]);
    };
    let mut lowerings = lowering::unions_and_bounds(record);
    lowerings.extend(sequential::lowerings(record));
    if record.fields.iter().any(is_octets_list) {
        lowerings.push(Lowering::new("list of bytes as a list of records of one list", "nothing"));
    }
    if record.fields.is_empty() {
        lowerings.push(Lowering::no_fields());
    }
    Support::lowered(lowerings)
}

/// Octets in a list or array, which ROS has no type for.
fn is_octets_list(field: &Field) -> bool {
    field.element == Element::Bytes
        && matches!(field.cardinality, Cardinality::List { .. } | Cardinality::Array { .. })
}

/// What the record of octets is called, unlike any of the message's. Its list is `data`.
pub fn octets_name(schema: &Schema) -> String {
    let mut name = "Octets".to_owned();
    while schema.records().any(|(_, record)| record.name.legal == name) {
        name.push('0');
    }
    name
}

/// The definition of the record of octets.
pub const OCTETS: &str = "uint8[] data\n";

/// A record's definition in the package `wg`, with what each field is called.
pub fn definition(schema: &Schema, record: &Record, member: fn(&Field) -> String) -> String {
    let mut lines = Vec::new();
    for field in &record.fields {
        let name = member(field);
        let element = match field.element {
            Element::String => "string".to_owned(),
            Element::Bytes if is_octets_list(field) => {
                format!("wg/{}", octets_name(schema))
            }
            Element::Bytes => "uint8[]".into(),
            Element::Record(id) => format!("wg/{}", schema.record(id).name.legal),
            other => sequential::ros_number(schema.scalar(other).expect("a number")).into(),
        };
        lines.push(match field.cardinality {
            Cardinality::Required | Cardinality::Implicit => format!("{element} {name}"),
            Cardinality::Optional if matches!(field.element, Element::Record(_)) => {
                format!("{element}[] {name}")
            }
            Cardinality::Optional => {
                format!("bool {}\n{element} {name}", flag_name(record, field))
            }
            Cardinality::List { .. } => format!("{element}[] {name}"),
            Cardinality::Array { len } => format!("{element}[{len}] {name}"),
        });
    }
    if lines.is_empty() {
        lines.push("uint8 structure_needs_at_least_one_member".into());
    }
    lines.join("\n") + "\n"
}
