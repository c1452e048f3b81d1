//! What is written: parts of a file, several files as one, and what is wrong with a file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::common::traces::{all_of, copy_to, faults, texts, while_some, write_mcap, McapSpec};
use crate::common::{error, recording};
use mcap::records::MessageHeader;
use mcap::write::Metadata;
use mcap::{Attachment, WriteOptions};
use tempfile::TempDir;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::{copy, CopySource};
use wiregauge_trace::extras::FileExtras;
use wiregauge_trace::info::read_info;
use wiregauge_trace::mcap::summary::Summary;
use wiregauge_trace::message_sorter::SortOptions;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::read::FileHeader;
use wiregauge_trace::select::Selection;
use wiregauge_trace::split::{split, PartFactory, SplitLimit};
use wiregauge_trace::write::{ChunkOptions, Compression, OutputFormat, Writer};

/// Makes parts as files of a folder.
struct Parts<'f>(&'f Path, Vec<PathBuf>);

impl PartFactory for Parts<'_> {
    fn begin_part(&mut self, number: usize, _: Option<&str>) -> anyhow::Result<Box<dyn Writer>> {
        let path = self.0.join(format!("part{number}.mcap"));
        self.1.push(path.clone());
        let draft = Target::open(&path, &[])?.start_draft()?;
        OutputFormat::Mcap.begin(draft, ChunkOptions::default())
    }

    fn describe(&mut self, channel: &Channel) -> anyhow::Result<Channel> {
        Ok(channel.clone())
    }
}

/// A file with everything that a file may hold beside messages: metadata of one name, in one
/// of them twice, attachments, a profile, and a channel without messages.
fn furnished(folder: &TempDir, name: &str, has_summary: bool) -> PathBuf {
    let path = folder.path().join(name);
    let options = WriteOptions::new().chunk_size(Some(200)).profile("ros2").library("a; b");
    let options = options.emit_summary_records(has_summary);
    let mut out = options.create(File::create(&path).unwrap()).unwrap();
    let schema = out.add_schema("p/N", "ros2msg", b"uint8 n").unwrap();
    let other = out.add_schema("p/M", "ros2msg", b"uint8 m").unwrap();
    let about = texts(&[("qos", "reliable")]);
    let channels = ["/a", "/b"].map(|topic| out.add_channel(schema, topic, "cdr", &about).unwrap());
    out.add_channel(other, "/none", "cdr", &about).unwrap();
    let said = |road: &str| {
        let (name, metadata) = ("drive".to_owned(), texts(&[("road", road)]));
        Metadata { name, metadata }
    };
    out.write_metadata(&said("A 9")).unwrap();
    for n in 0..100u64 {
        let channel_id = channels[n as usize % 2];
        let header = MessageHeader { channel_id, sequence: n as u32, log_time: n, publish_time: n };
        out.write_to_known_channel(&header, &[n as u8; 20]).unwrap();
        if n % 40 == 0 {
            let (name, media_type) = ("map".to_owned(), "text/plain".to_owned());
            let data = format!("map {}", n / 80).into_bytes().into();
            out.attach(&Attachment { log_time: 1, create_time: 2, name, media_type, data })
                .unwrap();
        }
    }
    out.write_metadata(&said("A 8")).unwrap();
    out.write_metadata(&said("A 9")).unwrap();
    out.finish().unwrap();
    path
}

/// What a file holds beside its messages, in some order.
fn read_extras(path: &Path) -> (Vec<Channel>, Vec<String>, FileHeader) {
    let mut reader = open(path, &OpenHints::default()).unwrap();
    while_some(reader.as_mut()).unwrap();
    let mut channels: Vec<Channel> = reader.channels().values().cloned().collect();
    channels.sort_by(|a, b| a.topic.cmp(&b.topic));
    let metadata = reader.metadata().iter();
    let mut rest: Vec<String> =
        metadata.map(|one| format!("{} {:?}", one.name, one.entries)).collect();
    for one in reader.attachments() {
        let mut text = String::new();
        one.content().read_to_string(&mut text).unwrap();
        rest.push(format!("{} {} {:?} {text}", one.name, one.media_type, one.times));
    }
    rest.sort();
    (channels, rest, reader.file_header())
}

fn parts_of(folder: &TempDir, input: &Path, by: SplitLimit) -> Vec<PathBuf> {
    let mut parts = Parts(folder.path(), Vec::new());
    let mut reader = open(input, &OpenHints::default()).unwrap();
    let all = Selection::default();
    let rest = FileExtras::read(open(input, &OpenHints::default()).unwrap().as_mut()).unwrap();
    let made = split(reader.as_mut(), &rest, &all, by, &mut parts, &mut |_, _| {}).unwrap();
    assert_eq!(made, parts.1.len());
    for part in &parts.1 {
        assert_eq!(faults(part), Vec::<String>::new());
    }
    parts.1
}

