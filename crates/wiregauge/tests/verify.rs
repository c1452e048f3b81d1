//! Requirements end to end: a verdict with its exit status on a new run and on
//! an old result, for people, scripts and systems of continuous integration.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{has_its_form, refuses, result, run};

/// What every later test holds its requirements against: half a second of the
/// bus over memory and TCP.
fn measure(folder: &Path, required: &[&str]) -> support::Said {
    let load = ["bus", "run", "--transport", "memory", "--size", "500", "--cycle", "1ms"];
    let short = ["--duration", "1s", "--window", "100ms"];
    run(folder, &[&load[..], &short, required].concat())
}

/// A result whose machine was quiet, whatever this one was.
fn quiet(folder: &Path) {
    let mut run = result(folder);
    for fact in run["facts"].as_array_mut().unwrap() {
        if fact["metric"] == "valid" {
            fact["value"] = 1.into();
        }
    }
    fs::write(folder.join("run.json"), run.to_string()).unwrap();
}

#[test]
fn a_result_is_held_against_what_is_required() {
    let folder = tempfile::tempdir().unwrap();
    let said = measure(folder.path(), &["--require", "lost = 0, p50 latency < 10s"]);
    // A busy machine may have spoiled the run, of which then nothing is told.
    assert!([Some(0), Some(3)].contains(&said.code), "{}{}", said.out, said.err);
    assert!(said.out.contains("p50 latency < 10s   "), "{}", said.out);
    let measured = result(folder.path());
    has_its_form(&measured);
    assert_eq!(measured["require"], "lost = 0, p50 latency < 10s");
    quiet(folder.path());

    let verify = |required: &str| {
        let said = run(folder.path(), &["verify", "run.json", "--require", required]);
        (said.code, said.out)
    };
    let kept = run(folder.path(), &["verify", "run.json"]);
    kept.expect_code(0);
    assert_eq!(kept.out, "PASS        lost = 0   2 of 2\nPASS        p50 latency < 10s   2 of 2\n");

    let (code, out) = verify("p50 latency < 1ns, lost = 0");
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("FAIL        p50 latency < 1ns   0 of 2"), "{out}");
    assert!(out.contains("PASS        lost = 0   2 of 2"), "{out}");
    let (code, out) = verify("p99.99 latency of tcp < 10s");
    assert_eq!(code, Some(3), "{out}");
    assert!(
        out.contains("CANNOT TELL") && out.contains("needs 36887 samples, but there are "),
        "{out}"
    );

    let page = run(folder.path(), &["report", "run.json", "-o", "report.html"]);
    page.expect_code(0);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<b class=\"pass\">pass</b> lost = 0"));
}

#[test]
fn verdicts_are_for_programs_too() {
    let folder = tempfile::tempdir().unwrap();
    measure(folder.path(), &[]);
    quiet(folder.path());
    let required = ["--require", "lost = 0, p50 latency < 1ns, p99.99 latency < 10s"];
    let words = ["verify", "run.json", "--format", "json", "--junit", "verdict.xml"];
    let said = run(folder.path(), &[&words[..], &required].concat());
    said.expect_code(1);
    let verdicts: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(verdicts["verdict"], "fail");
    let findings = verdicts["findings"].as_array().unwrap();
    let of = |text: &str| {
        let own = findings.iter().filter(|f| f["requirement"] == text);
        own.map(|f| f["verdict"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of("lost = 0"), ["pass"; 2]);
    assert_eq!(of("p50 latency < 1ns"), ["fail"; 2]);
    assert_eq!(of("p99.99 latency < 10s"), ["cannot tell"; 2]);

    let xml = fs::read_to_string(folder.path().join("verdict.xml")).unwrap();
    assert!(xml.contains("tests=\"6\" ") && xml.contains("failures=\"2\" errors=\"2\""), "{xml}");
    assert!(xml.contains("<failure message=\"fail, "), "{xml}");
    assert!(xml.contains("classname=\"wiregauge.bus.TCP\""), "{xml}");
}

#[test]
fn what_cannot_be_required_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [("latency", "has no limit"), ("p0 latency < 1s", "is not a percentile")]
    {
        let said = run(folder.path(), &["bus", "run", "--require", text]);
        said.expect_code(2);
        assert!(said.err.contains(wanted), "{}", said.err);
    }
    let junit = ["bus", "run", "--junit", "no/such/folder/v.xml", "--require", "lost = 0"];
    refuses(folder.path(), &junit, &["no/such/folder"]);
    refuses(folder.path(), &["bus", "run", "--junit", "v.xml"], &["--junit has no effect"]);
    refuses(folder.path(), &["verify", "missing.json", "--require", "lost = 0"], &["missing.json"]);
    measure(folder.path(), &[]);
    refuses(folder.path(), &["verify", "run.json"], &["run.json has no requirements"]);
}
