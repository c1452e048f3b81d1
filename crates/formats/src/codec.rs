//! What a codec is to the rest of the project, and the list of all codecs.

use std::path::Path;

use anyhow::Result;
use wiregauge_build_tools::maven::Jar;
use wiregauge_build_tools::Need;
use wiregauge_normalized::{File, Unit};
use wiregauge_schema::{Cardinality, Field, Projection, Schema, TypeDef, TypeId};

use crate::lowering::Lowering;
use crate::runner_language::RunnerLanguage;

/// The option of a codec that wiregauge itself has written.
pub const OWN_CODE: &str =
    "measured only where it or its language is named: the default table has only \
                       codecs that others made";

/// What no normalized form has: an array of no elements, which ROS 1 alone can say. In C++ it
/// takes memory, in Rust it aligns, and IDLs have none such.
fn find_empty_array(schema: &Schema) -> Option<String> {
    schema.records().find_map(|(_, record)| {
        let is_none = |field: &&Field| field.cardinality == (Cardinality::Array { len: 0 });
        let field = record.fields.iter().find(is_none)?;
        let (record, field) = (&record.name.original, &field.name.original);
        Some(format!("{record}.{field} is an array of no elements; remove the field to measure it"))
    })
}

/// A codec: a format by one library with one set of options; a row of the
/// table. The file of its format submits it with [`inventory::submit!`].
pub struct Codec {
    /// Key, such as `flatbuffers-cpp-structs`: lower-case, digits, hyphens.
    pub name: &'static str,
    /// Name in tables: `FlatBuffers C++ structs`.
    pub title: &'static str,
    /// Key of the format, which its libraries share. Their bytes are the same
    /// but for types that one of them says in another way.
    pub format: &'static str,
    /// Language of its runner.
    pub language: &'static RunnerLanguage,
    /// A bound of what is possible and not a codec to choose.
    pub is_bound: bool,
    /// How the library itself came to be machine code.
    pub linkage: Linkage,
    /// How the library is set, a line each, where it has a choice.
    pub options: &'static [&'static str],
    /// The library's calls that are timed, in at most five lines of its own
    /// code, each with its experiment: `encode: …`.
    pub calls: &'static [&'static str],
    /// What must be on the machine to build and run it.
    pub needs: &'static [Need],
    /// Whether and how the format can express one type.
    pub check_type: fn(&Schema, TypeId) -> Support,
    /// The definition in the format's own language; none where it has none.
    pub idl: Option<fn(&Schema) -> Result<File>>,
    /// Everything the runner is built from.
    pub emit: fn(&Unit) -> Result<Emission>,
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

inventory::collect!(Codec);

/// How a library came to be machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// There is no library.
    Without,
    /// This crate, compiled with the runner.
    Crate(&'static str),
    /// This Python package, as its makers built it.
    Wheel(&'static str),
    /// A module of Python's in the Debian package of this name.
    Module(&'static str),
    /// This jar, as its makers built it, or the distribution where a need is a jar.
    Jar(&'static str),
    /// Part of the language itself.
    Standard,
    /// Written by wiregauge itself, compiled with the runner.
    Own,
    /// Headers and generated sources, compiled with the runner.
    Headers,
    /// Beside headers and generated sources a shared library of the Debian package
    /// of this name and a number, with the distribution's flags.
    Shared(&'static str),
}

/// Whether and how a format can express a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// As it is.
    Supported,
    /// In another way that keeps every value.
    Lowered(Vec<Lowering>),
    /// Not at all, and why.
    Rejected(String),
}

/// Everything a runner is built from. A Rust runner is `main.rs` and its
/// modules, a C++ runner the sources that it lists, a Python runner `codec.py` and
/// what it imports, a Java runner the class `Main` and what it uses.
#[derive(Default)]
pub struct Emission {
    /// Files to write into the runner's folder.
    pub files: Vec<File>,
    /// Generators to run in the runner's folder, in order.
    pub steps: Vec<GeneratorStep>,
    /// C and C++ sources to compile, from the runner's folder; also those that
    /// the steps make.
    pub sources: Vec<String>,
    /// Libraries to link, as CMake names them.
    pub libraries: Vec<String>,
    /// Further include folders, absolute.
    pub includes: Vec<String>,
    /// Features of the Rust package of runners.
    pub features: Vec<String>,
    /// Python packages with their hashes, as pip takes them.
    pub requirements: &'static str,
    /// Java's archives.
    pub jars: &'static [Jar],
    /// What Java's virtual machine has to be told for a library, each word with a blank
    /// behind it.
    pub machine: &'static str,
}

/// A generator of the format.
pub enum GeneratorStep {
    /// A program and its arguments, run in the runner's folder.
    Command(Vec<String>),
    /// A generator that is a Rust library, called with the runner's folder.
    Call(Box<Generator>),
}

/// A generator that is a Rust library.
pub type Generator = dyn Fn(&Path) -> Result<()> + Send;

impl GeneratorStep {
    /// A program and its arguments.
    pub fn command<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> GeneratorStep {
        GeneratorStep::Command(words.into_iter().map(|w| w.as_ref().to_owned()).collect())
    }
}

impl Support {
    /// Supported where nothing was lowered; the lowerings sorted, each once.
    pub fn lowered(mut lowerings: Vec<Lowering>) -> Support {
        lowerings.sort();
        lowerings.dedup();
        if lowerings.is_empty() {
            Support::Supported
        } else {
            Support::Lowered(lowerings)
        }
    }
}

/// A type's name as its author wrote it.
pub(crate) fn original_name(def: &TypeDef) -> &str {
    match def {
        TypeDef::Record(record) => &record.name.original,
        TypeDef::Enum(enumeration) => &enumeration.name.original,
    }
}

impl Codec {
    /// All codecs, bounds first, then by name.
    pub fn all() -> Vec<&'static Codec> {
        let mut all: Vec<_> = inventory::iter::<Codec>().collect();
        all.sort_by_key(|codec| (!codec.is_bound, codec.name));
        all
    }

    /// The codec with this name.
    pub fn find(name: &str) -> Option<&'static Codec> {
        inventory::iter::<Codec>().find(|codec| codec.name == name)
    }

    /// Whether it takes part only where it or its language is named, as its options say.
    pub fn is_opt_in(&self) -> bool {
        self.options.contains(&OWN_CODE)
    }

    /// What its runner for this message is built from.
    ///
    /// # Errors
    /// When the definition contradicts itself.
    pub fn emission(&self, schema: &Schema, projection: &Projection) -> Result<Emission> {
        (self.emit)(&Unit { schema, projection })
    }

    /// The answer for a whole schema: the first rejection, or all lowerings.
    pub fn check_schema(&self, schema: &Schema) -> Support {
        if let Some(why) = find_empty_array(schema) {
            return Support::Rejected(why);
        }
        if self.is_bound {
            return Support::Supported;
        }
        if let Some(name) = schema.recursive_type() {
            return Support::Rejected(format!(
                "{name} contains itself; only plain structures can be measured"
            ));
        }
        let mut lowerings = Vec::new();
        for (id, def) in schema.types.iter().enumerate() {
            let name = original_name(def);
            match (self.check_type)(schema, id) {
                Support::Supported => {}
                Support::Lowered(more) => lowerings.extend(more),
                Support::Rejected(why) => return Support::Rejected(format!("{name}: {why}")),
            }
        }
        Support::lowered(lowerings)
    }
}
