//! The main job from end to end: a message in, a result and its forms out.

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{files, has_its_form, project, recording, result, run, status, to_said, Said};
use wiregauge_build_tools::write_script;

/// A measurement small enough for a test; its times are looked at by nobody.
fn measure(folder: &Path, more: &[&str]) -> Said {
    to_said(measuring(folder, more).output().unwrap())
}

/// The same, to be started with variables of its own.
fn measuring(folder: &Path, more: &[&str]) -> Command {
    let mut command = support::wiregauge();
    command.args(["codecs", "--duration", "1", "--processes", "2"]).args(more).current_dir(folder);
    command
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
    let said = measure(at, &["--length", "points=100", "--codecs", "prost,bincode"]);
    said.expect_code(0);
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

    run(at, &["report", "run.json", "-o", "report.html"]).expect_code(0);
    assert!(fs::read_to_string(at.join("report.html")).unwrap().contains("Bincode"));
    for (form, word) in [("md", "| "), ("csv", "prost,"), ("json", "\"prost\"")] {
        let said = run(at, &["report", "run.json", "--format", form]);
        said.expect_code(0);
        assert!(said.out.contains(word), "{form}: {}", said.out);
    }
    let said = run(at, &["report", "run.json", "--rate", "10Hz", "--vehicle-speed", "60mph"]);
    said.expect_code(0);
    assert!(said.out.contains("prost"), "{}", said.out);
    let said = run(at, &["compare", "run.json", "run.json", "--fail-above", "5%"]);
    said.expect_code(0);
}

#[test]
fn a_sweep_has_a_case_for_each_length() {
    let folder = tempfile::tempdir().unwrap();
    let said = measure(folder.path(), &["--sweep", "points=1,10,100", "--codecs", "bincode"]);
    said.expect_code(0);
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
    let message = ["--message", "robot.proto:pkg.Status", "--length", "track=7"];
    let mut measuring =
        measuring(at, &[&message[..], &["--codecs", "prost,protobuf-cpp"]].concat());
    // What the user's shell says to compilers for other builds has no effect.
    for name in ["CC", "CXX", "CXXFLAGS", "LDFLAGS", "RUSTC", "RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"]
    {
        measuring.env(name, "/nowhere/compiler");
    }
    // What changes every program does, and is told.
    measuring.env("MALLOC_ARENA_MAX", "1");
    to_said(measuring.output().unwrap()).expect_code(0);
    let run = result(at);
    assert_eq!(run["environment"]["variables"]["MALLOC_ARENA_MAX"], "1");
    let warnings = run["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|w| w["code"] == "variables"), "{warnings:?}");
    assert!(status(&run, "protobuf-cpp").contains("measured"));
    // Two implementations of one format write the same number of bytes.
    assert_eq!(fact(&run, "prost", "size"), fact(&run, "protobuf-cpp", "size"));
}

#[test]
fn rsb_has_the_published_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let codecs = "protobuf-cpp,ros-msg,generated-ros-msg-cpp";
    let said =
        run(folder.path(), &["repeat", "rsb", "--quick", "--codecs", codecs, "--processes", "1"]);
    said.expect_code(0);
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
    for ros_msg in ["ros-msg", "generated-ros-msg-cpp"] {
        assert_eq!(sizes(ros_msg), [104.0, 132.0, 188.0, 300.0, 524.0, 972.0]);
    }
    has_its_form(&run);
    rsb_has_every_published_figure(&run);
    let shown = support::run(folder.path(), &["report", "run.json"]).out;
    for words in ["note 4", "note 7", "share/serialization", "client-fresh in phases"] {
        assert!(shown.contains(words), "no '{words}' in {shown}");
    }
    // Two programs that were published twice have no order to agree on.
    assert!(!shown.contains("Spearman"), "{shown}");
}

