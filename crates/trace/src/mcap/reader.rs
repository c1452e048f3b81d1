//! Reads an MCAP file from start to end. Index, summary and metadata are not needed; where
//! there is a summary, chunks of no interest are hopped over.

mod chunks;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use anyhow::{anyhow, bail, ensure, Context, Result};
use mcap::records::op;
use mcap::MAGIC;
use wiregauge_system::interrupt::{self, Interrupted};
use wiregauge_system::text::format_count;

use super::channel_table::{ChannelTable, Redefinition};
use super::chunk::{self, ChunkHeader};
use super::chunk_times::{self, MessageIndex};
use super::fields::RecordFields;
use super::message_count;
use super::prefetch::ChunkPrefetch;
use super::search;
use super::single_record::{metadata_at, read_header, LARGEST_RECORD, RECORD};
use super::summary::{ChunkIndex, Summary};
use super::truncated::TruncatedError;
use crate::channel::Channel;
use crate::file_range::FileRange;
use crate::read::{
    self, check_size, Attachment, FileHeader, Loss, MessageCounts, MessageInfo, MessagePosition,
    Metadata, Nanoseconds, Reader as _,
};
use crate::read_log::ReadLog;
use crate::scratch::{self, OpenedFile};
use crate::shared_bytes::SharedBytes;
use crate::slice_reader::SliceReader;

/// The length of what stands before a message's bytes.
const MESSAGE: usize = 2 + 4 + 8 + 8;

/// How many bytes are passed over at once.
const PASSED: u64 = 16 << 20;

/// Among so many of the latest losses is that of the current chunk.
const LATEST: usize = 64;

/// Where the current chunk's records come from.
enum RecordSource {
    /// They lie in the file as they are, from one position to another, and so many bytes
    /// behind them are the chunk's, too.
    Plain { start: u64, end: u64, behind: u64 },
    /// They were unpacked.
    Unpacked(SliceReader),
}

/// A chunk as it lies in the file.
pub(crate) struct ChunkInfo {
    /// Its position and length, with the record's head.
    pub at: u64,
    pub length: u64,
    /// The earliest and the latest time of its messages, as it says, and of those that were
    /// read of it.
    pub times: (u64, u64),
    pub own_times: Option<(u64, u64)>,
    pub compression: String,
    /// How many bytes its records have as they lie there, and unpacked.
    pub packed: u64,
    pub size: u64,
}

impl ChunkInfo {
    /// Its compression, and its bytes as they lie there and unpacked.
    pub fn sizes(&self) -> (&str, u64, u64) {
        (&self.compression, self.packed, self.size)
    }
}

/// A file that is read.
pub struct Reader {
    origin: String,
    file: FileRange,
    records: SliceReader,
    /// The current chunk, and where it begins.
    chunk: Option<(u64, RecordSource)>,
    /// The buffer of the chunk before.
    spare: Vec<u8>,
    /// What unpacks chunks that are still to come.
    ahead: Option<ChunkPrefetch>,
    known: ChannelTable,
    summary: Option<Summary>,
    /// What is wrong with the summary.
    summary_fault: Option<String>,
    /// By what and for what the file was written.
    about: FileHeader,
    metadata: Vec<Metadata>,
    /// Where these lie.
    metadata_at: BTreeSet<u64>,
    attachments: Vec<Attachment>,
    /// Messages so far.
    count: u64,
    /// How many of them are in no chunk.
    loose: u64,
    /// How many bytes of the last message were not asked for.
    body: u64,
    window: (Nanoseconds, Nanoseconds),
    /// What begins from here on is not read.
    stop: u64,
    /// Where chunks begin that have no message of a channel that is wanted.
    unwanted: BTreeSet<u64>,
    /// Where chunks begin, with the ends of their indexes and their times, for a file that lies in
    /// an archive.
    hops: BTreeMap<u64, (u64, (u64, u64))>,
    /// Whether no message is wanted, but all that is none.
    rest_only: bool,
    /// Whether the times that chunks say are believed.
    trusts_times: bool,
    /// The chunk that was hopped over last because of its times.
    hopped: Option<u64>,
    /// Whether checksums are compared.
    verifies: bool,
    /// The checksum of all before the last record outside of a chunk.
    sum: Option<u32>,
    /// Times and places of the chunk's messages, by the channels of the file, and what is
    /// wrong with the indexes behind chunks, where that is wanted.
    places: BTreeMap<u16, Vec<(u64, u64)>>,
    index_faults: Vec<(u64, String)>,
    /// Channels of messages for which there is none.
    missing: BTreeSet<u16>,
    told: ReadLog,
    /// Whether only the summary follows.
    ended: bool,
    finished: bool,
    /// The chunks up to here.
    chunks: Vec<ChunkInfo>,
    /// Where the last record outside of a chunk begins.
    at: u64,
}

