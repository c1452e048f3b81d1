//! MCAP files, read from start to end: index, summary and metadata are not
//! needed. Memory grows with the largest chunk and the schemas, not the file.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail, Context, Result};
use mcap::io::MessageReader;
use mcap::sans_io::LinearReaderOptions;
use mcap::McapError;
use wiregauge_schema::file;

use crate::recording::{Definition, Topic};

/// Largest record in bytes that is read: 256 MiB. In a damaged file a length is
/// any number, and memory is reserved by it.
const MAX_RECORD: usize = 1 << 28;

/// Finds the topics, in the order of their first message; those without any
/// stand at the end.
pub fn topics(path: &Path) -> Result<Vec<(Topic, Definition)>> {
    let mut found: Vec<(Topic, Definition)> = Vec::new();
    let mut by_channel: HashMap<u16, usize> = HashMap::new();
    let channels = scan(path, |message| {
        let known = by_channel.entry(message.channel.id);
        let index = *known.or_insert_with(|| add(&mut found, &message.channel));
        found[index].0.messages += 1;
        Ok(())
    })?;
    for channel in channels {
        add(&mut found, &channel);
    }
    Ok(found)
}

/// The index of a channel's topic, which is added if it is new. Two recorders
/// may have written one topic through two channels.
fn add(found: &mut Vec<(Topic, Definition)>, channel: &mcap::Channel) -> usize {
    let schema = channel.schema.as_deref();
    let definition = Definition(schema.map(|s| s.data.to_vec()).unwrap_or_default());
    let topic = Topic {
        name: channel.topic.clone(),
        schema_name: schema.map(|s| s.name.clone()).unwrap_or_default(),
        schema_encoding: schema.map(|s| s.encoding.clone()).unwrap_or_default(),
        message_encoding: channel.message_encoding.clone(),
        messages: 0,
    };
    let known = found.iter().position(|(known, content)| {
        Topic { messages: 0, ..known.clone() } == topic && *content == definition
    });
    known.unwrap_or_else(|| {
        found.push((topic, definition));
        found.len() - 1
    })
}

/// Calls a function with the content of every message of a topic, in the order
/// of the file.
pub fn each_message(
    path: &Path,
    topic: &str,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    scan(path, |message| match message.channel.topic == topic {
        true => visit(&message.data),
        false => Ok(()),
    })?;
    Ok(())
}

/// Visits every message, and returns the channels that there are.
fn scan(
    path: &Path,
    mut visit: impl FnMut(&mcap::Message) -> Result<()>,
) -> Result<Vec<Arc<mcap::Channel<'static>>>> {
    let origin = path.display();
    let mut file = file::open(path)?;
    // The kind of the file is known by its first bytes already.
    file.read_exact(&mut [0; mcap::MAGIC.len()])
        .with_context(|| format!("cannot read {origin}"))?;

    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_validate_chunk_crcs(true)
        .with_record_length_limit(MAX_RECORD);
    let mut reader = MessageReader::new_with_options(BufReader::new(file), options);
    for (count, message) in reader.by_ref().enumerate() {
        match message {
            Ok(message) => visit(&message)?,
            Err(McapError::Io(error)) if error.raw_os_error().is_some() => {
                return Err(error).with_context(|| format!("cannot read {origin}"));
            }
            Err(McapError::UnexpectedEof | McapError::BadMagic) => bail!(
                "{origin} is truncated after {count} messages; save what is there with \
                 'mcap recover {origin} -o recovered.mcap' and read that"
            ),
            Err(error) => {
                return Err(anyhow!(error)).with_context(|| {
                    format!(
                        "{origin} is damaged after {count} messages; try \
                         'mcap recover {origin} -o recovered.mcap' and read that"
                    )
                });
            }
        }
    }
    Ok((0..=u16::MAX).filter_map(|id| reader.get_channel(id)).collect())
}
