//! Reads a bag of ROS 1 from start to end. An index is not needed; where there is one it
//! tells which connections there are and where the recording ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::interrupt;
use wiregauge_system::text::format_count;

use super::record::{
    self, HeaderFields, BAG, CHUNK, CHUNK_INFO, CONNECTION, INDEX_DATA, MAGIC, MAX_CONNECTION,
    MESSAGE,
};
use super::search;
use crate::channel::{Channel, Definition};
use crate::file_range::FileRange;
use crate::read::{
    self, check_size, FileHeader, Loss, MessageCounts, MessageInfo, MessagePosition, Nanoseconds,
};
use crate::read_log::ReadLog;
use crate::scratch::{self, OpenedFile};
use crate::shared_bytes::SharedBytes;
use crate::slice_reader::SliceReader;

/// What is said of a connection, as MCAP says it of a channel of ROS 1.
const CONNECTION_METADATA: [&str; 3] = ["callerid", "latching", "md5sum"];

/// The chunk whose records are read.
struct BagChunk {
    at: u64,
    /// Where the record that it is ends.
    end: u64,
    records: SliceReader,
    /// How many bytes it has once unpacked, where it is not cut.
    size: Option<u64>,
}

/// What the index at the end tells.
#[derive(Default)]
struct BagIndex {
    /// Where chunks begin.
    chunks: BTreeSet<u64>,
    /// How many messages they have by connection, and the times of these.
    counts: BTreeMap<u32, u64>,
    counted: MessageCounts,
    /// Where it ends.
    end: u64,
}

impl BagIndex {
    /// Takes what it tells of a chunk: where it is, its times, and how many messages of each
    /// connection it has.
    fn take(&mut self, fields: &HeaderFields, data: &[u8]) -> Result<()> {
        self.chunks.insert(fields.long("chunk_pos")?);
        let mut messages = 0u64;
        for entry in data.chunks_exact(8) {
            let [connection, count] =
                [0, 4].map(|at| entry[at..at + 4].try_into().map(u32::from_le_bytes));
            *self.counts.entry(connection?).or_default() += u64::from(count?);
            messages += u64::from(count?);
        }
        ensure!(data.len().is_multiple_of(8), "a chunk in the index has an incomplete number");
        if messages > 0 {
            self.counted.widen((fields.time("start_time")?, fields.time("end_time")?));
        }
        Ok(())
    }
}

/// A bag that is read.
pub struct Reader {
    origin: String,
    file: FileRange,
    records: SliceReader,
    /// Where what was recorded ends: where the index begins, or with the file.
    end: u64,
    /// The index, where there is one.
    index: Option<BagIndex>,
    /// Why something is missing at the end, though nothing of it begins.
    missing: Option<&'static str>,
    chunk: Option<BagChunk>,
    /// Where the last record outside of a chunk begins.
    at: u64,
    /// The channel of each connection.
    connections: HashMap<u32, u16>,
    channels: BTreeMap<u16, Channel>,
    count: u64,
    /// How many bytes of the last message were not asked for.
    body: u64,
    told: ReadLog,
    finished: bool,
}

impl Reader {
    /// Opens a file that begins as a bag does.
    ///
    /// # Errors
    /// When it cannot be read, or is encrypted. Whether it is whole shows when it is read.
    pub fn open(path: &Path) -> Result<Reader> {
        let OpenedFile { part: file, fault } = scratch::open(path)?;
        let start = MAGIC.len() as u64;
        let mut records = SliceReader::from_range(file.clone());
        records.skip(start)?;
        let mut reader = Reader {
            origin: path.display().to_string(),
            end: file.end(),
            file,
            records,
            index: None,
            missing: None,
            chunk: None,
            at: start,
            connections: HashMap::new(),
            channels: BTreeMap::new(),
            count: 0,
            body: 0,
            told: ReadLog::new(fault),
            finished: false,
        };
        reader.head()?;
        reader.records.continue_with(reader.file.between(start, reader.end));
        Ok(reader)
    }

