//! What FMUs make as trace files, and back: `trace record`, and the FMUs player and recorder.

#[path = "support/couple.rs"]
mod couple;
#[path = "support/encodings.rs"]
mod encodings;
mod support;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use couple::fixture::Fixture;
use couple::write;
use serde_json::Value;
use support::{build_folder, refuses, run, Said};
use wiregauge_osi::fmus::{build, Build, Fmu, Model, ENCODINGS};
use wiregauge_osi::python::Python;

/// The source, player and recorder of each encoding that is taken in FMI 2, and those of Protobuf in FMI 3.
fn fmu(model: Model, encoding: &str, fmi: u8) -> String {
    static FMUS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    let built = FMUS.get_or_init(|| {
        let mut wanted = Vec::new();
        for model in [Model::Source, Model::Player, Model::Recorder] {
            let fmu = |encoding, fmi| Fmu { model, encoding, fmi, build: Build::Release };
            wanted.extend(encodings::played().into_iter().map(|encoding| fmu(encoding, 2)));
            wanted.push(fmu(ENCODINGS[0], 3));
        }
        let built = build(&build_folder(), &wanted, &|_, _, _| Ok(())).expect("the FMUs' tools");
        let paths = wanted.iter().map(Fmu::name).zip(built);
        paths.map(|(name, path)| (name, path.expect("it builds"))).collect()
    });
    let encoding = ENCODINGS.into_iter().find(|known| known.name == encoding).unwrap();
    let name = Fmu { model, encoding, fmi, build: Build::Release }.name();
    built[&name].display().to_string()
}

/// Records so many steps of an FMU with such parameters, `name=value`.
fn record(at: &Path, out: &str, fmu: &str, set: &[&str], steps: u32) -> Said {
    let (steps, settings) = (steps.to_string(), set.iter().map(|set| format!("source.{set}")));
    let settings: Vec<String> = settings.flat_map(|set| ["--set".to_owned(), set]).collect();
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let words = ["trace", "record", "-o", out, "--source", fmu, "--steps", &steps];
    run(at, &[&words[..], &settings].concat())
}

fn recorded(at: &Path, out: &str, fmu: &str, set: &[&str], steps: u32) -> Vec<u8> {
    let said = record(at, out, fmu, set, steps);
    said.expect_code(0);
    fs::read(at.join(out)).unwrap()
}

/// The messages of a file that has each after its length.
fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    let mut left = bytes;
    let mut found = Vec::new();
    while let Some((length, rest)) = left.split_first_chunk::<4>() {
        let (message, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        found.push(message);
        left = rest;
    }
    found
}

#[test]
fn what_is_recorded_is_played_to_the_byte_in_every_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for encoding in encodings::played() {
        let name = encoding.name;
        let source = fmu(Model::Source, name, 2);
        let made = recorded(at, "made.bin", &source, &["reflections=90", "objects=4"], 3);
        assert_eq!(messages(&made).len(), 3, "{name}");
        let player = fmu(Model::Player, name, 2);
        let raw = recorded(at, "raw.bin", &player, &["trace=made.bin"], 3);
        assert!(raw == made, "{name}, raw");
        let said = record(at, "parsed.bin", &player, &["trace=made.bin", "parse=true"], 3);
        if name.starts_with("flatbuffers") && name != "flatbuffers-objects" {
            assert!(said.err.contains("nothing to parse"), "{name}: {}", said.err);
            continue;
        }
        assert_eq!(said.code, Some(0), "{name}: {}", said.err);
        let parsed = fs::read(at.join("parsed.bin")).unwrap();
        if name == "flatbuffers-objects" {
            // Tables that are packed from objects may lie in another order.
            let sizes = |bytes| messages(bytes).iter().map(|m| m.len()).collect::<Vec<_>>();
            assert_eq!(sizes(&parsed).len(), 3);
            assert!(sizes(&parsed).iter().zip(sizes(&made)).all(|(a, b)| a.abs_diff(b) < 64));
        } else {
            assert!(parsed == made, "{name}, parsed");
        }
    }
}

