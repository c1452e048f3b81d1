//! The plainest round trip there can be over zenoh, for `make targets ONLY=zenoh`: two processes, a
//! publisher and a subscriber each, and nothing else.
//!
//!     bare_zenoh pong SIZE ADDRESS
//!     bare_zenoh ping SIZE ADDRESS NUMBER     prints the median of the round trips in nanoseconds

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure, Context, Result};
use zenoh::handlers::FifoChannel;
use zenoh::qos::CongestionControl;
use zenoh::{Config, Wait};

const CYCLE: Duration = Duration::from_millis(1);

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (ping, size, address) = match words[..] {
        ["pong", size, address] => (None, size, address),
        ["ping", size, address, number] => (Some(number.parse::<u32>()?), size, address),
        _ => return Err(anyhow!("pong SIZE ADDRESS, or ping SIZE ADDRESS NUMBER")),
    };
    let size: usize = size.parse()?;
    let (write, read) = if ping.is_some() { ("there", "back") } else { ("back", "there") };
    let ends = if ping.is_some() { "connect/endpoints" } else { "listen/endpoints" };
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
    let subscriber = subscriber.wait().map_err(engine_error)?;
    let publisher = session.declare_publisher(write);
    let publisher =
        publisher.congestion_control(CongestionControl::Block).wait().map_err(engine_error)?;
    let send = || publisher.put(vec![1; size]).wait().map_err(engine_error);
    let receive = |patience| {
        let sample = subscriber.recv_timeout(patience).map_err(engine_error)?;
        Ok::<bool, anyhow::Error>(sample.is_some())
    };
    let Some(number) = ping else {
        while receive(Duration::from_secs(2))? {
            send()?;
        }
        return Ok(());
    };
    // The other side may not be there yet.
    while {
        send()?;
        !receive(Duration::from_millis(50))?
    } {}
    while receive(Duration::from_millis(200))? {}
    let (start, mut times) = (Instant::now(), Vec::new());
    for trip in 0..number {
        thread::sleep((start + CYCLE * trip).saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        send()?;
        ensure!(receive(Duration::from_secs(5))?, "no answer to number {trip}");
        times.push(sent.elapsed().as_nanos());
    }
    times.sort_unstable();
    println!("{}", times.get(times.len() / 2).context("no round trips")?);
    Ok(())
}

fn engine_error<E: std::fmt::Display>(error: E) -> anyhow::Error {
    anyhow!("zenoh: {error}")
}
