//! Whatever is whole of a damaged trace file is saved.

mod common;

use std::fs;

use common::recording;
use common::traces::{all_of, descriptors, made, messages, view, Made, OSI};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wiregauge_trace::check::check;
use wiregauge_trace::open::{open, Wish};

#[test]
fn whatever_is_whole_of_a_truncated_file_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = fs::read(made(&folder, "in.mcap", &Made::default())).unwrap();
    let all = all_of(&folder.path().join("in.mcap"));
    let cut = folder.path().join("cut.mcap");
    let mut most = 0;
    for length in (8..bytes.len()).step_by(97) {
        fs::write(&cut, &bytes[..length]).unwrap();
        let mut reader = open(&cut, &Wish::default()).unwrap();
        // What a reader that gives up finds, there is at least.
        let mut given_up = 0;
        while reader.next().is_ok_and(|head| head.is_some()) {
            given_up += 1;
        }
        let mut reader = open(&cut, &Wish::default()).unwrap();
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
    let path = made(&folder, "in.mcap", &Made::default());
    let all = all_of(&path);
    let bytes = fs::read(&path).unwrap();
    let mut lost_least = usize::MAX;
    for at in (1_000..bytes.len() - 8_000).step_by(1_501) {
        let mut damaged = bytes.clone();
        damaged[at..at + 20].fill(0xff);
        fs::write(&path, &damaged).unwrap();
        let mut reader = open(&path, &Wish::default()).unwrap();
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
    let mut reader = open(&path, &Wish::default()).unwrap();
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
    let mut reader = open(path, &Wish::default()).unwrap();
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
        let Ok(mut reader) = open(&path, &Wish::default()) else { return Ok(()) };
        reader.salvage();
        let saved = messages(reader.as_mut());
        if bytes == whole {
            prop_assert!(reader.losses().is_empty());
        }
        prop_assert!(saved.len() < 1000);
        let checked = check(&path, &Wish::default(), &|| Ok(descriptors()), &mut |_, _| {});
        if let Err(error) = checked {
            let error = format!("{error:#}");
            prop_assert!(!error.contains('\n'), "{}", error);
        }
    }
}
