//! Trace files: what is copied is the same to the byte, whatever the size of the file.

mod common;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use common::traces::{
    all_of, descriptors, faults, made, messages, packings, put, texts, view, while_some, Made,
    Whole, OSI,
};
use common::{error, recording, recordings};
use mcap::records::MessageHeader;
use mcap::write::Metadata;
use mcap::{Attachment, WriteOptions};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use tempfile::TempDir;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::check::check;
use wiregauge_trace::copy::{copy, Source};
use wiregauge_trace::info::info;
use wiregauge_trace::mcap::summary::Summary;
use wiregauge_trace::open::{open, Wish};
use wiregauge_trace::parsed::definition_of;
use wiregauge_trace::read::{About, LARGEST};
use wiregauge_trace::rest::Rest;
use wiregauge_trace::select::Selection;
use wiregauge_trace::sorting::Sorting;
use wiregauge_trace::split::{split, By, Maker};
use wiregauge_trace::write::{Compression, Form, Packing, Writer};

#[test]
fn copies_are_the_same_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut copied = 0;
    for name in recordings().iter().filter(|name| name.ends_with(".mcap")) {
        let (input, output) = (recording(name), folder.path().join("copy.mcap"));
        for packing in packings() {
            let count = put(&[&input], &Selection::default(), &output, packing);
            assert_eq!(all_of(&input), all_of(&output), "{name} {packing:?}");
            copied += count;
        }
    }
    assert!(copied > 100, "{copied}");
}

#[test]
fn osi_to_mcap_and_back_is_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let (there, back) = (folder.path().join("there.mcap"), folder.path().join("back_sv.osi"));
    for packing in packings() {
        put(&[&recording(OSI)], &Selection::default(), &there, packing);
        put(&[&there], &Selection::default(), &back, packing);
        assert_eq!(fs::read(recording(OSI)).unwrap(), fs::read(&back).unwrap());
        // The time of a message in MCAP is its own.
        for (_, _, time, publish_time, data) in all_of(&there) {
            assert_eq!(time, publish_time);
            assert_eq!(time, wiregauge_trace::osi::Stamp::of("osi3.SensorView", &data).time);
        }
    }
}

#[test]
fn files_that_are_packed_as_a_whole_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let plain = fs::read(recording(OSI)).unwrap();
    for (tool, end) in [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst")] {
        let path = folder.path().join("a_sv.osi");
        fs::write(&path, &plain).unwrap();
        let packed = std::process::Command::new(tool).arg("-c").arg(&path).output().unwrap();
        assert!(packed.status.success(), "{tool}");
        let path = folder.path().join(format!("a_sv.osi.{end}"));
        fs::write(&path, &packed.stdout).unwrap();
        assert_eq!(all_of(&path), all_of(&recording(OSI)));
        fs::write(&path, &packed.stdout[..packed.stdout.len() / 2]).unwrap();
        let mut reader = open(&path, &Wish::default()).unwrap();
        let cut = error(while_some(reader.as_mut()));
        assert!(cut.contains(&format!("a_sv.osi.{end} cannot be unpacked on")), "{cut}");
    }
}

#[test]
fn what_is_behind_damage_in_a_packed_trace_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let message = |n: u64| [view(n * 10), vec![0x7a, 100], vec![n as u8; 100]].concat();
    let file = |numbers: std::ops::Range<u64>| -> Vec<u8> {
        let with_length =
            |message: Vec<u8>| [&(message.len() as u32).to_le_bytes()[..], &message].concat();
        numbers.flat_map(|n| with_length(message(n))).collect()
    };
    let mut bytes = file(0..100);
    // The lengths of two messages, of which one is larger than anything.
    for (n, length) in [(20, [0xff; 4]), (60, [7, 0, 0, 0])] {
        let at = file(0..n).len();
        bytes[at..at + 4].copy_from_slice(&length);
    }
    let wanted: Vec<Vec<u8>> = (0..100).filter(|n| *n != 20 && *n != 60).map(message).collect();
    for (name, cut) in
        [("a_sv.osi", 0), ("a_sv.osi.zst", 0), ("a_sv.osi.gz", 0), ("b_sv.osi.gz", 9)]
    {
        let path = folder.path().join(name);
        let packed = match name.rsplit('.').next().unwrap() {
            "zst" => zstd::encode_all(&bytes[..], 1).unwrap(),
            "gz" => {
                let level = flate2::Compression::none();
                let mut packed = flate2::write::GzEncoder::new(Vec::new(), level);
                packed.write_all(&bytes).unwrap();
                packed.finish().unwrap()
            }
            _ => bytes.clone(),
        };
        fs::write(&path, &packed[..packed.len() - cut]).unwrap();
        let mut reader = open(&path, &Wish::default()).unwrap();
        reader.salvage();
        let saved: Vec<Vec<u8>> =
            messages(reader.as_mut()).into_iter().map(|message| message.4).collect();
        let places: Vec<u64> = reader.losses().iter().map(|loss| loss.at).collect();
        let (first, second) = (file(0..20).len() as u64, file(0..60).len() as u64);
        match cut {
            0 => {
                assert!(saved == wanted, "{name}: {} {:?}", saved.len(), reader.losses());
                assert_eq!(places, [first, second], "{name}");
            }
            // What ends the unpacking is told, too.
            _ => {
                assert!(saved == wanted[..saved.len()] && saved.len() >= 97, "{}", saved.len());
                assert!(places.starts_with(&[first, first, second]), "{:?}", reader.losses());
            }
        }
    }
}

