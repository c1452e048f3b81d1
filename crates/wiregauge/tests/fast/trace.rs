//! Trace files as a user has them: the commands from one end to the other.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::traces::{detected, field, json, OSI};
use crate::support::{recording, refuses, run, wiregauge};
use serde_json::Value;

#[test]
fn a_trace_goes_to_mcap_and_back_and_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording(OSI));
    let versions = ["--protobuf-version", "3.21.12"];
    let there = [&["trace", "convert", &osi, "-o", "drive_sv.mcap"][..], &versions].concat();
    assert!(run(at, &there).err.contains("5 messages of "));
    let back = run(at, &["trace", "convert", "drive_sv.mcap", "-o", "back_sv.osi"]);
    assert!(back.err.contains("left out, as back_sv.osi cannot hold it: metadata"), "{}", back.err);
    assert_eq!(fs::read(at.join("back_sv.osi")).unwrap(), fs::read(&osi).unwrap());
    let checked = run(at, &["trace", "check", &osi, "drive_sv.mcap", "--format", "json"]);
    checked.expect_code(0);
    let checked = json(&checked.out);
    assert_eq!(checked[0]["findings"], serde_json::json!([]));
    let lacks: Vec<&Value> =
        checked[1]["findings"].as_array().unwrap().iter().map(|found| &found["level"]).collect();
    assert!(!lacks.is_empty() && lacks.iter().all(|level| *level == "warning"), "{checked}");

    let bare = run(at, &["trace", "convert", &osi, "-o", "bare.mcap"]);
    let missing = "protobuf_version is not known and is left out; give it by --protobuf-version";
    assert!(bare.err.contains(missing), "{}", bare.err);
    let checked = run(at, &["trace", "check", "bare.mcap"]);
    checked.expect_code(1);
    assert!(checked.out.contains("error channel.version"), "{}", checked.out);
    let fixed = [&["trace", "check", "bare.mcap", "--fix", "fixed.mcap"][..], &versions].concat();
    let fixed = run(at, &fixed);
    fixed.expect_code(0);
    assert!(fixed.out.contains("fixed.mcap: is a trace file of OSI"), "{}", fixed.out);
}