#[test]
fn a_recorder_writes_what_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let kinds = encodings::played().into_iter().map(|encoding| (encoding.name, 2));
    for (encoding, fmi) in kinds.chain([("protobuf", 3)]) {
        let [source, recorder] =
            [Model::Source, Model::Recorder].map(|model| fmu(model, encoding, fmi));
        let made = recorded(at, "made.bin", &source, &["reflections=90"], 4);
        // What the source gave is recorded by the FMU, and by the master beside it.
        let words =
            ["trace", "record", "-o", "beside.bin", "--source", &source, "--model", &recorder];
        let told =
            ["--steps", "4", "--set", "source.reflections=90", "--set", "model.trace=./its.bin"];
        let said = run(at, &[&words[..], &told].concat());
        assert_eq!(said.code, Some(0), "{encoding}: {}", said.err);
        assert!(fs::read(at.join("its.bin")).unwrap() == made, "{encoding}, FMI {fmi}");
        assert!(fs::read(at.join("beside.bin")).unwrap() == made, "{encoding}, FMI {fmi}");
        assert!(!at.join("its.bin.part").exists());
    }
}

/// Nanoseconds of the time stamps in a file of SensorViews.
fn times(at: &Path, file: &str) -> Vec<u64> {
    let lines = run(at, &["trace", "cat", file, "--type", "sv"]).out;
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["time"].as_u64().unwrap()).collect()
}

#[test]
fn players_go_by_time_or_by_step() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (source, player) = (fmu(Model::Source, "protobuf", 2), fmu(Model::Player, "protobuf", 2));
    // At 0.1, 0.2 and 0.3 s.
    recorded(at, "made_sv.osi", &source, &[], 3);
    let tenths =
        |file| times(at, file).into_iter().map(|time| time / 100_000_000).collect::<Vec<_>>();
    assert_eq!(tenths("made_sv.osi"), [1, 2, 3]);
    let play = |step: &str, set: &[&str], steps: u32| {
        let set: Vec<String> = set.iter().map(|set| format!("--set=source.{set}")).collect();
        let steps = steps.to_string();
        let mut words = vec!["trace", "record", "-o", "played_sv.osi", "--source", &player];
        words.extend(["--set=source.trace=made_sv.osi", "--step-size", step, "--steps", &steps]);
        words.extend(set.iter().map(String::as_str));
        let said = run(at, &words);
        said.expect_code(0);
        (tenths("played_sv.osi"), said.err)
    };
    assert_eq!(play("0.1", &[], 3).0, [1, 2, 3]);
    assert_eq!(
        play("0.05", &[], 6).0,
        [1, 1, 2, 2, 3, 3],
        "the last message is held until the next"
    );
    assert_eq!(
        play("0.2", &[], 2).0,
        [1, 3],
        "what is not the last message that is due is left out"
    );
    assert_eq!(play("0.2", &["pace=step"], 3).0, [1, 2, 3]);
    assert_eq!(play("0.1", &["at_end=hold"], 5).0, [1, 2, 3, 3, 3]);
    assert_eq!(play("0.1", &["at_end=loop"], 7).0, [1, 2, 3, 1, 2, 3, 1]);
    assert_eq!(play("0.1", &["at_end=loop", "pace=step"], 4).0, [1, 2, 3, 1]);
    for pace in ["time", "step"] {
        let (played, said) = play("0.1", &[&format!("pace={pace}")], 5);
        assert_eq!(played, [1, 2, 3]);
        assert!(said.contains("ended early") && said.contains("at step 4"), "{said}");
    }
    let three = fmu(Model::Player, "protobuf", 3);
    let said = record(at, "three_sv.osi", &three, &["trace=made_sv.osi"], 5);
    assert!(said.err.contains("asked to end the simulation at step 4"), "{}", said.err);
    assert_eq!(tenths("three_sv.osi"), [1, 2, 3]);
}

