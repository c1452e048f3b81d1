//! Names that mean something to a compiler, given to whatever has a name in a definition:
//! what is generated compiles all the same, in each language and on each kind of wire.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_schema::documentation::{Constant, MemberDocumentation, TypeDocumentation};
use wiregauge_schema::name::MACROS;
use wiregauge_schema::{
    Cardinality, Element, Enum, EnumValue, Field, Name, Record, Role, Scalar, Schema, TypeDef,
};
use wiregauge_testkit::seeds::Seeds;

use super::support::compiled::compile;
use super::support::lint::check_types;
use super::support::{self, java, run_python, rustc, write};

/// Names that once failed; every run takes them.
const FAILED: &str =
    "array Sequence Point LITTLE_ENDIAN EINVAL errno Ok Some None Err Tagged Decoder \
                      Encoder Sequential Reader Writer Sizer String Object List Override Math \
                      Sink Visit Self WireException TypeError struct classmethod range real time \
                      signal core wiregauge W getClass hashCode Scan SCAN deserialize_someip";

/// Words that are compiled together.
const TOGETHER: usize = 1000;

/// Kinds of wires: those that write field after field, and those with numbers before fields.
const FAMILIES: [&[Wire]; 2] = [&Wire::SEQUENTIAL, &[Wire::Protobuf]];

/// What no namespace of C++ is called.
const GLOBALS: &str = include_str!("../../src/cpp/globals.txt");

/// All words: of languages, of C++'s headers, and what is in generated code itself.
fn hard_names() -> Vec<String> {
    let lists = [include_str!("words.txt"), MACROS];
    let mut words: BTreeSet<String> = BTreeSet::new();
    for line in lists.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#')) {
        words.extend(line.split_whitespace().map(str::to_owned));
    }
    for wires in FAMILIES {
        let package = package("zz", schema(&["Point".to_owned()], wires, 0));
        for language in HolderLanguage::ALL {
            for file in generate(&package, language, wires).expect("it can be generated") {
                let tokens = file.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let is_name = |word: &&str| {
                    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                        && !word.to_ascii_lowercase().contains("zz")
                };
                words.extend(tokens.filter(is_name).map(str::to_owned));
            }
        }
    }
    assert!(words.len() > 3000, "{} words", words.len());
    words.into_iter().collect()
}

/// Words for packages: in C++ they stand beside functions.
fn packages() -> Vec<String> {
    hard_names().into_iter().chain(GLOBALS.lines().map(str::to_owned)).collect()
}

/// Some words by a seed, with those that once failed.
fn some(mut words: Vec<String>, seed: u64, count: usize) -> Vec<String> {
    words.sort_by_key(|word| {
        let mut hash = DefaultHasher::new();
        (seed, word).hash(&mut hash);
        hash.finish()
    });
    words.truncate(count);
    words.extend(FAILED.split_whitespace().map(str::to_owned));
    words.sort();
    words.dedup();
    words
}

fn package(name: &str, schema: Schema) -> Package {
    Package::new(Some(name), vec![("made up".into(), schema)]).expect("a package")
}

fn name(original: impl Into<String>) -> Name {
    Name { original: original.into(), legal: String::new() }
}

/// What a field may be on such wires: each that makes other code, with a record and an enum.
fn kinds(wires: &[Wire], record: usize, kind: usize) -> Vec<(Element, Cardinality)> {
    use Cardinality::{Array, Implicit, List, Optional, Required};
    let scalar = Element::Scalar;
    let (record, kind) = (Element::Record(record), Element::Enum(kind));
    let list = List { bound: None };
    let all = [scalar(Scalar::F32), scalar(Scalar::Bool), scalar(Scalar::U32), Element::String];
    let all = [&all[..], &[Element::Bytes, kind, record, scalar(Scalar::I64)]].concat();
    let mut kinds: Vec<_> = all.iter().map(|element| (*element, list)).collect();
    kinds.extend(all.iter().map(|element| (*element, Optional)));
    kinds.extend(
        all.iter().filter(|element| **element != record).map(|element| (*element, Implicit)),
    );
    match wires.contains(&Wire::Protobuf) {
        true => kinds.extend(all.iter().map(|element| (*element, Required))),
        false => {
            kinds.extend(all.iter().map(|element| (*element, Array { len: 2 })));
            kinds.extend([(scalar(Scalar::U8), list), (Element::String, List { bound: Some(3) })]);
        }
    }
    kinds
}

/// A record is there or not: it is never left out for being empty.
fn without_absence(cardinality: Cardinality) -> Cardinality {
    match cardinality {
        Cardinality::Implicit => Cardinality::Optional,
        other => other,
    }
}

