//! Reads a trace of OSI: messages of one type, each after its length as a little-endian
//! number of four bytes; plain, or packed as a whole.

use std::collections::BTreeMap;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_system::interrupt;
use wiregauge_system::text::format_count;

use super::file_name::OsiFileName;
use super::index::{index_path, OsiIndex};
use super::search::MessageStart;
use super::stamp::Stamp;
use super::types::find_type;
use crate::channel::{Channel, Definition};
use crate::compressed_file;
use crate::file_range::FileRange;
use crate::read::{self, check_size, Loss, MessageInfo, MessagePosition, Nanoseconds};
use crate::read_log::ReadLog;
use crate::scratch;
use crate::shared_bytes::SharedBytes;
use crate::slice_reader::SliceReader;

/// How many bytes of a message are looked at for its time before all of them are.
const FRONT: usize = 64;

/// How much is unpacked at once where messages are searched for.
const STEP: usize = 1 << 16;

/// The only channel.
pub(crate) const OSI_CHANNEL: u16 = 0;

/// A file that is read.
pub struct Reader {
    origin: String,
    messages: SliceReader,
    /// How many bytes there are, packed or not, and how many were packed.
    total: u64,
    packed: Option<compressed_file::ReadProgress>,
    channels: BTreeMap<u16, Channel>,
    type_name: String,
    count: u64,
    /// How many bytes of the last message were not asked for.
    body: u64,
    /// The file, where it is not packed, or what was unpacked of it behind damage: there
    /// messages can be searched for.
    file: Option<FileRange>,
    told: ReadLog,
    /// The bytes of the last length, as they lie there.
    length: Vec<u8>,
    /// How messages begin, as far as that was seen.
    beginning: MessageStart,
    /// Whether nothing is left that is whole, or wanted.
    finished: bool,
    path: PathBuf,
    /// From here on no message is wanted.
    stop: Option<u64>,
    /// Whether messages before the first one were left out.
    is_part: bool,
}

impl Reader {
    /// Opens a file that is called a trace of OSI. The type of its messages is the one
    /// that is wished for, or that its name tells; else it stays empty.
    ///
    /// # Errors
    /// When it cannot be read, and when there is no such type.
    pub fn open(path: &Path, wished: Option<&str>) -> Result<Reader> {
        let told = OsiFileName::parse(path).and_then(|name| name.type_name());
        let type_name = match wished {
            Some(wished) => find_type(wished).with_context(|| {
                format!(
                    "OSI has no top-level message '{wished}'; give one such as --type SensorView, \
                     or sv"
                )
            })?,
            None => told.unwrap_or_default(),
        };
        let file = FileRange::open(path)?;
        let total = file.end();
        let (messages, packed) = compressed_file::open_slices(path, file.clone())
            .with_context(|| format!("cannot read {}", path.display()))?;
        let is_plain = packed.is_none();
        let encoding = if type_name.is_empty() { "" } else { "protobuf" };
        let definition =
            Definition { name: type_name.into(), encoding: encoding.into(), data: Vec::new() };
        let channel = Channel {
            topic: type_name.strip_prefix("osi3.").unwrap_or(type_name).into(),
            message_encoding: "protobuf".into(),
            definition: Arc::new(definition),
            metadata: BTreeMap::new(),
        };
        Ok(Reader {
            origin: path.display().to_string(),
            messages,
            total,
            packed,
            channels: [(OSI_CHANNEL, channel)].into(),
            type_name: type_name.into(),
            count: 0,
            body: 0,
            file: Some(file).filter(|_| is_plain),
            told: ReadLog::default(),
            length: Vec::new(),
            beginning: MessageStart::default(),
            finished: false,
            path: path.to_owned(),
            stop: None,
            is_part: false,
        })
    }

    /// Whether it is not packed.
    pub(super) fn is_plain(&self) -> bool {
        self.file.is_some()
    }

    /// The index beside the file, where there is one that can be believed.
    pub(super) fn index(&mut self) -> Option<OsiIndex> {
        let file = self.file.as_ref().filter(|_| !self.told.salvages() && self.count == 0)?;
        match OsiIndex::open(&self.path, file, &self.type_name) {
            Ok(index) => index,
            Err(error) => {
                let (index, origin) = (index_path(&self.path), &self.origin);
                self.told.add_remark(format!(
                    "{} is not used: {error:#}; write a new one with 'wiregauge trace index \
                     {origin}'",
                    index.display()
                ));
                None
            }
        }
    }

