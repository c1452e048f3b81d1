//! What carries samples: one narrow trait, one file a transport.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure, Result};
use serde::{Deserialize, Serialize};

/// Name of the option of a transport by which codecs write and read samples in place,
pub const CODEC: &str = "codec";
/// and its value.
pub const IN_PLACE: &str = "in-place";

/// Where samples go and how large they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topic {
    /// Its name, new for each run unless the user says so.
    pub name: String,
    /// The topics that there are in its place, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub several: Option<TopicSet>,
    /// Size of every sample in bytes.
    pub size: usize,
    /// Whether that is only the largest, and each sample has a size of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// The address that a transport over IP binds to.
    pub bind: IpAddr,
    /// How many readers there will be.
    pub readers: usize,
    /// What who comes to a port says first.
    pub token: String,
    /// A folder of the run on the conductor's machine, for what a library leaves
    /// in the file system; none where there is none.
    pub scratch: Option<PathBuf>,
    /// What the user says to the transport: `domain` for DDS.
    pub options: BTreeMap<String, String>,
}

/// The topics of a run that has several. Each sender has as many, and writes no other's; each
/// receiver reads all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicSet {
    /// How many senders there are.
    pub senders: usize,
    /// How many topics each of them has.
    pub each: usize,
    /// Of a sender: which one it is, from 0. The first is the timing master.
    pub sender: usize,
}

impl Topic {
    /// Whether a transport knows all that is said to it.
    ///
    /// # Errors
    /// What it does not know, and what it does.
    pub fn check_options(&self, transport: &dyn Transport) -> Result<()> {
        let known = transport.option_names();
        for option in self.options.keys() {
            ensure!(
                known.contains(&option.as_str()),
                "{} has no option '{option}'; it has {}",
                transport.name(),
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            );
        }
        Ok(())
    }

    /// Whether codecs write and read samples in place. The transport's samples lie in memory
    /// that processes share then.
    ///
    /// # Errors
    /// Another word than there is for it.
    pub fn has_codec_in_place(&self) -> Result<bool> {
        match self.options.get(CODEC).map(String::as_str) {
            None | Some("copied") => Ok(false),
            Some(IN_PLACE) => Ok(true),
            Some(other) => bail!("{CODEC} is copied or {IN_PLACE}, not '{other}'"),
        }
    }

    /// Refuses codecs in place.
    ///
    /// # Errors
    /// When it is asked for.
    pub fn refuse_codec_in_place(&self) -> Result<()> {
        ensure!(!self.has_codec_in_place()?, "{CODEC}={IN_PLACE} is for 'wiregauge bus run' only");
        Ok(())
    }

    /// The topic on which the first receiver sends samples back.
    pub fn return_topic(&self, over: &dyn Transport) -> Topic {
        let name = format!("{}_back", self.name);
        let mut back = Topic { name, several: None, readers: 1, ..self.clone() };
        back.options.retain(|name, _| !over.receiver_options().contains(&name.as_str()));
        back
    }
}

#[cfg(test)]
impl Topic {
    /// One of small samples for one reader, for tests.
    pub(crate) fn example(options: &[(&str, &str)]) -> Topic {
        let options = options.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        Topic {
            name: "a".into(),
            several: None,
            size: 1,
            varies: false,
            bind: std::net::Ipv4Addr::LOCALHOST.into(),
            readers: 1,
            token: String::new(),
            scratch: None,
            options: options.collect(),
        }
    }
}

/// A way to carry samples from one writer to some readers.
pub trait Transport: Sync {
    /// Its key: `tcp`.
    fn name(&self) -> &'static str;

    /// The library and its version.
    fn library(&self) -> String;

    /// The choices that the library leaves and that move a figure.
    fn options(&self) -> Vec<String>;

    /// Names of [`Topic::options`] that it knows.
    fn option_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Those of them that are for the receivers alone, such as a port that is
    /// chosen: what is sent back needs another.
    fn receiver_options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether readers can answer the writer over the connection that samples
    /// come over. Otherwise they acknowledge steps over one of their own.
    fn acknowledges_in_band(&self) -> bool {
        false
    }

    /// Whether it carries several topics and senders: in one context of its library, such as a
    /// participant or a session.
    fn carries_several(&self) -> bool {
        false
    }

