//! The rules for the name of a file.

use std::collections::BTreeSet;
use std::path::Path;

use super::findings::Findings;
use super::message::MessageStats;
use super::rules;
use crate::channel::Channel;
use crate::osi::{type_code, OsiFileName};
use crate::read::Reader;
use crate::version;

/// Holds the name against the rules, once all was read.
pub fn check(path: &Path, reader: &dyn Reader, messages: &MessageStats, findings: &mut Findings) {
    let place = || "the name".to_owned();
    let Some(name) = OsiFileName::parse(path) else {
        return findings.add(&rules::NAME, place(), "it has no code of a type, such as sv");
    };
    let is_whole = name.timestamp.is_some()
        && name.osi_version.is_some()
        && name.protobuf_version.is_some()
        && name.frames.is_some()
        && name.custom.is_some();
    if !is_whole {
        findings.add(&rules::NAME, place(), "a part is missing or has another form");
    }
    let channels = reader.channels().values().filter(|channel: &&Channel| channel.is_osi());
    let codes: BTreeSet<&str> =
        channels.filter_map(|channel| type_code(&channel.definition.name)).collect();
    let wanted = match codes.len() {
        0 => None,
        1 => codes.first().copied(),
        _ => Some("multi"),
    };
    if wanted.is_some_and(|wanted| wanted != name.code) {
        let codes: Vec<&str> = codes.into_iter().collect();
        let found = format!("it has {}, but the messages are {}", name.code, codes.join(", "));
        findings.add(&rules::NAME_TYPE, place(), &found);
    }
    if let (Some(said), Some((_, most))) = (&name.osi_version, messages.versions().ends()) {
        if version::parse(said) != Some(most) {
            let found =
                format!("it has {said}, but the messages have {}", version::format_version(most));
            findings.add(&rules::NAME_VERSION, place(), &found);
        }
    }
    let longest = messages.channels.values().map(|seen| seen.count).max();
    if let (Some(said), Some(count)) = (name.frames, longest) {
        if said != count {
            let found = format!("it has {said}, but there are {count}");
            findings.add(&rules::NAME_FRAMES, place(), &found);
        }
    }
}
