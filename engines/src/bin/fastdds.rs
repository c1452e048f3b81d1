//! Fast DDS, by a few functions of C++ of our own (`fastdds/fastdds.cpp`).

use std::ffi::{c_char, CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use wiregauge_participant::dds_certificates;
use wiregauge_participant::greeting::Greeting;
use wiregauge_participant::participant;
use wiregauge_participant::sample::loss_timeout;
use wiregauge_participant::sample_room::SampleRoom;
use wiregauge_participant::transport::{Reader, Topic, Transport, Writer};
use wiregauge_timing::scratch::{check_shared_memory, shared_prefix};

fn main() -> ExitCode {
    participant::main(vec![&FastDds])
}

/// Fast DDS.
struct FastDds;

/// Memory that unread samples may take, about, in bytes.
const KEPT: usize = 256 << 20;
/// The same where it is shared.
const KEPT_SHARED: usize = 64 << 20;
/// Unread samples that are kept where each has a size of its own.
const KEPT_OF_ANY: usize = 256;
/// The same where each takes shared memory for the largest.
const KEPT_OF_ANY_SHARED: usize = 8;
/// Samples of shared memory that are written or read, beside those that are kept.
const AT_WORK: usize = 4;
/// Shared memory of a participant that sends messages over it, in bytes. The library's half a
/// mebibyte holds eight pieces of a large sample.
const SEGMENT: usize = 64 << 20;
/// How long a write waits for its readers at most, besides the time that a sample
/// may take.
const BLOCKING: Duration = Duration::from_secs(10);
/// How long a protected writer waits for its readers before it takes part anew. Fast DDS 2.9 may
/// lose a message of the handshake on a busy machine and never send it again; a second or two are
/// what it takes otherwise.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

/// How samples travel; the numbers are those of the C++ side.
#[derive(Clone, Copy, PartialEq)]
#[repr(i32)]
enum Way {
    Udp = 0,
    Memory = 1,
    Sharing = 2,
}

impl Way {
    fn from_topic(topic: &Topic) -> Result<Way> {
        Ok(match topic.options.get("way").map_or("udp", String::as_str) {
            "udp" => Way::Udp,
            "memory" => Way::Memory,
            "sharing" => Way::Sharing,
            other => bail!("way is udp, memory or sharing, not '{other}'"),
        })
    }

    /// Samples that wait for a reader.
    fn most_unread(self, topic: &Topic) -> usize {
        match (self, topic.varies) {
            (Way::Sharing, true) => KEPT_OF_ANY_SHARED,
            (Way::Sharing, false) => (KEPT_SHARED / topic.size).clamp(2, 64),
            (_, true) => KEPT_OF_ANY,
            (_, false) => (KEPT / topic.size).clamp(16, 10_000),
        }
    }

    /// Shared memory that a writer takes, in bytes.
    fn shared(self, topic: &Topic) -> usize {
        match self {
            Way::Udp => 0,
            Way::Memory => SEGMENT,
            Way::Sharing => {
                let samples = (self.most_unread(topic) + AT_WORK) * topic.topics_of_sender();
                SEGMENT + samples * topic.size
            }
        }
    }
}

impl Transport for FastDds {
    fn name(&self) -> &'static str {
        "fastdds"
    }

    fn library(&self) -> String {
        // SAFETY: it only gives a number.
        let [_, major, minor, micro] = unsafe { wiregauge_fastdds_version() }.to_be_bytes();
        format!("Fast DDS {major}.{minor}.{micro}")
    }

    fn options(&self) -> Vec<String> {
        let room = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap_or_default();
        vec![
            "reliability=reliable and history=all, which is KeepAll, unless said; 11 s and 200 ns \
             a byte of blocking before a write fails"
                .into(),
            "published in the thread that writes, with a heartbeat each 20 ms; a reader waits for \
             unread messages"
                .into(),
            "way=udp is datagrams alone, way=memory the library's shared memory transport alone \
             with a segment of 64 MiB: both without data sharing, the type of ddsperf (sequence, \
             key, octets), and up to 256 MiB of samples, at least 16 and at most 10,000"
                .into(),
            "way=sharing is data sharing, with shared memory for what else is said: octets \
             without a key, which it demands, written and read in place where all have one \
             size, and up to 64 MiB of samples, at least 2 and at most 64"
                .into(),
            dds_certificates::PROTECTION.into(),
            format!("socket buffers of up to 32 MiB; net.core.rmem_max is {}", room.trim()),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &["certificates", "domain", "history", "reliability", "security", "topic", "way"]
    }

    fn receiver_options(&self) -> &'static [&'static str] {
        &["topic"]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        Ok((Box::new(Endpoint::open(topic, true)?), String::new()))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn Writer>> {
        let way = Way::from_topic(topic)?;
        check_shared_memory(way.shared(topic) as u64)?;
        let end = Endpoint::open(topic, false)?;
        let room = match way == Way::Sharing && !topic.varies {
            true => SampleRoom::with_lender(topic),
            false => SampleRoom::with_buffer(topic)?,
        };
        let acknowledged = topic.quality()?.reliable && matches!(room, SampleRoom::Own(_));
        let (topics, greeting) = (topic.topics_of_sender(), Greeting::new(topic, acknowledged));
        let certificates = dds_certificates::find(topic)?;
        let handshake = certificates.map(|_| Handshake {
            topic: topic.clone(),
            acknowledged,
            begun: Instant::now(),
        });
        Ok(Box::new(FastDdsWriter { end, topic: 0, topics, room, greeting, handshake }))
    }
}

struct FastDdsWriter {
    end: Endpoint,
    /// The topic of the next sample, of so many.
    topic: usize,
    topics: usize,
    room: SampleRoom,
    greeting: Greeting,
    /// Where the topic is protected, until all readers are ready.
    handshake: Option<Handshake>,
}

/// What a writer needs to take part anew.
struct Handshake {
    topic: Topic,
    /// Whether its readers acknowledge the greeting.
    acknowledged: bool,
    begun: Instant,
}

impl Writer for FastDdsWriter {
    fn readers(&mut self) -> Result<usize> {
        // SAFETY: the end is a writer, open until it is dropped.
        let found = unsafe { wiregauge_fastdds_readers(self.end.0) };
        let found = usize::try_from(found).context("Fast DDS cannot count the readers")?;
        let end = self.end.0;
        let send_empty = || {
            for topic in 0..self.topics {
                let none = NonNull::dangling().as_ptr();
                // SAFETY: the end has so many writers, open until it is dropped; no byte is read.
                let went = unsafe { wiregauge_fastdds_write(end, topic, none, 0) };
                ensure!(went, "Fast DDS cannot write to its readers");
            }
            Ok(())
        };
        // SAFETY: the end is a writer, open until it is dropped.
        let is_acknowledged = || Ok(unsafe { wiregauge_fastdds_acknowledged(end) });
        let ready = self.greeting.ready_readers(found, send_empty, is_acknowledged)?;
        if let Some(handshake) = &mut self.handshake {
            if ready >= handshake.topic.readers {
                self.handshake = None;
            } else if handshake.begun.elapsed() >= HANDSHAKE_TIMEOUT {
                self.end = Endpoint::open(&handshake.topic, false)?;
                self.greeting = Greeting::new(&handshake.topic, handshake.acknowledged);
                handshake.begun = Instant::now();
            }
        }
        Ok(ready)
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        ensure!(number < self.topics, "there is no topic {number}");
        self.topic = number;
        Ok(())
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        let (end, topic) = (self.end.0, self.topic);
        let lend = || {
            // SAFETY: the end has a writer of this topic, open until it is dropped.
            NonNull::new(unsafe { wiregauge_fastdds_loan(end, topic) })
                .context("Fast DDS has no room for a sample: readers hold all")
        };
        // SAFETY: the library lends so many bytes until they are written, which forgets them.
        unsafe { self.room.buffer(topic, lend) }
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        self.room.buffer_of_size(size, "this topic has samples of one size only")
    }

    fn send(&mut self) -> Result<()> {
        let bytes: &[u8] = match &mut self.room {
            SampleRoom::Own(buffer) => buffer,
            SampleRoom::Lent { rooms, .. } => {
                rooms[self.topic].take().context("nothing was written")?;
                &[]
            }
        };
        let size = u32::try_from(bytes.len()).context("the sample is too large")?;
        let (end, bytes) = (self.end.0, bytes.as_ptr());
        // SAFETY: the end has a writer of this topic, open until it is dropped. It writes what it
        // lent, or copies so many bytes of the buffer before it returns.
        let went = unsafe { wiregauge_fastdds_write(end, self.topic, bytes, size) };
        ensure!(went, "Fast DDS cannot write: a reader is behind or gone");
        Ok(())
    }
}

/// The writers or the readers of all topics, in one participant.
struct Endpoint(*mut Handle);

impl Endpoint {
    fn open(topic: &Topic, reads: bool) -> Result<Endpoint> {
        let domain = topic.domain()?;
        let quality = topic.quality()?;
        let way = Way::from_topic(topic)?;
        ensure!(
            way != Way::Sharing || way.shared(topic) <= u32::MAX as usize,
            "data sharing keeps room for {} samples of the largest size, {} bytes, and Fast DDS \
             shares at most 4 GiB; take fastdds-memory where sizes differ",
            way.most_unread(topic),
            topic.size
        );
        let name = topic.options.get("topic").unwrap_or(&topic.name);
        let names = if reads { topic.names_to_read(name) } else { topic.names_to_write(name) };
        let names = names.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let prefix = topic.scratch.as_deref().map(shared_prefix).unwrap_or_default();
        let prefix = CString::new(prefix)?;
        let certificates = dds_certificates::find(topic)?.unwrap_or_default();
        let certificates = CString::new(certificates.as_os_str().as_bytes())?;
        let settings = Settings {
            domain,
            way,
            topics: names.as_ptr(),
            count: names.len(),
            prefix: prefix.as_ptr(),
            certificates: certificates.as_ptr(),
            size: u32::try_from(topic.size).context("samples are too large")?,
            varies: topic.varies,
            reads,
            reliable: quality.reliable,
            depth: quality.kept_or_all(),
            kept: way.most_unread(topic) as i32,
            blocking: (BLOCKING.as_nanos() as u64 + loss_timeout(topic.size)) as i64,
            segment: SEGMENT as u32,
        };
        let mut handle = ptr::null_mut();
        // SAFETY: the settings and their texts live during the call, and there is room for
        // an address.
        let wrong = unsafe { wiregauge_fastdds_open(&settings, &mut handle) };
        if !wrong.is_null() {
            // SAFETY: a text of the library's thread, which lives until its next call.
            let wrong = unsafe { CStr::from_ptr(wrong) }.to_string_lossy();
            bail!("cannot take part in DDS domain {domain}: Fast DDS: {wrong}");
        }
        Ok(Endpoint(handle))
    }
}

impl Reader for Endpoint {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        let (mut topic, mut bytes, mut size) = (0, ptr::null(), 0);
        let patience = patience.as_nanos() as i64;
        // SAFETY: the end has readers, open until it is dropped, and there is room for an
        // address and two numbers.
        let code =
            unsafe { wiregauge_fastdds_next(self.0, patience, &mut topic, &mut bytes, &mut size) };
        match code {
            0 => Ok(None),
            // SAFETY: so many bytes lie there until the next call, which must borrow `self`
            // anew.
            1 => Ok(Some((topic, unsafe { std::slice::from_raw_parts(bytes, size as usize) }))),
            _ => bail!("Fast DDS cannot read"),
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // SAFETY: it is open, and `self` is its only owner.
        unsafe { wiregauge_fastdds_close(self.0) }
    }
}

#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

/// As in `fastdds.cpp`.
#[repr(C)]
struct Settings {
    domain: u32,
    way: Way,
    topics: *const *const c_char,
    count: usize,
    prefix: *const c_char,
    certificates: *const c_char,
    size: u32,
    varies: bool,
    reads: bool,
    reliable: bool,
    depth: i32,
    kept: i32,
    blocking: i64,
    segment: u32,
}

extern "C" {
    fn wiregauge_fastdds_open(settings: *const Settings, opened: *mut *mut Handle)
        -> *const c_char;
    fn wiregauge_fastdds_close(end: *mut Handle);
    fn wiregauge_fastdds_version() -> u32;
    fn wiregauge_fastdds_readers(end: *mut Handle) -> i32;
    fn wiregauge_fastdds_acknowledged(end: *mut Handle) -> bool;
    fn wiregauge_fastdds_loan(end: *mut Handle, topic: usize) -> *mut u8;
    fn wiregauge_fastdds_write(end: *mut Handle, topic: usize, bytes: *const u8, size: u32)
        -> bool;
    fn wiregauge_fastdds_next(
        end: *mut Handle,
        patience: i64,
        topic: *mut usize,
        bytes: *mut *const u8,
        size: *mut u32,
    ) -> i32;
}
