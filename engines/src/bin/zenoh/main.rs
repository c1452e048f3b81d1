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
use zenoh::handlers::{FifoChannel, FifoChannelHandler};
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
/// Buffers that are kept for the samples to come.
const KEPT: usize = 4;
/// How often another port is chosen where zenoh does not get one.
const PORT_TRIES: u32 = 10;
/// Samples that wait for the reader before zenoh's own threads wait.
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
            format!("a FIFO of {DEPTH} samples between zenoh's threads and the reader"),
            "buffers of samples are reused".into(),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &["congestion", "port", "way"]
    }

    fn receiver_options(&self) -> &'static [&'static str] {
        &["port"]
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let port: u16 = match topic.options.get("port") {
            Some(text) => text.parse().with_context(|| format!("'{text}' is not a port"))?,
            None => 0,
        };
        let way = Way::from_topic(topic)?;
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
        let subscriber = session
            .declare_subscriber(topic.name.clone())
            .with(FifoChannel::new(if way == Way::Memory { MOST_WAITING } else { DEPTH }))
            .wait()
            .map_err(|error| anyhow!("zenoh: {error}"))?;
        let held = ReceivedSample { sample: None, copy: Vec::new() };
        Ok((Box::new(ZenohReader { subscriber, held, way, _session: session }), endpoint))
    }

    fn writer(&self, topic: &Topic, endpoints: &[String]) -> Result<Box<dyn Writer>> {
        // Before zenoh takes any: it locks what it takes, which fails without a reason.
        let pool = match Way::from_topic(topic)? {
            Way::Memory => Some(Pool::new(topic)?),
            Way::Tcp => None,
        };
        let session = open(topic, "connect/endpoints", endpoints)?;
        let congestion = match topic.options.get("congestion").map(String::as_str) {
            None | Some("block") => CongestionControl::Block,
            Some("drop") => CongestionControl::Drop,
            Some(other) => return Err(anyhow!("congestion is block or drop, not '{other}'")),
        };
        let publisher = session
            .declare_publisher(topic.name.clone())
            .congestion_control(congestion)
            .wait()
            .map_err(|error| anyhow!("zenoh: {error}"))?;
        let room = match pool {
            Some(pool) => Room::Shared { pool, lent: None },
            None => Room::Own {
                buffer: allocate_zeroed(if topic.varies { 0 } else { topic.size })?,
                free: Arc::default(),
            },
        };
        Ok(Box::new(ZenohWriter { publisher, session, size: topic.size, room }))
    }
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
    publisher: Publisher<'static>,
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
#[derive(Default)]
struct FreeBuffers(Mutex<Vec<Vec<u8>>>);

impl FreeBuffers {
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        if free.len() < KEPT {
            free.push(std::mem::take(&mut self.buffer));
        }
    }
}

impl Writer for ZenohWriter {
    fn readers(&mut self) -> Result<usize> {
        let matching = self.publisher.matching_status().wait();
        let matching = matching.map_err(|error| anyhow!("zenoh: {error}"))?.matching();
        let peers = self.session.info().peers_zid().wait().count();
        Ok(if matching { peers } else { 0 })
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
        let sent = match &mut self.room {
            Room::Own { buffer, free } => {
                let lent = LentBuffer { buffer: std::mem::take(buffer), free: Arc::clone(free) };
                self.publisher.put(Bytes::from_owner(lent)).wait()
            }
            Room::Shared { lent, .. } => {
                self.publisher.put(lent.take().context("nothing was written")?).wait()
            }
        };
        sent.map_err(|error| anyhow!("zenoh: {error}"))
    }
}

struct ZenohReader {
    subscriber: Subscriber<FifoChannelHandler<Sample>>,
    held: ReceivedSample,
    way: Way,
    _session: Session,
}

/// A sample where it lies, or its copy where it lies in pieces.
struct ReceivedSample {
    sample: Option<Sample>,
    copy: Vec<u8>,
}

impl Reader for ZenohReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        self.held.sample = None;
        let next = self.subscriber.handler().recv_timeout(patience);
        let Some(sample) = next.map_err(|error| anyhow!("zenoh: {error}"))? else {
            return Ok(None);
        };
        ensure!(
            self.way == Way::Tcp || sample.payload().as_shm().is_some(),
            "a sample did not come by shared memory: zenoh sent it over TCP"
        );
        let pieces = sample.payload().slices().count();
        if pieces > 1 {
            self.held.copy.clear();
            for piece in sample.payload().slices() {
                self.held.copy.extend_from_slice(piece);
            }
            return Ok(Some(&self.held.copy));
        }
        let sample = self.held.sample.insert(sample);
        Ok(Some(sample.payload().slices().next().unwrap_or_default()))
    }
}
