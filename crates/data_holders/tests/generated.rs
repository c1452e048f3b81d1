//! Generated holders, held against libraries that others wrote and against each
//! other.

mod arrays;
mod large;
mod names;
mod no_alloc;
mod someip;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::compiled::compile;
use support::lint::lint;
use support::message_files::MessageFiles;
use support::{java, run_python, rustc, succeeds, write};
use wiregauge_data_holders::{HolderLanguage, Package, Wire};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::proto;
use wiregauge_schema::{generate, Schema, Sizes, TypeDef, Value};
use wiregauge_testkit::seeds::{self, Seeds};

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
    let dialects = [("ros1", Dialect::Ros1), ("ros2", Dialect::Ros2)].map(|(name, dialect)| {
        let package = common(&folder.path().join(name), dialect);
        let holders = folder.path().join("holders").join(name);
        for language in HolderLanguage::ALL {
            write(&package, language, &Wire::SEQUENTIAL, &holders);
        }
        lint(&python, &holders.join("common.py"));
        (name, dialect, package, holders)
    });
    let cases = seeds::cases();
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "generated", "common_packages");
    seeds.try_each(cases.unwrap_or(1), |seed| {
        for (turn, (name, dialect, package, holders)) in (0..).zip(&dialects) {
            let module = holders.join("common.py");
            let messages = folder.path().join("messages").join(name);
            fs::create_dir_all(&messages).expect("a folder");
            let version = Path::new(&name[3..]);
            let text = seed.to_string();
            let arguments = [&module, version, Path::new(&text), &messages];
            let count = run_python(&python, "published.py", &arguments);
            assert!(count.trim().parse::<usize>().expect("a count") > 400, "{count}");
            assert_eq!(run_python(&python, "cross.py", &[&module, &messages]), count);
            assert_eq!(support::run_dds(&python, package, &module, &messages), count);
            if *dialect == Dialect::Ros1 {
                let definitions = folder.path().join(name);
                let arguments = [&module, definitions.as_path(), &messages];
                assert_eq!(run_python(&python, "ros.py", &arguments), count);
            }
            // Both have nearly the same types, and what is made of them takes a minute to compile:
            // without WIREGAUGE_CASES one has its turn.
            if cases.is_none() && seed % 2 != turn {
                continue;
            }
            assert_eq!(run_cpp(holders, "common", &messages, ""), count);
            assert_eq!(run_libraries(holders, &messages), count);
            assert_eq!(run_rust(holders, "common", &messages, false), count);
            assert_eq!(java::run(holders, "common", &messages), count);
        }
    });
}

/// What holds views against holders, and sees each byte that is read or written beside its
/// memory.
const VIEWS: &str = "-DVIEWS -fsanitize=address,undefined -fno-sanitize-recover=all";

/// Compiles what is generated with everything that compilers warn of, and has it
/// read and write the messages in a folder.
fn run_cpp(holders: &Path, name: &str, messages: &Path, more: &str) -> String {
    let header = fs::read_to_string(holders.join(format!("{name}.hpp"))).expect("the header");
    let types = header.lines().filter_map(|line| line.strip_prefix("struct ")?.strip_suffix(" {"));
    let types: String = types.map(|kind| format!(" X({name}::{kind})")).collect();
    let text =
        format!("#include \"{name}.hpp\"\n#include \"{name}.view.hpp\"\n#define TYPES(X){types}\n");
    fs::write(holders.join("types.hpp"), text).expect("written");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/cross.cpp");
    let program = holders.join("cross");
    let flags =
        "-std=c++17 -O0 -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
                 -Wnon-virtual-dtor -Werror -I";
    let mut compiler = Command::new("g++");
    compiler
        .args(more.split_whitespace())
        .args(flags.split_whitespace())
        .arg(holders)
        .arg(&source)
        .arg("-o")
        .arg(&program);
    let views = source.with_file_name("views.hpp");
    compile(&mut compiler, holders, &[&source, &views]);
    succeeds(Command::new(program).arg(messages))
}

/// Has FastCDR and roscpp_serialization write and read the messages in a folder, after
/// `run_cpp` wrote what types there are.
fn run_libraries(holders: &Path, messages: &Path) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/libraries.cpp");
    let program = holders.join("libraries");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I"]).arg(holders);
    compiler.arg(&source).arg("-o").arg(&program).args(["-lfastcdr", "-lroscpp_serialization"]);
    compile(&mut compiler, holders, &[&source]);
    succeeds(Command::new(program).arg(messages))
}