    /// Goes on with a message of an index, or with the end.
    fn seek(&mut self, index: &OsiIndex, to: u64) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let at = if to < index.count { index.entry(to)?.at } else { file.end() };
        self.messages.continue_with(file.between(at, file.end()));
        self.count = to;
        Ok(())
    }

    /// Leaves out messages before and after two times, where an index has them in order.
    fn narrow_by_index(&mut self, from: Nanoseconds, to: Nanoseconds) -> Result<()> {
        let Some(index) = self.index().filter(|index| index.rises) else { return Ok(()) };
        let first = index.first(|time| time >= from)?;
        let end = index.first(|time| time > to)?;
        if end < index.count {
            self.stop = Some(index.entry(end)?.at);
        }
        self.seek(&index, first)
    }

    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        let left = std::mem::take(&mut self.body);
        let whole = self.messages.skip(left);
        if !self.check_read(whole)? {
            bail!(self.truncated_message(self.messages.position()));
        }
        let at = self.messages.position();
        if self.stop.is_some_and(|stop| at >= stop) {
            return Ok(None);
        }
        let length = self.messages.take(4).map(<[u8]>::to_vec);
        self.length = self.check_read(length)?;
        let length = match <[u8; 4]>::try_from(&self.length[..]) {
            Ok(length) => length,
            Err(_) if self.length.is_empty() => return Ok(None),
            Err(_) => bail!(self.truncated_message(at)),
        };
        let size = u64::from(u32::from_le_bytes(length));
        if self.messages.remaining().is_some_and(|left| size > left) {
            bail!(self.truncated_message(at));
        }
        let place = MessagePosition { at, within: None };
        check_size(size, place).with_context(|| self.origin.clone())?;
        if self.told.salvages() {
            self.check_plausible(size, at)?;
        }
        let time = self.time(size)?;
        self.body = size;
        self.count += 1;
        Ok(Some(MessageInfo {
            channel: OSI_CHANNEL,
            sequence: 0,
            time,
            publish_time: time,
            size,
            place,
        }))
    }

    /// Fails for a message of which something shows that it is none.
    fn check_plausible(&mut self, size: u64, at: u64) -> Result<()> {
        let sound = self.beginning.is_sound(&mut self.messages, self.file.as_ref(), size);
        // What is packed must be there before it is handed on: behind an error nothing is.
        let there = match self.file {
            None => self.messages.peek(size as usize).map(<[u8]>::len),
            Some(_) => Ok(size as usize),
        };
        if self.check_read(there)? < size as usize {
            bail!(self.truncated_message(at));
        }
        ensure!(sound?, "no message");
        if self.beginning.known.is_none() {
            self.beginning.known = self.messages.peek(1)?.first().copied().filter(|_| size > 0);
        }
        Ok(())
    }

    /// Goes on with the next message that is whole, behind what is damaged from there on;
    /// whether there is one.
    fn resume(&mut self, at: u64, error: &anyhow::Error) -> Result<bool> {
        let (body, mut file) = (std::mem::take(&mut self.body), self.file.take());
        let is_spoilt = error.chain().any(|cause| cause.is::<std::io::Error>());
        let mut spoilt = None;
        if file.is_none() && !is_spoilt {
            match self.unpack_rest(at, &mut spoilt) {
                Ok(rest) => file = Some(rest),
                Err(error) => {
                    interrupt::check()?;
                    spoilt = Some(error.context("the rest is not searched"));
                }
            }
        }
        let next = match &file {
            Some(file) if body == 0 => self.beginning.next_message(file, at + 1)?,
            _ => None,
        };
        let what = match (next, &file) {
            (Some(next), _) => {
                format!("no message begins here; {} left out", format_count(next - at, "byte"))
            }
            (None, Some(file)) => {
                format!(
                    "{} at the end are not a whole message",
                    format_count(file.end() - at, "byte")
                )
            }
            (None, None) => format!("{:#}", error.root_cause()),
        };
        self.told.add_loss(at, what);
        if let Some(error) = spoilt {
            self.told.add_loss(at, format!("{error:#}"));
        }
        if let (Some(next), Some(file)) = (next, &file) {
            self.messages.continue_with(file.between(next, file.end()));
        }
        self.file = file;
        Ok(next.is_some())
    }

    /// Unpacks what follows from a length on that was taken, as far as that can be, to where
    /// messages can be searched for: a scratch file.
    fn unpack_rest(&mut self, at: u64, spoilt: &mut Option<anyhow::Error>) -> Result<FileRange> {
        let no_room = || scratch::no_room(&self.path);
        let mut rest = scratch::create_unnamed(&self.path).with_context(no_room)?;
        // Positions are those in what was unpacked; what stands before is a hole.
        rest.seek(SeekFrom::Start(at))?;
        rest.write_all(&self.length).with_context(no_room)?;
        let mut step = STEP;
        loop {
            interrupt::check()?;
            match self.messages.take(step) {
                Ok([]) => break,
                Ok(bytes) => rest.write_all(bytes).with_context(no_room)?,
                // What was unpacked before it failed is there still.
                Err(error) => {
                    spoilt.get_or_insert_with(|| error.into());
                    if step == 1 {
                        break;
                    }
                    step /= 2;
                }
            }
        }
        FileRange::from_file(rest)
    }

    /// The time stamp of the next message. It stands at its front, but need not.
    fn time(&mut self, size: u64) -> Result<Option<Nanoseconds>> {
        for count in [FRONT.min(size as usize), size as usize] {
            let bytes = self.messages.peek(count);
            let stamp = bytes.map(|bytes| Stamp::read(&self.type_name, bytes));
            let stamp = self.check_read(stamp)?;
            if stamp.time.is_some() || count as u64 == size {
                return Ok(stamp.time);
            }
        }
        Ok(None)
    }

    /// What could be read, or what was wrong with the packing.
    fn check_read<T>(&self, outcome: std::io::Result<T>) -> Result<T> {
        let (origin, messages) = (&self.origin, format_count(self.count, "message"));
        outcome.with_context(|| match self.packed {
            None => format!("cannot read {origin} after {messages}"),
            Some(_) => format!(
                "{origin} cannot be unpacked after {messages}; save these with 'wiregauge trace \
                 repair {origin}'"
            ),
        })
    }

    /// Reads all of the last message, and says how many bytes it has.
    fn read_body(&mut self) -> Result<usize> {
        let wanted = std::mem::take(&mut self.body) as usize;
        let there = self.messages.peek(wanted).map(<[u8]>::len);
        let (at, there) = (self.messages.position(), self.check_read(there)?);
        if there < wanted {
            self.count -= 1;
            bail!(self.truncated_message(at));
        }
        Ok(wanted)
    }

    /// That the file ends in the middle of a message.
    fn truncated_message(&self, at: u64) -> String {
        let origin = &self.origin;
        match self.count {
            _ if self.is_part => format!(
                "{origin} is truncated at byte {at}; save what is before it with 'wiregauge trace \
                 repair {origin}'"
            ),
            0 => format!("{origin} is not an OSI trace, or its first message is truncated"),
            so_far => format!(
                "{origin} is truncated after {}, at byte {at}; save these with 'wiregauge trace \
                 repair {origin}'",
                format_count(so_far, "message")
            ),
        }
    }
}

