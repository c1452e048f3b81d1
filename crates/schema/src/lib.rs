//! A message as data: one model for every definition language, its canonical
//! bytes, and the readers that make it.

#[cfg(any(test, feature = "arbitrary"))]
pub mod arbitrary;
mod assemble;
pub mod canonical;
pub mod describe;
pub mod digest;
pub mod documentation;
pub mod file;
pub mod generate;
pub mod idl;
pub mod literal;
pub mod model;
pub mod msg;
pub mod name;
pub mod package;
pub mod path;
pub mod project;
pub mod proto;
pub mod prune;
pub mod source;
pub mod value;

pub use assemble::reachable;
pub use describe::describe;
pub use digest::Digest;
pub use documentation::Documentation;
pub use generate::{estimate, generate, Estimate, Sizes};
pub use model::{
    Cardinality, Element, Enum, EnumValue, Field, IntegerEncoding, Name, ProtobufEncoding, Record,
    Role, Scalar, Schema, TypeDef, TypeId,
};
pub use path::Projection;
pub use prune::prune;
pub use source::SchemaSource;
pub use value::Value;
