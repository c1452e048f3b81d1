//! `wiregauge packed` as a user has it: traces, clouds and arrays of points become packed
//! fields, and what was packed without loss comes back to the byte.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{project, recording, refuses, run};
use serde_json::Value;
use wiregauge_packed::{Column, Kind, Layout, Message, Root};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A trace of messages that the official OSI package wrote.
fn trace(folder: &Path, name: &str, messages: &[&str]) {
    let mut bytes = Vec::new();
    for message in messages {
        let message = project().join("packed/rust/tests/golden").join(message);
        let message = fs::read(message).unwrap();
        bytes.extend((message.len() as u32).to_le_bytes());
        bytes.extend(message);
    }
    fs::write(folder.join(name), bytes).unwrap();
}

fn cloud(name: &str) -> String {
    let path: PathBuf = project().join("crates/packing/tests/clouds").join(name);
    path.canonicalize().unwrap().display().to_string()
}

/// Topics, types and bytes of all messages of an MCAP file.
fn contents(path: &Path) -> Vec<(String, String, Vec<u8>, Vec<u8>)> {
    let file = fs::read(path).unwrap();
    let messages = mcap::MessageStream::new(&file).unwrap().map(|message| {
        let message = message.unwrap();
        let schema = message.channel.schema.as_ref();
        let name = schema.map_or(String::new(), |schema| schema.name.clone());
        let text = schema.map_or(Vec::new(), |schema| schema.data.to_vec());
        (message.channel.topic.clone(), name, text, message.data.to_vec())
    });
    messages.collect()
}

const VIEWS: [&str; 3] = ["SensorView.full.osi", "SensorView.sparse.osi", "SensorView.regular.osi"];

#[test]
fn traces_of_osi_come_back_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    trace(at, "drive_sv.osi", &VIEWS);
    trace(at, "drive_sd.osi", &["SensorData.detections.osi"]);
    for (input, output) in [("drive_sv.osi", "packed_sv.osi"), ("drive_sd.osi", "packed_sd.osi")] {
        let given = fs::read(at.join(input)).unwrap();
        for presets in [&[][..], &["--preset", "lidar-exact,radar-exact", "--whole-bytes"]] {
            let arguments = [&["packed", "pack", input, "-o", output, "--format", "json"], presets];
            let told = json(&run(at, &arguments.concat()).out);
            assert_ne!(fs::read(at.join(output)).unwrap(), given);
            let columns = told[0]["columns"].as_array().unwrap();
            assert!(columns.len() > 4 && columns.iter().all(|column| column["error"] == 0.0));
            let seen = json(&run(at, &["packed", "info", output, "--format", "json"]).out);
            let seen = seen[0]["channels"][0].clone();
            assert_eq!((&seen["unpacked"], &seen["after"]), (&json("{}"), &told[0]["after"]));
            let sum = |of: &Value, key| -> u64 {
                let columns = of["columns"].as_array().unwrap();
                columns.iter().map(|column| column[key].as_u64().unwrap()).sum()
            };
            assert_eq!(sum(&seen, "bytes"), sum(&told[0], "bytes"), "info counts what pack told");
            assert_eq!(sum(&seen, "plain"), sum(&told[0], "plain"));
            let back = run(at, &["packed", "unpack", output, "-o", &format!("back_{input}")]);
            back.expect_code(0);
            assert_eq!(fs::read(at.join(format!("back_{input}"))).unwrap(), given);
        }
    }
}

