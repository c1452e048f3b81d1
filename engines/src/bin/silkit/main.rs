//! SIL Kit's data over TCP or domain sockets, by a binding of our own to its C functions. The
//! library is the user's; it is loaded when the program runs.

mod library;
mod registry;

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use library::{DataHandler, DataMessage, Library, Participant, Publisher};
use registry::Registry;
use wiregauge_participant::participant;
use wiregauge_participant::sample::loss_timeout;
use wiregauge_participant::sample_taker::{SampleSource, SampleTaker};
use wiregauge_participant::transport::{
    Reader, SampleHandler, Topic, TopicSampleHandler, Transport, Writer,
};
use wiregauge_timing::allocation::{allocate_zeroed, resize};

fn main() -> ExitCode {
    participant::main(vec![&SilKit])
}

/// SIL Kit.
struct SilKit;

/// The library that is loaded where none is named: of the system.
const LIBRARY: &str = "libSilKit.so";
/// Bytes that may be on the way, or in a reader's queue, about. SIL Kit's own queue has no end.
const ON_THE_WAY: usize = 64 << 20;
/// How long a write waits for its readers at most, besides the time that a sample may take.
const BLOCKING: Duration = Duration::from_secs(10);

impl Transport for SilKit {
    fn name(&self) -> &'static str {
        "silkit"
    }

    fn library(&self) -> String {
        match LOADED.get() {
            Some(library) => format!("SIL Kit {}", library.version),
            None => "SIL Kit, not loaded yet".into(),
        }
    }

    fn options(&self) -> Vec<String> {
        vec![
            "way=tcp is TCP alone, with TCP_NODELAY as by default; way=local is domain sockets"
                .into(),
            "a registry of the run's own, or that of uri=; publish and subscribe without a \
             lifecycle, so that samples go when they are published"
                .into(),
            "a receiver works in the thread of SIL Kit that has the sample, and what answers it is \
             published by the same participant"
                .into(),
            "of each sender 64 MiB are on the way at most: a reader says each 16 MiB how far it is, \
             as SIL Kit's own queue has no end"
                .into(),
            "several topics of a sender have a publisher each, of one participant".into(),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &["library", "topic", "uri", "way"]
    }

    fn receiver_options(&self) -> &'static [&'static str] {
        &["topic"]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let simulation = Simulation::join(topic, None)?;
        let names = topic.names_to_read(topic_name(topic));
        let first_of_each = names.iter().step_by(topic.topics_of_sender());
        let progress = first_of_each
            .map(|name| simulation.lock().publisher(&progress_of(name), true))
            .collect::<Result<Vec<_>>>()?;
        let state = InboxState::new(progress, topic.topics_of_sender());
        let inbox = Arc::new(Inbox { state: Mutex::new(state), changed: Condvar::new() });
        for (topic, name) in names.iter().enumerate() {
            let context = Arc::new(Subscription { topic, inbox: Arc::clone(&inbox) });
            simulation.subscribe(name, on_sample, &context)?;
        }
        // Whoever joins hears of the subscriptions before it hears this.
        inbox.lock().tell_all()?;
        let uri = simulation.uri.clone();
        Ok((Box::new(SilKitReader { _simulation: simulation, inbox, held: Vec::new() }), uri))
    }

    fn writer(&self, topic: &Topic, endpoints: &[String]) -> Result<Box<dyn Writer>> {
        let first = endpoints.first();
        ensure!(
            endpoints.iter().all(|uri| Some(uri) == first),
            "readers are at several registries; name one by --option silkit.uri=URI"
        );
        let simulation = Simulation::join(topic, first)?;
        let names = topic.names_to_write(topic_name(topic));
        let publishers = names.iter().map(|name| simulation.lock().publisher(name, false));
        let publishers = publishers.collect::<Result<Vec<_>>>()?;
        let progress = Arc::<Progress>::default();
        let first = names.first().context("there is no topic")?;
        simulation.subscribe(&progress_of(first), on_progress, &progress)?;
        let buffer = allocate_zeroed(if topic.varies { 0 } else { topic.size })?;
        let patience = BLOCKING + Duration::from_nanos(loss_timeout(topic.size));
        Ok(Box::new(SilKitWriter {
            publishers,
            topic: 0,
            _simulation: simulation,
            progress,
            buffer,
            sent: 0,
            patience,
        }))
    }
}

