//! Bags of ROS 1, version 2.0, read from start to end: the index is not needed.
//! Memory grows with the largest chunk and the definitions, not the file.
//!
//! A bag is a sequence of records, each a header of named fields and data. A
//! chunk is a record whose data are records, perhaps compressed.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_schema::file;

use crate::topic::{self, Definition, Topic};

/// The first bytes of a bag.
pub const MAGIC: &[u8] = b"#ROSBAG V2.0\n";

/// Largest chunk in bytes that is unpacked: 256 MiB. In a damaged file its size
/// is any number.
const MAX_CHUNK: u64 = 1 << 28;

/// Largest header in bytes. Real ones take a hundred.
const MAX_HEADER: u32 = 1 << 20;

/// What a record is, by its field `op`.
const MESSAGE: u8 = 2;
const BAG: u8 = 3;
const CHUNK: u8 = 5;
const CONNECTION: u8 = 7;

/// What one publisher sends.
struct Connection {
    topic: String,
    type_name: String,
    definition: Vec<u8>,
}

/// Finds the topics, in the order of their first message; those without any
/// stand at the end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, Definition)>> {
    let mut found: Vec<(Topic, Definition)> = Vec::new();
    let mut by_connection: HashMap<u32, usize> = HashMap::new();
    let connections = scan(path, |id, connection, _| {
        let known = by_connection.entry(id);
        let index = *known.or_insert_with(|| add(&mut found, connection));
        found[index].0.messages += 1;
        Ok(())
    })?;
    let mut rest: Vec<(u32, Connection)> = connections.into_iter().collect();
    rest.sort_by_key(|(id, _)| *id);
    for (_, connection) in rest {
        add(&mut found, &connection);
    }
    Ok(found)
}

/// The index of a connection's topic, which is added if it is new.
fn add(found: &mut Vec<(Topic, Definition)>, connection: &Connection) -> usize {
    let topic = Topic {
        name: connection.topic.clone(),
        schema_name: connection.type_name.clone(),
        schema_encoding: "ros1msg".into(),
        message_encoding: "ros1".into(),
        messages: 0,
    };
    topic::index(found, topic, &connection.definition)
}

/// Calls a function with the content of every message of a topic, in the order
/// of the file.
pub fn each_message(
    path: &Path,
    topic: &str,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    scan(path, |_, connection, message| match connection.topic == topic {
        true => visit(message),
        false => Ok(()),
    })?;
    Ok(())
}

/// Visits every message with its connection, and returns the connections.
fn scan(
    path: &Path,
    mut visit: impl FnMut(u32, &Connection, &[u8]) -> Result<()>,
) -> Result<HashMap<u32, Connection>> {
    let origin = path.display();
    let file = file::open(path)?;
    let size = file.metadata().with_context(|| format!("cannot read {origin}"))?.len();
    let mut reader = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    reader.read_exact(&mut magic).with_context(|| format!("cannot read {origin}"))?;
    let mut scan = Scan { connections: HashMap::new(), count: 0, refused: None };
    let left = size - MAGIC.len() as u64;
    if let Err(error) = scan.records(&mut reader, left, &mut visit, false) {
        // What the visitor refuses is no damage of the file.
        if let Some(refused) = scan.refused {
            return Err(refused);
        }
        return Err(error).with_context(|| {
            format!(
                "{origin} is damaged or truncated after {} messages; save what is whole with \
                 'rosbag reindex {origin}' and read that",
                scan.count
            )
        });
    }
    Ok(scan.connections)
}

struct Scan {
    connections: HashMap<u32, Connection>,
    /// Messages so far.
    count: u64,
    /// Why the visitor would not go on.
    refused: Option<anyhow::Error>,
}

