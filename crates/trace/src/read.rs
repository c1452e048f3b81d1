//! Reading a trace file: one message after another, in the order of the file, each as it
//! lies there. Nothing is parsed but what leads from one message to the next.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use anyhow::{bail, ensure, Result};
use wiregauge_system::interrupt;

use crate::channel::Channel;
use crate::file_range::FileRange;
use crate::shared_bytes::SharedBytes;

/// Largest message in bytes that is read: 1 GiB. Protobuf's libraries end at 2.
pub const LARGEST: u64 = 1 << 30;

/// Nanoseconds on the clock of the trace. A time of MCAP has 64 bits without sign, one of
/// OSI has 64 bits of seconds with one.
pub type Nanoseconds = i128;

/// Where a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagePosition {
    /// The position in the file (once unpacked, where it is packed as a whole): of the
    /// message, or of the chunk that it is in.
    pub at: u64,
    /// The position in the chunk's content.
    pub within: Option<u64>,
}

impl MessagePosition {
    /// Stands for the position in a chunk where `at` is the number of a row.
    const ROW: u64 = u64::MAX;

    /// The row of a database that a message is in.
    pub(crate) fn row(id: i64) -> MessagePosition {
        MessagePosition { at: id as u64, within: Some(MessagePosition::ROW) }
    }
}

impl fmt::Display for MessagePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some(MessagePosition::ROW) => write!(f, "row {}", self.at as i64),
            None => write!(f, "byte {}", self.at),
            Some(within) => write!(f, "byte {within} of the chunk at byte {}", self.at),
        }
    }
}

/// What is known of a message before its bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// Its channel.
    pub channel: u16,
    /// Its number by its sender; 0 where there is none.
    pub sequence: u32,
    /// By which messages are ordered: MCAP's `log_time`, or the message's own time stamp
    /// where the container has none. None where neither says it.
    pub time: Option<Nanoseconds>,
    /// When it was sent: MCAP's `publish_time`, otherwise as `time`.
    pub publish_time: Option<Nanoseconds>,
    /// Its length in bytes.
    pub size: u64,
    /// Where it lies.
    pub place: MessagePosition,
}

/// What could not be read of a damaged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it begins.
    pub at: u64,
    /// What is wrong there.
    pub what: String,
}

/// What is said of a whole file under a name, as `net.asam.osi.trace`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The name.
    pub name: String,
    /// What is said.
    pub entries: BTreeMap<String, String>,
    /// The position in the file.
    pub at: u64,
}

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHeader {
    /// By which conventions channels and messages are made, as `ros2`; empty for none.
    pub profile: String,
    /// What wrote it.
    pub library: String,
}

/// How many messages an index tells of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// By channel.
    pub by_channel: BTreeMap<u16, u64>,
    /// The earliest and the latest time; none where there are no messages.
    pub times: Option<(Nanoseconds, Nanoseconds)>,
}

impl MessageCounts {
    /// Messages in all.
    pub fn messages(&self) -> u64 {
        self.by_channel.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Widens the times by others.
    pub(crate) fn widen(&mut self, (first, last): (Nanoseconds, Nanoseconds)) {
        let (from, to) = self.times.unwrap_or((first, last));
        self.times = Some((from.min(first), to.max(last)));
    }
}

/// A file within the file.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Its name and its media type.
    pub name: String,
    /// As above.
    pub media_type: String,
    /// When it was recorded and when it was made, in nanoseconds.
    pub times: (u64, u64),
    pub(crate) content: FileRange,
}

impl Attachment {
    /// Its length in bytes.
    pub fn size(&self) -> u64 {
        self.content.remaining()
    }

    /// Its bytes.
    pub fn content(&self) -> impl Read {
        self.content.clone()
    }
}

/// What reads the messages of a container.
pub trait Reader: Send {
    /// The channels that are known by now: all of them where the file has a summary, and
    /// else those of the messages up to here.
    fn channels(&self) -> &BTreeMap<u16, Channel>;

