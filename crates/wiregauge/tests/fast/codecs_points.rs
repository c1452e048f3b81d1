//! `wiregauge codecs points` as a user has it: each row is proven, measured and told, and what
//! cannot be measured is refused in a line.

use std::fs;
use std::path::Path;

use crate::support::{project, refuses, run, to_said, wiregauge};
use serde_json::Value;

/// Names the folder that cloudini was installed to.
const CLOUDINI: &str = "WIREGAUGE_CLOUDINI";

/// A ring around the sensor, as KITTI has it: x, y, z, intensity.
fn kitti(path: &Path, points: usize) {
    let mut bytes = Vec::new();
    for point in 0..points {
        let angle = point as f32 * 0.002;
        let range = 30.0 + (point % 7) as f32 * 0.0103;
        let numbers =
            [range * angle.cos(), range * angle.sin(), -1.7, (point % 100) as f32 / 100.0];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
    }
    fs::write(path, bytes).unwrap();
}

fn fact(result: &Value, subject: &str, metric: &str) -> Option<f64> {
    let facts = result["facts"].as_array().unwrap().iter();
    let mut own = facts.filter(|fact| fact["subject"] == subject && fact["metric"] == metric);
    own.next().map(|fact| fact["value"].as_f64().unwrap())
}

fn result(at: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(at.join("run.json")).unwrap()).unwrap()
}

#[test]
fn every_row_is_proven_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    kitti(&at.join("000000.bin"), 3000);
    let mut command = wiregauge();
    command.args([
        "codecs",
        "points",
        "000000.bin",
        "--exact",
        "--duration",
        "1",
        "--processes",
        "1",
    ]);
    let said = to_said(command.current_dir(at).env_remove(CLOUDINI).output().unwrap());
    said.expect_code(0);
    let result = result(at);
    let subjects = result["subjects"].as_array().unwrap();
    let measured: Vec<&str> = subjects
        .iter()
        .filter(|subject| subject["status"]["state"] == "measured")
        .map(|subject| subject["id"].as_str().unwrap())
        .collect();
    // KITTI's intensity has no resolution, and Draco's tree takes no such float.
    let absent: Vec<&Value> =
        subjects.iter().filter(|s| s["status"]["state"] != "measured").collect();
    assert!(measured.len() >= 26 && absent.len() == 4, "{absent:?}");
    for cloudini in absent.iter().filter(|s| s["id"].as_str().unwrap().starts_with("cloudini")) {
        let reason = cloudini["status"]["reason"].as_str().unwrap();
        assert_eq!(cloudini["status"]["state"], "skipped", "{reason}");
        assert!(reason.starts_with("WIREGAUGE_CLOUDINI is not set: "), "{reason}");
    }
    let tree = &absent.iter().find(|s| s["id"] == "draco-kd").unwrap()["status"];
    assert_eq!(tree["state"], "rejected", "{tree}");
    assert!(tree["reason"].as_str().unwrap().contains("intensity: Draco's tree"), "{tree}");
    for id in &measured {
        let (size, points) = (fact(&result, id, "size"), fact(&result, id, "points"));
        assert!(size.unwrap() > 100.0 && points == Some(3000.0), "{id}");
        for column in ["x", "y", "z"] {
            let error = fact(&result, id, &format!("error/{column}")).unwrap();
            let allowed = fact(&result, id, &format!("allowed/{column}")).unwrap();
            let is_f16 = id.starts_with("f16");
            assert!((0.000_5..0.000_51).contains(&allowed), "{id}: {allowed}");
            assert!(error <= allowed || is_f16, "{id}: {error} of {column}");
            assert!(error > allowed || !is_f16 || column == "z", "{id}: {error} of {column}");
        }
        for metric in ["encode", "decode"] {
            let of = |m: &&Value| m["subject"] == **id && m["metric"] == metric;
            let samples =
                &result["measurements"].as_array().unwrap().iter().find(of).unwrap()["samples"];
            let taken: Vec<f64> =
                samples[0].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
            assert!(taken.len() >= 3 && taken.iter().all(|ns| *ns > 0.0), "{id} {metric}");
        }
    }
    assert_eq!(fact(&result, "packed-exact", "error/x"), Some(0.0));
    assert!(fact(&result, "packed-reduced", "error/x").unwrap() > 0.0);
    assert_eq!(fact(&result, "packed-reduced", "part"), Some(1024.0));
    assert_eq!(fact(&result, "packed-reduced+zstd", "part"), Some(3000.0));
    // What breaks the resolution says so, and what it is that the mark says.
    let line = |name: &str| {
        said.out
            .lines()
            .find(|line| line.starts_with(name) && line.split(' ').any(|word| word == "m"))
            .unwrap()
            .to_owned()
    };
    assert!(line("f16").contains(" !") && !line("Scaled integers").contains('!'), "{}", said.out);
    assert!(
        said.out.contains("! the error is larger than half") && said.out.contains("cloudini"),
        "{}",
        said.out
    );
    for form in ["md", "json", "csv"] {
        let shown = run(at, &["report", "run.json", "--format", form]);
        shown.expect_code(0);
    }
    let page = run(at, &["report", "run.json", "-o", "page.html"]);
    page.expect_code(0);
    assert!(fs::read_to_string(at.join("page.html"))
        .unwrap()
        .contains("Size, speed and error of each reduction"));
}