    /// Opens a reader. Its endpoint, where it has one, is told to the writer.
    ///
    /// # Errors
    /// A port or a domain that is in use, no memory.
    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)>;

    /// Opens a writer to the readers with these endpoints.
    ///
    /// # Errors
    /// A reader that cannot be reached.
    fn writer(&self, topic: &Topic, endpoints: &[String]) -> Result<Box<dyn Writer>>;
}

/// Sends samples. It stays in the thread that opened it.
pub trait Writer {
    /// How many readers it knows of. Samples are sent when all are there.
    ///
    /// # Errors
    /// When the engine fails.
    fn readers(&mut self) -> Result<usize>;

    /// Goes over to one of its topics, where it has several. The next sample is of that one.
    ///
    /// # Errors
    /// When the transport has one only.
    fn choose_topic(&mut self, _number: usize) -> Result<()> {
        bail!("this transport has one topic only")
    }

    /// Room for the next sample, where the transport wants it: a buffer of its
    /// own, or shared memory. What is in it is left over from before.
    ///
    /// # Errors
    /// When there is none left.
    fn buffer(&mut self) -> Result<&mut [u8]>;

    /// Room for a sample of a size of its own, on a topic where that varies.
    ///
    /// # Errors
    /// When there is none left, or the transport carries samples of one size only.
    fn buffer_of_size(&mut self, _size: usize) -> Result<&mut [u8]> {
        bail!("this transport carries samples of one size only")
    }

    /// Sends what is in the room. Returns when the transport has taken it.
    ///
    /// # Errors
    /// When a reader is gone.
    fn send(&mut self) -> Result<()>;

    /// The connections over which readers answer, where they do.
    ///
    /// # Errors
    /// When the system refuses.
    fn answer_connections(&mut self) -> Result<Vec<TcpStream>> {
        Ok(Vec::new())
    }
}

/// Receives samples. It stays in the thread that opened it.
pub trait Reader {
    /// The next sample; none if there is none for so long. It lies where the
    /// transport put it, until the next call.
    ///
    /// # Errors
    /// When the writer is gone.
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>>;

    /// The next sample of any topic that it reads, and which topic that is.
    ///
    /// # Errors
    /// When the writer is gone.
    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        Ok(self.next(patience)?.map(|sample| (0, sample)))
    }

    /// Hands samples over as they come: one of them, or, where the library calls
    /// who listens, all that come until one is enough, in the library's thread
    /// while the caller's waits. Whether there were any in so long.
    ///
    /// # Errors
    /// When the writer is gone, and those of who takes them.
    fn deliver(&mut self, patience: Duration, take: SampleHandler<'_>) -> Result<bool> {
        match self.next(patience)? {
            Some(sample) => take(sample).map(|_| true),
            None => Ok(false),
        }
    }

    /// The same of any topic that it reads, with which topic that is.
    ///
    /// # Errors
    /// When the writer is gone, and those of who takes them.
    fn deliver_any(&mut self, patience: Duration, take: TopicSampleHandler<'_>) -> Result<bool> {
        match self.next_of_any(patience)? {
            Some((topic, sample)) => take(topic, sample).map(|_| true),
            None => Ok(false),
        }
    }

    /// The connection over which it answers the writer, where it does. The writer
    /// is there.
    ///
    /// # Errors
    /// When the writer is gone.
    fn answer_connection(&mut self) -> Result<Option<TcpStream>> {
        Ok(None)
    }
}

/// Takes a sample, and says whether it goes on.
pub type SampleHandler<'a> = &'a mut dyn FnMut(&[u8]) -> Result<ControlFlow<()>>;

/// Takes a sample of a topic, and says whether it goes on.
pub type TopicSampleHandler<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<ControlFlow<()>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_in_place_where_that_is_said_and_may_be() {
        let copied = [Topic::example(&[]), Topic::example(&[(CODEC, "copied")])];
        for topic in copied {
            assert!(!topic.has_codec_in_place().unwrap());
            topic.refuse_codec_in_place().unwrap();
        }
        let topic = Topic::example(&[(CODEC, IN_PLACE)]);
        assert!(topic.has_codec_in_place().unwrap());
        let error = topic.refuse_codec_in_place().unwrap_err().to_string();
        assert_eq!(error, "codec=in-place is for 'wiregauge bus run' only");
        let error = Topic::example(&[(CODEC, "there")]).has_codec_in_place().unwrap_err();
        assert_eq!(error.to_string(), "codec is copied or in-place, not 'there'");
    }
}