#[test]
fn presets_and_resolutions_keep_what_they_promise() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // The sparse view has times that no resolution holds.
    trace(at, "drive_sv.osi", &[VIEWS[0], VIEWS[2]]);
    let pack = ["packed", "pack", "drive_sv.osi", "-o", "small_sv.osi", "--preset", "lidar-1mm"];
    let more = ["--resolution", "doppler_shift=2Hz", "--resolution", "object_id=plain"];
    let said = run(at, &[&pack[..], &more].concat());
    said.expect_code(0);
    for word in ["lidar reflections", "6.67e-12 s", "2 Hz", "largest error", "radar reflections"] {
        assert!(said.out.contains(word), "no '{word}' in {}", said.out);
    }
    let told = json(&run(at, &[&pack[..], &more, &["--format", "json"]].concat()).out);
    let column = |rows: &str, name: &str| {
        let columns = told[0]["columns"].as_array().unwrap();
        let is = |of: &&Value| of["rows_are"] == rows && of["column"] == name;
        columns.iter().find(is).unwrap_or_else(|| panic!("no {name} in {told}")).clone()
    };
    let time = column("lidar reflections", "time_of_flight");
    assert_eq!((&time["unit"], &time["resolution"]), (&"s".into(), &6.67e-12.into()));
    assert!(time["error"].as_f64().unwrap() <= 3.335e-12);
    assert_eq!(column("lidar reflections", "object_id")["reduced"], false);
    assert_eq!(column("lidar reflections", "normal_to_surface.x")["resolution"], Value::Null);
    assert_eq!(column("radar reflections", "time_of_flight")["reduced"], false);
    // What comes back is no further away than was told, and is packed to the same again.
    run(at, &["packed", "unpack", "small_sv.osi", "-o", "back_sv.osi"]);
    let again =
        [&["packed", "pack", "back_sv.osi", "-o", "again_sv.osi"], &pack[5..], &more].concat();
    run(at, &again).expect_code(0);
    let bytes = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(bytes("again_sv.osi"), bytes("small_sv.osi"));
}

#[test]
fn clouds_in_recordings_come_back_with_their_channels() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["ros2.mcap", "ros1.mcap"] {
        let given = cloud(name);
        let packed =
            run(at, &["packed", "pack", &given, "-o", "packed.mcap", "--preset", "lidar-exact"]);
        packed.expect_code(0);
        assert!(packed.out.contains("/points: ") && packed.out.contains("normal[2]"));
        let there = contents(&at.join("packed.mcap"));
        assert!(there.iter().any(|(_, name, ..)| name.ends_with("/CompressedPointCloud2")));
        let info = run(at, &["packed", "info", "packed.mcap", &given]).out;
        assert!(info.contains("exact") && info.contains("points are not packed"), "{info}");
        let back = run(at, &["packed", "unpack", "packed.mcap", "-o", "back.mcap"]);
        back.expect_code(0);
        assert_eq!(contents(&at.join("back.mcap")), contents(Path::new(&given)));
    }
}

#[test]
fn arrays_of_points_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let points = (0..5000).flat_map(|i| {
        let angle = f64::from(i) * 0.003;
        let x = (20.0 * angle.cos()) as f32;
        [&x.to_le_bytes()[..], &(i as f32 * 0.1).to_le_bytes(), &[(i / 100) as u8]].concat()
    });
    let points: Vec<u8> = points.collect();
    fs::write(at.join("scan.bin"), &points).unwrap();
    let made = ["--point", "x:f32,intensity:f32,ring:u8"];
    let pack = [&["packed", "pack", "scan.bin", "-o", "scan.packed"][..], &made].concat();
    for presets in [&[][..], &["--preset", "lidar-exact"]] {
        let told = run(at, &[&pack, presets].concat());
        told.expect_code(0);
        run(at, &["packed", "unpack", "scan.packed", "-o", "back.bin"]);
        assert_eq!(fs::read(at.join("back.bin")).unwrap(), points);
    }
    let told = run(at, &[&pack[..], &["--preset", "lidar-1mm", "--format", "json"]].concat());
    let told = json(&told.out);
    run(at, &["packed", "unpack", "scan.packed", "-o", "back.bin"]);
    let back = fs::read(at.join("back.bin")).unwrap();
    let x = |point: &[u8]| f64::from(f32::from_le_bytes(point[..4].try_into().unwrap()));
    let errors = points.chunks(9).zip(back.chunks(9)).map(|(was, is)| {
        assert_eq!(was[4..], is[4..], "what the preset does not name stays");
        (x(was) - x(is)).abs()
    });
    let largest = errors.fold(0.0, f64::max);
    assert!(largest > 0.0 && largest <= 0.5e-3);
    assert_eq!(told[0]["columns"][0]["error"].as_f64().unwrap(), largest, "as it was told");
    assert!(told[0]["after"].as_u64().unwrap() < 20_000, "{told}");
    let info = run(at, &["packed", "info", "scan.packed"]).out;
    assert!(info.contains("0.001 m"), "{info}");
}

