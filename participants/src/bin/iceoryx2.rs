//! iceoryx2: shared memory of one machine.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure, Context, Result};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use iceoryx2::sample_mut::SampleMut;
use iceoryx2::service::port_factory::{event, publish_subscribe};
use wiregauge_participant::participant;
use wiregauge_participant::transport::{self, Topic, Transport};

fn main() -> ExitCode {
    set_log_level(LogLevel::Error);
    participant::main(vec![&Iceoryx2])
}

/// iceoryx2.
struct Iceoryx2;

/// Shared memory that a reader's unread samples may take, about, in bytes.
const KEPT: usize = 64 << 20;
/// Most that the library lets take part.
const READERS: usize = 64;

impl Transport for Iceoryx2 {
    fn name(&self) -> &'static str {
        "iceoryx2"
    }

    fn library(&self) -> String {
        "iceoryx2 0.10.0".into()
    }

    fn options(&self) -> Vec<String> {
        vec![
            "shared memory of one machine; the reader is woken by an event service".into(),
            "copy=none writes and reads in place; copy=both copies in and out".into(),
            "a reader may be 64 MiB behind, at least 2 and at most 64 samples; then the writer \
             tries again until there is room"
                .into(),
        ]
    }

    fn knows(&self) -> &'static [&'static str] {
        &["copy"]
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn transport::Reader>, String)> {
        let Services { node, data, event } = services(topic)?;
        let subscriber = data.subscriber_builder().create().map_err(of("subscriber"))?;
        let listener = event.listener_builder().create().map_err(of("listener"))?;
        let copy = copies(topic)?.then(Vec::new);
        let reader = Reader { subscriber, listener, held: None, copy, _node: node };
        Ok((Box::new(reader), String::new()))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn transport::Writer>> {
        let Services { node, data, event } = services(topic)?;
        let publisher = data
            .publisher_builder()
            .initial_max_slice_len(topic.size)
            .max_loaned_samples(2)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(of("publisher"))?;
        let notifier = event.notifier_builder().create().map_err(of("notifier"))?;
        let room = match copies(topic)? {
            true => Room::Own(vec![0; topic.size]),
            false => Room::Shared(None),
        };
        Ok(Box::new(Writer { publisher, notifier, data, room, size: topic.size, _node: node }))
    }
}

fn of<E: std::fmt::Debug>(what: &'static str) -> impl Fn(E) -> anyhow::Error {
    move |error| anyhow!("iceoryx2: {what}: {error:?}")
}

/// Whether samples are copied into and out of shared memory.
fn copies(topic: &Topic) -> Result<bool> {
    let copy = topic.options.get("copy").map_or("none", String::as_str);
    ensure!(copy == "none" || copy == "both", "copy is none or both, not '{copy}'");
    Ok(copy == "both")
}

struct Services {
    node: Node<ipc::Service>,
    data: publish_subscribe::PortFactory<ipc::Service, [u8], ()>,
    event: event::PortFactory<ipc::Service>,
}

fn services(topic: &Topic) -> Result<Services> {
    let node = NodeBuilder::new().create::<ipc::Service>().map_err(of("node"))?;
    let name: ServiceName = topic.name.as_str().try_into().map_err(of("name"))?;
    let data = node
        .service_builder(&name)
        .publish_subscribe::<[u8]>()
        .enable_safe_overflow(false)
        .history_size(0)
        .subscriber_max_buffer_size((KEPT / topic.size).clamp(2, 64))
        .subscriber_max_borrowed_samples(2)
        .max_subscribers(READERS)
        .max_publishers(1)
        .max_nodes(READERS + 1)
        .open_or_create()
        .map_err(of("service"))?;
    let event = node
        .service_builder(&name)
        .event()
        .max_listeners(READERS)
        .max_notifiers(1)
        .max_nodes(READERS + 1)
        .open_or_create()
        .map_err(of("event service"))?;
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
    publisher: Publisher<ipc::Service, [u8], ()>,
    notifier: Notifier<ipc::Service>,
    data: publish_subscribe::PortFactory<ipc::Service, [u8], ()>,
    room: Room,
    size: usize,
    _node: Node<ipc::Service>,
}

impl transport::Writer for Writer {
    fn readers(&mut self) -> Result<usize> {
        self.publisher.update_connections().map_err(of("connection"))?;
        Ok(self.data.dynamic_config().number_of_subscribers())
    }

    fn room(&mut self) -> Result<&mut [u8]> {
        match &mut self.room {
            Room::Own(buffer) => Ok(buffer),
            Room::Shared(Some(sample)) => Ok(sample.payload_mut()),
            Room::Shared(empty) => {
                let sample = self.publisher.loan_slice(self.size).map_err(of("loan"))?;
                Ok(empty.insert(sample).payload_mut())
            }
        }
    }

    fn send(&mut self) -> Result<()> {
        let sample = match &mut self.room {
            Room::Shared(sample) => sample.take().context("nothing to send")?,
            Room::Own(buffer) => {
                let sample = self.publisher.loan_slice_uninit(self.size).map_err(of("loan"))?;
                sample.write_from_slice(buffer)
            }
        };
        sample.send().map_err(of("send"))?;
        self.notifier.notify().map_err(of("notify"))?;
        Ok(())
    }
}

struct Reader {
    subscriber: Subscriber<ipc::Service, [u8], ()>,
    listener: Listener<ipc::Service>,
    held: Option<Sample<ipc::Service, [u8], ()>>,
    /// Where samples are copied to, if they are.
    copy: Option<Vec<u8>>,
    _node: Node<ipc::Service>,
}

impl transport::Reader for Reader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        self.held = None;
        let deadline = Instant::now() + patience;
        loop {
            if let Some(sample) = self.subscriber.receive().map_err(of("receive"))? {
                return Ok(Some(match &mut self.copy {
                    Some(copy) => {
                        copy.clear();
                        copy.extend_from_slice(sample.payload());
                        copy
                    }
                    None => self.held.insert(sample).payload(),
                }));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            // More than one event for a sample, or one for several: what counts
            // is what is there.
            self.listener.timed_wait(|_| {}, left).map_err(of("wait"))?;
        }
    }
}
