//! What is in a trace file, as far as can be told without parsing a message.

mod histogram;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use self::histogram::Histogram;
use crate::channel::Channel;
use crate::file_range::FileRange;
use crate::mcap::summary::{ChunkIndex, Statistics, Summary};
use crate::mcap::{self, ChunkInfo};
use crate::open::{self, OpenHints};
use crate::osi::Stamp;
use crate::read::{
    report_progress, FileHeader, MessageCounts, MessageInfo, Metadata, Nanoseconds, Reader,
};
use crate::remote_file::unless_unfetched;
use crate::version;

/// Between two messages of a channel a gap is longer than so many of its usual intervals.
const GAP: f64 = 1.5;

/// How many bytes of a message are looked at for its version before all of them are.
const FRONT: usize = 64;

/// What is in a file. Times are in nanoseconds on the clock of the trace, sizes in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct TraceInfo {
    /// Its name as it was given.
    pub file: String,
    /// `MCAP`, `OSI`, `ROS 1 bag` or `ROS 2 bag`.
    pub container: &'static str,
    /// Its size.
    pub size: u64,
    /// Whether every message was seen, or the summary was believed.
    pub read: bool,
    /// Messages in all.
    pub messages: u64,
    /// The earliest and the latest time; none where no message has one.
    pub times: Option<(Nanoseconds, Nanoseconds)>,
    /// The chunks of MCAP.
    pub chunks: Option<ChunkTotals>,
    /// The channels, in the order of their numbers.
    pub channels: Vec<ChannelInfo>,
    /// The conventions by which it was written, as `ros2`, and what wrote it.
    pub profile: String,
    /// As above.
    pub library: String,
    /// What is said of the whole file: each record, of which several may have one name.
    pub metadata: Vec<MetadataInfo>,
    /// The files in the file.
    pub attachments: u64,
    /// What could not be read, and what else is to be told.
    pub remarks: Vec<String>,
}

/// A metadata record.
#[derive(Clone, Debug, Serialize)]
pub struct MetadataInfo {
    /// Its name.
    pub name: String,
    /// What is said.
    pub entries: BTreeMap<String, String>,
}

/// Chunks in all.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChunkTotals {
    /// How many.
    pub count: u64,
    /// How many by compression; `none` where there is none.
    pub compression: BTreeMap<String, u64>,
    /// Bytes as they lie there, and unpacked.
    pub packed: u64,
    /// As above.
    pub size: u64,
    /// The largest, unpacked.
    pub largest: u64,
}

/// A channel.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelInfo {
    /// Its topic.
    pub topic: String,
    /// The type of its messages; empty where nothing tells it.
    #[serde(rename = "type")]
    pub name: String,
    /// The encoding of its messages, and the language of their definition.
    pub encoding: String,
    /// As above; empty where the file has no definition.
    pub definition: String,
    /// What is said of it.
    pub metadata: BTreeMap<String, String>,
    /// Messages.
    pub messages: u64,
    /// What only reading tells.
    pub read: Option<ReadStats>,
}

/// What only reading a channel's messages tells.
#[derive(Clone, Debug, Serialize)]
pub struct ReadStats {
    /// The earliest and the latest time.
    pub times: Option<(Nanoseconds, Nanoseconds)>,
    /// Messages a second: of the intervals between them the usual one.
    pub rate: Option<f64>,
    /// Intervals that are longer than 1.5 usual ones.
    pub gaps: u64,
    /// The longest interval.
    pub longest: Option<Nanoseconds>,
    /// Messages whose time is before that of the one before.
    pub backwards: u64,
    /// Messages without a time.
    pub timeless: u64,
    /// Bytes of all messages, of the smallest, a middle one and the largest.
    pub bytes: u64,
    /// As above.
    pub smallest: u64,
    /// As above, within 4 %.
    pub median: u64,
    /// As above.
    pub largest: u64,
    /// How many messages have sizes of equal parts between the smallest and the largest.
    pub sizes: Vec<u64>,
    /// Versions of OSI that messages say they are of, the least first.
    pub versions: Vec<String>,
}