#[test]
fn a_file_that_is_no_trace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (source, player) = (fmu(Model::Source, "protobuf", 2), fmu(Model::Player, "protobuf", 2));
    let made = recorded(at, "made.bin", &source, &[], 2);
    fs::write(at.join("cut.bin"), &made[..made.len() - 1]).unwrap();
    fs::write(at.join("empty.bin"), []).unwrap();
    fs::write(at.join("huge.bin"), [0xff, 0xff, 0xff, 0xff, 0]).unwrap();
    fs::write(at.join("other.bin"), [3, 0, 0, 0, 0xff, 0xff, 0xff]).unwrap();
    let timeless = [&[2, 0, 0, 0, 0x0a, 0][..]].concat();
    fs::write(at.join("timeless.bin"), timeless).unwrap();
    for (set, words) in [
        (&["trace=./none.bin"][..], &["trace", "none.bin cannot be read"][..]),
        (&[], &["trace: say which file"]),
        (&["trace=cut.bin"], &["cut.bin", "ends in a message"]),
        (&["trace=empty.bin"], &["empty.bin has no message"]),
        (&["trace=huge.bin"], &["4294967295 bytes", "2 GiB at most"]),
        (&["trace=other.bin", "pace=step", "parse=true"], &["the 3 bytes are no osi3::SensorView"]),
        (&["trace=timeless.bin"], &["has no time; pace=step"]),
        (&["trace=made.bin", "pace=fast"], &["pace is \"fast\"; there are time and step"]),
        (&["trace=made.bin", "at_end=x"], &["at_end is \"x\"; there are end, hold and loop"]),
    ] {
        let said = record(at, "out.bin", &player, set, 2);
        assert_eq!(said.code, Some(2), "{set:?}: {}", said.err);
        for word in words {
            assert!(said.err.contains(word), "{set:?}: no '{word}' in {}", said.err);
        }
        assert!(!at.join("out.bin").exists(), "{set:?}");
    }
}

#[test]
fn both_ends_of_a_coupling_are_channels_and_keep_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let source = fmu(Model::Source, "protobuf", 2);
    let sensor = {
        let sensor =
            Fmu { model: Model::Sensor, encoding: ENCODINGS[0], fmi: 2, build: Build::Release };
        let built = build(&build_folder(), &[sensor], &|_, _, _| Ok(())).unwrap();
        built.into_iter().next().unwrap().unwrap().display().to_string()
    };
    let pair = ["--source", &source, "--model", &sensor, "--set", "source.reflections=36"];
    let more = ["--duration", "500ms", "--protobuf-version", "3.21.12"];
    let said = run(at, &[&["trace", "record", "-o", "drive.mcap"][..], &pair, &more].concat());
    said.expect_code(0);
    let checked = run(at, &["trace", "check", "drive.mcap", "--format", "json"]);
    let checked: Value = serde_json::from_str(&checked.out).unwrap();
    let errors = checked[0]["findings"].as_array().unwrap().iter();
    let errors: Vec<&Value> = errors.filter(|found| found["level"] == "error").collect();
    assert!(errors.is_empty(), "{errors:?}");
    let info = run(at, &["trace", "info", "drive.mcap", "--format", "json"]).out;
    for topic in ["source-protobuf.OSMPSensorViewOut", "sensor-protobuf.OSMPSensorDataOut"] {
        assert!(info.contains(topic), "{info}");
    }
    let text = run(at, &["trace", "cat", "drive.mcap"]).out;
    assert_eq!(text.lines().count(), 10);
    // What no FMU says is missing, as in a file that is converted.
    let bare = ["trace", "record", "-o", "bare.mcap", "--steps", "2"];
    let bare = run(at, &[&bare[..], &pair].concat()).err;
    let missing = "protobuf_version is not known and is left out; give it by --protobuf-version";
    assert_eq!(bare.matches(missing).count(), 2, "{bare}");
    // A file of one channel wants to know which.
    refuses(
        at,
        &[&["trace", "record", "-o", "one_sd.osi", "--steps", "2"][..], &pair].concat(),
        &["source-protobuf.OSMPSensorViewOut, sensor-protobuf.OSMPSensorDataOut", "--variable"],
    );
    let one =
        ["trace", "record", "-o", "one_sd.osi", "--steps", "2", "--variable", "OSMPSensorDataOut"];
    run(at, &[&one[..], &pair].concat()).expect_code(0);
    assert!(run(at, &["trace", "cat", "one_sd.osi"]).out.contains("\"SensorData\""));
    refuses(
        at,
        &[&["trace", "record", "-o", "x.mcap", "--steps", "2", "--variable", "Nothing"][..], &pair]
            .concat(),
        &["no output Nothing", "source-protobuf.OSMPSensorViewOut"],
    );
}

