//! `wiregauge trace info`: what is in trace files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use wiregauge_report::page::facts_page::{self, FactsHistogram, FactsSection};
use wiregauge_system::file::Target;
use wiregauge_system::text::{escape_short, format_count};
use wiregauge_trace::info::{read_info, ChannelInfo, MetadataInfo, ReadStats, TraceInfo};
use wiregauge_trace::open::OpenHints;
use wiregauge_trace::read::Nanoseconds;

use super::progress::byte_progress;
use crate::list_format::ListFormat;
use crate::output::print;

/// Show what is in trace files: channels, types, versions, times, rates, sizes.
///
/// It uses the summary of an MCAP file and the index of a bag; --all reads all messages. An
/// .osi file has neither, so it skips from message to message by their lengths.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  wiregauge trace info drive.mcap
  wiregauge trace info --all drive.mcap
      also rates, gaps and sizes, for which it reads all messages
  wiregauge trace info --all drive.mcap --page drive.html
      the same as a page, with the sizes of messages as a picture
  wiregauge trace info *.osi --format json")]
pub struct Arguments {
    /// Input: .mcap, .osi, .bag or .db3, also packed by gzip, xz or zstd; or the folder of
    /// a ROS 2 bag.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read every message, also of MCAP and bags.
    #[arg(long)]
    all: bool,
    /// Type of the messages in an .osi file, if its name does not say it: sv,
    /// SensorView.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Format of what is printed.
    #[arg(long, value_enum, default_value = "table")]
    format: ListFormat,
    /// Also write a page, with the sizes of messages as a picture.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

impl Arguments {
    /// Carries it out.
    pub fn run(self) -> Result<ExitCode> {
        let wish = OpenHints { osi_type: self.kind };
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        let wanted = self.page.as_ref().map(|page| Target::open(page, &inputs)).transpose()?;
        let mut shown = byte_progress("reading");
        let mut infos = Vec::new();
        for path in &self.files {
            infos.push(read_info(path, &wish, self.all, &mut shown)?);
        }
        drop(shown);
        if let Some(target) = wanted {
            target.write(format_page(&infos).as_bytes())?;
        }
        match self.format {
            ListFormat::Json => print(&serde_json::to_string_pretty(&infos)?)?,
            ListFormat::Table => {
                let texts: Vec<String> = infos.iter().map(text).collect();
                print(&texts.join("\n"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A file as people read it.
fn text(info: &TraceInfo) -> String {
    let mut format_info = format!(
        "{}: {}, {}, {}\n",
        escape_short(&info.file),
        info.container,
        format_bytes(info.size),
        format_count(info.messages, "message")
    );
    if let Some((first, last)) = info.times {
        let (from, to) = (format_seconds(first), format_seconds(last));
        format_info +=
            &format!("  time      {from} to {to} s, {} s long\n", format_seconds(last - first));
    }
    if info.chunks.as_ref().is_some_and(|chunks| chunks.count == 0) {
        let none = if info.messages > 0 { "none: no message is in a chunk" } else { "none" };
        format_info += &format!("  chunks    {none}\n");
    } else if let Some(chunks) = &info.chunks {
        let kinds: Vec<String> =
            chunks.compression.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let ratio = chunks.size as f64 / chunks.packed.max(1) as f64;
        format_info += &format!(
            "  chunks    {}, {} unpacked ({ratio:.2} to 1), the largest {}\n",
            kinds.join(", "),
            format_bytes(chunks.size),
            format_bytes(chunks.largest)
        );
    }
    for (key, value) in [("profile", &info.profile), ("library", &info.library)] {
        if !value.is_empty() {
            format_info += &format!("  {key:<10}{}\n", escape_short(value));
        }
    }
    for MetadataInfo { name, entries } in &info.metadata {
        format_info += &format!("  metadata  {}\n", escape_short(name));
        for (key, value) in entries {
            format_info +=
                &format!("              {} = {}\n", escape_short(key), escape_short(value));
        }
    }
    if info.attachments > 0 {
        format_info += &format!("  attached  {}\n", format_count(info.attachments, "file"));
    }
    for channel in &info.channels {
        format_info += &self::channel(channel);
    }
    for remark in &info.remarks {
        format_info += &format!("  note      {}\n", escape_short(remark));
    }
    if !info.read {
        format_info += &format!(
            "  by its {}; --all reads the messages, for rates, gaps and sizes\n",
            if info.container == "MCAP" { "summary" } else { "index" }
        );
    }
    format_info
}

fn channel(channel: &ChannelInfo) -> String {
    let mut text = format!("  channel   {}\n", escape_short(channel_name(channel)));
    for (key, value) in facts(channel) {
        text += &format!("    {key:<10}{value}\n");
    }
    text
}

fn channel_name(channel: &ChannelInfo) -> &str {
    match channel.topic.as_str() {
        "" => "(the file name has no type)",
        topic => topic,
    }
}

/// What is told of a channel, each by a name.
fn facts(channel: &ChannelInfo) -> Vec<(&'static str, String)> {
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

/// The files as a page, with the sizes of their messages as pictures.
fn format_page(infos: &[TraceInfo]) -> String {
    let mut parts = Vec::new();
    for info in infos {
        let lines = text(info);
        let facts = lines.lines().skip(1).take_while(|line| !line.starts_with("  channel"));
        let facts = facts.map(|line| {
            let (key, value) = line.trim().split_once("  ").unwrap_or(("", line.trim()));
            (key.to_owned(), value.trim().to_owned())
        });
        let title = lines.lines().next().unwrap_or_default().to_owned();
        parts.push(FactsSection { title, facts: facts.collect(), histogram: None });
        parts.extend(info.channels.iter().map(|channel| {
            let facts = facts_of_page(channel);
            let histogram = channel.read.as_ref().filter(|read| !read.sizes.is_empty());
            let histogram = histogram.map(|read| FactsHistogram {
                what: "Sizes of messages".into(),
                unit: "B".into(),
                span: (read.smallest, read.largest),
                counts: read.sizes.clone(),
            });
            FactsSection { title: channel_name(channel).to_owned(), facts, histogram }
        }));
    }
    let names: Vec<&str> = infos.iter().map(|info| info.file.as_str()).collect();
    facts_page::render_facts(&names.join(", "), &parts)
}

/// The same without the bars of a terminal.
fn facts_of_page(channel: &ChannelInfo) -> Vec<(String, String)> {
    let named = facts(channel).into_iter().filter(|(key, _)| !key.is_empty());
    named.map(|(key, value)| (key.to_owned(), value)).collect()
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