#[test]
fn what_cannot_be_packed_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    trace(at, "drive_sv.osi", &VIEWS);
    let osi = "drive_sv.osi";
    let refused = |arguments: &[&str], words: &[&str]| {
        let (input, rest) = arguments.split_at(1);
        let all = [&["packed", "pack"], input, &["-o"], rest].concat();
        refuses(at, &all, words);
        assert!(!at.join("out_sv.osi").exists() && !at.join("out.packed").exists());
    };
    let out = "out_sv.osi";
    refused(
        &[osi, out, "--resolution", "range=1mm"],
        &["drive_sv.osi has no column range", "time_of_flight"],
    );
    refused(
        &[osi, out, "--resolution", "time_of_flight=1mm"],
        &["drive_sv.osi: byte", "'time_of_flight' has another unit"],
    );
    refused(&[osi, out, "--resolution", "object_id=2"], &["the resolution of column 'object_id'"]);
    refused(
        &[osi, out, "--resolution", "time_of_flight=1e-300"],
        &["'time_of_flight' is 2^51 of its resolution", "time_of_flight=exact"],
    );
    refused(&[osi, "out.jsonl"], &["text cannot hold packed fields", ".mcap or .osi"]);
    refused(&[osi, osi], &["drive_sv.osi"]);
    let empty = recording("osi/20240101T000000Z_sv_380_7362_5_made_up.osi");
    refused(&[&empty, out], &["made_up.osi has nothing to pack"]);
    refuses(at, &["packed", "unpack", osi, "-o", out], &["drive_sv.osi has no packed fields"]);
    for rule in ["x=0", "x=-1", "x=nan", "x"] {
        let said = run(at, &["packed", "pack", osi, "-o", out, "--resolution", rule]);
        said.expect_code(2);
    }
    let said = run(at, &["packed", "pack", osi, "-o", out, "--preset", "lidar-2mm"]);
    assert!(said.err.contains("lidar-1mm, lidar-exact, radar-1cm"), "{}", said.err);

    fs::write(at.join("scan.bin"), [0; 13]).unwrap();
    refused(&["scan.bin", "out.packed", "--point", "x:f32"], &["scan.bin: 13 bytes", "4 bytes"]);
    refused(
        &["scan.bin", "out.packed", "--point", "x:u8", "--resolution", "y=exact"],
        &["scan.bin has no column y; it has x"],
    );
    refused(
        &["scan.bin", "out.packed", "--point", "x:u8", "--resolution", "x=1"],
        &["scan.bin: the resolution of column 'x'"],
    );
    // A field that is damaged, and one that is cut.
    run(at, &["packed", "pack", "scan.bin", "-o", "scan.packed", "--point", "x:u8"]);
    let field = fs::read(at.join("scan.packed")).unwrap();
    fs::write(at.join("cut.packed"), &field[..field.len() - 1]).unwrap();
    refuses(at, &["packed", "unpack", "cut.packed", "-o", "out.bin"], &["cut.packed: column 'x'"]);
    refuses(at, &["packed", "info", "cut.packed"], &["cut.packed: column 'x'"]);
    refuses(at, &["packed", "info", "missing.mcap"], &["missing.mcap"]);
}

