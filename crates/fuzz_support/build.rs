//! Lists the fuzz targets, each a file in fuzz/fuzz_targets, for the test, and has the
//! holders generated that one of them reads with.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wiregauge_data_holders::{generate, HolderLanguage, Package, Wire};
use wiregauge_schema::msg::{self, Dialect};
use wiregauge_schema::{proto, Schema};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).expect("the fuzz targets are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    let (mut modules, mut list) = (String::new(), String::new());
    for file in &files {
        let name = file.file_stem().expect("a name").to_str().expect("plain letters");
        let file = fs::canonicalize(file).expect("it is there");
        writeln!(modules, "#[path = {file:?}]\nmod {name};").expect("a text takes all");
        writeln!(list, "    (\"{name}\", {name}::read),").expect("a text takes all");
    }
    let text = format!("{modules}\nconst TARGETS: &[Target] = &[\n{list}];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    fs::write(out.join("targets.rs"), text).expect("it can be written");

    let text = |name: &str| {
        println!("cargo::rerun-if-changed={name}");
        fs::read_to_string(name).expect("a definition")
    };
    let kinds = text("kinds.msg");
    let kinds = msg::read_text(&kinds, "kinds", Dialect::Ros2, "kinds.msg").expect("a schema");
    holders("kinds", kinds, &Wire::SEQUENTIAL, &out);
    let tree = text("tree.proto");
    let tree = proto::read_texts(&[("tree.proto", &tree)], Some("p.Tree")).expect("a schema");
    holders("tree", tree, &[Wire::Protobuf], &out);
}

/// Writes the holders of a schema: those in Rust to be included in modules, and headers.
fn holders(name: &str, schema: Schema, wires: &[Wire], out: &Path) {
    let package = Package::new(Some(name), vec![(name.into(), schema)]).expect("a package");
    for file in generate(&package, HolderLanguage::Rust, wires).expect("it can be generated") {
        // What is said of the whole module stands before its inclusion.
        let lines = file.text.lines().filter(|line| !line.starts_with("//!"));
        let lines = lines.filter(|line| !line.starts_with("#![")).map(|line| format!("{line}\n"));
        fs::write(out.join(file.path), lines.collect::<String>()).expect("it can be written");
    }
    for file in generate(&package, HolderLanguage::Cpp, wires).expect("it can be generated") {
        let path = out.join("cpp").join(file.path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, file.text).expect("it can be written");
    }
}