static LOADED: OnceLock<Library> = OnceLock::new();

/// The library, loaded once.
fn load(path: &str) -> Result<&'static Library> {
    // Two threads may load it, which the system counts as one.
    if LOADED.get().is_none() {
        let _ = LOADED.set(Library::load(path)?);
    }
    LOADED.get().context("it is loaded")
}

fn topic_name(topic: &Topic) -> &str {
    topic.options.get("topic").unwrap_or(&topic.name)
}

/// The topic on which readers say to a sender how far they are, by the first topic that it has.
fn progress_of(topic: &str) -> String {
    format!("{topic}.progress")
}

/// A participant, and the registry where this program started it. All ends of a program that are at
/// one registry by one way share it, as a participant of SIL Kit has several publishers and
/// subscribers. So what a handler publishes is sent by the thread that it is called in.
struct Simulation {
    participant: Mutex<Participant>,
    uri: String,
    /// The library and the way of the participant.
    how: [Option<String>; 2],
    // Left after the participant: its handlers use them.
    contexts: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    // Ended after the participant has left.
    _registry: Option<Registry>,
}

impl Simulation {
    fn join(topic: &Topic, told: Option<&String>) -> Result<Arc<Simulation>> {
        static JOINED: Mutex<Vec<Weak<Simulation>>> = Mutex::new(Vec::new());
        /// Tells participants of one program apart.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let path = topic.options.get("library").map_or(LIBRARY, String::as_str);
        let library = load(path)?;
        let (uri, registry) = match topic.options.get("uri").or(told) {
            Some(uri) => (uri.clone(), None),
            None => {
                let scratch = topic.scratch.as_deref();
                let scratch = scratch.context("name a registry by --option silkit.uri=URI")?;
                Registry::find_or_start(scratch, path, topic.bind)?
            }
        };
        let how = ["library", "way"].map(|option| topic.options.get(option).cloned());
        let mut joined = JOINED.lock().unwrap_or_else(PoisonError::into_inner);
        joined.retain(|one| one.strong_count() > 0);
        let mut there = joined.iter().filter_map(Weak::upgrade);
        if let Some(there) = there.find(|one| one.uri == uri && one.how == how) {
            return Ok(there);
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("wiregauge-{}-{number}", std::process::id());
        let configuration = configuration(topic, &name)?;
        let participant = Mutex::new(Participant::join(library, &configuration, &name, &uri)?);
        let contexts = Mutex::default();
        let simulation = Simulation { participant, uri, how, contexts, _registry: registry };
        let simulation = Arc::new(simulation);
        joined.push(Arc::downgrade(&simulation));
        Ok(simulation)
    }

    fn lock(&self) -> MutexGuard<'_, Participant> {
        self.participant.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a handler called, whose context is of this type.
    fn subscribe<T: Send + Sync + 'static>(
        &self,
        topic: &str,
        handler: DataHandler,
        context: &Arc<T>,
    ) -> Result<()> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner).push(context.clone());
        let context = Arc::as_ptr(context).cast_mut().cast();
        // SAFETY: it is shared, and dropped after the participant.
        unsafe { self.lock().subscribe(topic, handler, context) }
    }
}

thread_local! {
    /// Whether this thread of SIL Kit is in a handler.
    static HANDLES: Cell<bool> = const { Cell::new(false) };
}

/// A participant's configuration: one way to reach it, and no words to standard output.
fn configuration(topic: &Topic, name: &str) -> Result<String> {
    let (sockets, acceptor) = match topic.options.get("way").map_or("tcp", String::as_str) {
        "tcp" => (false, format!("tcp://{}:0", topic.bind)),
        // A name of its own in the run's folder, with which it goes.
        "local" => {
            let scratch = topic.scratch.as_deref().context("way=local is for 'bus run' alone")?;
            (true, format!("local://{}/{name}", scratch.display()))
        }
        other => bail!("way is tcp or local, not '{other}'"),
    };
    Ok(format!(
        "{{\"Logging\": {{\"Sinks\": []}}, \"Middleware\": {{\"EnableDomainSockets\": {sockets}, \
         \"AcceptorUris\": [{acceptor:?}], \"RegistryAsFallbackProxy\": false}}}}"
    ))
}