/// Draco by the machine's library: its tree loses the order of points, which the table says.
#[test]
fn draco_is_proven_in_both_orders() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    kitti(&at.join("a.bin"), 3000);
    let rows = ["--codecs", "draco,draco-kd", "--duration", "1", "--processes", "1"];
    let said = run(
        at,
        &[&["codecs", "points", "a.bin", "--resolution", "intensity=0.01"][..], &rows].concat(),
    );
    said.expect_code(0);
    let measured = result(at);
    for (row, order) in [("draco", 1.0), ("draco-kd", 0.0)] {
        assert_eq!(fact(&measured, row, "order"), Some(order), "{row}");
        assert_eq!(fact(&measured, row, "part"), Some(3000.0), "{row}");
        for column in ["x", "y", "z", "intensity"] {
            let of = |what: &str| fact(&measured, row, &format!("{what}/{column}")).unwrap();
            assert!(of("error") <= of("allowed"), "{row}: {column}");
        }
        assert!(fact(&measured, row, "error/x").unwrap() > 4e-4, "{row}: steps are too fine");
    }
    let subjects = measured["subjects"].as_array().unwrap();
    let draco = subjects.iter().find(|subject| subject["id"] == "draco").unwrap();
    assert!(draco["library"].as_str().unwrap().starts_with("Draco 1."), "{draco}");
    assert!(draco["built"].as_str().unwrap().contains("libdraco"), "{draco}");
    let said = run(at, &["report", "run.json", "--format", "md"]);
    assert!(said.out.contains("| lost |") && said.out.contains("| kept |"), "{}", said.out);
}

/// What the machine lacks is said with its remedy, and the other rows are measured.
#[test]
fn rows_whose_library_is_missing_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    kitti(&at.join("a.bin"), 100);
    let rows = ["--codecs", "draco,scaled", "--duration", "1", "--processes", "1"];
    let mut command = wiregauge();
    command.args(["codecs", "points", "a.bin"]).args(rows).current_dir(at).env("PATH", at);
    let said = to_said(command.output().unwrap());
    said.expect_code(0);
    let measured = result(at);
    let subjects = measured["subjects"].as_array().unwrap();
    let status = |id: &str| &subjects.iter().find(|subject| subject["id"] == id).unwrap()["status"];
    assert_eq!(status("draco")["state"], "skipped");
    let reason = status("draco")["reason"].as_str().unwrap();
    assert!(reason.contains("g++ is missing: apt-get install build-essential"), "{reason}");
    assert_eq!(status("scaled")["state"], "measured");
    let mut command = wiregauge();
    command.args(["codecs", "points", "a.bin", "--codecs", "cloudini,scaled", "--duration", "1"]);
    let said = self::to_said(command.current_dir(at).env(CLOUDINI, at).output().unwrap());
    said.expect_code(0);
    assert!(said.out.contains("include/cloudini_lib/cloudini.hpp is missing"), "{}", said.out);
}

#[test]
fn recordings_and_reflections_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let clouds = project().join("crates/packing/tests/clouds");
    let mut recordings: Vec<_> =
        fs::read_dir(&clouds).unwrap().flatten().map(|e| e.path()).collect();
    recordings.retain(|path| path.extension().is_some_and(|end| end == "mcap"));
    recordings.sort();
    let recording = recordings[0].display().to_string();
    kitti(&at.join("a.bin"), 500);
    let rows = ["--codecs", "packed-reduced,scaled", "--duration", "1", "--processes", "1"];
    let said = run(at, &[&["codecs", "points", &recording, "a.bin"][..], &rows].concat());
    said.expect_code(0);
    let measured = result(at);
    assert!(measured["cases"].as_array().unwrap().len() >= 2, "{}", measured["cases"]);
    let said = run(at, &[&["codecs", "points", "a.bin", "--as-reflections"][..], &rows].concat());
    said.expect_code(0);
    let measured = result(at);
    let error = fact(&measured, "packed-reduced", "error/time_of_flight").unwrap();
    assert!(error > 0.0 && error <= 3.335e-12, "{error}");
    assert!(fact(&measured, "packed-reduced", "error/signal_strength").unwrap() <= 0.05);
    assert_eq!(measured["subjects"].as_array().unwrap().len(), 3, "the wanted rows and the bound");
}

