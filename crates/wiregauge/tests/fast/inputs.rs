//! What comes in: definitions and recordings that are found, and those that are
//! refused before they take time or memory.

use std::fs;
use std::path::Path;

use crate::support::{project, refuses, run};

#[test]
fn what_would_not_fit_into_memory_is_refused_with_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.msg"), "float64[] points\n").unwrap();
    fs::write(at.join("b.msg"), "int32[4000000000] x\nint32[4000000000] y\n").unwrap();
    let huge = "points=100000000000";
    for command in [
        &["codecs", "--length", huge][..],
        &["codecs", "--message", "a.msg", "--length", huge],
        &["codecs", "--message", "a.msg", "--sweep", "points=1,100000000000"],
        &["codecs", "--message", "a.msg", "--length", "points=1000000", "--messages", "4000000000"],
        &["codecs", "--message", "b.msg"],
    ] {
        refuses(at, command, &["would take", "half of the free memory"]);
    }
}

#[test]
fn pipes_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["pipe.msg", "pipe.mcap", "imported.proto"] {
        let made = std::process::Command::new("mkfifo").arg(at.join(name)).status().unwrap();
        assert!(made.success());
    }
    refuses(at, &["codecs", "--message", "pipe.msg"], &["pipe.msg is a pipe", "regular file"]);
    refuses(at, &["codecs", "--input", "pipe.mcap"], &["pipe.mcap is a pipe", "regular file"]);
    refuses(at, &["codecs", "--input", "/dev/zero"], &["/dev/zero is a device"]);
    let text = "syntax = \"proto3\"; import \"imported.proto\"; message A { int32 x = 1; }";
    fs::write(at.join("a.proto"), text).unwrap();
    refuses(at, &["codecs", "--message", "a.proto"], &["a.proto", "imported.proto is a pipe"]);
}

#[test]
fn a_recording_of_nothing_has_no_topics() {
    let folder = tempfile::tempdir().unwrap();
    // A whole bag, whose index begins at its end.
    let bag = |index: u64| {
        let field = |name: &str, value: &[u8]| {
            let length = (name.len() + 1 + value.len()) as u32;
            [&length.to_le_bytes()[..], name.as_bytes(), b"=", value].concat()
        };
        let index = field("index_pos", &index.to_le_bytes());
        let header = [index, field("op", &[3]), field("conn_count", &[0; 4])].concat();
        let length = (header.len() as u32).to_le_bytes();
        [&b"#ROSBAG V2.0\n"[..], &length, &header, &[0; 4]].concat()
    };
    fs::write(folder.path().join("empty.bag"), bag(bag(0).len() as u64)).unwrap();
    let generate = ["generate", "--language", "python", "--wire", "cdr", "-o", "out"];
    for verb in [&["codecs", "--input"][..], &["schema"], &generate] {
        let words = [verb, &["empty.bag"]].concat();
        refuses(folder.path(), &words, &["empty.bag has no topics"]);
    }
    refuses(folder.path(), &["trace", "cat", "empty.bag"], &["empty.bag has no messages"]);
    // Nor is a file of no bytes one of another kind.
    for file in ["none.bag", "none.mcap", "none.db3"] {
        fs::write(folder.path().join(file), "").unwrap();
        refuses(folder.path(), &["trace", "info", file], &[file, "is empty"]);
    }
}