fn record(original: &str, fields: Vec<(String, (Element, Cardinality))>) -> TypeDef {
    let fields =
        fields.into_iter().enumerate().map(|(at, (field, (element, cardinality)))| Field {
            name: name(field),
            id: at as u32 + 1,
            element,
            cardinality,
            union: None,
            default: None,
            wire: Default::default(),
        });
    TypeDef::Record(Record { name: name(original), fields: fields.collect(), role: Role::Plain })
}

fn enumeration(original: &str, values: &[String]) -> TypeDef {
    let values = values.iter().enumerate();
    let values = values.map(|(at, value)| EnumValue { name: name(value), number: at as i64 });
    TypeDef::Enum(Enum { name: name(original), repr: Scalar::I32, values: values.collect() })
}

/// The words in each role: types, fields, fields called as their types, constants, values,
/// unions and comments.
fn schema(words: &[String], wires: &[Wire], turn: usize) -> Schema {
    let mut types = vec![
        record("p.ZzLeaf", vec![("x".into(), (Element::String, Cardinality::Implicit))]),
        enumeration("p.ZzKind", &["NONE".to_owned(), "ONE".to_owned()]),
    ];
    let (mut leaf, mut kind) = (0, 1);
    let mut typed = Vec::new();
    let mut wording = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let id = types.len();
        let original = format!("p.{word}");
        let kinds = kinds(wires, leaf, kind);
        let pick = |step: usize| kinds[(at * 5 + turn + step * 7) % kinds.len()];
        let (def, element) = match (at + turn) % 3 {
            0 => {
                kind = id;
                (enumeration(&original, &[word.clone(), "ZZ".to_owned()]), Element::Enum(id))
            }
            1 => {
                leaf = id;
                let number = |kind| (Element::Scalar(kind), Cardinality::Implicit);
                let fields =
                    vec![("x".into(), number(Scalar::F32)), (word.clone(), number(Scalar::I64))];
                (record(&original, fields), Element::Record(id))
            }
            _ => {
                let fields = (0..5).map(|step| (format!("zz{step}"), pick(step)));
                (record(&original, fields.collect()), Element::Record(id))
            }
        };
        types.push(def);
        typed.push((word.clone(), (element, without_absence(pick(0).1))));
        let comment = format!("{word} {word}. {word}< import {word}; ??/");
        let member = MemberDocumentation { comment: comment.clone(), spelling: String::new() };
        let members = ["x", "zz0", word].map(|name| (name.to_owned(), member.clone()));
        let members = BTreeMap::from(members);
        wording.push((
            original,
            TypeDocumentation { comment, members, ..TypeDocumentation::default() },
        ));
    }
    types.push(enumeration("p.ZzValues", words));
    let kinds = kinds(wires, leaf, kind);
    let mut unions = Vec::new();
    for at in 0..2 * words.len() {
        let element = kinds[(at + turn) % 8].0;
        unions.push((format!("zz{at}"), (element, Cardinality::Optional)));
    }
    let mut unions = record("p.ZzUnions", unions);
    if let TypeDef::Record(record) = &mut unions {
        for (at, field) in record.fields.iter_mut().enumerate() {
            field.union = Some(words[at / 2].clone());
        }
    }
    types.push(unions);
    types.push(record("p.ZzTyped", typed));
    let constant = |(at, word): (usize, &String)| {
        let (spelling, value) = [("uint8", "1"), ("string", "text"), ("float64", "1.5")][at % 3];
        Constant {
            name: word.clone(),
            spelling: spelling.into(),
            value: value.into(),
            is_bare: false,
            comment: word.clone(),
        }
    };
    let constants = words.iter().enumerate().map(constant).collect();
    let fields = kinds.iter().enumerate().map(|(at, kind)| (format!("zz{at}"), *kind)).collect();
    types.push(record("p.ZzConstants", fields));
    wording.push((
        "p.ZzConstants".into(),
        TypeDocumentation { constants, ..TypeDocumentation::default() },
    ));
    let fields = words.iter().enumerate();
    let fields = fields.map(|(at, word)| (word.clone(), kinds[(at + turn) % kinds.len()]));
    types.push(record("p.ZzFields", fields.collect()));
    let root = types.len() - 1;
    let mut schema = Schema::new(types, root);
    wording.into_iter().for_each(|(original, words)| schema.wording.insert(&original, words));
    schema
}

/// Words that make types of different names, together as many as may be; the rest is put off.
fn apart(words: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut seen = BTreeSet::new();
    words.into_iter().partition(|word| {
        let letters = word.chars().filter(char::is_ascii_alphanumeric);
        let key: String = letters.map(|c| c.to_ascii_lowercase()).collect();
        seen.len() < TOGETHER && seen.insert(key)
    })
}

