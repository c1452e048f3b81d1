//! The plainest round trip there can be over iceoryx2, for `make targets ONLY=iceoryx2`: two processes,
//! a topic and an event each way, and nothing else.
//!
//!     bare_iceoryx2 pong WAY SIZE NAME
//!     bare_iceoryx2 ping WAY SIZE NAME NUMBER     prints the median of the round trips in nanoseconds
//!
//! WAY is `in-place`, or `copy`: from memory of its own into the sample, and out of it.

mod round_trips;

use std::time::{Duration, Instant};

use anyhow::{anyhow, Result};
use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use round_trips::{run, Side};

fn main() -> Result<()> {
    set_log_level(LogLevel::Error);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (number, way, size, name) = match words[..] {
        ["pong", way, size, name] => (None, way, size, name),
        ["ping", way, size, name, number] => (Some(number.parse()?), way, size, name),
        _ => return Err(anyhow!("pong WAY SIZE NAME, or ping WAY SIZE NAME NUMBER")),
    };
    let (there, back) = (format!("{name}-there"), format!("{name}-back"));
    let (write, read) = if number.is_some() { (there, back) } else { (back, there) };
    run(&mut IceoryxSide::open(&write, &read, size.parse()?, way == "copy")?, number)
}

struct IceoryxSide {
    publisher: Publisher<ipc::Service, [u8], ()>,
    notifier: Notifier<ipc::Service>,
    subscriber: Subscriber<ipc::Service, [u8], ()>,
    listener: Listener<ipc::Service>,
    size: usize,
    /// What is copied into a sample, and out of it.
    copied: Option<Vec<u8>>,
    _node: Node<ipc::Service>,
}

impl IceoryxSide {
    fn open(write: &str, read: &str, size: usize, copies: bool) -> Result<IceoryxSide> {
        let node = NodeBuilder::new().create::<ipc::Service>().map_err(engine_error("node"))?;
        let topic = |name: &str| {
            let name: ServiceName = name.try_into().map_err(engine_error("name"))?;
            let service = node.service_builder(&name).publish_subscribe::<[u8]>();
            let service = service.enable_safe_overflow(false).history_size(0);
            let service = service.subscriber_max_buffer_size(64).max_publishers(1);
            service.max_subscribers(1).open_or_create().map_err(engine_error("service"))
        };
        let event = |name: &str| {
            let name: ServiceName = name.try_into().map_err(engine_error("name"))?;
            node.service_builder(&name)
                .event()
                .open_or_create()
                .map_err(engine_error("event service"))
        };
        let publisher = topic(write)?.publisher_builder().initial_max_slice_len(size).create();
        let subscriber = topic(read)?.subscriber_builder().create();
        Ok(IceoryxSide {
            publisher: publisher.map_err(engine_error("publisher"))?,
            notifier: event(write)?
                .notifier_builder()
                .create()
                .map_err(engine_error("notifier"))?,
            subscriber: subscriber.map_err(engine_error("subscriber"))?,
            listener: event(read)?.listener_builder().create().map_err(engine_error("listener"))?,
            size,
            copied: copies.then(|| vec![1; size]),
            _node: node,
        })
    }
}

impl Side for IceoryxSide {
    fn send(&mut self) -> Result<()> {
        let sample = self.publisher.loan_slice_uninit(self.size).map_err(engine_error("loan"))?;
        let sample = match &self.copied {
            Some(bytes) => sample.write_from_slice(bytes),
            None => sample.write_from_fn(|_| 1),
        };
        sample.send().map_err(engine_error("send"))?;
        self.notifier.notify().map_err(engine_error("notify"))?;
        Ok(())
    }

    fn receive(&mut self, patience: Duration) -> Result<bool> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(sample) = self.subscriber.receive().map_err(engine_error("receive"))? {
                if let Some(bytes) = &mut self.copied {
                    bytes.copy_from_slice(sample.payload());
                }
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            self.listener.timed_wait(|_| {}, left).map_err(engine_error("wait"))?;
        }
    }
}

fn engine_error<E: std::fmt::Debug>(what: &'static str) -> impl Fn(E) -> anyhow::Error {
    move |error| anyhow!("iceoryx2: {what}: {error:?}")
}
