//! Reads an MCAP file from start to end. Index, summary and metadata are not needed; where
//! there is a summary, chunks of no interest are hopped over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail, ensure, Context, Result};
use mcap::records::op;
use mcap::MAGIC;

use super::ahead::Ahead;
use super::chunk::{self, Header};
use super::fields::Fields;
use super::hop;
use super::search;
use super::summary::{self, ChunkIndex, Summary};
use crate::channel::{Channel, Definition};
use crate::part::Part;
use crate::pieces::Pieces;
use crate::read::{self, bounded, Attachment, Head, Loss, Metadata, Nanoseconds, Place};

/// The length of what stands before a record: what it is and its length.
const RECORD: usize = 1 + 8;

/// The length of what stands before a message's bytes.
const MESSAGE: usize = 2 + 4 + 8 + 8;

/// Largest record in bytes that is neither a chunk, a message nor an attachment: 256 MiB.
const LARGEST_RECORD: u64 = 1 << 28;

/// Where the current chunk's records come from.
enum Chunk {
    /// They lie in the file as they are, from one position to another.
    Plain { start: u64, end: u64 },
    /// They were unpacked.
    Unpacked(Pieces),
}

/// A chunk as it lies in the file.
pub(crate) struct SeenChunk {
    /// Its position and length, with the record's head.
    pub at: u64,
    pub length: u64,
    /// The earliest and the latest time of its messages, as it says.
    pub times: (u64, u64),
    pub compression: String,
}

/// A file that is read.
pub struct Reader {
    origin: String,
    file: Part,
    records: Pieces,
    /// The current chunk, and where it begins.
    chunk: Option<(u64, Chunk)>,
    /// The buffer of the chunk before.
    spare: Vec<u8>,
    /// What unpacks chunks that are still to come.
    ahead: Option<Ahead>,
    definitions: BTreeMap<u16, Arc<Definition>>,
    channels: BTreeMap<u16, Channel>,
    summary: Option<Summary>,
    metadata: Vec<Metadata>,
    attachments: Vec<Attachment>,
    /// Messages so far.
    count: u64,
    /// How many of them are in no chunk.
    loose: u64,
    /// How many bytes of the last message were not asked for.
    body: u64,
    window: (Nanoseconds, Nanoseconds),
    /// Where chunks begin that have no message of a channel that is wanted.
    unwanted: BTreeSet<u64>,
    /// Whether only the summary follows.
    ended: bool,
    finished: bool,
    /// The chunks up to here.
    chunks: Vec<SeenChunk>,
    /// Where the last record outside of a chunk begins.
    at: u64,
    /// What was left out, where that is wanted.
    losses: Option<Vec<Loss>>,
}

impl Reader {
    /// Opens a file that begins as MCAP does.
    ///
    /// # Errors
    /// When it cannot be read. Whether it is whole shows when it is read.
    pub fn open(path: &Path) -> Result<Reader> {
        let file = Part::whole(path)?;
        let mut records = Pieces::of_part(file.clone());
        records.skip(MAGIC.len() as u64)?;
        // A damaged summary is a matter of those who check; messages are read without it.
        let summary = Summary::read(&file).ok().flatten();
        let (definitions, channels) = match &summary {
            Some(known) => (known.definitions.clone(), known.channels.clone()),
            None => Default::default(),
        };
        let named = summary.iter().flat_map(|summary| &summary.metadata);
        let metadata = named.filter_map(|(at, _)| metadata_at(&file, *at).ok()).collect();
        Ok(Reader {
            origin: path.display().to_string(),
            file,
            records,
            chunk: None,
            spare: Vec::new(),
            ahead: None,
            definitions,
            channels,
            summary,
            metadata,
            attachments: Vec::new(),
            count: 0,
            loose: 0,
            body: 0,
            window: (Nanoseconds::MIN, Nanoseconds::MAX),
            unwanted: BTreeSet::new(),
            ended: false,
            finished: false,
            chunks: Vec::new(),
            at: MAGIC.len() as u64,
            losses: None,
        })
    }

    /// The chunks up to here, as they lie in the file.
    pub(crate) fn chunks(&self) -> &[SeenChunk] {
        &self.chunks
    }

