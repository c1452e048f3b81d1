//! Holds a trace file against the rules of OSI 3.8 for trace files
//! (`doc/architecture/trace_file_formats.adoc` and `trace_file_naming.adoc` there), and of
//! MCAP as far as they build on it.

mod container;
mod findings;
mod message;
mod metadata;
mod name;
pub mod rules;
pub mod text;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{ensure, Result};
use wiregauge_system::interrupt::Interrupted;

pub use findings::{Finding, Findings};

use crate::channel::Channel;
use crate::container::ContainerKind;
use crate::mcap;
use crate::open::{self, open, OpenHints};
use crate::osi;
use crate::parser::extract_definition;
use crate::read::{report_progress, Reader};
use crate::remote_file::unless_unfetched;

/// What a file was held against, and what it lacks.
pub struct CheckResult {
    /// What it lacks, by rule.
    pub findings: Findings,
    /// Messages.
    pub messages: u64,
}

/// Holds a file against the rules. `definitions` fetches those of OSI, an encoded
/// `FileDescriptorSet`, for files that do not carry them.
///
/// # Errors
/// When it is no trace file, or cannot be read. What is damaged is a finding.
pub fn check(
    path: &Path,
    wish: &OpenHints,
    definitions: &dyn Fn() -> Result<Vec<u8>>,
    news: &mut dyn FnMut(u64, u64),
) -> Result<CheckResult> {
    unless_unfetched(path, check_file(path, wish, definitions, news))
}

fn check_file(
    path: &Path,
    wish: &OpenHints,
    definitions: &dyn Fn() -> Result<Vec<u8>>,
    news: &mut dyn FnMut(u64, u64),
) -> Result<CheckResult> {
    let mut findings = Findings::default();
    let kind = if path.is_dir() { ContainerKind::Sqlite } else { ContainerKind::detect(path)? };
    let messages = match kind {
        ContainerKind::Osi => {
            let mut reader = osi::Reader::open(path, wish.osi_type.as_deref())?;
            ensure!(
                reader.channels().values().all(Channel::is_osi),
                osi::missing_type_message(path)
            );
            let messages = check_whole_messages(&mut reader, definitions, &mut findings, news)?;
            name::check(path, &reader, &messages, &mut findings);
            messages
        }
        ContainerKind::Mcap => {
            let mut reader = mcap::Reader::open(path)?;
            let messages = check_whole_messages(&mut reader, definitions, &mut findings, news)?;
            container::check(path, &reader, &messages, &mut findings);
            metadata::check(&reader, &messages, &mut findings);
            name::check(path, &reader, &messages, &mut findings);
            messages
        }
        ContainerKind::Bag | ContainerKind::Sqlite => {
            // As other verbs read it: only of what is damaged that is saved which can be.
            let mut reader = open(path, wish)?;
            let mut whole = Findings::default();
            let messages = match check_messages(reader.as_mut(), definitions, &mut whole, news) {
                Ok(messages) => {
                    findings = whole;
                    messages
                }
                Err(error) if error.is::<Interrupted>() => return Err(error),
                Err(_) => {
                    reader = open(path, wish)?;
                    check_whole_messages(reader.as_mut(), definitions, &mut findings, news)?
                }
            };
            // No rule is of such a container: messages of OSI are held against theirs.
            if !reader.channels().values().any(Channel::is_osi) {
                let found = format!("it is a {}", open::container_name(path)?);
                findings.add(&rules::OSI_CHANNEL, "the file".into(), &found);
            }
            for remark in reader.remarks() {
                findings.add(&rules::WHOLE, "the file".into(), &remark);
            }
            messages
        }
    };
    Ok(CheckResult { findings, messages: messages.count })
}

/// Holds every message that is whole against the rules; what was seen of them.
fn check_whole_messages(
    reader: &mut dyn Reader,
    definitions: &dyn Fn() -> Result<Vec<u8>>,
    findings: &mut Findings,
    news: &mut dyn FnMut(u64, u64),
) -> Result<message::MessageStats> {
    reader.salvage();
    check_messages(reader, definitions, findings, news)
}

/// Holds every message against the rules; what was seen of them.
fn check_messages(
    reader: &mut dyn Reader,
    definitions: &dyn Fn() -> Result<Vec<u8>>,
    findings: &mut Findings,
    news: &mut dyn FnMut(u64, u64),
) -> Result<message::MessageStats> {
    let mut seen = message::MessageStats::default();
    let define = |name: &str| extract_definition(&definitions()?, name);
    let mut channels = BTreeMap::new();
    while let Some(head) = reader.next()? {
        let known = channels.entry(head.channel);
        let channel = known.or_insert_with(|| reader.channels()[&head.channel].clone());
        seen.take(&head, channel, reader.data()?, &define, findings)?;
        if seen.count.is_multiple_of(16) {
            report_progress(reader, news)?;
        }
    }
    seen.finish(findings);
    for loss in reader.losses() {
        findings.add(&rules::WHOLE, format!("byte {}", loss.at), &loss.what);
    }
    Ok(seen)
}