/// Each figure of the publication, where its reader looks for it, beside one that was
/// measured.
fn rsb_has_every_published_figure(run: &serde_json::Value) {
    let figures = run["reference"]["figures"].as_array().unwrap();
    // Note 14: sizes and times; notes 4, 7 and 8; the shares of note 6.
    assert_eq!(figures.len(), 2 * 6 * 2 + 3 * 2 + 3);
    let published = |factor: usize, name: &str, metric: &str| {
        let case = format!("size factor={factor}");
        let is_it = |f: &&serde_json::Value| {
            f["case"] == *case && f["name"] == name && f["metric"] == metric
        };
        let found: Vec<f64> =
            figures.iter().filter(is_it).map(|f| f["value"].as_f64().unwrap()).collect();
        assert_eq!(found.len(), 1, "{name} {metric} at {case}");
        found[0]
    };
    let (protobuf, ros_msg) = ("Protocol buffers", "ROS MSG (via rosetta)");
    let seconds = [
        (4, 1.953, 1.154),
        (8, 2.005, 1.129),
        (16, 2.047, 1.216),
        (32, 2.476, 1.211),
        (64, 2.401, 1.281),
        (128, 2.519, 1.497),
    ];
    for (factor, of_protobuf, of_ros_msg) in seconds {
        for (name, seconds) in [(protobuf, of_protobuf), (ros_msg, of_ros_msg)] {
            assert!((published(factor, name, "client-fresh") - 1e3 * seconds).abs() < 1e-6);
        }
    }
    let runs = [
        (4, "client-fresh", 1813.0, 1394.0),
        (7, "client-reused", 539.0, 434.0),
        (8, "client-reused", 608.0, 334.0),
    ];
    for (note, metric, of_protobuf, of_ros_msg) in runs {
        for (name, value) in [(protobuf, of_protobuf), (ros_msg, of_ros_msg)] {
            let name = format!("{name}, note {note}");
            assert!((published(4, &name, metric) - value).abs() < 1e-6, "{name}");
        }
    }
    for (share, value) in
        [("serialization", 20.0), ("deserialization", 30.0), ("construction", 50.0)]
    {
        assert_eq!(published(4, &format!("{ros_msg}, note 6"), &format!("share/{share}")), value);
    }
    let measured = |figure: &serde_json::Value| {
        let is_its = |one: &&serde_json::Value| {
            ["case", "subject", "metric", "unit"].iter().all(|key| one[key] == figure[key])
        };
        let in_list = |name: &str| run[name].as_array().unwrap().iter().any(|one| is_its(&one));
        in_list("measurements") || in_list("facts")
    };
    for figure in figures {
        assert!(measured(figure), "nothing stands beside {figure}");
    }
    // What was not published: how a client that has a holder of its own goes.
    for (at, case) in run["cases"].as_array().unwrap().iter().enumerate() {
        for subject in ["protobuf-cpp", "ros-msg", "generated-ros-msg-cpp"] {
            let value = |metric: &str| {
                let is_it = |f: &&serde_json::Value| {
                    f["case"] == case["id"] && f["subject"] == subject && f["metric"] == metric
                };
                run["facts"].as_array().unwrap().iter().find(is_it)?["value"].as_f64()
            };
            let shares = ["serialization", "deserialization", "construction"]
                .map(|share| value(&format!("share/{share}")).expect("a share"));
            assert!((shares.iter().sum::<f64>() - 100.0).abs() < 1e-6, "{subject} {shares:?}");
            for metric in ["client-fresh", "client-reused", "roundtrip-fresh", "roundtrip-reused"] {
                let is_it = |m: &&serde_json::Value| {
                    m["case"] == case["id"] && m["subject"] == subject && m["metric"] == metric
                };
                let count = run["measurements"].as_array().unwrap().iter().filter(is_it).count();
                assert_eq!(count, 1, "{subject} {metric} at case {at}");
                let against = value(&format!("against-ros-msg/{metric}"));
                let is_other = subject != "generated-ros-msg-cpp";
                assert_eq!(against.is_some_and(|percent| percent > 0.0), is_other, "{subject}");
            }
        }
    }
}

