//! A fixed plan through runners that say how long they took: the result, the
//! tables and the page are the same to the byte, whatever is moved about inside.
//! To accept a change, run the test with `WIREGAUGE_BLESS=1` and read the
//! difference.

mod support;

use std::fs;

use serde_json::{json, Value};
use support::{has_its_form, project, result, run};

#[test]
fn a_fixed_plan_gives_the_same_result_tables_and_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("Points.msg"), "Point[] points\n").unwrap();
    fs::write(at.join("Point.msg"), "uint32 x\nuint32 y\n").unwrap();
    fs::copy(
        project().join("crates/gauge/tests/fixtures/fake_runner.py"),
        at.join("fake_runner.py"),
    )
    .unwrap();
    // The proof takes all the time there is, as `mute` rejects after more than a second:
    // on any machine, each row then has the fewest rounds.
    let mut words: Vec<&str> = "codecs --duration 1s --processes 3 --message Points.msg \
                                --length points=5 --experiments encode,decode,project \
                                --codecs noop"
        .split(' ')
        .collect();
    for runner in [
        "quick=python3 fake_runner.py quick.log takes=100",
        "slow=python3 fake_runner.py slow.log takes=250",
        "wrong=python3 fake_runner.py wrong.log swaps-fields",
        "mute=python3 fake_runner.py mute.log rejects-late",
    ] {
        words.extend(["--runner", runner]);
    }
    let said = run(at, &words);
    said.expect_code(1);

    let mut result = result(at);
    has_its_form(&result);
    keep_what_is_fixed(&mut result);
    has_its_form(&result);
    let text = serde_json::to_string(&result).unwrap();
    fs::write(at.join("run.json"), &text).unwrap();
    golden("run.json", &serde_json::to_string_pretty(&result).unwrap());
    for (form, name) in [
        ("table", "table.txt"),
        ("md", "report.md"),
        ("csv", "report.csv"),
        ("json", "report.json"),
    ] {
        let said = run(at, &["report", "run.json", "--format", form]);
        said.expect_code(0);
        golden(name, &said.out);
    }
    let said = run(at, &["report", "run.json", "-o", "page.html"]);
    said.expect_code(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    golden("page.html", &without("script", &without("style", &page)));
    let said = run(at, &["compare", "run.json", "run.json"]);
    said.expect_code(0);
    golden("compare.txt", &said.out);
}

/// Takes out what is the machine's, the day's or the bounds', which are real.
fn keep_what_is_fixed(run: &mut Value) {
    let bounds: Vec<Value> = items(run, "subjects")
        .iter()
        .filter(|subject| subject["bound"] == true)
        .map(|subject| subject["id"].clone())
        .collect();
    assert!(!bounds.is_empty(), "the bounds took part");
    items(run, "subjects").retain(|subject| !bounds.contains(&subject["id"]));
    for subject in items(run, "subjects") {
        subject.as_object_mut().unwrap().remove("runner");
    }
    items(run, "facts").retain(|fact| !bounds.contains(&fact["subject"]));
    items(run, "measurements").retain(|measurement| {
        let metric = measurement["metric"].as_str().unwrap();
        !bounds.contains(&measurement["subject"]) && !metric.contains("compress/")
    });
    run["environment"] = json!({ "wiregauge": "0", "build": "release" });
    run["warnings"] = json!([]);
    run["command"] = json!(["wiregauge", "codecs"]);
    run["started"] = json!("2026-01-01T00:00:00Z");
    run["seconds"] = json!(1.0);
}

fn items<'a>(run: &'a mut Value, key: &str) -> &'a mut Vec<Value> {
    run[key].as_array_mut().unwrap()
}

/// A page without what stands in an element: its file is no matter of the plan.
fn without(element: &str, page: &str) -> String {
    let (before, rest) = page.split_once(&format!("<{element}>")).unwrap();
    let (_, after) = rest.split_once(&format!("</{element}>")).unwrap();
    format!("{before}<{element}></{element}>{after}")
}

#[track_caller]
fn golden(name: &str, text: &str) {
    wiregauge_testkit::golden::compare(env!("CARGO_MANIFEST_DIR"), name, text);
}
