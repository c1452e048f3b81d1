//! Whatever is whole of a damaged trace file is saved.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::traces::{
    all_of, copy_to, descriptors, faults, messages, view, while_some, write_mcap, McapSpec, OSI,
};
use crate::common::{recording, records};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::check::check;
use wiregauge_trace::copy::{copy, CopySource};
use wiregauge_trace::info::read_info;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::read::Reader;
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, OutputFormat};

#[test]
fn whatever_is_whole_of_a_truncated_file_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(write_mcap(&folder, "in.mcap", &McapSpec::default())).unwrap();
    let all = all_of(&folder.path().join("in.mcap"));
    let cut = folder.path().join("cut.mcap");
    let mut most = 0;
    for length in (8..bytes.len()).step_by(97) {
        fs::write(&cut, &bytes[..length]).unwrap();
        let mut reader = open(&cut, &OpenHints::default()).unwrap();
        // What a reader that gives up finds, there is at least.
        let mut given_up = 0;
        while reader.next().is_ok_and(|head| head.is_some()) {
            given_up += 1;
        }
        let mut reader = open(&cut, &OpenHints::default()).unwrap();
        reader.salvage();
        let saved = messages(reader.as_mut());
        assert_eq!(saved, all[..saved.len()], "at {length}");
        assert!(saved.len() >= given_up && saved.len() >= most, "at {length}");
        assert!(!reader.losses().is_empty());
        most = saved.len();
    }
    assert_eq!(most, 300);
}

#[test]
fn a_damaged_chunk_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_mcap(&folder, "in.mcap", &McapSpec::default());
    let all = all_of(&path);
    let bytes = fs::read(&path).unwrap();
    let mut lost_least = usize::MAX;
    for at in (1_000..bytes.len() - 8_000).step_by(1_501) {
        let mut damaged = bytes.clone();
        damaged[at..at + 20].fill(0xff);
        fs::write(&path, &damaged).unwrap();
        let mut reader = open(&path, &OpenHints::default()).unwrap();
        reader.salvage();
        let saved = messages(reader.as_mut());
        // A chunk has some six messages, and where its end is lost the next one is found.
        let lost = all.iter().filter(|message| !saved.contains(message)).count();
        assert!(lost <= 30, "{lost} lost at {at}: {:?}", reader.losses());
        lost_least = lost_least.min(lost);
    }
    assert!(lost_least < 30);
}

#[test]
fn messages_behind_a_damaged_length_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(recording(OSI)).unwrap();
    let all = all_of(&recording(OSI));
    let path = folder.path().join("a_sv.osi");
    let second = 4 + u32::from_le_bytes(whole[..4].try_into().unwrap()) as usize;
    let mut damaged = whole.clone();
    damaged[second..second + 4].fill(0xfe);
    fs::write(&path, &damaged).unwrap();
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.salvage();
    let saved = messages(reader.as_mut());
    assert_eq!(saved, [&all[..1], &all[2..]].concat());
    assert_eq!(reader.losses().len(), 1);
    assert_eq!(reader.losses()[0].at, second as u64);
}

/// A trace of messages with a large field each, which OSI does not know.
fn large(count: u64, size: usize) -> Vec<Vec<u8>> {
    let message = |n: u64| {
        // Any bytes: many of them look like a length, and like a field behind it.
        let mut state = n;
        let content = (0..size).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u8
        });
        let mut message = view(n * 10);
        message.extend([
            0x82,
            0x7d,
            0x80 | size as u8,
            0x80 | (size >> 7) as u8,
            (size >> 14) as u8,
        ]);
        message.extend(content);
        message
    };
    (0..count).map(message).collect()
}

fn file_of(messages: &[Vec<u8>]) -> Vec<u8> {
    let with_length =
        |message: &Vec<u8>| [&(message.len() as u32).to_le_bytes()[..], message].concat();
    messages.iter().flat_map(with_length).collect()
}

fn salvaged(path: &std::path::Path) -> (Vec<Vec<u8>>, Vec<wiregauge_trace::read::Loss>) {
    let mut reader = open(path, &OpenHints::default()).unwrap();
    reader.salvage();
    let saved = messages(reader.as_mut()).into_iter().map(|message| message.4).collect();
    (saved, reader.losses().to_vec())
}

