//! What trace files aim at, each as a ratio within one run: wiregauge beside the tool that
//! people use, or beside the plainest loop there can be.
//!
//!     make targets ONLY=traces
//!
//! What is compared takes turns; the median of the turns counts, and from the least to the
//! most of them stands behind it. All files are in the page cache.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{ensure, Context, Result};
use mcap::records::MessageHeader;
use mcap::WriteOptions;
use wiregauge_osi::descriptors::descriptors;
use wiregauge_osi::python::Python;
use wiregauge_system::file::Target;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::copy::{copy, CopySource};
use wiregauge_trace::info::read_info;
use wiregauge_trace::open::{open, OpenHints};
use wiregauge_trace::parser::{extract_definition, Parser};
use wiregauge_trace::select::Selection;
use wiregauge_trace::write::{ChunkOptions, Compression, OutputFormat};

#[path = "support/turns.rs"]
mod turns;

use turns::{median, say, timed, turns, verdict, Measure};

/// The trace: 500 messages with 200 objects each.
const NAME: &str = "20240101T000000Z_gt_380_32112_500_made.osi";

/// Makes it, with values that differ, as compression would flatter equal ones.
const MAKE: &str = r#"
import random, struct, sys
from osi3.osi_groundtruth_pb2 import GroundTruth
random.seed(1)
with open(sys.argv[1], "wb") as out:
    for n in range(500):
        m = GroundTruth()
        m.version.version_major, m.version.version_minor, m.version.version_patch = 3, 8, 0
        m.timestamp.seconds, m.timestamp.nanos = n // 100, n % 100 * 10000000
        for k in range(200):
            o = m.moving_object.add()
            o.id.value, o.type = k, 2
            b = o.base
            for v in (b.position, b.velocity, b.acceleration):
                v.x, v.y, v.z = random.random(), random.random(), random.random()
            b.orientation.yaw = random.random()
            b.dimension.length, b.dimension.width, b.dimension.height = 4, 2, 1.5
        data = m.SerializeToString()
        out.write(struct.pack("<I", len(data)) + data)
"#;

/// Reads it by OSI's own reader, and prints seconds.
const READ: &str = r#"
import sys, time
from osi3trace.osi_trace import OSITrace
began, count = time.perf_counter(), 0
for message in OSITrace(sys.argv[1], "GroundTruth"):
    count += 1
assert count == 500
print(time.perf_counter() - began)
"#;

