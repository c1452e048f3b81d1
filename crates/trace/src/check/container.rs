//! The rules for MCAP as a container of OSI's traces.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context;
use wiregauge_system::text::format_count;

use super::findings::Findings;
use super::message::MessageStats;
use super::rules;
use crate::channel::{Channel, CHANNEL_DESCRIPTION, CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION};
use crate::mcap::summary::{Statistics, Summary};
use crate::mcap::{ChunkInfo, Reader};
use crate::read::Reader as _;
use crate::scratch;
use crate::version;

/// Holds chunks, summary and channels against the rules, once all was read.
pub fn check(path: &Path, reader: &Reader, messages: &MessageStats, findings: &mut Findings) {
    let summary = scratch::open(path).and_then(|file| Summary::read(&file.part));
    let summary = summary.and_then(|summary| summary.context("the file has no summary"));
    match &summary {
        Ok(summary) => self::summary(summary, reader, messages, findings),
        Err(error) => {
            findings.add(&rules::SUMMARY, "the end of the file".into(), &format!("{error:#}"));
        }
    }
    for chunk in reader.chunks() {
        if !matches!(chunk.compression.as_str(), "" | "lz4" | "zstd") {
            let found = format!("'{}'", chunk.compression);
            findings.add(&rules::COMPRESSION, format!("the chunk at byte {}", chunk.at), &found);
        }
    }
    for chunk in reader.chunks() {
        if chunk.own_times.is_some_and(|own| own != chunk.times) {
            let found = "its times differ from those of its messages";
            findings.add(&rules::TIMES, format!("the chunk at byte {}", chunk.at), found);
        }
    }
    for (at, found) in reader.index_faults() {
        findings.add(&rules::MESSAGE_INDEX, format!("the message index at byte {at}"), found);
    }
    if reader.loose_messages() > 0 {
        let found = format!("{} in none", format_count(reader.loose_messages(), "message"));
        findings.add(&rules::CHUNKED, "the file".into(), &found);
    }
    channels(reader, findings);
}

fn summary(summary: &Summary, reader: &Reader, messages: &MessageStats, findings: &mut Findings) {
    let told: BTreeMap<u64, _> = summary.chunks.iter().map(|chunk| (chunk.at, chunk)).collect();
    let seen: BTreeMap<u64, &ChunkInfo> =
        reader.chunks().iter().map(|chunk| (chunk.at, chunk)).collect();
    for (at, chunk) in &seen {
        let place = format!("the chunk at byte {at}");
        match told.get(at) {
            None => findings.add(&rules::INDEX, place, "it is not in the index"),
            Some(index) if (index.length, index.times) != (chunk.length, chunk.times) => {
                findings.add(&rules::INDEX, place, "the index has another length or other times");
            }
            Some(_) => {}
        }
    }
    for at in told.keys().filter(|at| !seen.contains_key(at)) {
        findings.add(&rules::INDEX, format!("byte {at}"), "the index has a chunk there");
    }
    if let Some(statistics) = &summary.statistics {
        self::statistics(statistics, reader, messages, findings);
    }
    for (id, channel) in reader.channels().iter().filter(|(_, channel)| channel.is_osi()) {
        let place = format!("channel {}", channel.topic);
        let known = summary.channels.get(id);
        if !known.is_some_and(|known| known.definition == channel.definition) {
            findings.add(
                &rules::CHANNEL_SUMMARY,
                place,
                "it is missing in the summary, or it differs there",
            );
        }
    }
}

/// Holds numbers and times against what was seen.
fn statistics(
    said: &Statistics,
    reader: &Reader,
    messages: &MessageStats,
    findings: &mut Findings,
) {
    let mut hold = |what: &str, said: u64, seen: u64| {
        if said != seen {
            let found = format!("they declare {said} {what}, but there are {seen}");
            findings.add(&rules::STATISTICS, "the summary".into(), &found);
        }
    };
    hold("messages", said.messages, messages.count);
    hold("channels", said.channels, reader.channels().len() as u64);
    hold("attachments", said.attachments, reader.attachments().len() as u64);
    hold("metadata records", said.metadata, reader.metadata().len() as u64);
    hold("chunks", said.chunks, reader.chunks().len() as u64);
    let own = reader.chunks().iter().filter_map(|chunk| chunk.own_times);
    let own = own.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
    // Messages outside of chunks may be earlier or later.
    if let Some(own) = own.filter(|own| *own != said.times && reader.loose_messages() == 0) {
        let (from, to) = said.times;
        let found = format!(
            "they declare the times {from} to {to}, but the messages have {} to {}",
            own.0, own.1
        );
        findings.add(&rules::STATISTICS, "the summary".into(), &found);
    }
}

fn channels(reader: &Reader, findings: &mut Findings) {
    let channels = reader.channels();
    if !channels.values().any(Channel::is_osi) {
        findings.add(&rules::OSI_CHANNEL, "the file".into(), "it has no such channel");
    }
    let mut topics = BTreeSet::new();
    for channel in channels.values() {
        let place = || format!("channel {}", channel.topic);
        if !topics.insert(&channel.topic) {
            findings.add(&rules::TOPIC, place(), "another channel has the same topic");
        }
        if !channel.is_osi() {
            continue;
        }
        let (own, of_schema) = (&channel.message_encoding, &channel.definition.encoding);
        if own != "protobuf" || of_schema != "protobuf" {
            let found = format!("the messages are in '{own}', but the schema is in '{of_schema}'");
            findings.add(&rules::CHANNEL_ENCODING, place(), &found);
        }
        for key in [CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION] {
            match channel.metadata.get(key) {
                None => findings.add(&rules::CHANNEL_VERSION, place(), &format!("no {key}")),
                Some(said) if version::parse(said).is_none() => {
                    findings.add(&rules::CHANNEL_VERSION, place(), &format!("{key} is '{said}'"));
                }
                Some(_) => {}
            }
        }
        if !channel.metadata.contains_key(CHANNEL_DESCRIPTION) {
            findings.add(&rules::CHANNEL_DESCRIPTION, place(), "it has no description");
        }
        let known = [CHANNEL_OSI_VERSION, CHANNEL_PROTOBUF_VERSION, CHANNEL_DESCRIPTION];
        for key in channel.metadata.keys().filter(|key| key.starts_with("net.asam.osi")) {
            if !known.contains(&key.as_str()) {
                findings.add(&rules::RESERVED, place(), &format!("it has the entry {key}"));
            }
        }
    }
}