#[test]
fn what_is_selected_is_what_reading_all_would_choose() {
    let folder = tempfile::tempdir().unwrap();
    let input = made(&folder, "in.mcap", &Made::default());
    let all = all_of(&input);
    assert_eq!(all.len(), 300);
    let output = folder.path().join("out.mcap");
    let one = Selection { channels: vec!["/b*".into()], ..Selection::default() };
    let times = Selection { from: Some(1_000), to: Some(2_000), ..Selection::default() };
    let numbers = Selection { first: 7, end: Some(9), ..Selection::default() };
    let tenth = Selection { every: 10, from: Some(500), ..one.clone() };
    let within = |whole: &Whole| (1_000..=2_000).contains(&whole.2.unwrap());
    let of_b = |whole: &&Whole| whole.0.starts_with("/b");
    let late = |whole: &&Whole| whole.2.unwrap() >= 500;
    let of_topic = |topic: &str| -> Vec<Whole> {
        let of = all.iter().filter(|whole| whole.0 == topic).filter(late);
        of.step_by(10).cloned().collect()
    };
    let mut tens = [of_topic("/b/left"), of_topic("/b/right")].concat();
    tens.sort_by_key(|whole| whole.2);
    let wanted: [(&Selection, Vec<Whole>); 4] = [
        (&one, all.iter().filter(of_b).cloned().collect()),
        (&times, all.iter().filter(|whole| within(whole)).cloned().collect()),
        (&numbers, all[7..9].to_vec()),
        (&tenth, tens),
    ];
    for (selection, wanted) in wanted {
        put(&[&input], selection, &output, Packing::default());
        assert!(!wanted.is_empty() && wanted.len() < all.len());
        assert_eq!(all_of(&output), wanted);
    }
}

#[test]
fn spans_that_end_where_chunks_do_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let input = made(&folder, "in.mcap", &Made::default());
    for n in 0..300 {
        let (from, to) = (Some(n * 10), Some(n * 10 + 20));
        let selection = Selection { from, to, ..Selection::default() };
        let mut reader = open(&input, &Wish::default()).unwrap();
        let mut selected = selection.of(reader.as_mut());
        let mut times = Vec::new();
        while let Some(head) = selected.advance().unwrap() {
            times.push(head.time.unwrap());
        }
        let wanted = (n..(n + 3).min(300)).map(|n| n * 10);
        assert_eq!(times, wanted.collect::<Vec<_>>());
    }
}