    /// Reads the first record, and the index where it says that there is one.
    fn head(&mut self) -> Result<()> {
        let Ok((header, _)) = record::head(&mut self.records) else {
            self.missing = Some("its first record is missing");
            return Ok(());
        };
        let fields = HeaderFields(&header);
        if !fields.octet("op").is_ok_and(|op| op == BAG) {
            return Ok(());
        }
        let encryptor = fields.find("encryptor")?.unwrap_or_default();
        ensure!(
            encryptor.is_empty(),
            "{}: it is encrypted; decrypt it with the rosbag of ROS 1",
            self.origin
        );
        let position = fields.long("index_pos").unwrap_or(0);
        let records = ["conn_count", "chunk_count"].map(|name| fields.number(name).unwrap_or(0));
        // Of a bag in which nothing is, the index has no bytes.
        let last = self.file.end() - u64::from(records != [0, 0]);
        if position > last {
            self.missing = Some("the index that its first record names is missing");
        }
        if position <= MAGIC.len() as u64 || position > last {
            return Ok(());
        }
        // An index that is damaged is a matter of those who look things up.
        let Ok(index) = self.index(position, records.map(u64::from)) else {
            self.connections.clear();
            self.channels.clear();
            return Ok(());
        };
        self.end = position;
        let behind = self.file.end() - index.end;
        self.index = Some(index);
        if behind > 0 {
            self.told.add_remark(format!(
                "{}: left out after the index: {}",
                self.origin,
                format_count(behind, "byte")
            ));
        }
        Ok(())
    }

    /// Reads the index.
    fn index(&mut self, at: u64, [connections, chunks]: [u64; 2]) -> Result<BagIndex> {
        let mut pieces = SliceReader::from_range(self.file.between(at, self.file.end()));
        let mut index = BagIndex::default();
        for _ in 0..connections.saturating_add(chunks) {
            let (header, length) = record::head(&mut pieces)?;
            let fields = HeaderFields(&header);
            ensure!(length <= MAX_CONNECTION, "a record in the index has {length} bytes");
            let data = pieces.take(length as usize)?.to_vec();
            ensure!(data.len() == length as usize, record::TRUNCATED);
            match fields.octet("op")? {
                CONNECTION => self.connection(&fields, &HeaderFields(&data))?,
                CHUNK_INFO => index.take(&fields, &data)?,
                op => bail!("a record in the index has the kind {op}"),
            }
        }
        index.end = at + pieces.position();
        Ok(index)
    }

