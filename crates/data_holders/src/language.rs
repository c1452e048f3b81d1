//! The languages.

use anyhow::Result;
use wiregauge_normalized::File;

use crate::definition::Package;
use crate::wire::Wire;
use crate::{cpp, java, python, rust};

/// A language that holders are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HolderLanguage {
    /// C++17: headers.
    Cpp,
    /// Java 17: a package of classes.
    Java,
    /// Python 3.9: a module.
    Python,
    /// Rust: a module for `no_std`.
    Rust,
}

impl HolderLanguage {
    /// All of them.
    pub const ALL: [HolderLanguage; 4] =
        [HolderLanguage::Cpp, HolderLanguage::Java, HolderLanguage::Python, HolderLanguage::Rust];

    /// As the command line has it.
    pub fn name(self) -> &'static str {
        match self {
            HolderLanguage::Cpp => "cpp",
            HolderLanguage::Java => "java",
            HolderLanguage::Python => "python",
            HolderLanguage::Rust => "rust",
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for HolderLanguage {
    fn value_variants<'a>() -> &'a [HolderLanguage] {
        &HolderLanguage::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(self.name().into())
    }
}

/// The files of a package in a language, with these wires.
///
/// # Errors
/// When a default or constant cannot be read.
pub fn generate(package: &Package, language: HolderLanguage, wires: &[Wire]) -> Result<Vec<File>> {
    match language {
        HolderLanguage::Cpp => cpp::emit(package, wires),
        HolderLanguage::Java => java::emit(package, wires),
        HolderLanguage::Python => python::emit(package, wires),
        HolderLanguage::Rust => rust::emit(package, wires),
    }
}
