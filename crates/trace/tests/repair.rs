//! Whatever is whole of a damaged trace file is saved.

mod common;

use std::fs;

use common::recording;
use common::traces::{all_of, descriptors, made, messages, Made, OSI};
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