#[test]
fn services_and_actions_are_several_messages() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (file, text) in [
        ("p/msg/Point.msg", "float32 x\n"),
        ("p/srv/Add.srv", "Point[] points\n---\nint64 sum\n"),
        ("p/action/Go.action", "Point to\n---\nbool done\n---\nfloat32 left\n"),
    ] {
        fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
        fs::write(at.join(file), text).unwrap();
    }
    refuses(
        at,
        &["schema", "p/srv/Add.srv"],
        &["defines a service", ":Add_Request or Add_Response"],
    );
    refuses(at, &["codecs", "--message", "p/action/Go.action"], &["defines an action", ":Go_Goal"]);
    refuses(at, &["schema", "p/srv/Add.srv:Sum"], &["no type Sum; it has p/srv/Add_Request"]);
    for (words, wanted) in [
        ("p/srv/Add.srv:Add_Request", "p/srv/Add_Request"),
        ("p/srv/Add.srv:Add_Event", "service_msgs/msg/ServiceEventInfo"),
        ("p/action/Go.action:Go_SendGoal_Request", "unique_identifier_msgs/msg/UUID"),
        ("p:Add_Response", "p/srv/Add_Response"),
        ("p:p/action/Go_Feedback", "p/action/Go_Feedback"),
    ] {
        let said = run(at, &["schema", words]);
        assert!(said.code == Some(0) && said.out.contains(wanted), "{}{}", said.out, said.err);
    }
    for definition in ["p", "p/srv/Add.srv"] {
        let words = ["generate", definition, "--language=rust", "--wire=cdr", "-o", "out"];
        let said = run(at, &[&words[..], &["--module", "m"]].concat());
        said.expect_code(0);
        let text = fs::read_to_string(at.join("out/m.rs")).unwrap();
        for name in ["AddRequest", "AddResponse"] {
            assert!(text.contains(&format!("pub struct {name} ")), "{definition}: {text}");
        }
        assert_eq!(text.contains("pub struct GoFeedback "), definition == "p");
    }
}

#[test]
fn packages_are_found_in_folders_and_by_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir_all(at.join("far/share/geometry_msgs/msg")).unwrap();
    fs::write(at.join("far/share/geometry_msgs/msg/Point.msg"), "float64 x\n").unwrap();
    fs::write(at.join("scan.msg"), "geometry_msgs/Point[] points\n").unwrap();
    refuses(at, &["schema", "scan.msg"], &["unknown type Point", "-I"]);
    refuses(at, &["schema", "scan.msg", "-I", "nowhere"], &["nowhere is not a folder"]);
    let shown = run(at, &["schema", "scan.msg", "-I", "far"]);
    shown.expect_code(0);
    assert!(shown.out.contains("geometry_msgs/msg/Point"), "{}", shown.out);
    let said = crate::support::to_said(
        std::process::Command::new(env!("CARGO_BIN_EXE_wiregauge"))
            .args(["schema", "scan.msg"])
            .env("AMENT_PREFIX_PATH", at.join("far"))
            .current_dir(at)
            .output()
            .unwrap(),
    );
    said.expect_code(0);
}

#[test]
fn recordings_show_their_schemas() {
    let at: &Path = &project().join("crates/trace/tests/recordings");
    for (name, field) in [
        ("ros1/lz4.bag:/scan", "xs"),
        ("ros2/iron:/scan", "xs"),
        ("ros2/packed/packed.db3:/scan", "xs"),
        ("ros2/jazzy:/scan", "xs"),
        ("mcap/ros1.mcap:/scan", "xs"),
        ("mcap/ros2-zstd.mcap:/cloud", "point_step"),
        ("mcap/protobuf.mcap:/all", "maybe"),
        ("osi/zstd.mcap:/SensorView", "global_ground_truth"),
    ] {
        let shown = run(at, &["schema", name]);
        assert_eq!(shown.code, Some(0), "{name}: {}", shown.err);
        assert!(shown.out.contains(field), "{name}: {}", shown.out);
    }
    refuses(
        at,
        &["schema", "ros1/plain.bag"],
        &["several topics; give one as ros1/plain.bag:NAME: /scan, /empty"],
    );
    refuses(at, &["schema", "mcap/others.mcap:/json"], &["/json", "'jsonschema'"]);
}