#[test]
fn static_data_is_repeated_where_it_was_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // As esmini writes them: what is static first, and an object that comes later alone.
    let moving = |second: u8| [field(2, &[8, second]), field(5, &field(1, &[8, 7]))].concat();
    let object = |id: u8| field(4, &field(1, &[8, id]));
    let road = [field(1, &[8, 3]), object(1), field(10, &field(1, &[8, 9])), field(15, b"map")];
    let messages = [
        [road.concat(), moving(0)].concat(),
        moving(1),
        [object(2), moving(2)].concat(),
        moving(3),
    ];
    let bytes = messages.iter().flat_map(|m| [&(m.len() as u32).to_le_bytes()[..], m].concat());
    fs::write(at.join("ground_truth.osi"), bytes.collect::<Vec<u8>>()).unwrap();
    let lines = |path: &str, more: &[&str]| -> Vec<Value> {
        let out = run(at, &[&["trace", "cat", path, "--type", "gt"][..], more].concat()).out;
        out.lines().map(|line| json(line)["message"].clone()).collect()
    };
    let repeated = ["--type", "gt", "--repeat-static"];
    let convert = ["trace", "convert", "ground_truth.osi", "-o", "whole_gt.osi"];
    let said = run(at, &[&convert[..], &repeated].concat());
    assert!(
        said.err.contains(
            "static data is repeated in 3 of 4 messages: lane (3), map_reference (3), \
             stationary_object (4), version (3)"
        ),
        "{}",
        said.err
    );
    let whole = lines("whole_gt.osi", &[]);
    for (at, message) in whole.iter().enumerate() {
        let count = |name: &str| message[name].as_array().map_or(0, Vec::len);
        let told = ["stationaryObject", "lane", "movingObject"].map(count);
        assert_eq!(told, [if at < 2 { 1 } else { 2 }, 1, 1], "{message}");
        assert_eq!(
            (&message["mapReference"], &message["version"]["versionMajor"]),
            (&"map".into(), &3.into())
        );
        assert_eq!(message["timestamp"]["seconds"].as_str().unwrap_or("0"), at.to_string());
    }
    // What comes before a part is known in it, too, and in every container.
    assert_eq!(lines("ground_truth.osi", &["--repeat-static", "--range", "3"]), whole[3..]);
    let cut = ["trace", "cut", "ground_truth.osi", "-o", "part.mcap", "--from", "2s"];
    run(at, &[&cut[..], &repeated].concat()).expect_code(0);
    assert_eq!(lines("part.mcap", &[]), whole[2..]);
    let split = ["trace", "split", "ground_truth.osi", "-o", "parts", "--by-duration", "2s"];
    run(at, &[&split[..], &repeated].concat()).expect_code(0);
    assert_eq!(lines("parts/ground_truth_001.osi", &[]), whole[2..]);
    // Done again nothing is done.
    let again =
        [&["trace", "convert", "whole_gt.osi", "-o", "again_gt.osi"][..], &repeated].concat();
    assert!(run(at, &again).err.contains("nothing is repeated"));
    let [one, other] =
        ["whole_gt.osi", "again_gt.osi"].map(|path| fs::read(at.join(path)).unwrap());
    assert!(one == other);
    // One whose last field is missing is no message that lacks something. How long what is
    // packed is, its reader cannot know before.
    let bytes = fs::read(at.join("ground_truth.osi")).unwrap();
    fs::write(at.join("cut_gt.osi"), &bytes[..bytes.len() - 6]).unwrap();
    assert!(Command::new("xz").arg(at.join("cut_gt.osi")).status().unwrap().success());
    let cut = ["trace", "cat", "cut_gt.osi.xz", "--range", "3"];
    let cut = run(at, &[&cut[..], &repeated].concat());
    assert!(cut.err.contains("cut_gt.osi.xz is truncated after 3 messages"), "{}", cut.err);
    assert_eq!(cut.out, "");
    detected(&at.join("made_sd.osi"), 1);
    let none = ["trace", "convert", "made_sd.osi", "-o", "none.mcap", "--repeat-static"];
    refuses(at, &none, &["made_sd.osi has no osi3.GroundTruth or osi3.SensorView"]);
    assert!(!at.join("none.mcap").exists());
}

#[test]
fn the_rules_are_those_of_the_docs() {
    let rules = run(Path::new("."), &["trace", "check", "--rules"]).out;
    let rules: Vec<String> = rules.lines().map(|line| format!("    {line}")).collect();
    let docs = fs::read_to_string(crate::support::project().join("docs/traces.md")).unwrap();
    assert!(docs.contains(&rules.join("\n")), "docs/traces.md shows: {}", rules.join("\n"));
}

#[test]
fn messages_are_shown_as_text_and_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording(OSI));
    let lines = run(at, &["trace", "cat", &osi]).out;
    assert_eq!(lines.lines().count(), 5);
    let third = run(at, &["trace", "cat", &osi, "--range", "2"]).out;
    assert_eq!(third.trim_end(), lines.lines().nth(2).unwrap());
    let third = json(&third);
    assert_eq!(third["channel"], "SensorView");
    assert_eq!(third["message"]["version"]["versionMajor"], 3);
    let seconds = third["message"]["timestamp"]["seconds"].as_str().unwrap();
    let nanos = third["message"]["timestamp"]["nanos"].as_u64().unwrap_or(0);
    let own = seconds.parse::<u64>().unwrap() * 1_000_000_000 + nanos;
    assert_eq!(third["time"].as_u64().unwrap(), own);
    let raw = wiregauge().args(["trace", "cat", &osi, "--format", "raw"]).output().unwrap();
    assert_eq!(raw.stdout, fs::read(&osi).unwrap());
    let text = run(at, &["trace", "cat", &osi, "--format", "text"]).out;
    assert_eq!(text.matches("\nsensor_id {").count(), 5, "{text}");
    // Its reader goes away after a line, as `head -1` does.
    let mut child = wiregauge()
        .args(["trace", "cat", &osi])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert_eq!(said, "");
}

