//! The control channel between a participant and the conductor: TCP, on one
//! machine or between two; a line of JSON each message.
//!
//! Both sides send a beat ten times a second. Who is silent for longer than is
//! borne, or closes the connection, is lost, and whoever notices says so: nobody
//! waits for a participant that is gone.

use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock_alignment::Alignment;
use crate::codec_process::CodecSetup;
use crate::inbox::Inbox;
use crate::progress::Progress;
use crate::realtime::Realtime;
use crate::sample::MAX_SAMPLES;
use crate::sample_times::SampleTimesChunk;
use crate::seal::SharedSeal;
use crate::transport::Topic;
use crate::window::Window;
use wiregauge_timing::latency::Distribution;
use wiregauge_timing::misses::Misses;
use wiregauge_timing::slowest::SlowSample;
use wiregauge_timing::usage::Usage;

/// Version of the messages; conductor and participant must have the same.
pub const PROTOCOL_VERSION: u32 = 10;
/// From beat to beat.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(100);
/// Silence after which the other side is lost, unless the user says so. TCP sends
/// again after its timer, then after twice as long; on a loaded machine the timer
/// is most of a second (RFC 6298), and a link that is back must not be missed.
pub const DEFAULT_SILENCE_LIMIT: Duration = Duration::from_secs(3);
/// The same for a participant that does not know yet what the user says: the others may
/// still be starting on a loaded machine. A conductor that is gone has closed the connection.
pub const STARTING_SILENCE_LIMIT: Duration = Duration::from_secs(30);

/// What the conductor says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// What to do; from *loaded* to *initialized*.
    Open(Box<Assignment>),
    /// Where the others are.
    Connect(Peers),
    /// To the sender: take round trips.
    Ping,
    /// From *initialized* to *running*.
    Start,
    /// To receivers: each sender sent no more than so many samples.
    Finish(Vec<u64>),
    /// The run is broken off: stop, and tell what was kept.
    Halt,
    /// Tell the samples that were kept from this one on, a piece of them.
    Tell(u64),
    /// The run is over, or broken off: end.
    Quit,
    /// Still here.
    Beat,
}

/// What a participant says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The program runs.
    Loaded(Loaded),
    /// It has opened what it was told to.
    Initialized(Opened),
    /// It has found the others. A receiver sends back what comes from now on,
    /// until it is to start.
    Ready,
    /// Round trips were taken.
    Pinged(Pinged),
    /// What it has seen since it last told.
    Progress(Progress),
    /// It sends, or waits for samples.
    Running,
    /// It is done.
    Stopped(Box<ParticipantResult>),
    /// Some of the samples that it kept.
    Kept(SampleTimesChunk),
    /// It cannot go on, and why.
    Failed(String),
    /// Still here.
    Beat,
}

/// A participant that runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// [`PROTOCOL_VERSION`].
    pub version: u32,
    /// Its name in the run.
    pub name: String,
    /// The run's token.
    pub token: String,
    /// The machine and its boot: those with the same share a clock.
    pub host: String,
    /// Transports that its program has.
    pub transports: Vec<TransportInfo>,
}

/// What a transport says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransportInfo {
    /// Its key: `tcp`.
    pub name: String,
    /// The library and its version.
    pub library: String,
    /// The choices that move a figure.
    pub options: Vec<String>,
    /// What can be said to it by `--option`.
    pub knows: Vec<String>,
}

/// What a participant opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Its transport's endpoint: where samples go, or come back to the sender.
    pub endpoint: String,
    /// Of the timing master.
    pub master: Option<Master>,
    /// Of a receiver: its library and version once more, as one that is the user's is loaded by
    /// now.
    #[serde(default)]
    pub library: Option<String>,
}

/// Where the timing master is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Master {
    /// Where it tells its time.
    pub clock: SocketAddr,
    /// Where it announces steps.
    pub steps: SocketAddr,
    /// The run's epoch on its monotonic clock.
    pub epoch: u64,
}

/// Where the others are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peers {
    /// The receivers' endpoints.
    pub endpoints: Vec<String>,
    /// To the one who sends samples back: where to.
    pub back: Option<String>,
    /// The timing master.
    pub master: Master,
    /// Whether it runs on the same machine.
    pub shared: bool,
}

/// What a participant does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sends samples. The first one is the timing master.
    Sender,
    /// Receives them.
    Receiver,
}

/// How participants keep together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The sender paces to absolute deadlines of the common time.
    Continuous,
    /// A step is announced, and done when all have acknowledged its data.
    Discrete,
}