fn main() -> ExitCode {
    match targets() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("traces: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn targets() -> Result<()> {
    let build = PathBuf::from(env::var_os("WIREGAUGE_BUILD").context("run it by make targets")?);
    let python = Python::environment(&build)?;
    let definitions = descriptors(&build, &python)?;
    let scratch = tempfile::tempdir()?;
    let osi = scratch.path().join(NAME);
    python.run(MAKE, &[&osi])?;
    println!("| target | found | wanted | |\n|---|---|---|---|");

    let mut channel = open(&osi, &OpenHints::default())?.channels()[&0].clone();
    channel.definition = extract_definition(&definitions, &channel.definition.name)?.into();
    let parser = Parser::from_channel(&channel)?;
    let peer: Measure = Box::new(|| {
        let said = python.run(READ, &[&osi])?;
        said.trim().parse().context("osi3trace told no time")
    });
    let mut read = [
        peer,
        Box::new(|| timed(|| visit(&osi, 500, |_| Ok(())))),
        Box::new(|| timed(|| visit(&osi, 500, |data| parser.check(data)))),
        Box::new(|| timed(|| visit(&osi, 500, |data| parser.parse(data).map(drop)))),
    ];
    let [theirs, raw, held, parsed] = turns(&mut read)?;
    say("reading raw, beside osi3trace", &theirs, &raw, 10.0);
    say("each field held against its definition, beside osi3trace", &theirs, &held, 2.0);
    say("parsed to objects, beside osi3trace", &theirs, &parsed, 2.0);

    for (compression, theirs, name) in [
        (Compression::None, None, "no compression"),
        (Compression::Lz4, Some(mcap::Compression::Lz4), "lz4"),
        (Compression::Zstd, Some(mcap::Compression::Zstd), "zstd"),
    ] {
        let packing = ChunkOptions { compression, ..ChunkOptions::default() };
        let file = scratch.path().join("trace.mcap");
        put(&osi, &file, &channel, packing)?;
        // The crate takes bytes: what reading them takes is not counted against it.
        let bytes = fs::read(&file)?;
        let mut read: [Measure; 2] = [
            Box::new(|| timed(|| stream(&bytes))),
            Box::new(|| timed(|| visit(&file, 500, |_| Ok(())))),
        ];
        let [theirs_read, ours] = turns(&mut read)?;
        say(
            &format!("reading MCAP, {name}, beside the mcap crate's stream"),
            &theirs_read,
            &ours,
            0.9,
        );

        let again = scratch.path().join("again.mcap");
        let plain = scratch.path().join("plain.mcap");
        let mut write: [Measure; 2] = [
            Box::new(|| timed(|| plainly(&bytes, &plain, theirs))),
            Box::new(|| timed(|| put(&file, &again, &channel, packing))),
        ];
        let [theirs, ours] = turns(&mut write)?;
        let what = format!("copying MCAP, {name}, beside the mcap crate's reader and writer");
        say(&what, &theirs, &ours, 0.8);
    }

    linear(&osi, scratch.path())?;

    let [small, large] = [20u64, 10_000].map(|megabytes| sized(scratch.path(), megabytes));
    let (small, large) = (small?, large?);
    let look = |path: &Path| {
        timed(|| read_info(path, &OpenHints::default(), false, &mut |_, _| {}).map(drop))
    };
    both("info", [Box::new(|| look(&small)), Box::new(|| look(&large))])?;
    let seek = |path: &Path, megabytes| timed(|| last(path, megabytes));
    both("the last message", [Box::new(|| seek(&small, 20)), Box::new(|| seek(&large, 10_000))])
}

/// Says what looking into a small and a large file takes.
fn both(what: &str, mut looks: [Measure; 2]) -> Result<()> {
    let [small, large] = turns(&mut looks)?.map(|taken| median(&taken));
    println!(
        "| {what} of 20 MB and of 10 GB of MCAP with an index | {:.2} and {:.2} ms | 50 ms | {} |",
        small * 1e3,
        large * 1e3,
        verdict(large < 0.05)
    );
    Ok(())
}

/// Says how reading grows with the messages: the slope of its logarithm over theirs, which
/// is 1 where each costs the same.
fn linear(osi: &Path, scratch: &Path) -> Result<()> {
    let trace = fs::read(osi)?;
    let times = [1usize, 2, 4, 8, 16];
    let mut files = Vec::new();
    for times in times {
        let path = scratch.join(format!("{times}_gt_repeated.osi"));
        let mut file = File::create(&path)?;
        (0..times).try_for_each(|_| file.write_all(&trace))?;
        files.push(path);
    }
    let mut read = [0, 1, 2, 3, 4].map(|n| -> Measure {
        let (path, count) = (&files[n], 500 * times[n]);
        Box::new(move || timed(|| visit(path, count, |_| Ok(()))))
    });
    let taken = turns(&mut read)?.map(|taken| median(&taken));
    let points = times.iter().zip(&taken).map(|(times, taken)| ((*times as f64).ln(), taken.ln()));
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let of = |a: &[f64], mean_a: f64| -> f64 {
        a.iter().zip(&x).map(|(a, x)| (a - mean_a) * (x - mean_x)).sum()
    };
    let slope = of(&y, mean_y) / of(&x, mean_x);
    let each: Vec<String> = times
        .iter()
        .zip(&taken)
        .map(|(times, taken)| format!("{:.2}", taken * 1e6 / (500 * times) as f64))
        .collect();
    println!(
        "| reading raw of 500, 1,000 … 8,000 messages | {} µs each; grows as their number to the \
         power of {slope:.2} | 0.9–1.1 | {} |",
        each.join(", "),
        verdict((0.9..=1.1).contains(&slope))
    );
    Ok(())
}

/// Reads the last message of a file that has so many, by hopping to it.
fn last(path: &Path, messages: u64) -> Result<()> {
    let mut reader = open(path, &OpenHints::default())?;
    let selection = Selection { first: messages - 1, ..Selection::default() };
    let mut selected = selection.select(reader.as_mut());
    let head = selected.advance()?.context("no such message")?;
    let length = selected.reader().data()?.len();
    ensure!(head.time == Some(i128::from(messages) - 1) && length == 1_000_000, "another message");
    Ok(())
}

/// Reads all messages of a file.
fn visit(path: &Path, messages: usize, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut reader = open(path, &OpenHints::default())?;
    let mut count = 0;
    while reader.next()?.is_some() {
        take(std::hint::black_box(reader.data()?))?;
        count += 1;
    }
    ensure!(count == messages, "{count} messages");
    Ok(())
}

/// Reads all messages by the mcap crate.
fn stream(bytes: &[u8]) -> Result<()> {
    let mut count = 0;
    for message in mcap::MessageStream::new(bytes)? {
        std::hint::black_box(&message?.data);
        count += 1;
    }
    ensure!(count == 500, "{count} messages");
    Ok(())
}

fn put(from: &Path, to: &Path, channel: &Channel, packing: ChunkOptions) -> Result<()> {
    let mut reader = open(from, &OpenHints::default())?;
    let all = Selection::default();
    let mut sources = [CopySource::new("trace", reader.as_mut(), &all)?];
    let mut writer =
        OutputFormat::from_path(to)?.begin(Target::open(to, &[])?.start_draft()?, packing)?;
    let mut describe = |_: usize, _: &Channel| Ok(channel.clone());
    copy(&mut sources, writer.as_mut(), &mut describe, &mut |_, _| {})?;
    writer.finish()
}

/// Copies by the mcap crate alone, onto the disk as ours does.
fn plainly(bytes: &[u8], to: &Path, compression: Option<mcap::Compression>) -> Result<()> {
    let options = WriteOptions::new().compression(compression).compression_threads(0);
    let mut out = options.create(std::io::BufWriter::new(File::create(to)?))?;
    for message in mcap::MessageStream::new(bytes)? {
        out.write(&message?)?;
    }
    out.finish()?;
    out.into_inner().into_inner()?.sync_all()?;
    Ok(())
}

/// An MCAP file of so many messages of a megabyte each, which take no room on the disk.
fn sized(folder: &Path, messages: u64) -> Result<PathBuf> {
    let path = folder.join(format!("{messages}.mcap"));
    let options = WriteOptions::new().compression(None).calculate_data_section_crc(false);
    let mut out = options.create(Sparse(File::create(&path)?))?;
    let channel_id = out.add_channel(0, "/a", "bytes", &BTreeMap::new())?;
    let zeros = vec![0; 1_000_000];
    for n in 0..messages {
        let header = MessageHeader { channel_id, sequence: 0, log_time: n, publish_time: n };
        out.write_to_known_channel(&header, &zeros)?;
    }
    out.finish()?;
    Ok(path)
}

/// A file in which long runs of zeros are holes.
struct Sparse(File);

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() < 4096 || bytes.iter().any(|byte| *byte != 0) {
            return self.0.write(bytes);
        }
        let end = self.0.seek(SeekFrom::Current(bytes.len() as i64))?;
        // A file does not grow by seeking, and its writer asks for its end.
        if end > self.0.metadata()?.len() {
            self.0.set_len(end)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
