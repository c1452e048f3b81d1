//! Trace files: what is copied is the same to the byte, whatever the size of the file.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::common::traces::{
    all_of, copy_to, descriptors, messages, packings, view, while_some, write_mcap, McapSpec,
    Whole, OSI,
};
use crate::common::{error, recording, recordings};
use mcap::records::MessageHeader;
use mcap::WriteOptions;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use tempfile::TempDir;
use wiregauge_trace::check::check;
use wiregauge_trace::info::read_info;
use wiregauge_trace::mcap::summary::Summary;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::parser::extract_definition;
use wiregauge_trace::read::LARGEST;
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, OutputFormat};

#[test]
fn copies_are_the_same_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let mut copied = 0;
    for name in recordings().iter().filter(|name| name.ends_with(".mcap")) {
        let (input, output) = (recording(name), folder.path().join("copy.mcap"));
        for packing in packings() {
            let count = copy_to(&[&input], &Selection::default(), &output, packing);
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
        copy_to(&[&recording(OSI)], &Selection::default(), &there, packing);
        copy_to(&[&there], &Selection::default(), &back, packing);
        assert_eq!(fs::read(recording(OSI)).unwrap(), fs::read(&back).unwrap());
        // The time of a message in MCAP is its own.
        for (_, _, time, publish_time, data) in all_of(&there) {
            assert_eq!(time, publish_time);
            assert_eq!(time, wiregauge_trace::osi::Stamp::read("osi3.SensorView", &data).time);
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
        let mut reader = open(&path, &OpenHints::default()).unwrap();
        let cut = error(while_some(reader.as_mut()));
        assert!(cut.contains(&format!("a_sv.osi.{end} cannot be unpacked after")), "{cut}");
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
        let mut reader = open(&path, &OpenHints::default()).unwrap();
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
    let input = write_mcap(&folder, "in.mcap", &McapSpec::default());
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
        copy_to(&[&input], selection, &output, ChunkOptions::default());
        assert!(!wanted.is_empty() && wanted.len() < all.len());
        assert_eq!(all_of(&output), wanted);
    }
}

#[test]
fn spans_that_end_where_chunks_do_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_mcap(&folder, "in.mcap", &McapSpec::default());
    for n in 0..300 {
        let (from, to) = (Some(n * 10), Some(n * 10 + 20));
        let selection = Selection { from, to, ..Selection::default() };
        let mut reader = open(&input, &OpenHints::default()).unwrap();
        let mut selected = selection.select(reader.as_mut());
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
    let indexed = McapSpec::default();
    let options = McapSpec::default().options.emit_message_indexes(false);
    let bare = McapSpec { options, ..McapSpec::default() };
    let chosen = |path: &Path, selection: &Selection| -> anyhow::Result<Vec<i128>> {
        let mut reader = open(path, &OpenHints::default())?;
        let mut selected = selection.select(reader.as_mut());
        let mut times = Vec::new();
        while let Some(head) = selected.advance()? {
            selected.reader().data()?;
            times.push(head.time.unwrap());
        }
        Ok(times)
    };
    for file in [&indexed, &bare] {
        let path = write_mcap(&folder, "in.mcap", file);
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
    let path = write_mcap(&folder, "in.mcap", &indexed);
    let mut bytes = fs::read(&path).unwrap();
    let first = Summary::open(&path).unwrap().unwrap().chunks[0].clone();
    let end = (first.at + first.length) as usize;
    bytes[end - 20..end].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let last = Selection { first: 299, ..Selection::default() };
    assert_eq!(chosen(&path, &last).unwrap(), [2_990]);
    assert!(chosen(&path, &Selection::default()).is_err());
}

/// A file with chunks that are worth being unpacked before they are wanted.
fn large_chunks(folder: &TempDir) -> PathBuf {
    let options = McapSpec::default().options.chunk_size(Some(100_000));
    // A field that nobody knows, of bytes that differ.
    let message = |n: u64| {
        let bytes = (0..8_000u64).map(|i| ((i * i * (n + 7)) >> 7) as u8);
        (view(n * 10).into_iter().chain([0x7a, 0xc0, 0x3e]).chain(bytes).collect(), 0, 0)
    };
    write_mcap(folder, "large.mcap", &McapSpec { options, message, ..McapSpec::default() })
}

#[test]
fn chunks_that_are_unpacked_before_they_are_wanted_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = large_chunks(&folder);
    let all = all_of(&path);
    assert_eq!(all.len(), 300);
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    // Whoever salvages unpacks each chunk when it comes.
    reader.salvage();
    assert_eq!(messages(reader.as_mut()), all);
    for from in [0, 470, 2_980] {
        let selection = Selection { from: Some(from), ..Selection::default() };
        let copy = folder.path().join("copy.mcap");
        copy_to(&[&path], &selection, &copy, ChunkOptions::default());
        assert_eq!(all_of(&copy), all[from as usize / 10..]);
    }
}

#[test]
fn a_chunk_that_is_damaged_is_told_though_it_was_unpacked_before_it_was_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = large_chunks(&folder);
    let chunks = Summary::open(&path).unwrap().unwrap().chunks;
    let mut bytes = fs::read(&path).unwrap();
    let end = (chunks[10].at + chunks[10].length) as usize;
    bytes[end - 20..end].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let mut reader = open(&path, &OpenHints::default()).unwrap();
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
    assert_eq!(copy_to(&[&cut], &two, &first, ChunkOptions::default()), 2);
    let two = fs::read(first).unwrap();
    assert_eq!(two, whole[..two.len()]);
}