/// The names of types in generated code, each with those of its members: what stands
/// before and behind either.
fn members<'a>(
    text: &'a str,
    [before, behind, open, close]: [&'a str; 4],
) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
    let within = |text: &'a str, before: &str, behind: &str| {
        Some(text.strip_prefix(before)?.split_once(behind)?.0)
    };
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let name = lines.find_map(|line| within(line, before, behind))?;
        let own = lines.clone().take_while(|line| *line != "}");
        Some((name, own.filter_map(|line| within(line, open, close)).collect()))
    })
}

/// The same in Rust, once as a library without the standard one.
fn run_rust(holders: &Path, name: &str, messages: &Path, with_views: bool) -> String {
    let text = |end: &str| fs::read_to_string(holders.join(end)).expect("what was generated");
    let view = with_views.then(|| text(&format!("{name}_view.rs")));
    let types = rust_types(name, &text(&format!("{name}.rs")), view.as_deref());
    let put = |file: &str, text: &str| fs::write(holders.join(file), text).expect("written");
    put("types.rs", &types);
    for file in ["cross.rs", "views.rs"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust").join(file);
        put(file, &fs::read_to_string(source).expect("a part of the program"));
    }
    let view = if with_views { format!("mod {name}_view;\nmod views;\n") } else { String::new() };
    let main = "mod wiregauge;\nfn main() { cross::run() }\n";
    put("main.rs", &format!("mod cross;\nmod {name};\nmod types;\n{view}{main}"));
    let all = format!("pub mod {name};\npub mod {name}_view;\npub mod wiregauge;\n");
    put("bare.rs", &format!("#![no_std]\n#![forbid(unsafe_code)]\n{all}"));
    rustc(holders, "--crate-type lib --emit metadata bare.rs");
    rustc(holders, "-C debug-assertions -o cross_rust main.rs");
    succeeds(Command::new(holders.join("cross_rust")).arg(messages))
}

/// What the program in Rust wants to know of the types, and of views of them.
fn rust_types(name: &str, holders: &str, views: Option<&str>) -> String {
    let mut dispatch = String::from("pub fn dispatch(kind: &str, name: &str, bad: bool) {\n");
    let mut known = String::new();
    for (kind, fields) in members(holders, ["pub struct ", " {", "    pub ", ":"]) {
        let held = format!("crate::{name}::{kind}");
        let check = format!("return crate::cross::check::<{held}>(name, bad)");
        dispatch += &format!("if kind == {held}::NAME {{ {check}; }}\n");
        let Some(views) = views else {
            known += &format!("impl crate::cross::Held for {held} {{}}\n");
            continue;
        };
        let mut views = members(views, ["impl<'a, W: Wire> ", "<'a, W> {", "    pub fn ", "("]);
        let (_, methods) = views.find(|(other, _)| *other == kind).expect("a view");
        assert_eq!(methods.len(), fields.len() + 2, "{kind}: {methods:?}");
        let both = fields.iter().zip(methods).map(|(field, method)| format!("{field} = {method}"));
        let both = both.collect::<Vec<_>>().join(", ");
        known += &format!("crate::views::record!({held}, crate::{name}_view::{kind}: {both});\n");
        known += &format!("crate::views::held!({held});\n");
    }
    for (kind, _) in members(holders, ["pub struct ", "(pub ", "    pub ", ":"]) {
        if views.is_some() {
            known += &format!("crate::views::number!(crate::{name}::{kind});\n");
        }
    }
    format!("{dispatch}panic!(\"no type {{kind}}\");\n}}\n{known}")
}

/// Every language reads and writes messages of all definitions as the reference does, and refuses
/// what is none. The definitions are one package: what takes time is that compilers start.
#[test]
fn messages_are_the_same_in_all_languages() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "generated", "messages");
    let cases = seeds::cases().unwrap_or(1);
    seeds.try_each(cases, |seed| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut files = MessageFiles::new(&folder.path().join("messages"));
        let mut definitions = vec![strict(&mut files), sized(&mut files), blocks(&mut files, seed)];
        definitions.push(someip::strict(&mut files));
        for (_, schema) in described() {
            files.add_generated(&schema, &[(0, 0, 0.0), (2, 3, 0.5), (3, 5, 1.0)], 1);
            definitions.push(schema);
        }
        // The other one had names that were taken once.
        for seed in [seed, 6400824825080480233] {
            let schema = among_others(support::schema(seed), &format!("random{seed}"));
            files.add_generated(&schema, &RANDOM_SIZES, seed);
            definitions.push(schema);
        }
        let definitions = definitions.into_iter().map(|schema| ("made up".to_owned(), schema));
        let package = Package::new(Some("message"), definitions.collect()).expect("they agree");
        assert_read(&package, folder.path(), files.whole);
    });
}

