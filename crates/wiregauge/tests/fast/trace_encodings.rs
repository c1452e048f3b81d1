//! Messages of a trace in other encodings, as a user has them: FlatBuffers and packed fields.

use std::fs;
use std::path::Path;

use crate::support::traces::{detected, field, json, OSI};
use crate::support::{recording, refuses, run};
use serde_json::Value;
use wiregauge_packed::{Column, Kind, Message, Root};

#[test]
fn messages_go_to_flatbuffers_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording(OSI));
    for encoding in ["flatbuffers-tables", "flatbuffers-structs"] {
        run(at, &["trace", "convert", &osi, "-o", "flat.mcap", "--encoding", encoding]);
        let told = json(&run(at, &["trace", "info", "flat.mcap", "--format", "json"]).out);
        let channel = &told[0]["channels"][0];
        assert_eq!(channel["encoding"], "flatbuffer", "{told}");
        assert_eq!(channel["type"], "osi3.SensorView", "{told}");
        let back = ["trace", "convert", "flat.mcap", "-o", "back_sv.osi", "--encoding", "protobuf"];
        assert!(run(at, &back).err.contains("5 messages of "));
        let [one, other] = [Path::new(&osi), &at.join("back_sv.osi")].map(|p| fs::read(p).unwrap());
        assert!(one == other, "{encoding}");
    }
    // What players of FlatBuffers take: each message after its length.
    run(at, &["trace", "convert", &osi, "-o", "flat.bin", "--encoding", "flatbuffers-tables"]);
    assert!(fs::metadata(at.join("flat.bin")).unwrap().len() > 0);

    let flat = ["--encoding", "flatbuffers-tables"];
    let to_osi = [&["trace", "convert", &osi, "-o", "flat_sv.osi"][..], &flat].concat();
    refuses(at, &to_osi, &["flat_sv.osi cannot hold FlatBuffers; end the name in .mcap or .bin"]);
    let again = [&["trace", "convert", "flat.mcap", "-o", "twice.mcap"][..], &flat].concat();
    refuses(at, &again, &["no channel of flat.mcap is in Protobuf"]);
    fs::write(at.join("own.fbs"), "table SensorView { version:Version; }\ntable Version { version_major:uint; }\nroot_type SensorView;\n").unwrap();
    let own =
        [&["trace", "convert", &osi, "-o", "own.mcap"][..], &flat, &["--definition", "own.fbs"]];
    refuses(at, &own.concat(), &["the other definition has no field", "--lossy"]);
    assert!(!at.join("own.mcap").exists());
    let told = run(at, &[&own.concat()[..], &["--lossy"]].concat()).err;
    assert!(told.contains("left out, as the other definition has no such field: osi3."), "{told}");
    assert!(told.contains("osi3.InterfaceVersion.version_minor (5)"), "{told}");
    fs::write(at.join("wrong.fbs"), "table {").unwrap();
    let wrong = [&own.concat()[..7], &["--definition", "wrong.fbs"]].concat();
    refuses(at, &wrong, &["wrong.fbs: flatc failed: "]);
    fs::write(at.join("wrong.bfbs"), "no definition at all").unwrap();
    let wrong = [&own.concat()[..7], &["--definition", "wrong.bfbs"]].concat();
    refuses(at, &wrong, &["wrong.bfbs: not a definition; make it with 'flatc --schema --binary'"]);
}