/// What a participant is to do. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// What it does.
    pub role: Role,
    /// Key of the transport.
    pub transport: String,
    /// Where samples go.
    pub topic: Topic,
    /// Seed of their content.
    pub seed: u64,
    /// How participants keep together.
    pub mode: Mode,
    /// From sample to sample; 0 is as fast as it goes.
    pub cycle: u64,
    /// Whether simulated time runs as fast as it can, and not as real time.
    pub fast: bool,
    /// How long samples are sent.
    pub duration: u64,
    /// How long a window of the receiver lasts, at least.
    pub window: u64,
    /// Whether a message of its own announces a step. Otherwise its sample does:
    /// the sequence is the step.
    pub announced: bool,
    /// How long the timing master waits for a step's acknowledgements.
    pub patience: u64,
    /// How many round trips are taken before the run, at most.
    pub round_trips: u64,
    /// How long the other side of the control channel may be silent.
    pub alive: u64,
    /// What it asks of the system.
    pub realtime: Realtime,
    /// The codec whose bytes are sent, if not generated content.
    pub coding: Option<CodecSetup>,
    /// How many samples to keep, each by itself; 0 for none.
    pub keep: u64,
}

impl Assignment {
    /// How many samples a sender sends, at most: in each cycle one on each of its topics.
    pub fn count(&self) -> u64 {
        let topics = self.topic.topics_of_sender() as u64;
        let most = MAX_SAMPLES / topics;
        topics
            * match self.cycle {
                _ if self.fast => most,
                0 => most,
                cycle => (self.duration / cycle).clamp(1, most),
            }
    }

    /// Whether samples are due at times.
    pub fn is_paced(&self) -> bool {
        self.cycle > 0 && !self.fast
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParticipantResult {
    /// Of the sender.
    Sent(SenderResult),
    /// Of a receiver.
    Received(ReceiverResult),
}

/// Round trips.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pinged {
    /// From before the call that sends to when the sample is back.
    pub times: Distribution,
    /// Samples that did not come back within a second.
    pub lost: u64,
}

/// What the sender did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderResult {
    /// Samples that the cycle asked for until the end; none without a cycle.
    pub due: Option<u64>,
    /// Samples that were sent.
    pub samples: u64,
    /// From the first deadline to the end of the last step.
    pub span: u64,
    /// How long after its deadline each sample was sent.
    pub lateness: Distribution,
    /// Time in the call that sends.
    pub write: Distribution,
    /// In discrete mode: from the announcement to the last acknowledgement.
    pub step: Distribution,
    /// In discrete mode: from the end of the own work to the last
    /// acknowledgement.
    pub barrier: Distribution,
    /// In discrete mode: windows of steps, with the times that they took.
    pub steps: Vec<Window>,
    /// With a codec: windows of what encoding took.
    pub encodes: Vec<Window>,
    /// With a codec: windows of the call that sends.
    pub writes: Vec<Window>,
    /// Steps that were not acknowledged in time.
    pub timeouts: u64,
    /// Of steps that took longer than the cycle, or timed out.
    pub misses: Misses,
    /// In discrete mode: the slowest steps.
    pub slowest: Vec<SlowSample>,
    /// Its clock, where it is not the timing master's: samples are stamped with the master's time.
    /// Of several senders those of all.
    pub clocks: Vec<Alignment>,
    /// What it took.
    pub usage: Usage,
}

/// What a receiver saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceiverResult {
    /// Its windows, all of them.
    pub windows: Vec<Window>,
    /// One-way latency: from before the call that sends to the arrival.
    pub latency: Distribution,
    /// How much the latency differs from that of the sample before.
    pub jitter: Distribution,
    /// Different samples that arrived whole.
    pub samples: u64,
    /// That came after a later one.
    pub reordered: u64,
    /// That came again.
    pub repeated: u64,
    /// That were damaged on the way.
    pub damaged: u64,
    /// That were not of this run.
    pub foreign: u64,
    /// That took longer than a cycle.
    pub late: u64,
    /// Of samples that did or never came, in continuous mode with a cycle.
    pub misses: Misses,
    /// The slowest samples.
    pub slowest: Vec<SlowSample>,
    /// Of several topics the one with the largest p99, from 1, and its latencies.
    pub slowest_topic: Option<(usize, Distribution)>,
    /// With a codec: windows of what decoding took.
    pub decodes: Vec<Window>,
    /// With a codec: what waking a thread takes on its machine.
    pub wake_up: Distribution,
    /// Its clock.
    pub alignment: Alignment,
    /// What it took.
    pub usage: Usage,
}

/// Most bytes that are encrypted at once.
const MAX_PLAINTEXT: usize = 60_000;

/// The sending half of a connection; copies share it.
#[derive(Clone, Debug)]
pub struct ControlSender {
    stream: Arc<Mutex<TcpStream>>,
    seal: Option<SharedSeal>,
}