    /// How many messages up to here are in no chunk.
    pub(crate) fn loose(&self) -> u64 {
        self.loose
    }

    /// The next record: what it is, and its bytes where it is no message. Of a message the
    /// bytes follow.
    fn advance(&mut self) -> Result<Option<Head>> {
        loop {
            if self.body > 0 {
                let left = std::mem::take(&mut self.body);
                ensure!(self.current().skip(left)?, Cut);
            }
            let Some(place) = self.place()? else { continue };
            if self.chunk.is_none() {
                self.at = place.at;
            }
            let (opcode, length) = self.record()?;
            let within = self.chunk.is_some();
            match self.left() {
                Some(left) if length > left && within => bail!("a record cut short"),
                Some(left) if length > left && opcode == op::CHUNK && self.losses.is_some() => {
                    self.enter_last(place.at)?;
                    continue;
                }
                Some(left) if length > left => bail!(Cut),
                _ => {}
            }
            if opcode == op::MESSAGE && !self.ended {
                return self.message(place, length).map(Some);
            }
            self.other(opcode, length, place)?;
            if self.finished {
                return Ok(None);
            }
        }
    }

    /// Where the next record lies; none where a chunk has just ended.
    fn place(&mut self) -> Result<Option<Place>> {
        let position = self.records.position();
        let Some((at, chunk)) = &mut self.chunk else {
            return Ok(Some(Place { at: position, within: None }));
        };
        let within = match chunk {
            Chunk::Plain { start, end } => {
                ensure!(position <= *end, "a record that is longer than its chunk");
                (position < *end).then(|| position - *start)
            }
            Chunk::Unpacked(pieces) => {
                let has_ended = pieces.peek(1)?.is_empty();
                (!has_ended).then(|| pieces.position())
            }
        };
        let place = within.map(|within| Place { at: *at, within: Some(within) });
        if place.is_none() {
            if let Some((_, Chunk::Unpacked(pieces))) = self.chunk.take() {
                self.spare = pieces.into_buffer();
            }
        }
        Ok(place)
    }

    /// How many bytes are left of the chunk, or of the file; none where nobody knows.
    fn left(&mut self) -> Option<u64> {
        match self.chunk {
            Some((_, Chunk::Plain { end, .. })) => end.checked_sub(self.records.position()),
            _ => self.current().left(),
        }
    }

    /// Where records come from now.
    fn current(&mut self) -> &mut Pieces {
        match &mut self.chunk {
            Some((_, Chunk::Unpacked(pieces))) => pieces,
            _ => &mut self.records,
        }
    }

    /// What stands before a record: what it is and its length.
    fn record(&mut self) -> Result<(u8, u64)> {
        let within = self.chunk.is_some();
        let head = self.current().take(RECORD)?;
        let head: [u8; RECORD] = match head.try_into() {
            Ok(head) => head,
            Err(_) if within => bail!("a record cut short"),
            Err(_) => bail!(Cut),
        };
        Ok((head[0], u64::from_le_bytes(head[1..].try_into()?)))
    }

    fn message(&mut self, place: Place, length: u64) -> Result<Head> {
        let size = length.checked_sub(MESSAGE as u64).context("a record cut short")?;
        bounded(size, place)?;
        let mut fields = Fields(self.current().take(MESSAGE)?);
        let (channel, sequence) = (fields.short()?, fields.number()?);
        let (time, publish_time) = (fields.long()?, fields.long()?);
        ensure!(
            self.channels.contains_key(&channel),
            "a message of channel {channel}, which is not there"
        );
        self.body = size;
        Ok(Head {
            channel,
            sequence,
            time: Some(time.into()),
            publish_time: Some(publish_time.into()),
            size,
            place,
        })
    }