#[test]
#[ignore = "wants a recording of a real sensor; WIREGAUGE_RECORDINGS says where"]
fn a_real_scan_comes_back() {
    let folder = std::env::var("WIREGAUGE_RECORDINGS").expect("WIREGAUGE_RECORDINGS");
    let given = Path::new(&folder).join("ouster-os1-128.mcap");
    let given = given.to_str().expect("text");
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    let packed =
        run(at, &["packed", "pack", given, "-o", "packed.mcap", "--preset", "lidar-exact"]);
    packed.expect_code(0);
    run(at, &["packed", "unpack", "packed.mcap", "-o", "back.mcap"]);
    assert_eq!(contents(&at.join("back.mcap")), contents(Path::new(given)));
}

#[test]
fn bags_without_points_are_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for bag in ["ros1/plain.bag", "ros1/lz4.bag", "ros2/iron/iron.db3"] {
        let bag = recording(bag);
        for (arguments, why) in [
            (&["packed", "pack", &bag, "-o", "out.mcap"][..], "has nothing to pack"),
            (&["packed", "unpack", &bag, "-o", "out.mcap"], "has no packed fields"),
            (
                &["trace", "convert", "--points", &bag, "-o", "out.mcap"],
                "has points; messages with",
            ),
            (
                &["trace", "convert", "--points", &bag, "-o", "out.mcap", "--from", "0s"],
                "has points; messages with",
            ),
            (
                &["trace", "convert", "--points", &bag, "-o", "out.parquet"],
                "has points; messages with",
            ),
            (&["codecs", "points", &bag], "has no points"),
            (&["codecs", "points", &bag, "--as-reflections"], "has no points"),
        ] {
            refuses(at, arguments, &[&bag, why]);
            let said = run(at, arguments).err;
            assert_eq!(said.matches(&bag).count(), 1, "{arguments:?}: {said}");
            assert_eq!(fs::read_dir(at).unwrap().count(), 0, "{arguments:?}: something is written");
        }
    }
}

/// Bytes of a Protobuf field whose content is a message or bytes; tags of one byte.
fn nested(content: usize) -> usize {
    1 + varint(content as u64) + content
}