#[test]
fn what_is_split_and_merged_is_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_mcap(&folder, "in.mcap", &McapSpec::default());
    let merged = folder.path().join("merged.mcap");
    let all = Selection::default();
    for (by, wanted) in
        [(SplitLimit::Channel, 3), (SplitLimit::Duration(1_000), 3), (SplitLimit::Size(500), 7)]
    {
        let parts = parts_of(&folder, &input, by);
        assert_eq!(parts.len(), wanted, "{by:?}");
        let paths: Vec<&Path> = parts.iter().map(PathBuf::as_path).collect();
        copy_to(&paths, &all, &merged, ChunkOptions::default());
        assert_eq!(all_of(&merged), all_of(&input), "{by:?}");
        assert_eq!(read_extras(&merged).0, read_extras(&input).0, "{by:?}");
        let said =
            read_info(&merged, &OpenHints::default(), true, &mut |_, _| {}).unwrap().metadata;
        assert_eq!(said[0].entries["road"], "A 9");
    }
    // With all that a file holds beside messages, whether an index tells it or not.
    for has_summary in [true, false] {
        let input = furnished(&folder, "in.mcap", has_summary);
        let (channels, wanted, _) = read_extras(&input);
        assert_eq!((channels.len(), wanted.len()), (3, 6));
        for by in [
            SplitLimit::Channel,
            SplitLimit::Duration(30),
            SplitLimit::Size(500),
            SplitLimit::Size(1 << 20),
        ] {
            let parts = parts_of(&folder, &input, by);
            for part in &parts {
                let (_, here, about) = read_extras(part);
                let is_said = |one: &&String| one.starts_with("drive");
                assert_eq!(here.iter().filter(is_said).count(), 3, "{by:?}: {here:?}");
                assert_eq!(about.profile, "ros2");
            }
            let paths: Vec<&Path> = parts.iter().rev().map(PathBuf::as_path).collect();
            copy_to(&paths, &all, &merged, ChunkOptions::default());
            assert_eq!(all_of(&merged), all_of(&input), "{by:?}");
            let (own, here, about) = read_extras(&merged);
            assert_eq!((own, here), (channels.clone(), wanted.clone()), "{by:?}");
            assert_eq!(about.profile, "ros2");
        }
    }
}

#[test]
fn what_a_file_says_of_itself_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let input = furnished(&folder, "in.mcap", true);
    let (out, all) = (folder.path().join("out.mcap"), Selection::default());
    let ours = concat!("wiregauge ", env!("CARGO_PKG_VERSION"));
    let part = Selection { from: Some(30), to: Some(40), ..Selection::default() };
    for selection in [&all, &part] {
        copy_to(&[&input], selection, &out, ChunkOptions::default());
        let (channels, wanted, _) = read_extras(&input);
        let (own, here, about) = read_extras(&out);
        assert_eq!((own, here), (channels, wanted));
        assert_eq!((&*about.profile, &*about.library), ("ros2", &*format!("{ours}; a; b")));
    }
    // It does not grow from copy to copy, and nothing is there twice.
    let again = folder.path().join("again.mcap");
    copy_to(&[&out, &input], &all, &again, ChunkOptions::default());
    let (_, here, about) = read_extras(&again);
    assert_eq!((here, about.library), (read_extras(&input).1, format!("{ours}; a; b")));
    // A profile is that of all inputs.
    let other = write_mcap(&folder, "other.mcap", &McapSpec::default());
    copy_to(&[&input, &other], &all, &again, ChunkOptions::default());
    assert_eq!(read_extras(&again).2.profile, "");
    for (bag, profile) in [("ros1/plain.bag", "ros1"), ("ros2/iron/iron.db3", "ros2")] {
        copy_to(&[&recording(bag)], &all, &again, ChunkOptions::default());
        assert_eq!(read_extras(&again).2.profile, profile);
    }
}

/// A file of messages at these times, each of so many bytes, which are its number.
fn at_times(folder: &TempDir, name: &str, times: &[u64], size: usize) -> PathBuf {
    let path = folder.path().join(name);
    let mut out = WriteOptions::new().create(File::create(&path).unwrap()).unwrap();
    let channel_id = out.add_channel(0, name, "raw", &BTreeMap::new()).unwrap();
    for (n, time) in times.iter().enumerate() {
        let (sequence, log_time) = (n as u32, *time);
        let header = MessageHeader { channel_id, sequence, log_time, publish_time: 7 };
        out.write_to_known_channel(&header, &vec![n as u8; size]).unwrap();
    }
    out.finish().unwrap();
    path
}

/// Topic, number and time of a message.
type ReadMessage = (String, u32, u64);