#[test]
fn a_damaged_length_takes_no_longer_in_a_large_file() {
    // Reading each message that is claimed to begin somewhere would take hours.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a_sv.osi");
    let all = large(100, 1 << 19);
    for damaged in [0, 1, 98] {
        let mut bytes = file_of(&all);
        let at = file_of(&all[..damaged]).len();
        bytes[at..at + 4].fill(0xff);
        fs::write(&path, &bytes).unwrap();
        let (saved, losses) = salvaged(&path);
        assert_eq!(saved.len(), 99, "{losses:?}");
        assert!(saved == [&all[..damaged], &all[damaged + 1..]].concat());
        assert_eq!((losses.len(), losses[0].at), (1, at as u64));
    }
}

#[test]
fn bytes_that_were_put_in_or_are_missing_make_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a_sv.osi");
    let mut all = large(12, 40);
    all.extend((12..20).map(|n| view(n * 10)));
    let whole = file_of(&all);
    for fill in [0, 0x0a, 0x55, 0xff] {
        for count in [1, 4, 23, 24] {
            for at in (0..whole.len()).step_by(7) {
                let bytes = [&whole[..at], &vec![fill; count], &whole[at..]].concat();
                fs::write(&path, bytes).unwrap();
                let (saved, losses) = salvaged(&path);
                let others = saved.iter().filter(|message| !all.contains(message)).count();
                assert!(
                    others <= 1 && saved.iter().all(|message| !message.is_empty()),
                    "{count} of {fill} at {at}: {losses:?}"
                );
                assert!(
                    saved.len() - others >= 18 && saved.len() <= 20,
                    "{count} of {fill} at {at}: {} {losses:?}",
                    saved.len()
                );
            }
        }
    }
    for count in [1, 4, 23] {
        for at in (0..whole.len() - count).step_by(7) {
            fs::write(&path, [&whole[..at], &whole[at + count..]].concat()).unwrap();
            let (saved, losses) = salvaged(&path);
            let others = saved.iter().filter(|message| !all.contains(message)).count();
            assert!(
                others <= 1 && saved.len() - others >= 17,
                "{count} missing at {at}: {losses:?}"
            );
        }
    }
}

#[test]
fn of_a_trace_that_is_packed_and_cut_what_can_be_unpacked_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let all = large(40, 300);
    let whole = file_of(&all);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, &whole).unwrap();
    for (name, packed) in [
        ("a_sv.osi.gz", packed.finish().unwrap()),
        ("a_sv.osi.zst", zstd::encode_all(&whole[..], 1).unwrap()),
    ] {
        let path = folder.path().join(name);
        let mut most = 0;
        for length in (20..packed.len()).step_by(packed.len() / 50) {
            fs::write(&path, &packed[..length]).unwrap();
            let (saved, losses) = salvaged(&path);
            assert!(saved == all[..saved.len()] && losses.len() == 1, "{name} at {length}");
            most = saved.len();
        }
        // Zstandard packs as much at once.
        assert!(most >= 20 || name.ends_with("zst"), "{name}: {most}");
    }
}

/// A channel and messages at these times.
fn records(times: &[u64]) -> Vec<u8> {
    let messages = times.iter().flat_map(|time| records::message(*time));
    [records::channel(1, "a"), messages.collect()].concat()
}

/// What a file is to a reader that gives up: its messages, or the error.
fn read(bytes: &[u8]) -> (anyhow::Result<u64>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (path, copied) = (folder.path().join("in.mcap"), folder.path().join("out.mcap"));
    fs::write(&path, bytes).unwrap();
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    let count = try_copy(reader.as_mut(), &copied);
    (count, reader.remarks())
}

/// The times of the messages that are saved, and what is told to be lost.
fn saved(bytes: &[u8]) -> (Vec<u64>, Vec<String>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.mcap");
    fs::write(&path, bytes).unwrap();
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.salvage();
    let found = messages(reader.as_mut());
    let times = found.iter().map(|message| message.2.unwrap() as u64).collect();
    let losses = reader.losses().iter().map(|loss| loss.what.clone()).collect();
    (times, losses, reader.attachments().len())
}

