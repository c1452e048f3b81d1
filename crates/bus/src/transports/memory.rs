//! Memory of one process: the embedded default, for participants that are
//! threads. A sample is written in place and handed over; readers share it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use wiregauge_participant::transport::{Reader, Topic, Transport, Writer};
use wiregauge_timing::allocation::{allocate_zeroed, resize};

use crate::catalogue::{Provider, Reach, TransportEntry};

/// Memory of one process.
pub struct Memory;

inventory::submit! {
    TransportEntry {
        id: "memory",
        title: "memory",
        about: "threads of one process, the embedded default",
        carrier: Provider::BuiltIn(&Memory),
        options: &[],
        reach: Reach::Process,
        drops: false,
        floor: false,
    }
}

/// Samples of each topic that a reader may be behind before the writer waits.
const DEPTH: usize = 64;
/// How many samples of each topic the writer keeps for reuse.
const KEPT: usize = 4;

/// The topics of this process that wait for writers.
static TOPICS: Mutex<Option<HashMap<String, OpenTopic>>> = Mutex::new(None);

#[derive(Default)]
struct OpenTopic {
    readers: Vec<Arc<Queue>>,
    /// How many writers have opened it.
    writers: usize,
}

type Sample = Arc<Vec<u8>>;

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    /// Something came, or the writer went.
    filled: Condvar,
    /// Something was taken, or the reader went.
    emptied: Condvar,
}

#[derive(Default)]
struct State {
    /// With the topic that each is of.
    samples: VecDeque<(usize, Sample)>,
    closed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    fn close(&self) {
        lock(&self.state).closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

impl Transport for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn library(&self) -> String {
        "none: a queue within one process".into()
    }

    fn options(&self) -> Vec<String> {
        vec![
            "participants are threads of one process; samples are handed over, not copied".into(),
            format!("a reader may be {DEPTH} samples of each topic behind, then the writer waits"),
        ]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let queue = Arc::new(Queue::default());
        let mut topics = lock(&TOPICS);
        let open = topics.get_or_insert_default().entry(topic.name.clone()).or_default();
        open.readers.push(Arc::clone(&queue));
        let name = topic.name.clone();
        Ok((Box::new(MemoryReader { queue, held: None, name: name.clone() }), name))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn Writer>> {
        let mut all = lock(&TOPICS);
        let all = all.get_or_insert_default();
        let open = all.get_mut(&topic.name);
        let open = open.context("no reader of this topic is in this process")?;
        let readers = open.readers.clone();
        open.writers += 1;
        // With its last writer it is taken: the next run may call its own the same before the
        // readers of this one are gone.
        if open.writers == topic.senders() {
            all.remove(&topic.name);
        }
        let topics = topic.topics_of_sender();
        Ok(Box::new(MemoryWriter {
            readers,
            size: topic.size,
            first: topic.first_to_write(),
            topic: topic.first_to_write(),
            depth: DEPTH * topic.senders() * topics,
            most_kept: KEPT * topics,
            kept: VecDeque::new(),
        }))
    }
}

struct MemoryWriter {
    readers: Vec<Arc<Queue>>,
    size: usize,
    /// Which of the topics that are read is the first that it writes.
    first: usize,
    /// Which of them the next sample is of.
    topic: usize,
    /// How many samples a reader may be behind.
    depth: usize,
    most_kept: usize,
    /// The sample to be sent in front, then those sent, oldest first.
    kept: VecDeque<Sample>,
}

impl Writer for MemoryWriter {
    fn readers(&mut self) -> Result<usize> {
        Ok(self.readers.len())
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        self.topic = self.first + number;
        Ok(())
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        let size = self.size;
        self.buffer_of_size(size)
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        // One that no reader holds any more, or a new one.
        let free = self.kept.iter().position(|sample| Arc::strong_count(sample) == 1);
        let sample = match free {
            Some(free) => self.kept.remove(free).context("it was there")?,
            None => Arc::new(allocate_zeroed(size)?),
        };
        self.kept.push_front(sample);
        let sample = self.kept.front_mut().and_then(Arc::get_mut);
        let sample = sample.context("a sample that a reader holds")?;
        if sample.len() != size {
            resize(sample, size)?;
        }
        Ok(sample)
    }

    fn send(&mut self) -> Result<()> {
        let sample = self.kept.pop_front().context("there is nothing to send")?;
        for reader in &self.readers {
            let mut state = lock(&reader.state);
            while state.samples.len() >= self.depth && !state.closed {
                state = reader.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed {
                bail!("the reader disconnected");
            }
            state.samples.push_back((self.topic, Arc::clone(&sample)));
            drop(state);
            reader.filled.notify_one();
        }
        self.kept.push_back(sample);
        if self.kept.len() > self.most_kept {
            self.kept.pop_front();
        }
        Ok(())
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.readers.iter().for_each(|reader| reader.close());
    }
}

struct MemoryReader {
    queue: Arc<Queue>,
    held: Option<Sample>,
    /// The topic, or what the names of all its topics begin with.
    name: String,
}

impl Reader for MemoryReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        self.held = None;
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.queue.state);
        loop {
            if let Some((topic, sample)) = state.samples.pop_front() {
                drop(state);
                self.queue.emptied.notify_one();
                return Ok(Some((topic, self.held.insert(sample))));
            }
            if state.closed {
                bail!("the writer disconnected");
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.queue.filled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for MemoryReader {
    fn drop(&mut self) {
        if let Some(topics) = lock(&TOPICS).as_mut() {
            if let Some(open) = topics.get_mut(&self.name) {
                open.readers.retain(|queue| !Arc::ptr_eq(queue, &self.queue));
                if open.readers.is_empty() {
                    topics.remove(&self.name);
                }
            }
        }
        self.queue.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run's readers may outlive it for a moment.
    #[test]
    fn readers_of_the_run_before_are_not_of_this_one() {
        let topic = Topic {
            name: "again".into(),
            several: None,
            size: 1,
            varies: false,
            bind: std::net::Ipv4Addr::LOCALHOST.into(),
            readers: 1,
            token: String::new(),
            scratch: None,
            options: Default::default(),
        };
        let open = || {
            let (reader, endpoint) = Memory.reader(&topic).unwrap();
            (reader, Memory.writer(&topic, &[endpoint]).unwrap())
        };
        let (before, _) = open();
        let (mut reader, mut writer) = open();
        assert_eq!(writer.readers().unwrap(), 1);
        drop(before);
        writer.buffer().unwrap().fill(7);
        writer.send().unwrap();
        assert_eq!(reader.next(Duration::from_secs(10)).unwrap(), Some(&[7][..]));
    }
}