/// Lists, texts and presence of random messages.
const RANDOM_SIZES: [(usize, usize, f64); 4] =
    [(0, 0, 0.0), (1, 3, 0.5), (3, 9, 0.5), (2, 20, 1.0)];

/// A schema whose types have a package of their own.
fn among_others(schema: Schema, package: &str) -> Schema {
    let mut types = schema.types;
    for def in &mut types {
        let name = match def {
            TypeDef::Record(record) => &mut record.name,
            TypeDef::Enum(def) => &mut def.name,
        };
        name.original = format!("{package}/{}", name.original);
    }
    Schema { wording: schema.wording, ..Schema::new(types, schema.root) }
}

/// Every language deals with the messages in a folder as it must.
fn assert_read(package: &Package, folder: &Path, count: usize) {
    let python = support::python();
    for language in HolderLanguage::ALL {
        write(package, language, &Wire::SEQUENTIAL, folder);
    }
    let (module, files) = (folder.join("message.py"), folder.join("messages"));
    assert_eq!(run_python(&python, "cross.py", &[&module, &files]).trim(), count.to_string());
    assert_eq!(support::run_dds(&python, package, &module, &files).trim(), count.to_string());
    lint(&python, &module);
    assert_eq!(run_cpp(folder, "message", &files, VIEWS).trim(), count.to_string());
    assert_eq!(run_libraries(folder, &files).trim(), count.to_string());
    assert_eq!(run_rust(folder, "message", &files, true).trim(), count.to_string());
    assert_eq!(java::run(folder, "message", &files).trim(), count.to_string());
}

/// A truth value, a text and a list, each as ROS MSG and CDR have it: the parts of
/// a message that may be wrong.
fn parts(truth: u8, text: &[u8], list: &[u8], more: &[u8]) -> [Vec<u8>; 2] {
    let length = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
    let mut ros = vec![truth];
    ros.extend(length(text).iter().chain(text).chain(&length(list)).chain(list).chain(more));
    let ended = [text, b"\0"].concat();
    let mut cdr = vec![truth, 0, 0, 0];
    cdr.extend(length(&ended).iter().chain(&ended));
    cdr.resize(cdr.len().next_multiple_of(4), 0);
    cdr.extend(length(list).iter().chain(list).chain(more));
    [ros, cdr]
}