#[test]
fn detections_become_packed_fields_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    detected(&at.join("made_sd.osi"), 3);
    let convert = |from: &str, to: &str, more: &[&str]| {
        let said =
            run(at, &[&["trace", "convert", from, "-o", to, "--encoding"][..], more].concat());
        assert_eq!(said.code, Some(0), "{from} to {to}: {}", said.err);
        said.err
    };
    let pack = |from: &str, to: &str, more: &[&str]| {
        let said = run(at, &[&["packed", "pack", from, "-o", to][..], more].concat());
        assert_eq!(said.code, Some(0), "{from} to {to}: {}", said.err);
        said.out
    };
    let is_as_made = |path: &str| {
        let [one, other] = ["made_sd.osi", path].map(|path| fs::read(at.join(path)).unwrap());
        assert!(one == other, "{path}");
    };
    // Lossless unless asked for, from any encoding into any, and the same to the byte.
    let told = pack("made_sd.osi", "packed.mcap", &[]);
    for words in ["3 messages, ", "lidar detections", "position.distance", "plain"] {
        assert!(told.contains(words), "no '{words}' in {told}");
    }
    let in_it = json(&run(at, &["packed", "info", "packed.mcap", "--format", "json"]).out);
    let of = |told: &Value, key: &str| told[0]["channels"][0]["columns"][0][key].clone();
    assert_eq!((of(&in_it, "rows"), of(&in_it, "reduced")), (6.into(), false.into()), "{in_it}");
    convert("packed.mcap", "back_sd.osi", &["protobuf"]);
    is_as_made("back_sd.osi");
    convert("packed.mcap", "flat.mcap", &["flatbuffers-tables"]);
    convert("flat.mcap", "back_sd.osi", &["protobuf"]);
    is_as_made("back_sd.osi");
    pack("flat.mcap", "again.mcap", &["--preset", "lidar-exact"]);
    let in_it = json(&run(at, &["packed", "info", "again.mcap", "--format", "json"]).out);
    assert_eq!((of(&in_it, "rows"), of(&in_it, "reduced")), (6.into(), true.into()), "{in_it}");
    convert("again.mcap", "back_sd.osi", &["protobuf"]);
    is_as_made("back_sd.osi");
    // What narrowing costs is told: 3 and 4.5 m in steps of 4.
    let coarse = ["--resolution", "position.distance=4m"];
    let told = pack("made_sd.osi", "coarse_sd.osi", &coarse);
    assert!(told.contains("4 m") && told.contains("1 m"), "{told}");

    let osi = recording(OSI);
    let fails = |verb: &[&str], from: &str, to: &str, more: &[&str], words: &[&str]| {
        refuses(at, &[verb, &[from, "-o", to], more].concat(), words);
        assert!(!at.join(to).exists(), "{to}");
    };
    let (pack, convert) = (["packed", "pack"], ["trace", "convert"]);
    let none = "it has no reflections, detections or points, or they are";
    fails(&pack, &osi, "none.mcap", &[], &[none]);
    fails(&pack, "made_sd.osi", "none.txth", &[], &["text cannot hold packed fields"]);
    let wrong = ["--resolution", "elevation=1mm"];
    let told = ["has no column elevation; it has position.distance"];
    fails(&pack, "made_sd.osi", "none.mcap", &wrong, &told);
    let protobuf = ["--encoding", "protobuf"];
    let told = ["is in FlatBuffers or has packed fields"];
    fails(&convert, "made_sd.osi", "none.mcap", &protobuf, &told);
    let points = ["--encoding", "protobuf", "--points"];
    fails(&convert, "made_sd.osi", "none.mcap", &points, &["leave out --encoding"]);
}

