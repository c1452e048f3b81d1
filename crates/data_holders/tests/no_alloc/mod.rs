//! Holders without an allocator, held against those that allocate.

use std::fs;
use std::path::Path;
use std::process::Command;

use wiregauge_data_holders::{generate, rust_names, without_alloc, HolderLanguage, Package, Wire};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_testkit::seeds;

use super::support::{rustc, succeeds, write};

/// All that has a bound; `point` has gaps on some wires, `flat` on none.
const DEFINITION: &str = "\
uint8 kind 3
bool[<=5] flags
float32[<=7] ranges
float64[3] matrix
string<=9 name \"front\"
string<=4[<=3] words
Point[<=6] points
Flat[<=4] flats
Deep[2] deep
uint8[<=11] octets
int16[<=3] few [1, -2]
Empty empty
";

const TYPES: [(&str, &str); 4] = [
    ("Point", "float32 x\nfloat64 y\n"),
    ("Flat", "uint16 a\nuint16 b\n"),
    ("Deep", "Flat[<=2] flats\nstring<=3 tag\nint64 far\n"),
    ("Empty", ""),
];

fn package(text: &str, types: &[(&str, &str)]) -> Package {
    let line = "=".repeat(80);
    let types = types.iter().map(|(name, text)| format!("{line}\nMSG: p/{name}\n{text}"));
    let text = text.to_owned() + &types.collect::<String>();
    let schema = msg::read_text(&text, "p/Bounded", Dialect::Ros2, "test").expect("a schema");
    Package::new(Some("bounded"), vec![("test".into(), schema)]).expect("a package")
}

fn refused(package: Package, languages: &[HolderLanguage], wires: &[Wire]) -> String {
    let error = without_alloc(package, languages, wires).err().expect("it is refused");
    format!("{error:#}")
}

/// The same bytes on all wires, the same verdicts on what is damaged, and no allocation.
#[test]
fn holders_without_an_allocator_do_as_those_with_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let heap = package(DEFINITION, &TYPES);
    write(&heap, HolderLanguage::Rust, &Wire::SEQUENTIAL, &folder.join("heap"));
    let fixed = without_alloc(heap, &[HolderLanguage::Rust], &Wire::SEQUENTIAL).expect("bounded");
    write(&fixed, HolderLanguage::Rust, &Wire::SEQUENTIAL, &folder.join("fixed"));
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rust/no_alloc.rs");
    fs::copy(main, folder.join("no_alloc.rs")).expect("copied");
    for (name, text) in [
        ("heap/mod.rs", "pub mod bounded;\npub mod bounded_view;\npub mod wiregauge;\n"),
        ("fixed/mod.rs", "pub mod bounded;\npub mod wiregauge_no_alloc;\n"),
        ("main.rs", "mod fixed;\nmod heap;\nmod no_alloc;\nfn main() {\n    no_alloc::run();\n}\n"),
        ("bare.rs", "#![no_std]\npub mod fixed;\n"),
    ] {
        fs::write(folder.join(name), text).expect("written");
    }
    // There is no allocator that it could ask.
    rustc(folder, "--crate-type lib --emit metadata bare.rs");
    rustc(folder, "-C debug-assertions -C opt-level=1 main.rs");
    let mut program = Command::new(folder.join("main"));
    assert_eq!(succeeds(program.arg(seeds::seed().to_string())).trim(), "done");
}

#[test]
fn what_has_no_bound_is_refused_by_its_name() {
    let rust = [HolderLanguage::Rust];
    for (text, field) in [
        ("uint8 a\nfloat32[] ranges\n", "p/msg/Bounded.ranges has no bound"),
        ("string<=4 a\nstring name\n", "p/msg/Bounded.name has no bound"),
        ("string[<=4] names\n", "p/msg/Bounded.names has no bound"),
        ("string<=4[] names\n", "p/msg/Bounded.names has no bound"),
        ("Inner inner\n", "p/msg/Inner.list has no bound"),
    ] {
        let package =
            package(text, &[("Inner", "int8[] list\n")][..usize::from(text.contains("Inner"))]);
        let said = refused(package, &rust, &[Wire::Cdr]);
        assert!(said.starts_with(field) && said.contains("string<=32"), "{said}");
    }
    let said = refused(package("int8 a\n", &[]), &[rust[0], HolderLanguage::Cpp], &[Wire::Cdr]);
    assert!(said.contains("generate cpp without it"), "{said}");
    let said = refused(package("int8 a\n", &[]), &rust, &[Wire::Cdr, Wire::Protobuf]);
    assert!(said.contains("ros-msg, cdr, xcdr2, someip"), "{said}");
    // A definition may be wrong itself.
    let package = package("string<=2 a \"abc\"\n", &[]);
    let package = without_alloc(package, &rust, &[Wire::Cdr]).expect("bounded");
    let said = generate(&package, rust[0], &[Wire::Cdr]).expect_err("it is refused");
    assert!(said.to_string().contains("p/msg/Bounded.a: its default exceeds its bound"), "{said}");
}

#[test]
fn names_that_these_holders_have_are_kept_free() {
    let package = package(
        "Text text\nSequence sequence\nuint8 MAX_BYTES=1\n",
        &[("Text", "int8 a\n"), ("Sequence", "int8 a\n")],
    );
    let package = without_alloc(package, &[HolderLanguage::Rust], &[Wire::Cdr]).expect("bounded");
    let names = rust_names(&package);
    let types: Vec<&str> = (0..3).map(|id| names.type_name(id)).collect();
    assert!(types.contains(&"Text_") && types.contains(&"Sequence_"), "{types:?}");
    let root = package.schema.root;
    assert_eq!(names.constant(root, 0), "MAX_BYTES_");
}