    /// Takes what is no message.
    fn other(&mut self, opcode: u8, length: u64, place: Place) -> Result<()> {
        let within = self.chunk.is_some();
        match opcode {
            op::CHUNK => {
                ensure!(!within, "a chunk within a chunk");
                return self.enter(length, place.at);
            }
            op::DATA_END if !within => self.ended = true,
            op::FOOTER if !within => {
                ensure!(length == 20, "a footer of {length} bytes");
                (self.ended, self.finished) = (true, true);
            }
            op::ATTACHMENT if !within => self.attach(length)?,
            op::SCHEMA | op::CHANNEL | op::METADATA if !self.ended => {
                ensure!(length <= LARGEST_RECORD, "a record of {length} bytes");
                let bytes = self.current().take(length as usize)?.to_vec();
                ensure!(bytes.len() as u64 == length, Cut);
                return self.keep(opcode, Fields(&bytes), place);
            }
            _ => {}
        }
        ensure!(self.current().skip(length)?, Cut);
        if self.finished {
            ensure!(self.records.take(MAGIC.len())? == MAGIC, Cut);
        }
        Ok(())
    }

    /// Keeps a schema, a channel or metadata.
    fn keep(&mut self, opcode: u8, mut fields: Fields, place: Place) -> Result<()> {
        match opcode {
            op::SCHEMA => {
                let (id, schema) = summary::definition(&mut fields)?;
                let known = self.definitions.entry(id);
                let known = known.or_insert_with(|| Arc::new(schema.clone()));
                ensure!(**known == schema, "two schemas with the id {id}");
            }
            op::CHANNEL => {
                let (id, channel) = summary::channel(&mut fields, &self.definitions)?;
                let known = self.channels.entry(id).or_insert_with(|| channel.clone());
                ensure!(*known == channel, "two channels with the id {id}");
            }
            _ => {
                let (name, entries) = (fields.text()?, fields.texts()?);
                if self.metadata.iter().all(|known| known.at != place.at) {
                    self.metadata.push(Metadata { name, entries, at: place.at });
                }
            }
        }
        Ok(())
    }

    /// Keeps where an attachment lies. Its bytes are hopped over by who asked.
    fn attach(&mut self, length: u64) -> Result<()> {
        let start = self.records.position();
        // What stands before the bytes: its times, name, media type and length.
        let most = (length as usize).min(1 << 16);
        let front = self.records.peek(most)?;
        let mut fields = Fields(front);
        let times = (fields.long()?, fields.long()?);
        let (name, media_type) = (fields.text()?, fields.text()?);
        let size = fields.long()?;
        let from = start + (front.len() - fields.0.len()) as u64;
        // Behind them is a checksum.
        let end = start + length.saturating_sub(4);
        let is_right = from.checked_add(size) == Some(end);
        ensure!(is_right, "an attachment of another length than it says");
        let content = self.file.between(from, end);
        self.attachments.push(Attachment { name, media_type, times, content });
        Ok(())
    }

    /// Goes into a chunk, or over it.
    fn enter(&mut self, length: u64, at: u64) -> Result<()> {
        let (header, whole) = self.header(length)?;
        let here = whole.checked_add(header.packed);
        ensure!(here == Some(length), "a chunk of another length than it says");
        let compression = header.compression.clone();
        let length = RECORD as u64 + length;
        self.chunks.push(SeenChunk { at, length, times: header.times, compression });
        // The channels that later messages need may be told in there.
        let is_in_time = self.summary.is_none() || is_within(header.times, self.window);
        if !is_in_time || self.unwanted.contains(&at) {
            ensure!(self.records.skip(header.packed)?, Cut);
            return Ok(());
        }
        let start = self.records.position();
        if self.losses.is_some() {
            return self.enter_damaged(&header, at);
        }
        // Nothing holds it against anything: it is read where it lies, whatever its size.
        let is_unchecked = header.checksum == 0 && header.compression.is_empty();
        let chunk = if !header.is_whole() && !is_unchecked {
            let packed = self.file.between(start, start + header.packed);
            ensure!(self.records.skip(header.packed)?, Cut);
            Chunk::Unpacked(Pieces::of_stream(header.stream(packed)?))
        } else if header.compression.is_empty() {
            ensure!(header.size == header.packed, "a chunk of another size than it says");
            if !is_unchecked {
                header.check(self.records.peek(header.packed as usize)?)?;
            }
            Chunk::Plain { start, end: start + header.packed }
        } else {
            Chunk::Unpacked(Pieces::of_bytes(self.unpacked(&header, at)?))
        };
        self.chunk = Some((at, chunk));
        Ok(())
    }

