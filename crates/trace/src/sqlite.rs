//! Bags of ROS 2 in SQLite (`.db3`). Those of Iron and later carry the
//! definitions of their messages; older ones do not.

use std::fmt::Write;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{anyhow, ensure, Context, Error, Result};
use rusqlite::{Connection, OpenFlags};
use wiregauge_schema::file;

use crate::topic::{Definition, Topic};

/// Largest message in bytes that is unpacked: 256 MiB. In a damaged file its
/// size is any number.
const MAX_MESSAGE: u64 = 1 << 28;

/// Finds the topics, in the order of their first message; those without any
/// stand at the end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, Definition)>> {
    let database = open(path)?;
    read_topics(&database).map_err(|error| damaged(path, error))
}

/// Calls a function with the content of every message of a topic, in the order
/// of their times.
pub fn each_message(
    path: &Path,
    topic: &str,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let database = open(path)?;
    let mut refused = None;
    let mut walk = || -> Result<()> {
        let mut statement = database.prepare(
            "SELECT data FROM messages WHERE topic_id IN \
             (SELECT id FROM topics WHERE name = ?1) ORDER BY timestamp, id",
        )?;
        let mut rows = statement.query([topic])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(0)?.as_blob()?;
            let result = match data {
                // A message in CDR starts with 0: this one is packed by itself.
                [0x28, 0xb5, 0x2f, 0xfd, ..] => visit(&unpack(data)?),
                plain => visit(plain),
            };
            if let Err(error) = result {
                refused = Some(error);
                break;
            }
        }
        Ok(())
    };
    let walked = walk();
    if let Some(error) = refused {
        return Err(error);
    }
    walked.map_err(|error| damaged(path, error))
}

/// That the file is damaged, in a line: SQLite shows what it stumbled over, which
/// may be of several.
fn damaged(path: &Path, error: impl Into<Error>) -> Error {
    let origin = path.display();
    let why = format!("{:#}", error.into());
    let why: Vec<&str> = why.split_whitespace().collect();
    anyhow!(
        "{origin} is damaged; save what is whole with 'sqlite3 {origin} .recover | sqlite3 \
         recovered.db3' and read that: {}",
        why.join(" ")
    )
}

/// Opens the database to read, and sees that it is a bag.
fn open(path: &Path) -> Result<Connection> {
    let origin = path.display();
    file::open(path)?;
    let mut journal = path.as_os_str().to_owned();
    journal.push("-wal");
    // Nothing is written beside a file that nobody else writes; a recorder that
    // was killed has left its last messages in the journal.
    let option = if Path::new(&journal).exists() { "mode=ro" } else { "immutable=1" };
    let mut address = String::from("file:");
    for byte in std::path::absolute(path)?.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                address.push(char::from(*byte));
            }
            // Writing to a string does not fail.
            other => drop(write!(address, "%{other:02x}")),
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(format!("{address}?{option}"), flags)
        .with_context(|| format!("cannot read {origin}"))?;
    // A hostile file may define views and functions; only plain tables are read.
    database.pragma_update(None, "trusted_schema", false).map_err(|error| damaged(path, error))?;
    for table in ["topics", "messages"] {
        ensure!(
            has_table(&database, table).map_err(|error| damaged(path, error))?,
            "{origin} is an SQLite database, but no ROS 2 bag: it has no table '{table}'"
        );
    }
    Ok(database)
}

fn has_table(database: &Connection, name: &str) -> rusqlite::Result<bool> {
    let text = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1 \
                AND sql LIKE 'CREATE TABLE%'";
    database.query_row(text, [name], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

fn read_topics(database: &Connection) -> Result<Vec<(Topic, Definition)>> {
    let mut statement = database.prepare(
        "SELECT name, type, serialization_format, \
         (SELECT count(*) FROM messages WHERE topic_id = topics.id), \
         (SELECT min(id) FROM messages WHERE topic_id = topics.id) AS first \
         FROM topics ORDER BY first IS NULL, first, topics.id",
    )?;
    let mut rows = statement.query([])?;
    let mut found: Vec<(Topic, Definition)> = Vec::new();
    while let Some(row) = rows.next()? {
        let type_name: String = row.get(1)?;
        let (encoding, definition) = definition(database, &type_name)?;
        let topic = Topic {
            name: row.get(0)?,
            schema_name: type_name,
            schema_encoding: encoding,
            message_encoding: row.get(2)?,
            messages: row.get::<_, i64>(3)?.try_into().context("a negative count")?,
        };
        found.push((topic, Definition(definition)));
    }
    Ok(found)
}

/// The language and text of a type's definition; empty where there is none.
fn definition(database: &Connection, type_name: &str) -> Result<(String, Vec<u8>)> {
    if !has_table(database, "message_definitions")? {
        return Ok(Default::default());
    }
    let mut statement = database.prepare(
        "SELECT encoding, encoded_message_definition FROM message_definitions \
         WHERE topic_type = ?1",
    )?;
    let mut rows = statement.query([type_name])?;
    let Some(row) = rows.next()? else { return Ok(Default::default()) };
    let (encoding, text): (String, String) = (row.get(0)?, row.get(1)?);
    // What the recorder had no definition of it calls unknown.
    Ok(if text.is_empty() { Default::default() } else { (encoding, text.into_bytes()) })
}

/// A message that the recorder packed.
fn unpack(data: &[u8]) -> Result<Vec<u8>> {
    let mut message = Vec::new();
    zstd::Decoder::new(data)?.take(MAX_MESSAGE + 1).read_to_end(&mut message)?;
    ensure!(message.len() as u64 <= MAX_MESSAGE, "a message of more than {MAX_MESSAGE} bytes");
    Ok(message)
}