#[test]
fn a_trace_of_osi_is_of_the_type_that_its_name_tells() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("20240618T122540Z_tu_380_32112_0_x.osi"), "").unwrap();
    let shown = run(at, &["schema", "20240618T122540Z_tu_380_32112_0_x.osi"]);
    shown.expect_code(0);
    assert!(shown.out.contains("osi3.TrafficUpdate"), "{}", shown.out);
    let made_up = crate::support::recording("osi/20240101T000000Z_sv_380_7362_5_made_up.osi");
    let shown = run(at, &["schema", &made_up]);
    shown.expect_code(0);
    assert!(shown.out.contains("osi3.SensorView"), "{}", shown.out);
    fs::write(at.join("x.osi"), "").unwrap();
    refuses(at, &["codecs", "--input", "x.osi"], &["--channel", "osi3.SensorView"]);
    refuses(
        at,
        &["codecs", "--input", "x.osi", "--channel", "sv"],
        &["osi3.SensorView has no messages"],
    );
    fs::copy(&made_up, at.join("drive.osi")).unwrap();
    let points: &[&str] = &["trace", "convert", "--points", "drive.osi", "-o"];
    for words in [
        &["trace", "convert", "drive.osi", "-o", "out.mcap"][..],
        &["trace", "cut", "drive.osi", "-o", "out.mcap", "--from", "1s"],
        &["trace", "repair", "drive.osi", "-o", "out.mcap"],
        &["trace", "cat", "drive.osi"],
        &["trace", "check", "drive.osi"],
        &[points, &["out.mcap"]].concat(),
        &[points, &["out.arrow"]].concat(),
        &["schema", "drive.osi"],
        &["codecs", "--input", "drive.osi"],
        &["trace", "play", "drive.osi", "--over", "dds", "--topic", "x"],
    ] {
        let wanted = "wiregauge: drive.osi: the file name has no type of messages; give one ";
        refuses(at, words, &[wanted]);
        assert!(!at.join("out.mcap").exists() && !at.join("out.arrow").exists());
    }
    // One without types needs none.
    run(at, &["trace", "cut", "drive.osi", "-o", "part.osi", "--from", "0s"]).expect_code(0);
    let checked = run(at, &["trace", "check", "drive.osi", "--type", "gt"]);
    checked.expect_code(1);
    let advice = "corrects what can be derived";
    assert!(!checked.err.contains(advice), "{}", checked.err);
    let bag = project().join("crates/trace/tests/recordings/ros1/lz4.bag");
    let checked = run(at, &["trace", "check", &bag.display().to_string()]);
    checked.expect_code(1);
    assert!(!checked.err.contains(advice), "{}", checked.err);
    run(at, &["trace", "convert", &made_up, "-o", "drive.mcap"]).expect_code(0);
    let checked = run(at, &["trace", "check", "drive.mcap"]);
    assert_eq!(checked.code == Some(1), checked.err.contains(advice), "{}", checked.err);
}

#[test]
fn a_channel_of_mcap_may_have_neither_topic_nor_schema() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let record = |kind: u8, parts: &[&[u8]]| {
        let content = parts.concat();
        [&[kind][..], &(content.len() as u64).to_le_bytes(), &content].concat()
    };
    let magic = b"\x89MCAP0\r\n";
    // Its number, no schema, no topic, its encoding, no metadata.
    let channel = record(4, &[&[1, 0, 0, 0], &[0; 4], b"\x04\0\0\0json", &[0; 4]]);
    let message = record(5, &[&[1, 0], &[0; 20], b"{}"]);
    let messages =
        [&magic[..], &record(1, &[&[0; 8]]), &channel, &message, &record(15, &[&[0; 4]])].concat();
    let footer = record(2, &[&(messages.len() as u64).to_le_bytes(), &[0; 12]]);
    fs::write(at.join("bare.mcap"), [&messages, &channel, &footer, &magic[..]].concat()).unwrap();
    let converted = run(at, &["trace", "convert", "bare.mcap", "-o", "out.mcap"]);
    converted.expect_code(0);
    assert!(converted.err.contains("1 message of 2 bytes"), "{}", converted.err);
}
