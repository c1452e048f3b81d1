//! A message as data: one model for every definition language, its canonical
//! bytes, and the readers that make it.

pub mod canonical;
pub mod model;
pub mod path;
pub mod value;

pub use model::{
    Cardinality, Element, Enum, EnumValue, Field, Name, Record, Role, Scalar, Schema, TypeDef,
    TypeId,
};
pub use path::Projection;
pub use value::Value;