struct SilKitWriter {
    publishers: Vec<Publisher>,
    /// The topic of the next sample.
    topic: usize,
    _simulation: Arc<Simulation>,
    progress: Arc<Progress>,
    buffer: Vec<u8>,
    /// Bytes that were published, on all topics.
    sent: u64,
    /// How long a write waits.
    patience: Duration,
}

/// How far each reader is, by its name.
#[derive(Default)]
struct Progress {
    read: Mutex<Vec<(u64, u64)>>,
    changed: Condvar,
}

/// Called by SIL Kit when a reader says how far it is.
extern "C" fn on_progress(context: *mut c_void, _: *mut c_void, message: *const DataMessage) {
    // SAFETY: the context is the `Progress` of a writer, which outlives its participant, and the
    // message is lent for the call.
    let (progress, message) = unsafe { (&*context.cast::<Progress>(), &*message) };
    let Some((reader, bytes)) = message.bytes().split_first_chunk::<8>() else { return };
    let Ok(bytes) = bytes.try_into() else { return };
    let (reader, bytes) = (u64::from_le_bytes(*reader), u64::from_le_bytes(bytes));
    let mut read = progress.read.lock().unwrap_or_else(PoisonError::into_inner);
    match read.iter_mut().find(|(known, _)| *known == reader) {
        Some((_, there)) => *there = bytes,
        None => read.push((reader, bytes)),
    }
    progress.changed.notify_one();
}

impl Writer for SilKitWriter {
    fn readers(&mut self) -> Result<usize> {
        Ok(self.progress.read.lock().unwrap_or_else(PoisonError::into_inner).len())
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        ensure!(number < self.publishers.len(), "there is no topic {number}");
        self.topic = number;
        Ok(())
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        Ok(&mut self.buffer)
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        resize(&mut self.buffer, size)?;
        Ok(&mut self.buffer)
    }

    fn send(&mut self) -> Result<()> {
        self.publishers[self.topic].publish(&self.buffer)?;
        self.sent += self.buffer.len() as u64;
        // While a handler waits, no reader could say how far it is. What it publishes answers a
        // sample, so that there are not more than of these.
        if HANDLES.get() {
            return Ok(());
        }
        let behind = |read: &mut Vec<(u64, u64)>| {
            read.iter().any(|(_, bytes)| self.sent.saturating_sub(*bytes) > ON_THE_WAY as u64)
        };
        let read = self.progress.read.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.progress.changed.wait_timeout_while(read, self.patience, behind);
        let timed_out = waited.unwrap_or_else(PoisonError::into_inner).1.timed_out();
        ensure!(!timed_out, "a reader over SIL Kit is behind or gone");
        Ok(())
    }
}

struct SilKitReader {
    _simulation: Arc<Simulation>,
    inbox: Arc<Inbox>,
    /// The sample that was given away last.
    held: Vec<u8>,
}

/// A topic of those that a reader reads.
struct Subscription {
    topic: usize,
    inbox: Arc<Inbox>,
}

/// Where SIL Kit's thread leaves samples, or finds who takes them.
struct Inbox {
    state: Mutex<InboxState>,
    changed: Condvar,
}

struct InboxState {
    /// Whether its reader is gone, and nobody takes samples any more.
    closed: bool,
    /// Samples that nobody took yet, each with its topic.
    waiting: VecDeque<(usize, Vec<u8>)>,
    waiting_bytes: usize,
    /// Buffers for samples to come.
    free: Vec<Vec<u8>>,
    /// Who takes samples in SIL Kit's thread.
    taker: SampleTaker,
    name: u64,
    /// By sender, each of which has so many topics.
    senders: Vec<ReadProgress>,
    each: usize,
}

/// How far a reader is with what a sender sends.
struct ReadProgress {
    /// Tells it.
    publisher: Publisher,
    /// Bytes that were taken, and at what number of them it was told last.
    taken: u64,
    told: u64,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, InboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a sample to who takes it, or keeps it until somebody does.
    fn take(&self, topic: usize, sample: &[u8]) {
        // After a panic there is nobody any more.
        let Ok(mut state) = self.state.lock() else { return };
        if state.closed {
            return;
        }
        if !state.waiting.is_empty() || !state.give(topic, sample) {
            // Samples of others have no writer that waits.
            if state.waiting_bytes > 2 * ON_THE_WAY * state.senders.len() {
                return;
            }
            let mut copy = state.free.pop().unwrap_or_default();
            copy.clear();
            copy.extend_from_slice(sample);
            state.waiting_bytes += copy.len();
            state.waiting.push_back((topic, copy));
            self.changed.notify_one();
        } else if !state.taker.is_waiting() {
            self.changed.notify_one();
        }
    }
}

