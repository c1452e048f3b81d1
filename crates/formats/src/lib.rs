//! The message compiler: from a schema to each format's own definition and to
//! the glue between the format's generated code and the normalized message.
//!
//! One file in `formats/` is one format; it registers its codecs with
//! [`inventory::submit!`] and no other file knows of it. What formats share within one
//! language of runners is in `language/`.

pub mod build;
pub mod codec;
pub mod flattened_field;
pub mod footprint_base;
pub mod formats;
pub mod language;
pub mod lowering;
pub mod omg_idl;
pub mod packaged_library;
pub mod ros_definition;
pub mod runner_language;
pub mod sequential;

pub use codec::{Codec, Emission, GeneratorStep, Linkage, Support};
pub use lowering::Lowering;
pub use runner_language::RunnerLanguage;
