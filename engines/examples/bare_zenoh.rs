//! The plainest round trip there can be over zenoh, for `make targets ONLY=zenoh`: two processes, a
//! publisher and a subscriber each, and nothing else.
//!
//!     bare_zenoh pong SIZE ADDRESS
//!     bare_zenoh ping SIZE ADDRESS NUMBER     prints the median of the round trips in nanoseconds

mod round_trips;

use std::time::Duration;

use anyhow::{anyhow, Result};
use round_trips::{run, Side};
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::{Config, Wait};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (number, size, address) = match words[..] {
        ["pong", size, address] => (None, size, address),
        ["ping", size, address, number] => (Some(number.parse()?), size, address),
        _ => return Err(anyhow!("pong SIZE ADDRESS, or ping SIZE ADDRESS NUMBER")),
    };
    let (write, read, ends) = match number {
        Some(_) => ("there", "back", "connect/endpoints"),
        None => ("back", "there", "listen/endpoints"),
    };
    let mut config = Config::default();
    for (key, value) in [
        ("mode", "\"peer\""),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        ("listen/endpoints", "[]"),
        ("transport/shared_memory/enabled", "false"),
        (ends, &format!("[\"tcp/{address}\"]")),
    ] {
        config.insert_json5(key, value).map_err(engine_error)?;
    }
    let session = zenoh::open(config).wait().map_err(engine_error)?;
    let subscriber = session.declare_subscriber(read).with(FifoChannel::new(256));
    let publisher = session.declare_publisher(write).congestion_control(CongestionControl::Block);
    let mut side = ZenohSide {
        subscriber: subscriber.wait().map_err(engine_error)?,
        publisher: publisher.wait().map_err(engine_error)?,
        size: size.parse()?,
    };
    run(&mut side, number)
}

struct ZenohSide {
    publisher: Publisher<'static>,
    subscriber: Subscriber<FifoChannelHandler<Sample>>,
    size: usize,
}

impl Side for ZenohSide {
    fn send(&mut self) -> Result<()> {
        self.publisher.put(vec![1; self.size]).wait().map_err(engine_error)
    }

    fn receive(&mut self, patience: Duration) -> Result<bool> {
        Ok(self.subscriber.recv_timeout(patience).map_err(engine_error)?.is_some())
    }
}

fn engine_error<E: std::fmt::Display>(error: E) -> anyhow::Error {
    anyhow!("zenoh: {error}")
}
