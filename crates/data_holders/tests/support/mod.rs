//! What the tests of generated holders share.
#![allow(dead_code)] // Each test file uses its part.

pub mod compiled;
pub mod java;
pub mod lint;
pub mod message_files;
pub mod reference;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use compiled::compile;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use wiregauge_build_tools::python::PythonEnvironment;
use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_schema::{arbitrary, Cardinality, Element, Schema, TypeDef};

/// The build folder that the tests share.
pub fn build_folder() -> PathBuf {
    let own = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("build");
    std::env::var_os("WIREGAUGE_BUILD").map_or_else(own, PathBuf::from)
}

/// Python with what holders are held against.
pub fn python() -> PythonEnvironment {
    PythonEnvironment::create(&build_folder(), include_str!("../python/requirements.txt"))
        .expect("Python and its packages")
}

/// Runs a command, and expects that it goes well.
pub fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {out}{err}");
    out
}

/// Compiles in a folder by rustc, whose warnings are errors.
pub fn rustc(folder: &Path, arguments: &str) {
    let mut compiler = Command::new("rustc");
    compiler.args(["--edition", "2021", "-D", "warnings"]).args(arguments.split_whitespace());
    compile(&mut compiler, folder, &[]);
}

/// Runs a program of `tests/python` with these arguments.
pub fn run_python(python: &PythonEnvironment, program: &str, arguments: &[&Path]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(program);
    succeeds(Command::new(&python.program).arg(path).args(arguments))
}

/// Writes the files of a package into a folder.
pub fn write(package: &Package, language: HolderLanguage, wires: &[Wire], folder: &Path) {
    for file in generate(package, language, wires).expect("it can be generated") {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, file.text).expect("written");
    }
}

/// Holds the messages in a folder against Cyclone DDS.
pub fn run_dds(
    python: &PythonEnvironment,
    package: &Package,
    module: &Path,
    messages: &Path,
) -> String {
    let element = |element: Element| match element {
        Element::Scalar(scalar) => scalar.rust_name().into(),
        Element::String => "string".into(),
        Element::Bytes => "bytes".into(),
        Element::Record(id) => format!("record:{}", package.schema.record(id).name.original),
        Element::Enum(id) => format!("enum:{}", package.schema.enumeration(id).name.original),
    };
    let mut text = String::new();
    for def in &package.schema.types {
        match def {
            TypeDef::Enum(def) => {
                text += &format!("enum\t{}\t{}\n", def.name.original, def.repr.size());
            }
            TypeDef::Record(record) => {
                text += &format!("record\t{}\n", record.name.original);
                for field in &record.fields {
                    let (card, count) = match field.cardinality {
                        Cardinality::Required | Cardinality::Implicit => ("one", 0),
                        Cardinality::Optional => ("optional", 0),
                        Cardinality::List { bound } => ("list", bound.unwrap_or(0)),
                        Cardinality::Array { len } => ("array", len),
                    };
                    text += &format!("field\t{}\t{card}\t{count}\n", element(field.element));
                }
            }
        }
    }
    let schema = module.with_extension("schema");
    fs::write(&schema, text).expect("written");
    run_python(python, "dds.py", &[module, &schema, messages])
}

/// A random schema.
pub fn schema(seed: u64) -> Schema {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    arbitrary::schema().new_tree(&mut runner).expect("a schema can be made").current()
}
