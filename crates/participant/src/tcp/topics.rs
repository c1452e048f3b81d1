//! A reader of several topics: it has one connection from each sender, and each sample says which
//! topic it is of.

use std::net::TcpListener;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::tcp::reader::TcpReader;
use crate::token::accept_with_token;
use crate::transport::{Reader, Topic};

/// The topic before each sample, from 0: so many bytes.
pub const TAG: usize = 4;
/// How long a connection that was made may take to be seen.
pub const CONNECTED: Duration = Duration::from_secs(5);

/// Reads all topics of some senders.
pub struct TopicsReader {
    listener: TcpListener,
    token: String,
    /// Size of a sample with its topic.
    size: usize,
    senders: usize,
    connections: Vec<TcpReader>,
    /// The connection whose turn it is.
    turn: usize,
}

impl TopicsReader {
    /// One whose senders may not be there yet. Nobody waits at the listener.
    pub fn new(listener: TcpListener, topic: &Topic) -> TopicsReader {
        TopicsReader {
            listener,
            token: topic.token.clone(),
            size: TAG + topic.size,
            senders: topic.senders(),
            connections: Vec::new(),
            turn: 0,
        }
    }

    /// Waits for all senders. Whether they are there in so long.
    fn accept_senders(&mut self, patience: Duration) -> Result<bool> {
        let TopicsReader { listener, token, size, senders, connections, .. } = self;
        if connections.len() == *senders {
            return Ok(true);
        }
        accept_with_token(listener, token, "a sender", patience, |stream| {
            let connection = TcpReader::new(stream, *size, false)?;
            // Of several none is waited for alone.
            connection.stream.set_nonblocking(*senders > 1)?;
            connections.push(connection);
            Ok(match connections.len() == *senders {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })
    }

    /// The connection with the next sample: of those that have one, the next in turn.
    fn await_sample(&mut self, patience: Duration) -> Result<Option<usize>> {
        let count = self.connections.len();
        let mut deadline = None;
        loop {
            let mut turns = (self.turn..self.turn + count).map(|turn| turn % count);
            if let Some(next) = turns.find(|&next| self.connections[next].has_sample()) {
                self.turn = next + 1;
                return Ok(Some(next));
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + patience);
            let left = deadline.saturating_duration_since(Instant::now());
            let left =
                Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            let streams = self.connections.iter().map(|connection| &connection.stream);
            let mut polled: Vec<PollFd> =
                streams.map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
            match poll(&mut polled, Some(&left)) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error).context("cannot wait for samples"),
            }
            let ready: Vec<bool> = polled.iter().map(|one| !one.revents().is_empty()).collect();
            for (connection, _) in
                self.connections.iter_mut().zip(ready).filter(|(_, ready)| *ready)
            {
                connection.gather()?;
            }
        }
    }
}

impl Reader for TopicsReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        if !self.accept_senders(patience)? {
            return Ok(None);
        }
        let sample = match self.senders {
            1 => self.connections[0].next(patience)?,
            _ => match self.await_sample(patience)? {
                Some(next) => Some(self.connections[next].take()?),
                None => None,
            },
        };
        let Some(sample) = sample else { return Ok(None) };
        let (topic, sample) = sample.split_first_chunk().context("a sample without a topic")?;
        Ok(Some((u32::from_le_bytes(*topic) as usize, sample)))
    }

    fn answer_connection(&mut self) -> Result<Option<std::net::TcpStream>> {
        ensure!(self.accept_senders(CONNECTED)?, "no writer has connected yet");
        Ok(Some(self.connections[0].stream.try_clone()?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::tcp::Tcp;
    use crate::transport::{TopicSet, Transport};

    #[test]
    fn samples_of_all_topics_and_senders_come_under_their_topic() {
        let set = |sender| Some(TopicSet { senders: 3, each: 2, sender });
        let topic = |sender| Topic { size: 3, several: set(sender), ..Topic::example(&[]) };
        let (mut reader, endpoint) = Tcp.reader(&topic(0)).unwrap();
        let sends = |sender: usize| {
            let mut writer = Tcp.writer(&topic(sender), std::slice::from_ref(&endpoint)).unwrap();
            for number in [1, 0, 1] {
                writer.choose_topic(number).unwrap();
                writer.buffer().unwrap().fill((2 * sender + number) as u8);
                writer.send().unwrap();
            }
            writer
        };
        let writers: Vec<_> = (0..3).map(sends).collect();
        let mut came = BTreeMap::new();
        for _ in 0..9 {
            let (topic, sample) = reader.next_of_any(Duration::from_secs(10)).unwrap().unwrap();
            assert_eq!(sample, [topic as u8; 3]);
            *came.entry(topic).or_insert(0) += 1;
        }
        assert_eq!(came, BTreeMap::from([(0, 1), (1, 2), (2, 1), (3, 2), (4, 1), (5, 2)]));
        assert!(reader.next_of_any(Duration::from_millis(20)).unwrap().is_none());
        drop(writers);
        let gone = reader.next_of_any(Duration::from_secs(10)).unwrap_err().to_string();
        assert!(gone.contains("disconnected"), "{gone}");
    }
}
