//! The main job from end to end: a message in, a result and its forms out.

mod support;

use std::fs;

use support::{has_its_form, project, recording, result, run, status};

/// A measurement small enough for a test; its times are looked at by nobody.
fn measure(folder: &std::path::Path, more: &[&str]) -> support::Said {
    let mut arguments = vec!["codecs", "--time", "1", "--processes", "2"];
    arguments.extend(more);
    run(folder, &arguments)
}

/// The figure of a subject's fact.
fn fact(run: &serde_json::Value, subject: &str, metric: &str) -> Option<f64> {
    run["facts"]
        .as_array()?
        .iter()
        .find(|fact| fact["subject"] == subject && fact["metric"] == metric)?["value"]
        .as_f64()
}

#[test]
fn the_lidar_message_in_two_codecs_and_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let said = measure(at, &["--size", "points=100", "--codecs", "prost,bincode"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    for word in ["prost", "Bincode", "memcpy", "encode", "decode", "1,332 B"] {
        assert!(said.out.contains(word), "no '{word}' in\n{}", said.out);
    }
    let run_json = result(at);
    for subject in ["prost", "bincode", "noop", "memcpy"] {
        assert!(status(&run_json, subject).contains("measured"));
    }
    assert_eq!(fact(&run_json, "bincode", "size"), Some(1332.0));
    assert!(fact(&run_json, "prost", "allocations/encode").is_some_and(|n| n >= 1.0));
    assert_eq!(fact(&run_json, "bincode", "allocations/encode"), Some(0.0));
    let metrics: Vec<&str> = run_json["measurements"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["subject"] == "prost")
        .map(|m| m["metric"].as_str().unwrap())
        .collect();
    for metric in ["encode", "encode/populate", "decode/extract", "project", "fixed", "element"] {
        assert!(metrics.contains(&metric), "no {metric} in {metrics:?}");
    }

    has_its_form(&run_json);

    assert_eq!(run(at, &["report", "run.json", "-o", "report.html"]).code, Some(0));
    assert!(fs::read_to_string(at.join("report.html")).unwrap().contains("Bincode"));
    for (form, word) in [("md", "| "), ("csv", "prost,"), ("json", "\"prost\"")] {
        let said = run(at, &["report", "run.json", "--format", form]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.out.contains(word), "{form}: {}", said.out);
    }
    let said = run(at, &["budget", "run.json", "--rate", "10Hz", "--speed", "100km/h"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("prost"), "{}", said.out);
    let said = run(at, &["compare", "run.json", "run.json", "--fail-above", "5%"]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
}

#[test]
fn a_sweep_has_a_case_for_each_length() {
    let folder = tempfile::tempdir().unwrap();
    let said = measure(folder.path(), &["--sweep", "points=1,10,100", "--codecs", "bincode"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let run = result(folder.path());
    let cases: Vec<f64> = run["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["parameter"]["value"].as_f64().unwrap())
        .collect();
    assert_eq!(cases, [1.0, 10.0, 100.0]);
}

#[test]
fn ones_own_message_by_definition() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("robot.proto"),
        "syntax = \"proto3\"; package pkg;
         message Pose { double x = 1; double y = 2; optional double yaw = 3; }
         message Status { string name = 1; repeated Pose track = 2; map<string, int32> errors = 3;
                          oneof mode { bool idle = 4; Pose goal = 5; } }",
    )
    .unwrap();
    let said = measure(
        at,
        &[
            "--message",
            "robot.proto:pkg.Status",
            "--size",
            "track=7",
            "--codecs",
            "prost,protobuf-cpp",
        ],
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    let run = result(at);
    assert!(status(&run, "protobuf-cpp").contains("measured"));
    // Two implementations of one format write the same number of bytes.
    assert_eq!(fact(&run, "prost", "size"), fact(&run, "protobuf-cpp", "size"));
}

#[test]
fn rsb_has_the_published_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(
        folder.path(),
        &["codecs", "rsb", "--quick", "--codecs", "protobuf-cpp,ros-msg", "--processes", "1"],
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    let run = result(folder.path());
    let sizes = |subject: &str| -> Vec<f64> {
        run["facts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|fact| fact["subject"] == subject && fact["metric"] == "size")
            .map(|fact| fact["value"].as_f64().unwrap())
            .collect()
    };
    assert_eq!(sizes("protobuf-cpp"), [55.0, 83.0, 139.0, 251.0, 477.0, 933.0]);
    assert_eq!(sizes("ros-msg"), [104.0, 132.0, 188.0, 300.0, 524.0, 972.0]);
}

#[test]
fn a_private_format_takes_part() {
    let folder = tempfile::tempdir().unwrap();
    let example = project().join("examples/private_format.py").canonicalize().unwrap();
    let runner = format!("columns=python3 {}", example.display());
    let said = measure(
        folder.path(),
        &["--size", "points=50", "--codecs", "bincode", "--runner", &runner, "--corrupt", "20"],
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    let run = result(folder.path());
    assert!(status(&run, "columns").contains("measured"));
    assert_eq!(fact(&run, "columns", "size"), Some(28.0 + 50.0 * 13.0));
    let outcomes = ["rejected", "same", "different", "crashed", "hung", "unbounded"];
    let total: f64 = outcomes
        .iter()
        .map(|o| fact(&run, "columns", &format!("corrupt/{o}")).expect("counted"))
        .sum();
    assert_eq!(total, 20.0);
}

/// Measures the topics of a recording.
fn measures(path: &str, topics: [&str; 2]) {
    for topic in topics {
        let folder = tempfile::tempdir().unwrap();
        let input = ["--input", path, "--topic", topic, "--messages", "2"];
        let said = measure(
            folder.path(),
            &[&input[..], &["--codecs", "bincode,prost,protobuf-cpp"]].concat(),
        );
        assert_eq!(said.code, Some(0), "{path} {topic}: {}", said.err);
        let run = result(folder.path());
        assert!(status(&run, "protobuf-cpp").contains("measured"), "{path} {topic}");
        assert_eq!(fact(&run, "prost", "size"), fact(&run, "protobuf-cpp", "size"));
    }
}

#[test]
fn recordings_are_measured_with_their_own_messages() {
    measures(&recording("mcap/ros2-zstd.mcap"), ["/sweep", "/cloud"]);
    measures(&recording("osi/zstd.mcap"), ["/SensorView", "/SensorData"]);
}

#[test]
#[ignore = "reads recordings that are not in the repository: WIREGAUGE_RECORDINGS=FOLDER"]
fn large_recordings_are_measured_with_their_own_messages() {
    let path = |name| wiregauge_prerequisites::recording(name).display().to_string();
    measures(&path("ouster-os1-128.mcap"), ["/ouster/points", "/ouster/scan"]);
    let osi = path("osi-sensordata-lane-boundaries.mcap");
    measures(&osi, ["/PMSF.SensorView", "/PMSF.SensorData"]);
}

#[test]
fn an_osi_message_is_encoded_to_its_recorded_size() {
    let path = recording("osi/20240101T000000Z_sv_380_7362_5_made_up.osi");
    let folder = tempfile::tempdir().unwrap();
    let said = measure(folder.path(), &["--input", &path, "--messages", "1", "--codecs", "prost"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    // As the official package wrote it, after its length.
    let bytes = fs::read(path).unwrap();
    let recorded = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    assert_eq!(fact(&result(folder.path()), "prost", "size"), Some(recorded.into()));
}

/// What docs/methodology.md says of the codecs is what the program says.
#[test]
fn the_documented_codecs_are_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["codecs", "--list"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let page = fs::read_to_string(project().join("docs/methodology.md")).unwrap();
    assert!(page.contains(said.out.trim_end()), "put in docs/methodology.md:\n{}", said.out);
}

#[test]
fn a_codec_without_its_tool_is_skipped_with_the_package() {
    let folder = tempfile::tempdir().unwrap();
    let size = ["--size", "points=3", "--codecs", "bincode"];
    assert_eq!(measure(folder.path(), &size).code, Some(0));
    // What is built needs no tool; flatc is not to be found.
    let said = support::said(
        support::wiregauge()
            .args(["codecs", "--time", "1", "--processes", "2"])
            .args(["--size", "points=3", "--codecs", "bincode,flatbuffers"])
            .env("PATH", "/nowhere")
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, Some(0), "{}", said.err);
    let status = status(&result(folder.path()), "flatbuffers");
    assert!(status.contains("skipped"), "{status}");
    assert!(status.contains("apt-get install flatbuffers-compiler"), "{status}");
    assert!(said.out.contains("flatbuffers-compiler"), "{}", said.out);
}

/// A message of a test's own, whose runners no other test has built.
fn unbuilt(folder: &std::path::Path, name: &str) -> String {
    let file = folder.join("Scan.msg");
    fs::write(&file, format!("float32[] without_{name}\n")).unwrap();
    file.display().to_string()
}

#[test]
fn a_library_that_does_not_compile_is_a_row_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let headers = folder.path().join("fastcdr");
    fs::create_dir(&headers).unwrap();
    fs::write(headers.join("Cdr.h"), "#error this library is broken\n").unwrap();
    let said = support::said(
        support::wiregauge()
            .args(["codecs", "--time", "1", "--processes", "2"])
            .args(["--message", &unbuilt(folder.path(), "headers"), "--codecs", "fastcdr,lcm"])
            .env("CPLUS_INCLUDE_PATH", folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, Some(1), "{}", said.err);
    let run = result(folder.path());
    let why = status(&run, "fastcdr");
    assert!(why.contains("does not compile: "), "{why}");
    assert!(why.contains("this library is broken"), "{why}");
    assert!(said.out.contains("this library is broken"), "{}", said.out);
    assert!(status(&run, "lcm").contains("measured"));
    let page = support::run(folder.path(), &["report", "run.json", "-o", "report.html"]);
    assert_eq!(page.code, Some(0), "{}", page.err);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("this library is broken"));
}

#[test]
fn a_language_without_a_compiler_fails_its_own_rows_only() {
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("bin");
    fs::create_dir(&tools).unwrap();
    let cmake = tools.join("cmake");
    fs::write(&cmake, "#!/bin/sh\necho 'error: no compiler here' >&2\nexit 1\n").unwrap();
    fs::set_permissions(&cmake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let said = support::said(
        support::wiregauge()
            .args(["codecs", "--time", "1", "--processes", "2"])
            .args(["--message", &unbuilt(folder.path(), "compiler"), "--codecs", "bincode,lcm"])
            .env("PATH", format!("{}:{path}", tools.display()))
            .current_dir(folder.path())
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, Some(1), "{}", said.err);
    let run = result(folder.path());
    assert!(status(&run, "lcm").contains("no compiler here"), "{}", status(&run, "lcm"));
    assert!(status(&run, "bincode").contains("measured"));
}
