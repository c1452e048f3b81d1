//! iceoryx2: shared memory of one machine.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure, Context, Result};
use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::port::{BackpressureAction, BackpressureInfo, EventActivation};
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::port_factory::{event, publish_subscribe};
use wiregauge_participant::codec_process::ROOM_START;
use wiregauge_participant::participant;
use wiregauge_participant::transport::{self, Topic, Transport, CODEC};
use wiregauge_timing::allocation::{allocate_zeroed, resize};
use wiregauge_timing::scratch::{check_shared_memory, shared_prefix};

fn main() -> ExitCode {
    set_log_level(LogLevel::Error);
    participant::main(vec![&Iceoryx2])
}

/// iceoryx2.
struct Iceoryx2;

/// Shared memory that a reader's unread samples may take, about, in bytes.
const KEPT: usize = 64 << 20;
/// Samples that may wait where their sizes vary: both sides must say the same, and a reader
/// does not know the largest size.
const VARYING: usize = 8;
/// Samples that a reader may hold.
const BORROWED: usize = 2;
/// Samples that the writer may be at.
const LOANED: usize = 2;

impl Transport for Iceoryx2 {
    fn name(&self) -> &'static str {
        "iceoryx2"
    }

    fn library(&self) -> String {
        "iceoryx2 0.10.0".into()
    }

    fn options(&self) -> Vec<String> {
        vec![
            "shared memory of one machine; the reader is woken by an event service, which several \
             topics share"
                .into(),
            "copy=none writes and reads in place; copy=both copies in and out".into(),
            "codec=in-place has the codec's runner write and read samples in the shared memory, at \
             multiples of 64 bytes; codec=copied has it do so in memory of its own, and the bytes \
             are put into the sample before the cycle"
                .into(),
            "a reader may be 64 MiB behind, at least 2 and at most 64 samples; then the writer \
             tries again until there is room"
                .into(),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &[CODEC, "copy"]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn transport::Reader>, String)> {
        let Services { node, data, event } = services(topic, topic.names_to_read(&topic.name))?;
        let subscribe = |data: &DataService| {
            data.subscriber_builder().create().map_err(engine_error("subscriber"))
        };
        let subscribers = data.iter().map(subscribe).collect::<Result<Vec<_>>>()?;
        let listener = event.listener_builder().create().map_err(engine_error("listener"))?;
        let copy = copies(topic)?.then(Vec::new);
        let ready = vec![true; subscribers.len()];
        let reader =
            Reader { subscribers, ready, turn: 0, listener, held: None, copy, _node: node };
        Ok((Box::new(reader), String::new()))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn transport::Writer>> {
        let Services { node, data, event } = services(topic, topic.names_to_write(&topic.name))?;
        check_shared_memory(shared_memory(topic) * data.len() as u64)?;
        let publish = |data: &DataService| {
            let builder = data.publisher_builder();
            let builder = match topic.varies {
                true => builder.set_backpressure_handler(forget_dead_readers(config(topic)?)),
                false => builder,
            };
            builder
                .initial_max_slice_len(topic.size)
                .max_loaned_samples(LOANED)
                .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
                .create()
                .map_err(engine_error("publisher"))
        };
        let publishers = data.iter().map(publish).collect::<Result<Vec<_>>>()?;
        let notifier = event.notifier_builder().create().map_err(engine_error("notifier"))?;
        let room = match copies(topic)? {
            true => Room::Own(allocate_zeroed(topic.size)?),
            false => Room::Shared(None),
        };
        let Topic { size, varies, .. } = *topic;
        Ok(Box::new(Writer {
            publishers,
            topic: 0,
            first: topic.several.map(|_| topic.first_to_write()),
            notifier,
            data,
            room,
            size,
            varies,
            met: 0,
            _node: node,
        }))
    }
}

fn engine_error<E: std::fmt::Debug>(what: &'static str) -> impl Fn(E) -> anyhow::Error {
    move |error| anyhow!("iceoryx2: {what}: {error:?}")
}

/// Whether samples are copied into and out of shared memory.
fn copies(topic: &Topic) -> Result<bool> {
    let copy = topic.options.get("copy").map_or("none", String::as_str);
    ensure!(copy == "none" || copy == "both", "copy is none or both, not '{copy}'");
    ensure!(
        copy == "none" || !topic.has_codec_in_place()?,
        "copy=both copies what codec=in-place has in place: leave one of them out"
    );
    Ok(copy == "both")
}

type DataService = publish_subscribe::PortFactory<ipc::Service, [u8], ()>;

struct Services {
    node: Node<ipc::Service>,
    /// Of each topic.
    data: Vec<DataService>,
    /// Of all together.
    event: event::PortFactory<ipc::Service>,
}

/// The library's own, but for where its files are: in the run's folder, and
/// under its name, so that they are the user's and go with the run.
fn config(topic: &Topic) -> Result<Config> {
    let mut config = Config::global_config().clone();
    if let Some(scratch) = &topic.scratch {
        let root = scratch.display().to_string();
        config.global.set_root_path(&root.as_str().try_into().map_err(engine_error("folder"))?);
        let prefix = shared_prefix(scratch);
        config.global.prefix = prefix.as_str().try_into().map_err(engine_error("prefix"))?;
    }
    Ok(config)
}

/// What a writer does that waits for room: once a second it has the library forget readers
/// that were killed, which nobody else would do, so that it does not wait for them.
fn forget_dead_readers(config: Config) -> impl Fn(&BackpressureInfo) -> BackpressureAction + Send {
    let looked = AtomicU64::new(0);
    move |info| {
        let waited = info.elapsed_time.as_secs();
        if looked.swap(waited, Ordering::Relaxed) < waited {
            // That it cannot look now does not matter: it looks again.
            let _ = Node::<ipc::Service>::list(&config, |state| {
                if let NodeState::Dead(node) = state {
                    let _ = node.try_remove_stale_resources();
                }
                CallbackProgression::Continue
            });
        }
        BackpressureAction::Retry
    }
}

/// Samples that wait for a reader.
fn depth(topic: &Topic) -> usize {
    match topic.varies {
        true => VARYING,
        false => (KEPT / topic.size).clamp(2, 64),
    }
}

/// Shared memory that all samples of a topic take that there may be at a time, in bytes.
fn shared_memory(topic: &Topic) -> u64 {
    let samples = topic.readers * (depth(topic) + BORROWED) + LOANED;
    (samples * topic.size.next_multiple_of(4096)) as u64
}

fn services(topic: &Topic, names: Vec<String>) -> Result<Services> {
    let config = config(topic)?;
    let node = NodeBuilder::new()
        .config(&config)
        .create::<ipc::Service>()
        .map_err(engine_error("node"))?;
    // A codec wants its numbers aligned; otherwise samples begin where they did.
    let alignment = if topic.has_codec_in_place()? { ROOM_START } else { 1 };
    let alignment = Alignment::new(alignment).context("no alignment")?;
    let open = |name: &String| {
        let name: ServiceName = name.as_str().try_into().map_err(engine_error("name"))?;
        node.service_builder(&name)
            .publish_subscribe::<[u8]>()
            .enable_safe_overflow(false)
            .history_size(0)
            .subscriber_max_buffer_size(depth(topic))
            .subscriber_max_borrowed_samples(BORROWED)
            .max_subscribers(topic.readers)
            .max_publishers(1)
            .max_nodes(topic.readers + 1)
            .payload_alignment(alignment)
            .open_or_create()
            .map_err(engine_error("service"))
    };
    let data = names.iter().map(open).collect::<Result<_>>()?;
    let name: ServiceName = topic.name.as_str().try_into().map_err(engine_error("name"))?;
    let event = node
        .service_builder(&name)
        .event()
        .max_listeners(topic.readers)
        .max_notifiers(topic.senders())
        .max_nodes(topic.readers + topic.senders())
        .open_or_create()
        .map_err(engine_error("event service"))?;
    Ok(Services { node, data, event })
}

/// Where the next sample is made.
enum Room {
    /// In shared memory.
    Shared(Option<SampleMut<ipc::Service, [u8], ()>>),
    /// In memory of our own.
    Own(Vec<u8>),
}

struct Writer {
    /// Of each topic.
    publishers: Vec<Publisher<ipc::Service, [u8], ()>>,
    /// The topic of the next sample.
    topic: usize,
    /// Where there are several: which of those that are read is the first.
    first: Option<usize>,
    notifier: Notifier<ipc::Service>,
    data: Vec<DataService>,
    room: Room,
    size: usize,
    varies: bool,
    /// How many readers were there when it last sent.
    met: usize,
    _node: Node<ipc::Service>,
}

impl Writer {
    /// Makes sure that readers have joined, where there are other ones than before.
    ///
    /// A subscriber is counted before it takes from its queue. Until then the library drops
    /// what finds that queue full, and says so by the number of those who got it alone. So
    /// empty samples are sent, one more than the queue has room for: when the last of them
    /// has found room, the reader is there.
    fn join(&mut self) -> Result<()> {
        let there = transport::Writer::readers(self)?;
        if there == self.met {
            return Ok(());
        }
        self.met = there;
        let mut knocks = 0;
        while knocks <= VARYING && transport::Writer::readers(self)? > 0 {
            let publisher = &self.publishers[self.topic];
            let empty = publisher.loan_slice_uninit(0).map_err(engine_error("loan"))?;
            let reached = empty.write_from_slice(&[]).send().map_err(engine_error("send"))?;
            self.notifier.notify().map_err(engine_error("notify"))?;
            match reached {
                0 => thread::sleep(Duration::from_millis(1)),
                _ => knocks += 1,
            }
        }
        Ok(())
    }
}

impl transport::Writer for Writer {
    fn readers(&mut self) -> Result<usize> {
        for publisher in &self.publishers {
            publisher.update_connections().map_err(engine_error("connection"))?;
        }
        let found = self.data.iter().map(|data| data.dynamic_config().number_of_subscribers());
        Ok(found.min().unwrap_or(0))
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        ensure!(number < self.publishers.len(), "there is no topic {number}");
        if self.topic != number {
            // What was lent of another topic and is not sent goes back.
            if let Room::Shared(room) = &mut self.room {
                *room = None;
            }
        }
        self.topic = number;
        Ok(())
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        self.buffer_of_size(self.size)
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        match &mut self.room {
            Room::Own(buffer) => {
                resize(buffer, size)?;
                Ok(buffer)
            }
            Room::Shared(room) => {
                let kept = room.take().filter(|sample| sample.payload().len() == size);
                let sample = match kept {
                    Some(sample) => sample,
                    None => {
                        let publisher = &self.publishers[self.topic];
                        let sample =
                            publisher.loan_slice_uninit(size).map_err(engine_error("loan"))?;
                        // SAFETY: it lies in a segment that the system gave filled with
                        // zeroes, and any byte is one: it is what is left over from before.
                        // Filling it here would be work that no user of it has.
                        unsafe { sample.assume_init() }
                    }
                };
                Ok(room.insert(sample).payload_mut())
            }
        }
    }

    fn send(&mut self) -> Result<()> {
        if self.varies {
            self.join()?;
        }
        let sample = match &mut self.room {
            Room::Shared(sample) => sample.take().context("there is nothing to send")?,
            Room::Own(buffer) => {
                let size = buffer.len();
                let publisher = &self.publishers[self.topic];
                let sample = publisher.loan_slice_uninit(size).map_err(engine_error("loan"))?;
                sample.write_from_slice(buffer)
            }
        };
        sample.send().map_err(engine_error("send"))?;
        let told = match self.first {
            None => self.notifier.notify(),
            Some(first) => {
                self.notifier.notify_with_custom_event_id(EventId::new(first + self.topic))
            }
        };
        told.map_err(engine_error("notify"))?;
        Ok(())
    }
}

struct Reader {
    /// Of each topic.
    subscribers: Vec<Subscriber<ipc::Service, [u8], ()>>,
    /// Which of them may have samples: they were told to, and not found empty since.
    ready: Vec<bool>,
    /// Whose turn it is.
    turn: usize,
    listener: Listener<ipc::Service>,
    held: Option<Sample<ipc::Service, [u8], ()>>,
    /// Where samples are copied to, if they are.
    copy: Option<Vec<u8>>,
    _node: Node<ipc::Service>,
}

impl transport::Reader for Reader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        self.held = None;
        let deadline = Instant::now() + patience;
        let count = self.subscribers.len();
        loop {
            let mut turns = (self.turn..self.turn + count).map(|turn| turn % count);
            if let Some(topic) = turns.find(|&topic| self.ready[topic]) {
                let received =
                    self.subscribers[topic].receive().map_err(engine_error("receive"))?;
                let Some(sample) = received else {
                    self.ready[topic] = false;
                    continue;
                };
                // The writer looks whether somebody is there.
                if sample.payload().is_empty() {
                    continue;
                }
                // All have their turn.
                self.turn = topic + 1;
                let sample = match &mut self.copy {
                    Some(copy) => {
                        copy.clear();
                        copy.extend_from_slice(sample.payload());
                        copy
                    }
                    None => self.held.insert(sample).payload(),
                };
                return Ok(Some((topic, sample)));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // What comes from now on is looked for first the next time.
                self.ready.fill(true);
                return Ok(None);
            }
            // More than one event for a sample, or one for several: what counts
            // is what is there.
            let ready = &mut self.ready;
            let tell = |event: EventActivation| match ready.get_mut(event.id.as_value()) {
                Some(one) => *one = true,
                None => ready.fill(true),
            };
            match self.listener.timed_wait(tell, left) {
                // A process that was stopped and goes on.
                Ok(_) | Err(ListenerWaitError::InterruptSignal) => {}
                Err(error) => return Err(engine_error("wait")(error)),
            }
        }
    }
}
