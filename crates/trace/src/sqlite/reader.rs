//! Reads a bag of ROS 2 in SQLite: its messages in the order of their times.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{ensure, Context, Result};
use rusqlite::{params, Connection, Row};

use super::database::{damaged, definition, open};
use crate::channel::{Channel, Definition};
use crate::file_range::FileRange;
use crate::read::{
    self, check_size, FileHeader, Loss, MessageCounts, MessageInfo, MessagePosition, Nanoseconds,
};
use crate::read_log::ReadLog;
use crate::shared_bytes::SharedBytes;

/// How many messages are looked up at once: not their bytes.
const ROWS: usize = 1024;

/// What a message is known by, before its bytes are read.
struct MessageRow {
    id: i64,
    topic: i64,
    time: i64,
    size: u64,
}

/// A bag that is read.
pub struct Reader {
    path: PathBuf,
    database: Connection,
    size: u64,
    /// Messages in all, and those up to here.
    messages: u64,
    count: u64,
    channels: BTreeMap<u16, Channel>,
    /// The channel of each topic.
    topics: BTreeMap<i64, u16>,
    /// Whether messages can be found by their times; else they come in the order that they
    /// were written in.
    is_indexed: bool,
    entries: VecDeque<MessageRow>,
    /// The time and id of the last message that was looked up.
    last: Option<(i64, i64)>,
    /// The times that are wanted.
    window: (i64, i64),
    /// The message that came last, and its bytes where they were asked for.
    current: i64,
    data: Option<Vec<u8>>,
    told: ReadLog,
    finished: bool,
}

impl Reader {
    /// Opens a bag.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn open(path: &Path) -> Result<Reader> {
        let database = open(path)?;
        let size = FileRange::open(path)?.end();
        let mut reader = Reader {
            path: path.to_owned(),
            database,
            size,
            messages: 0,
            count: 0,
            channels: BTreeMap::new(),
            topics: BTreeMap::new(),
            is_indexed: false,
            entries: VecDeque::new(),
            last: None,
            window: (i64::MIN, i64::MAX),
            current: 0,
            data: None,
            told: ReadLog::default(),
            finished: false,
        };
        reader.head().map_err(|error| damaged(path, error))?;
        Ok(reader)
    }

    /// Reads the topics.
    fn head(&mut self) -> Result<()> {
        let database = &self.database;
        let count = |text: &str| database.query_row(text, [], |row| row.get::<_, i64>(0));
        self.messages = count("SELECT count(*) FROM messages")?.try_into()?;
        // An index begins with what it is of.
        self.is_indexed = count(
            "SELECT count(*) FROM pragma_index_list('messages') AS list, \
             pragma_index_info(list.name) AS info \
             WHERE info.seqno = 0 AND info.name = 'timestamp' AND list.partial = 0",
        )? > 0;
        let columns = ["offered_qos_profiles", "type_description_hash"];
        // Later releases have more columns.
        let known = columns.map(|name| has_column(database, name));
        let column = |at: usize| if known[at] { columns[at] } else { "''" };
        let text = format!(
            "SELECT id, name, type, serialization_format, {}, {} FROM topics ORDER BY id",
            column(0),
            column(1)
        );
        let mut statement = database.prepare(&text)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(2)?;
            let (encoding, data) = definition(database, &name)?;
            let mut metadata = BTreeMap::new();
            // As rosbag2 calls them in MCAP.
            for (at, key) in [(4, "offered_qos_profiles"), (5, "topic_type_hash")] {
                let value = row.get_ref(at)?.as_str_or_null()?.unwrap_or_default();
                if !value.is_empty() {
                    metadata.insert(key.to_owned(), value.to_owned());
                }
            }
            let channel = Channel {
                topic: row.get(1)?,
                message_encoding: row.get(3)?,
                definition: Arc::new(Definition { name, encoding, data }),
                metadata,
            };
            let id =
                u16::try_from(self.channels.len()).context("there are more than 65536 topics")?;
            self.topics.insert(row.get(0)?, id);
            self.channels.insert(id, channel);
        }
        Ok(())
    }

    /// Looks up the next messages.
    fn look_up(&mut self) -> Result<()> {
        const SELECT_MESSAGES: &str =
            "SELECT id, topic_id, timestamp, length(data) FROM messages WHERE";
        let (from, to) = self.window;
        if !self.is_indexed {
            let after = self.last.map_or(i64::MIN, |(_, id)| id);
            let text = format!("{SELECT_MESSAGES} id > ?1 ORDER BY id LIMIT ?2");
            return self.load_rows(&text, params![after, ROWS as i64]);
        }
        if let Some((time, id)) = self.last {
            let text = format!("{SELECT_MESSAGES} timestamp = ?1 AND id > ?2 ORDER BY id LIMIT ?3");
            self.load_rows(&text, params![time, id, ROWS as i64])?;
            if self.entries.is_empty() && time < to {
                let text = format!(
                    "{SELECT_MESSAGES} timestamp > ?1 AND timestamp <= ?2 ORDER BY timestamp, id \
                     LIMIT ?3"
                );
                self.load_rows(&text, params![time, to, ROWS as i64])?;
            }
            return Ok(());
        }
        let text = format!(
            "{SELECT_MESSAGES} timestamp BETWEEN ?1 AND ?2 ORDER BY timestamp, id LIMIT ?3"
        );
        self.load_rows(&text, params![from, to, ROWS as i64])
    }

    fn load_rows(&mut self, text: &str, wanted: impl rusqlite::Params) -> Result<()> {
        let mut statement = self.database.prepare(text)?;
        let mut rows = statement.query(wanted)?;
        while let Some(row) = rows.next()? {
            let entry = MessageRow::from_row(row)?;
            // Where index and table disagree, the same would be found again and again.
            let is_next = |(time, id)| match self.is_indexed {
                true => (entry.time, entry.id) > (time, id),
                false => entry.id > id,
            };
            ensure!(
                self.last.is_none_or(is_next),
                "the messages are not in the order of the index"
            );
            self.last = Some((entry.time, entry.id));
            self.entries.push_back(entry);
        }
        Ok(())
    }

    /// Counts messages by topic; none where one is of no topic.
    fn count(&self) -> Result<Option<MessageCounts>> {
        let text = "SELECT topic_id, count(*), min(timestamp), max(timestamp) FROM messages \
                    GROUP BY topic_id";
        let mut statement = self.database.prepare(text)?;
        let mut rows = statement.query([])?;
        let mut counted = MessageCounts::default();
        while let Some(row) = rows.next()? {
            let Some(channel) = self.topics.get(&row.get(0)?) else { return Ok(None) };
            let count: i64 = row.get(1)?;
            counted.by_channel.insert(*channel, count.try_into()?);
            let (first, last): (i64, i64) = (row.get(2)?, row.get(3)?);
            counted.widen((first.into(), last.into()));
        }
        Ok(Some(counted))
    }

    fn advance(&mut self) -> Result<Option<MessageInfo>> {
        if self.entries.is_empty() {
            self.look_up()?;
        }
        let Some(entry) = self.entries.pop_front() else { return Ok(None) };
        let place = MessagePosition::row(entry.id);
        check_size(entry.size, place)?;
        let channel = self.topics.get(&entry.topic);
        let channel = *channel.with_context(|| {
            format!("a message belongs to topic {}, which does not exist", entry.topic)
        })?;
        (self.current, self.data) = (entry.id, None);
        self.count += 1;
        let time = Some(Nanoseconds::from(entry.time));
        Ok(Some(MessageInfo {
            channel,
            sequence: 0,
            time,
            publish_time: time,
            size: entry.size,
            place,
        }))
    }

    /// The bytes of the message that came last.
    fn bytes(&mut self) -> Result<&[u8]> {
        let (database, id) = (&self.database, self.current);
        let read = || -> Result<Vec<u8>> {
            let text = "SELECT data FROM messages WHERE id = ?1";
            let mut statement = database.prepare(text)?;
            Ok(statement.query_row([id], |row| Ok(row.get_ref(0)?.as_bytes()?.to_vec()))?)
        };
        let data = match self.data.take() {
            Some(data) => data,
            None => read().map_err(|error| damaged(&self.path, error))?,
        };
        Ok(self.data.insert(data))
    }
}

