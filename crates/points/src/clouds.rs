//! Writes points as clouds: each list a channel of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{bail, Result};
use wiregauge_trace::channel::{Channel, Definition, OSI_TRACE};
use wiregauge_trace::read::{About, Attachment, Head};
use wiregauge_trace::write::Writer;

use crate::cloud::{definition, encode};
use crate::osi::Reading;
use crate::remarks::{Remarks, Skipped};
use crate::source::{Others, Source};

/// A writer for which messages with points are clouds.
pub struct Clouds {
    origin: String,
    inner: Box<dyn Writer>,
    /// Whether other messages, and those that clouds come from, are written too.
    keep: bool,
    reading: Reading,
    others: Others,
    skipped: Option<Skipped>,
    definition: Arc<Definition>,
    channels: Vec<Known>,
    remarks: Remarks,
    clouds: u64,
    points: u64,
}

/// A channel that is read.
struct Known {
    topic: String,
    source: Option<Source>,
    /// Its number where it is written itself.
    kept: Option<u16>,
    /// The number of the channel of each of its lists.
    lists: BTreeMap<String, u16>,
}

impl Clouds {
    /// Writes clouds by another writer, and where they are to be kept all messages as they
    /// are.
    /// `origin` says in errors what is read.
    pub fn new(origin: &str, inner: Box<dyn Writer>, keep: bool, reading: Reading) -> Clouds {
        let definition = Arc::new(definition());
        let (channels, remarks) = Default::default();
        let origin = origin.to_owned();
        let (clouds, points, others): (_, _, Others) = (0, 0, |_| Ok(None));
        Clouds {
            origin,
            inner,
            keep,
            reading,
            others,
            skipped: None,
            definition,
            channels,
            remarks,
            clouds,
            points,
        }
    }

    /// The same with messages of OSI in other encodings.
    pub fn with(self, others: Others) -> Clouds {
        Clouds { others, ..self }
    }

    /// The same, and leaves out messages whose points cannot be read where that is wanted, and
    /// counts them there.
    pub fn skipping(self, skipped: Option<Skipped>) -> Clouds {
        Clouds { skipped, ..self }
    }
}

impl Writer for Clouds {
    fn about(&mut self, about: &About) -> Result<()> {
        // Clouds alone are of no profile: they are Foxglove's.
        let profile = if self.keep { about.profile.clone() } else { String::new() };
        self.inner.about(&About { profile, library: about.library.clone() })
    }

    fn channel(&mut self, channel: &Channel) -> Result<u16> {
        let kept = if self.keep { Some(self.inner.channel(channel)?) } else { None };
        let (topic, source) = (channel.topic.clone(), Source::with(channel, self.others)?);
        self.channels.push(Known { topic, source, kept, lists: BTreeMap::new() });
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn message(&mut self, channel: u16, head: &Head, data: &[u8]) -> Result<()> {
        let known = &mut self.channels[usize::from(channel)];
        if let Some(kept) = known.kept {
            self.inner.message(kept, head, data)?;
        }
        let Some(source) = &known.source else { return Ok(()) };
        let found = source.points(data, self.reading);
        let found = self.remarks.read(&known.topic, found, self.skipped.as_ref())?;
        for mut points in found.into_iter().flatten() {
            let topic = match points.list.as_str() {
                "" => format!("{}/points", known.topic),
                list => format!("{}/{list}", known.topic),
            };
            self.remarks.take(&topic, &points);
            if points.unplaced.is_some() {
                continue;
            }
            let id = match known.lists.get(&points.list) {
                Some(id) => *id,
                None => {
                    let id = self.inner.channel(&Channel {
                        topic: topic.clone(),
                        message_encoding: "protobuf".into(),
                        definition: Arc::clone(&self.definition),
                        metadata: BTreeMap::new(),
                    })?;
                    known.lists.insert(points.list.clone(), id);
                    id
                }
            };
            points.time = points.time.or(head.time);
            let cloud = encode(&points, &topic);
            let head = Head { size: cloud.len() as u64, ..*head };
            self.inner.message(id, &head, &cloud)?;
            self.clouds += 1;
            self.points += points.count as u64;
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        // A file of clouds alone is no trace of OSI.
        if name == OSI_TRACE && !self.keep {
            return Ok(false);
        }
        self.inner.metadata(name, entries)
    }

    fn attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        self.inner.attachment(attachment)
    }

    fn remarks(&self) -> Vec<String> {
        let mut told = self.remarks.told(self.reading, "left out");
        told.push(format!("{} clouds of {} points", self.clouds, self.points));
        told
    }

    fn finish(self: Box<Self>) -> Result<()> {
        if self.clouds == 0 {
            let origin = &self.origin;
            match self.remarks.reason() {
                Some(reason) => bail!("no cloud can be made of {origin}: {reason}"),
                None => bail!(
                    "no message of {origin} that was read holds points; those of {} do",
                    Source::KINDS
                ),
            }
        }
        self.inner.finish()
    }
}
