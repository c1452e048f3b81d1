//! Generated holders, held against libraries that others wrote and against each
//! other.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{reference, run_python, succeeds, write};
use wiregauge_generate::{Language, Package, Wire};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{generate, Schema, Sizes};
use wiregauge_seeds::Seeds;

/// The definitions that rosbags has of a ROS, in one package.
fn common(folder: &Path, dialect: Dialect) -> Package {
    let mut paths = Vec::new();
    for package in fs::read_dir(folder).expect("packages") {
        let messages = package.expect("a package").path().join("msg");
        paths.extend(fs::read_dir(messages).expect("messages").map(|m| m.expect("a file").path()));
    }
    paths.sort();
    assert!(paths.len() > 150, "{} definitions", paths.len());
    let read = |path: PathBuf| {
        let schema = msg::read_file_as(Some(dialect), &path, None, &[folder.to_owned()]);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        (name, schema.unwrap_or_else(|error| panic!("{}: {error:#}", path.display())))
    };
    let definitions = paths.into_iter().map(read).collect();
    Package::new(Some("common"), definitions).expect("they agree")
}

#[test]
fn common_packages_are_written_as_by_rosbags() {
    let python = support::python();
    let folder = tempfile::tempdir().expect("a folder");
    run_python(&python, "definitions.py", &[folder.path()]);
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "generated", "common_packages");
    for (name, dialect) in [("ros1", Dialect::Ros1), ("ros2", Dialect::Ros2)] {
        let package = common(&folder.path().join(name), dialect);
        let holders = folder.path().join("holders").join(name);
        for language in Language::ALL {
            write(&package, language, &holders);
        }
        let module = holders.join("common.py");
        lint(&python.program, &module);
        let messages = folder.path().join("messages").join(name);
        fs::create_dir_all(&messages).expect("a folder");
        seeds.each(1, |seed| {
            let version = Path::new(&name[3..]);
            let seed = seed.to_string();
            let arguments = [&module, version, Path::new(&seed), &messages];
            let count = run_python(&python, "published.py", &arguments);
            assert!(count.trim().parse::<usize>().expect("a count") > 400, "{count}");
            assert_eq!(run_python(&python, "cross.py", &[&module, &messages]), count);
            assert_eq!(run_cpp(&holders, "common", &messages, ""), count);
        });
    }
}

/// The module has nothing for linters and checkers of types to say.
fn lint(python: &Path, module: &Path) {
    let cache = module.with_extension("cache");
    succeeds(
        Command::new(python).args(["-m", "mypy", "--strict", "--cache-dir"]).arg(cache).arg(module),
    );
    succeeds(Command::new(python).args(["-m", "ruff", "check", "--isolated"]).arg(module));
}

/// What sees each byte that is read or written beside its memory.
const SANITIZERS: &str = "-fsanitize=address,undefined -fno-sanitize-recover=all";

/// Compiles what is generated with everything that compilers warn of, and has it
/// read and write the messages in a folder.
fn run_cpp(holders: &Path, name: &str, messages: &Path, sanitizers: &str) -> String {
    let header = fs::read_to_string(holders.join(format!("{name}.hpp"))).expect("the header");
    let types = header.lines().filter_map(|line| line.strip_prefix("struct ")?.strip_suffix(" {"));
    let types: String = types.map(|kind| format!(" X({name}::{kind})")).collect();
    let text = format!("#include \"{name}.hpp\"\n#define TYPES(X){types}\n");
    fs::write(holders.join("types.hpp"), text).expect("written");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/cross.cpp");
    let program = holders.join("cross");
    let flags =
        "-std=c++17 -O0 -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
                 -Wnon-virtual-dtor -Werror -I";
    let mut compiler = Command::new("g++");
    compiler
        .args(sanitizers.split_whitespace())
        .args(flags.split_whitespace())
        .arg(holders)
        .arg(source)
        .arg("-o")
        .arg(&program);
    succeeds(&mut compiler);
    succeeds(Command::new(program).arg(messages))
}

/// Messages of a schema as files, on each wire: lists, texts and presence of these
/// sizes.
fn messages(schema: &Schema, sizes: &[(usize, usize, f64)], seed: u64, folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    for (at, (list, text, presence)) in sizes.iter().copied().enumerate() {
        let sizes = Sizes { list, text, bytes: text, presence, ..Sizes::default() };
        let value = generate(schema, &sizes, seed.wrapping_add(at as u64)).expect("a message");
        let name = &schema.root().name.original;
        fs::write(folder.join(format!("{at:04}.type")), name).expect("written");
        for wire in Wire::ALL {
            let end = wire.name().replace('-', "_");
            let bytes = reference::encode(schema, &value, wire);
            fs::write(folder.join(format!("{at:04}.{end}")), bytes).expect("written");
        }
    }
}

/// Every language reads and writes messages of a schema as the reference does.
fn assert_carried(schema: &Schema, sizes: &[(usize, usize, f64)], seed: u64) {
    let python = support::python();
    let folder = tempfile::tempdir().expect("a folder");
    let package = Package::new(Some("message"), vec![("made up".into(), schema.clone())]);
    let package = package.expect("a package");
    let files = folder.path().join("messages");
    messages(schema, sizes, seed, &files);
    for language in Language::ALL {
        write(&package, language, folder.path());
    }
    let module = folder.path().join("message.py");
    let count = sizes.len().to_string();
    assert_eq!(run_python(&python, "cross.py", &[&module, &files]).trim(), count);
    lint(&python.program, &module);
    assert_eq!(run_cpp(folder.path(), "message", &files, SANITIZERS).trim(), count);
}

/// What moves as a block, and what only seems to: gaps within, gaps at the end,
/// a first number that does not align the others, truth values.
const BLOCKS: &str = "\
uint8 first
string before
Late[] late
string<=9 between
Late[] again
Early[] early
Gap[] gaps
Flag[] flags
Deep[] deep
Deep[2] corners
bool[] truths
bool[3] three
string[<=9] words
int8[] i8
int16[] i16
uint16[] u16
int32[] i32
uint32[] u32
int64[] i64
uint64[] u64
float32[] f32
float64[] f64
float64[9] matrix
uint8[5] octets
uint8[] data
Nothing nothing
uint8 last
";
const PARTS: [(&str, &str); 6] = [
    ("Late", "uint32 a\nuint32 b\nfloat64 c\n"),
    ("Early", "float64 c\nfloat32 a\nfloat32 b\n"),
    ("Gap", "float64 a\nfloat32 b\n"),
    ("Flag", "int8 a\nbool b\n"),
    ("Deep", "Early[2] pair\nint16[4] four\n"),
    ("Nothing", "int32 NONE=0\n"),
];

#[test]
fn blocks_are_what_their_elements_are() {
    let parts = PARTS.map(|(name, text)| format!("{}\nMSG: p/{name}\n{text}", "=".repeat(80)));
    let text = BLOCKS.to_owned() + &parts.join("");
    let schema = msg::read_text(&text, "p/Blocks", Dialect::Ros2, "test").expect("a schema");
    // Texts of all lengths, so that lists begin at all places.
    let sizes: Vec<(usize, usize, f64)> = (0..16).map(|at| (at % 4, at / 2, 1.0)).collect();
    assert_carried(&schema, &sizes, wiregauge_seeds::seed());
}

#[test]
fn random_messages_are_the_same_in_all_languages() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "generated", "random_messages");
    let sizes = [(0, 0, 0.0), (1, 3, 0.5), (3, 9, 0.5), (2, 20, 1.0)];
    seeds.each(6, |seed| assert_carried(&support::schema(seed), &sizes, seed));
}
