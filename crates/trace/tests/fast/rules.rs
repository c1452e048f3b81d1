//! Every rule for trace files can be broken alone, and what is written here keeps them.

use std::fs;
use std::path::Path;

use crate::common::traces::{descriptors, view, write_mcap, McapSpec, CALLED, CHANNEL};
use mcap::WriteOptions;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::check::check;
use wiregauge_trace::copy::{copy, CopySource};
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::parser::extract_definition;
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, OsiTimeWriter, OutputFormat, Writer};

/// The ids of the rules that a file does not keep.
fn broken(path: &Path) -> Vec<&'static str> {
    let checked =
        check(path, &OpenHints::default(), &|| Ok(descriptors()), &mut |_, _| {}).unwrap();
    checked.findings.list().iter().map(|finding| finding.rule).collect()
}

#[test]
fn each_rule_for_mcap_can_be_broken_alone() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(broken(&write_mcap(&folder, CALLED, &McapSpec::default())), [""; 0]);
    let without = |key: &str| {
        let mut trace = McapSpec::default().trace;
        trace[0].remove(key);
        McapSpec { trace, ..McapSpec::default() }
    };
    let with = |key: &str, value: &str| {
        let mut trace = McapSpec::default().trace;
        trace[0].insert(key.into(), value.into());
        McapSpec { trace, ..McapSpec::default() }
    };
    let channel = |key: &str, value: Option<&str>| {
        let mut channel = McapSpec::default().channel;
        match value {
            Some(value) => drop(channel.insert(format!("{CHANNEL}{key}"), value.into())),
            None => drop(channel.remove(&format!("{CHANNEL}{key}"))),
        }
        McapSpec { channel, ..McapSpec::default() }
    };
    let options = |change: fn(WriteOptions) -> WriteOptions| McapSpec {
        options: change(McapSpec::default().options),
        ..McapSpec::default()
    };
    let message = |message| McapSpec { message, ..McapSpec::default() };
    for (rule, file) in [
        ("mcap.chunks", options(|options| options.use_chunks(false))),
        (
            "mcap.summary",
            options(|options| options.emit_summary_records(false).emit_summary_offsets(false)),
        ),
        ("mcap.index", options(|options| options.emit_chunk_indexes(false))),
        ("channel.summary", options(|options| options.repeat_channels(false))),
        ("trace.metadata", McapSpec { trace: Vec::new(), ..McapSpec::default() }),
        ("trace.entry", without("min_protobuf_version")),
        ("trace.version", with("version", "3.8")),
        ("trace.date", with("zero_time", "2024-06-03 15:23")),
        ("trace.recommended", without("authors")),
        ("message.version", with("max_osi_version", "3.7.9")),
        ("channel.version", channel("protobuf_version", None)),
        ("channel.description", channel("description", None)),
        ("trace.reserved", channel("colour", Some("red"))),
        ("channel.encoding", McapSpec { encoding: "flatbuffer", ..McapSpec::default() }),
        ("schema.data", McapSpec { schema: vec![0xff], ..McapSpec::default() }),
        ("message.parses", message(|n| ([view(n * 10), vec![0xf8; 3]].concat(), 0, 0))),
        ("message.version-absent", message(|n| (view(n * 10)[6..].to_vec(), 0, 0))),
        ("message.time-absent", message(|n| (view(n * 10)[..6].to_vec(), 0, 0))),
        ("message.publish-time", message(|n| (view(n * 10), 0, 1))),
        ("message.sequence", message(|n| (view(n * 10), (n % 7) as u32, 0))),
    ] {
        let broken = broken(&write_mcap(&folder, CALLED, &file));
        assert!(broken.contains(&rule), "{rule}: {broken:?}");
        // What belongs together is told together, and nothing else.
        assert!(broken.len() <= 2 || rule == "mcap.summary", "{rule}: {broken:?}");
    }
    let other = McapSpec { name: "example.View", ..McapSpec::default() };
    let part = extract_definition(&descriptors(), "osi3.Timestamp").unwrap().data;
    let part = McapSpec { name: "osi3.Timestamp", schema: part, ..McapSpec::default() };
    let twice = McapSpec { topics: ["/a", "/a", "/b"], ..McapSpec::default() };
    for (rule, file) in
        [("channel.osi", other), ("schema.top-level", part), ("channel.topic", twice)]
    {
        let broken = broken(&write_mcap(&folder, CALLED, &file));
        assert!(broken.contains(&rule) && broken.len() <= 2, "{rule}: {broken:?}");
    }
    // What no library writes.
    let bare = options(|options| options.calculate_summary_section_crc(false).compression(None));
    let path = write_mcap(&folder, CALLED, &bare);
    let bytes = fs::read(&path).unwrap();
    let mut wrong = bytes.clone();
    // The statistics begin with the number of messages.
    let is_it = |window: &[u8]| window[0] == 0x0b && window[9..] == 300u64.to_le_bytes();
    let at = bytes.windows(17).rposition(is_it).unwrap() + 9;
    wrong[at] ^= 1;
    fs::write(&path, &wrong).unwrap();
    assert_eq!(self::broken(&path), ["mcap.statistics"]);
    let packed = fs::read(write_mcap(&folder, CALLED, &McapSpec::default())).unwrap();
    let at = packed.windows(4).position(|window| window == b"zstd").unwrap();
    let mut wrong = packed.clone();
    wrong[at..at + 4].copy_from_slice(b"brot");
    fs::write(&path, &wrong).unwrap();
    assert!(self::broken(&path).contains(&"mcap.compression"));
    fs::write(&path, &packed[..packed.len() - 1]).unwrap();
    assert!(self::broken(&path).contains(&"file.whole"));
    // Numbers that count the messages of the file, or of each channel, are no gaps.
    assert_eq!(
        broken(&write_mcap(&folder, CALLED, &message(|n| (view(n * 10), n as u32, 0)))),
        [""; 0]
    );
    let of_channel = message(|n| (view(n * 10), (n / 3) as u32, 0));
    assert_eq!(broken(&write_mcap(&folder, CALLED, &of_channel)), [""; 0]);
    for (rule, name) in [
        ("name.pattern", "drive_sv.mcap"),
        ("name.type", "20240101T000000Z_gt_380_32112_100_made.mcap"),
        ("name.version", "20240101T000000Z_sv_370_32112_100_made.mcap"),
        ("name.frames", "20240101T000000Z_sv_380_32112_99_made.mcap"),
    ] {
        assert_eq!(broken(&write_mcap(&folder, name, &McapSpec::default())), [rule]);
    }
}

