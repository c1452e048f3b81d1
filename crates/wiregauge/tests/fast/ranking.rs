//! `wiregauge report` with several results: what it prints and writes, and what it refuses.

use std::fs;
use std::path::Path;

use crate::support::{project, refuses, run};
use serde_json::{json, Value};

/// A result with two codecs that have figures.
fn result() -> Value {
    let path = project().join("crates/wiregauge/tests/golden/run.json");
    serde_json::from_slice(&fs::read(path).expect("readable")).expect("a result")
}

/// The same of another machine, where the two codecs change places in `encode`.
fn turned() -> Value {
    let mut turned = result();
    turned["environment"]["cpu"] = json!({ "model": "Other CPU" });
    for measurement in turned["measurements"].as_array_mut().unwrap() {
        if measurement["metric"] == "encode" {
            let other = if measurement["subject"] == "quick" { "slow" } else { "quick" };
            measurement["subject"] = json!(other);
        }
    }
    turned
}

fn write(folder: &Path, name: &str, value: &Value) {
    fs::write(folder.join(name), value.to_string()).unwrap();
}

#[test]
fn several_results_are_ranked_in_each_form() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "a.json", &result());
    write(at, "b.json", &turned());
    let conclusion = "Codecs change places in encode (2 of 2).";
    for form in [&[][..], &["--format", "md"], &["--format", "json"]] {
        let said = run(at, &[&["report", "a.json", "b.json"], form].concat());
        assert_eq!(said.code, Some(0), "{form:?}: {}", said.err);
        assert!(said.out.contains(conclusion), "{form:?}: {}", said.out);
    }
    let said = run(at, &["report", "a.json", "b.json", "-o", "page.html"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{}", said.err);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains(conclusion) && page.contains("id=\"r2\""));
    // A spreadsheet gets all figures, as of one result.
    let said = run(at, &["report", "a.json", "b.json", "--format", "csv"]);
    assert!(said.out.starts_with("run,case") && said.out.contains("\n2,"), "{}", said.out);
    // The same result under two names.
    write(at, "copy.json", &result());
    let said = run(at, &["report", "a.json", "copy.json"]);
    assert!(said.out.contains("The ranking holds in both results"), "{}", said.out);
    assert!(said.out.contains("a and copy are the same measurement"), "{}", said.out);
}

#[test]
fn what_cannot_be_ranked_is_shown_and_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "a.json", &result());
    let unranked = |file: &str, value: &Value, words: &[&str]| {
        write(at, file, value);
        let said = run(at, &["report", "a.json", file]);
        assert_eq!((said.code, said.err.lines().count()), (Some(0), 1), "{}", said.err);
        for word in [&["shown but not ranked", file][..], words].concat() {
            assert!(said.err.contains(word), "no '{word}' in {}", said.err);
        }
        assert!(!said.out.contains("anking"), "{}", said.out);
        let said = run(at, &["report", file, "a.json", "-o", "page.html"]);
        said.expect_code(0);
        assert!(fs::read_to_string(at.join("page.html")).unwrap().contains("id=\"r2\""));
    };
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value = result();
        change(&mut value);
        value
    };
    refuses(at, &["report", "a.json", "none.json"], &["none.json"]);
    refuses(at, &["report", "a.json", "a.json"], &["a.json is given twice"]);
    refuses(at, &["report", "a.json", "./a.json"], &["a.json and ./a.json are one file"]);
    std::os::unix::fs::symlink("a.json", at.join("link.json")).unwrap();
    refuses(at, &["report", "a.json", "link.json"], &["link.json", "one file"]);
    let whole = result().to_string();
    fs::write(at.join("half.json"), &whole[..whole.len() / 2]).unwrap();
    refuses(at, &["report", "a.json", "half.json"], &["half.json"]);
    for kind in ["bus", "cosim", "points"] {
        let other = changed(&|value| value["kind"] = json!(kind));
        unranked("kind.json", &other, &["is a result of", kind, "only codecs are ranked"]);
    }
    for (case, field, value, word) in [
        (true, "canonical_bytes", json!(48.0), "44 B and 48 B"),
        (true, "message", json!("Lines"), "type Points and Lines"),
        (true, "messages", json!(9), "8 and 9 messages"),
        (true, "element", json!("points[].y"), "points[].x and points[].y"),
        (false, "seed", json!(2), "seeds 1 and 2"),
    ] {
        let other = changed(&|result| match case {
            true => result["cases"][0][field] = value.clone(),
            false => result["settings"][field] = value.clone(),
        });
        unranked("other.json", &other, &["a.json", "different messages", word]);
    }
    let other = changed(&|value| value["cases"][0]["id"] = json!("Lines"));
    unranked("case.json", &other, &["a.json (Points)", "case.json (Lines)", "different messages"]);
    let other = changed(&|value| {
        for name in ["subjects", "measurements"] {
            for entry in value[name].as_array_mut().unwrap() {
                let field = if name == "subjects" { "id" } else { "subject" };
                entry[field] = json!(format!("my-{}", entry[field].as_str().unwrap()));
            }
        }
    });
    unranked("codecs.json", &other, &["a.json", "no two codecs of an experiment in common"]);
    refuses(at, &["report", "a.json", "b.json", "--rate", "10Hz"], &["b.json"]);
}