#[test]
fn a_changed_byte_is_found_by_the_checksum_of_whatever_it_is_in() {
    let attached = records::attachment("notes", b"some text", &[]);
    let data = [&attached[..], &records(&[1, 2, 3])].concat();
    let whole = records::file(&data, &records::statistics([3, 1, 1, 0, 0], (1, 3)));
    assert_eq!(saved(&whole), (vec![1, 2, 3], vec![], 1));
    let at = |what: &[u8]| whole.windows(what.len()).position(|bytes| bytes == what).unwrap();
    for (at, words) in [
        (at(b"some text"), "the checksum of attachment notes is wrong"),
        (at(&[3, 0, 0, 0, 0, 0, 0, 0, 3]), "the checksum of the data is wrong"),
        // The number of messages in the summary.
        (
            whole.len() - 93,
            "the summary is damaged and not used: the checksum of the summary is wrong",
        ),
    ] {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        let (times, losses, attachments) = saved(&damaged);
        assert_eq!((times.len(), attachments), (3, 1), "{words}");
        assert!(losses.len() == 1 && losses[0].contains(words), "{losses:?}");
        let (copied, remarks) = read(&damaged);
        match copied {
            // Without a summary it is the same.
            Ok(count) => assert!(count == 3 && remarks[0].contains(words), "{remarks:?}"),
            Err(error) => assert!(format!("{error:#}").contains(words), "{error:#}"),
        }
    }
}

#[test]
fn records_may_have_grown() {
    let records = records(&[1, 2]);
    let mut chunk = records::Chunk::plain(&records, (1, 2));
    chunk.extra = b"more";
    let attached = records::attachment("notes", b"some text", b"more");
    let whole = records::file(&[attached, chunk.bytes()].concat(), &[]);
    assert_eq!(saved(&whole), (vec![1, 2], vec![], 1));
    assert_eq!(read(&whole).0.unwrap(), 2);
    let packed = zstd::encode_all(&records[..], 1).unwrap();
    let mut chunk = records::Chunk { packed: &packed, compression: "zstd", ..chunk };
    let one = chunk.bytes();
    chunk.extra = b"";
    let whole = records::file(&[one, chunk.bytes()].concat(), &[]);
    assert_eq!(saved(&whole), (vec![1, 2, 1, 2], vec![], 0));
    assert_eq!(read(&whole).0.unwrap(), 4);
    // Those of a fixed length, too: the summary is found all the same.
    let known = [records::channel(1, "a"), records::statistics([2, 1, 0, 0, 0], (1, 2))];
    let grown = records::grown_file(&self::records(&[1, 2]), &known.concat(), b"more");
    assert_eq!(saved(&grown), (vec![1, 2], vec![], 0));
    assert!(matches!(read(&grown), (Ok(2), remarks) if remarks.is_empty()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.mcap");
    fs::write(&path, &grown).unwrap();
    let told = read_info(&path, &OpenHints::default(), false, &mut |_, _| {}).unwrap();
    assert!(!told.read && told.messages == 2);
}

#[test]
fn chunks_that_are_packed_otherwise_than_usual_are_unpacked() {
    let records = records(&[1, 2, 3, 4]);
    let frame = |bytes: &[u8]| {
        let mut packed = lz4::EncoderBuilder::new().build(Vec::new()).unwrap();
        std::io::Write::write_all(&mut packed, bytes).unwrap();
        packed.finish().0
    };
    let two = [frame(&records[..70]), frame(&records[70..])].concat();
    let padded = [zstd::encode_all(&records[..], 1).unwrap(), vec![0; 100]].concat();
    for (compression, packed) in [("lz4", &two), ("zstd", &padded)] {
        let plain = records::Chunk::plain(&records, (1, 4));
        let chunk = records::Chunk { packed, compression, ..plain };
        let whole = records::file(&chunk.bytes(), &[]);
        assert_eq!(saved(&whole), (vec![1, 2, 3, 4], vec![], 0), "{compression}");
        assert_eq!(read(&whole).0.unwrap(), 4, "{compression}");
        for size in [10, 1 << 40] {
            let lies = records::file(&records::Chunk { size, ..chunk_like(&chunk) }.bytes(), &[]);
            let (times, losses, _) = saved(&lies);
            assert_eq!((times, losses.len()), (vec![1, 2, 3, 4], 1), "{compression} {size}");
            assert!(read(&lies).0.is_err());
        }
    }
}

fn chunk_like<'c>(chunk: &records::Chunk<'c>) -> records::Chunk<'c> {
    records::Chunk { ..*chunk }
}