    /// The records of a packed chunk.
    fn unpacked(&mut self, header: &Header, at: u64) -> Result<Vec<u8>> {
        let mut spare = std::mem::take(&mut self.spare);
        // Who wants one chunk may want the next; who wants only one does not.
        if self.chunks.len() > 1 && self.ahead.is_none() {
            self.ahead = self.summary.as_ref().map(|summary| Ahead::of(&self.file, summary));
        }
        if let Some(ahead) = &mut self.ahead {
            let (window, unwanted) = (self.window, &self.unwanted);
            let wanted = |chunk: &ChunkIndex| {
                is_within(chunk.times, window) && !unwanted.contains(&chunk.at)
            };
            if let Some(records) = ahead.take(at, spare, wanted) {
                ensure!(self.records.skip(header.packed)?, Cut);
                return records;
            }
            spare = Vec::new();
        }
        header.unpack(self.records.take(header.packed as usize)?, &mut spare)?;
        Ok(spare)
    }

    /// What stands before the records of a chunk, and its length.
    fn header(&mut self, length: u64) -> Result<(Header, u64)> {
        let head = self.records.peek(chunk::HEAD)?;
        let name = head.get(chunk::HEAD - 4..).context("a record cut short")?;
        let name = u32::from_le_bytes(name.try_into()?);
        // It is a name of four letters; a length that is none is told as such.
        let whole = ((chunk::HEAD + (name as usize).min(64) + 8) as u64).min(length);
        let mut fields = Fields(self.records.take(whole as usize)?);
        Ok((Header::read(&mut fields)?, whole))
    }

    /// Goes into a chunk that may be damaged.
    fn enter_damaged(&mut self, header: &Header, at: u64) -> Result<()> {
        if !header.is_whole() {
            let start = self.records.position();
            let packed = self.file.between(start, start + header.packed);
            ensure!(self.records.skip(header.packed)?, Cut);
            self.chunk = Some((at, Chunk::Unpacked(Pieces::of_stream(header.stream(packed)?))));
            return Ok(());
        }
        let packed = self.records.take(header.packed as usize)?;
        let mut content = std::mem::take(&mut self.spare);
        if let Err(error) = header.unpack(packed, &mut content) {
            header.salvage(packed, &mut content);
            let what = format!("{error:#}; what can be told to be a message is kept");
            self.lose(at, what);
        }
        self.chunk = Some((at, Chunk::Unpacked(Pieces::of_bytes(content))));
        Ok(())
    }

    /// Goes into a chunk that does not end before the file does.
    fn enter_last(&mut self, at: u64) -> Result<()> {
        let (header, _) = self.header(u64::MAX)?;
        let (start, left) = (self.records.position(), self.records.left().unwrap_or(0));
        if header.packed <= left {
            self.lose(at, "a chunk of another length than it says".into());
            return self.enter_damaged(&header, at);
        }
        let next = search::next_record(&self.file, at + 1)?;
        let own = next.map_or(left, |next| next.saturating_sub(start)).min(chunk::WHOLE);
        let mut content = std::mem::take(&mut self.spare);
        header.salvage(self.records.take(own as usize)?, &mut content);
        let what = match next {
            Some(_) => "a chunk of another length than it says; what can be told is kept",
            None => "the file ends in this chunk",
        };
        self.lose(at, what.into());
        self.chunk = Some((at, Chunk::Unpacked(Pieces::of_bytes(content))));
        Ok(())
    }

    fn lose(&mut self, at: u64, what: String) {
        if let Some(losses) = &mut self.losses {
            losses.push(Loss { at, what });
        }
    }

    /// Goes on behind what is damaged; whether there is something.
    fn resume(&mut self, error: &anyhow::Error) -> Result<bool> {
        self.body = 0;
        if let Some((at, _)) = self.chunk.take() {
            // The end of a chunk that was told to be damaged is no other loss.
            if self.losses.iter().flatten().all(|loss| loss.at != at) {
                self.lose(at, format!("{error:#}; messages up to there are kept"));
            }
            return Ok(true);
        }
        let (from, end) = (self.at, self.file.end());
        let Some(next) = search::next_record(&self.file, from + 1)? else {
            let what = match from == end {
                true => "the file ends without a summary".to_owned(),
                false => format!("{error:#}, {} bytes before the end", end - from),
            };
            self.lose(from, what);
            self.finished = true;
            return Ok(false);
        };
        self.lose(from, format!("{error:#}; {} bytes are left out", next - from));
        self.records.go_on_with(self.file.between(next, end));
        Ok(true)
    }