/// Has each language compile the words in each role.
fn assert_named(words: Vec<String>, turn: usize) {
    let mut left = words;
    while !left.is_empty() {
        let (words, rest) = apart(left);
        println!("{} words, {} after them", words.len(), rest.len());
        left = rest;
        for wires in FAMILIES {
            let folder = tempfile::tempdir().expect("a folder");
            let package = package("named", schema(&words, wires, turn));
            for language in HolderLanguage::ALL {
                write(&package, language, wires, folder.path());
            }
            compile_all(folder.path(), &["named".into()], wires);
        }
    }
}

/// Compiles the modules in a folder in each language, and says what any of them says.
fn compile_all(folder: &Path, packages: &[String], wires: &[Wire]) {
    std::thread::scope(|scope| {
        scope.spawn(|| compile_cpp(folder, packages, wires));
        scope.spawn(|| compile_rust(folder));
        scope.spawn(|| java::compile_bare(folder));
        scope.spawn(|| check_python(folder, packages.len() == 1));
    });
}

/// The files of a folder with this end, without it.
fn files(folder: &Path, end: &str) -> Vec<String> {
    let paths = fs::read_dir(folder).expect("a folder").map(|path| path.expect("a file").path());
    let mut names: Vec<String> = paths
        .filter_map(|path| path.file_name()?.to_str()?.strip_suffix(end).map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Behind all headers that a program may include.
fn compile_cpp(folder: &Path, packages: &[String], wires: &[Wire]) {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/names/headers.hpp");
    let mut text = format!("#include \"{}\"\n", headers.display());
    for name in files(folder, ".hpp") {
        text += &format!("#include \"{name}.hpp\"\n");
    }
    for wire in wires {
        text += &format!("#include \"wiregauge/{}.hpp\"\n", wire.name().replace('-', "_"));
    }
    fs::write(folder.join("all.cpp"), text + &instances(folder, packages, wires)).expect("written");
    let flags = "-std=gnu++17 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I.";
    let mut compiler = Command::new("g++");
    compile(compiler.args(flags.split_whitespace()).arg("all.cpp"), folder, &[&headers]);
}

fn compile_rust(folder: &Path) {
    let modules: String =
        files(folder, ".rs").iter().map(|name| format!("pub mod {name};\n")).collect();
    fs::write(folder.join("all.rs.txt"), format!("#![no_std]\n{modules}")).expect("written");
    rustc(folder, "--crate-type lib --crate-name all --emit metadata all.rs.txt");
}

/// Runs each module once, and maybe has the checker of types read it.
fn check_python(folder: &Path, with_types: bool) {
    let python = support::python();
    let modules = files(folder, ".py");
    let paths: Vec<&Path> = modules.iter().map(Path::new).collect();
    run_python(&python, "imported.py", &[&[folder][..], &paths].concat());
    if !with_types {
        return;
    }
    let modules: Vec<PathBuf> = modules.iter().map(|name| format!("{name}.py").into()).collect();
    check_types(&python, folder, &modules);
}

/// What makes the templates of C++ real: each holder of the one package is written and read.
fn instances(folder: &Path, packages: &[String], wires: &[Wire]) -> String {
    let [package] = packages else { return String::new() };
    let header = fs::read_to_string(folder.join(format!("{package}.hpp"))).expect("a header");
    let types = header.lines().filter_map(|line| line.strip_prefix("struct ")?.strip_suffix(" {"));
    let call = match wires.contains(&Wire::Protobuf) {
        true => {
            "wiregauge::protobuf::deserialize(out.data(), out.size(), one); \
                 wiregauge::protobuf::serialize(one, out);"
        }
        false => {
            "wiregauge::deserialize<wiregauge::Cdr>(out.data(), out.size(), one); \
                  wiregauge::serialize<wiregauge::Cdr>(one, out);"
        }
    };
    let mut text = String::from("void use(std::vector<std::uint8_t> &out) {\n");
    for kind in types {
        text += &format!("  {{ {package}::{kind} one; {call} }}\n");
    }
    text + "}\n"
}

/// Has each language compile packages of these names.
fn assert_packages(mut words: Vec<String>) {
    words.sort();
    words.dedup();
    let is_package = |word: &String| {
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        !word.starts_with("__")
            && word.starts_with(is_letter)
            && word.chars().all(|c| is_letter(c) || c.is_ascii_digit())
    };
    let words: Vec<String> = words.into_iter().filter(is_package).collect();
    words.chunks(TOGETHER).for_each(compile_packages);
}

fn compile_packages(words: &[String]) {
    let folder = tempfile::tempdir().expect("a folder");
    let number = (Element::Scalar(Scalar::U8), Cardinality::Implicit);
    for word in words {
        let types = vec![record(&format!("{word}/msg/Zz"), vec![("x".into(), number)])];
        let package = package(word, Schema::new(types, 0));
        for language in HolderLanguage::ALL {
            write(&package, language, &Wire::SEQUENTIAL, folder.path());
        }
    }
    compile_all(folder.path(), words, &Wire::SEQUENTIAL);
}

#[test]
fn no_name_keeps_it_from_compiling() {
    let seeds = Seeds::new(env!("CARGO_MANIFEST_DIR"), "generated", "no_name_keeps");
    seeds.try_each(1, |seed| {
        assert_named(some(hard_names(), seed, 120), seed as usize % 24);
        assert_packages(some(packages(), seed, 120));
    });
}

/// `WIREGAUGE_FIRST_NAME=3000` goes on at this word, and without packages.
#[test]
#[ignore = "all names in all roles take an hour of processor time"]
fn all_names_compile() {
    let first = std::env::var("WIREGAUGE_FIRST_NAME").ok();
    if first.is_none() {
        assert_packages(packages());
    }
    let first = first.map_or(0, |first| first.parse().expect("the number of a word"));
    assert_named(hard_names().split_off(first), 0);
}

/// The names of macros that these lines have when they are compiled, as a definition could have
/// them: none begins with a low line or has two of them.
fn macros(lines: &str) -> BTreeSet<String> {
    let text = compiler(&["-dM", "-E"], lines).0;
    let names =
        text.lines().filter_map(|line| line.strip_prefix("#define ")?.split([' ', '(']).next());
    names.filter(|name| !name.starts_with('_') && !name.contains("__")).map(str::to_owned).collect()
}

/// What these lines declare outside of namespaces: no namespace may be called so.
fn globals(lines: &str) -> BTreeSet<String> {
    let text = compiler(&["-E", "-P"], lines).0;
    let names: BTreeSet<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()) && !word.contains("__"))
        .filter(|word| !word.contains(|c: char| c.is_ascii_uppercase()))
        .collect();
    let tries: String =
        names.iter().map(|name| format!("#line 1 \"{name}\"\nnamespace {name} {{}}\n")).collect();
    let said = compiler(&["-fsyntax-only", "-fmax-errors=0"], &format!("{lines}\n{tries}")).1;
    let is_taken = |line: &&str| line.contains("redeclared as");
    let words = said.lines().filter(is_taken).filter_map(|line| line.split(':').next());
    words.filter(|word| names.contains(word)).map(str::to_owned).collect()
}