#[test]
fn messages_are_found_by_their_number_without_those_before() {
    let folder = tempfile::tempdir().unwrap();
    let indexed = Made::default();
    let options = Made::default().options.emit_message_indexes(false);
    let bare = Made { options, ..Made::default() };
    let chosen = |path: &Path, selection: &Selection| -> anyhow::Result<Vec<i128>> {
        let mut reader = open(path, &Wish::default())?;
        let mut selected = selection.of(reader.as_mut());
        let mut times = Vec::new();
        while let Some(head) = selected.advance()? {
            selected.reader().data()?;
            times.push(head.time.unwrap());
        }
        Ok(times)
    };
    for file in [&indexed, &bare] {
        let path = made(&folder, "in.mcap", file);
        for first in (0..310).step_by(3) {
            let end = Some(first + 4);
            let all = Selection { first, end, ..Selection::default() };
            let wanted = (first..(first + 4).min(300)).map(|n| i128::from(n) * 10);
            assert_eq!(chosen(&path, &all).unwrap(), wanted.collect::<Vec<_>>());
            let of_b = Selection { channels: vec!["/b/left".into()], ..all };
            let wanted = (first..first + 4).filter(|n| *n < 100);
            let wanted: Vec<i128> = wanted.map(|n| i128::from(n) * 30 + 10).collect();
            assert_eq!(chosen(&path, &of_b).unwrap(), wanted);
        }
    }
    // What is damaged before them is not even seen.
    let path = made(&folder, "in.mcap", &indexed);
    let mut bytes = fs::read(&path).unwrap();
    let first = Summary::of(&path).unwrap().unwrap().chunks[0].clone();
    let end = (first.at + first.length) as usize;
    bytes[end - 20..end].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let last = Selection { first: 299, ..Selection::default() };
    assert_eq!(chosen(&path, &last).unwrap(), [2_990]);
    assert!(chosen(&path, &Selection::default()).is_err());
}

/// A file with chunks that are worth being unpacked before they are wanted.
fn large_chunks(folder: &TempDir) -> PathBuf {
    let options = Made::default().options.chunk_size(Some(100_000));
    // A field that nobody knows, of bytes that differ.
    let message = |n: u64| {
        let bytes = (0..8_000u64).map(|i| ((i * i * (n + 7)) >> 7) as u8);
        (view(n * 10).into_iter().chain([0x7a, 0xc0, 0x3e]).chain(bytes).collect(), 0, 0)
    };
    made(folder, "large.mcap", &Made { options, message, ..Made::default() })
}

#[test]
fn chunks_that_are_unpacked_before_they_are_wanted_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = large_chunks(&folder);
    let all = all_of(&path);
    assert_eq!(all.len(), 300);
    let mut reader = open(&path, &Wish::default()).unwrap();
    // Whoever salvages unpacks each chunk when it comes.
    reader.salvage();
    assert_eq!(messages(reader.as_mut()), all);
    for from in [0, 470, 2_980] {
        let selection = Selection { from: Some(from), ..Selection::default() };
        let copy = folder.path().join("copy.mcap");
        put(&[&path], &selection, &copy, Packing::default());
        assert_eq!(all_of(&copy), all[from as usize / 10..]);
    }
}

#[test]
fn a_chunk_that_is_damaged_is_told_though_it_was_unpacked_before_it_was_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = large_chunks(&folder);
    let chunks = Summary::of(&path).unwrap().unwrap().chunks;
    let mut bytes = fs::read(&path).unwrap();
    let end = (chunks[10].at + chunks[10].length) as usize;
    bytes[end - 20..end].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let mut reader = open(&path, &Wish::default()).unwrap();
    let mut count = 0;
    let refused = loop {
        match reader.next() {
            Ok(head) => count += u64::from(head.is_some()),
            Err(error) => break format!("{error:#}"),
        }
    };
    assert!(refused.contains(&format!("damaged after {count} messages")), "{refused}");
    assert!((100..200).contains(&count), "{count}");
}

#[test]
fn what_lies_behind_the_last_wanted_message_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(recording(OSI)).unwrap();
    let (cut, first) = (folder.path().join("cut_sv.osi"), folder.path().join("first_sv.osi"));
    fs::write(&cut, &whole[..whole.len() - 1]).unwrap();
    let two = Selection { end: Some(2), ..Selection::default() };
    assert_eq!(put(&[&cut], &two, &first, Packing::default()), 2);
    let two = fs::read(first).unwrap();
    assert_eq!(two, whole[..two.len()]);
}

#[test]
fn lengths_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let options = Made::default().options.compression(None);
    let path = made(&folder, "in.mcap", &Made { options, ..Made::default() });
    let bytes = fs::read(&path).unwrap();
    let chunk = Summary::of(&path).unwrap().unwrap().chunks[5].clone();
    // A record's length, a chunk's length packed and unpacked, and a message's in it.
    let head = chunk.at as usize + 9;
    for (at, size) in
        [(head - 8, 8), (head + 32, 8), (head + 16, 8), (head + 28, 4), (head + 41, 8)]
    {
        for value in [0u64, 1, 1 << 20, 1 << 31, 1 << 62, u64::MAX] {
            let mut damaged = bytes.clone();
            damaged[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            if damaged == bytes {
                continue;
            }
            fs::write(&path, damaged).unwrap();
            let refused = while_some(open(&path, &Wish::default()).unwrap().as_mut());
            let refused = error(refused);
            assert!(
                refused.contains("is damaged") || refused.contains("is truncated"),
                "{refused}"
            );
            let mut reader = open(&path, &Wish::default()).unwrap();
            reader.salvage();
            assert!(messages(reader.as_mut()).len() > 250);
        }
    }
}