    /// What went wrong, where, and what to do.
    fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let (origin, count) = (&self.origin, self.count);
        let remedy = format!("save what is whole with 'wiregauge trace repair {origin}'");
        if error.is::<Cut>() {
            return anyhow!("{origin} is truncated after {count} messages; {remedy}");
        }
        if error.is::<read::Unread>() {
            return error.context(format!("{origin} is not read on after {count} messages"));
        }
        let at = self.chunk.as_ref().map_or(self.records.position(), |(at, _)| *at);
        error.context(format!(
            "{origin} is damaged after {count} messages, near byte {at}; {remedy}"
        ))
    }
}

impl read::Reader for Reader {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<Head>> {
        if self.finished {
            return Ok(None);
        }
        let head = loop {
            match self.advance() {
                Ok(head) => break head,
                Err(error) if self.losses.is_none() => return Err(self.explain(error)),
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

    fn front(&mut self, most: usize) -> Result<&[u8]> {
        let wanted = most.min(self.body as usize);
        Ok(self.current().peek(wanted)?)
    }

    fn data(&mut self) -> Result<&[u8]> {
        let wanted = std::mem::take(&mut self.body) as usize;
        // Asked twice, as what is returned is borrowed for longer than the error.
        let outcome = self.current().peek(wanted).map(<[u8]>::len);
        let error = match outcome {
            Ok(there) if there == wanted => return Ok(self.current().take(wanted)?),
            Ok(_) => anyhow!(Cut),
            Err(error) => error.into(),
        };
        Err(self.explain(error))
    }

    fn narrow(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        self.window = (from.unwrap_or(Nanoseconds::MIN), to.unwrap_or(Nanoseconds::MAX));
    }

    fn choose(&mut self, wanted: &dyn Fn(&Channel) -> bool) {
        let Some(summary) = &self.summary else { return };
        let is_wanted = |id: &u16| self.channels.get(id).is_none_or(wanted);
        self.unwanted = hop::unwanted(summary, is_wanted);
    }

    fn hop(&mut self, wanted: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        // Files within the file would be hopped over too.
        let Some(summary) = self.summary.as_ref().filter(|known| known.attachments == 0) else {
            return Ok(0);
        };
        let channels = self.channels.iter().filter(|(_, channel)| wanted(channel));
        let wanted: BTreeSet<u16> = channels.map(|(id, _)| *id).collect();
        let (hopped, to) = hop::chunks(&self.file, summary, &wanted, most)?;
        if let Some(distance) = to.and_then(|to| to.checked_sub(self.records.position())) {
            self.records.skip(distance)?;
            return Ok(hopped);
        }
        Ok(0)
    }

    fn salvage(&mut self) {
        self.losses = Some(Vec::new());
        // Whatever a damaged file says of its chunks, they are looked into.
        self.summary = None;
        self.unwanted.clear();
    }

    fn losses(&self) -> &[Loss] {
        self.losses.as_deref().unwrap_or_default()
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

/// Whether a chunk may have messages between two times.
fn is_within((first, last): (u64, u64), (from, to): (Nanoseconds, Nanoseconds)) -> bool {
    // Some writers do not say the times of a chunk.
    (first, last) == (0, 0) || (Nanoseconds::from(last) >= from && Nanoseconds::from(first) <= to)
}

/// The metadata record at a position that the summary names.
pub(crate) fn metadata_at(file: &Part, at: u64) -> Result<Metadata> {
    let mut pieces = Pieces::of_part(file.between(at, file.end()));
    let head: [u8; RECORD] = pieces.take(RECORD)?.try_into().context("no record there")?;
    let length = u64::from_le_bytes(head[1..].try_into()?);
    ensure!(head[0] == op::METADATA && length <= LARGEST_RECORD, "no metadata there");
    let mut fields = Fields(pieces.take(length as usize)?);
    Ok(Metadata { name: fields.text()?, entries: fields.texts()?, at })
}

/// The file ends before it should.
#[derive(Clone, Copy, Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the file ends here")
    }
}

impl std::error::Error for Cut {}
