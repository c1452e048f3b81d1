//! The corpus of the fuzz targets, run on a stable compiler by both languages.

#[path = "../fuzz/check.rs"]
mod check;
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{compile, run, HERE};

fn inputs(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(HERE).join("fuzz/corpus").join(target);
    let files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the corpus").map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 10, "the corpus of {target} is lost");
    files
}

#[test]
fn rust_stands_the_corpus() {
    for file in inputs("open") {
        check::open(&fs::read(file).unwrap());
    }
    for file in inputs("convert") {
        check::convert(&fs::read(file).unwrap());
    }
    for file in inputs("reduce") {
        check::reduce(&fs::read(file).unwrap());
    }
}

#[test]
fn cpp_stands_the_corpus() {
    for target in ["open", "convert", "reduce"] {
        let source = format!("packed/fuzz/{target}.cpp");
        let program = compile(&format!("fuzz-{target}"), &[&source, "packed/fuzz/corpus.cpp"]);
        let inputs = inputs(target);
        let told = run(Command::new(program).args(&inputs));
        assert_eq!(told, format!("{} inputs\n", inputs.len()));
    }
}
