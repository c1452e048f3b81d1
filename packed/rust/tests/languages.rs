//! Rust, C++ and Python write the same bytes, read the same values, and refuse
//! the same messages; and OSI's own package carries the field through.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::tools::{interpreter, TOOLS};
use common::{
    blessing, compare, compile, damage, dump, encoding, format_precision, golden, root, run,
    verdicts, Random, GOLDEN, HERE,
};
use wiregauge_packed::{
    pack, unpack, Column, Element, Fault, Kind, Layout, Message, PackOptions, Root, UnpackOptions,
};
use wiregauge_testkit::seeds::Seeds;

/// The encodings of a golden message's reduced form.
fn reduced(name: &str) -> &'static [&'static str] {
    match name {
        "SensorView.full" => &["signal_strength=f64@0.1", "object_id=u64@exact"],
        "SensorView.sparse" => &["signal_strength=f64@0.25", "object_id=u16@exact"],
        "SensorView.regular" => &["signal_strength=f64@0.1", "time_of_flight=f64@6.67e-12"],
        _ => &[
            "position.distance=f64@0.001",
            "position.azimuth=f64@exact",
            "classification=i32@exact",
            "height=i16,0,0.001@exact",
        ],
    }
}

#[test]
fn the_messages_are_what_the_osi_package_makes() {
    let folder = tempfile::tempdir().unwrap();
    run(interpreter().arg(golden("make.py")).arg(folder.path()));
    for (name, _) in GOLDEN {
        let name = format!("{name}.osi");
        compare(&name, &fs::read(folder.path().join(&name)).unwrap());
    }
}

#[test]
fn all_languages_pack_and_unpack_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (name, encodings) in GOLDEN {
        let message = fs::read(golden(&format!("{name}.osi"))).unwrap();
        let forms = [("packed", &[][..]), ("narrow", encodings), ("reduced", reduced(name))];
        for (form, encodings) in forms {
            let options = PackOptions {
                encodings: encodings.iter().map(|text| encoding(text)).collect(),
                ..PackOptions::default()
            };
            let (packed, precision) = pack(root(name), &message, &options).expect(name);
            let file = format!("{name}.{form}");
            compare(&file, &packed);
            let plain = unpack(root(name), &packed, &UnpackOptions::default()).expect(name);
            assert!(plain == message || form != "packed", "{file}: Rust");
            for (tool, command) in TOOLS {
                let given = name.split('.').next().unwrap();
                let from = golden(&format!("{name}.osi"));
                let costs =
                    run(command().args(["pack", given]).arg(from).arg(&out).args(encodings));
                assert_eq!(costs, format_precision(&precision), "{file}: {tool}");
                assert!(fs::read(&out).unwrap() == packed, "{file}: {tool} packs other bytes");
                run(command().args(["unpack", given]).arg(golden(&file)).arg(&out));
                assert!(fs::read(&out).unwrap() == plain, "{file}: {tool} unpacks other bytes");
            }
        }
    }
}

#[test]
fn all_languages_refuse_to_saturate() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (name, given, fault) in [
        ("SensorView.full", "object_id=u8", Fault::Value),
        ("SensorView.full", "object_id=i64", Fault::Value),
        ("SensorView.full", "object_id=f64", Fault::Element),
        ("SensorView.full", "object_id=u64,0,1", Fault::Element),
        ("SensorView.full", "doppler_shift=u8", Fault::Value),
        ("SensorView.regular", "signal_strength=u16", Fault::Value),
        ("SensorView.regular", "signal_strength=i8,0,0.1", Fault::Value),
        ("SensorView.regular", "signal_strength=f32,0,1", Fault::Scale),
        ("SensorView.regular", "signal_strength=none", Fault::Element),
        ("SensorView.sparse", "time_of_flight=f32", Fault::Value),
        ("SensorView.sparse", "time_of_flight=f16", Fault::Value),
        ("SensorView.sparse", "signal_strength=i64", Fault::Value),
        ("SensorData.detections", "beam_id=u8", Fault::Value),
        ("SensorData.detections", "beam_id=u64@1", Fault::Element),
        ("SensorView.regular", "signal_strength=f32@0.1", Fault::Element),
        ("SensorView.regular", "signal_strength=f64@0", Fault::Resolution),
        ("SensorView.regular", "signal_strength=f64@-1", Fault::Resolution),
        ("SensorView.regular", "signal_strength=f64@nan", Fault::Resolution),
        ("SensorView.sparse", "time_of_flight=f64@1e-12", Fault::Steps),
    ] {
        let message = fs::read(golden(&format!("{name}.osi"))).unwrap();
        let options = PackOptions { encodings: vec![encoding(given)], ..PackOptions::default() };
        let packed = pack(root(name), &message, &options).map(|_| ());
        let error = packed.expect_err(given);
        assert_eq!(error.fault, fault, "{name} {given}");
        for (tool, command) in TOOLS {
            let kind = name.split('.').next().unwrap();
            let mut command = command();
            command.args(["pack", kind]).arg(golden(&format!("{name}.osi"))).arg(&out).arg(given);
            let output = command.output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(!output.status.success(), "{tool} packs {name} with {given}");
            assert!(told.trim_end().ends_with(&error.to_string()), "{tool}: {told}{error}");
            assert!(!out.exists(), "{tool} writes what it refuses");
        }
    }
}