#[test]
fn parts_are_taken_put_together_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording("osi/zstd.mcap"));
    let told = json(&run(at, &["trace", "info", &osi, "--format", "json"]).out);
    let count = |told: &Value| told[0]["messages"].as_u64().unwrap();
    let of = |path: &str| json(&run(at, &["trace", "info", path, "--format", "json"]).out);
    assert_eq!((count(&told), &told[0]["read"]), (10, &Value::Bool(false)));
    let one = told[0]["channels"][0]["topic"].as_str().unwrap();
    run(at, &["trace", "cut", &osi, "-o", "one.mcap", "--channel", one]);
    assert_eq!(count(&of("one.mcap")), 5);
    run(at, &["trace", "cut", &osi, "-o", "first.mcap", "--to", "0s"]);
    let first = count(&of("first.mcap"));
    assert!((1..10).contains(&first), "{first}");
    let split = run(at, &["trace", "split", &osi, "-o", "parts", "--by-channel"]);
    assert!(split.err.contains("2 parts in parts"), "{}", split.err);
    let mut parts: Vec<String> = fs::read_dir(at.join("parts"))
        .unwrap()
        .map(|part| format!("parts/{}", part.unwrap().file_name().to_string_lossy()))
        .collect();
    parts.sort();
    run(at, &["trace", "merge", &parts[0], &parts[1], "-o", "whole.mcap"]);
    assert_eq!(count(&of("whole.mcap")), 10);
    let table = run(at, &["trace", "info", "--all", "whole.mcap"]).out;
    assert!(table.contains("MCAP") && table.contains("/s, no gap"), "{table}");
    let page = run(at, &["trace", "info", "--all", "whole.mcap", "--page", "whole.html"]);
    assert_eq!((page.code, page.out), (Some(0), table));
    let page = fs::read_to_string(at.join("whole.html")).unwrap();
    assert_eq!(page.matches("<h2>").count(), 3, "the file and its channels");
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 2);
    assert!(page.contains(&format!("<h2>{one}</h2>")) && page.contains("<dt>time</dt>"), "{page}");
    refuses(at, &["trace", "info", "whole.mcap", "--page", "whole.mcap"], &["name another file"]);
    // Of several files times are counted from the first message of all.
    let later = ["trace", "cut", &osi, "-o", "later.mcap", "--from", "0.2s"];
    run(at, &later).expect_code(0);
    let both = ["trace", "merge", &osi, "later.mcap", "-o", "from.mcap", "--from", "0.2s"];
    run(at, &both).expect_code(0);
    assert_eq!(count(&of("from.mcap")), 2 * count(&of("later.mcap")));
    // Two of one type are two channels, unless they are called the same.
    let osi = recording(OSI);
    let again = at.join("again_sv.osi");
    fs::copy(&osi, &again).unwrap();
    run(at, &["trace", "merge", &osi, "again_sv.osi", "-o", "both.mcap"]);
    assert_eq!(of("both.mcap")[0]["channels"].as_array().unwrap().len(), 2);
    run(at, &["trace", "merge", &osi, "again_sv.osi", "-o", "one.mcap", "--channel-name", "view"]);
    assert_eq!(of("one.mcap")[0]["channels"].as_array().unwrap().len(), 1);
}

#[test]
fn messages_are_played_at_their_times_and_not_before() {
    let (osi, began) = (recording(OSI), Instant::now());
    // Five messages 0.1 s apart, twice as fast, three times.
    let arguments = ["trace", "play", &osi, "--speed", "2", "--loops", "3"];
    let played = wiregauge().args(arguments).output().unwrap();
    assert!(began.elapsed() >= Duration::from_millis(600));
    assert_eq!(played.stdout, fs::read(&osi).unwrap().repeat(3));
    let said = String::from_utf8(played.stderr).unwrap();
    assert!(said.starts_with("15 messages of ") && said.contains("(median)"), "{said}");
    let at = tempfile::tempdir().unwrap();
    let fast = run(at.path(), &["trace", "play", &osi, "--speed", "max", "--range", "1..3"]);
    assert!(fast.err.starts_with("2 messages of "), "{}", fast.err);
    for rate in ["0", "-1", "fast"] {
        let refused = run(at.path(), &["trace", "play", &osi, "--speed", rate]);
        refused.expect_code(2);
    }
}