impl read::Reader for Reader {
    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        while !self.finished {
            interrupt::check()?;
            let at = self.messages.position() + self.body;
            match self.advance() {
                Err(error) if self.told.salvages() => {
                    interrupt::check()?;
                    self.finished = !self.resume(at, &error)?;
                }
                outcome => return outcome,
            }
        }
        Ok(None)
    }

    fn first_bytes(&mut self, most: usize) -> Result<&[u8]> {
        let wanted = most.min(self.body as usize);
        Ok(self.messages.peek(wanted)?)
    }

    fn data(&mut self) -> Result<&[u8]> {
        let size = self.read_body()?;
        Ok(self.messages.take(size)?)
    }

    fn shared_data(&mut self) -> Result<SharedBytes> {
        let size = self.read_body()?;
        Ok(self.messages.take_shared(size)?)
    }

    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        let (first, last) = (from.unwrap_or(Nanoseconds::MIN), to.unwrap_or(Nanoseconds::MAX));
        // Nothing else is in the file that could be wanted.
        self.finished |= first > last;
        if (from.is_some() || to.is_some()) && !self.finished {
            if let Err(error) = self.narrow_by_index(first, last) {
                self.told
                    .add_remark(format!("the index of {} is not used: {error:#}", self.origin));
            }
        }
    }

    fn limit_positions(&mut self, from: u64, to: u64) -> Result<()> {
        let here = self.messages.position();
        if let Some(file) = self.file.as_ref().filter(|_| from > here) {
            self.messages.continue_with(file.between(from, file.end()));
        }
        self.is_part = from > 0;
        self.stop = Some(self.stop.map_or(to, |stop| stop.min(to)));
        Ok(())
    }

    fn skip_messages(&mut self, _: &dyn Fn(&Channel) -> bool, most: u64) -> Result<u64> {
        let Some(index) = self.index() else { return Ok(0) };
        let to = most.min(index.count);
        self.seek(&index, to)?;
        Ok(to)
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
        let here = self
            .packed
            .as_ref()
            .map_or(self.messages.position(), compressed_file::ReadProgress::read);
        (here.min(self.total), self.total)
    }
}