#[test]
fn all_languages_read_the_same_values() {
    for (name, _) in GOLDEN {
        for form in ["packed", "narrow", "reduced", "osi"] {
            let file = golden(&format!("{name}.{form}"));
            let expected = dump(root(name), &fs::read(&file).unwrap());
            for (tool, command) in TOOLS {
                let given = name.split('.').next().unwrap();
                let read = run(command().args(["dump", given]).arg(&file));
                assert_eq!(read, expected, "{name}.{form}: {tool}");
            }
        }
    }
}

/// The message that each language writes in place.
fn written() -> Vec<u8> {
    let columns = [
        Column::f64("signal_strength"),
        Column::new("time_of_flight", Element::F32),
        Column::new("object_id", Element::U32).optional(),
        Column::new("example.org/gain", Element::U16).scaled(-10.0, 0.5),
    ];
    let mut message = Message::new(Root::SensorView, &[0x1a, 2, 8, 7]);
    let configuration = [0x0a, 2, 0x30, 10];
    message.add(Kind::LidarReflections, &columns, 10, &configuration).unwrap();
    let snr = [Column::new("snr", Element::F16)];
    message.add(Kind::RadarReflections, &snr, 3, &[]).unwrap();
    let mut out = vec![0xee; message.plan().unwrap()];
    let mut tables = message.write(&mut out).unwrap();
    let mut columns = tables[0].columns();
    columns[0].sink::<f64>().unwrap().fill((0..10).map(|row| -1.5 * f64::from(row)));
    let mut time = columns[1].sink::<f32>().unwrap();
    for row in 0..10 {
        time.set(row, 0.25 * row as f32);
    }
    columns[2].sink().unwrap().fill((0..10u32).map(|row| if row % 2 == 0 { row } else { 0 }));
    for row in 0..10 {
        if row % 2 == 0 {
            columns[2].set_present(row);
        }
        assert!(columns[3].set(row, row as f64));
    }
    for row in 0..3 {
        assert!(tables[1].columns()[0].set(row, 0.1 * row as f64));
    }
    out
}

#[test]
fn all_languages_write_the_same_in_place() {
    compare("SensorView.written.packed", &written());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (tool, command) in TOOLS {
        run(command().arg("write").arg(&out));
        assert!(fs::read(&out).unwrap() == written(), "{tool} writes other bytes");
    }
}

/// A message with two packed fields, of which the last counts.
fn twice(root: Root) -> Option<Vec<u8>> {
    let mut field = vec![0; 200];
    let mut layout = Layout::plan(&[Column::f64("doppler_shift")], 2, 0, 8).unwrap();
    field.truncate(layout.size());
    layout.write(&mut field).unwrap();
    let head = [0x9a, 0xc5, 0x19, field.len() as u8];
    let first = [&head[..], &field].concat();
    layout = Layout::plan(&[Column::f64("time_of_flight")], 2, 0, 8).unwrap();
    field = vec![0; layout.size()];
    layout.write(&mut field).unwrap();
    let head = [0x9a, 0xc5, 0x19, field.len() as u8];
    let view = [&first, &head[..], &field].concat();
    let size = [view.len() as u8 | 0x80, (view.len() >> 7) as u8];
    let message = [&[0xd2, 0x3e], &size[..], &view].concat();
    let plain = unpack(root, &message, &UnpackOptions::default()).unwrap();
    let row = [0x12, 9, 0x11, 0, 0, 0, 0, 0, 0, 0, 0];
    if root == Root::SensorView {
        assert_eq!(plain, [&[0xd2, 0x3e, 22][..], &row, &row].concat());
    }
    Some(message)
}