#[test]
fn what_is_whole_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let whole = fs::read(recording(OSI)).unwrap();
    fs::write(at.join("cut_sv.osi"), &whole[..whole.len() - 1]).unwrap();
    let refused =
        &["cut_sv.osi is truncated after 4 messages", "wiregauge trace repair cut_sv.osi"];
    refuses(at, &["trace", "convert", "cut_sv.osi", "-o", "cut.mcap"], refused);
    assert!(!at.join("cut.mcap").exists());
    let repaired = run(at, &["trace", "repair", "cut_sv.osi"]);
    repaired.expect_code(0);
    assert!(repaired.err.contains("at the end are not a whole message"), "{}", repaired.err);
    let saved = fs::read(at.join("cut_sv_repaired.osi")).unwrap();
    assert_eq!(saved, whole[..saved.len()]);
    assert_eq!(run(at, &["trace", "cat", "cut_sv_repaired.osi"]).out.lines().count(), 4);
    assert!(run(at, &["trace", "repair", &recording(OSI), "-o", "a_sv.osi"])
        .err
        .contains("nothing was"));
}

#[test]
fn what_cannot_be_done_is_refused_in_a_line_and_leaves_nothing() {
    let scans = recording("mcap/ros2-zstd.mcap");
    let folder = tempfile::tempdir().unwrap();
    let (at, osi, two) = (folder.path(), recording(OSI), recording("osi/zstd.mcap"));
    fs::copy(&osi, at.join("drive.osi")).unwrap();
    let out = "out.mcap";
    for (arguments, words) in [
        (
            &["convert", "drive.osi", "-o", out][..],
            &["give one such as --type SensorView, or sv"][..],
        ),
        (&["convert", &osi, "-o", "out.bag"], &["end the name in .mcap"]),
        (&["convert", &two, "-o", "out.osi"], &["can hold one channel", "--channel"]),
        (&["convert", &osi, "-o", &osi], &["name another file"]),
        (&["cut", &two, "-o", out, "--channel", "/nix"], &["has no channel /nix; it has"]),
        (
            &["cut", &two, "-o", out, "--from", "@99"],
            &["has the channel, time and number that were asked for"],
        ),
        (&["cat", &scans, "--format", "text"], &["only Protobuf can be shown as text"]),
        (
            &["cut", &scans, "-o", out, "--exclude-channel", "/nix"],
            &["has no channel /nix; it has"],
        ),
        (&["split", &two, "-o", "parts"], &["give one of --by-size"]),
        (&["info", "absent.mcap"], &["cannot read absent.mcap"]),
    ] {
        refuses(at, &[&["trace"][..], arguments].concat(), words);
    }
    for (option, value) in [("--from", "12"), ("--range", "5..5"), ("--chunk", "1 Mibi")] {
        let said = run(at, &["trace", "cut", &two, "-o", out, option, value]);
        assert_eq!(said.code, Some(2), "{option}");
    }
    let left: Vec<_> = fs::read_dir(at).unwrap().map(|left| left.unwrap().file_name()).collect();
    assert_eq!(left, ["drive.osi"]);
}

