//! The message compiler: from a schema to each format's own definition and to
//! the glue between the format's generated code and the normalized message.
//!
//! One file in `formats/` is one format; it registers its codecs with
//! [`inventory::submit!`] and no other file knows of it.

pub mod build;
pub mod c_struct;
pub mod codec;
pub mod derived;
pub mod formats;
pub mod jackson;
pub mod java_form;
pub mod java_glue;
pub mod java_number;
pub mod java_objects;
pub mod java_reading;
pub mod java_whole;
pub mod language;
pub mod library;
pub mod lowering;
pub mod omg_idl;
pub mod part;
pub mod python_form;
pub mod python_glue;
pub mod python_ros;
pub mod python_signs;
pub mod python_structs;
pub mod python_tree;
pub mod release;
pub mod ros_definition;
pub mod rust_glue;
pub mod sequential;
pub mod slot;

pub use codec::{Answer, Codec, Emission, Linkage, Step};
pub use language::Language;
pub use lowering::Lowering;
