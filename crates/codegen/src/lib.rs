//! The message compiler: from a schema to each format's own definition and to
//! the glue between the format's generated code and the normalized message.
//!
//! One file in `formats/` is one format; it registers its codecs with
//! [`inventory::submit!`] and no other file knows of it.

pub mod build;
pub mod c_struct;
pub mod code;
pub mod codec;
pub mod cpp;
pub mod direct;
pub mod formats;
pub mod idl;
pub mod library;
pub mod lowering;
pub mod maven;
pub mod part;
pub mod rust;
pub mod rust_glue;
pub mod sequential;
pub mod slot;

pub use code::Code;
pub use codec::{Answer, Built, Codec, Emission, File, Language, Need, Step, Unit};
pub use lowering::Lowering;