#[test]
fn bags_are_taken_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, kind) in [
        ("ros1/bz2.bag", "ROS 1 bag"),
        ("ros2/iron/iron.db3", "ROS 2 bag"),
        ("ros2/packed", "ROS 2 bag"),
        ("ros2/jazzy", "ROS 2 bag"),
    ] {
        let input = recording(name);
        let told = run(at, &["trace", "info", &input]).out;
        assert!(told.contains(kind) && told.contains("10 messages"), "{told}");
        run(at, &["trace", "convert", &input, "-o", "all.mcap"]);
        let told = run(at, &["trace", "info", "all.mcap", "--format", "json"]).out;
        let channels = json(&told)[0]["channels"].as_array().unwrap().len();
        assert_eq!(channels, 2, "the one without messages stays: {told}");
        run(at, &["trace", "cut", &input, "-o", "part.mcap", "--range", "2..5"]);
        let cat = run(at, &["trace", "cat", "part.mcap", "--exclude-channel", "/empty"]).out;
        assert_eq!(cat.lines().count(), 3, "{cat}");
        for line in cat.lines() {
            assert!(json(line)["message"]["xs"].is_array(), "{line}");
        }
        run(at, &["trace", "merge", &input, "part.mcap", "-o", "both.mcap"]);
        run(at, &["trace", "split", &input, "-o", "parts", "--by-channel"]);
        let raw = run(at, &["trace", "cat", &input, "--format", "raw", "--range", "0"]);
        raw.expect_code(0);
        let checked = run(at, &["trace", "check", &input]);
        assert!(checked.code == Some(1) && checked.out.contains(kind), "{}", checked.out);
    }
    let idl = ["trace", "cat", &recording("mcap/others.mcap"), "--channel", "/idl"];
    let shown = json(&run(at, &idl).out);
    assert_eq!(shown["message"], serde_json::json!({"x": 3, "y": 4.5}));
    // What is packed as a whole likewise.
    let packed = Command::new("gzip").args(["-c", &recording("ros1/plain.bag")]).output().unwrap();
    fs::write(at.join("a.bag.gz"), &packed.stdout).unwrap();
    let told = run(at, &["trace", "info", "a.bag.gz"]).out;
    assert!(told.contains("ROS 1 bag") && told.contains("by its index; --all reads"), "{told}");
    let kept = run(at, &["trace", "cut", "a.bag.gz", "-o", "ten.mcap", "--from", "0s"]);
    assert!(kept.err.starts_with("10 messages"), "{}", kept.err);
    fs::write(at.join("cut.bag.gz"), &packed.stdout[..packed.stdout.len() - 9]).unwrap();
    refuses(at, &["trace", "info", "cut.bag.gz"], &["'wiregauge trace repair cut.bag.gz'"]);
    let saved = run(at, &["trace", "repair", "cut.bag.gz"]).err;
    assert!(saved.contains("10 messages of") && saved.contains("in cut_repaired.mcap"), "{saved}");
    let cut = recording("ros1/plain.bag");
    let bytes = fs::read(&cut).unwrap();
    fs::write(at.join("cut.bag.active"), &bytes[..5600]).unwrap();
    let told = run(at, &["trace", "convert", "cut.bag.active", "-o", "cut.mcap"]).err;
    assert!(told.contains("whole messages before that: 9"), "{told}");
    // A recording without messages is copied with what else it holds.
    let mut writer = mcap::Writer::new(fs::File::create(at.join("none.mcap")).unwrap()).unwrap();
    writer.add_channel(0, "/none", "json", &Default::default()).unwrap();
    let about = mcap::records::Metadata { name: "drive".into(), metadata: Default::default() };
    writer.write_metadata(&about).unwrap();
    writer.finish().unwrap();
    for verb in [
        &["convert", "none.mcap", "-o", "kept.mcap"][..],
        &["cut", "none.mcap", "-o", "kept.mcap", "--channel", "/none"],
        &["cut", "none.mcap", "-o", "kept.mcap", "--from", "1s"],
        &["merge", "none.mcap", "none.mcap", "-o", "kept.mcap"],
        &["repair", "none.mcap", "-o", "kept.mcap"],
        &["split", "none.mcap", "-o", ".", "--by-duration", "1s"],
    ] {
        let said = run(at, &[&["trace"][..], verb].concat());
        assert_eq!(said.code, Some(0), "{verb:?}: {}", said.err);
        let written = if verb[0] == "split" { "none_000.mcap" } else { "kept.mcap" };
        let told = run(at, &["trace", "info", "--all", written]).out;
        assert!(told.contains("0 messages") && told.contains("/none"), "{verb:?}: {told}");
        assert!(told.contains("metadata  drive"), "{verb:?}: {told}");
    }
    refuses(
        at,
        &["trace", "convert", "none.mcap", "-o", "none.jsonl"],
        &["none.mcap has no messages"],
    );
    // One message that cannot be shown is a line that says so.
    fs::write(at.join("three_sv.osi"), [2, 0, 0, 0, 8, 1, 1, 0, 0, 0, 255, 0, 0, 0, 0]).unwrap();
    let shown = run(at, &["trace", "cat", "three_sv.osi"]);
    let lines: Vec<Value> = shown.out.lines().map(json).collect();
    assert_eq!(lines.len(), 3, "{}{}", shown.out, shown.err);
    assert!(lines[1]["error"].is_string() && lines[2]["message"].is_object(), "{}", shown.out);
}