#[test]
fn a_log_time_and_an_order_that_are_not_right_are_told() {
    let folder = tempfile::tempdir().unwrap();
    // The messages' own times go back, those of the container do not.
    let off = McapSpec { message: |n| (view(5_000 - n * 10), 0, 0), ..McapSpec::default() };
    let broken = broken(&write_mcap(&folder, CALLED, &off));
    assert_eq!(broken, ["message.publish-time", "message.log-time"]);
    let osi = folder.path().join("20240101T000000Z_sv_380_32112_2_made.osi");
    let message = |time| [&[view(time).len() as u8, 0, 0, 0][..], &view(time)].concat();
    fs::write(&osi, [message(20), message(10)].concat()).unwrap();
    assert_eq!(self::broken(&osi), ["time.order"]);
}

#[test]
fn what_is_written_here_keeps_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = McapSpec {
        trace: Vec::new(),
        options: McapSpec::default().options.use_chunks(false).emit_summary_records(false),
        message: |n| (view(n * 10), 0, 3),
        ..McapSpec::default()
    };
    let input = write_mcap(&folder, "in.mcap", &wrong);
    let output = folder.path().join(CALLED);
    let mut reader = open(&input, &OpenHints::default()).unwrap();
    let all = Selection::default();
    let mut sources = [CopySource::new("in", reader.as_mut(), &all).unwrap()];
    let draft = Target::open(&output, &[&input]).unwrap().start_draft().unwrap();
    let inner = OutputFormat::Mcap.begin(draft, ChunkOptions::default()).unwrap();
    let mut writer: Box<dyn Writer> = Box::new(OsiTimeWriter::new(inner));
    let mut described = |_: usize, channel: &Channel| Ok(channel.clone());
    copy(&mut sources, writer.as_mut(), &mut described, &mut |_, _| {}).unwrap();
    writer.finish().unwrap();
    assert_eq!(broken(&output), ["trace.recommended"]);
}
