//! zenoh peer to peer without scouting: over TCP, or over its shared memory.

mod shared_memory;

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{anyhow, bail, ensure, Context, Result};
use bytes::Bytes;
use wiregauge_participant::participant;
use wiregauge_participant::sample::MAX_SAMPLE_SIZE;
use wiregauge_participant::transport::{Reader, Topic, Transport, Writer};
use wiregauge_timing::allocation::{allocate_zeroed, resize};
use zenoh::handlers::{FifoChannel, FifoChannelHandler, IntoHandler};
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh::sample::Sample;
use zenoh::shm::ZShmMut;
use zenoh::{Config, Session, Wait};

use crate::shared_memory::{name_shared_memory, Pool, MOST_WAITING};

fn main() -> ExitCode {
    participant::main(vec![&Zenoh])
}

/// zenoh.
struct Zenoh;

/// Longest message, in bytes: the largest sample and what goes before it.
const LONGEST: usize = MAX_SAMPLE_SIZE + (1 << 20);
/// Buffers of each topic that are kept for the samples to come.
const KEPT: usize = 4;
/// How often another port is chosen where zenoh does not get one.
const PORT_TRIES: u32 = 10;
/// Samples of each topic that wait for the reader before zenoh's own threads wait.
const DEPTH: usize = 256;

/// How samples travel.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Tcp,
    Memory,
}

impl Way {
    fn from_topic(topic: &Topic) -> Result<Way> {
        Ok(match topic.options.get("way").map_or("tcp", String::as_str) {
            "tcp" => Way::Tcp,
            "memory" => Way::Memory,
            other => bail!("way is tcp or memory, not '{other}'"),
        })
    }
}

impl Transport for Zenoh {
    fn name(&self) -> &'static str {
        "zenoh"
    }

    fn library(&self) -> String {
        "zenoh 1.10.2".into()
    }

    fn options(&self) -> Vec<String> {
        vec![
            "peers over TCP, no scouting; batching as by default".into(),
            "way=tcp has no shared memory; way=memory sends over TCP only where a sample lies in \
             zenoh's shared memory, an unstable part of the crate: allocated and written there, and \
             read there. A run fails at a sample that came otherwise"
                .into(),
            shared_memory::ROOM.into(),
            "congestion control Block, or Drop, which is zenoh's default".into(),
            format!(
                "a FIFO of {DEPTH} samples of each topic between zenoh's threads and the reader; \
                 several topics share it, and a session"
            ),
            "buffers of samples are reused".into(),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &["congestion", "port", "way"]
    }

    fn receiver_options(&self) -> &'static [&'static str] {
        &["port"]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let port: u16 = match topic.options.get("port") {
            Some(text) => text.parse().with_context(|| format!("'{text}' is not a port"))?,
            None => 0,
        };
        let way = Way::from_topic(topic)?;
        check_way(topic, way)?;
        // zenoh does not say which port it got, so that one is chosen for it. Until it has it,
        // another of many receivers may take it.
        let mut tries = 0;
        let (session, endpoint) = loop {
            let address = SocketAddr::new(topic.bind, port);
            let address = TcpListener::bind(address)
                .and_then(|listener| listener.local_addr())
                .with_context(|| format!("cannot listen at {address}"))?;
            let endpoint = format!("tcp/{address}");
            match open(topic, "listen/endpoints", std::slice::from_ref(&endpoint)) {
                Ok(session) => break (session, endpoint),
                Err(error) if port > 0 || tries == PORT_TRIES => return Err(error),
                Err(_) => tries += 1,
            }
        };
        let names = topic.names_to_read(&topic.name);
        let depth = if way == Way::Memory { MOST_WAITING } else { DEPTH * names.len() };
        let (callback, samples) = IntoHandler::<Sample>::into_handler(FifoChannel::new(depth));
        let subscribe = |name: &String| {
            let subscriber = session.declare_subscriber(name.clone()).with(callback.clone());
            subscriber.wait().map_err(|error| anyhow!("zenoh: {error}"))
        };
        let subscribers = names.iter().map(subscribe).collect::<Result<_>>()?;
        let held = ReceivedSample { sample: None, copy: Vec::new() };
        let several = topic.several.is_some();
        let reader = ZenohReader {
            samples,
            held,
            way,
            several,
            _subscribers: subscribers,
            _session: session,
        };
        Ok((Box::new(reader), endpoint))
    }

    fn writer(&self, topic: &Topic, endpoints: &[String]) -> Result<Box<dyn Writer>> {
        // Before zenoh takes any: it locks what it takes, which fails without a reason.
        let way = Way::from_topic(topic)?;
        check_way(topic, way)?;
        let pool = match way {
            Way::Memory => Some(Pool::new(topic)?),
            Way::Tcp => None,
        };
        let session = open(topic, "connect/endpoints", endpoints)?;
        let congestion = match topic.options.get("congestion").map(String::as_str) {
            None | Some("block") => CongestionControl::Block,
            Some("drop") => CongestionControl::Drop,
            Some(other) => return Err(anyhow!("congestion is block or drop, not '{other}'")),
        };
        let publish = |name: String| {
            let publisher = session.declare_publisher(name).congestion_control(congestion);
            publisher.wait().map_err(|error| anyhow!("zenoh: {error}"))
        };
        let names = topic.names_to_write(&topic.name).into_iter();
        let publishers = names.map(publish).collect::<Result<Vec<_>>>()?;
        let room = match pool {
            Some(pool) => Room::Shared { pool, lent: None },
            None => Room::Own {
                buffer: allocate_zeroed(if topic.varies { 0 } else { topic.size })?,
                free: Arc::new(FreeBuffers {
                    most: KEPT * publishers.len(),
                    buffers: Mutex::default(),
                }),
            },
        };
        Ok(Box::new(ZenohWriter { publishers, topic: 0, session, size: topic.size, room }))
    }
}