impl Scan {
    fn records(
        &mut self,
        reader: &mut impl Read,
        mut left: u64,
        visit: &mut impl FnMut(u32, &Connection, &[u8]) -> Result<()>,
        within: bool,
    ) -> Result<()> {
        while left > 0 {
            let header = block(reader, &mut left, MAX_HEADER)?;
            let fields = Fields(&header);
            let data = block(reader, &mut left, u32::MAX)?;
            match fields.octet("op")? {
                BAG if fields.find("encryptor")?.is_some_and(|name| !name.is_empty()) => {
                    bail!("it is encrypted")
                }
                CONNECTION => self.connection(&fields, &Fields(&data))?,
                MESSAGE => {
                    let id = fields.number("conn")?;
                    let connection = self.connections.get(&id);
                    let connection = connection.with_context(|| {
                        format!("a message of connection {id}, which is not there")
                    })?;
                    if let Err(error) = visit(id, connection, &data) {
                        self.refused = Some(error);
                        bail!("refused");
                    }
                    self.count += 1;
                }
                CHUNK => {
                    ensure!(!within, "a chunk within a chunk");
                    let size = fields.number("size")?;
                    let content = unpack(fields.get("compression")?, &data, size)?;
                    self.records(&mut content.as_slice(), content.len() as u64, visit, true)?;
                }
                // Indexes, which say where things are.
                _ => {}
            }
        }
        Ok(())
    }

    fn connection(&mut self, header: &Fields, data: &Fields) -> Result<()> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let connection = Connection {
            topic: text(header.get("topic")?),
            type_name: text(data.get("type")?),
            definition: data.find("message_definition")?.unwrap_or_default().to_vec(),
        };
        self.connections.insert(header.number("conn")?, connection);
        Ok(())
    }
}

/// Bytes after their length. Takes no more memory than there are bytes.
fn block(reader: &mut impl Read, left: &mut u64, most: u32) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    ensure!(*left >= 4, "it ends within a record");
    reader.read_exact(&mut length)?;
    *left -= 4;
    let length = u32::from_le_bytes(length);
    ensure!(u64::from(length) <= *left, "it ends within a record");
    ensure!(length <= most, "a header of {length} bytes");
    let mut bytes = Vec::new();
    reader.take(length.into()).read_to_end(&mut bytes)?;
    ensure!(bytes.len() == length as usize, "it ends within a record");
    *left -= u64::from(length);
    Ok(bytes)
}

/// A chunk's records.
fn unpack(compression: &[u8], data: &[u8], size: u32) -> Result<Vec<u8>> {
    let size = u64::from(size);
    ensure!(size <= MAX_CHUNK, "a chunk of {size} bytes");
    let mut content = Vec::new();
    let most = size + 1;
    match compression {
        b"none" => content = data.to_vec(),
        b"bz2" => {
            bzip2::read::BzDecoder::new(data).take(most).read_to_end(&mut content)?;
        }
        b"lz4" => {
            lz4::Decoder::new(data)?.take(most).read_to_end(&mut content)?;
        }
        other => bail!("a chunk in '{}'", String::from_utf8_lossy(other)),
    }
    ensure!(content.len() as u64 == size, "a chunk of another size than it says");
    Ok(content)
}

/// Named fields: each a length, then `name=value`.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn find(&self, name: &str) -> Result<Option<&'a [u8]>> {
        let mut rest = self.0;
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk::<4>().context("a field cut short")?;
            let length = u32::from_le_bytes(*length) as usize;
            ensure!(length <= after.len(), "a field cut short");
            let (field, after) = after.split_at(length);
            let at = field.iter().position(|byte| *byte == b'=').context("a field without '='")?;
            if &field[..at] == name.as_bytes() {
                return Ok(Some(&field[at + 1..]));
            }
            rest = after;
        }
        Ok(None)
    }

    fn get(&self, name: &str) -> Result<&'a [u8]> {
        self.find(name)?.with_context(|| format!("a record without '{name}'"))
    }

    fn octet(&self, name: &str) -> Result<u8> {
        let [octet] = self.get(name)? else { bail!("'{name}' is not one byte") };
        Ok(*octet)
    }

    fn number(&self, name: &str) -> Result<u32> {
        let bytes = self.get(name)?.try_into();
        Ok(u32::from_le_bytes(bytes.with_context(|| format!("'{name}' is not four bytes"))?))
    }
}
