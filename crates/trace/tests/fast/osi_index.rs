//! Messages are found by what says where they are: the index beside an `.osi` file, and the
//! index of MCAP's chunks by channel.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::common::traces::{copy_to, view, OSI};
use crate::common::{error, recording};
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::osi::index::index_path;
use wiregauge_trace::osi::index_writer::write;
use wiregauge_trace::osi::Stamp;
use wiregauge_trace::read::Nanoseconds;
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, Compression};

/// Messages at these times in nanoseconds, the n-th of them 100 + n bytes long.
fn trace(folder: &Path, times: &[u64]) -> PathBuf {
    let path = folder.join("made_sv.osi");
    let mut bytes = Vec::new();
    for (at, time) in times.iter().enumerate() {
        let mut message = view(*time);
        let rest = 100 + at - message.len() - 3;
        // A field that no type has, of so many bytes.
        message.extend([0xfa, 0x7f, rest as u8]);
        message.resize(100 + at, 0);
        bytes.extend((message.len() as u32).to_le_bytes());
        bytes.extend(message);
    }
    fs::write(&path, bytes).unwrap();
    path
}

/// The times of what is selected, and how it was read.
fn read(path: &Path, selection: &Selection) -> (Vec<Nanoseconds>, Vec<String>, u64) {
    let mut reader = open(path, &OpenHints::default()).unwrap();
    let mut times = Vec::new();
    let mut selected = selection.select(reader.as_mut());
    let mut before = None;
    while let Some(head) = selected.advance().unwrap() {
        let data = selected.reader().data().unwrap();
        assert_eq!(Stamp::read("osi3.SensorView", data).time, head.time);
        before.get_or_insert(head.place.at);
        times.push(head.time.unwrap());
    }
    (times, reader.remarks(), before.unwrap_or(0))
}

fn selections() -> Vec<Selection> {
    let times = [(None, Some(0)), (Some(30), None), (Some(15), Some(45)), (Some(31), Some(32))];
    let times = times.map(|(from, to)| Selection { from, to, ..Selection::default() });
    let numbers = [(0, Some(2)), (3, None), (2, Some(5)), (100, None), (6, Some(8))];
    let numbers = numbers.map(|(first, end)| Selection { first, end, ..Selection::default() });
    let both =
        Selection { first: 2, from: Some(10), to: Some(60), every: 2, ..Selection::default() };
    [times.as_slice(), numbers.as_slice(), &[both]].concat()
}

#[test]
fn what_is_found_by_the_index_is_what_hopping_finds() {
    let folder = tempfile::tempdir().unwrap();
    for times in [
        &[0, 10, 20, 30, 30, 40, 50, 60][..],
        // They go back: there is no way to a time but to look at all.
        &[50, 10, 20, 30, 0, 60, 40, 30],
        &[7],
    ] {
        let path = trace(folder.path(), times);
        let _ = fs::remove_file(index_path(&path));
        let hopped: Vec<_> = selections().iter().map(|of| read(&path, of)).collect();
        assert_eq!(write(&path, None, &mut |_, _| {}).unwrap(), times.len() as u64);
        let found: Vec<_> = selections().iter().map(|of| read(&path, of)).collect();
        assert_eq!(hopped, found);
        assert!(found.iter().all(|(_, remarks, _)| remarks.is_empty()));
    }
    let path = recording(OSI);
    let copy = folder.path().join(path.file_name().unwrap());
    fs::copy(&path, &copy).unwrap();
    assert_eq!(write(&copy, None, &mut |_, _| {}).unwrap(), 5);
    let last = Selection { first: 4, ..Selection::default() };
    assert_eq!(read(&copy, &last), read(&path, &last));
}

#[test]
fn what_lies_before_the_wanted_message_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &[0, 10, 20, 30, 40, 50]);
    write(&path, None, &mut |_, _| {}).unwrap();
    let sampled = Selection { first: 5, ..Selection::default() };
    let file = File::options().write(true).read(true).open(&path).unwrap();
    let (_, _, at) = read(&path, &Selection { first: 2, end: Some(3), ..Selection::default() });
    assert_eq!(read(&path, &sampled).0, [50]);
    // All six are sampled here: a length that is another one is found.
    file.write_all_at(&[0xff; 4], at).unwrap();
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    let outcome = sampled.select(reader.as_mut()).advance();
    assert!(outcome.is_err(), "it is hopped over, into nothing");
    assert!(
        reader.remarks()[0].contains("message 2 has moved or changed"),
        "{:?}",
        reader.remarks()
    );
    // Of a hundred and fifty not all are.
    let path = trace(folder.path(), &(0..150).map(|n| n * 10).collect::<Vec<_>>());
    write(&path, None, &mut |_, _| {}).unwrap();
    let (_, _, at) = read(&path, &Selection { first: 3, end: Some(4), ..Selection::default() });
    let file = File::options().write(true).read(true).open(&path).unwrap();
    file.write_all_at(&[0xff; 4], at).unwrap();
    for selection in [
        Selection { first: 149, ..Selection::default() },
        Selection { from: Some(1490), ..Selection::default() },
    ] {
        assert_eq!(read(&path, &selection).0, [1490]);
    }
    let early = Selection { from: Some(40), to: Some(50), ..Selection::default() };
    assert_eq!(read(&path, &early).0, [40, 50]);
    fs::remove_file(index_path(&path)).unwrap();
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    assert!(early.select(reader.as_mut()).advance().is_err());
}