#[test]
fn a_channel_that_is_told_again_otherwise_costs_no_message() {
    let twice = [records(&[1]), records::channel(1, "b"), records::message(2)].concat();
    let unknown = [records::channel(7, "a"), records::message(3)].concat();
    let whole = records::file(&records::Chunk::plain(&twice, (1, 2)).bytes(), &[]);
    let (times, losses, _) = saved(&whole);
    assert_eq!(times, [1, 2]);
    assert_eq!(losses, ["two channels have the id 1; messages are kept"]);
    assert!(format!("{:#}", read(&whole).0.unwrap_err()).contains("two channels have the id 1"));
    let both = [records::Chunk::plain(&unknown, (3, 3)).bytes(), records(&[4])].concat();
    let (times, losses, _) = saved(&records::file(&both, &[]));
    assert_eq!(times, [4]);
    assert!(
        losses.len() == 1 && losses[0].contains("channel 1, which does not exist"),
        "{losses:?}"
    );
}

#[test]
fn what_is_behind_the_end_is_read_or_told() {
    let data = |times: &[u64]| records::Chunk::plain(&records(times), (times[0], times[1])).bytes();
    let chunk = data(&[1, 2]);
    let index = records::chunk_index((1, 2), 8 + 9 + 20, chunk.len() as u64);
    let summary = [records::channel(1, "a"), records::statistics([2, 1, 0, 0, 1], (1, 2)), index];
    let one = records::file(&chunk, &summary.concat());
    // One file twice: the place of the first summary is right for the last footer.
    for second in [one.clone(), records::file(&data(&[3, 4]), &[])] {
        let joined = [&one[..], &second].concat();
        let (times, losses, _) = saved(&joined);
        assert_eq!(times.len(), 4, "{losses:?}");
        assert!(losses.len() == 1 && losses[0].contains("another recording begins"), "{losses:?}");
        let (count, remarks) = read(&joined);
        assert_eq!(count.unwrap(), 4);
        assert!(remarks[0].contains("another recording begins"), "{remarks:?}");
    }
    let (count, remarks) = read(&[&one[..], b"some junk"].concat());
    assert_eq!(count.unwrap(), 2);
    assert!(
        remarks[0].contains("after the end of the recording, and not part of it: 9 bytes"),
        "{remarks:?}"
    );
}

#[test]
fn times_of_chunks_are_held_against_their_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.mcap");
    let content = records(&[1, 5, 9]);
    let start = records::channel(1, "a").len() as u64;
    let places = [(1, start), (5, start + 39), (9, start + 78)];
    // The chunk and its index say other times; the statistics or the message index do not.
    for (times, has_index, said) in [
        ((1, 9), true, (1, 9)),
        ((1, 2), true, (1, 2)),
        ((1, 2), false, (1, 9)),
        ((1, 2), true, (1, 9)),
    ] {
        let chunk = records::Chunk::plain(&content, times).bytes();
        let length = chunk.len() as u64;
        let data = [chunk, if has_index { records::message_index(&places) } else { vec![] }];
        let index = records::chunk_index(times, 8 + 9 + 20, length);
        let known = records::statistics([3, 1, 0, 0, 1], said);
        let bytes =
            records::file(&data.concat(), &[records::channel(1, "a"), known, index].concat());
        fs::write(&path, bytes).unwrap();
        let part = Selection { from: Some(5), ..Selection::default() };
        let count =
            copy_to(&[&path], &part, &folder.path().join("out.mcap"), ChunkOptions::default());
        assert_eq!(count, 2, "{times:?} {has_index} {said:?}");
        let checked =
            check(&path, &OpenHints::default(), &|| Ok(descriptors()), &mut |_, _| {}).unwrap();
        let found = checked.findings.list().iter().any(|finding| finding.rule == "mcap.times");
        assert_eq!(found, times != (1, 9));
        assert!(checked.findings.list().iter().all(|finding| finding.rule != "mcap.message-index"));
    }
    // A chunk that is unpacked shows that times are wrong: that of the next is not believed.
    let first = records::Chunk::plain(&records(&[5, 9]), (5, 6)).bytes();
    let second = records::Chunk::plain(&records(&[7, 8]), (1, 2)).bytes();
    let (start, length) = (8 + 9 + 20, first.len() as u64);
    let indexes = [
        records::chunk_index((5, 6), start, length),
        records::chunk_index((1, 2), start + length, second.len() as u64),
    ];
    let summary = [records::channel(1, "a"), indexes.concat()].concat();
    fs::write(&path, records::file(&[first, second].concat(), &summary)).unwrap();
    let part = Selection { from: Some(5), ..Selection::default() };
    assert_eq!(
        copy_to(&[&path], &part, &folder.path().join("out.mcap"), ChunkOptions::default()),
        4
    );
    let chunk = records::Chunk::plain(&content, (1, 9)).bytes();
    let wrong = records::message_index(&[places[0], (6, places[1].1), places[2]]);
    fs::write(&path, records::file(&[chunk, wrong].concat(), &[])).unwrap();
    let checked =
        check(&path, &OpenHints::default(), &|| Ok(descriptors()), &mut |_, _| {}).unwrap();
    assert!(checked.findings.list().iter().any(|finding| finding.rule == "mcap.message-index"));
}