/// What is no message, on the wires that have no sizes of their own.
fn strict(files: &mut MessageFiles) -> Schema {
    let text = "bool truth\nstring<=4 text\nint8[<=2] list\n";
    let schema = msg::read_text(text, "p/Strict", Dialect::Ros2, "test").expect("a schema");
    let kind = "p/msg/Strict";
    // Nothing in it has another place in version 2.
    let wires = |[ros, cdr]: [Vec<u8>; 2]| [("ros_msg", ros), ("xcdr2", cdr.clone()), ("cdr", cdr)];
    files.add(kind, wires(parts(1, "aß€".as_bytes().split_at(3).0, &[1, 2], &[])));
    files.add(kind, wires(parts(0, "\u{10ffff}".as_bytes(), &[], &[])));
    let mut bad = vec![
        parts(2, b"", &[], &[]),
        parts(255, b"", &[], &[]),
        parts(1, b"12345", &[], &[]),
        parts(1, b"", &[1, 2, 3], &[]),
        parts(1, b"", &[], &[0]),
    ];
    // No UTF-8: cut short, begun in the middle, longer than needed, a surrogate, too
    // large.
    for text in
        [&b"\xc3"[..], b"\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
    {
        bad.push(parts(1, text, &[], &[]));
    }
    // Lengths that cannot be: of the text, then of the list.
    let [mut ros, mut cdr] = parts(1, b"", &[], &[]);
    ros[1..5].fill(0xff);
    cdr[4..8].fill(0xff);
    bad.push([ros, cdr]);
    let [mut ros, mut cdr] = parts(1, b"", &[], &[]);
    ros[5..9].fill(0xff);
    cdr[12..16].fill(0xff);
    bad.push([ros, cdr]);
    // In CDR alone: a zero within a text, and none at its end.
    let [ros, _] = parts(2, b"", &[], &[]);
    let [_, within] = parts(1, b"a\0b", &[], &[]);
    let [_, mut open] = parts(1, b"ab", &[], &[]);
    open[10] = b'c';
    bad.push([ros.clone(), within]);
    bad.push([ros, open]);
    for bytes in bad {
        files.add_bad(kind, wires(bytes));
    }
    schema
}

/// In XCDR2 the size of what is no number stands before it, and must be that.
fn sized(files: &mut MessageFiles) -> Schema {
    let part = format!("{}\nMSG: p/Small\nint8 small\n", "=".repeat(80));
    let text = format!("string<=3[] words\nSmall[3] parts\nSmall[] more\nint8 last\n{part}");
    let schema = msg::read_text(&text, "p/Sized", Dialect::Ros2, "test").expect("a schema");
    let first = files.whole;
    files.add_generated(&schema, &[(1, 3, 1.0), (0, 0, 1.0)], 1);
    let whole = fs::read(files.folder.join(format!("{first:04}.xcdr2"))).expect("a message");
    // The words, the parts, and more of them: where their sizes stand.
    let (words, parts) = (0, 16);
    assert_eq!(whole[words], 4 + 4 + 4, "{whole:02x?}");
    assert_eq!(whole[parts], 3, "{whole:02x?}");
    let more = 24;
    assert_eq!(whole[more], 4 + 1, "{whole:02x?}");
    for place in [words, parts, more] {
        for other in [0, 1, whole[place] - 1, whole[place] + 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[place] = other;
            let none = vec![0xff; 4];
            let wires = [("cdr", none.clone()), ("ros_msg", none), ("xcdr2", bytes)];
            files.add_bad("p/msg/Sized", wires);
        }
    }
    schema
}

fn ending(language: HolderLanguage) -> &'static str {
    match language {
        HolderLanguage::Cpp => "hpp",
        HolderLanguage::Java => "java",
        HolderLanguage::Python => "py",
        HolderLanguage::Rust => "rs",
    }
}