/// What is in a file. An MCAP file whose summary has all of it, and a bag whose index has, are
/// not read unless `all` says so: it takes as long for a large one as for a small one. Where the summary lacks what is
/// no message, chunks are hopped over for it; where it lacks channels, messages are read.
///
/// # Errors
/// When it is no trace file, or is damaged where it is read.
pub fn read_info(
    path: &Path,
    wish: &OpenHints,
    all: bool,
    news: &mut dyn FnMut(u64, u64),
) -> Result<TraceInfo> {
    unless_unfetched(path, read_file_info(path, wish, all, news))
}

fn read_file_info(
    path: &Path,
    wish: &OpenHints,
    all: bool,
    news: &mut dyn FnMut(u64, u64),
) -> Result<TraceInfo> {
    let container = open::container_name(path)?;
    let mut size = 0;
    for part in open::list_files(path)? {
        size += FileRange::open(&part)?.end();
    }
    let mut info = TraceInfo {
        file: path.display().to_string(),
        container,
        size,
        read: false,
        messages: 0,
        times: None,
        chunks: None,
        channels: Vec::new(),
        profile: String::new(),
        library: String::new(),
        metadata: Vec::new(),
        attachments: 0,
        remarks: Vec::new(),
    };
    if container != "MCAP" {
        let mut reader = open::open(path, wish)?;
        match if all { None } else { reader.indexed_counts()? } {
            Some(counted) => fill_from_index(&mut info, reader.as_ref(), &counted),
            None => fill_by_reading(&mut info, reader.as_mut(), news)?,
        }
        return Ok(info);
    }
    let mut reader = mcap::Reader::open(path)?;
    let summary = Summary::open(path)?.filter(|summary| !all && summary.has_channels());
    let Some((summary, statistics)) = summary.as_ref().and_then(with_statistics) else {
        fill_by_reading(&mut info, &mut reader, news)?;
        info.chunks = Some(ChunkTotals::from_sizes(reader.chunks().iter().map(ChunkInfo::sizes)));
        return Ok(info);
    };
    FileHeader { profile: info.profile, library: info.library } = reader.file_header();
    info.messages = statistics.messages;
    let (first, last) = statistics.times;
    info.times = (statistics.messages > 0).then_some((first.into(), last.into()));
    for (id, channel) in &summary.channels {
        let count = statistics.by_channel.get(id).copied().unwrap_or(0);
        info.channels.push(ChannelInfo::new(channel, count, None));
    }
    let has_chunks = summary.chunks.len() as u64 == statistics.chunks;
    let has_metadata = summary.metadata.len() as u64 == statistics.metadata
        && reader.metadata().len() == summary.metadata.len();
    if has_chunks && has_metadata && summary.attachments == statistics.attachments {
        info.chunks = Some(ChunkTotals::from_sizes(summary.chunks.iter().map(ChunkIndex::sizes)));
        info.attachments = summary.attachments;
    } else {
        // What is no message is found by hopping from record to record.
        reader.limit_times(Some(Nanoseconds::MAX), Some(Nanoseconds::MIN));
        while reader.next()?.is_some() {}
        info.chunks = Some(ChunkTotals::from_sizes(reader.chunks().iter().map(ChunkInfo::sizes)));
        info.attachments = reader.attachments().len() as u64;
    }
    info.metadata = metadata(&reader);
    Ok(info)
}

/// What an index tells of a bag.
fn fill_from_index(info: &mut TraceInfo, reader: &dyn Reader, counted: &MessageCounts) {
    FileHeader { profile: info.profile, library: info.library } = reader.file_header();
    info.messages = counted.messages();
    info.times = counted.times;
    for (id, channel) in reader.channels() {
        let count = counted.by_channel.get(id).copied().unwrap_or(0);
        info.channels.push(ChannelInfo::new(channel, count, None));
    }
    info.metadata = metadata(reader);
    info.remarks = reader.remarks();
}

fn with_statistics(summary: &Summary) -> Option<(&Summary, &Statistics)> {
    summary.statistics.as_ref().map(|statistics| (summary, statistics))
}

fn metadata(reader: &dyn Reader) -> Vec<MetadataInfo> {
    let info = |metadata: &Metadata| MetadataInfo {
        name: metadata.name.clone(),
        entries: metadata.entries.clone(),
    };
    reader.metadata().iter().map(info).collect()
}