#[test]
fn each_output_is_a_channel() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    /// How many messages each channel has.
    fn channels(at: &Path, file: &str) -> Vec<(String, u64)> {
        let info = run(at, &["trace", "info", file, "--format", "json"]).out;
        let info: Value = serde_json::from_str(&info).unwrap();
        let all = info[0]["channels"].as_array().unwrap().iter();
        let one = |channel: &Value| {
            (channel["topic"].as_str().unwrap().into(), channel["messages"].as_u64().unwrap())
        };
        all.map(one).collect()
    }
    let [one, other] = ["source.OSMPSensorViewOut", "source.OSMPGroundTruthOut[1]"];
    let [made, third] = ["model.OSMPSensorDataOut", "model.OSMPGroundTruthOut[1]"];
    let of = |name: &str, count| (name.to_owned(), count);
    for fmi in [2, 3] {
        let source = Fixture::source(fmi).with_two_outputs();
        write(at, &source, &Fixture::model(fmi).with_two_outputs());
        let alone =
            ["trace", "record", "-o", "alone.mcap", "--source", "source.fmu", "--steps", "5"];
        let said = run(at, &alone);
        said.expect_code(0);
        // The second has a message in every other step, with the step's number.
        assert_eq!(channels(at, "alone.mcap"), [of(one, 5), of(other, 3)], "FMI {fmi}");
        let cat = ["trace", "cat", "alone.mcap", "--channel", other];
        let seconds: Vec<u64> = run(at, &cat)
            .out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|line| line["message"]["timestamp"]["seconds"].as_str().unwrap().parse().unwrap())
            .collect();
        assert_eq!(seconds, [1, 3, 5]);
        let pair = ["--source", "source.fmu", "--model", "model.fmu", "--steps", "5"];
        let both = [&["trace", "record", "-o", "both.mcap"][..], &pair].concat();
        let connected = ["--connect", "OSMPSensorViewOut=OSMPSensorViewIn"];
        let said = run(at, &both);
        said.expect_code(0);
        let all = [of(one, 5), of(other, 3), of(made, 5), of(third, 3)];
        assert_eq!(channels(at, "both.mcap"), all, "FMI {fmi}");
        // Those that are wanted, by name or by topic, and what is coupled need not be.
        let some = ["--variable", other, "--variable", "OSMPSensorDataOut"];
        let said = run(at, &[&both[..], &connected, &some].concat());
        said.expect_code(0);
        assert_eq!(channels(at, "both.mcap"), [of(other, 3), of(made, 5)]);
        let plain = ["--variable", "OSMPGroundTruthOut[1]"];
        let wanted = [&alone[..3], &["one_gt.osi"], &alone[4..], &plain].concat();
        run(at, &wanted).expect_code(0);
        let bytes = fs::read(at.join("one_gt.osi")).unwrap();
        assert_eq!(messages(&bytes), [[0x12, 2, 8, 1], [0x12, 2, 8, 3], [0x12, 2, 8, 5]]);
        // What an FMU makes of a trace is recorded likewise.
        let only = [&["trace", "record", "-o", "sv.bin"][..], &alone[4..], &["--variable"]];
        run(at, &[&only.concat()[..], &["OSMPSensorViewOut"]].concat());
        fs::rename(at.join("sv.bin"), at.join("its_sv.osi")).unwrap();
        let into = ["trace", "play", "its_sv.osi", "--speed", "max", "--into", "model.fmu"];
        let said = run(at, &[&into[..], &["-o", "played.mcap"]].concat());
        said.expect_code(0);
        assert_eq!(channels(at, "played.mcap"), [of(made, 5), of(third, 3)]);

        let many = [&alone[..3], &["many.osi"], &alone[4..]].concat();
        let there = format!("{one}, {other}");
        refuses(at, &many, &["can hold one variable", &there, "--variable"]);
        let broken = ["--set", "source.fault=broken beside"];
        refuses(
            at,
            &[&alone[..], &broken].concat(),
            &["source.fmu: OSMPGroundTruthOut[1]: has the ", "size ", "at step 1"],
        );
    }
    let wrong = ["trace", "record", "-o", "x.mcap", "--source", "source.fmu", "--steps", "1"];
    refuses(
        at,
        &[&wrong[..], &["--variable", "Nothing"]].concat(),
        &["no binary output Nothing; choose from OSMPSensorViewOut, OSMPGroundTruthOut[1]"],
    );
    let record = ["--record", "run.mcap", "--record-steps", "3"];
    let said = couple::couple(at, &record);
    said.expect_code(0);
    assert_eq!(channels(at, "run.mcap"), [of(one, 3), of(other, 2), of(made, 3), of(third, 2)]);
}