impl ControlSender {
    /// Sends a message.
    ///
    /// # Errors
    /// When the other side is gone.
    pub fn send<M: Serialize>(&self, message: &M) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        // Held from sealing to sending: the order counts.
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seal) = &self.seal {
            let mut seal = seal.lock().unwrap_or_else(PoisonError::into_inner);
            let mut frames = Vec::new();
            for plain in line.chunks(MAX_PLAINTEXT) {
                let sealed = seal.encrypt(plain)?;
                frames.extend_from_slice(&u16::try_from(sealed.len())?.to_be_bytes());
                frames.extend_from_slice(&sealed);
            }
            line = frames;
        }
        stream.write_all(&line).context("the control connection is closed")
    }

    /// Closes the connection for both halves.
    pub fn close(&self) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
}

/// The other side ended the connection, as it does when its process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionClosed;

impl Display for ConnectionClosed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("closed the control connection")
    }
}

impl Error for ConnectionClosed {}

/// The receiving half of a connection.
#[derive(Debug)]
pub struct ControlReceiver {
    stream: TcpStream,
    inbox: Inbox,
    silence: Duration,
}

/// Makes both halves of a connection.
///
/// # Errors
/// When the system refuses.
pub fn split(stream: TcpStream) -> Result<(ControlSender, ControlReceiver)> {
    split_encrypted(stream, None)
}

/// Makes both halves of a connection, which is encrypted where there is a seal.
///
/// # Errors
/// When the system refuses.
pub fn split_encrypted(
    stream: TcpStream,
    seal: Option<SharedSeal>,
) -> Result<(ControlSender, ControlReceiver)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HEARTBEAT_INTERVAL))?;
    stream.set_write_timeout(Some(DEFAULT_SILENCE_LIMIT))?;
    let other = stream.try_clone()?;
    let listener = ControlReceiver {
        stream: other,
        inbox: Inbox::new(seal.clone()),
        silence: DEFAULT_SILENCE_LIMIT,
    };
    Ok((ControlSender { stream: Arc::new(Mutex::new(stream)), seal }, listener))
}

impl ControlReceiver {
    /// Takes no message of more bytes from now on; who has not introduced itself
    /// has little to say.
    pub fn limit_message_size(&mut self, longest: Option<usize>) {
        self.inbox.limit_message_size(longest);
    }

    /// Bears so much silence of the other side from now on, before it is lost:
    /// no words of it, and no room for ours.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_silence_limit(&mut self, silence: Duration) -> Result<()> {
        self.silence = silence;
        // Of the connection, for both halves.
        Ok(self.stream.set_write_timeout(Some(silence))?)
    }

    /// Closes the connection for both halves, and at once: [`ControlSender::close`] waits for what
    /// is being sent.
    pub fn close(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }

    /// Waits for the next message, beats included.
    ///
    /// # Errors
    /// [`ConnectionClosed`]; when the other side is silent for longer than is borne, or says
    /// what it cannot say.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<M> {
        // By the clock: who stood still for so long has been given up by the other side.
        let deadline = Instant::now() + self.silence;
        loop {
            if let Some(message) = self.inbox.next_message()? {
                return Ok(message);
            }
            let mut block = [0; 64 << 10];
            match self.stream.read(&mut block) {
                Ok(0) => bail!(ConnectionClosed),
                Ok(count) => self.inbox.push_bytes(&block[..count])?,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        ensure!(Instant::now() < deadline, "silent for {:?}", self.silence);
                    }
                    _ => return Err(error).context("the control connection broke"),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, ControlReceiver) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        (stream, split(accepted).unwrap().1)
    }

    #[test]
    fn messages_come_whole_though_they_come_in_pieces() {
        let (mut stream, mut listener) = pair();
        listener.set_silence_limit(Duration::from_secs(60)).unwrap();
        let mut text = serde_json::to_vec(&Order::Finish(vec![7])).unwrap();
        text.extend(b"\n\"start\"\n\"qu");
        stream.write_all(&text[..5]).unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            stream.write_all(&text[5..]).unwrap();
            stream
        });
        assert_eq!(listener.receive::<Order>().unwrap(), Order::Finish(vec![7]));
        assert_eq!(listener.receive::<Order>().unwrap(), Order::Start);
        drop(late.join().unwrap());
        let error = listener.receive::<Order>().unwrap_err();
        assert!(error.to_string().contains("closed"), "{error}");
    }

    #[test]
    fn silence_and_nonsense_are_told() {
        let (mut stream, mut listener) = pair();
        let start = Instant::now();
        let error = listener.receive::<Order>().unwrap_err();
        assert!(error.to_string().contains("silent"), "{error}");
        assert!(start.elapsed() >= DEFAULT_SILENCE_LIMIT);
        listener.set_silence_limit(Duration::from_millis(50)).unwrap();
        let error = listener.receive::<Order>().unwrap_err();
        assert!(error.to_string().contains("silent for 50ms"), "{error}");
        listener.set_silence_limit(DEFAULT_SILENCE_LIMIT).unwrap();
        stream.write_all(b"GET / HTTP/1.1\n").unwrap();
        let error = listener.receive::<Order>().unwrap_err();
        assert!(error.to_string().contains("GET /"), "{error}");
    }
}