#[test]
fn merging_tells_of_what_comes_too_late() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // As if two recordings had been put behind one another.
    detected(&at.join("one_sd.osi"), 9);
    let one = fs::read(at.join("one_sd.osi")).unwrap();
    fs::write(at.join("two_sd.osi"), [&one[..], &one].concat()).unwrap();
    let times = |path: &str| -> Vec<u64> {
        let lines = run(at, &["trace", "cat", path]).out;
        lines.lines().map(|line| json(line)["time"].as_u64().unwrap()).collect()
    };
    let merge = ["trace", "merge", "two_sd.osi", "-o", "out.mcap"];
    let said = run(at, &merge);
    said.expect_code(0);
    let sorted = times("out.mcap");
    assert!(sorted.len() == 18 && sorted.is_sorted(), "{sorted:?}");
    let small = [&merge[..], &["--sort-window", "300B"]].concat();
    let said = run(at, &small);
    said.expect_code(1);
    assert!(said.err.contains("come too late for the window"), "{}", said.err);
    assert_eq!(times("out.mcap").len(), 18);
    fs::remove_file(at.join("out.mcap")).unwrap();
    refuses(at, &[&small[..], &["--sorted"]].concat(), &["two_sd.osi: byte ", "--sort-window"]);
    assert!(!at.join("out.mcap").exists());
    // Others keep the order of the file.
    run(at, &["trace", "convert", "two_sd.osi", "-o", "same.mcap"]);
    assert!(!times("same.mcap").is_sorted());
}

#[test]
fn fields_become_tables() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    detected(&at.join("made_sd.osi"), 3);
    let convert = ["trace", "convert", "made_sd.osi", "-o"];
    for (table, fields, wanted) in [
        ("messages.arrow", &["--fields", "timestamp,host_vehicle_location"][..], "3 rows"),
        ("all.parquet", &["--fields", "feature_data"], "3 rows"),
        ("elements.arrow", &["--rows", "feature_data.lidar_sensor.detection"], "6 rows"),
    ] {
        let said = run(at, &[&convert[..], &[table], fields].concat());
        said.expect_code(0);
        assert!(said.err.contains(wanted), "{}", said.err);
        assert!(at.join(table).exists());
    }
    for (table, fields, words) in [
        ("a.arrow", &["--fields", "timestamp.hours"][..], "has no field 'hours'; it has seconds"),
        ("a.arrow", &["--rows", "timestamp"], "timestamp is no list"),
        ("a.mcap", &["--fields", "timestamp"], "end the name in .arrow or .parquet"),
    ] {
        refuses(at, &[&convert[..], &[table], fields].concat(), &[words]);
        assert!(!at.join(table).exists());
    }
}