#[test]
fn what_came_before_a_crash_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, &Fixture::source(2), &Fixture::model(2));
    for (fault, code) in [("crash", 2), ("error", 2)] {
        let fault = format!("source.fault={fault}");
        let words = ["trace", "record", "-o", "kept.bin", "--source", "source.fmu", "--steps", "9"];
        let set = ["--set", &fault, "--set", "source.faultStep=3"];
        let said = run(at, &[&words[..], &set].concat());
        assert_eq!(said.code, Some(code), "{fault}: {}", said.err);
        assert!(said.err.contains("the file has everything before that"), "{}", said.err);
        assert_eq!(messages(&fs::read(at.join("kept.bin")).unwrap()).len(), 3, "{fault}");
        fs::remove_file(at.join("kept.bin")).unwrap();
    }
    refuses(
        at,
        &["trace", "record", "-o", "source.fmu", "--source", "source.fmu", "--steps", "1"],
        &["source.fmu", "end the"],
    );
}

#[test]
fn messages_that_are_not_what_they_say_are_counted_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, &Fixture::source(2), &Fixture::model(2));
    for (fault, words) in [
        (
            "garbage",
            "2 of 4 messages differ from its declaration; the first is message 3, at 0.3 s",
        ),
        ("other version", "declares OSI 3.8.0, but its message has 3.7.0"),
    ] {
        for file in ["kept.mcap", "kept_sv.osi", "kept.bin"] {
            let record = ["trace", "record", "-o", file, "--source", "source.fmu", "--steps", "4"];
            let fault = format!("source.fault={fault}");
            let set = ["--set", &fault, "--set", "source.faultStep=2"];
            let said = run(at, &[&record[..], &set].concat());
            assert_eq!(said.code, Some(1), "{fault}, {file}: {}", said.err);
            assert!(said.err.contains(words), "{fault}, {file}: {}", said.err);
            assert!(at.join(file).exists());
            fs::remove_file(at.join(file)).unwrap();
            let any = run(at, &[&record[..], &set, &["--any-version"]].concat());
            assert_eq!(any.code, Some(i32::from(fault.ends_with("garbage"))), "{}", any.err);
        }
    }
    // Of an FMU that fails at its end all is kept.
    let end = ["trace", "record", "-o", "end.bin", "--source", "source.fmu", "--steps", "4"];
    let said = run(at, &[&end[..], &["--set", "source.fault=raise in free"]].concat());
    said.expect_code(2);
    assert!(said.err.contains("source.fmu in FreeInstance"), "{}", said.err);
    assert_eq!(messages(&fs::read(at.join("end.bin")).unwrap()).len(), 4);
}

#[test]
fn who_ends_the_simulation_or_hangs_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let can = "<CoSimulation canHandleVariableCommunicationStepSize=\"true\"";
    let model = |fmi| Fixture::model(fmi).edit("<CoSimulation", can);
    for fmi in [2, 3] {
        write(at, &Fixture::source(fmi), &model(fmi));
        let record =
            ["trace", "record", "-o", "kept.bin", "--source", "source.fmu", "--steps", "9"];
        let faulty = |fault: &str, step: u32| {
            let set = [format!("source.fault={fault}"), format!("source.faultStep={step}")];
            let said = run(at, &[&record[..], &["--set", &set[0], "--set", &set[1]]].concat());
            (said.code, said.err)
        };
        let kept = || messages(&fs::read(at.join("kept.bin")).unwrap()).len();
        let (code, err) = faulty("discard", 4);
        assert_eq!((code, kept()), (Some(0), 4), "{err}");
        assert!(err.contains("ended early: source.fmu: DoStep returned discard"), "{err}");
        // It is terminated and freed all the same, and may fail there.
        let (code, err) = faulty("discard and raise in free", 4);
        assert_eq!((code, kept()), (Some(2), 4), "{err}");
        assert!(err.contains("source.fmu in FreeInstance") && err.contains("ended early"), "{err}");
        // Messages that come after the end are counted.
        trace_of(&at.join("in_sv.osi"), &[100, 200, 300, 400, 500]);
        let into = ["trace", "play", "in_sv.osi", "--speed", "max", "--into", "model.fmu"];
        let end = ["--set", "model.fault=discard", "--set", "model.faultStep=2"];
        let said = run(at, &[&into[..], &end].concat());
        said.expect_code(1);
        let words = "at step 3; 2 messages came after that and were not used";
        assert!(said.err.contains(words), "{}", said.err);
        // Who hangs is waited for as long as the user says.
        let patience = ["--timeout", "1s"];
        let hang = ["--set", "source.fault=hang", "--set", "source.faultStep=2"];
        let said = run(at, &[&record[..], &hang, &patience].concat());
        assert_eq!((said.code, kept()), (Some(2), 2), "{}", said.err);
        let words = "source.fmu in DoStep, step 3: the process hung";
        assert!(said.err.contains(words) && said.err.contains("--timeout"), "{}", said.err);
        let said = run(at, &[&into[..], &["--set", "model.fault=hang"], &patience].concat());
        said.expect_code(2);
        let words = "model.fmu in DoStep, step 1: the process hung";
        assert!(said.err.contains(words), "{}", said.err);
    }
}

