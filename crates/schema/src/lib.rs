//! A message as data: one model for definitions in ROS `.msg`, `.proto`, OMG IDL and recordings.
//! From this model come example values and the canonical bytes, which decide whether two
//! messages are equal.
//!
//! ```
//! use wiregauge_schema::msg::{read_text, Dialect};
//! use wiregauge_schema::{canonical, generate, Sizes};
//!
//! let definition = "float64 angle\nfloat32[] ranges\n";
//! let schema = read_text(definition, "demo/Scan", Dialect::Ros2, "scan.msg")?;
//! assert_eq!(schema.root().fields[1].name.original, "ranges");
//!
//! let message = generate(&schema, &Sizes::default(), 1)?; // values from the seed 1
//! let bytes = canonical::encode(&schema, &message)?;
//! assert_eq!(canonical::decode(&schema, &bytes)?, message);
//! # Ok::<(), anyhow::Error>(())
//! ```

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
pub mod small_arrays;
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