/// Sound fields that OSI cannot hold, which damage rarely makes.
fn refused(root: Root) -> Vec<Vec<u8>> {
    let kind = match root {
        Root::SensorView => Kind::LidarReflections,
        Root::SensorData => Kind::LidarDetections,
    };
    let columns = [
        Column::f64("object_id"),
        Column::new("object_id", Element::I8),
        Column::new("object_id", Element::U8).scaled(0.0, 1.0),
        Column::new("object_id", Element::None),
        Column::new("object_id?", Element::U8),
        Column::new("object_id?", Element::None),
        Column::new("classification", Element::U64),
        Column::new("classification", Element::I64).optional(),
        Column::new("position.distance", Element::F16),
    ];
    let messages = columns.map(|column| {
        let mut message = Message::new(root, &[]);
        message.add(kind, &[column], 3, &[]).unwrap();
        let mut out = vec![0; message.plan().unwrap()];
        let mut tables = message.write(&mut out).unwrap();
        let mut columns = tables[0].columns();
        if columns[0].column().element != Element::None {
            let value = if columns[0].column().scale.is_some() { 7.0 } else { 5e9 };
            assert!(columns[0].set(1, value) || columns[0].set(1, -7.0) || columns[0].set(1, 7.0));
        }
        columns[0].set_present(1);
        out
    });
    messages.into()
}

#[test]
fn all_languages_refuse_the_same_damaged_messages() {
    if blessing() {
        return;
    }
    // The damage of this seed reaches everything that can be refused in bytes.
    let all = verdicts_on_damage(20);
    let faults = "truncated magic version header limit name range overlap scale wire unknown \
                  foreign element value";
    for fault in faults.split_whitespace() {
        assert!(all.contains(&format!(" {fault} ")), "no damage ended in {fault}");
    }
    let name = "all_languages_refuse_the_same_damaged_messages";
    Seeds::new(common::HERE, "languages", name).try_each(1, |seed| drop(verdicts_on_damage(seed)));
}

/// What all languages say to messages damaged by this seed.
fn verdicts_on_damage(seed: u64) -> String {
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("messages");
    let mut all = String::new();
    for (name, _) in GOLDEN.iter().chain(&[("SensorView.written", &[][..])]) {
        let forms =
            ["osi", "packed", "narrow", "reduced"].map(|form| golden(&format!("{name}.{form}")));
        let mut expected = Vec::new();
        let mut stream = Vec::new();
        for message in forms.iter().flat_map(fs::read) {
            for _ in 0..150 {
                let message = damage(&message, &mut random);
                stream.extend_from_slice(&(message.len() as u32).to_le_bytes());
                stream.extend_from_slice(&message);
                expected.extend(verdicts(root(name), &message).lines().map(String::from));
            }
        }
        for message in refused(root(name)).into_iter().chain(twice(root(name))) {
            stream.extend_from_slice(&(message.len() as u32).to_le_bytes());
            stream.extend_from_slice(&message);
            expected.extend(verdicts(root(name), &message).lines().map(String::from));
        }
        fs::write(&file, stream).unwrap();
        for (tool, command) in TOOLS {
            let given = name.split('.').next().unwrap();
            let told = run(command().args(["verdicts", given]).arg(&file));
            let told: Vec<&str> = told.lines().collect();
            for (at, (told, expected)) in told.iter().zip(&expected).enumerate() {
                assert_eq!(told, expected, "{tool} on {name}, line {at}");
            }
            assert_eq!(told.len(), expected.len(), "{tool} on {name}");
        }
        all.extend(expected.iter().map(|line| format!("{line}\n")));
    }
    all
}

