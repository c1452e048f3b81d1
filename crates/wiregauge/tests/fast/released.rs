//! Files of earlier releases, which every later one reads (docs/stability.md). Nothing in
//! `tests/released` is ever changed or made anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use arrow_ipc::reader::FileReader;
use wiregauge_bus::scenario::Scenario;
use wiregauge_child_process::child::Limits;
use wiregauge_child_process::runner::{Launch, Lifetimes, Runner, RunnerError, PROTOCOL};
use wiregauge_result::run::Run;
use wiregauge_result::run_kind::RunKind;

use crate::support::{has_its_form, project, run};

/// The folders of the releases.
fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/released");
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let releases: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    assert!(!releases.is_empty());
    releases
}

#[test]
fn results_of_each_release_are_read_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    for release in releases() {
        let version = release.file_name().expect("a version").to_string_lossy();
        for (name, kind, rows) in [
            ("codecs.json", RunKind::Codecs, "SBE C++"),
            ("bus.json", RunKind::Bus, "memory"),
            ("cosim.json", RunKind::Cosim, "Protobuf"),
        ] {
            let path = release.join(name);
            let read = Run::read(&path).expect("it is read");
            assert_eq!((read.kind, read.environment.wiregauge == version), (kind, true));
            assert!(read.measurements.iter().any(|one| one.samples.iter().flatten().count() > 0));
            has_its_form(
                &serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON"),
            );
            let path = path.display().to_string();
            for words in [&["report", &path, "--format", "table"][..], &["compare", &path, &path]] {
                let said = run(folder.path(), words);
                assert_eq!(said.code, Some(0), "{words:?}: {}", said.err);
                assert!(words[0] == "compare" || said.out.contains(rows), "{}", said.out);
            }
        }
    }
}

#[test]
fn packed_fields_of_each_release_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for release in releases() {
        let plain = fs::read(release.join("reflections_sv.osi")).expect("readable");
        for (name, is_exact) in [("packed-1.0_sv.osi", true), ("packed-1.1_sv.osi", false)] {
            let path = release.join(name).display().to_string();
            let said = run(folder.path(), &["packed", "info", &path]);
            said.expect_code(0);
            assert!(said.out.contains("time_of_flight       f64    118"), "{}", said.out);
            let said = run(folder.path(), &["packed", "unpack", &path, "-o", "back_sv.osi"]);
            said.expect_code(0);
            let back = fs::read(folder.path().join("back_sv.osi")).expect("written");
            // Reduced columns come back to their resolution, which is not to the bit.
            assert_eq!(back == plain, is_exact, "{name}");
        }
    }
}

#[test]
fn scenarios_of_each_release_are_read() {
    for release in releases() {
        let scenario = Scenario::read(&release.join("scenario.toml")).expect("it is read");
        assert_eq!((scenario.loads.len(), scenario.participants.len()), (2, 2));
    }
}

/// Programs of others read a log of samples by the names of its columns.
#[test]
fn columns_of_each_release_are_those_of_the_page() {
    let page = fs::read_to_string(project().join("docs/bus.md")).expect("readable");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeSet<&str> =
        rows.flat_map(|row| row.split('|').nth(1)).flat_map(|names| names.split('`')).collect();
    for release in releases() {
        let file = fs::File::open(release.join("samples.arrow")).expect("readable");
        let reader = FileReader::try_new(file, None).expect("an Arrow file");
        let schema = reader.schema();
        assert!(schema.fields().len() >= 12, "{schema}");
        for field in schema.fields() {
            assert!(documented.contains(field.name().as_str()), "{} is gone", field.name());
        }
        let rows: usize = reader.map(|batch| batch.expect("it is whole").num_rows()).sum();
        assert_eq!(rows, 12);
    }
}

#[test]
fn runners_of_each_release_are_understood() {
    for release in releases() {
        let lines = fs::read_to_string(release.join("exchange.jsonl")).expect("readable");
        let lines: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let payload = |request: &str| {
            let asked = |line: &&serde_json::Value| {
                line["request"].as_str().is_some_and(|text| text.starts_with(request))
            };
            bytes(lines.iter().find(asked).expect("it was asked")["payload"].as_str())
        };
        let (canonical, wire) = (payload("message "), payload("decode "));
        let launch = Launch {
            id: "columns".into(),
            program: "python3".into(),
            arguments: vec![release.join("runner.py").display().to_string()],
            schema: b"{}".to_vec(),
            libraries: Vec::new(),
        };
        let limits = Limits { address_space: None, lingers: false };
        let mut runner =
            Runner::start(&launch, limits, None, Duration::from_secs(60)).expect("greets");
        assert!(runner.hello.experiments.iter().any(|name| name == "project"));
        runner.reset().expect("forgets");
        assert_eq!(runner.message(&canonical).expect("encodes"), wire);
        assert_eq!(runner.decode(&wire).expect("decodes"), canonical);
        assert!(matches!(runner.decode(b"short"), Err(RunnerError::Refused(_))));
        let [project, fixed, element] = runner.values(0).expect("reads");
        assert_eq!((project.sum, fixed.sum, element.sum), (42.0, 3.0, 6.0));
        let [scratch, objects, buffers] = ["reused", "fresh", "reused"].map(str::to_owned);
        let lifetimes = Lifetimes { scratch, objects, buffers };
        let epoch = runner.run("encode", 3, &lifetimes, Some(0)).expect("runs");
        assert_eq!((epoch.sum, epoch.encoded), (3.0 * wire.len() as f64, Some(wire)));
    }
}

/// The page of promises has the versions that the program has.
#[test]
fn the_page_says_the_versions() {
    let page = fs::read_to_string(project().join("docs/stability.md")).expect("readable");
    let version = |part: &str| {
        let row = page.lines().find(|line| line.starts_with(&format!("| {part}")));
        row.unwrap_or_else(|| panic!("no {part}")).split('|').nth(2).expect("a version").trim()
    };
    assert_eq!(version("result"), wiregauge_result::run::VERSION.to_string());
    assert_eq!(version("runner protocol"), PROTOCOL.to_string());
    let (major, minor) = wiregauge_packed::VERSION;
    assert_eq!(version("packed field"), format!("{major}.{minor}"));
}

/// What hexadecimal digits say.
fn bytes(text: Option<&str>) -> Vec<u8> {
    let digits = text.expect("a text").as_bytes().chunks(2);
    let text = digits.map(|pair| std::str::from_utf8(pair).expect("digits"));
    text.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect()
}
