//! The languages.

use anyhow::Result;
use wiregauge_holders::File;

use crate::definition::Package;
use crate::wire::Wire;
use crate::{cpp, java, python, rust};

/// A language that holders are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C++17: headers.
    Cpp,
    /// Java 17: a package of classes.
    Java,
    /// Python 3.9: a module.
    Python,
    /// Rust: a module for `no_std`.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 4] =
        [Language::Cpp, Language::Java, Language::Python, Language::Rust];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Cpp => "cpp",
            Language::Java => "java",
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }
}

/// The files of a package in a language, with these wires.
///
/// # Errors
/// When a default or constant cannot be read.
pub fn generate(package: &Package, language: Language, wires: &[Wire]) -> Result<Vec<File>> {
    match language {
        Language::Cpp => cpp::emit(package, wires),
        Language::Java => java::emit(package, wires),
        Language::Python => python::emit(package, wires),
        Language::Rust => rust::emit(package, wires),
    }
}
