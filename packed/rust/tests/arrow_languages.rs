//! Columns as Arrow arrays in C++ and Python: the arrays of both are the same, tools of
//! tables take them, and nothing is read after it was let go.

mod common;

use std::path::Path;
use std::process::Command;

use common::{build_folder, compile, golden, run, HERE};
use wiregauge_build_tools::python::PythonEnvironment;

const SOURCE: &str = "packed/rust/tests/arrow.cpp";

#[test]
fn cpp_lets_go_what_is_released_and_nothing_before() {
    let program = compile("arrow", &[SOURCE]);
    assert_eq!(run(&mut Command::new(program)), "right\n");
}

#[test]
fn tools_of_tables_take_the_arrays_of_cpp_and_python() {
    let tree = Path::new(HERE).join("../..");
    let requirements = include_str!("arrow_requirements.txt");
    let python =
        PythonEnvironment::create(&build_folder(), requirements).expect("pyarrow and DuckDB");
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("arrow.so");
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O2", "-shared", "-fPIC", "-I"])
        .arg(tree.join("packed/include"))
        .arg(tree.join(SOURCE))
        .arg("-o")
        .arg(&library)
        .status();
    assert!(compiled.expect("g++").success());
    let said = run(Command::new(python.program)
        .env("PYTHONPATH", tree.join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(Path::new(HERE).join("tests/arrow.py"))
        .arg(golden(""))
        .arg(library));
    assert!(said.ends_with(" columns\n"), "{said}");
}