#[test]
fn rsb_weighs_the_library_that_a_program_needs() {
    let folder = tempfile::tempdir().unwrap();
    let programs = "protobuf-cpp,generated-ros-msg-cpp,generated-ros-msg-python";
    let said = run(
        folder.path(),
        &["repeat", "rsb", "--weight", "--codecs", programs, "--processes", "1"],
    );
    said.expect_code(0);
    let run = result(folder.path());
    has_its_form(&run);
    let subjects: Vec<&str> = run["subjects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|subject| subject["id"].as_str().unwrap())
        .collect();
    let [nothing, protobuf, generated] = ["nothing-cpp", "protobuf-cpp", "generated-ros-msg-cpp"];
    let python = ["nothing-python", "generated-ros-msg-python"];
    assert_eq!(subjects, [nothing, protobuf, generated, python[0], python[1]]);
    let fact = |subject: &str, metric: &str| fact(&run, subject, metric).expect(metric);
    for subject in subjects {
        assert!(status(&run, subject).contains("measured"), "{subject}");
        let parts = ["weight/program", "weight/libraries"].map(|part| fact(subject, part));
        assert!(parts[0] > 0.0, "{subject}");
        assert_eq!(parts.iter().sum::<f64>(), fact(subject, "weight"), "{subject}");
        assert!(fact(subject, "lines/program") > 1.0, "{subject}");
        let compiled = run["measurements"].as_array().unwrap().iter().any(|m| {
            m["subject"] == subject && m["metric"] == "compile" && m["samples"][0][0] != 0.0
        });
        assert_eq!(compiled, subject.ends_with("-cpp"), "{subject}");
    }
    // Protobuf's library is one more at least, of more than a megabyte.
    assert!(fact(protobuf, "libraries") > fact(generated, "libraries"));
    assert!(fact(protobuf, "weight/libraries") > 1e6);
    assert_eq!(fact(generated, "libraries"), fact(nothing, "libraries"));
    assert_eq!(fact(generated, "weight/libraries"), 0.0);
    assert!(fact(protobuf, "lines/generated") > fact(generated, "lines/generated"));
    for word in ["weight/libraries", "compile", "no message C++"] {
        assert!(said.out.contains(word), "no '{word}' in {}", said.out);
    }
}

#[test]
fn a_private_format_takes_part() {
    let folder = tempfile::tempdir().unwrap();
    let example = project().join("examples/private_format.py").canonicalize().unwrap();
    let runner = format!("columns=python3 {}", example.display());
    let said = measure(
        folder.path(),
        &["--length", "points=50", "--codecs", "bincode", "--runner", &runner, "--corrupt", "20"],
    );
    said.expect_code(0);
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

/// Measures topics of a recording.
fn measures(path: &str, topics: &[&str]) {
    for topic in topics {
        let folder = tempfile::tempdir().unwrap();
        let input = ["--input", path, "--channel", topic, "--messages", "2"];
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
    measures(&recording("mcap/ros2-zstd.mcap"), &["/sweep", "/cloud"]);
    // The other one of OSI's has the same types, which take half a minute to compile.
    measures(&recording("osi/zstd.mcap"), &["/SensorView"]);
}

#[test]
#[ignore = "reads recordings that are not in the repository: WIREGAUGE_RECORDINGS=FOLDER"]
fn large_recordings_are_measured_with_their_own_messages() {
    let path = |name| wiregauge_testkit::prerequisites::recording(name).display().to_string();
    measures(&path("ouster-os1-128.mcap"), &["/ouster/points", "/ouster/scan"]);
    let osi = path("osi-sensordata-lane-boundaries.mcap");
    measures(&osi, &["/PMSF.SensorView", "/PMSF.SensorData"]);
}

#[test]
fn an_osi_message_is_encoded_to_its_recorded_size() {
    let path = recording("osi/20240101T000000Z_sv_380_7362_5_made_up.osi");
    let folder = tempfile::tempdir().unwrap();
    let said = measure(folder.path(), &["--input", &path, "--messages", "1", "--codecs", "prost"]);
    said.expect_code(0);
    // As the official package wrote it, after its length.
    let bytes = fs::read(path).unwrap();
    let recorded = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    assert_eq!(fact(&result(folder.path()), "prost", "size"), Some(recorded.into()));
}

/// What the program says of each codec is on docs/codecs.md too.
#[test]
fn the_documented_codecs_are_those_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let said = run(folder.path(), &["codecs", "--list"]);
    said.expect_code(0);
    let page = fs::read_to_string(project().join("docs/codecs.md")).unwrap();
    for line in said.out.lines() {
        let wanted = match line.split('`').nth(1) {
            Some(name) if line.starts_with("- **") => format!("### {name}"),
            _ => line.trim_start().to_owned(),
        };
        assert!(page.contains(&format!("\n{wanted}\n")), "docs/codecs.md lacks '{wanted}'");
    }
}

#[test]
fn a_codec_without_its_tool_is_skipped_with_the_package() {
    let folder = tempfile::tempdir().unwrap();
    let size = ["--length", "points=3", "--codecs", "bincode"];
    assert_eq!(measure(folder.path(), &size).code, Some(0));
    // What is built needs no tool; flatc is not to be found.
    let size = ["--length", "points=3", "--codecs", "bincode,flatbuffers"];
    let mut measuring = measuring(folder.path(), &size);
    let said = to_said(measuring.env("PATH", "/nowhere").output().unwrap());
    said.expect_code(0);
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
    let message = unbuilt(folder.path(), "headers");
    let mut measuring =
        measuring(folder.path(), &["--message", &message, "--codecs", "fastcdr,lcm"]);
    // As in many a pipeline: ninja's words have colours then.
    measuring.env("CPLUS_INCLUDE_PATH", folder.path()).env("CLICOLOR_FORCE", "1");
    let said = to_said(measuring.output().unwrap());
    said.expect_code(1);
    let run = result(folder.path());
    let why = status(&run, "fastcdr");
    assert!(why.contains("does not compile: "), "{why}");
    assert!(why.contains("this library is broken"), "{why}");
    assert!(said.out.contains("this library is broken"), "{}", said.out);
    assert!(status(&run, "lcm").contains("measured"));
    let page = support::run(folder.path(), &["report", "run.json", "-o", "report.html"]);
    page.expect_code(0);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("this library is broken"));
}

#[test]
fn a_language_without_a_compiler_fails_its_own_rows_only() {
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("bin");
    fs::create_dir(&tools).unwrap();
    let cmake = tools.join("cmake");
    write_script(&cmake, "#!/bin/sh\necho 'error: no compiler here' >&2\nexit 1\n").unwrap();
    let path = std::env::var("PATH").unwrap();
    let message = unbuilt(folder.path(), "compiler");
    let mut measuring =
        measuring(folder.path(), &["--message", &message, "--codecs", "bincode,lcm"]);
    measuring.env("PATH", format!("{}:{path}", tools.display()));
    let said = to_said(measuring.output().unwrap());
    said.expect_code(1);
    let run = result(folder.path());
    assert!(status(&run, "lcm").contains("no compiler here"), "{}", status(&run, "lcm"));
    assert!(status(&run, "bincode").contains("measured"));
}

/// Rows that a package has installed are measured where there is no compiler, if they are made
/// from what would be compiled.
#[test]
fn installed_rows_are_measured_without_compilers() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = folder.path();
    let [made, prefix, none] = ["made", "prefix", "none"].map(|name| at.join(name));
    // Its crates are compiled once for all tests.
    fs::create_dir_all(support::build_folder().join("target")).unwrap();
    fs::create_dir(&made).unwrap();
    symlink(support::build_folder().join("target"), made.join("target")).unwrap();
    let words = ["bundle", "--only-build", "--language", "rust", "--codecs", "bincode"];
    let said = support::wiregauge().args(words).env("WIREGAUGE_BUILD", &made).output();
    let said = to_said(said.unwrap());
    said.expect_code(0);

    let library = prefix.join("lib/wiregauge").join(env!("CARGO_PKG_VERSION"));
    let library = library.join(std::env::consts::ARCH);
    fs::create_dir_all(&library).unwrap();
    fs::rename(made.join("messages"), library.join("messages")).unwrap();
    fs::create_dir(prefix.join("bin")).unwrap();
    let program = prefix.join("bin/wiregauge");
    fs::hard_link(env!("CARGO_BIN_EXE_wiregauge"), &program).unwrap();
    let measure = || {
        let words = ["codecs", "--duration", "1", "--processes", "1", "--codecs", "bincode,prost"];
        let mut command = support::wiregauge_in(program.to_str().unwrap());
        command.args(words).env("PATH", "/nowhere").env("WIREGAUGE_BUILD", &none);
        let said = to_said(command.current_dir(at).output().unwrap());
        let run = result(at);
        (said, ["bincode", "prost"].map(|row| status(&run, row)))
    };
    let (said, [bincode, prost]) = measure();
    said.expect_code(0);
    assert!(bincode.contains("measured"), "{bincode}");
    assert!(prost.contains("cargo is missing: apt-get install rustup"), "{prost}");
    has_its_form(&result(at));

    let messages = fs::read_dir(library.join("messages")).unwrap();
    let mut stamps = messages.flatten().map(|message| message.path().join("bin/bincode.stamp"));
    // The bounds have a folder of their own.
    fs::write(stamps.find(|stamp| stamp.exists()).unwrap(), "of another version").unwrap();
    let (said, [bincode, _]) = measure();
    assert!(bincode.contains("cargo is missing"), "{bincode}");
    said.expect_code(3);
    let words = "no row was measured; this installs what they lack: ";
    assert!(said.err.contains(words) && said.err.contains(" rustup"), "{}", said.err);
}