/// Shared memory has room for the samples of one topic.
fn check_way(topic: &Topic, way: Way) -> Result<()> {
    ensure!(
        topic.several.is_none() || way == Way::Tcp,
        "zenoh's shared memory is measured with one sender and one topic only"
    );
    Ok(())
}

fn open(topic: &Topic, key: &str, endpoints: &[String]) -> Result<Session> {
    name_shared_memory(topic.scratch.as_deref());
    let shares = Way::from_topic(topic)? == Way::Memory;
    let list = endpoints.iter().map(|e| format!("{e:?}")).collect::<Vec<_>>().join(", ");
    let mut config = Config::default();
    for (key, value) in [
        ("mode", "\"peer\""),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
        // By default a GiB, which leaves no room for what goes before the largest
        // sample: it would be dropped without a word.
        ("transport/link/rx/max_message_size", &LONGEST.to_string()),
        // Only what is told: by default it would also listen somewhere.
        ("listen/endpoints", "[]"),
        ("transport/shared_memory/enabled", if shares { "true" } else { "false" }),
        // What it takes is there before the first sample, and no sample is copied into it.
        ("transport/shared_memory/mode", "\"init\""),
        ("transport/shared_memory/transport_optimization/enabled", "false"),
        (key, &format!("[{list}]")),
    ] {
        config.insert_json5(key, value).map_err(|error| anyhow!("zenoh: {key}: {error}"))?;
    }
    zenoh::open(config).wait().map_err(|error| anyhow!("zenoh: {error}"))
}

struct ZenohWriter {
    publishers: Vec<Publisher<'static>>,
    /// The topic of the next sample.
    topic: usize,
    session: Session,
    size: usize,
    room: Room,
}

/// Where the next sample is made.
enum Room {
    /// In memory of our own.
    Own {
        /// Given away with each sample.
        buffer: Vec<u8>,
        /// Those that came back.
        free: Arc<FreeBuffers>,
    },
    /// In zenoh's shared memory.
    Shared {
        /// What lends it.
        pool: Pool,
        /// Given away with each sample.
        lent: Option<ZShmMut>,
    },
}