impl Drop for SilKitReader {
    fn drop(&mut self) {
        // Its participant may stay for others.
        let mut state = self.inbox.lock();
        state.closed = true;
        state.waiting.clear();
        state.free.clear();
    }
}

impl InboxState {
    /// One of samples of senders that are told so how far it is, each with so many topics.
    fn new(progress: Vec<Publisher>, each: usize) -> InboxState {
        /// Tells readers of one program apart.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed) as u64;
        InboxState {
            closed: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            free: Vec::new(),
            taker: SampleTaker::default(),
            name: u64::from(std::process::id()) << 32 | number,
            senders: progress
                .into_iter()
                .map(|publisher| ReadProgress { publisher, taken: 0, told: 0 })
                .collect(),
            each,
        }
    }

    /// Says to all senders how far it is.
    fn tell_all(&mut self) -> Result<()> {
        self.senders.iter_mut().try_for_each(|sender| sender.tell(self.name))
    }

    /// So many more bytes of a topic were taken.
    fn count(&mut self, topic: usize, bytes: usize) -> Result<()> {
        let sender = &mut self.senders[topic / self.each];
        sender.taken += bytes as u64;
        match sender.taken - sender.told >= ON_THE_WAY as u64 / 4 {
            true => sender.tell(self.name),
            false => Ok(()),
        }
    }

    /// Gives a sample to who takes it. Whether there was anybody.
    fn give(&mut self, topic: usize, sample: &[u8]) -> bool {
        if !self.taker.give(topic, sample) {
            return false;
        }
        if let Err(error) = self.count(topic, sample.len()) {
            self.taker.fail(error);
        }
        true
    }
}

// SAFETY: an inbox has one taker, which stays in it.
unsafe impl SampleSource for InboxState {
    fn taker(&mut self) -> &mut SampleTaker {
        &mut self.taker
    }

    fn serve(&mut self) {
        while self.taker.is_waiting() {
            let Some((topic, sample)) = self.waiting.pop_front() else { return };
            self.waiting_bytes -= sample.len();
            self.give(topic, &sample);
            self.free.push(sample);
        }
    }
}

impl ReadProgress {
    fn tell(&mut self, reader: u64) -> Result<()> {
        let words = [reader.to_le_bytes(), self.taken.to_le_bytes()].concat();
        self.told = self.taken;
        self.publisher.publish(&words)
    }
}

/// Called by SIL Kit when a sample has come.
extern "C" fn on_sample(context: *mut c_void, _: *mut c_void, message: *const DataMessage) {
    // SAFETY: the context is a `Subscription` of a reader, which outlives its participant, and the
    // message is lent for the call.
    let (subscription, message) = unsafe { (&*context.cast::<Subscription>(), &*message) };
    HANDLES.set(true);
    subscription.inbox.take(subscription.topic, message.bytes());
    HANDLES.set(false);
}

impl Reader for SilKitReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        let deadline = Instant::now() + patience;
        let mut state = self.inbox.lock();
        let topic = loop {
            if let Some((topic, sample)) = state.waiting.pop_front() {
                state.waiting_bytes -= sample.len();
                state.count(topic, sample.len())?;
                let old = std::mem::replace(&mut self.held, sample);
                if state.free.len() < 4 {
                    state.free.push(old);
                }
                break topic;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.inbox.changed.wait_timeout(state, left);
            state = waited.map_err(|_| anyhow!("the thread of SIL Kit panicked"))?.0;
        };
        drop(state);
        Ok(Some((topic, &self.held)))
    }

    fn deliver(&mut self, patience: Duration, take: SampleHandler<'_>) -> Result<bool> {
        self.deliver_any(patience, &mut |_, sample| take(sample))
    }

    fn deliver_any(&mut self, patience: Duration, take: TopicSampleHandler<'_>) -> Result<bool> {
        InboxState::deliver(&self.inbox.state, &self.inbox.changed, patience, take)
    }
}