impl MessageRow {
    fn from_row(row: &Row) -> Result<MessageRow> {
        let size: i64 = row.get(3)?;
        Ok(MessageRow {
            id: row.get(0)?,
            topic: row.get(1)?,
            time: row.get(2)?,
            size: size.try_into()?,
        })
    }
}

fn has_column(database: &Connection, name: &str) -> bool {
    let text = "SELECT count(*) FROM pragma_table_info('topics') WHERE name = ?1";
    database.query_row(text, [name], |row| row.get::<_, i64>(0)).is_ok_and(|count| count > 0)
}

impl read::Reader for Reader {
    fn file_header(&self) -> FileHeader {
        FileHeader { profile: "ros2".into(), ..FileHeader::default() }
    }

    fn channels(&self) -> &BTreeMap<u16, Channel> {
        &self.channels
    }

    fn next(&mut self) -> Result<Option<MessageInfo>> {
        if self.finished {
            return Ok(None);
        }
        let outcome = self.advance();
        self.finished = !matches!(outcome, Ok(Some(_)));
        match outcome {
            Err(error) if self.told.salvages() => {
                let error = damaged(&self.path, error);
                self.told.add_loss(0, format!("{error:#}; messages before that are kept"));
                Ok(None)
            }
            outcome => outcome.map_err(|error| damaged(&self.path, error)),
        }
    }

    fn first_bytes(&mut self, most: usize) -> Result<&[u8]> {
        let bytes = self.bytes()?;
        Ok(&bytes[..most.min(bytes.len())])
    }

    fn data(&mut self) -> Result<&[u8]> {
        self.bytes()
    }

    fn shared_data(&mut self) -> Result<SharedBytes> {
        self.bytes()?;
        Ok(self.data.take().unwrap_or_default().into())
    }

    fn limit_times(&mut self, from: Option<Nanoseconds>, to: Option<Nanoseconds>) {
        let (from, to) = (from.unwrap_or(i64::MIN.into()), to.unwrap_or(i64::MAX.into()));
        // Behind the messages there is nothing else.
        self.finished |= from > to;
        let within = |time: Nanoseconds| time.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        self.window = (within(from), within(to));
    }

    fn indexed_counts(&mut self) -> Result<Option<MessageCounts>> {
        // What is damaged is told where messages are read.
        Ok(self.count().ok().flatten())
    }

    fn salvage(&mut self) {
        self.told.salvage();
    }

    fn losses(&self) -> &[Loss] {
        self.told.losses()
    }

    fn progress(&self) -> (u64, u64) {
        let share = self.count as f64 / self.messages.max(1) as f64;
        ((self.size as f64 * share.min(1.0)) as u64, self.size)
    }
}
