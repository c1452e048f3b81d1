//! Parts of recordings that are read apart: each message is in exactly one.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mcap::records::MessageHeader;
use mcap::{Compression, WriteOptions};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use tempfile::TempDir;
use wiregauge_trace::input_splits::FileSplits;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::osi::index_writer;
use wiregauge_trace::read::MessageInfo;
use wiregauge_trace::select::Selection;
use wiregauge_trace::split_finder::find_splits;

/// A message: its channel, its time and the size of its content.
type Planned = (usize, u64, usize);

/// How a file is written.
#[derive(Clone, Copy, Debug)]
struct Form {
    chunk: u64,
    compression: u8,
    has_chunks: bool,
    has_summary: bool,
    has_indexes: bool,
    has_statistics: bool,
}

fn form() -> impl Strategy<Value = Form> {
    let mostly = || prop::bool::weighted(0.85);
    (1u64..2000, 0u8..3, mostly(), mostly(), mostly(), mostly()).prop_map(
        |(chunk, compression, has_chunks, has_summary, has_indexes, has_statistics)| Form {
            chunk,
            compression,
            has_chunks,
            has_summary,
            has_indexes,
            has_statistics,
        },
    )
}

/// Messages whose times go to and fro, so that chunks overlap.
fn messages() -> impl Strategy<Value = Vec<Planned>> {
    prop::collection::vec((0usize..3, 0u64..1000, 0usize..300), 0..60)
}

fn write_mcap(path: &Path, form: Form, messages: &[Planned]) {
    let compression = [None, Some(Compression::Zstd), Some(Compression::Lz4)];
    let mut writer = WriteOptions::new()
        .chunk_size(Some(form.chunk))
        .compression(compression[usize::from(form.compression)])
        .use_chunks(form.has_chunks)
        .emit_summary_records(form.has_summary)
        .emit_message_indexes(form.has_indexes)
        .emit_statistics(form.has_statistics)
        .create(BufWriter::new(fs::File::create(path).unwrap()))
        .unwrap();
    let channels: Vec<u16> = ["/a", "/b", "/c"]
        .iter()
        .map(|topic| writer.add_channel(0, topic, "raw", &Default::default()).unwrap())
        .collect();
    for (number, (channel, time, size)) in messages.iter().enumerate() {
        let header = MessageHeader {
            channel_id: channels[*channel],
            sequence: number as u32,
            log_time: *time,
            publish_time: *time,
        };
        writer.write_to_known_channel(&header, &vec![number as u8; *size]).unwrap();
    }
    writer.finish().unwrap();
}

/// The messages of a file between two positions, with their numbers in the channel.
fn read(path: &Path, selection: &Selection, from: u64, to: u64) -> Vec<(u64, MessageInfo)> {
    let mut reader = open(path, &OpenHints::default()).unwrap();
    let mut cursor = selection.begin(reader.as_mut());
    reader.limit_positions(from, to).unwrap();
    let mut found = Vec::new();
    while let Some(head) = cursor.advance(selection, reader.as_mut()).unwrap() {
        reader.data().unwrap();
        found.push((cursor.count() - 1, head));
    }
    found
}

/// Holds the parts of a file against all of it.
fn check_splits(path: &Path, selection: &Selection, most: u64) -> FileSplits {
    let whole: Vec<MessageInfo> =
        read(path, selection, 0, u64::MAX).into_iter().map(|(_, head)| head).collect();
    // In the whole channel, so that a limit of time changes no number.
    let channel = Selection { from: None, to: None, ..selection.clone() };
    let all = read(path, &channel, 0, u64::MAX);
    let found = find_splits(path, &OpenHints::default(), selection, most).unwrap();
    let mut together = Vec::new();
    for split in &found.splits {
        let part = read(path, selection, split.from, split.to);
        assert!(split.messages.is_none_or(|count| count == part.len() as u64), "{split:?}");
        assert!(!part.is_empty() || split.messages.is_none(), "{split:?} is empty");
        if let Some(first) = split.first {
            for (number, head) in &part {
                assert!(all.contains(&(first + number, *head)), "{split:?}: {number}");
            }
        }
        together.extend(part.into_iter().map(|(_, head)| head));
    }
    assert_eq!(together, whole);
    found
}