#[test]
fn points_become_clouds_and_tables() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    detected(&at.join("made_sd.osi"), 3);
    let clouds = run(at, &["trace", "convert", "made_sd.osi", "-o", "clouds.mcap", "--points"]);
    clouds.expect_code(0);
    for words in ["3 clouds of 6 points", "a positive elevation points down here"] {
        assert!(clouds.err.contains(words), "{}", clouds.err);
    }
    let shown = run(at, &["trace", "cat", "clouds.mcap", "--range", "1"]);
    let shown = json(&shown.out);
    assert_eq!(shown["type"], "foxglove.PointCloud");
    assert_eq!(shown["channel"], "SensorData/feature_data.lidar_sensor[0]");
    assert_eq!(shown["message"]["timestamp"], "1970-01-01T00:00:01Z");
    assert_eq!(shown["message"]["fields"][0]["name"], "x");
    let info = |path: &str| json(&run(at, &["trace", "info", path, "--format", "json"]).out);
    assert_eq!(info("clouds.mcap")[0]["metadata"], serde_json::json!([]));
    let kept =
        ["trace", "convert", "made_sd.osi", "-o", "kept.mcap", "--points", "--keep-messages"];
    let kept = run(at, &[&kept[..], &["--elevation", "up", "--every", "2"]].concat());
    assert!(!kept.err.contains("points down here"), "{}", kept.err);
    assert_eq!(info("kept.mcap")[0]["channels"].as_array().unwrap().len(), 2);
    assert_eq!(info("kept.mcap")[0]["messages"], 4);
    // Clouds that were made before are points of a channel of their own.
    let chunks =
        ["trace", "convert", "made_sd.osi", "-o", "chunks.mcap", "--points", "--keep-messages"];
    run(at, &[&chunks[..], &["--chunk", "1B"]].concat());
    let table = ["trace", "convert", "chunks.mcap", "-o", "of_chunks.arrow"];
    let read = run(at, &table).err;
    assert!(read.contains("12 points, one row each\n6 messages of "), "{read}");
    let some = run(at, &[&table[..], &["--channel", "SensorData"]].concat()).err;
    assert!(some.contains("6 points, one row each\n3 messages of "), "{some}");
    let some = run(at, &[&table[..], &["--range", "1..4"]].concat()).err;
    assert!(some.contains("6 points, one row each\n3 messages of "), "{some}");
    for table in ["points.arrow", "points.parquet"] {
        let said = run(at, &["trace", "convert", "made_sd.osi", "-o", table]);
        assert!(said.err.contains("6 points, one row each"), "{}", said.err);
        assert!(at.join(table).exists());
    }
    // What the first reading of the messages says is shown though writing fails.
    detected(&at.join("many_sd.osi"), 120);
    let limit = "trap '' XFSZ; ulimit -f 10; exec \"$0\" trace convert many_sd.osi -o large.arrow";
    let mut shell = crate::support::wiregauge_in("sh");
    shell.args(["-c", limit, env!("CARGO_BIN_EXE_wiregauge")]);
    let full = crate::support::to_said(shell.current_dir(at).output().unwrap());
    full.expect_code(2);
    for words in ["a positive elevation points down here", "cannot write large.arrow"] {
        assert!(full.err.contains(words), "no '{words}' in {}", full.err);
    }
    // The same rows from FlatBuffers, and clouds beside the messages as they are.
    run(at, &["trace", "convert", "made_sd.osi", "-o", "plain.mcap"]);
    let flat = ["--encoding", "flatbuffers-tables"];
    run(at, &[&["trace", "convert", "made_sd.osi", "-o", "flat.mcap"][..], &flat].concat());
    for table in ["arrow", "parquet"] {
        let rows = ["plain", "flat"].map(|from| {
            let (mcap, rows) = (format!("{from}.mcap"), format!("{from}.{table}"));
            run(at, &["trace", "convert", &mcap, "-o", &rows]);
            fs::read(at.join(rows)).unwrap()
        });
        assert!(rows[0] == rows[1], "{table}");
    }
    let kept = run(
        at,
        &["trace", "convert", "flat.mcap", "-o", "kept.mcap", "--points", "--keep-messages"],
    );
    assert!(kept.err.contains("3 clouds of 6 points"), "{}", kept.err);
    let channels = info("kept.mcap")[0]["channels"].clone();
    let encodings: Vec<&Value> =
        channels.as_array().unwrap().iter().map(|channel| &channel["encoding"]).collect();
    assert_eq!(encodings, ["flatbuffer", "protobuf"], "{channels}");

    let osi = recording(OSI);
    for (arguments, words) in [
        (
            &[osi.as_str(), "none.mcap", "--points"][..],
            &["has points; messages with points are"][..],
        ),
        (&[&osi, "none.parquet"], &["has points; messages with points are"]),
        (&["made_sd.osi", "none.osi", "--points"], &["end the name in .mcap for clouds of points"]),
        (
            &["made_sd.osi", "none.arrow", "--points", "--keep-messages"],
            &["leave out --keep-messages"],
        ),
        (
            &["made_sd.osi", "none.parquet", "--from", "9s"],
            &["has the channel, time and number that were asked for"],
        ),
    ] {
        let (input, rest) = arguments.split_at(1);
        refuses(at, &[&["trace", "convert"], input, &["-o"], rest].concat(), words);
    }
    assert!(fs::read_dir(at)
        .unwrap()
        .all(|left| { !left.unwrap().file_name().to_string_lossy().contains("none") }));
}

