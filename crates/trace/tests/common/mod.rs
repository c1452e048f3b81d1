//! What the tests of recordings share.
#![allow(dead_code)] // Each test file uses its part.

pub mod records;
pub mod traces;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use wiregauge_schema::{Element, Schema, Value};

/// A recording of the folder `recordings`, which other programs wrote.
pub fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(name)
}

/// The names of all recordings of that folder, but of files only.
pub fn recordings() -> Vec<String> {
    let top = recording("");
    let mut found = Vec::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| KINDS.iter().any(|kind| end == *kind)) {
                found.push(path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// How the names of recordings end.
const KINDS: [&str; 4] = ["bag", "db3", "mcap", "osi"];

/// The one line of an error.
pub fn error<T>(result: Result<T>) -> String {
    let error = format!("{:#}", result.err().expect("an error"));
    assert!(!error.contains('\n'), "{error}");
    error
}

/// The field of a value at a path of original names.
pub fn field_at<'a>(schema: &Schema, mut value: &'a Value, path: &str) -> &'a Value {
    let mut id = schema.root;
    for part in path.split('.') {
        let Value::Record(values) = value else { panic!("{path}: {value:?}") };
        let fields = &schema.record(id).fields;
        let index = fields.iter().position(|f| f.name.original == part).unwrap();
        if let Element::Record(inner) = fields[index].element {
            id = inner;
        }
        value = &values[index];
    }
    value
}

pub fn number(schema: &Schema, value: &Value, path: &str) -> u64 {
    match field_at(schema, value, path) {
        Value::Unsigned(number) => *number,
        Value::Signed(number) => u64::try_from(*number).unwrap(),
        other => panic!("{path}: {other:?}"),
    }
}