#[test]
fn lengths_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let options = McapSpec::default().options.compression(None);
    let path = write_mcap(&folder, "in.mcap", &McapSpec { options, ..McapSpec::default() });
    let bytes = fs::read(&path).unwrap();
    let chunk = Summary::open(&path).unwrap().unwrap().chunks[5].clone();
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
            let refused = while_some(open(&path, &OpenHints::default()).unwrap().as_mut());
            let refused = error(refused);
            assert!(
                refused.contains("is damaged") || refused.contains("is truncated"),
                "{refused}"
            );
            let mut reader = open(&path, &OpenHints::default()).unwrap();
            reader.salvage();
            assert!(messages(reader.as_mut()).len() > 250);
        }
    }
}

#[test]
fn a_chunk_with_another_checksum_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = McapSpec::default().options.compression(None);
    let path = write_mcap(&folder, "in.mcap", &McapSpec { options, ..McapSpec::default() });
    let mut bytes = fs::read(&path).unwrap();
    // The last byte of a message's time, which changes no length.
    let time = view(1_500);
    let at = bytes.windows(time.len()).position(|window| window == time).unwrap();
    bytes[at + time.len() - 1] ^= 1;
    fs::write(&path, bytes).unwrap();
    let refused = error(while_some(open(&path, &OpenHints::default()).unwrap().as_mut()));
    assert!(refused.contains("the checksum of a chunk is wrong"), "{refused}");
    assert!(refused.contains("wiregauge trace repair"), "{refused}");
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
    let mut reader = open(&path, &OpenHints::default()).unwrap();
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
    assert_eq!(copy_to(&[&path], &last, &output, ChunkOptions::default()), 1);
    assert_eq!(fs::metadata(output).unwrap().len(), 104);

    large(&mut file, 12, (2 << 30) - 1);
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    let refused = error(while_some(reader.as_mut()));
    assert!(
        refused.contains("a message has 2147483647 bytes, more than the limit of 1 GiB"),
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
    let told = read_info(&path, &OpenHints::default(), false, &mut |_, _| {}).unwrap();
    assert!(!told.read);
    assert_eq!((told.messages, told.channels.len()), (1_000_000, 200));
    let read = read_info(&path, &OpenHints::default(), true, &mut |_, _| {}).unwrap();
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
    copy_to(&[&input], &Selection::default(), &output, ChunkOptions::default());
    let told =
        read_info(&output, &OpenHints::default(), false, &mut |_, _| {}).unwrap().chunks.unwrap();
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
        let mut reader = open(&path, &OpenHints::default()).unwrap();
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
            let mut reader = open(&path, &OpenHints::default()).unwrap();
            let refused = error(while_some(reader.as_mut()));
            assert!(refused.contains("the checksum of a chunk is wrong"), "{refused}");
        }
    }
}

#[test]
fn what_no_trace_is_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let unnamed = folder.path().join("drive.osi");
    fs::copy(recording(OSI), &unnamed).unwrap();
    let refused =
        error(check(&unnamed, &OpenHints::default(), &|| unreachable!(), &mut |_, _| {}).map(drop));
    assert!(refused.contains("give one such as --type SensorView"), "{refused}");
    let wish = OpenHints { osi_type: Some("Lidar".into()) };
    assert!(error(open(&unnamed, &wish).map(drop)).contains("no top-level message 'Lidar'"));
    assert!(error(OutputFormat::from_path(Path::new("a.bag")).map(drop))
        .contains("end the name in .mcap"));
}

#[test]
fn a_definition_has_what_it_needs_and_no_more() {
    let definition = extract_definition(&descriptors(), "osi3.SensorView").unwrap();
    let files = FileDescriptorSet::decode(definition.data.as_slice()).unwrap().file;
    let names: Vec<&str> = files.iter().map(|file| file.name()).collect();
    assert_eq!(names, ["version.proto", "common.proto", "view.proto"]);
    let none = extract_definition(&descriptors(), "osi3.Nothing");
    assert!(error(none).contains("does not define osi3.Nothing"));
}