#[test]
fn messages_are_found_by_an_index_that_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    detected(&at.join("made_sd.osi"), 9);
    let last = ["trace", "cat", "made_sd.osi", "--range", "8"];
    let wanted = run(at, &last);
    let indexed = run(at, &["trace", "index", "made_sd.osi"]);
    assert!(indexed.err.contains("9 messages in made_sd.osi.index"), "{}", indexed.err);
    let found = run(at, &last);
    assert_eq!((found.out, found.err.as_str()), (wanted.out.clone(), wanted.err.as_str()));
    let cut = run(at, &["trace", "cut", "made_sd.osi", "-o", "part_sd.osi", "--from", "7s"]);
    assert!(cut.err.starts_with("2 messages of "), "{}", cut.err);
    detected(&at.join("made_sd.osi"), 10);
    let stale = run(at, &last);
    assert_eq!(stale.out, wanted.out);
    assert!(stale.err.starts_with("made_sd.osi.index is not used: "), "{}", stale.err);
    let refused = &["is MCAP, which has its index inside"];
    refuses(at, &["trace", "index", &recording("osi/zstd.mcap")], refused);
}

#[test]
fn text_is_read_where_it_tells_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let (at, osi) = (folder.path(), recording(OSI));
    run(at, &["trace", "convert", &osi, "-o", "text_sv.txth"]);
    let back = run(at, &["trace", "convert", "text_sv.txth", "-o", "back_sv.osi"]);
    back.expect_code(0);
    assert_eq!(fs::read(at.join("back_sv.osi")).unwrap(), fs::read(&osi).unwrap());
    let versions = ["--protobuf-version", "3.21.12"];
    let there = ["trace", "convert", "text_sv.txth", "-o", "there.mcap", "--from", "0.1s"];
    let there = run(at, &[&there[..], &versions].concat());
    assert!(there.err.starts_with("4 messages of "), "{}", there.err);
    run(at, &["trace", "check", "there.mcap"]).expect_code(0);
    fs::write(at.join("odd_sv.txth"), "timestamp { } version { } version { }").unwrap();
    let refused = &["odd_sv.txth", "byte 26: version is repeated"];
    refuses(at, &["trace", "convert", "odd_sv.txth", "-o", "odd.mcap"], refused);
    refuses(at, &["trace", "info", "odd_sv.txth"], &["wiregauge trace convert"]);
    // What is packed as a whole is a recording to the other commands, too.
    let packed = Command::new("xz").args(["-c", &osi]).output().unwrap();
    fs::write(at.join("a_sv.osi.xz"), packed.stdout).unwrap();
    assert_eq!(run(at, &["schema", "a_sv.osi.xz"]).out, run(at, &["schema", &osi]).out);
}