    /// Whether the chunks are where the index has them, and nothing else is there that may have
    /// messages: they are hopped over.
    fn is_indexed(&self, index: &BagIndex) -> Result<bool> {
        let mut pieces = SliceReader::from_range(self.file.between(MAGIC.len() as u64, self.end));
        let mut chunks = 0;
        while pieces.remaining() > Some(0) {
            interrupt::check()?;
            let at = MAGIC.len() as u64 + pieces.position();
            let Ok((header, length)) = record::head(&mut pieces) else { return Ok(false) };
            let is_known = match HeaderFields(&header).octet("op") {
                Ok(CHUNK) => index.chunks.contains(&at),
                Ok(BAG | CONNECTION | INDEX_DATA) => true,
                _ => false,
            };
            chunks += u64::from(HeaderFields(&header).octet("op").is_ok_and(|op| op == CHUNK));
            if !is_known || !pieces.skip(length.into())? {
                return Ok(false);
            }
        }
        Ok(chunks == index.chunks.len() as u64)
    }

    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        loop {
            let left = std::mem::take(&mut self.body);
            if left > 0 {
                ensure!(self.current().skip(left)?, record::TRUNCATED);
            }
            let at = match &mut self.chunk {
                None if self.records.position() >= self.end => return Ok(None),
                None => MessagePosition { at: self.records.position(), within: None },
                Some(chunk) => {
                    let position = chunk.records.position();
                    if chunk.records.peek(1)?.is_empty() {
                        ensure!(
                            chunk.size.is_none_or(|size| size == position),
                            "the size of a chunk differs from the declared one"
                        );
                        self.chunk = None;
                        continue;
                    }
                    MessagePosition { at: chunk.at, within: Some(position) }
                }
            };
            if self.chunk.is_none() {
                self.at = at.at;
            }
            let (header, length) = record::head(self.current())?;
            let fields = HeaderFields(&header);
            let is_there = self.current().remaining().is_none_or(|left| u64::from(length) <= left);
            match fields.octet("op")? {
                CHUNK => {
                    ensure!(self.chunk.is_none(), "a chunk lies within a chunk");
                    self.enter(&fields, length, at.at)?;
                    continue;
                }
                _ if !is_there => bail!(record::TRUNCATED),
                BAG if !fields.find("encryptor")?.unwrap_or_default().is_empty() => {
                    bail!("it is encrypted")
                }
                CONNECTION => {
                    ensure!(length <= MAX_CONNECTION, "a connection record has {length} bytes");
                    let data = self.current().take(length as usize)?.to_vec();
                    ensure!(data.len() == length as usize, record::TRUNCATED);
                    self.connection(&fields, &HeaderFields(&data))?;
                    continue;
                }
                MESSAGE => return self.message(&fields, length, at).map(Some),
                // Indexes, which say where things are.
                _ => {}
            }
            ensure!(self.current().skip(length.into())?, record::TRUNCATED);
        }
    }

    fn message(
        &mut self,
        fields: &HeaderFields,
        length: u32,
        place: MessagePosition,
    ) -> Result<MessageInfo> {
        let size = u64::from(length);
        check_size(size, place)?;
        let id = fields.number("conn")?;
        let channel = self.connections.get(&id);
        let channel = *channel.with_context(|| {
            format!("a message belongs to connection {id}, which does not exist")
        })?;
        let time = fields.time("time")?;
        // Of a packed chunk nobody knows how much is left: the end must be there.
        if self.chunk.is_some() && self.current().remaining().is_none() {
            ensure!(
                self.current().peek(length as usize)?.len() == length as usize,
                record::TRUNCATED
            );
        }
        self.body = size;
        Ok(MessageInfo {
            channel,
            sequence: 0,
            time: Some(time),
            publish_time: Some(time),
            size,
            place,
        })
    }

    /// Goes into a chunk.
    fn enter(&mut self, fields: &HeaderFields, length: u32, at: u64) -> Result<()> {
        let start = self.records.position();
        let (claimed, compression) = (fields.number("size")?, fields.get("compression")?);
        // While a chunk is recorded it says that it has no bytes.
        let is_open = length == 0 && claimed == 0 && compression != b"none" && self.index.is_none();
        let end = start + u64::from(length);
        let is_cut = is_open || end > self.end;
        if is_cut && !self.told.salvages() && self.is_after_chunks(at) {
            let junk = format_count(self.end - at, "byte");
            self.told.add_remark(format!(
                "{}: {junk} before the index, at byte {at}, belong to a truncated chunk, such as \
                 'rosbag reindex' leaves; 'wiregauge trace repair {}' saves the undamaged messages \
                 in them",
                self.origin, self.origin
            ));
            self.records.skip(self.end - start)?;
            return Ok(());
        }
        let end = if is_cut { self.end } else { end };
        let records = record::records(compression, self.file.between(start, end))?;
        self.records.skip(end - start)?;
        let size = (!is_cut).then_some(u64::from(claimed));
        self.chunk = Some(BagChunk { at, end, records, size });
        Ok(())
    }

    /// Whether a position is behind all chunks of the index.
    fn is_after_chunks(&self, at: u64) -> bool {
        let last = self.index.as_ref().map(|index| index.chunks.last().copied().unwrap_or(0));
        last.is_some_and(|last| at > last)
    }

    fn connection(&mut self, header: &HeaderFields, data: &HeaderFields) -> Result<()> {
        let definition = Definition {
            name: data.text("type")?,
            encoding: "ros1msg".into(),
            data: data.find("message_definition")?.unwrap_or_default().to_vec(),
        };
        let mut metadata = BTreeMap::new();
        for name in CONNECTION_METADATA {
            if let Some(value) = data.find(name)? {
                metadata.insert(name.to_owned(), String::from_utf8_lossy(value).into_owned());
            }
        }
        let channel = Channel {
            topic: header.text("topic")?,
            message_encoding: "ros1".into(),
            definition: Arc::new(definition),
            metadata,
        };
        let known = self.channels.iter().find(|(_, known)| **known == channel);
        let id = match known {
            Some((id, _)) => *id,
            None => {
                let id = u16::try_from(self.channels.len());
                let id = id.context("there are more than 65536 connections")?;
                self.channels.insert(id, channel);
                id
            }
        };
        self.connections.insert(header.number("conn")?, id);
        Ok(())
    }

    /// Reads all of the last message, and says how many bytes it has.
    fn read_body(&mut self) -> Result<usize> {
        let wanted = std::mem::take(&mut self.body) as usize;
        let there = self.current().peek(wanted)?.len();
        ensure!(there == wanted, "{} became shorter while it was read", self.origin);
        Ok(wanted)
    }

    /// Where records come from now.
    fn current(&mut self) -> &mut SliceReader {
        match &mut self.chunk {
            Some(chunk) => &mut chunk.records,
            None => &mut self.records,
        }
    }

    /// Goes on behind what is damaged or cut; fails where that is not wanted. A bag that was
    /// cut while it was recorded is read up to there.
    fn resume(&mut self, error: anyhow::Error) -> Result<()> {
        self.body = 0;
        let chunk = self.chunk.take();
        let (from, is_cut) = match &chunk {
            Some(chunk) => (chunk.at, chunk.size.is_none()),
            None => (self.at, self.is_at_end(self.at)),
        };
        // Where another chunk follows, a length is wrong and nothing is cut.
        let until_end = self.file.between(0, self.end);
        let next = match is_cut || chunk.is_none() {
            true => search::next_chunk(&until_end, from + 1)?,
            false => None,
        };
        if is_cut && next.is_none() {
            self.records.skip(self.end.saturating_sub(self.records.position()))?;
            let (origin, so_far) = (&self.origin, self.count);
            let what = match chunk {
                Some(_) => format!(
                    "the file ends within the chunk at byte {from}, probably because the recorder \
                     was stopped; whole messages before that: {so_far}"
                ),
                None => format!(
                    "{} at the end are not a whole record, probably because the recorder was \
                     stopped; whole messages before that: {so_far}",
                    format_count(self.end - from, "byte")
                ),
            };
            self.told.add_loss_or_remark(origin, from, what);
            return Ok(());
        }
        if !self.told.salvages() {
            let (origin, messages) = (&self.origin, format_count(self.count, "message"));
            if error.is::<read::Unsupported>() {
                return Err(error.context(format!("{origin} cannot be read after {messages}")));
            }
            return Err(error.context(format!(
                "{origin} is damaged after {messages}, near byte {from}; save the undamaged part \
                 with 'wiregauge trace repair {origin}'"
            )));
        }
        if let Some(chunk) = chunk.filter(|_| !is_cut) {
            let what = format!("{error:#}; messages before that are kept");
            self.told.add_loss(from, what);
            self.records.continue_with(self.file.between(chunk.end, self.end));
            return Ok(());
        }
        let to = next.unwrap_or(self.end);
        let what = format!("{error:#}; {} left out", format_count(to - from, "byte"));
        self.told.add_loss(from, what);
        self.records.continue_with(self.file.between(to, self.end));
        Ok(())
    }

    /// Tells that the file was cut between two records.
    fn report_missing(&mut self) {
        let Some(why) = self.missing.filter(|_| self.told.is_empty()) else { return };
        let what = format!("it is truncated: {why}; whole messages before that: {}", self.count);
        self.told.add_loss_or_remark(&self.origin, self.end, what);
    }

    /// Whether a record that begins there is cut by the end of the file.
    fn is_at_end(&self, at: u64) -> bool {
        let mut pieces = SliceReader::from_range(self.file.between(at, self.end));
        match record::head(&mut pieces) {
            Ok((header, length)) => {
                HeaderFields(&header).octet("op").is_ok()
                    && pieces.remaining() < Some(length.into())
            }
            Err(error) => error.to_string() == record::TRUNCATED,
        }
    }
}