    /// The next message; none at the end of the file.
    ///
    /// # Errors
    /// When the file is truncated or damaged from here on.
    fn next(&mut self) -> Result<Option<MessageInfo>>;

    /// The first bytes of the message that came last, at most so many; they stay.
    ///
    /// # Errors
    /// When they cannot be read.
    fn first_bytes(&mut self, most: usize) -> Result<&[u8]>;

    /// The bytes of the message that came last. To be asked once for each; who does not
    /// want them does not ask, and where that can be they are not even read.
    ///
    /// # Errors
    /// When they cannot be read.
    fn data(&mut self) -> Result<&[u8]>;

    /// The same bytes for who keeps them while more is read: where they lie in a buffer of
    /// the reader, without a copy. To be asked instead of [`Reader::data`].
    ///
    /// # Errors
    /// When they cannot be read.
    fn shared_data(&mut self) -> Result<SharedBytes> {
        Ok(self.data()?.to_vec().into())
    }

    /// Leaves out messages before or after these times, both included, as far as that can
    /// be done without reading them: others of other times may still come.
    fn limit_times(&mut self, _from: Option<Nanoseconds>, _to: Option<Nanoseconds>) {}

    /// Leaves out messages of channels that are not wanted, as far as that can be done
    /// without reading them: others may still come.
    fn select_channels(&mut self, _wanted: &dyn Fn(&Channel) -> bool) {}

    /// From now on only the messages from one position of the file up to before another one are
    /// read, as [`InputSplit`](crate::input_splits::InputSplit) has them. To be asked before the
    /// first message, and after the limits of time and channel.
    ///
    /// # Errors
    /// When the container has no such positions.
    fn limit_positions(&mut self, from: u64, to: u64) -> Result<()> {
        ensure!((from, to) == (0, u64::MAX), "this recording cannot be read in part");
        Ok(())
    }

    /// Hops over messages of the wanted channels, at most so many, as far as an index tells
    /// how many there are; how many that were. To be asked before the first message.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn skip_messages(&mut self, _wanted: &dyn Fn(&Channel) -> bool, _most: u64) -> Result<u64> {
        Ok(0)
    }

    /// How many messages there are and from when to when, where an index tells that and
    /// nothing speaks against it; no message is read for it. To be asked before the first one.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn indexed_counts(&mut self) -> Result<Option<MessageCounts>> {
        Ok(None)
    }

    /// What is said of the whole file, up to here.
    fn metadata(&self) -> &[Metadata] {
        &[]
    }

    /// The files within the file, up to here.
    fn attachments(&self) -> &[Attachment] {
        &[]
    }

    /// From now on what is read is held against the checksums of more than chunks, and is an
    /// error where it is another. To be asked before the first message.
    fn verify(&mut self) {}

    /// What the file says of itself.
    fn file_header(&self) -> FileHeader {
        FileHeader::default()
    }

    /// From now on what is damaged is left out and kept account of, as far as messages
    /// that are whole can be found behind it.
    fn salvage(&mut self);

    /// What was left out so far.
    fn losses(&self) -> &[Loss];

    /// What the user should be told of how it was read.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// How much of how many bytes of the file was read.
    fn progress(&self) -> (u64, u64);
}

/// Tells how far a file was read, unless the user wants to stop.
pub(crate) fn report_progress(reader: &dyn Reader, news: &mut dyn FnMut(u64, u64)) -> Result<()> {
    interrupt::check()?;
    let (done, total) = reader.progress();
    news(done, total);
    Ok(())
}

/// What may be whole and is not read: it is larger than a limit, or in a way that is not
/// known.
#[derive(Debug)]
pub(crate) struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

/// Fails for a message that is larger than [`LARGEST`].
pub(crate) fn check_size(size: u64, place: MessagePosition) -> Result<()> {
    if size > LARGEST {
        let most = LARGEST >> 30;
        bail!(Unsupported(format!(
            "{place}: a message has {size} bytes, more than the limit of {most} GiB; it is too \
             large, or its length is damaged"
        )));
    }
    Ok(())
}