/// What the compiler writes, and what it says, about these lines.
fn compiler(arguments: &[&str], lines: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("lines.cpp"), lines).expect("written");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=gnu++17"]).args(arguments).arg("lines.cpp").env("LC_ALL", "C");
    let output = compiler.current_dir(folder.path()).output().expect("it starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The lists of what names in C++ give way to know what this machine's headers have, of those
/// that holders include. With WIREGAUGE_BLESS=1 what all of `headers.hpp` have is added; nothing
/// is taken away, so that a name is the same wherever it is generated.
#[test]
fn names_of_the_headers_are_known() {
    let package = package("zz", schema(&["Point".to_owned()], &Wire::SEQUENTIAL, 0));
    let files =
        generate(&package, HolderLanguage::Cpp, &[Wire::Cdr, Wire::Protobuf]).expect("headers");
    let lines = files.iter().flat_map(|file| file.text.lines());
    let own: BTreeSet<&str> = lines.filter(|line| line.starts_with("#include <")).collect();
    let own = own.into_iter().map(|line| format!("{line}\n")).collect::<String>();
    let all = include_str!("headers.hpp");
    let bless = std::env::var_os("WIREGAUGE_BLESS").is_some();
    let lines = if bless { all } else { own.as_str() };
    type Names = fn(&str) -> BTreeSet<String>;
    let lists: [(&str, &str, Names); 2] =
        [("../schema/src/macros.txt", MACROS, macros), ("src/cpp/globals.txt", GLOBALS, globals)];
    for (file, known, names) in lists {
        let mut known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
        let mut found = names(lines);
        assert!(found.len() > 400, "{file}: {} names", found.len());
        if bless {
            known.append(&mut found);
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let text: String = known.iter().map(|name| format!("{name}\n")).collect();
            fs::write(path, text).expect("written");
            continue;
        }
        // What is a macro in one place may be a function elsewhere.
        found.retain(|name| !MACROS.lines().any(|known| known == name));
        let unknown: Vec<&String> = found.difference(&known).collect();
        assert!(
            unknown.is_empty(),
            "{file} does not know {unknown:?}; add them by WIREGAUGE_BLESS=1"
        );
    }
}