/// Reads all messages, but not their bytes where these are not needed.
fn fill_by_reading(
    info: &mut TraceInfo,
    reader: &mut dyn Reader,
    news: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let mut seen: BTreeMap<u16, ChannelReadings> = BTreeMap::new();
    while let Some(head) = reader.next()? {
        let seen = seen.entry(head.channel).or_default();
        seen.take(&head);
        let channel = &reader.channels()[&head.channel];
        if channel.is_osi() {
            let definition = channel.definition.clone();
            let front = Stamp::read(&definition.name, reader.first_bytes(FRONT)?);
            // It stands at the front, but need not.
            let version = match front.version {
                None if head.size > FRONT as u64 => {
                    Stamp::read(&definition.name, reader.data()?).version
                }
                version => version,
            };
            seen.versions.extend(version);
        }
        info.messages += 1;
        if info.messages.is_multiple_of(64) {
            report_progress(reader, news)?;
        }
    }
    info.read = true;
    FileHeader { profile: info.profile, library: info.library } = reader.file_header();
    for (id, channel) in reader.channels() {
        let seen = seen.remove(id).unwrap_or_default();
        info.times = match (info.times, seen.times) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (known, new) => known.or(new),
        };
        info.channels.push(ChannelInfo::new(channel, seen.count, Some(seen.summarize())));
    }
    info.attachments = reader.attachments().len() as u64;
    info.remarks = reader.remarks();
    info.metadata = metadata(reader);
    Ok(())
}

impl ChunkTotals {
    /// Adds up chunks, each with its compression and its bytes, packed and unpacked.
    fn from_sizes<'c>(all: impl Iterator<Item = (&'c str, u64, u64)>) -> ChunkTotals {
        let mut chunks = ChunkTotals::default();
        for (compression, packed, size) in all {
            let compression = if compression.is_empty() { "none" } else { compression };
            chunks.count += 1;
            *chunks.compression.entry(compression.to_owned()).or_default() += 1;
            chunks.packed = chunks.packed.saturating_add(packed);
            chunks.size = chunks.size.saturating_add(size);
            chunks.largest = chunks.largest.max(size);
        }
        chunks
    }
}

impl ChannelInfo {
    fn new(channel: &Channel, messages: u64, read: Option<ReadStats>) -> ChannelInfo {
        ChannelInfo {
            topic: channel.topic.clone(),
            name: channel.definition.name.clone(),
            encoding: channel.message_encoding.clone(),
            definition: match channel.definition.is_known() {
                true => channel.definition.encoding.clone(),
                false => String::new(),
            },
            metadata: channel.metadata.clone(),
            messages,
            read,
        }
    }
}

/// What was seen of a channel's messages.
#[derive(Default)]
struct ChannelReadings {
    count: u64,
    times: Option<(Nanoseconds, Nanoseconds)>,
    last: Option<Nanoseconds>,
    intervals: Histogram,
    backwards: u64,
    timeless: u64,
    sizes: Histogram,
    versions: BTreeSet<version::Version>,
}

impl ChannelReadings {
    fn take(&mut self, head: &MessageInfo) {
        self.count += 1;
        self.sizes.add(head.size);
        let Some(time) = head.time else {
            self.timeless += 1;
            return;
        };
        let (first, last) = self.times.unwrap_or((time, time));
        self.times = Some((first.min(time), last.max(time)));
        if let Some(before) = self.last.replace(time) {
            match u64::try_from(time - before) {
                Ok(interval) => self.intervals.add(interval),
                Err(_) => self.backwards += 1,
            }
        }
    }

    fn summarize(self) -> ReadStats {
        let usual = self.intervals.median().filter(|usual| *usual > 0);
        let gap = usual.map(|usual| (usual as f64 * GAP) as u64);
        ReadStats {
            times: self.times,
            rate: usual.map(|usual| 1e9 / usual as f64),
            gaps: gap.map_or(0, |gap| self.intervals.above(gap)),
            longest: self.intervals.most().map(Nanoseconds::from),
            backwards: self.backwards,
            timeless: self.timeless,
            bytes: self.sizes.total(),
            smallest: self.sizes.least().unwrap_or(0),
            median: self.sizes.median().unwrap_or(0),
            largest: self.sizes.most().unwrap_or(0),
            sizes: self.sizes.bars(24),
            versions: self.versions.into_iter().map(version::format_version).collect(),
        }
    }
}