fn varint(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Bytes of so many doubles as fields.
fn doubles(count: usize) -> usize {
    9 * count
}

/// What FMUs' scenes hold (fmus/models/source.hpp), by its size in Protobuf alone.
struct View {
    full: bool,
    objects: usize,
    reflections: usize,
    /// Nanoseconds since the beginning.
    time: u64,
}

impl View {
    fn configuration() -> usize {
        doubles(2) + nested(nested(doubles(3)))
    }

    fn object(&self, id: usize) -> usize {
        let number = |value: u64| 1 + varint(value);
        let kind = if self.full { number(2) } else { 0 };
        let class = if self.full { number(4) + nested(2 * number(2)) } else { 0 };
        let base = 6 * nested(doubles(3));
        nested(number(id as u64)) + kind + nested(class) + nested(nested(doubles(3))) + nested(base)
    }

    /// All but the reflections.
    fn rest(&self) -> usize {
        let number = |value: u64| 1 + varint(value);
        let stamp = number(self.time / 1_000_000_000) + number(self.time % 1_000_000_000);
        let version = if self.full { nested(3 * number(3)) } else { 0 };
        let objects: usize = (10..10 + self.objects).map(|id| nested(self.object(id))).sum();
        let host = nested(number(14));
        let truth = nested(stamp) + host + objects;
        version + nested(stamp) + nested(number(10_000)) + host + nested(truth)
    }

    fn protobuf(&self) -> usize {
        if self.reflections == 0 {
            return self.rest();
        }
        // The lidar's tag takes two bytes.
        let reflections = self.reflections * nested(doubles(2));
        self.rest() + 1 + nested(nested(View::configuration()) + reflections)
    }

    fn packed(&self) -> usize {
        if self.reflections == 0 {
            return self.rest();
        }
        let rest = vec![0; self.rest()];
        let configuration = vec![0; nested(View::configuration())];
        let mut message = Message::new(Root::SensorView, &rest);
        let columns = ["signal_strength", "time_of_flight"].map(Column::f64);
        let rows = self.reflections as u64;
        message.add(Kind::LidarReflections, &columns, rows, &configuration).unwrap();
        message.plan().unwrap()
    }
}

/// As documents write it: 13,273,600.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[test]
fn documents_give_the_sizes_that_come_out() {
    let document = |name: &str| fs::read_to_string(project().join(name)).unwrap();
    let holds = |name: &str, text: &str| {
        assert!(document(name).contains(text), "{name} does not say '{text}'");
    };
    let large = 829_440;
    let mut sizes = document("docs/fmus.md");
    sizes.drain(..sizes.find("Bytes of a SensorView at 0.1 s:").unwrap());
    for (scene, full) in [("full", true), ("reference", false)] {
        for (reflections, objects) in [(large, 10), (0, 10), (0, 200), (0, 500)] {
            let view = View { full, objects, reflections, time: 100_000_000 };
            let begin = format!("| {scene} | {} | {objects} |", grouped(reflections));
            let row = sizes.lines().find(|line| line.starts_with(&begin)).expect(&begin);
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[4], grouped(view.protobuf()), "docs/fmus.md, Protobuf: {row}");
            assert_eq!(cells[8], grouped(view.packed()), "docs/fmus.md, packed: {row}");
        }
    }

    let view = View { full: false, objects: 10, reflections: large, time: 100_000_000 };
    let (protobuf, packed) = (grouped(view.protobuf()), grouped(view.packed()));
    holds("docs/packed-osi.md", &format!("{protobuf} in Protobuf, {packed} packed,"));

    // The trace that is played: 76 messages, each behind its length, the first after a step.
    let of = |size: fn(&View) -> usize| -> usize {
        let message = |step: u64| View {
            full: false,
            objects: 10,
            reflections: 668_052,
            time: 80_000_000 * step,
        };
        (1u64..77).map(|step| 4 + size(&message(step))).sum()
    };
    holds("docs/results.md", &format!("{} B in Protobuf", grouped(of(View::protobuf))));
    holds("docs/results.md", &format!("{} packed;", grouped(of(View::packed))));

    // The field by itself, wherever it begins.
    let columns = ["signal_strength", "time_of_flight"].map(Column::f64);
    let beside = |rows: usize, start| {
        Layout::plan(&columns, rows as u64, start, 64).unwrap().size() - 16 * rows
    };
    let most = (0..64).map(|start| beside(large, start)).max().unwrap();
    holds(
        "docs/packed.md",
        &format!("{} bytes, and the field is at most {most} bytes", grouped(16 * large)),
    );
    holds(
        "docs/packed-osi.md",
        &format!("| {} to {} | 392 as a stream", beside(large, 0), beside(1, 0)),
    );
}

#[test]
fn messages_that_cannot_be_packed_are_left_out_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    trace(at, "drive_sv.osi", &[VIEWS[0], VIEWS[0], VIEWS[0]]);
    let mut bytes = fs::read(at.join("drive_sv.osi")).unwrap();
    // The second message, whose first field has no type that there is.
    let second = 4 + u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    bytes[second + 4] = 0x0f;
    fs::write(at.join("spoilt_sv.osi"), bytes).unwrap();
    let pack = ["packed", "pack", "spoilt_sv.osi", "-o", "packed_sv.osi"];
    refuses(at, &pack, &["leave such messages out by --errors skip"]);
    assert!(!at.join("packed_sv.osi").exists());
    let skip = [&pack[..], &["--errors", "skip", "--format", "json"]].concat();
    let said = run(at, &skip);
    said.expect_code(1);
    assert!(said.err.contains("1 message skipped, as packing failed"), "{}", said.err);
    let told = json(&said.out);
    assert_eq!((&told[0]["messages"], &told[0]["skipped"]), (&2.into(), &1.into()));
    let left = run(at, &["trace", "cat", "packed_sv.osi"]).out;
    assert_eq!(left.lines().count(), 2, "{left}");
}
