//! The messages of a chain, each with the codecs that are to carry it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{bail, Context, Result};
use indexmap::IndexMap;
use wiregauge_build_tools::hash_file;
use wiregauge_bus::series::payload::{median_message, PayloadCodec, PayloadMessage};
use wiregauge_codec_run::codec_selection::{self, select_codecs};
use wiregauge_codec_run::workload::Workload;
use wiregauge_formats::build::Variant;
use wiregauge_participant::codec_process::{CodecSetup, CodecTask};
use wiregauge_result::run::Status;
use wiregauge_schema::{SchemaSource, Sizes};
use wiregauge_system::progress::ProgressDisplay;

use crate::chain::{Chain, Hop, MessageSource};

/// Recorded messages to choose one from.
const MAX_RECORDED: usize = 64;

/// The messages of a chain.
pub struct Messages {
    all: Vec<(MessageSource, PreparedMessage)>,
    /// What the programs of the codecs were built with, by name.
    tools: IndexMap<String, String>,
}

/// A message with its codecs.
struct PreparedMessage {
    payload: PayloadMessage,
    /// Whether there is a number outside of its lists.
    has_fixed: bool,
}

impl Messages {
    /// Builds the codecs of a chain, below a folder, and has each carry its message.
    ///
    /// # Errors
    /// A message that there is not, or what the chain is drawn with and cannot carry it.
    pub fn prepare(chain: &Chain, folder: &Path, progress: &ProgressDisplay) -> Result<Messages> {
        let mut messages = Messages { all: Vec::new(), tools: IndexMap::new() };
        for (place, hop) in chain.hops.iter().enumerate() {
            if messages.find(&hop.message).is_some() {
                continue;
            }
            let of_message = chain.hops.iter().filter(|other| other.message == hop.message);
            let mut names: Vec<String> = of_message.map(|other| other.codec.clone()).collect();
            names.extend(chain.consider.codecs.iter().cloned());
            names.sort();
            names.dedup();
            let workload =
                workload(&hop.message, chain.seed).with_context(|| chain.hop_title(place))?;
            let mut codecs = select_codecs(&names, &[])?;
            codecs.retain(|codec| !codec.is_bound);
            let variants: Vec<Variant> = codecs.into_iter().map(Variant::from_codec).collect();
            let built = codec_selection::build(
                &workload,
                &variants,
                &[],
                None,
                folder,
                &progress.stoppable(),
            )?;
            messages.tools.extend(built.tools);
            let load = median_message(workload.loads()?)?;
            let has_fixed = workload.projection.fixed.is_some();
            let payload = PayloadMessage::from_entrants(load, built.entrants)?;
            messages.all.push((hop.message.clone(), PreparedMessage { payload, has_fixed }));
        }
        for (place, hop) in chain.hops.iter().enumerate() {
            if let Err(why) = messages.codec(hop) {
                bail!("{} cannot be measured: {why:#}", chain.hop_title(place));
            }
        }
        Ok(messages)
    }

    /// Versions of tools, with those that the codecs' programs were built with.
    pub fn tools(&self, mut versions: IndexMap<String, String>) -> IndexMap<String, String> {
        versions.extend(self.tools.clone());
        versions
    }

    fn find(&self, source: &MessageSource) -> Option<&PreparedMessage> {
        self.all.iter().find(|(other, _)| other == source).map(|(_, message)| message)
    }

    /// The codec of a hop.
    fn find_codec(&self, hop: &Hop) -> Option<&PayloadCodec> {
        let codecs = &self.find(&hop.message)?.payload.codecs;
        codecs.iter().find(|codec| codec.subject.id == hop.codec)
    }

    /// How a stage starts the codec of a hop.
    ///
    /// # Errors
    /// Why the codec cannot carry the hop's message, or cannot read it so.
    pub fn codec(&self, hop: &Hop) -> Result<&CodecSetup> {
        let message = self.find(&hop.message).context("the message was not prepared")?;
        let codec = self.find_codec(hop).context("the codec was not prepared")?;
        if let Some((state, reason)) = codec.subject.status.absence() {
            bail!("{} was {state}: {reason}", hop.codec);
        }
        if hop.read == CodecTask::Fixed && !message.has_fixed {
            bail!("the message has no number outside of its lists to read");
        }
        codec.coding.as_ref().with_context(|| format!("{} has no runner", hop.codec))
    }

    /// How another machine calls the codec of a hop with its message.
    ///
    /// # Errors
    /// As [`Messages::codec`].
    pub fn codec_name(&self, hop: &Hop) -> Result<String> {
        self.codec(hop)?;
        let place = self.all.iter().position(|(other, _)| *other == hop.message);
        let place = place.context("the message was not prepared")?;
        Ok(codec_name(place, &hop.codec))
    }

    /// All codecs that this machine has, by the names that another one calls them by.
    pub fn codecs(&self) -> BTreeMap<String, CodecSetup> {
        let messages = self.all.iter().enumerate();
        let codecs = messages.flat_map(|(place, (_, message))| {
            let named = |codec: &PayloadCodec| {
                let name = codec_name(place, &codec.subject.id);
                Some((name, codec.coding.clone()?))
            };
            message.payload.codecs.iter().filter_map(named).collect::<Vec<_>>()
        });
        codecs.collect()
    }

    /// A hash of the values of each message.
    ///
    /// # Errors
    /// A message that cannot be read any more.
    pub fn hashes(&self) -> Result<Vec<String>> {
        let hash = |(_, message): &(MessageSource, PreparedMessage)| {
            let mut codecs = message.payload.codecs.iter();
            let setup = codecs.find_map(|codec| codec.coding.as_ref());
            hash_file(&setup.context("nothing carries the message")?.message)
        };
        self.all.iter().map(hash).collect()
    }

    /// Bytes of a hop's message as its codec writes it.
    pub fn size(&self, hop: &Hop) -> Option<usize> {
        self.find_codec(hop).map(|codec| codec.size)
    }

    /// The library of a hop's codec.
    pub fn library(&self, hop: &Hop) -> &str {
        self.find_codec(hop).map_or("", |codec| codec.subject.library.as_str())
    }

    /// The name of a hop's message, and where it comes from.
    pub fn name(&self, hop: &Hop) -> (String, String) {
        let message = self.find(&hop.message);
        let case = message.map(|message| &message.payload.case);
        case.map_or_else(Default::default, |case| (case.message.clone(), case.source.clone()))
    }

    /// Whether all codecs were measured, or why not: those that are only considered.
    pub fn left_out(&self) -> Vec<String> {
        let codecs = self.all.iter().flat_map(|(_, message)| &message.payload.codecs);
        let absent = codecs.filter(|codec| codec.subject.status != Status::Measured);
        absent
            .filter_map(|codec| {
                let (state, reason) = codec.subject.status.absence()?;
                Some(format!("{} was {state}: {reason}", codec.subject.title))
            })
            .collect()
    }
}

fn codec_name(message: usize, codec: &str) -> String {
    format!("message {message} in {codec}")
}

fn workload(message: &MessageSource, seed: u64) -> Result<Workload> {
    match message {
        MessageSource::Definition(name, lengths) => {
            let overrides: IndexMap<String, usize> = lengths.iter().cloned().collect();
            let sizes = Sizes { overrides, ..Sizes::default() };
            Workload::message(&SchemaSource::parse(name), &sizes, None, 1, seed)
        }
        MessageSource::Recording(path, channel) => {
            Workload::recording(path, channel.as_deref(), MAX_RECORDED, false, &[])
        }
    }
}