/// A trace with messages at these times, in milliseconds.
fn trace_of(path: &Path, times: &[u64]) {
    let mut bytes = Vec::new();
    for time in times {
        let mut stamp = Vec::new();
        for (tag, mut value) in [(8, time / 1000), (16, time % 1000 * 1_000_000)] {
            stamp.push(tag);
            while value > 127 {
                stamp.push(value as u8 | 128);
                value >>= 7;
            }
            stamp.push(value as u8);
        }
        bytes.extend((stamp.len() as u32 + 2).to_le_bytes());
        bytes.extend([0x12, stamp.len() as u8]);
        bytes.extend(stamp);
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn steps_end_at_the_times_of_the_messages() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let log = at.join("steps.txt");
    let log_set = format!("model.log={}", log.display());
    let into = ["trace", "play", "in_sv.osi", "--speed", "max", "--into", "model.fmu"];
    let tell = ["--set", "model.fault=tell steps", "--set", &log_set];
    let play = |times: &[u64], more: &[&str]| {
        trace_of(&at.join("in_sv.osi"), times);
        let said = run(at, &[&into[..], &tell, more].concat());
        (said.code, said.err, fs::read_to_string(&log).unwrap_or_default())
    };
    for fmi in [2, 3] {
        let step = "<DefaultExperiment stepSize=\"0.1\"/>";
        let model = Fixture::model(fmi).edit(step, &step.replace("0.1", "0.02"));
        let can = "<CoSimulation canHandleVariableCommunicationStepSize=\"true\"";
        model.clone().edit("<CoSimulation", can).write(&at.join("model.fmu"));
        let (code, err, steps) = play(&[1_000_100, 1_000_200, 1_000_300], &[]);
        assert_eq!(
            (code, steps.as_str()),
            (Some(0), "1000.08 0.02\n1000.1 0.1\n1000.2 0.1\n"),
            "{err}"
        );
        let (code, err, steps) = play(&[0, 7, 7, 5, 1000], &[]);
        assert_eq!(
            (code, steps.as_str()),
            (Some(1), "-0.02 0.02\n0 0.007\n0.007 0.993\n"),
            "{err}"
        );
        assert!(
            err.contains("2 messages were left out") && err.contains("starts at -0.02 s"),
            "{err}"
        );
        let (_, err, steps) = play(&[100, 200], &["--loops", "2"]);
        assert_eq!(steps, "0.08 0.02\n0.1 0.1\n0.2 0.02\n0.22 0.1\n", "{err}");
        let (code, err, steps) = play(&[100, 130, 160, 400], &["--step-size", "0.1"]);
        assert_eq!(
            (code, steps.as_str()),
            (Some(0), "0 0.1\n0.1 0.1\n0.2 0.1\n0.3 0.1\n"),
            "{err}"
        );
        assert!(err.contains("4 steps of 0.1 s; 1 messages had no step"), "{err}");

        // One that takes steps of one length alone.
        model.write(&at.join("model.fmu"));
        let (code, err, steps) = play(&[100, 200, 300], &[]);
        assert_eq!((code, steps.as_str()), (Some(0), "0 0.1\n0.1 0.1\n0.2 0.1\n"), "{err}");
        let (code, err, _) = play(&[100, 200, 320], &[]);
        assert_eq!(code, Some(2), "{err}");
        for word in ["model.fmu", "canHandleVariable", "at 0.32 s", "--step-size"] {
            assert!(err.contains(word), "no '{word}' in {err}");
        }
        let (code, err, steps) = play(&[100, 200, 320], &["--step-size", "0.1"]);
        assert_eq!((code, steps.lines().count()), (Some(0), 4), "{err}");
    }
    // The start and the end that an FMU proposes.
    let proposes = "<DefaultExperiment startTime=\"5\" stopTime=\"5.3\"";
    Fixture::source(2).edit("<DefaultExperiment", proposes).write(&at.join("source.fmu"));
    let fault = ["--set", "source.fault=tell steps", "--set"];
    let own = format!("source.log={}", log.display());
    let record = ["trace", "record", "-o", "out.bin", "--source", "source.fmu"];
    let said = run(at, &[&record[..], &fault, &[&own]].concat());
    said.expect_code(0);
    assert_eq!(fs::read_to_string(&log).unwrap(), "5 0.1\n5.1 0.1\n5.2 0.1\n");
    Fixture::source(2).write(&at.join("source.fmu"));
    refuses(at, &record, &["source.fmu proposes no stopTime", "--steps N"]);
}

#[test]
fn another_master_plays_and_records() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let made = recorded(at, "made.bin", &fmu(Model::Source, "protobuf", 2), &[], 3);
    for fmi in [2, 3] {
        let jobs = serde_json::json!([{
            "source": fmu(Model::Player, "protobuf", fmi),
            "model": fmu(Model::Recorder, "protobuf", fmi),
            "source_parameters": { "trace": at.join("made.bin") },
            "model_parameters": { "trace": at.join("its.bin") },
            "step": 0.1,
            "steps": 3,
            "out": at,
        }]);
        let python = Python::environment(&build_folder()).expect("Python and FMPy");
        let mut child = Command::new(&python.program)
            .args(["-c", include_str!("cosim/fmpy_master.py")])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("python starts");
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), jobs.to_string().as_bytes())
            .unwrap();
        assert!(child.wait().unwrap().success(), "FMPy, FMI {fmi}");
        assert!(fs::read(at.join("its.bin")).unwrap() == made, "FMI {fmi}");
        fs::remove_file(at.join("its.bin")).unwrap();
    }
}