#[test]
fn an_index_that_is_stale_or_damaged_is_told_and_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let times = [0, 10, 20, 30, 40, 50];
    let path = trace(folder.path(), &times);
    write(&path, None, &mut |_, _| {}).unwrap();
    let good = fs::read(index_path(&path)).unwrap();
    let wanted = Selection { from: Some(20), to: Some(30), ..Selection::default() };
    let (found, none, _) = read(&path, &wanted);
    assert_eq!((found, none.len()), (vec![20, 30], 0));
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 1;
        fs::write(index_path(&path), &damaged).unwrap();
        let (found, remarks, _) = read(&path, &wanted);
        assert_eq!((found, remarks.len()), (vec![20, 30], 1), "byte {at}");
        assert!(remarks[0].contains("made_sv.osi.index is not used: "), "{remarks:?}");
        assert!(remarks[0].contains("'wiregauge trace index "), "{remarks:?}");
    }
    for length in [0, 7, 31, 40, good.len() - 1] {
        fs::write(index_path(&path), &good[..length]).unwrap();
        let (found, remarks, _) = read(&path, &wanted);
        assert_eq!((found, remarks.len()), (vec![20, 30], 1), "{length} bytes");
    }
    fs::write(index_path(&path), &good).unwrap();
    // A message more; others at the same places; other lengths in the same length.
    for (times, what) in [
        (&[0, 10, 20, 30, 40, 50, 60][..], "another length now"),
        (&[1, 10, 20, 30, 40, 50], "message 0 has moved or changed: it has another time"),
    ] {
        trace(folder.path(), times);
        let (_, remarks, _) = read(&path, &wanted);
        assert!(remarks[0].contains(what), "{remarks:?}");
    }
    let mut bytes = fs::read(trace(folder.path(), &times)).unwrap();
    bytes.rotate_left(104);
    fs::write(&path, bytes).unwrap();
    let (_, remarks, _) = read(&path, &wanted);
    assert!(remarks[0].contains("message 0 has moved or changed"), "{remarks:?}");
}

#[test]
fn only_what_is_whole_and_plain_gets_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &[0, 10, 20]);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let refused = error(write(&path, None, &mut |_, _| {}));
    assert!(refused.contains("is truncated after 2 messages"), "{refused}");
    let packed = folder.path().join("made_sv.osi.zst");
    fs::write(&packed, zstd::encode_all(&whole[..], 0).unwrap()).unwrap();
    let refused = error(write(&packed, None, &mut |_, _| {}));
    assert!(refused.contains("is a compressed file"), "{refused}");
    let left = fs::read_dir(folder.path()).unwrap();
    let left = left
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "index"));
    assert_eq!(left.count(), 0);
}

#[test]
fn chunks_without_a_wanted_channel_are_not_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.mcap");
    // Each message is a chunk of its own.
    let packing = ChunkOptions { compression: Compression::Zstd, chunk: 1 };
    copy_to(&[&recording("osi/zstd.mcap")], &Selection::default(), &path, packing);
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    let topics: Vec<String> =
        reader.channels().values().map(|channel| channel.topic.clone()).collect();
    assert_eq!(topics.len(), 2);
    let mut chunks = Vec::new();
    while let Some(head) = reader.next().unwrap() {
        chunks.push((reader.channels()[&head.channel].topic.clone(), head.place.at));
    }
    for topic in &topics {
        let wanted = Selection { channels: vec![topic.clone()], ..Selection::default() };
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        // Behind a chunk's head: to unpack it would fail.
        for (_, at) in chunks.iter().filter(|(of, _)| of != topic) {
            let at = *at as usize + 9 + 32 + 4 + 8;
            damaged[at..at + 4].fill(0xff);
        }
        assert_ne!(whole, damaged);
        let broken = folder.path().join("broken.mcap");
        fs::write(&broken, &damaged).unwrap();
        let read = |path: &Path| {
            let mut reader = open(path, &OpenHints::default()).unwrap();
            let mut selected = wanted.select(reader.as_mut());
            let mut found = Vec::new();
            while let Some(head) = selected.advance().unwrap() {
                found.push((head.time, selected.reader().data().unwrap().to_vec()));
            }
            found
        };
        assert_eq!(read(&path).len(), 5);
        assert_eq!(read(&path), read(&broken));
        let mut all = open(&broken, &OpenHints::default()).unwrap();
        assert!(crate::common::traces::while_some(all.as_mut()).is_err());
    }
}
