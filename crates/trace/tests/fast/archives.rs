//! Recordings in archives: what is fetched of them, and what is said where that fails.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use anyhow::{bail, Context, Result};
use flate2::write::GzEncoder;
use flate2::Compression;
use mcap::records::MessageHeader;
use wiregauge_trace::check::check;
use wiregauge_trace::info::read_info;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::read::Reader;
use wiregauge_trace::remote_file::{identify, set_opener, FetchedRange, RangeSource};

/// A file that is made while it is read: zeros but for its beginning and its end.
#[derive(Clone, Debug)]
struct MadeFile {
    name: String,
    /// Its beginning, and what the archive calls its version.
    front: Arc<Mutex<(Vec<u8>, &'static str)>>,
    end: Arc<Vec<u8>>,
    size: u64,
    /// What was fetched.
    fetched: Arc<Mutex<Vec<Range<u64>>>>,
    /// After so many requests each one fails.
    works: Arc<AtomicU64>,
}

static FILES: LazyLock<Mutex<Vec<MadeFile>>> = LazyLock::new(Mutex::default);

impl RangeSource for MadeFile {
    fn fetch(&self, from: u64, length: u64) -> Result<FetchedRange> {
        if self
            .works
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_err()
        {
            bail!("the archive is on fire; try later");
        }
        let to = (from + length).min(self.size);
        self.fetched.lock().unwrap().push(from..to);
        let end = self.size - self.end.len() as u64;
        let served = self.front.lock().unwrap();
        let byte = |at: u64| match served.0.get(at as usize) {
            Some(byte) => *byte,
            None if at >= end => self.end[(at - end) as usize],
            None => 0,
        };
        let (bytes, version) = ((from..to).map(byte).collect(), served.1.to_owned());
        Ok(FetchedRange { bytes, size: self.size, version })
    }
}

/// A file in the archive of the tests, by an address of its own.
fn file(name: &str, front: Vec<u8>, end: Vec<u8>, size: u64) -> (PathBuf, MadeFile) {
    set_opener(|url| {
        let files = FILES.lock().unwrap();
        let file = files.iter().find(|file| url == format!("s3://bucket/{}", file.name));
        match file {
            Some(file) => Ok(Box::new(file.clone())),
            None => bail!("there is no such file; check the address"),
        }
    });
    let file = MadeFile {
        name: name.to_owned(),
        front: Arc::new(Mutex::new((front, ""))),
        end: Arc::new(end),
        size,
        fetched: Arc::default(),
        works: Arc::new(AtomicU64::new(u64::MAX)),
    };
    FILES.lock().unwrap().push(file.clone());
    (PathBuf::from(format!("s3://bucket/{name}")), file)
}

fn record(opcode: u8, content: &[u8]) -> Vec<u8> {
    [&[opcode], &(content.len() as u64).to_le_bytes()[..], content].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The length of a chunk with its index.
const STEP: u64 = 4 << 20;

/// The length of the index behind a chunk.
const INDEX: u64 = 100;

/// The beginning of an MCAP file with chunks, of which the first one has its head, and the
/// end, before which the chunks lie one behind the other.
fn large_recording(size: u64) -> (Vec<u8>, Vec<u8>) {
    let mut front = [mcap::MAGIC, &record(1, &[text("ros2"), text("test")].concat())].concat();
    let begin = front.len() as u64;
    front.push(6);
    front.extend(numbers(&[STEP - INDEX - 9, 0, 99, 2 * STEP]));
    front.extend([0; 4]);
    front.extend([text("zstd"), numbers(&[STEP - INDEX - 9 - 44])].concat());
    let chunks = size / STEP - 1;
    // Where the data end is known once the summary is there, whose length does not change.
    let draft = end_of_recording(begin, chunks, INDEX, size);
    let last = size - draft.len() as u64 - begin - chunks * STEP + INDEX;
    (front, end_of_recording(begin, chunks, last, size))
}

fn end_of_recording(begin: u64, chunks: u64, last: u64, size: u64) -> Vec<u8> {
    let one = 1u16.to_le_bytes();
    let schema = [&one[..], &text("T"), &text("ros2msg"), &text("int32 x")];
    let channel = [&one[..], &one, &text("/t"), &text("cdr"), &[0; 4]];
    let mut summary = [record(3, &schema.concat()), record(4, &channel.concat())].concat();
    for chunk in 0..chunks {
        let at = begin + chunk * STEP;
        let length = if chunk + 1 == chunks { last } else { INDEX };
        let index = [
            numbers(&[chunk * 100, chunk * 100 + 99, at, STEP - INDEX]),
            10u32.to_le_bytes().to_vec(),
            one.to_vec(),
            numbers(&[at + STEP - INDEX, length]),
            text("zstd"),
            numbers(&[STEP - INDEX - 9 - 44, 2 * STEP]),
        ];
        summary.extend(record(8, &index.concat()));
    }
    let statistics = [
        numbers(&[chunks * 100]),
        one.to_vec(),
        [1u32, 0, 0, chunks as u32].map(u32::to_le_bytes).concat(),
        numbers(&[0, chunks * 100 - 1]),
        10u32.to_le_bytes().to_vec(),
        one.to_vec(),
        numbers(&[chunks * 100]),
    ];
    summary.extend(record(11, &statistics.concat()));
    let footer = 9 + 20 + mcap::MAGIC.len();
    let start = size - (summary.len() + footer) as u64;
    let footer = [numbers(&[start]), vec![0; 12]].concat();
    [record(15, &[0; 4]), summary, record(2, &footer), mcap::MAGIC.to_vec()].concat()
}

fn info(path: &Path) -> Result<wiregauge_trace::info::TraceInfo> {
    read_info(path, &OpenHints::default(), false, &mut |_, _| {})
}

#[test]
fn info_of_ten_gigabytes_fetches_less_than_a_megabyte() {
    let size = 10_000_000_000;
    let (front, end) = large_recording(size);
    let (path, made) = file("large.mcap", front, end, size);
    let info = info(&path).unwrap();
    assert_eq!((info.size, info.messages, info.container), (size, 238_300, "MCAP"));
    let fetched = made.fetched.lock().unwrap();
    let bytes: u64 = fetched.iter().map(|range| range.end - range.start).sum();
    println!("{bytes} bytes by {} requests", fetched.len());
    assert!(fetched.len() <= 10 && bytes < 1_000_000, "{bytes} bytes by {fetched:?}");
}

#[test]
fn chunks_of_other_times_are_not_asked_for() {
    let size = 10_000_000_000;
    let (front, end) = large_recording(size);
    let (path, made) = file("times.mcap", front, end, size);
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    reader.limit_times(Some(1_000_000_000), None);
    assert_eq!(reader.next().unwrap(), None);
    assert!(made.fetched.lock().unwrap().len() <= 10, "{:?}", made.fetched.lock().unwrap());
}

/// Messages of an `.osi` file: SensorViews of which each has a time and so many bytes.
fn osi(messages: usize, size: usize) -> Vec<u8> {
    osi_from(0, messages, size)
}

/// The same, whose bytes say numbers from `first` on.
fn osi_from(first: usize, messages: usize, size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for number in 0..messages {
        let mut message = vec![0x12, 4, 0x08, 1, 0x10, (number % 100) as u8, 0xa2, 0x06];
        let mut length = size;
        while length >= 128 {
            message.push(length as u8 | 128);
            length >>= 7;
        }
        message.push(length as u8);
        message.extend(vec![(first + number) as u8; size]);
        file.extend((message.len() as u32).to_le_bytes());
        file.extend(message);
    }
    file
}

#[test]
fn what_is_read_in_order_is_fetched_once_and_in_large_pieces() {
    let bytes = osi(300, 100_000);
    let size = bytes.len() as u64;
    let (path, made) = file("order ü_sv.osi", bytes.clone(), Vec::new(), size);
    let mut reader = open(&path, &OpenHints::default()).unwrap();
    let (mut at, mut count) = (0, 0);
    while reader.next().unwrap().is_some() {
        let data = reader.data().unwrap();
        at += 4;
        assert!(data == &bytes[at..at + data.len()]);
        at += data.len();
        count += 1;
    }
    assert_eq!((count, at as u64), (300, size));
    let fetched = made.fetched.lock().unwrap();
    let all: u64 = fetched.iter().map(|range| range.end - range.start).sum();
    assert!(fetched.len() < 25 && all < size + (6 << 20), "{all} of {size} bytes by {fetched:?}");
}

#[test]
fn what_cannot_be_fetched_is_no_damage() {
    let bytes = osi(300, 100_000);
    let size = bytes.len() as u64;
    let (path, made) = file("fire_sv.osi", bytes, Vec::new(), size);
    let fault = format!("cannot read {}: the archive is on fire; try later", path.display());
    for salvages in [false, true] {
        made.works.store(4, Ordering::SeqCst);
        let mut reader = open(&path, &OpenHints::default()).unwrap();
        if salvages {
            reader.salvage();
        }
        let error = loop {
            match reader
                .next()
                .and_then(|next| next.map(|_| reader.data().map(<[u8]>::len)).transpose())
            {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ends well"),
                Err(error) => break error,
            }
        };
        // Where bytes of a message were read, it says after how many messages.
        let said = format!("{error:#}");
        assert!(said.ends_with(&fault) && !said.contains("damaged"), "{said}");
    }
    let (path, made) =
        file("cut.mcap", large_recording(1 << 30).0, large_recording(1 << 30).1, 1 << 30);
    made.works.store(1, Ordering::SeqCst);
    let error = format!("{:#}", info(&path).unwrap_err());
    assert_eq!(error, "cannot read s3://bucket/cut.mcap: the archive is on fire; try later");
    made.works.store(1, Ordering::SeqCst);
    let outcome = check(&path, &OpenHints::default(), &|| bail!("no definitions"), &mut |_, _| {});
    assert_eq!(format!("{:#}", outcome.err().unwrap()), error);
    let error = format!("{:#}", info(Path::new("s3://bucket/none.mcap")).unwrap_err());
    assert_eq!(
        error,
        "cannot read s3://bucket/none.mcap: there is no such file; check the address"
    );
}

/// An MCAP file with three messages, whose bytes say numbers from `first` on, stored by gzip.
fn packed_mcap(first: u8) -> Result<Vec<u8>> {
    let mut writer = mcap::WriteOptions::new().compression(None).create(Cursor::new(Vec::new()))?;
    let schema = writer.add_schema("T", "ros2msg", b"int32 x")?;
    let channel_id = writer.add_channel(schema, "/t", "cdr", &BTreeMap::new())?;
    for number in 0..3 {
        let (time, sequence) = (u64::from(number), u32::from(number));
        let head = MessageHeader { channel_id, sequence, log_time: time, publish_time: time };
        writer.write_to_known_channel(&head, &[first + number; 1000])?;
    }
    writer.finish()?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::none());
    packed.write_all(&writer.into_inner().into_inner())?;
    Ok(packed.finish()?)
}

/// The last byte of the next message.
fn last_byte(reader: &mut dyn Reader) -> Result<u8> {
    reader.next()?.context("there is one")?;
    Ok(*reader.data()?.last().unwrap())
}

#[test]
fn another_file_of_the_same_size_is_not_taken_for_the_same() {
    // Packed as a whole, which is unpacked once for all who read it.
    let packed = |first| packed_mcap(first).unwrap();
    let (one, two) = (packed(1), packed(101));
    let size = one.len() as u64;
    assert_eq!(two.len() as u64, size);
    let open = |path: &Path| open(path, &OpenHints::default());
    let (path, made) = file("same.mcap.gz", one.clone(), Vec::new(), size);
    *made.front.lock().unwrap() = (one, "one");
    let mut before = open(&path).unwrap();
    assert_eq!(last_byte(before.as_mut()).unwrap(), 1);
    // Who opens it a moment later reads the same one, without a request.
    let requests = made.fetched.lock().unwrap().len();
    assert_eq!(last_byte(open(&path).unwrap().as_mut()).unwrap(), 1);
    assert_eq!(made.fetched.lock().unwrap().len(), requests);
    *made.front.lock().unwrap() = (two, "two");
    assert_eq!(identify(&path).unwrap(), (size, "two".to_owned()));
    let mut after = open(&path).unwrap();
    assert_eq!(last_byte(after.as_mut()).unwrap(), 101);
    assert_eq!(last_byte(before.as_mut()).unwrap(), 2);
    assert_eq!(last_byte(after.as_mut()).unwrap(), 102);

    // One that is read by parts, while it is read.
    let size = osi(300, 100_000).len() as u64;
    let (path, made) = file("while_sv.osi", Vec::new(), Vec::new(), size);
    *made.front.lock().unwrap() = (osi(300, 100_000), "one");
    let mut reader = open(&path).unwrap();
    assert_eq!(last_byte(reader.as_mut()).unwrap(), 0);
    *made.front.lock().unwrap() = (osi_from(1, 300, 100_000), "two");
    let error = (0..300).find_map(|_| last_byte(reader.as_mut()).err()).expect("it is noticed");
    let said = format!("{error:#}");
    assert!(said.ends_with("it was changed while it was read; run the command again"), "{said}");
    // Who opens it anew reads the new one, though the other one is still open.
    assert_eq!(last_byte(open(&path).unwrap().as_mut()).unwrap(), 1);
    assert!(last_byte(reader.as_mut()).is_err());

    // Where no version is told, nobody knows whether it is the same.
    let (path, made) = file("untold.mcap.gz", packed(1), Vec::new(), packed(1).len() as u64);
    let before = open(&path).unwrap();
    *made.front.lock().unwrap() = (packed(101), "");
    identify(&path).unwrap();
    assert_eq!(last_byte(open(&path).unwrap().as_mut()).unwrap(), 101);
    drop(before);
}
