//! The holders that one of the fuzz targets reads with, as they are generated.

use std::fs;
use std::path::Path;

use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_normalized::File;
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{proto, Schema};

/// Generates all of them in a language.
fn generate_all(language: HolderLanguage) -> Vec<File> {
    let text = |name: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a definition")
    };
    let kinds = msg::read_text(&text("kinds.msg"), "kinds", Dialect::Ros2, "kinds.msg");
    let tree = proto::read_texts(&[("tree.proto", &text("tree.proto"))], Some("p.Tree"));
    let holders = |name: &str, schema: Schema, wires: &[Wire]| {
        let package = Package::new(Some(name), vec![(name.into(), schema)]).expect("a package");
        generate(&package, language, wires).expect("it can be generated")
    };
    let mut files = holders("kinds", kinds.expect("a schema"), &Wire::SEQUENTIAL);
    files.extend(holders("tree", tree.expect("a schema"), &[Wire::Protobuf]));
    files
}

/// Writes those in C++ below a folder.
pub fn write_headers(folder: &Path) {
    for file in generate_all(HolderLanguage::Cpp) {
        let path = folder.join(file.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, file.text).expect("it can be written");
    }
}

/// The target would read by old code else.
#[test]
fn holders_in_rust_are_what_is_generated_now() {
    let mut compared = 0;
    for file in generate_all(HolderLanguage::Rust) {
        let name = &file.path;
        // Those of all holders are taken from where the generator has them.
        if name.starts_with("wiregauge") {
            continue;
        }
        // What is said of the whole module stands before its inclusion.
        let lines = file.text.lines().filter(|line| !line.starts_with("//!"));
        let lines = lines.filter(|line| !line.starts_with("#![")).map(|line| format!("{line}\n"));
        let text: String = lines.collect();
        wiregauge_testkit::golden::compare(
            env!("CARGO_MANIFEST_DIR"),
            &format!("{name}.txt"),
            &text,
        );
        compared += 1;
    }
    assert_eq!(compared, 3);
}