/// Definitions that say what changes no bytes, in both languages of definitions.
fn described() -> [(&'static str, Schema); 2] {
    let ros = "# A scan.\n# Of a plane.\n\n# What it is.\nuint8 FULL=1  # all of it\n\
               string WORD=\"a # \\\"b\\\"\"\n\n# Stays.\nuint8 part 1\nfloat32[] ranges [1.5, -2]  # in metres\n\
               float64[3] x_y [0.0, 1e3, -1]\nstring<=8[] class ['a, b']\nPoint[] points\n\
               uint64 most 18446744073709551615\nint64 least -9223372036854775808\n";
    let point = format!("{}\nMSG: p/Point\n# A point, \\\nfloat32 x\nfloat32 y\n", "=".repeat(80));
    let ros = msg::read_text(&(ros.to_owned() + &point), "p/Scan", Dialect::Ros2, "scan.msg");
    let proto = "syntax = \"proto2\"; package p;
        // What is seen.
        message Seen {
          // Its kind.
          optional Kind kind = 1 [default = CAR];
          repeated Kind kinds = 2; // all of them
          oneof which { string name = 3; Part part = 4; }
          required double inf = 5 [default = inf];
          // Of what it is.
          enum Kind { NONE = 0; /* On wheels. */ CAR = -7; mro = 1; }
          message Part { optional bool Part = 1; map<string, int32> counts = 2; }
        }";
    let proto = proto::read_texts(&[("seen.proto", proto)], None);
    [("scan", ros.expect("a schema")), ("seen", proto.expect("a schema"))]
}

#[test]
fn what_is_said_is_kept() {
    for (name, schema) in described() {
        let origin = vec![(format!("{name} of a test"), schema)];
        let package = Package::new(Some(name), origin).expect("a package");
        for language in HolderLanguage::ALL {
            let files = wiregauge_data_holders::generate(&package, language, &Wire::SEQUENTIAL);
            // The fixed part is in the tree already.
            let own = files
                .expect("generated")
                .into_iter()
                .filter(|file| file.path.starts_with(name) && !file.path.starts_with("wiregauge"));
            let text: String = own.map(|file| file.text).collect();
            let text = match text.split_once("class WireError") {
                Some((head, rest)) => {
                    let holders = rest.find("\n\n\n@dataclass").or(rest.find("IntEnum):"));
                    head.to_owned() + "…" + &rest[holders.expect("holders")..]
                }
                None => text,
            };
            let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
            // By another ending, as formatters would have it otherwise.
            let golden = format!("{name}.{}.txt", ending(language));
            wiregauge_testkit::golden::compare(env!("CARGO_MANIFEST_DIR"), &golden, &text);
        }
    }
}

/// Names that mean something in Java, and values that its types have and wires do not.
#[test]
fn java_refuses_what_may_not_be_written() {
    let text = "int8 int=-3\nuint64 MOST=18446744073709551615\nuint32 LARGE=4294967295\n\
                string WORD=\"ß\\u000a\\\"\"\n\
                # Ends */ here, \\u002a/ and \\u000a here {@code &amp; <p>\n\
                uint8 small\nuint16 middle\nuint32 large\nuint64 biggest\nfloat32[<=2] Arrays\n\
                string<=5 word\nstring<=2[] words\nfloat64[3] three\nPoint[2] corners\nPoint Point\n\
                Point[] points\nuint8[] data [200, 7]\nString string\nbool class\nint8 Objects\n\
                int8 one\nint8 reader\nint8 place\nint8 wiregauge\nint8 List\nfloat32 Float -1e-9\n\
                float64 Double 1e300\nuint16[] java [65535]\nuint32[1] that [4294967295]\n";
    let parts = [("Point", "float32 x\n"), ("String", "string data\nbool[2] other\n")];
    let parts = parts.map(|(name, text)| format!("{}\nMSG: p/{name}\n{text}", "=".repeat(80)));
    let text = text.to_owned() + &parts.join("");
    let schema = msg::read_text(&text, "p/Limited", Dialect::Ros2, "test").expect("a schema");
    let package = Package::new(Some("limits"), vec![("\\u000a of ß".into(), schema)]);
    let folder = tempfile::tempdir().expect("a folder");
    write(&package.expect("a package"), HolderLanguage::Java, &Wire::SEQUENTIAL, folder.path());
    assert_eq!(java::run_program(folder.path(), "limits", "Limits").trim(), "done");
}

/// Names that mean something in Rust or to its views; and what lies at no fixed distance from
/// each other is gone through: it has no index.
#[test]
fn views_in_rust_have_legal_names_and_an_index_where_it_is_one() {
    let parts = [("W", "float32 x\n"), ("List", "string bytes\nint8 self\n")];
    let parts = parts.map(|(name, text)| format!("{}\nMSG: p/{name}\n{text}", "=".repeat(80)));
    let text = "W W\nW[] many\nList[] List\nstring to_holder\nstring type\nint8 clone\n";
    let schema =
        msg::read_text(&(text.to_owned() + &parts.join("")), "p/Named", Dialect::Ros2, "t");
    let package = Package::new(Some("type"), vec![("t".into(), schema.expect("a schema"))]);
    let folder = tempfile::tempdir().expect("a folder");
    write(&package.expect("a package"), HolderLanguage::Rust, &[Wire::Cdr], folder.path());
    let program = |use_of: &str| {
        let modules = "mod type_;\nmod type_view;\nmod wiregauge;\n";
        let check = "wiregauge::check::<wiregauge::Cdr, type_::Named>(&bytes).unwrap()";
        let main = format!("let bytes = [0; 21];\nlet view = {check};\n{use_of}");
        fs::write(folder.path().join("main.rs"), format!("{modules}fn main() {{\n{main}\n}}\n"))
            .expect("written");
        let mut compiler = Command::new("rustc");
        compiler.args(["--edition", "2021", "-D", "warnings", "main.rs"]);
        compiler.current_dir(folder.path()).output().expect("it starts")
    };
    let all = "println!(\"{}{}{}{:?}\", view.to_holder_(), view.type_(), view.clone(), \
               view.many().get(0).map(|one| one.x()));\nprintln!(\"{:?}\", view.to_holder());";
    let done = program(all);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = succeeds(&mut Command::new(folder.path().join("main")));
    assert!(said.starts_with("0None\nNamed {"), "{said}");
    let done = program("view.List().get(0);");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success() && said.contains("at no fixed distance"), "{said}");
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
Nested[] nested
Inner[] inner
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
const PARTS: [(&str, &str); 9] = [
    ("Late", "uint32 a\nuint32 b\nfloat64 c\n"),
    ("Early", "float64 c\nfloat32 a\nfloat32 b\n"),
    ("Gap", "float64 a\nfloat32 b\n"),
    ("Nested", "float64 a\nuint8 b\nPart part\nuint8[3] c\n"),
    ("Part", "uint16 a\nfloat64 b\nint8 c\nuint32[2] d\n"),
    ("Inner", "uint8 a\nuint32 b\nNothing none\nuint8 c\n"),
    ("Flag", "int8 a\nbool b\n"),
    ("Deep", "Early[2] pair\nint16[4] four\n"),
    ("Nothing", "int32 NONE=0\n"),
];

fn blocks(files: &mut MessageFiles, seed: u64) -> Schema {
    let parts = PARTS.map(|(name, text)| format!("{}\nMSG: p/{name}\n{text}", "=".repeat(80)));
    let text = BLOCKS.to_owned() + &parts.join("");
    let schema = msg::read_text(&text, "p/Blocks", Dialect::Ros2, "test").expect("a schema");
    // Texts of all lengths, so that lists begin at all places.
    let sizes: Vec<(usize, usize, f64)> = (0..16).map(|at| (at % 4, at / 2, 1.0)).collect();
    files.add_generated(&schema, &sizes, seed);
    schema
}

/// Each float in a value becomes one that is no number, by its turn: quiet ones and such
/// as signal, which a processor makes quiet where it widens or narrows them.
fn unnumbered(value: &mut Value, turn: &mut usize) {
    const SINGLE: [u32; 4] = [0x7f80_0001, 0xffa0_0000, 0x7fc0_0001, 0xffff_ffff];
    const DOUBLE: [u64; 3] = [0x7ff0_0000_0000_0001, 0xfff4_0000_0000_0000, 0x7ff8_0000_2000_0000];
    match value {
        Value::F32(value) => *value = f32::from_bits(SINGLE[*turn % SINGLE.len()]),
        Value::F64(value) => *value = f64::from_bits(DOUBLE[*turn % DOUBLE.len()]),
        Value::Record(values) | Value::List(values) => {
            values.iter_mut().for_each(|value| unnumbered(value, turn));
        }
        _ => return,
    }
    *turn += 1;
}

#[test]
fn floats_that_are_no_numbers_keep_their_bits_in_python() {
    let text = "float32 x\nuint8 gap\nfloat64 y\nbool flag\nfloat32[] many\nfloat32[3] three\n\
                float64[2] wide\nPlain[] plains\nRow[] rows\nPlain plain\nOdd[] odds\n";
    let line = "=".repeat(80);
    let text = format!(
        "{text}{line}\nMSG: p/Plain\nfloat32 x\nfloat32[2] more\nfloat32 last\n\
         {line}\nMSG: p/Row\nuint8 kind\nfloat32 x\nuint64 count\nfloat32[2] more\nfloat64 y\n\
         {line}\nMSG: p/Odd\nstring text\nfloat32 x\nfloat32[] many\n"
    );
    let ros = msg::read_text(&text, "p/Floats", Dialect::Ros2, "test").expect("a schema");
    let text = "syntax = \"proto2\"; package p; message Floats {
        required float a = 1; optional float b = 2; repeated float loose = 3;
        repeated float tight = 4 [packed = true]; required double c = 5; optional double d = 6;
        repeated double wide = 7; map<string, float> map = 8; oneof one { float e = 9; double f = 10; }
        repeated Plain plains = 11; optional group Delimited = 12 { optional float x = 1; } }
        message Plain { required float x = 1; required double y = 2; repeated float list = 3; }";
    let tagged = proto::read_texts(&[("a.proto", text)], Some("p.Floats")).expect("a schema");
    let python = support::python();
    for (schema, wires) in [(ros, &Wire::SEQUENTIAL[..]), (tagged, &Wire::ALL[..])] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut files = MessageFiles::new(&folder.path().join("messages"));
        for at in 0..8 {
            let sizes = Sizes { list: at, presence: 1.0, ..Sizes::default() };
            let mut value = generate(&schema, &sizes, at as u64).expect("a message");
            unnumbered(&mut value, &mut at.clone());
            files.add_value(&schema, &value, wires);
        }
        let package = Package::new(Some("message"), vec![("made up".into(), schema)]);
        write(&package.expect("a package"), HolderLanguage::Python, wires, folder.path());
        let module = folder.path().join("message.py");
        lint(&python, &module);
        assert_eq!(run_python(&python, "bits.py", &[&module, &files.folder]).trim(), "8");
    }
}