/// What a user's own Python has is not taken for what a row needs, and nothing is put there.
#[test]
fn rows_in_python_have_packages_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let list = "crates/formats/src/formats/cbor/python/requirements.txt";
    let list = fs::read_to_string(project().join(list)).unwrap();
    let pinned = list.split_whitespace().next().unwrap();
    let version = pinned.strip_prefix("cbor2==").expect("the library is the first");
    let (own, build) = (at.join("own"), at.join("build"));
    let package = own.join(format!("cbor2-{version}.dist-info"));
    fs::create_dir_all(&package).unwrap();
    let text = format!("Metadata-Version: 2.1\nName: cbor2\nVersion: {version}\n");
    fs::write(package.join("METADATA"), text).unwrap();
    let mut building = support::wiregauge();
    building.args(["bundle", "--only-build", "--language", "python"]);
    building.args(["--codecs", "cbor2,protobuf-python"]);
    building.env("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python");
    building.env("WIREGAUGE_BUILD", &build).current_dir(at);
    building.env("PYTHONPATH", &own).env("PIP_USER", "1").env("PIP_TARGET", &own);
    to_said(building.output().unwrap()).expect_code(0);
    let programs = files(&build.join("tools"), &|_| true);
    let is_its = |path: &PathBuf| path.ends_with("site-packages/cbor2/__init__.py");
    assert!(programs.iter().any(is_its), "{programs:?}");
    assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
}
