//! Languages that warm up and collect garbage, from end to end.

mod support;

use std::fs;

use support::{result, run, status};

/// Measures a row and the bounds of its language, and holds what managed languages are
/// asked beside.
fn measures(language: &str, codec: &str, allocated: bool) {
    let folder = tempfile::tempdir().unwrap();
    let said = run(
        folder.path(),
        &["codecs", "--language", language, "--quick", "--codecs", codec, "--length", "points=10"],
    );
    said.expect_code(0);
    let result = result(folder.path());
    let subjects = [codec.to_owned(), format!("noop-{language}"), format!("memcpy-{language}")];
    assert_eq!(result["subjects"].as_array().unwrap().len(), subjects.len());
    for subject in subjects {
        assert!(status(&result, &subject).contains("measured"), "{subject}");
    }
    let facts = result["facts"].as_array().unwrap();
    let fact = |metric: &str| {
        let mut own =
            facts.iter().filter(|fact| fact["subject"] == codec && fact["metric"] == metric);
        own.next().and_then(|fact| fact["value"].as_f64())
    };
    for experiment in ["encode", "decode"] {
        let cold = fact(&format!("cold/{experiment}")).expect("the first message");
        assert!(cold > 0.0, "{cold}");
        assert!(fact(&format!("cold/{experiment}/thousand")).is_some());
        let collecting = fact(&format!("collecting/{experiment}")).expect("a share");
        assert!((0.0..=1.0).contains(&collecting), "{collecting}");
        let warm =
            ["warm-after", "not-warm-after"].map(|name| fact(&format!("{name}/{experiment}")));
        assert_eq!(warm.iter().flatten().filter(|epochs| **epochs >= 1.0).count(), 1, "{warm:?}");
    }
    assert_eq!(fact("allocated/decode").is_some_and(|bytes| bytes > 0.0), allocated);
    assert_eq!(fact("allocations/decode"), None);
    // What earlier versions called it is read as what it is called now.
    let text = fs::read_to_string(folder.path().join("run.json")).unwrap();
    let old =
        text.replace("\"not-warm-after/", "\"warm-up-cut/").replace("\"warm-after/", "\"warm-up/");
    assert_ne!(old, text);
    fs::write(folder.path().join("old.json"), old).unwrap();
    let shown = |name: &str| run(folder.path(), &["report", name, "--format", "csv"]).out;
    assert!(shown("run.json").contains("warm-after/"));
    assert_eq!(shown("old.json"), shown("run.json"));
}

#[test]
fn a_row_in_python() {
    measures("python", "pickle", false);
}

#[test]
fn a_row_in_java() {
    measures("java", "generated-cdr-java", true);
}