impl Reader {
    /// Opens a file that begins as MCAP does.
    ///
    /// # Errors
    /// When it cannot be read. Whether it is whole shows when it is read.
    pub fn open(path: &Path) -> Result<Reader> {
        let OpenedFile { part: file, fault } = scratch::open(path)?;
        let mut records = SliceReader::from_range(file.clone());
        records.skip(MAGIC.len() as u64)?;
        // Messages are read without a damaged summary; it is told.
        let (summary, summary_fault) = match Summary::read(&file) {
            Ok(summary) => (summary, None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        let known = ChannelTable::from_summary(summary.as_ref());
        let named = summary.iter().flat_map(|summary| &summary.metadata);
        let places: BTreeSet<u64> = named.map(|(at, _)| *at).collect();
        let metadata = places.iter().filter_map(|at| metadata_at(&file, *at).ok());
        let metadata: Vec<Metadata> = metadata.collect();
        let chunks = summary.iter().flat_map(|summary| &summary.chunks);
        let hops = chunks.filter(|_| file.is_remote()).map(|chunk| {
            let end = chunk.at.saturating_add(chunk.length).saturating_add(chunk.index_length);
            (chunk.at, (end, chunk.times))
        });
        let hops = hops.collect();
        Ok(Reader {
            origin: path.display().to_string(),
            about: read_header(&file).unwrap_or_default(),
            // What tells no channels has them in chunks that may be hopped over.
            trusts_times: summary.as_ref().is_some_and(|summary| {
                summary.tells_channels() && chunk_times::are_plausible(summary)
            }),
            metadata_at: metadata.iter().map(|metadata| metadata.at).collect(),
            file,
            records,
            chunk: None,
            spare: Vec::new(),
            ahead: None,
            known,
            summary,
            summary_fault,
            metadata,
            attachments: Vec::new(),
            count: 0,
            loose: 0,
            body: 0,
            window: (Nanoseconds::MIN, Nanoseconds::MAX),
            stop: u64::MAX,
            unwanted: BTreeSet::new(),
            hops,
            rest_only: false,
            hopped: None,
            verifies: false,
            sum: None,
            places: BTreeMap::new(),
            index_faults: Vec::new(),
            missing: BTreeSet::new(),
            told: ReadLog::new(fault),
            ended: false,
            finished: false,
            chunks: Vec::new(),
            at: MAGIC.len() as u64,
        })
    }

    /// The chunks up to here, as they lie in the file.
    pub(crate) fn chunks(&self) -> &[ChunkInfo] {
        &self.chunks
    }

    /// How many messages up to here are in no chunk.
    pub(crate) fn loose_messages(&self) -> u64 {
        self.loose
    }

    /// What is wrong with the message indexes behind chunks, with their places.
    pub(crate) fn index_faults(&self) -> &[(u64, String)] {
        &self.index_faults
    }

    /// The next record: what it is, and its bytes where it is no message. Of a message the
    /// bytes follow.
    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        loop {
            if self.body > 0 {
                let left = std::mem::take(&mut self.body);
                ensure!(self.skip_bytes(left)?, TruncatedError);
            }
            let Some(place) = self.next_position()? else { continue };
            if self.chunk.is_none() {
                if place.at >= self.stop {
                    return Ok(None);
                }
                self.at = place.at;
                self.sum = self.records.sum();
            }
            let (opcode, length) = self.record()?;
            let within = self.chunk.is_some();
            match self.remaining() {
                Some(left) if length > left && within => bail!("a record is truncated"),
                Some(left) if length > left && opcode == op::CHUNK && self.told.salvages() => {
                    self.enter_last(place.at)?;
                    continue;
                }
                Some(left) if length > left => bail!(TruncatedError),
                _ => {}
            }
            if opcode == op::MESSAGE && !self.ended && !self.rest_only {
                match self.message(place, length)? {
                    Some(head) => return Ok(Some(head)),
                    None => continue,
                }
            }
            self.read_other(opcode, length, place)?;
            if self.finished {
                return Ok(None);
            }
        }
    }

    /// Where the next record lies; none where a chunk has just ended.
    fn next_position(&mut self) -> Result<Option<MessagePosition>> {
        let position = self.records.position();
        let Some((at, chunk)) = &mut self.chunk else {
            return Ok(Some(MessagePosition { at: position, within: None }));
        };
        let within = match chunk {
            RecordSource::Plain { start, end, .. } => {
                ensure!(position <= *end, "a record is longer than its chunk");
                (position < *end).then(|| position - *start)
            }
            RecordSource::Unpacked(pieces) => {
                let has_ended = pieces.peek(1)?.is_empty();
                (!has_ended).then(|| pieces.position())
            }
        };
        let place = within.map(|within| MessagePosition { at: *at, within: Some(within) });
        if place.is_none() {
            match self.chunk.take() {
                Some((_, RecordSource::Unpacked(pieces))) => self.spare = pieces.into_buffer(),
                Some((_, RecordSource::Plain { behind, .. })) => {
                    ensure!(self.skip_bytes(behind)?, TruncatedError)
                }
                None => {}
            }
            self.compare_times();
        }
        Ok(place)
    }

    /// How many bytes are left of the chunk, or of the file; none where nobody knows.
    fn remaining(&mut self) -> Option<u64> {
        match self.chunk {
            Some((_, RecordSource::Plain { end, .. })) => end.checked_sub(self.records.position()),
            _ => self.current().remaining(),
        }
    }

    /// Where records come from now.
    fn current(&mut self) -> &mut SliceReader {
        match &mut self.chunk {
            Some((_, RecordSource::Unpacked(pieces))) => pieces,
            _ => &mut self.records,
        }
    }

    /// What stands before a record: what it is and its length.
    fn record(&mut self) -> Result<(u8, u64)> {
        let within = self.chunk.is_some();
        let head = self.current().take(RECORD)?;
        let head: [u8; RECORD] = match head.try_into() {
            Ok(head) => head,
            Err(_) if within => bail!("a record is truncated"),
            Err(_) => bail!(TruncatedError),
        };
        Ok((head[0], u64::from_le_bytes(head[1..].try_into()?)))
    }

    /// A message; none where it is left out.
    fn message(&mut self, place: MessagePosition, length: u64) -> Result<Option<MessageInfo>> {
        let size = length.checked_sub(MESSAGE as u64).context("a record is truncated")?;
        check_size(size, place)?;
        let mut fields = RecordFields(self.current().take(MESSAGE)?);
        let (id, sequence) = (fields.read_u16()?, fields.read_u32()?);
        let (time, publish_time) = (fields.read_u64()?, fields.read_u64()?);
        let channel = match self.known.number(id) {
            Ok(channel) => channel,
            Err(error) if self.told.salvages() => {
                if self.missing.insert(id) {
                    self.add_loss(place.at, format!("{error:#}; its messages are left out"));
                }
                ensure!(self.skip_bytes(size)?, TruncatedError);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if self.told.salvages() {
            // Where it cannot be read, the next one is searched for now and not later.
            let there = self.current().peek(size as usize)?.len();
            ensure!(there as u64 == size, TruncatedError);
            let of_channel = self.places.entry(id);
            of_channel.or_default().push((time, place.within.unwrap_or(0)));
        }
        if let Some(chunk) = self.chunks.last_mut().filter(|_| place.within.is_some()) {
            let (first, last) = chunk.own_times.unwrap_or((time, time));
            chunk.own_times = Some((first.min(time), last.max(time)));
        }
        self.body = size;
        Ok(Some(MessageInfo {
            channel,
            sequence,
            time: Some(time.into()),
            publish_time: Some(publish_time.into()),
            size,
            place,
        }))
    }

    /// No longer believes the times of chunks where one says others than its messages.
    fn compare_times(&mut self) {
        let Some(ChunkInfo { times, own_times: Some(own), .. }) = self.chunks.last() else {
            return;
        };
        let is_within = times.0 <= own.0 && own.1 <= times.1;
        self.trusts_times &= is_within || *times == (0, 0);
    }

    /// Takes what is no message.
    fn read_other(&mut self, opcode: u8, length: u64, place: MessagePosition) -> Result<()> {
        let within = self.chunk.is_some();
        match opcode {
            op::CHUNK => {
                ensure!(!within, "a chunk lies within a chunk");
                return self.enter(length, place.at);
            }
            op::DATA_END if !within && !self.ended => {
                self.ended = true;
                return self.end_data(length, place.at);
            }
            op::FOOTER if !within => {
                ensure!(length >= 20, "a footer has {length} bytes");
                self.ended = true;
                ensure!(self.skip_bytes(length)?, TruncatedError);
                ensure!(self.records.take(MAGIC.len())? == MAGIC, TruncatedError);
                return self.continue_after_end();
            }
            op::ATTACHMENT if !within => {
                if let Err(error) = self.add_attachment(length, place.at) {
                    ensure!(self.told.salvages(), error);
                    self.add_loss(place.at, format!("{error:#}"));
                }
            }
            op::MESSAGE_INDEX if !within && (self.hopped.is_some() || self.told.salvages()) => {
                let bytes = self.read_bytes(length)?;
                return self.compare_index(&bytes, place.at);
            }
            op::SCHEMA | op::CHANNEL | op::METADATA if !self.ended => {
                let bytes = self.read_bytes(length)?;
                let outcome = self.store_record(opcode, RecordFields(&bytes), place);
                return match outcome {
                    Err(error) if self.told.salvages() => {
                        self.add_loss(place.at, format!("{error:#}"));
                        Ok(())
                    }
                    outcome => outcome,
                };
            }
            _ => {}
        }
        ensure!(self.skip_bytes(length)?, TruncatedError);
        Ok(())
    }

    fn add_loss(&mut self, at: u64, what: String) {
        self.told.add_loss(at, what);
    }

    /// Goes on behind what is damaged; whether there is something.
    fn resume(&mut self, error: &anyhow::Error) -> Result<bool> {
        self.body = 0;
        if let Some((at, _)) = self.chunk.take() {
            // The end of a chunk that was told to be damaged is no other loss.
            let mut latest = self.told.losses().iter().rev().take(LATEST);
            if latest.all(|loss| loss.at != at) {
                self.add_loss(at, format!("{error:#}; messages before that are kept"));
            }
            return Ok(true);
        }
        let (from, end) = (self.at, self.file.end());
        let Some(next) = search::next_record(&self.file, from + 1)? else {
            let what = match from == end {
                true => "the file ends without a summary".to_owned(),
                false => format!("{error:#}, {} before the end", format_count(end - from, "byte")),
            };
            self.add_loss(from, what);
            self.finished = true;
            return Ok(false);
        };
        self.add_loss(from, format!("{error:#}; {} left out", format_count(next - from, "byte")));
        self.records.continue_with(self.file.between(next, end));
        Ok(true)
    }

    /// What went wrong, where, and what to do.
    fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let (origin, messages) = (&self.origin, format_count(self.count, "message"));
        let remedy = format!("save the undamaged part with 'wiregauge trace repair {origin}'");
        if error.is::<TruncatedError>() {
            return anyhow!("{origin} is truncated after {messages}; {remedy}");
        }
        if error.is::<read::Unsupported>() {
            return error.context(format!("{origin} cannot be read after {messages}"));
        }
        let at = self.chunk.as_ref().map_or(self.records.position(), |(at, _)| *at);
        error.context(format!("{origin} is damaged after {messages}, near byte {at}; {remedy}"))
    }
}

impl read::Reader for Reader {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        self.known.channels()
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        if self.finished {
            return Ok(None);
        }
        self.told.check_packing(&self.origin)?;
        let head = loop {
            interrupt::check()?;
            match self.advance() {
                Ok(head) => break head,
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(error) if !self.told.salvages() => return Err(self.explain(error)),
                Err(error) if self.resume(&error)? => {}
                Err(_) => break None,
            }
        };
        match head {
            Some(head) => {
                self.count += 1;
                self.loose += u64::from(head.place.within.is_none());
            }
            None => self.finished = true,
        }
        Ok(head)
    }

    fn first_bytes(&mut self, most: usize) -> Result<&[u8]> {
        let wanted = most.min(self.body as usize);
        Ok(self.current().peek(wanted)?)
    }

    fn data(&mut self) -> Result<&[u8]> {
        let size = self.read_body()?;
        Ok(self.current().take(size)?)
    }

    fn shared_data(&mut self) -> Result<SharedBytes> {
        let size = self.read_body()?;
        Ok(self.current().take_shared(size)?)
    }

    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.window = (from.unwrap_or(Nanoseconds::MIN), to.unwrap_or(Nanoseconds::MAX));
        self.rest_only = self.window.0 > self.window.1;
        if self.rest_only {
            self.records.end_sum();
        }
    }

