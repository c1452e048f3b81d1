//! The documented form of a result, `docs/run.schema.json`.

use std::fs;
use std::path::Path;

use crate::common::bus;
use serde_json::{json, Value};
use wiregauge_result::explanation::{
    Explanation, FunctionCounts, LineCounts, MemoryUse, StoreReads, INSTRUCTIONS,
};
use wiregauge_result::run::Run;

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/run.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn run() -> Value {
    serde_json::to_value(crate::common::run(10)).unwrap()
}

#[test]
fn a_result_follows_the_schema() {
    let (schema, run) = (schema(), run());
    let errors: Vec<String> = schema
        .iter_errors(&run)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_result_of_the_bus_follows_the_schema() {
    for run in [bus::bus(), bus::fan_out(), bus::headroom(), bus::codecs()] {
        let run = serde_json::to_value(run).unwrap();
        let errors: Vec<String> = schema()
            .iter_errors(&run)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn an_explained_result_follows_the_schema() {
    let mut run = crate::common::run(3);
    let functions = vec![FunctionCounts {
        name: "write".into(),
        object: "prost".into(),
        work: "program".into(),
        calls: 1.0,
        counts: vec![7.5],
    }];
    run.explanations.push(Explanation {
        case: run.cases[0].id.clone(),
        subject: run.subjects[0].id.clone(),
        metric: "encode".into(),
        events: vec![INSTRUCTIONS.into()],
        totals: vec![7.5],
        memory: Some(MemoryUse { allocations: 1.0, allocated: 64.0, copies: 0.0, copied: 0.0 }),
        store_reads: Some(StoreReads { forwarded: 2.0, blocked: 0.0 }),
        functions,
        lines: vec![
            LineCounts {
                function: "write".into(),
                source: "prost/codec.rs".into(),
                number: 7,
                text: "self.write(out)".into(),
                instructions: 6.5,
            },
            LineCounts { function: "malloc".into(), instructions: 1.0, ..Default::default() },
        ],
    });
    let value = serde_json::to_value(&run).unwrap();
    let errors: Vec<String> = schema().iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let again: Run = serde_json::from_value(value).unwrap();
    assert_eq!(again, run);
}

#[test]
fn a_written_result_follows_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    crate::common::run(3).write(&path).unwrap();
    let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(schema().is_valid(&value));
}

#[test]
fn the_example_in_the_documentation_follows_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/run-format.md");
    let text = fs::read_to_string(path).unwrap();
    let example = text.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let value: Value = serde_json::from_str(example).unwrap();
    let schema = schema();
    let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// What is wrong, and how to make it so.
type Fault = (&'static str, fn(&mut Value));

#[test]
fn faulty_results_are_refused() {
    let schema = schema();
    let faults: [Fault; 9] = [
        ("another format", |run| run["format"] = json!("something.else")),
        ("a newer version", |run| run["version"] = json!(2)),
        ("no subjects", |run| drop(run.as_object_mut().unwrap().remove("subjects"))),
        ("a skipped subject without a reason", |run| {
            run["subjects"][0]["status"] = json!({"state": "skipped"});
        }),
        ("an unknown state", |run| {
            run["subjects"][0]["status"] = json!({"state": "lost", "reason": "?"});
        }),
        ("a sample that is text", |run| run["measurements"][0]["samples"][0][0] = json!("9 ns")),
        ("samples without processes", |run| run["measurements"][0]["samples"] = json!([1.0, 2.0])),
        ("a field that is not documented", |run| run["cases"][0]["pionts"] = json!(1)),
        ("local time", |run| run["started"] = json!("2026-03-01 09:30")),
    ];
    for (fault, make) in faults {
        let mut run = run();
        make(&mut run);
        assert!(!schema.is_valid(&run), "{fault} was accepted");
    }
}
