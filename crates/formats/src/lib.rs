//! The message compiler: from a schema to each format's own definition and to
//! the glue between the format's generated code and the normalized message.
//!
//! One file in `formats/` is one format; it registers its codecs with
//! [`inventory::submit!`] and no other file knows of it.

pub mod build;
pub mod c_struct;
pub mod codec;
pub mod derived;
pub mod flattened_field;
pub mod formats;
pub mod jackson;
pub mod java_accumulator;
pub mod java_glue;
pub mod java_message;
pub mod java_number;
pub mod java_objects;
pub mod java_plain_objects;
pub mod locked_crate;
pub mod lowering;
pub mod negative_zero;
pub mod omg_idl;
pub mod packaged_library;
pub mod partial_struct;
pub mod python_glue;
pub mod python_message;
pub mod python_msgspec;
pub mod python_ros;
pub mod python_tree;
pub mod ros_definition;
pub mod runner_language;
pub mod rust_glue;
pub mod sequential;

pub use codec::{Codec, Emission, GeneratorStep, Linkage, Support};
pub use lowering::Lowering;
pub use runner_language::RunnerLanguage;
