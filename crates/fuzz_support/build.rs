//! Lists the fuzz targets, each a file in fuzz/fuzz_targets, for the test.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

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
}