fn select(topic: &str, from: Option<u64>, to: Option<u64>) -> Selection {
    let channels = vec![topic.to_owned()];
    Selection {
        channels,
        from: from.map(Into::into),
        to: to.map(Into::into),
        ..Selection::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/seeds/splits.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_message_of_an_mcap_file_is_in_one_split(
        form in form(),
        messages in messages(),
        topic in prop::sample::select(vec!["/a", "/b", "/none", "*"]),
        from in prop::option::of(0u64..1000),
        to in prop::option::of(0u64..1000),
        most in 1u64..3000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.mcap");
        write_mcap(&path, form, &messages);
        check_splits(&path, &select(topic, from, to), most);
    }

    #[test]
    fn each_message_of_an_osi_file_is_in_one_split(
        messages in prop::collection::vec((prop::option::weighted(0.9, 0u64..50), 0usize..200), 0..40),
        is_sorted in any::<bool>(),
        has_index in any::<bool>(),
        from in prop::option::of(0u64..50),
        to in prop::option::of(0u64..50),
        most in 1u64..1500,
    ) {
        let mut messages = messages;
        if is_sorted {
            messages.sort_by_key(|(time, _)| *time);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = write_osi(&folder, &messages);
        if has_index {
            index(&path);
        }
        let seconds = |time: Option<u64>| time.map(|time| time * 1_000_000_000);
        check_splits(&path, &select("SensorView", seconds(from), seconds(to)), most);
    }
}

/// A trace of OSI of messages with these seconds as their time stamps, and what follows it.
fn write_osi(folder: &TempDir, messages: &[(Option<u64>, usize)]) -> PathBuf {
    let mut bytes = Vec::new();
    for (time, size) in messages {
        let stamp = time.map_or(Vec::new(), |time| vec![0x12, 2, 0x08, time as u8]);
        // A field that nobody knows.
        let rest = [&[0xfa, 0x3f, (*size % 128) as u8][..], &vec![0; size % 128]].concat();
        bytes.extend(((stamp.len() + rest.len()) as u32).to_le_bytes());
        bytes.extend([stamp, rest].concat());
    }
    let path = folder.path().join("drive_sv.osi");
    fs::write(&path, bytes).unwrap();
    path
}

fn index(path: &Path) {
    index_writer::write(path, None, &mut |_, _| {}).unwrap();
}

#[test]
fn a_file_is_split_where_its_index_allows_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.mcap");
    let whole = Form {
        chunk: 1000,
        compression: 1,
        has_chunks: true,
        has_summary: true,
        has_indexes: true,
        has_statistics: true,
    };
    let messages: Vec<Planned> = (0..100).map(|number| (0, number, 200)).collect();
    let all = select("/a", None, None);
    write_mcap(&path, whole, &messages);
    let found = check_splits(&path, &all, 2500);
    assert!(found.splits.len() > 5 && found.remark.is_empty(), "{found:?}");
    assert_eq!(found.splits.iter().map(|split| split.messages).sum::<Option<u64>>(), Some(100));
    // Of a narrow time only its chunks.
    let found = check_splits(&path, &select("/a", Some(50), Some(52)), 2500);
    assert!(found.splits.len() == 1 && found.splits[0].size < 2500, "{found:?}");
    assert!(check_splits(&path, &select("/a", Some(500), None), 2500).splits.is_empty());
    assert!(check_splits(&path, &select("/none", None, None), 2500).splits.is_empty());
    for (form, remark) in [
        (Form { has_summary: false, ..whole }, "no summary"),
        (Form { has_statistics: false, ..whole }, "no summary"),
        (Form { has_indexes: false, ..whole }, "its indexes"),
        (Form { has_chunks: false, ..whole }, "its indexes"),
    ] {
        write_mcap(&path, form, &messages);
        let found = check_splits(&path, &all, 2500);
        assert!(found.splits.len() == 1 && found.remark.contains(remark), "{form:?} {found:?}");
    }
    // An index that leads into the middle of a chunk is not believed.
    write_mcap(&path, Form { compression: 0, ..whole }, &messages);
    let mut bytes = fs::read(&path).unwrap();
    let at = check_splits(&path, &all, 2500).splits[1].from;
    let said = at.to_le_bytes();
    let place = bytes.windows(8).rposition(|window| window == said).unwrap();
    bytes[place..place + 8].copy_from_slice(&(at + 1).to_le_bytes());
    // The summary has a checksum: none is right, too.
    let end = bytes.len() - mcap::MAGIC.len();
    bytes[end - 4..end].copy_from_slice(&[0; 4]);
    fs::write(&path, bytes).unwrap();
    let found = find_splits(&path, &OpenHints::default(), &all, 2500).unwrap();
    assert_eq!(found.splits.len(), 1, "{found:?}");
}

#[test]
fn a_truncated_osi_file_is_split_up_to_where_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let messages: Vec<(Option<u64>, usize)> = (0..20).map(|time| (Some(time), 100)).collect();
    let path = write_osi(&folder, &messages);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let found = find_splits(&path, &OpenHints::default(), &select("*", None, None), 500).unwrap();
    assert!(found.splits.len() > 3, "{found:?}");
    let last = found.splits.last().unwrap();
    assert_eq!((last.messages, last.to), (None, u64::MAX));
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.limit_positions(last.from, last.to).unwrap();
    let error = loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it is truncated"),
            Err(error) => break format!("{error:#}"),
        }
    };
    assert!(error.contains("is truncated at byte"), "{error}");
}