#[test]
fn info_is_right_where_the_summary_lacks_something() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.mcap");
    let chunk = records::Chunk::plain(&records(&[1, 2]), (1, 2)).bytes();
    let others =
        [records::attachment("a", b"a", b""), records::metadata("m"), records::metadata("m")];
    let data = [chunk, others.concat()].concat();
    let known = records::statistics([2, 1, 1, 2, 1], (1, 2));
    let summaries = [vec![], known.clone(), [records::channel(1, "a"), known].concat()];
    for (at, summary) in summaries.iter().enumerate() {
        fs::write(&path, records::file(&data, summary)).unwrap();
        let told = read_info(&path, &OpenHints::default(), false, &mut |_, _| {}).unwrap();
        // Channels are read from the messages; what is none is found without reading these.
        assert_eq!(told.read, at < 2);
        assert_eq!((told.messages, told.channels.len(), told.channels[0].messages), (2, 1, 2));
        assert_eq!((told.chunks.unwrap().count, told.attachments, told.metadata.len()), (1, 1, 2));
        assert_eq!((&*told.profile, &*told.library), ("ros2", "a writer"));
    }
    // Statistics of more messages than channels have, and of a channel that is not told there.
    let mut more = records::statistics([2, 1, 1, 2, 1], (1, 2));
    more[9] = 7;
    let two = records::statistics([2, 2, 1, 2, 1], (1, 2));
    let data = [records::channel(2, "b"), data].concat();
    for (known, channels) in [(more, 2), (two, 2)] {
        let summary = [records::channel(1, "a"), known].concat();
        fs::write(&path, records::file(&data, &summary)).unwrap();
        let told = read_info(&path, &OpenHints::default(), false, &mut |_, _| {}).unwrap();
        assert_eq!((told.read, told.messages, told.channels.len()), (true, 2, channels));
    }
}

/// The conformance files of MCAP with what is in each, which are no part of this tree.
fn conformance() -> Option<(PathBuf, serde_json::Map<String, serde_json::Value>)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mcap-conformance");
    let folder = std::env::var_os("WIREGAUGE_MCAP_CONFORMANCE").map_or(beside, PathBuf::from);
    let Ok(expected) = fs::read(folder.join("expected.json")) else {
        println!("skipped: no conformance files; WIREGAUGE_MCAP_CONFORMANCE says their folder");
        return None;
    };
    Some((folder, serde_json::from_slice(&expected).unwrap()))
}