/// Merges files within a window. The messages, and how many came too late.
fn merged(inputs: &[&Path], by: SortOptions) -> anyhow::Result<(Vec<ReadMessage>, u64)> {
    let selection = Selection::default();
    let mut readers: Vec<_> =
        inputs.iter().map(|input| open(input, &OpenHints::default()).unwrap()).collect();
    let mut sources = Vec::new();
    for reader in &mut readers {
        sources.push(CopySource::new_sorted("in", reader.as_mut(), &selection, Some(by))?);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.mcap");
    let draft = Target::open(&path, &[]).unwrap().start_draft().unwrap();
    let mut writer = OutputFormat::Mcap.begin(draft, ChunkOptions::default()).unwrap();
    let mut same = |_: usize, channel: &Channel| Ok(channel.clone());
    let (copied, _) = copy(&mut sources, writer.as_mut(), &mut same, &mut |_, _| {})?;
    writer.finish().unwrap();
    assert_eq!(faults(&path), Vec::<String>::new());
    let all = all_of(&path).into_iter();
    let all = all.map(|(topic, sequence, time, _, data)| {
        assert!(data.iter().all(|byte| *byte == sequence as u8), "its own bytes");
        (topic, sequence, time.unwrap() as u64)
    });
    Ok((all.collect(), copied.late))
}

#[test]
fn merging_puts_in_order_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let a = at_times(&folder, "a", &[5, 3, 9, 3, 7, 9, 1, 12], 100);
    let b = at_times(&folder, "b", &[3, 9, 9, 2, 20], 100);
    let wide = SortOptions { window: 1 << 20, strict: true };
    let (all, late) = merged(&[&b, &a], wide).unwrap();
    let wanted = [
        ("a", 6, 1),
        ("b", 3, 2),
        ("b", 0, 3),
        ("a", 1, 3),
        ("a", 3, 3),
        ("a", 0, 5),
        ("a", 4, 7),
        ("b", 1, 9),
        ("b", 2, 9),
        ("a", 2, 9),
        ("a", 5, 9),
        ("a", 7, 12),
        ("b", 4, 20),
    ];
    let wanted = wanted.map(|(topic, number, time)| (topic.to_owned(), number, time));
    assert_eq!((all, late), (wanted.to_vec(), 0));
    // A window that is too small: all messages are there, and what is late is counted.
    let times: Vec<u64> = (10..200).chain(0..10).collect();
    let long = at_times(&folder, "long", &times, 1000);
    for (window, wanted) in [(1 << 10, 10), (100 << 10, 10), (1 << 20, 0)] {
        let (all, late) = merged(&[&long], SortOptions { window, strict: false }).unwrap();
        assert_eq!((all.len(), late), (200, wanted), "{window}");
        let strict = merged(&[&long], SortOptions { window, strict: true });
        match wanted {
            0 => assert!(strict.is_ok()),
            _ => {
                let refused = error(strict);
                assert!(refused.contains("give a larger --sort-window"), "{refused}");
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_written_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (input, path) = (furnished(&folder, "in.mcap", true), folder.path().join("out.mcap"));
    let packing = ChunkOptions { compression: Compression::None, chunk: 200 };
    copy_to(&[&input], &Selection::default(), &path, packing);
    let whole = fs::read(&path).unwrap();
    let summary = Summary::open(&path).unwrap().unwrap();
    let footer = whole.len() - 8 - 20;
    let number = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
    let start = number(footer);
    let find = |what: &[u8], from: usize| {
        from + whole[from..].windows(what.len()).position(|bytes| bytes == what).unwrap()
    };
    let chunk = summary.chunks[1].clone();
    let index = find(&chunk.at.to_le_bytes(), start);
    let statistics = find(&[11, 66, 0, 0, 0, 0, 0, 0, 0], start) + 9;
    let place = *chunk.message_indexes.values().next().unwrap() as usize;
    for (at, what) in [
        (chunk.at as usize + 9 + 24, "the checksum of a chunk"),
        (index, "the place of a chunk"),
        (index - 16, "the first time of a chunk in the index"),
        (index + 8, "the length of a chunk"),
        (place + 9 + 2 + 4, "the time of a message in its index"),
        (place + 9 + 2 + 4 + 8, "the place of a message"),
        (statistics, "the number of messages"),
        (statistics + 8, "the number of schemas"),
        (statistics + 10, "the number of channels"),
        (statistics + 14, "the number of attachments"),
        (statistics + 18, "the number of metadata records"),
        (statistics + 22, "the number of chunks"),
        (statistics + 26, "the first time"),
        (statistics + 34, "the last time"),
        (statistics + 48, "the number of messages of a channel"),
        (find(b"reliable", start), "what is said of a channel in the summary"),
        (find(b"text/plain", 0) + 18, "the bytes of an attachment"),
        (footer + 16, "the checksum of the summary"),
    ] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        // Whoever writes a wrong number writes the checksum of it.
        if at < start {
            let end = start - 13;
            let sum = crc32fast::hash(&damaged[..end]).to_le_bytes();
            damaged[end + 9..start].copy_from_slice(&sum);
        }
        if at < footer + 16 {
            let sum = crc32fast::hash(&damaged[start..footer + 16]).to_le_bytes();
            damaged[footer + 16..footer + 20].copy_from_slice(&sum);
        }
        fs::write(&path, damaged).unwrap();
        assert_ne!(faults(&path), Vec::<String>::new(), "{what}");
    }
}
