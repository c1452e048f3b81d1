//! Writes points as clouds: each list a channel of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{bail, Result};
use wiregauge_trace::channel::{Channel, Definition, OSI_TRACE};
use wiregauge_trace::read::{Attachment, FileHeader, MessageInfo};
use wiregauge_trace::write::Writer;

use crate::cloud::{definition, encode, NAME as CLOUD_NAME};
use crate::notices::{Notices, SkipCounter};
use crate::osi::SensorConventions;
use crate::source::{DecoderLookup, PointSource};

/// A writer for which messages with points are clouds.
pub struct CloudWriter {
    origin: String,
    inner: Box<dyn Writer>,
    /// Whether other messages, and those that clouds come from, are written too.
    keep: bool,
    reading: SensorConventions,
    others: DecoderLookup,
    definition: Arc<Definition>,
    channels: Vec<CloudChannel>,
    remarks: Notices,
    clouds: u64,
    points: u64,
}

/// A channel that is read.
struct CloudChannel {
    topic: String,
    source: Option<PointSource>,
    /// Its number where it is written itself.
    kept: Option<u16>,
    /// Whether its messages are clouds already: they are written as they are.
    is_cloud: bool,
    /// The number of the channel of each of its lists.
    lists: BTreeMap<String, u16>,
}

impl CloudWriter {
    /// Writes clouds by another writer, and where they are to be kept all messages as they
    /// are.
    /// `origin` says in errors what is read.
    pub fn new(
        origin: &str,
        inner: Box<dyn Writer>,
        keep: bool,
        reading: SensorConventions,
    ) -> CloudWriter {
        let definition = Arc::new(definition());
        let (channels, remarks) = Default::default();
        let origin = origin.to_owned();
        let (clouds, points, others): (_, _, DecoderLookup) = (0, 0, |_| Ok(None));
        CloudWriter {
            origin,
            inner,
            keep,
            reading,
            others,
            definition,
            channels,
            remarks,
            clouds,
            points,
        }
    }

    /// The same with messages of OSI in other encodings.
    pub fn with_decoders(self, others: DecoderLookup) -> CloudWriter {
        CloudWriter { others, ..self }
    }

    /// The same, and leaves out messages whose points cannot be read where that is wanted, and
    /// counts them there.
    pub fn skip_failed(mut self, skipped: Option<SkipCounter>) -> CloudWriter {
        self.remarks.count_skipped(skipped);
        self
    }
}

impl Writer for CloudWriter {
    fn write_header(&mut self, about: &FileHeader) -> Result<()> {
        // Clouds alone are of no profile: they are Foxglove's.
        let profile = if self.keep { about.profile.clone() } else { String::new() };
        self.inner.write_header(&FileHeader { profile, library: about.library.clone() })
    }

    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let is_cloud =
            channel.message_encoding == "protobuf" && channel.definition.name == CLOUD_NAME;
        let is_kept = self.keep || is_cloud;
        let kept = if is_kept { Some(self.inner.add_channel(channel)?) } else { None };
        let (topic, source) =
            (channel.topic.clone(), PointSource::from_channel_with(channel, self.others)?);
        let lists = BTreeMap::new();
        self.channels.push(CloudChannel { topic, source, kept, is_cloud, lists });
        Ok(u16::try_from(self.channels.len() - 1)?)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let known = &mut self.channels[usize::from(channel)];
        if let Some(kept) = known.kept {
            self.inner.write_message(kept, head, data)?;
        }
        let Some(source) = &known.source else { return Ok(()) };
        let found = source.points(data, self.reading);
        let found = self.remarks.skip_failed(&known.topic, found)?;
        for mut points in found.into_iter().flatten() {
            if known.is_cloud {
                self.clouds += 1;
                self.points += points.count as u64;
                continue;
            }
            let topic = match points.list.as_str() {
                "" => format!("{}/points", known.topic),
                list => format!("{}/{list}", known.topic),
            };
            self.remarks.add_points(&topic, &points);
            if points.unplaced.is_some() {
                continue;
            }
            let id = match known.lists.get(&points.list) {
                Some(id) => *id,
                None => {
                    let id = self.inner.add_channel(&Channel {
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
            let head = MessageInfo { size: cloud.len() as u64, ..*head };
            self.inner.write_message(id, &head, &cloud)?;
            self.clouds += 1;
            self.points += points.count as u64;
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn write_metadata(&mut self, name: &str, entries: &BTreeMap<String, String>) -> Result<bool> {
        // A file of clouds alone is no trace of OSI.
        if name == OSI_TRACE && !self.keep {
            return Ok(false);
        }
        self.inner.write_metadata(name, entries)
    }

    fn write_attachment(&mut self, attachment: &Attachment) -> Result<bool> {
        self.inner.write_attachment(attachment)
    }

    fn remarks(&self) -> Vec<String> {
        let mut told = self.remarks.list_all(self.reading, "left out");
        told.push(format!("{} clouds of {} points", self.clouds, self.points));
        told
    }

    fn finish(self: Box<Self>) -> Result<()> {
        if self.clouds == 0 {
            let origin = &self.origin;
            match self.remarks.reason() {
                Some(reason) => bail!("no cloud can be made of {origin}: {reason}"),
                None => bail!(PointSource::explain_missing(origin)),
            }
        }
        self.inner.finish()
    }
}