impl read::Reader for Reader {
    fn file_header(&self) -> FileHeader {
        FileHeader { profile: "ros1".into(), ..FileHeader::default() }
    }

    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        self.told.check_packing(&self.origin)?;
        while !self.finished {
            match self.advance() {
                Ok(Some(head)) => {
                    self.count += 1;
                    return Ok(Some(head));
                }
                Ok(None) => {
                    self.finished = true;
                    self.report_missing();
                }
                Err(error) => self.resume(error)?,
            }
        }
        Ok(None)
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
        // Behind the messages there is nothing else, and the index is known.
        self.finished |= from > to && to.is_some() && self.index.is_some();
    }

    fn indexed_counts(&mut self) -> Result<Option<MessageCounts>> {
        self.told.check_packing(&self.origin)?;
        let Some(index) = self.index.as_ref() else { return Ok(None) };
        if !self.is_indexed(index)? {
            return Ok(None);
        }
        let mut counted = index.counted.clone();
        for (connection, count) in &index.counts {
            let Some(channel) = self.connections.get(connection) else { return Ok(None) };
            *counted.by_channel.entry(*channel).or_default() += count;
        }
        Ok(Some(counted))
    }

    fn remarks(&self) -> Vec<String> {
        self.told.remarks().to_vec()
    }

    fn salvage(&mut self) {
        self.told.salvage();
    }

    fn losses(&self) -> &[Loss] {
        self.told.losses()
    }

    fn progress(&self) -> (u64, u64) {
        (self.records.position(), self.file.end())
    }
}