#[test]
fn a_trace_is_played_into_an_fmu() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let (source, recorder) =
        (fmu(Model::Source, "protobuf", 2), fmu(Model::Recorder, "protobuf", 2));
    let made = recorded(at, "made_sv.osi", &source, &["objects=3"], 4);
    let into =
        ["trace", "play", "made_sv.osi", "--into", &recorder, "--set", "model.trace=./its.bin"];
    let said = run(at, &[&into[..], &["--speed", "max"]].concat());
    said.expect_code(0);
    assert!(said.err.contains("4 messages of "), "{}", said.err);
    assert!(fs::read(at.join("its.bin")).unwrap() == made);
    refuses(at, &[&into[..], &["-o", "x.osi"]].concat(), &["has no output"]);

    // From any container, a part of it, and what the FMU makes is a trace again. This one
    // takes nothing but what its source makes.
    write(at, &Fixture::source(2), &Fixture::model(2));
    recorded(at, "its.mcap", "source.fmu", &[], 4);
    let into = ["trace", "play", "its.mcap", "--speed", "max", "--into", "model.fmu"];
    let said = run(at, &[&into[..], &["--range", "0..2", "-o", "out.bin"]].concat());
    said.expect_code(0);
    assert_eq!(messages(&fs::read(at.join("out.bin")).unwrap()).len(), 2);
    let crash = ["--set", "model.fault=crash", "--set", "model.faultStep=2", "-o", "kept.bin"];
    let said = run(at, &[&into[..], &crash].concat());
    said.expect_code(2);
    assert!(said.err.contains("model.fmu in DoStep, step 3"), "{}", said.err);
    assert_eq!(messages(&fs::read(at.join("kept.bin")).unwrap()).len(), 2);
    // Of another type.
    fs::copy(at.join("made_sv.osi"), at.join("made_gt.osi")).unwrap();
    let wrong = ["trace", "play", "made_gt.osi", "--speed", "max", "--into", "model.fmu"];
    refuses(at, &wrong, &["takes SensorView", "the messages are osi3.GroundTruth"]);
}