#[test]
fn a_chunk_with_another_checksum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = Made::default().options.compression(None);
    let path = made(&folder, "in.mcap", &Made { options, ..Made::default() });
    let mut bytes = fs::read(&path).unwrap();
    // The last byte of a message's time, which changes no length.
    let time = view(1_500);
    let at = bytes.windows(time.len()).position(|window| window == time).unwrap();
    bytes[at + time.len() - 1] ^= 1;
    fs::write(&path, bytes).unwrap();
    let refused = error(while_some(open(&path, &Wish::default()).unwrap().as_mut()));
    assert!(refused.contains("a chunk with another checksum"), "{refused}");
    assert!(refused.contains("wiregauge trace repair"), "{refused}");
}

/// Makes parts as files of a folder.
struct Parts<'f>(&'f Path, Vec<PathBuf>);

impl Maker for Parts<'_> {
    fn part(&mut self, number: usize, _: Option<&str>) -> anyhow::Result<Box<dyn Writer>> {
        let path = self.0.join(format!("part{number}.mcap"));
        self.1.push(path.clone());
        let draft = Target::open(&path, &[])?.begin()?;
        Form::Mcap.begin(draft, Packing::default())
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
fn rest(path: &Path) -> (Vec<Channel>, Vec<String>, About) {
    let mut reader = open(path, &Wish::default()).unwrap();
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
    (channels, rest, reader.about())
}

fn parts_of(folder: &TempDir, input: &Path, by: By) -> Vec<PathBuf> {
    let mut parts = Parts(folder.path(), Vec::new());
    let mut reader = open(input, &Wish::default()).unwrap();
    let all = Selection::default();
    let rest = Rest::of(open(input, &Wish::default()).unwrap().as_mut()).unwrap();
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
    let input = made(&folder, "in.mcap", &Made::default());
    let merged = folder.path().join("merged.mcap");
    let all = Selection::default();
    for (by, wanted) in [(By::Channel, 3), (By::Duration(1_000), 3), (By::Size(500), 7)] {
        let parts = parts_of(&folder, &input, by);
        assert_eq!(parts.len(), wanted, "{by:?}");
        let paths: Vec<&Path> = parts.iter().map(PathBuf::as_path).collect();
        put(&paths, &all, &merged, Packing::default());
        assert_eq!(all_of(&merged), all_of(&input), "{by:?}");
        assert_eq!(rest(&merged).0, rest(&input).0, "{by:?}");
        let said = info(&merged, &Wish::default(), true, &mut |_, _| {}).unwrap().metadata;
        assert_eq!(said[0].entries["road"], "A 9");
    }
    // With all that a file holds beside messages, whether an index tells it or not.
    for has_summary in [true, false] {
        let input = furnished(&folder, "in.mcap", has_summary);
        let (channels, wanted, _) = rest(&input);
        assert_eq!((channels.len(), wanted.len()), (3, 6));
        for by in [By::Channel, By::Duration(30), By::Size(500), By::Size(1 << 20)] {
            let parts = parts_of(&folder, &input, by);
            for part in &parts {
                let (_, here, about) = rest(part);
                let is_said = |one: &&String| one.starts_with("drive");
                assert_eq!(here.iter().filter(is_said).count(), 3, "{by:?}: {here:?}");
                assert_eq!(about.profile, "ros2");
            }
            let paths: Vec<&Path> = parts.iter().rev().map(PathBuf::as_path).collect();
            put(&paths, &all, &merged, Packing::default());
            assert_eq!(all_of(&merged), all_of(&input), "{by:?}");
            let (own, here, about) = rest(&merged);
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
        put(&[&input], selection, &out, Packing::default());
        let (channels, wanted, _) = rest(&input);
        let (own, here, about) = rest(&out);
        assert_eq!((own, here), (channels, wanted));
        assert_eq!((&*about.profile, &*about.library), ("ros2", &*format!("{ours}; a; b")));
    }
    // It does not grow from copy to copy, and nothing is there twice.
    let again = folder.path().join("again.mcap");
    put(&[&out, &input], &all, &again, Packing::default());
    let (_, here, about) = rest(&again);
    assert_eq!((here, about.library), (rest(&input).1, format!("{ours}; a; b")));
    // A profile is that of all inputs.
    let other = made(&folder, "other.mcap", &Made::default());
    put(&[&input, &other], &all, &again, Packing::default());
    assert_eq!(rest(&again).2.profile, "");
    for (bag, profile) in [("ros1/plain.bag", "ros1"), ("ros2/iron/iron.db3", "ros2")] {
        put(&[&recording(bag)], &all, &again, Packing::default());
        assert_eq!(rest(&again).2.profile, profile);
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
type Seen = (String, u32, u64);

/// Merges files within a window. The messages, and how many came too late.
fn merged(inputs: &[&Path], by: Sorting) -> anyhow::Result<(Vec<Seen>, u64)> {
    let selection = Selection::default();
    let mut readers: Vec<_> =
        inputs.iter().map(|input| open(input, &Wish::default()).unwrap()).collect();
    let mut sources = Vec::new();
    for reader in &mut readers {
        sources.push(Source::sorted("in", reader.as_mut(), &selection, Some(by))?);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.mcap");
    let draft = Target::open(&path, &[]).unwrap().begin().unwrap();
    let mut writer = Form::Mcap.begin(draft, Packing::default()).unwrap();
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
    let wide = Sorting { window: 1 << 20, strict: true };
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
        let (all, late) = merged(&[&long], Sorting { window, strict: false }).unwrap();
        assert_eq!((all.len(), late), (200, wanted), "{window}");
        let strict = merged(&[&long], Sorting { window, strict: true });
        match wanted {
            0 => assert!(strict.is_ok()),
            _ => {
                let refused = error(strict);
                assert!(refused.contains("give a larger --window"), "{refused}");
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_written_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (input, path) = (furnished(&folder, "in.mcap", true), folder.path().join("out.mcap"));
    let packing = Packing { compression: Compression::None, chunk: 200 };
    put(&[&input], &Selection::default(), &path, packing);
    let whole = fs::read(&path).unwrap();
    let summary = Summary::of(&path).unwrap().unwrap();
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

/// A message of OSI that is as long as it says, most of it a field of zeros that need not
/// be there: the file is sparse.
fn large(file: &mut File, nanos: u64, length: u64) {
    let front = view(nanos);
    let rest = length - front.len() as u64;
    file.write_all(&(length as u32).to_le_bytes()).unwrap();
    file.write_all(&front).unwrap();
    file.seek(SeekFrom::Current(rest as i64 - 1)).unwrap();
    file.write_all(&[0]).unwrap();
}

#[test]
fn offsets_beyond_four_gib_are_hopped_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large_sv.osi");
    let mut file = File::create(&path).unwrap();
    for n in 1..=10 {
        large(&mut file, n, LARGEST);
    }
    large(&mut file, 11, 100);
    assert!(file.metadata().unwrap().len() > 10 << 30);
    let mut reader = open(&path, &Wish::default()).unwrap();
    let mut times = Vec::new();
    let mut last = None;
    while let Some(head) = reader.next().unwrap() {
        times.push(head.time.unwrap());
        last = Some(head);
    }
    assert_eq!(times, (1..=11).collect::<Vec<_>>());
    assert_eq!(last.unwrap().place.at, 10 * (LARGEST + 4));
    // And the last one is read without those before it.
    let last = Selection { first: 10, end: Some(11), ..Selection::default() };
    let output = folder.path().join("last_sv.osi");
    assert_eq!(put(&[&path], &last, &output, Packing::default()), 1);
    assert_eq!(fs::metadata(output).unwrap().len(), 104);

    large(&mut file, 12, (2 << 30) - 1);
    let mut reader = open(&path, &Wish::default()).unwrap();
    let refused = error(while_some(reader.as_mut()));
    assert!(
        refused.contains("a message of 2147483647 bytes, where 1 GiB is the most"),
        "{refused}"
    );
}

#[test]
fn a_million_small_messages_and_200_channels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.mcap");
    let mut out = WriteOptions::new().create(File::create(&path).unwrap()).unwrap();
    let schema = out.add_schema("p/N", "ros2msg", b"uint8 n").unwrap();
    let none = BTreeMap::new();
    let channels: Vec<u16> = (0..200)
        .map(|n| out.add_channel(schema, &format!("/{n}"), "cdr", &none).unwrap())
        .collect();
    for n in 0..1_000_000u64 {
        let channel_id = channels[n as usize % 200];
        let header = MessageHeader { channel_id, sequence: 0, log_time: n, publish_time: n };
        out.write_to_known_channel(&header, &[n as u8; 20]).unwrap();
    }
    out.finish().unwrap();
    let told = info(&path, &Wish::default(), false, &mut |_, _| {}).unwrap();
    assert!(!told.read);
    assert_eq!((told.messages, told.channels.len()), (1_000_000, 200));
    let read = info(&path, &Wish::default(), true, &mut |_, _| {}).unwrap();
    assert_eq!((read.messages, read.times), (told.messages, told.times));
    assert!(read.channels.iter().all(|channel| channel.messages == 5_000));
    let of = read.channels[7].read.as_ref().unwrap();
    assert_eq!((of.bytes, of.gaps, of.longest), (100_000, 0, Some(200)));
}

#[test]
fn a_message_larger_than_a_chunk_has_one_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a_sv.osi"), folder.path().join("b.mcap"));
    let mut file = File::create(&input).unwrap();
    for (n, size) in [(1, 100), (2, 20 << 20), (3, 100)] {
        large(&mut file, n, size);
    }
    put(&[&input], &Selection::default(), &output, Packing::default());
    let told = info(&output, &Wish::default(), false, &mut |_, _| {}).unwrap().chunks.unwrap();
    assert_eq!(told.count, 3);
    assert_eq!(all_of(&output)[1].4.len(), 20 << 20);
}

#[test]
fn a_file_that_is_one_chunk_is_read_like_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    for compression in [None, Some(mcap::Compression::Lz4), Some(mcap::Compression::Zstd)] {
        let path = folder.path().join("one.mcap");
        let options = WriteOptions::new().chunk_size(None).compression(compression);
        let mut out = options.create(File::create(&path).unwrap()).unwrap();
        let channel = out.add_channel(0, "/a", "bytes", &BTreeMap::new()).unwrap();
        for n in 0..80u64 {
            let header =
                MessageHeader { channel_id: channel, sequence: 0, log_time: n, publish_time: n };
            out.write_to_known_channel(&header, &vec![n as u8; 1 << 20]).unwrap();
        }
        out.finish().unwrap();
        let mut reader = open(&path, &Wish::default()).unwrap();
        let mut count = 0;
        while let Some(head) = reader.next().unwrap() {
            let n = head.time.unwrap() as u8;
            assert!(reader.data().unwrap().iter().all(|byte| *byte == n));
            count += 1;
        }
        assert_eq!(count, 80);
        // Its checksum is held against it at the end.
        let at = 1 << 20;
        let mut file = fs::OpenOptions::new().write(true).read(true).open(&path).unwrap();
        if compression.is_none() {
            file.seek(SeekFrom::Start(at)).unwrap();
            let mut byte = [0];
            file.read_exact(&mut byte).unwrap();
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(&[byte[0] ^ 1]).unwrap();
            let mut reader = open(&path, &Wish::default()).unwrap();
            let refused = error(while_some(reader.as_mut()));
            assert!(refused.contains("another checksum"), "{refused}");
        }
    }
}

#[test]
fn what_no_trace_is_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let unnamed = folder.path().join("drive.osi");
    fs::copy(recording(OSI), &unnamed).unwrap();
    let refused =
        error(check(&unnamed, &Wish::default(), &|| unreachable!(), &mut |_, _| {}).map(drop));
    assert!(refused.contains("say --type SensorView"), "{refused}");
    let wish = Wish { osi_type: Some("Lidar".into()) };
    assert!(error(open(&unnamed, &wish).map(drop)).contains("no top-level message 'Lidar'"));
    assert!(error(Form::of(Path::new("a.bag")).map(drop)).contains("end it in .mcap"));
}

#[test]
fn a_definition_has_what_it_needs_and_no_more() {
    let definition = definition_of(&descriptors(), "osi3.SensorView").unwrap();
    let files = FileDescriptorSet::decode(definition.data.as_slice()).unwrap().file;
    let names: Vec<&str> = files.iter().map(|file| file.name()).collect();
    assert_eq!(names, ["version.proto", "common.proto", "view.proto"]);
    let none = definition_of(&descriptors(), "osi3.Nothing");
    assert!(error(none).contains("does not define osi3.Nothing"));
}