/// A plain OSI tool reads a packed message, finds all other fields as they
/// were, and keeps the packed field when it writes the message again.
#[test]
fn plain_osi_tools_carry_the_field_through() {
    let text = r#"
import sys
from osi3.osi_sensordata_pb2 import SensorData
from osi3.osi_sensorview_pb2 import SensorView
from wiregauge.packed import FIELD, KINDS, find

def holders(message):
    views = [message] if isinstance(message, SensorView) else list(message.sensor_view)
    out = [(one, "reflection") for view in views for one in view.lidar_sensor_view]
    out += [(one, "reflection") for view in views for one in view.radar_sensor_view]
    if isinstance(message, SensorData):
        out += [(one, "detection") for one in message.feature_data.lidar_sensor]
        out += [(one, "detection") for one in message.feature_data.radar_sensor]
    return out

kind, plain, packed = sys.argv[1:]
before = open(plain, "rb").read()
data = open(packed, "rb").read()
message = {"SensorView": SensorView, "SensorData": SensorData}[kind]()
message.ParseFromString(data)
assert any(found.field is not None for found in find(kind, data))
for holder, rows in holders(message):
    assert FIELD not in holder.DESCRIPTOR.fields_by_number, "the number is OSI's own"
    assert len(getattr(holder, rows)) == 0

# Written again: every packed field is there to the byte.
again = message.SerializeToString(deterministic=True)
fields = lambda data: sorted((one.kind, bytes(one.field or b"")) for one in find(kind, data))
assert fields(again) == fields(data), "the packed field got lost"

# All else is as it was before the rows were packed.
expected = type(message).FromString(before)
for holder, rows in holders(expected):
    holder.ClearField(rows)
message.DiscardUnknownFields()
assert message == expected, "other fields differ"
"#;
    for (name, _) in GOLDEN {
        let given = name.split('.').next().unwrap();
        let (plain, packed) = (golden(&format!("{name}.osi")), golden(&format!("{name}.packed")));
        run(interpreter().args(["-c", text, given]).arg(plain).arg(packed));
    }
}

/// OSI's own descriptors name the columns, and none of its fields has none.
#[test]
fn every_field_of_osi_has_its_column() {
    let text = r#"
from osi3.osi_featuredata_pb2 import LidarDetection, RadarDetection
from osi3.osi_sensorview_pb2 import LidarSensorView, RadarSensorView
from wiregauge.packed.leaf import LEAVES

messages = {
    "lidar_reflections": LidarSensorView.Reflection,
    "radar_reflections": RadarSensorView.Reflection,
    "lidar_detections": LidarDetection,
    "radar_detections": RadarDetection,
}
def kind(field):
    if field.enum_type:
        return "enumeration"
    return {field.TYPE_DOUBLE: "number", field.TYPE_UINT64: "identifier"}[field.type]

for name, message in messages.items():
    expected = set()
    for field in message.DESCRIPTOR.fields:
        inner = field.message_type.fields if field.message_type else []
        for each in inner:
            column = field.name if field.message_type.name == "Identifier" else f"{field.name}.{each.name}"
            expected.add((column, field.number, each.number, kind(each)))
        if not inner:
            expected.add((field.name, field.number, 0, kind(field)))
    assert set(LEAVES[name]) == expected, (name, set(LEAVES[name]) ^ expected)
    print(name, *(leaf.name for leaf in LEAVES[name]))
"#;
    let told = run(interpreter().args(["-c", text]));
    // The specification has a line for each.
    let page = fs::read_to_string(Path::new(HERE).join("../../docs/packed.md")).unwrap();
    for column in told.split_whitespace().filter(|word| !word.ends_with("ions")) {
        let last = column.split('.').next_back().unwrap();
        let named = page.contains(&format!("`{column}`"))
            || (page.contains(&format!("`{}.", column.split('.').next().unwrap()))
                && page.contains(&format!("`.{last}`")));
        assert!(named, "docs/packed.md does not name {column}");
    }
}

/// The examples of packed/README.md in the other languages.
#[test]
fn the_examples_of_the_readme_run() {
    let page = fs::read_to_string(Path::new(HERE).join("../README.md")).unwrap();
    let example = |language: &str| {
        let (_, code) = page.split_once(&format!("\n```{language}\n")).expect("an example");
        code.split_once("```").expect("its end").0.to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("readme.cpp");
    fs::write(&source, example("cpp")).unwrap();
    let program = compile("readme_example", &[source.to_str().unwrap()]);
    for mut command in [Command::new(program), interpreter()] {
        command.args(["-c", &example("python")]);
        let printed = run(&mut command);
        assert!(page.contains(&format!("Both print `{}`", printed.trim())), "{printed}");
    }
}
