//! A message as plain structures, an emitter a language: the normalized form that
//! runners turn into a format's own and back.

pub mod cpp;
mod file;
pub mod rust;
mod source_writer;
mod unit;

pub use file::File;
pub use source_writer::SourceWriter;
pub use unit::Unit;