/// A message of OSI that the official package wrote, as a trace has it.
fn osi(name: &str) -> Vec<u8> {
    let message = fs::read(project().join("packed/rust/tests/golden").join(name)).unwrap();
    [&(message.len() as u32).to_le_bytes()[..], &message].concat()
}

/// Values that some points lack, or all of a message, are measured in every row.
#[test]
fn recordings_with_gaps_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let messages = ["SensorView.full.osi", "SensorView.regular.osi"];
    fs::write(at.join("gaps_sv.osi"), messages.map(osi).concat()).unwrap();
    let more = ["--exact", "--duration", "1", "--processes", "1"];
    let said = run(at, &[&["codecs", "points", "gaps_sv.osi"][..], &more].concat());
    said.expect_code(0);
    let measured = result(at);
    let cases = measured["cases"].as_array().unwrap();
    let lidar = "SensorView lidar_sensor_view[0]";
    let case = cases.iter().find(|case| case.to_string().contains(lidar)).unwrap();
    let notes = measured.to_string();
    for column in ["doppler_shift", "normal_to_surface_x", "object_id"] {
        assert!(notes.contains(&format!("some rows have no {column}")), "{column}: {notes}");
    }
    let all = measured["measurements"].as_array().unwrap();
    for row in ["packed", "packed-exact", "arrow", "pcodec-exact", "scaled", "draco"] {
        let is = |m: &&Value| m["subject"] == row && m["case"] == case["id"];
        assert!(all.iter().any(|m| is(&m)), "{row}: {}", measured["subjects"]);
    }
    // Points without any value are none, and others beside them are still measured.
    let messages = ["SensorView.sparse.osi", "SensorView.full.osi"];
    fs::write(at.join("sparse_sv.osi"), messages.map(osi).concat()).unwrap();
    let rows = ["--codecs", "packed,packed-exact,arrow,pcodec-exact"];
    let said = run(at, &[&["codecs", "points", "sparse_sv.osi"][..], &rows, &more].concat());
    said.expect_code(0);
    let cases = result(at)["cases"].to_string();
    assert!(cases.contains(lidar) && !cases.contains("lidar_sensor_view[4]"), "{cases}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    kitti(&at.join("a.bin"), 10);
    fs::create_dir(at.join("other")).unwrap();
    kitti(&at.join("other/a.bin"), 10);
    fs::write(at.join("short.bin"), [0; 17]).unwrap();
    fs::write(at.join("empty.bin"), []).unwrap();
    fs::write(at.join("a.pcd"), "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 3\nDATA binary\n1234").unwrap();
    fs::write(at.join("scan.txt"), "nothing").unwrap();
    for (arguments, words) in [
        (&["short.bin"][..], &["short.bin", "17 bytes"][..]),
        (&["empty.bin"], &["empty.bin", "no points"]),
        (&["a.pcd"], &["a.pcd", "3 points"]),
        (&["gone.bin"], &["gone.bin", "No such file"]),
        (&["scan.txt"], &["scan.txt"]),
        (&["a.bin", "other/a.bin"], &["other/a.bin", "rename"]),
        (&["a.bin", "--channel", "/points"], &["a.bin", "channel"]),
        (&["a.bin", "--columns", "x,range"], &["a.bin", "range", "intensity"]),
        (&["a.bin", "--columns", "intensity"], &["--resolution", "intensity"]),
        (&["a.bin", "--resolution", "range=1mm"], &["range", "intensity, x, y, z"]),
        (&["a.bin", "--resolution", "x=5dB"], &["x", "unit"]),
        (&["a.bin", "--codecs", "gzip"], &["gzip", "packed-reduced"]),
        (&["a.bin", "-o", "a.bin"], &["a.bin"]),
    ] {
        refuses(at, &[&["codecs", "points"], arguments].concat(), words);
        assert!(!at.join("run.json").exists(), "{arguments:?}");
    }
    let said = run(at, &["codecs", "points", "a.bin", "--resolution", "x=0"]);
    said.expect_code(2);
    assert!(said.err.contains("above 0"), "{}", said.err);
}

#[test]
fn rows_are_listed() {
    let said = run(Path::new("."), &["codecs", "points", "--list"]);
    said.expect_code(0);
    for word in ["packed-reduced+zstd", "pco 1.1.0", "with --exact", "draco-kd", "cloudini-zstd"] {
        assert!(said.out.contains(word), "{word}");
    }
}
