//! Data holders of messages for users' own programs: an emitter a language, and
//! the wires that their holders read and write. A holder knows no wire: what a wire
//! asks for is in [`layout`], and each language has it as code of its own.

mod bounds;
mod cpp;
pub mod definition;
mod doc_comment;
pub mod identity;
mod java;
mod language;
pub mod layout;
mod loss;
mod names;
pub mod output_folder;
mod python;
mod rust;
mod tagged;
mod wire;

pub use bounds::without_alloc;
pub use cpp::names as cpp_names;
pub use cpp::view::names as cpp_view_names;
pub use definition::Package;
pub use java::{names as java_names, with_java_package};
pub use language::{generate, HolderLanguage};
pub use loss::{losses, Loss};
pub use names::Names;
pub use python::names as python_names;
pub use rust::names as rust_names;
pub use rust::view::names as rust_view_names;
pub use wire::Wire;
