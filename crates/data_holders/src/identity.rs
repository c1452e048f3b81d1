//! By what ROS recognizes a type: the md5 sum of ROS 1 and the RIHS01 hash of
//! ROS 2, each with the text that goes with it.

use std::collections::BTreeMap;
use std::fmt::Write;

use md5::{Digest, Md5};
use sha2::Sha256;
use wiregauge_schema::{Cardinality, Element, Field, Record, Scalar, TypeId};

use crate::definition::Package;
use crate::wire::Wire;

/// A type in ROS 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ros1Identity {
    /// `sensor_msgs/Image`.
    pub name: String,
    /// The md5 sum, in hex.
    pub md5: String,
    /// The definition with all that it uses, as bags have it.
    pub definition: String,
}

/// A type in ROS 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ros2Identity {
    /// `sensor_msgs/msg/Image`.
    pub name: String,
    /// `RIHS01_` and the hash, in hex.
    pub hash: String,
    /// The description that is hashed, as JSON.
    pub description: String,
}

/// Something by which a type is recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeIdentity {
    /// `sensor_msgs/Image`.
    Ros1Type,
    /// The md5 sum.
    Ros1Md5,
    /// The definition with all that it uses.
    Ros1Definition,
    /// `sensor_msgs/msg/Image`.
    Ros2Type,
    /// The RIHS01 hash.
    Ros2Hash,
    /// What is hashed.
    Ros2Description,
}

/// What holders say of a message that was asked for, on these wires.
pub fn type_identities(
    package: &Package,
    id: TypeId,
    wires: &[Wire],
) -> Vec<(TypeIdentity, String)> {
    let mut said = Vec::new();
    if !package.messages.contains(&id) {
        return said;
    }
    if let Some(ros1) = ros1_identity(package, id).filter(|_| wires.contains(&Wire::RosMsg)) {
        said.push((TypeIdentity::Ros1Type, ros1.name));
        said.push((TypeIdentity::Ros1Md5, ros1.md5));
        said.push((TypeIdentity::Ros1Definition, ros1.definition));
    }
    if let Some(ros2) =
        ros2_identity(package, id).filter(|_| wires.iter().any(|wire| wire.is_dds()))
    {
        said.push((TypeIdentity::Ros2Type, ros2.name));
        said.push((TypeIdentity::Ros2Hash, ros2.hash));
        said.push((TypeIdentity::Ros2Description, ros2.description));
    }
    said
}

/// A type in ROS 1; none where its definition is not one of ROS or uses what only
/// ROS 2 has. A definition that was made up for a test of both is in both.
pub fn ros1_identity(package: &Package, id: TypeId) -> Option<Ros1Identity> {
    let mut used = Vec::new();
    uses(package, id, &mut used);
    let text = |id: TypeId| {
        let record = package.schema.record(id);
        package.documentation(&record.name.original)?.text.as_deref()
    };
    let md5 = md5_sum(package, id)?;
    let mut definition = text(id)?.to_owned();
    for inner in used.into_iter().filter(|inner| *inner != id) {
        // Its own types of time have no definition.
        let Some(text) = text(inner) else { continue };
        let (line, name) = ("=".repeat(80), ros1_name(package, inner));
        write!(definition, "\n{line}\nMSG: {name}\n{text}").expect("writing to a string");
    }
    Some(Ros1Identity { name: ros1_name(package, id), md5, definition })
}

fn ros1_name(package: &Package, id: TypeId) -> String {
    package.schema.record(id).name.original.replace("/msg/", "/")
}

/// The records that a record uses, in the order in which they are met.
fn uses(package: &Package, id: TypeId, used: &mut Vec<TypeId>) {
    for field in &package.schema.record(id).fields {
        if let Element::Record(inner) = field.element {
            if !used.contains(&inner) {
                used.push(inner);
                uses(package, inner, used);
            }
        }
    }
}

/// Genmsg's rule: constants first, then fields, records by their own sums.
fn md5_sum(package: &Package, id: TypeId) -> Option<String> {
    let record = package.schema.record(id);
    package.documentation(&record.name.original)?.text.as_ref()?;
    let mut lines = Vec::new();
    for constant in package.constants(record) {
        lines.push(format!("{} {}={}", constant.spelling, constant.name, constant.value));
    }
    for field in &record.fields {
        let (spelling, name) = (package.spelling(record, field)?, &field.name.original);
        let only_ros2 = spelling.contains("<=") || spelling.starts_with("wstring");
        if only_ros2 || field.default.is_some() || package.schema.is_recursive(id) {
            return None;
        }
        lines.push(match field.element {
            Element::Record(inner) if !is_time(&package.schema.record(inner).name.original) => {
                format!("{} {name}", md5_sum(package, inner)?)
            }
            _ => format!("{spelling} {name}"),
        });
    }
    Some(hex(&Md5::digest(lines.join("\n"))))
}