#[test]
fn flatbuffers_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording(OSI));
    let flat = ["--encoding", "flatbuffers-structs"];
    run(at, &[&["trace", "convert", &osi, "-o", "flat.mcap"][..], &flat].concat());
    let shown = run(at, &["trace", "cat", "flat.mcap", "--range", "2"]).out;
    let third = json(&run(at, &["trace", "cat", &osi, "--range", "2"]).out);
    let shown = json(&shown);
    assert_eq!(shown["type"], "osi3.SensorView");
    assert_eq!((&shown["time"], &shown["channel"]), (&third["time"], &third["channel"]));
    let (shown, third) = (&shown["message"], &third["message"]);
    assert_eq!(shown["version"]["version_major"], third["version"]["versionMajor"]);
    let seconds = third["timestamp"]["seconds"].as_str().unwrap();
    assert_eq!(shown["timestamp"]["seconds"].as_i64(), seconds.parse().ok());
    // As text it is what it is in Protobuf.
    let text = |path: &str| run(at, &["trace", "cat", path, "--format", "text"]);
    run(at, &["trace", "convert", &osi, "-o", "tables.mcap", "--encoding", "flatbuffers-tables"]);
    assert_eq!(text("tables.mcap").out, text(&osi).out);
    run(at, &["trace", "convert", "flat.mcap", "-o", "flat.jsonl"]).expect_code(0);
    assert_eq!(fs::read_to_string(at.join("flat.jsonl")).unwrap().lines().count(), 5);

    // What is not of OSI is shown by its own definition, and has none in Protobuf.
    fs::write(
        at.join("own.fbs"),
        "enum Part:uint { Lower, Upper = 3 }\ntable View { version:Version; }\n\
         table Version { version_major:Part; }\nroot_type View;\n",
    )
    .unwrap();
    let own = ["--encoding", "flatbuffers-tables", "--definition", "own.fbs", "--lossy"];
    run(at, &[&["trace", "convert", &osi, "-o", "own.mcap"][..], &own].concat());
    let line = run(at, &["trace", "cat", "own.mcap", "--range", "0"]).out;
    assert!(line.contains(r#""type":"View""#), "{line}");
    assert!(line.ends_with("\"message\":{\"version\":{\"version_major\":\"Upper\"}}}\n"), "{line}");
    refuses(
        at,
        &["trace", "cat", "own.mcap", "--format", "text"],
        &["channel SensorView", "in 'flatbuffer'", "--exclude-channel"],
    );
}

#[test]
fn packed_fields_are_shown_as_what_is_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    detected(&at.join("made_sd.osi"), 3);
    let preset = ["--preset", "lidar-exact"];
    run(at, &[&["packed", "pack", "made_sd.osi", "-o", "packed_sd.osi"][..], &preset].concat());
    let lines = |path: &str| run(at, &["trace", "cat", path]).out;
    let parsed = |text: &str| text.lines().map(json).collect::<Vec<Value>>();
    let (made, mut shown) = (parsed(&lines("made_sd.osi")), parsed(&lines("packed_sd.osi")));
    // It is as large as it is in the file.
    let in_file = fs::metadata(at.join("packed_sd.osi")).unwrap().len() / 3 - 4;
    for (made, shown) in made.iter().zip(&mut shown) {
        assert_eq!(shown["size"], in_file);
        shown["size"] = made["size"].clone();
    }
    assert_eq!(made, shown);
    let distance = "/message/featureData/lidarSensor/0/detection/1/position/distance";
    assert_eq!(shown[2].pointer(distance), Some(&4.5.into()), "{}", shown[2]);
    run(at, &["trace", "convert", "packed_sd.osi", "-o", "packed.jsonl"]);
    assert_eq!(fs::read_to_string(at.join("packed.jsonl")).unwrap(), lines("packed_sd.osi"));
    for path in ["made", "packed"] {
        run(at, &["trace", "convert", &format!("{path}_sd.osi"), "-o", &format!("{path}.txth")]);
    }
    let [made, shown] = ["made.txth", "packed.txth"].map(|path| fs::read(at.join(path)).unwrap());
    assert!(made == shown, "{}", String::from_utf8_lossy(&shown));

    // What OSI has no field for is told.
    let version = field(1, &[8, 3]);
    let columns = [Column::f64("position.distance"), Column::f64("own")];
    let mut message = Message::new(Root::SensorData, &version);
    message.add(Kind::LidarDetections, &columns, 1, &[]).unwrap();
    let mut bytes = vec![0; message.plan().unwrap()];
    let mut tables = message.write(&mut bytes).unwrap();
    tables[0].columns()[0].sink::<f64>().unwrap().fill([7.0]);
    let framed = [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat();
    fs::write(at.join("own_sd.osi"), framed).unwrap();
    let told = run(at, &["trace", "cat", "own_sd.osi"]);
    let row = r#""detection":[{"position":{"distance":7.0}}]"#;
    assert!(told.out.contains(row), "{}{}", told.out, told.err);
    assert!(
        told.err.contains("left out of 1 messages") && told.err.contains("'own'"),
        "{}",
        told.err
    );
}
