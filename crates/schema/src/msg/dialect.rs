//! The two dialects, and the types that each brings along.

use crate::assemble::unlegalized;
use crate::model::{Cardinality, Element, Field, ProtobufEncoding, Record, Role, Scalar};

/// Which ROS a definition was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// ROS 1 (`ros1msg`).
    Ros1,
    /// ROS 2 (`ros2msg`).
    Ros2,
}

impl Dialect {
    /// Both of them.
    pub const ALL: [Dialect; 2] = [Dialect::Ros1, Dialect::Ros2];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Ros1 => "ros1",
            Dialect::Ros2 => "ros2",
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Dialect {
    fn value_variants<'a>() -> &'a [Dialect] {
        &Dialect::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}

/// The element of a primitive type.
pub(super) fn scalar(name: &str, dialect: Dialect) -> Option<Element> {
    let scalar = match name {
        "bool" => Scalar::Bool,
        "byte" if dialect == Dialect::Ros1 => Scalar::I8,
        "byte" | "char" | "uint8" => Scalar::U8,
        "uint16" => Scalar::U16,
        "uint32" => Scalar::U32,
        "uint64" => Scalar::U64,
        "int8" => Scalar::I8,
        "int16" => Scalar::I16,
        "int32" => Scalar::I32,
        "int64" => Scalar::I64,
        "float32" => Scalar::F32,
        "float64" => Scalar::F64,
        "string" | "wstring" => return Some(Element::String),
        _ => return None,
    };
    Some(Element::Scalar(scalar))
}

/// Whether it is one of ROS 1's own types of time.
pub(super) fn is_builtin(name: &str) -> bool {
    matches!(name, "time" | "duration")
}

/// The types of time of both dialects.
pub(super) const TIMES: [&str; 4] =
    ["time", "duration", "builtin_interfaces/Time", "builtin_interfaces/Duration"];

/// The record of a type of time, whether or not a definition came along.
pub(super) fn builtin_time(name: &str) -> Option<Record> {
    let (role, first, second) = match name {
        "time" => (Role::Timestamp, ("secs", Scalar::U32), ("nsecs", Scalar::U32)),
        "duration" => (Role::Duration, ("secs", Scalar::I32), ("nsecs", Scalar::I32)),
        "builtin_interfaces/Time" => {
            (Role::Timestamp, ("sec", Scalar::I32), ("nanosec", Scalar::U32))
        }
        "builtin_interfaces/Duration" => {
            (Role::Duration, ("sec", Scalar::I32), ("nanosec", Scalar::U32))
        }
        _ => return None,
    };
    let field = |id, (name, scalar): (&str, Scalar)| Field {
        name: unlegalized(name),
        id,
        element: Element::Scalar(scalar),
        cardinality: Cardinality::Required,
        wire: ProtobufEncoding::default(),
        union: None,
        default: None,
    };
    let original = match name.split_once('/') {
        Some((package, last)) => format!("{package}/msg/{last}"),
        None => name.to_owned(),
    };
    let fields = vec![field(1, first), field(2, second)];
    Some(Record { name: unlegalized(&original), fields, role })
}