#[test]
fn conformance_files_are_read_copied_and_saved_whole() {
    let Some((folder, expected)) = conformance() else { return };
    let scratch = tempfile::tempdir().unwrap();
    let (copy, saved) = (scratch.path().join("copy.mcap"), scratch.path().join("saved.mcap"));
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, expected) in &expected {
        let path = folder.join(format!("{name}.mcap"));
        let wanted = expected["messages"].as_array().unwrap();
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let mut note = |verb: &'static str, is_right: bool| {
            if !is_right {
                wrong.entry(verb).or_default().push(name.clone());
            }
        };
        for all in [false, true] {
            let told = read_info(&path, &OpenHints::default(), all, &mut |_, _| {});
            let is_right = told.is_ok_and(|told| {
                let channels = u64::from(!wanted.is_empty());
                told.messages == wanted.len() as u64
                    && told.channels.len() as u64 == channels
                    && told.channels.iter().map(|channel| channel.messages).sum::<u64>()
                        == told.messages
                    && told.attachments == number(&expected["attachments"])
                    && told.metadata.len() as u64 == number(&expected["metadata"])
                    && told.chunks.is_some_and(|chunks| {
                        chunks.count == u64::from(name.split('-').any(|feature| feature == "ch"))
                    })
            });
            note(if all { "info --all" } else { "info" }, is_right);
        }
        let checked = check(&path, &OpenHints::default(), &|| Ok(descriptors()), &mut |_, _| {});
        let is_right = checked.is_ok_and(|checked| {
            let faults =
                ["file.whole", "mcap.times", "mcap.message-index", "mcap.statistics", "mcap.index"];
            let found = checked.findings.list().into_iter().map(|finding| finding.rule);
            // The index lacks chunks that it is made without.
            found.filter(|rule| faults.contains(rule)).all(|rule| {
                rule == "mcap.index" && !name.split('-').any(|feature| feature == "chx")
            }) && checked.messages == wanted.len() as u64
        });
        note("check", is_right);
        let is_same = |path: &Path| {
            let found = all_of(path);
            let mut reader = open(path, &OpenHints::default()).unwrap();
            while_some(reader.as_mut()).unwrap();
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|((_, sequence, time, publish, data), wanted)| {
                    let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
                    u64::from(*sequence) == number(&wanted[1])
                        && *time == Some(number(&wanted[2]).into())
                        && *publish == Some(number(&wanted[3]).into())
                        && hex == wanted[4].as_str().unwrap()
                })
                && reader.attachments().len() as u64 == number(&expected["attachments"])
                && reader.metadata().len() as u64 == number(&expected["metadata"])
        };
        note("read", is_same(&path));
        copy_to(&[&path], &Selection::default(), &copy, ChunkOptions::default());
        note("convert", is_same(&copy));
        let part = Selection { from: Some(3), to: Some(5), ..Selection::default() };
        let in_time = |wanted: &&serde_json::Value| (3..=5).contains(&number(&wanted[2]));
        let count = copy_to(&[&path], &part, &copy, ChunkOptions::default());
        note("cut", count == wanted.iter().filter(in_time).count() as u64);
        let mut reader = open(&path, &OpenHints::default()).unwrap();
        reader.salvage();
        copy_all(reader.as_mut(), &saved);
        note("repair", is_same(&saved) && reader.losses().is_empty());
    }
    println!("{} files; wrong by verb: {wrong:?}", expected.len());
    assert!(wrong.is_empty());
}

fn copy_all(reader: &mut dyn Reader, output: &Path) {
    try_copy(reader, output).unwrap();
}

/// Copies all of what is read into a file; how many messages.
fn try_copy(reader: &mut dyn Reader, output: &Path) -> anyhow::Result<u64> {
    let draft = Target::open(output, &[]).unwrap().start_draft().unwrap();
    let mut writer = OutputFormat::Mcap.begin(draft, ChunkOptions::default()).unwrap();
    let selection = Selection::default();
    let mut sources = [CopySource::new("in", reader, &selection)?];
    let mut same = |_: usize, channel: &Channel| Ok(channel.clone());
    let copied = copy(&mut sources, writer.as_mut(), &mut same, &mut |_, _| {})?;
    writer.finish()?;
    assert_eq!(faults(output), Vec::<String>::new());
    Ok(copied.0.messages)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/seeds/repair.txt"))),
        ..ProptestConfig::default()
    })]
    #[test]
    fn damaged_traces_are_saved_or_refused(
        name in prop::sample::select(vec![OSI.to_owned(), "osi/zstd.mcap".into(), "osi/lz4-no-metadata.mcap".into(), "mcap/ros2-chunks.mcap".into()]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let whole = fs::read(recording(&name)).unwrap();
        let mut bytes = whole.clone();
        for (at, byte) in &flips {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name.rsplit('/').next().unwrap());
        fs::write(&path, &bytes).unwrap();
        let Ok(mut reader) = open(&path, &OpenHints::default()) else { return Ok(()) };
        reader.salvage();
        let saved = messages(reader.as_mut());
        if bytes == whole {
            prop_assert!(reader.losses().is_empty());
        }
        prop_assert!(saved.len() < 1000);
        let checked = check(&path, &OpenHints::default(), &|| Ok(descriptors()), &mut |_, _| {});
        if let Err(error) = checked {
            let error = format!("{error:#}");
            prop_assert!(!error.contains('\n'), "{}", error);
        }
    }
}