/// Whether it is one of the types that ROS 1 has built in.
fn is_time(original: &str) -> bool {
    matches!(original, "time" | "duration")
}

/// A type in ROS 2; none where its definition is not one of ROS 2, or the name of
/// its package is not known.
pub fn ros2_identity(package: &Package, id: TypeId) -> Option<Ros2Identity> {
    let mut used = vec![id];
    uses(package, id, &mut used);
    let mut descriptions = BTreeMap::new();
    for inner in used {
        let record = package.schema.record(inner);
        descriptions.insert(record.name.original.clone(), describe_type(package, record)?);
    }
    let name = package.schema.record(id).name.original.clone();
    let own = descriptions.remove(&name)?;
    let others: Vec<String> = descriptions.into_values().collect();
    let description = format!(
        "{{\"type_description\": {own}, \"referenced_type_descriptions\": [{}]}}",
        others.join(", ")
    );
    let hash = format!("RIHS01_{}", hex(&Sha256::digest(&description)));
    Some(Ros2Identity { name, hash, description })
}

fn describe_type(package: &Package, record: &Record) -> Option<String> {
    let name = &record.name.original;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/';
    if !name.contains("/msg/") || !name.chars().all(is_plain) {
        return None;
    }
    let field = |name: &str, (id, capacity, text, nested): (u8, u32, u32, &str)| {
        format!(
            "{{\"name\": \"{name}\", \"type\": {{\"type_id\": {id}, \"capacity\": {capacity}, \
             \"string_capacity\": {text}, \"nested_type_name\": \"{nested}\"}}}}"
        )
    };
    let mut fields = Vec::new();
    for one in &record.fields {
        fields.push(field(&one.name.original, kind(package, record, one)?));
    }
    if fields.is_empty() {
        // What IDL wants of a structure.
        fields.push(field("structure_needs_at_least_one_member", (3, 0, 0, "")));
    }
    Some(format!("{{\"type_name\": \"{name}\", \"fields\": [{}]}}", fields.join(", ")))
}

/// A field's type id, the capacity of its list and of its texts, and its record.
fn kind<'p>(
    package: &'p Package,
    record: &Record,
    field: &Field,
) -> Option<(u8, u32, u32, &'p str)> {
    let spelling = package.spelling(record, field).unwrap_or_default();
    let base = spelling.split(['[', '<']).next().unwrap_or_default();
    let bound = package.text_bound(record, field);
    let (id, nested) = match field.element {
        Element::Record(id) => (1, package.schema.record(id).name.original.as_str()),
        Element::String if base == "wstring" => (18, ""),
        Element::String => (if bound.is_some() { 21 } else { 17 }, ""),
        Element::Bytes if base == "byte" => (16, ""),
        Element::Bytes => (3, ""),
        Element::Scalar(Scalar::U8) if base == "byte" => (16, ""),
        Element::Scalar(scalar) => (number(scalar), ""),
        Element::Enum(_) => return None,
    };
    let (more, capacity) = match (field.cardinality, field.element) {
        (Cardinality::Required, Element::Bytes) => (144, 0),
        (Cardinality::Required, _) => (0, 0),
        (Cardinality::Array { len }, _) => (48, len),
        (Cardinality::List { bound: Some(bound) }, _) => (96, bound),
        (Cardinality::List { bound: None }, _) => (144, 0),
        (Cardinality::Implicit | Cardinality::Optional, _) => return None,
    };
    Some((id + more, capacity, bound.unwrap_or(0), nested))
}

fn number(scalar: Scalar) -> u8 {
    match scalar {
        Scalar::I8 => 2,
        Scalar::U8 => 3,
        Scalar::I16 => 4,
        Scalar::U16 => 5,
        Scalar::I32 => 6,
        Scalar::U32 => 7,
        Scalar::I64 => 8,
        Scalar::U64 => 9,
        Scalar::F32 => 10,
        Scalar::F64 => 11,
        Scalar::Bool => 15,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
