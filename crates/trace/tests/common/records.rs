//! MCAP files that are made record by record, as no library would.

use mcap::records::op;
use mcap::MAGIC;

/// A record, and its bytes behind the known fields.
pub fn record(opcode: u8, fields: &[&[u8]]) -> Vec<u8> {
    let fields = fields.concat();
    [&[opcode][..], &(fields.len() as u64).to_le_bytes(), &fields].concat()
}

pub fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn long(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

pub fn channel(id: u16, topic: &str) -> Vec<u8> {
    let (id, schema) = (id.to_le_bytes(), 0u16.to_le_bytes());
    record(op::CHANNEL, &[&id, &schema, &text(topic), &text("raw"), &[0; 4]])
}

/// A message of channel 1 whose content is its time.
pub fn message(time: u64) -> Vec<u8> {
    let (id, sequence) = (1u16.to_le_bytes(), 0u32.to_le_bytes());
    record(op::MESSAGE, &[&id, &sequence, &long(time), &long(time), &long(time)])
}

pub fn attachment(name: &str, content: &[u8], extra: &[u8]) -> Vec<u8> {
    let size = long(content.len() as u64);
    let fields =
        [&long(1)[..], &long(2), &text(name), &text("text/plain"), &size, content].concat();
    record(op::ATTACHMENT, &[&fields, &crc32fast::hash(&fields).to_le_bytes(), extra])
}

pub fn metadata(name: &str) -> Vec<u8> {
    record(op::METADATA, &[&text(name), &[0; 4]])
}

/// A chunk of records that were packed, with its times, and what stands behind it.
pub struct Chunk<'c> {
    pub records: &'c [u8],
    pub packed: &'c [u8],
    pub compression: &'c str,
    pub times: (u64, u64),
    pub size: u64,
    pub extra: &'c [u8],
}

impl<'c> Chunk<'c> {
    pub fn plain(records: &'c [u8], times: (u64, u64)) -> Chunk<'c> {
        let size = records.len() as u64;
        Chunk { records, packed: records, compression: "", times, size, extra: &[] }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let (from, to) = (long(self.times.0), long(self.times.1));
        let sum = crc32fast::hash(self.records).to_le_bytes();
        let (size, packed) = (long(self.size), long(self.packed.len() as u64));
        let name = text(self.compression);
        record(op::CHUNK, &[&from, &to, &size, &sum, &name, &packed, self.packed, self.extra])
    }
}

/// The index of the messages of channel 1: time and place of each.
pub fn message_index(entries: &[(u64, u64)]) -> Vec<u8> {
    let entries: Vec<u8> =
        entries.iter().flat_map(|(time, at)| [long(*time), long(*at)].concat()).collect();
    let length = (entries.len() as u32).to_le_bytes();
    record(op::MESSAGE_INDEX, &[&1u16.to_le_bytes(), &length, &entries])
}

pub fn chunk_index(times: (u64, u64), at: u64, length: u64) -> Vec<u8> {
    let fields = [long(times.0), long(times.1), long(at), long(length)].concat();
    let sizes = [long(1), long(1)].concat();
    record(op::CHUNK_INDEX, &[&fields, &0u32.to_le_bytes(), &long(0), &text(""), &sizes])
}

/// Of messages, channels, attachments, metadata records and chunks how many there are.
pub fn statistics(counts: [u32; 5], times: (u64, u64)) -> Vec<u8> {
    let [messages, channels, attachments, metadata, chunks] = counts;
    let rest: Vec<u8> =
        [channels, attachments, metadata, chunks].iter().flat_map(|n| n.to_le_bytes()).collect();
    let (from, to) = (long(times.0), long(times.1));
    let by_channel = match messages {
        0 => Vec::new(),
        _ => [&1u16.to_le_bytes()[..], &long(messages.into())].concat(),
    };
    let length = (by_channel.len() as u32).to_le_bytes();
    let all = long(messages.into());
    record(op::STATISTICS, &[&all, &0u16.to_le_bytes(), &rest, &from, &to, &length, &by_channel])
}

/// A file of data and summary, with the checksums of both.
pub fn file(data: &[u8], summary: &[u8]) -> Vec<u8> {
    grown_file(data, summary, &[])
}

/// The same, whose records of a fixed length end in something that is not known.
pub fn grown_file(data: &[u8], summary: &[u8], extra: &[u8]) -> Vec<u8> {
    let header = record(op::HEADER, &[&text("ros2"), &text("a writer"), extra]);
    let mut bytes = [MAGIC, &header, data].concat();
    let sum = crc32fast::hash(&bytes).to_le_bytes();
    bytes.extend(record(op::DATA_END, &[&sum, extra]));
    let at = bytes.len();
    bytes.extend(summary);
    let start = if summary.is_empty() { 0 } else { at as u64 };
    let footer = record(op::FOOTER, &[&long(start), &long(0), &[0; 4], extra]);
    bytes.extend(&footer[..footer.len() - 4 - extra.len()]);
    let sum = crc32fast::hash(&bytes[at..]).to_le_bytes();
    [&bytes[..], &sum, extra, MAGIC].concat()
}
