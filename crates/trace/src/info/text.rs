//! What is in a trace file, as people read it.

use wiregauge_system::text::{escape_short, format_count};

use super::{ChannelInfo, ChunkTotals, MetadataInfo, ReadStats, TraceInfo};
use crate::read::Nanoseconds;

/// A fact and what it is called. Facts that go with the one before have no name.
pub type NamedFact = (&'static str, String);

/// A file: a line of its name and size, then its facts and those of each channel.
pub fn format_info(info: &TraceInfo) -> String {
    let line = |key: &str, value: &str| format!("  {key:<10}{value}\n");
    let mut text = format!("{}\n", file_title(info));
    text.extend(file_facts(info).iter().map(|(key, value)| line(key, value)));
    for channel in &info.channels {
        text += &line("channel", &escape_short(channel_name(channel)));
        let facts = channel_facts(channel);
        text.extend(facts.iter().map(|(key, value)| format!("    {key:<10}{value}\n")));
    }
    text.extend(info.remarks.iter().map(|remark| line("note", &escape_short(remark))));
    if !info.read {
        let by = if info.container == "MCAP" { "summary" } else { "index" };
        text += &format!("  by its {by}; --all reads the messages, for rates, gaps and sizes\n");
    }
    text
}

/// The name of a file, what it is, its size, and how many messages it has.
pub fn file_title(info: &TraceInfo) -> String {
    let (size, messages) = (format_bytes(info.size), format_count(info.messages, "message"));
    format!("{}: {}, {size}, {messages}", escape_short(&info.file), info.container)
}

/// What is known of a file as a whole.
pub fn file_facts(info: &TraceInfo) -> Vec<NamedFact> {
    let mut facts = Vec::new();
    if let Some((first, last)) = info.times {
        let [from, to, length] = [first, last, last - first].map(format_seconds);
        facts.push(("time", format!("{from} to {to} s, {length} s long")));
    }
    if let Some(chunks) = &info.chunks {
        facts.push(("chunks", format_chunks(chunks, info.messages)));
    }
    for (key, value) in [("profile", &info.profile), ("library", &info.library)] {
        if !value.is_empty() {
            facts.push((key, escape_short(value)));
        }
    }
    for MetadataInfo { name, entries } in &info.metadata {
        facts.push(("metadata", escape_short(name)));
        let entries = entries.iter();
        let line =
            |key: &str, value: &str| format!("  {} = {}", escape_short(key), escape_short(value));
        facts.extend(entries.map(|(key, value)| ("", line(key, value))));
    }
    if info.attachments > 0 {
        facts.push(("attached", format_count(info.attachments, "file")));
    }
    facts
}

fn format_chunks(chunks: &ChunkTotals, messages: u64) -> String {
    if chunks.count == 0 {
        return if messages > 0 { "none: no message is in a chunk" } else { "none" }.to_owned();
    }
    let kinds = chunks.compression.iter().map(|(kind, count)| format!("{count} {kind}"));
    let kinds: Vec<String> = kinds.collect();
    let ratio = chunks.size as f64 / chunks.packed.max(1) as f64;
    format!(
        "{}, {} unpacked ({ratio:.2} to 1), the largest {}",
        kinds.join(", "),
        format_bytes(chunks.size),
        format_bytes(chunks.largest)
    )
}

/// What a channel is called.
pub fn channel_name(channel: &ChannelInfo) -> &str {
    match channel.topic.as_str() {
        "" => "(the file name has no type)",
        topic => topic,
    }
}

/// What is known of a channel. The sizes of messages as bars for a terminal have no name.
pub fn channel_facts(channel: &ChannelInfo) -> Vec<NamedFact> {
    let mut facts = Vec::new();
    let mut line = |key, value| facts.push((key, value));
    if channel.name != channel.topic && !channel.name.is_empty() {
        line("type", escape_short(&channel.name));
    }
    let definition = match channel.definition.as_str() {
        "" => ", no definition in the file".to_owned(),
        same if same == channel.encoding => String::new(),
        other => format!(", defined in {}", escape_short(other)),
    };
    line("encoding", format!("{}{definition}", escape_short(&channel.encoding)));
    for (key, value) in &channel.metadata {
        let key = key.strip_prefix("net.asam.osi.trace.channel.").unwrap_or(key);
        line("says", format!("{} = {}", escape_short(key), escape_short(value)));
    }
    line("messages", channel.messages.to_string());
    if let Some(read) = &channel.read {
        add_read_facts(read, &mut line);
    }
    facts
}

/// What reading told.
fn add_read_facts(read: &ReadStats, line: &mut impl FnMut(&'static str, String)) {
    if !read.versions.is_empty() {
        line("OSI", read.versions.join(", "));
    }
    if let Some((first, last)) = read.times {
        line("time", format!("{} to {} s", format_seconds(first), format_seconds(last)));
    }
    if let Some(rate) = read.rate {
        let longest = read.longest.map_or(String::new(), format_seconds);
        let gaps = match read.gaps {
            0 => "no gap".to_owned(),
            gaps => format_count(gaps, "gap"),
        };
        line("rate", format!("{rate:.2}/s, {gaps}, the longest interval {longest} s"));
    }
    if read.backwards > 0 {
        line("caution", format!("go back in time: {}", format_count(read.backwards, "message")));
    }
    if read.timeless > 0 {
        line("caution", format!("have no time: {}", format_count(read.timeless, "message")));
    }
    if read.bytes > 0 {
        let (least, median) = (format_bytes(read.smallest), format_bytes(read.median));
        let most = format_bytes(read.largest);
        line("sizes", format!("{least} … {median} … {most}, {} in all", format_bytes(read.bytes)));
        if read.sizes.len() > 1 {
            line("", bars(&read.sizes));
        }
    }
}

/// Counts as bars of eight heights; what is there at all can be seen.
fn bars(counts: &[u64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: &u64| match *count {
        0 => ' ',
        count => HEIGHTS[((count * 8).div_ceil(most) - 1) as usize],
    };
    counts.iter().map(height).collect()
}

fn format_bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// Seconds, with no digit that says nothing.
fn format_seconds(time: Nanoseconds) -> String {
    let sign = if time < 0 { "-" } else { "" };
    let time = time.unsigned_abs();
    let text = format!("{sign}{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_bars() {
        assert_eq!(format_seconds(1_500_000_000), "1.5");
        assert_eq!(format_seconds(-1), "-0.000000001");
        assert_eq!(format_seconds(0), "0");
        assert_eq!(bars(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!(bars(&[u64::MAX / 8, 1]), "█▁");
    }
}