/// Buffers that zenoh is done with.
struct FreeBuffers {
    most: usize,
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl FreeBuffers {
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A buffer that comes back when zenoh is done with it.
struct LentBuffer {
    buffer: Vec<u8>,
    free: Arc<FreeBuffers>,
}

impl AsRef<[u8]> for LentBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for LentBuffer {
    fn drop(&mut self) {
        let mut free = self.free.lock();
        if free.len() < self.free.most {
            free.push(std::mem::take(&mut self.buffer));
        }
    }
}

impl Writer for ZenohWriter {
    fn readers(&mut self) -> Result<usize> {
        let mut matching = true;
        for publisher in &self.publishers {
            let status = publisher.matching_status().wait();
            matching &= status.map_err(|error| anyhow!("zenoh: {error}"))?.matching();
        }
        let peers = self.session.info().peers_zid().wait().count();
        Ok(if matching { peers } else { 0 })
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        ensure!(number < self.publishers.len(), "there is no topic {number}");
        self.topic = number;
        Ok(())
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        match &mut self.room {
            Room::Own { buffer, free } => {
                if buffer.is_empty() {
                    let free = free.lock().pop();
                    *buffer = free.map_or_else(|| allocate_zeroed(self.size), Ok)?;
                }
                Ok(buffer)
            }
            Room::Shared { pool, lent } => pool.lend_into(lent, self.size),
        }
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        match &mut self.room {
            Room::Own { buffer, free } => {
                if buffer.is_empty() {
                    *buffer = free.lock().pop().unwrap_or_default();
                }
                resize(buffer, size)?;
                Ok(buffer)
            }
            Room::Shared { pool, lent } => pool.lend_into(lent, size),
        }
    }

    fn send(&mut self) -> Result<()> {
        let publisher = &self.publishers[self.topic];
        let sent = match &mut self.room {
            Room::Own { buffer, free } => {
                let lent = LentBuffer { buffer: std::mem::take(buffer), free: Arc::clone(free) };
                publisher.put(Bytes::from_owner(lent)).wait()
            }
            Room::Shared { lent, .. } => {
                publisher.put(lent.take().context("nothing was written")?).wait()
            }
        };
        sent.map_err(|error| anyhow!("zenoh: {error}"))
    }
}

struct ZenohReader {
    samples: FifoChannelHandler<Sample>,
    held: ReceivedSample,
    way: Way,
    several: bool,
    _subscribers: Vec<Subscriber<()>>,
    _session: Session,
}

/// A sample where it lies, or its copy where it lies in pieces.
struct ReceivedSample {
    sample: Option<Sample>,
    copy: Vec<u8>,
}

impl Reader for ZenohReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        self.held.sample = None;
        let next = self.samples.recv_timeout(patience);
        let Some(sample) = next.map_err(|error| anyhow!("zenoh: {error}"))? else {
            return Ok(None);
        };
        ensure!(
            self.way == Way::Tcp || sample.payload().as_shm().is_some(),
            "a sample did not come by shared memory: zenoh sent it over TCP"
        );
        let topic = if self.several { number_of_topic(&sample)? } else { 0 };
        let pieces = sample.payload().slices().count();
        if pieces > 1 {
            self.held.copy.clear();
            for piece in sample.payload().slices() {
                self.held.copy.extend_from_slice(piece);
            }
            return Ok(Some((topic, &self.held.copy)));
        }
        let sample = self.held.sample.insert(sample);
        Ok(Some((topic, sample.payload().slices().next().unwrap_or_default())))
    }
}

/// Which topic a sample is of, from 0, as its name says.
fn number_of_topic(sample: &Sample) -> Result<usize> {
    let name = sample.key_expr().as_str();
    let number = name.rsplit('_').next().and_then(|number| number.parse::<usize>().ok());
    let number = number.and_then(|number| number.checked_sub(1));
    number.with_context(|| format!("a sample came over another topic, '{name}'"))
}