    fn select_channels(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        let Some(summary) = &self.summary else { return };
        let channels = self.known.channels();
        let is_wanted = |id: &u16| channels.get(id).is_none_or(wanted);
        self.unwanted = message_count::find_unwanted_chunks(summary, is_wanted);
    }

    fn limit_positions(&mut self, from: u64, to: u64) -> Result<()> {
        if from > self.records.position() {
            self.records.continue_with(self.file.between(from, self.file.end()));
        }
        self.stop = to;
        Ok(())
    }

    fn skip_messages(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        // Files within the file would be hopped over too.
        let Some(summary) = self.summary.as_ref().filter(|known| known.attachments == 0) else {
            return Ok(0);
        };
        let channels = self.known.channels().iter().filter(|(_, channel)| wanted(channel));
        let wanted: BTreeSet<u16> = channels.map(|(id, _)| *id).collect();
        let (hopped, to) = message_count::count_in_chunks(&self.file, summary, &wanted, most)?;
        if let Some(distance) = to.and_then(|to| to.checked_sub(self.records.position())) {
            self.records.end_sum();
            self.records.skip(distance)?;
            return Ok(hopped);
        }
        Ok(0)
    }

    fn indexed_counts(&mut self) -> Result<Option<MessageCounts>> {
        self.told.check_packing(&self.origin)?;
        let Some(summary) = self.summary.as_ref().filter(|known| known.has_channels()) else {
            return Ok(None);
        };
        let Some(known) = &summary.statistics else { return Ok(None) };
        let is_all = known.metadata == self.metadata.len() as u64 && known.attachments == 0;
        let (first, last) = known.times;
        let times = (known.messages > 0).then_some((first.into(), last.into()));
        Ok(is_all.then(|| MessageCounts { by_channel: known.by_channel.clone(), times }))
    }

    fn salvage(&mut self) {
        self.told.salvage();
        self.verify();
        // Whatever a damaged file says of its chunks, they are looked into.
        self.summary = None;
        self.trusts_times = false;
        self.unwanted.clear();
    }

    fn verify(&mut self) {
        self.verifies = true;
        if self.records.position() == MAGIC.len() as u64 {
            self.records.begin_sum(MAGIC);
        }
    }

    fn file_header(&self) -> FileHeader {
        self.about.clone()
    }

    fn remarks(&self) -> Vec<String> {
        self.told.remarks().to_vec()
    }

    fn losses(&self) -> &[Loss] {
        self.told.losses()
    }

    fn metadata(&self) -> &[Metadata] {
        &self.metadata
    }

    fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    fn progress(&self) -> (u64, u64) {
        (self.records.position(), self.file.end())
    }
}
