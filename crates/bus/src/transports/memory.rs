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

/// Samples that a reader may be behind before the writer waits.
const DEPTH: usize = 64;
/// How many samples the writer keeps for reuse.
const KEPT: usize = 4;

/// The readers of all topics of this process.
static TOPICS: Mutex<Option<HashMap<String, Vec<Arc<Queue>>>>> = Mutex::new(None);

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
    samples: VecDeque<Sample>,
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
            format!("a reader may be {DEPTH} samples behind, then the writer waits"),
        ]
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let queue = Arc::new(Queue::default());
        let mut topics = lock(&TOPICS);
        let readers = topics.get_or_insert_default().entry(topic.name.clone()).or_default();
        readers.push(Arc::clone(&queue));
        Ok((Box::new(MemoryReader { queue, held: None }), topic.name.clone()))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn Writer>> {
        let readers = lock(&TOPICS).get_or_insert_default().remove(&topic.name);
        let readers = readers.context("no reader of this topic is in this process")?;
        Ok(Box::new(MemoryWriter { readers, size: topic.size, kept: VecDeque::new() }))
    }
}

struct MemoryWriter {
    readers: Vec<Arc<Queue>>,
    size: usize,
    /// The sample to be sent in front, then those sent, oldest first.
    kept: VecDeque<Sample>,
}

impl Writer for MemoryWriter {
    fn readers(&mut self) -> Result<usize> {
        Ok(self.readers.len())
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
            while state.samples.len() >= DEPTH && !state.closed {
                state = reader.emptied.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed {
                bail!("the reader disconnected");
            }
            state.samples.push_back(Arc::clone(&sample));
            drop(state);
            reader.filled.notify_one();
        }
        self.kept.push_back(sample);
        if self.kept.len() > KEPT {
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
}

impl Reader for MemoryReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        self.held = None;
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.queue.state);
        loop {
            if let Some(sample) = state.samples.pop_front() {
                drop(state);
                self.queue.emptied.notify_one();
                return Ok(Some(self.held.insert(sample)));
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
        self.queue.close();
    }
}
