//! Pairs of FMUs under the master, and what a result says of them.

#![allow(dead_code)] // Each test file uses its part.

#[path = "../../../cosim/tests/support/mod.rs"]
pub mod fixture;

use std::path::Path;

use serde_json::Value;

use self::fixture::Fixture;
use crate::support::{run, Said};

/// Least work: one process, one round, one step.
pub const SHORT: [&str; 10] = [
    "--processes",
    "1",
    "--rounds",
    "1",
    "--epoch-steps",
    "1",
    "--duration",
    "1",
    "--warm-up",
    "0",
];

/// Writes both FMUs as `source.fmu` and `model.fmu`.
pub fn write(folder: &Path, source: &Fixture, model: &Fixture) {
    source.write(&folder.join("source.fmu"));
    model.write(&folder.join("model.fmu"));
}

/// Couples them.
pub fn couple(folder: &Path, more: &[&str]) -> Said {
    let pair = ["cosim", "run", "--source", "source.fmu", "--model", "model.fmu"];
    run(folder, &[&pair[..], &SHORT, more].concat())
}

/// The samples of a metric, one process after another.
pub fn samples(run: &Value, subject: &str, metric: &str) -> Vec<Option<f64>> {
    let of = |m: &&Value| m["subject"] == subject && m["metric"] == metric;
    let found = run["measurements"].as_array().unwrap().iter().find(of);
    let Some(found) = found else { return Vec::new() };
    let rows = found["samples"].as_array().unwrap().iter();
    rows.flat_map(|row| row.as_array().unwrap().iter().map(Value::as_f64)).collect()
}

/// A fact of a run of one case.
pub fn fact(run: &Value, subject: &str, metric: &str) -> Option<f64> {
    let facts = run["facts"].as_array().unwrap();
    facts.iter().find(|f| f["subject"] == subject && f["metric"] == metric)?["value"].as_f64()
}

/// The codes of its warnings.
pub fn codes(run: &Value) -> Vec<&str> {
    run["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap()).collect()
}
