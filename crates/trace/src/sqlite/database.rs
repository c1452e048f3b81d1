//! The database of a bag, and the definitions in it.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{anyhow, bail, ensure, Context, Error, Result};
use rusqlite::{Connection, OpenFlags};

use crate::scratch;

/// That the file is damaged, in a line: SQLite shows what it stumbled over, which
/// may be of several.
pub fn damaged(path: &Path, error: impl Into<Error>) -> Error {
    let origin = path.display();
    let why = format!("{:#}", error.into());
    let why: Vec<&str> = why.split_whitespace().collect();
    anyhow!(
        "{origin} is damaged; save the undamaged part with 'sqlite3 {origin} .recover | sqlite3 \
         recovered.db3' and read that file: {}",
        why.join(" ")
    )
}

/// Opens the database to read, and sees that it is a bag.
pub fn open(path: &Path) -> Result<Connection> {
    let origin = path.display();
    // The name of what was unpacked is needed until it is open.
    let (place, _scratch, fault) = scratch::unpack_to_path(path)?;
    if let Some(fault) = fault {
        bail!(
            "{origin} is a compressed file that is truncated or damaged ({fault}); unpack it as \
             far as possible, and save the undamaged part of that with 'sqlite3 CUT.db3 .recover | \
             sqlite3 recovered.db3'"
        );
    }
    let mut journal = place.as_os_str().to_owned();
    journal.push("-wal");
    // Nothing is written beside a file that nobody else writes; a recorder that
    // was killed has left its last messages in the journal.
    let option = if Path::new(&journal).exists() { "mode=ro" } else { "immutable=1" };
    let mut address = String::from("file:");
    for byte in std::path::absolute(&place)?.as_os_str().as_bytes() {
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
            "{origin} is an SQLite database, but not a ROS 2 bag: it has no table '{table}'"
        );
    }
    Ok(database)
}

pub fn has_table(database: &Connection, name: &str) -> rusqlite::Result<bool> {
    let text = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1 \
                AND sql LIKE 'CREATE TABLE%'";
    database.query_row(text, [name], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// The language and text of a type's definition; empty where there is none.
pub fn definition(database: &Connection, type_name: &str) -> Result<(String, Vec<u8>)> {
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
