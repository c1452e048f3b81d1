//! Cyclone DDS, by a few functions of C of our own (`dds/dds.c`).

mod roudi;
mod shared_memory;

use std::ffi::{c_char, c_void, CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::ptr::{self, NonNull};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use wiregauge_participant::dds_certificates;
use wiregauge_participant::greeting::Greeting;
use wiregauge_participant::participant;
use wiregauge_participant::sample::loss_timeout;
use wiregauge_participant::sample_room::SampleRoom;
use wiregauge_participant::sample_taker::{SampleSource, SampleTaker};
use wiregauge_participant::transport::{Reader, SampleHandler, Topic, Transport, Writer};

use crate::shared_memory::{Plan, Way};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if let (Some(word), Some(folder)) = (words.next(), words.next()) {
        if word == roudi::GUARD {
            return roudi::guard(folder.as_ref());
        }
    }
    roudi::leave_at_exit();
    if std::env::var_os(CONFIGURATION).is_none() {
        // Nothing else runs yet that could read it.
        let carries_trace = std::env::args().any(|word| word == "--stream");
        let more = if carries_trace { SETTINGS_OF_TRACES } else { "" };
        std::env::set_var(
            CONFIGURATION,
            SETTINGS.replace("</Internal>", &(more.to_owned() + "</Internal>")),
        );
    }
    participant::main(vec![&Dds])
}

/// Where Cyclone looks for its configuration.
const CONFIGURATION: &str = "CYCLONEDDS_URI";
/// What is set where the user sets nothing. As much room for datagrams as the
/// system gives: Cyclone asks for 1 MiB, which a sample of 10 MB overruns on a
/// fast link. And a queue for what is sent again that holds more than a reader
/// asks for at a time, 256 fragments: Cyclone's holds 200, drops the others and is
/// asked for them 100 ms later, which a sample of some 100 MB has no time for.
const SETTINGS: &str = "<CycloneDDS><Domain><Internal>\
                        <SocketReceiveBufferSize max=\"32MB\"/>\
                        <MaxQueuedRexmitMessages>100000</MaxQueuedRexmitMessages>\
                        <MaxQueuedRexmitBytes>128MB</MaxQueuedRexmitBytes>\
                        </Internal></Domain></CycloneDDS>";

/// What is set besides for a trace: its player may be one of Fast DDS, which does not notice that a
/// reader has left without this hash of its name. It costs 24 bytes a sample, so it is in no figure.
const SETTINGS_OF_TRACES: &str = "<GenerateKeyhash>true</GenerateKeyhash>";

/// Cyclone DDS.
struct Dds;

/// Memory that a reader's unread samples may take, about, in bytes.
const KEPT: usize = 256 << 20;
/// Unread samples that a reader keeps where each has a size of its own.
const KEPT_OF_ANY: i32 = 256;
/// What the library says where it is built without something.
const UNSUPPORTED: i32 = -2;
/// How long a write waits for its readers at most, besides the time that a sample
/// may take.
const BLOCKING: Duration = Duration::from_secs(10);

impl Transport for Dds {
    fn name(&self) -> &'static str {
        "dds"
    }

    fn library(&self) -> String {
        format!("Cyclone DDS {}", env!("WIREGAUGE_CYCLONE"))
    }

    fn options(&self) -> Vec<String> {
        let configuration = std::env::var(CONFIGURATION).unwrap_or_default();
        let room = std::fs::read_to_string("/proc/sys/net/core/rmem_max").unwrap_or_default();
        vec![
            "reliability=reliable and history=all, which is KeepAll, unless said; 11 s and 200 ns \
             a byte of blocking before a write fails"
                .into(),
            "the type of ddsperf: sequence, key, octets; 12 bytes more than the sample".into(),
            "a reader waits at a waitset, or is called by Cyclone's thread (wait=listener)".into(),
            "of samples of 268 kB and less a reader takes up to 100 at a time".into(),
            shared_memory::ABOUT.into(),
            "with history=all a reader keeps up to 256 MiB of samples, at least 16 and at most 10,000"
                .into(),
            dds_certificates::PROTECTION.into(),
            format!("{CONFIGURATION}={configuration}"),
            format!("net.core.rmem_max is {}", room.trim()),
        ]
    }

    fn option_names(&self) -> &'static [&'static str] {
        &["certificates", "domain", "history", "reliability", "security", "topic", "wait", "way"]
    }

    fn receiver_options(&self) -> &'static [&'static str] {
        &["topic"]
    }

    fn carries_several(&self) -> bool {
        true
    }

    fn reader(&self, topic: &Topic) -> Result<(Box<dyn Reader>, String)> {
        let reader: Box<dyn Reader> = match topic.options.get("wait").map(String::as_str) {
            None | Some("waitset") => Box::new(DdsEndpoint::open_reader(topic, None)?),
            Some("listener") if topic.several.is_some() => {
                bail!("wait=listener is measured with one sender and one topic; leave it out")
            }
            Some("listener") => Box::new(ListeningReader::open(topic)?),
            Some(other) => bail!("wait is waitset or listener, not '{other}'"),
        };
        Ok((reader, String::new()))
    }

    fn writer(&self, topic: &Topic, _: &[String]) -> Result<Box<dyn Writer>> {
        let end = DdsEndpoint::open_writer(topic)?;
        let topics = topic.topics_of_sender();
        let (room, acknowledged) = match Way::from_topic(topic)? {
            Way::Network => (SampleRoom::with_buffer(topic)?, topic.quality()?.reliable),
            Way::Memory => (SampleRoom::with_lender(topic), false),
        };
        let greeting = Greeting::new(topic, acknowledged);
        Ok(Box::new(DdsWriter { end, topic: 0, topics, room, greeting }))
    }
}

struct DdsWriter {
    end: DdsEndpoint,
    /// The topic of the next sample, of so many.
    topic: usize,
    topics: usize,
    room: SampleRoom,
    greeting: Greeting,
}

impl Writer for DdsWriter {
    fn readers(&mut self) -> Result<usize> {
        // SAFETY: the end is a writer, open until it is dropped.
        let found = unsafe { wiregauge_dds_readers(self.end.0) };
        let found = check(found).context("cannot count the readers")? as usize;
        let end = self.end.0;
        let send_empty = || {
            (0..self.topics).try_for_each(|topic| {
                let none = NonNull::dangling().as_ptr();
                // SAFETY: the end has so many writers, open until it is dropped; no byte is read.
                let code = unsafe { wiregauge_dds_write(end, topic, none, 0) };
                check(code).context("dds_write fails").map(drop)
            })
        };
        let is_acknowledged = || {
            // SAFETY: the end is a writer, open until it is dropped.
            let code = unsafe { wiregauge_dds_acknowledged(end) };
            Ok(check(code).context("dds_wait_for_acks fails")? == 1)
        };
        self.greeting.ready_readers(found, send_empty, is_acknowledged)
    }

    fn choose_topic(&mut self, number: usize) -> Result<()> {
        ensure!(number < self.topics, "there is no topic {number}");
        self.topic = number;
        Ok(())
    }

    fn buffer(&mut self) -> Result<&mut [u8]> {
        let (end, topic) = (&self.end, self.topic);
        // SAFETY: the library lends so many bytes until they are written, which forgets them; all
        // of its memory was filled by RouDi.
        unsafe { self.room.buffer(topic, || end.lend(topic)) }
    }

    fn buffer_of_size(&mut self, size: usize) -> Result<&mut [u8]> {
        self.room.buffer_of_size(size, shared_memory::ONE_SIZE)
    }

    fn send(&mut self) -> Result<()> {
        let end = self.end.0;
        let code = match &mut self.room {
            SampleRoom::Own(buffer) => {
                let size = u32::try_from(buffer.len()).context("the sample is too large")?;
                // SAFETY: the end has a writer of this topic, open until it is dropped; the buffer
                // has this size, and Cyclone copies it before it returns.
                unsafe { wiregauge_dds_write(end, self.topic, buffer.as_ptr(), size) }
            }
            SampleRoom::Lent { rooms, .. } => {
                let room = rooms[self.topic].take().context("there is nothing to send")?;
                // SAFETY: the writer of this topic lent it, and takes it back.
                unsafe { wiregauge_dds_write_lent(end, self.topic, room.as_ptr()) }
            }
        };
        check(code).context("dds_write fails").map(drop)
    }
}

/// The writers or the readers of all topics, in one participant.
struct DdsEndpoint(*mut Handle);

impl DdsEndpoint {
    fn open_writer(topic: &Topic) -> Result<DdsEndpoint> {
        DdsEndpoint::open(topic, Plan::for_topic(topic)?, 0, None)
    }

    fn open_reader(topic: &Topic, context: Option<&CallbackContext>) -> Result<DdsEndpoint> {
        let plan = Plan::for_topic(topic)?;
        let kept = match (plan, topic.varies) {
            (Some(plan), _) => plan.depth,
            (None, true) => KEPT_OF_ANY,
            (None, false) => (KEPT / topic.size).clamp(16, 10_000) as i32,
        };
        DdsEndpoint::open(topic, plan, kept, context)
    }

    /// Readers that keep so many samples each, or writers for none.
    fn open(
        topic: &Topic,
        plan: Option<Plan>,
        kept: i32,
        context: Option<&CallbackContext>,
    ) -> Result<DdsEndpoint> {
        if let Some(plan) = plan {
            roudi::join(topic.scratch.as_deref(), plan.pool)?;
        }
        let domain = topic.domain()?;
        let mut quality = topic.quality()?;
        quality.depth = plan.map(|plan| plan.depth).or(quality.depth);
        let shared = plan.map_or(0, |plan| plan.pool.size as u32);
        let configuration = std::env::var(CONFIGURATION).unwrap_or_default();
        let configuration = CString::new(shared_memory::configuration(&configuration))?;
        let name = topic.options.get("topic").unwrap_or(&topic.name);
        let names = match kept {
            0 => topic.names_to_write(name),
            _ => topic.names_to_read(name),
        };
        let names = names.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
        let certificates = dds_certificates::find(topic)?.unwrap_or_default();
        let certificates = CString::new(certificates.as_os_str().as_bytes())?;
        let mut handle = ptr::null_mut();
        let blocking = (BLOCKING.as_nanos() as u64 + loss_timeout(topic.size)) as i64;
        let listens = context.map(|_| on_samples as Listens);
        let context = context.map_or(ptr::null_mut(), |one| ptr::from_ref(one).cast_mut().cast());
        // SAFETY: the strings live during the call. The context is null or that of a
        // `ListeningReader`, which drops its endpoint first.
        let code = unsafe {
            wiregauge_dds_open(
                domain,
                names.as_ptr(),
                names.len(),
                certificates.as_ptr(),
                quality.reliable,
                quality.kept_or_all(),
                blocking,
                kept,
                shared,
                configuration.as_ptr(),
                listens,
                context,
                &mut handle,
            )
        };
        ensure!(shared == 0 || code != UNSUPPORTED, "{}", shared_memory::NOT_BUILT_IN);
        check(code).with_context(|| format!("cannot take part in DDS domain {domain}"))?;
        Ok(DdsEndpoint(handle))
    }

    /// Room for a sample of this topic in shared memory.
    fn lend(&self, topic: usize) -> Result<NonNull<u8>> {
        let mut room = ptr::null_mut();
        // SAFETY: the end has a writer of this topic, open until it is dropped.
        let code = unsafe { wiregauge_dds_lend(self.0, topic, &mut room) };
        let none =
            "Cyclone DDS has no room for a sample in RouDi's shared memory: readers hold all";
        check(code).context(none)?;
        NonNull::new(room.cast()).context(none)
    }
}

impl Reader for DdsEndpoint {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        Ok(self.next_of_any(patience)?.map(|(_, sample)| sample))
    }

    fn next_of_any(&mut self, patience: Duration) -> Result<Option<(usize, &[u8])>> {
        // SAFETY: the end is open, and the sample lies there until the next call,
        // which must borrow `self` anew.
        unsafe { next(self.0, patience) }
    }
}

/// The next sample of any topic, and which that is.
///
/// # Safety
/// The reader is open and in no other call, and the sample is not used after the
/// next call or once the reader is closed.
unsafe fn next<'a>(handle: *mut Handle, patience: Duration) -> Result<Option<(usize, &'a [u8])>> {
    let (mut topic, mut bytes, mut size) = (0, ptr::null(), 0);
    let patience = patience.as_nanos() as i64;
    // SAFETY: the reader is open, as the caller promises, and there is room for an
    // address and two numbers.
    let code = unsafe { wiregauge_dds_next(handle, patience, &mut topic, &mut bytes, &mut size) };
    match check(code).context("cannot read from DDS")? {
        0 => Ok(None),
        // SAFETY: Cyclone lends so many bytes until the next call.
        _ => Ok(Some((topic, unsafe { std::slice::from_raw_parts(bytes, size as usize) }))),
    }
}

/// A reader that Cyclone calls in its own thread.
struct ListeningReader {
    // Closed first: it calls nobody any more after that.
    endpoint: DdsEndpoint,
    context: Box<CallbackContext>,
}

/// Where Cyclone's thread finds who takes samples.
struct CallbackContext {
    inbox: Mutex<Inbox>,
    /// Nobody takes samples any more.
    enough: Condvar,
}

/// Who takes samples, and the reader that has them; null until it is open.
struct Inbox {
    taker: SampleTaker,
    reader: *mut Handle,
}

impl ListeningReader {
    fn open(topic: &Topic) -> Result<ListeningReader> {
        let inbox = Inbox { taker: SampleTaker::default(), reader: ptr::null_mut() };
        let context = CallbackContext { inbox: Mutex::new(inbox), enough: Condvar::new() };
        let context = Box::new(context);
        let endpoint = DdsEndpoint::open_reader(topic, Some(&context))?;
        context.inbox.lock().unwrap_or_else(PoisonError::into_inner).reader = endpoint.0;
        Ok(ListeningReader { endpoint, context })
    }
}

impl Reader for ListeningReader {
    fn next(&mut self, patience: Duration) -> Result<Option<&[u8]>> {
        self.endpoint.next(patience)
    }

    fn deliver(&mut self, patience: Duration, take: SampleHandler<'_>) -> Result<bool> {
        let CallbackContext { inbox, enough } = &*self.context;
        Inbox::deliver(inbox, enough, patience, &mut |_, sample| take(sample))
    }
}

// SAFETY: an inbox has one taker, which stays in it.
unsafe impl SampleSource for Inbox {
    fn taker(&mut self) -> &mut SampleTaker {
        &mut self.taker
    }

    fn serve(&mut self) {
        while self.taker.is_waiting() {
            // SAFETY: while there is a taker, `deliver` has not returned, and its reader is open.
            // The lock keeps others out.
            match unsafe { next(self.reader, Duration::ZERO) } {
                Ok(Some((topic, sample))) => {
                    self.taker.give(topic, sample);
                }
                Ok(None) => return,
                Err(error) => self.taker.fail(error),
            }
        }
    }
}

/// Called by Cyclone when samples have come.
extern "C" fn on_samples(_reader: i32, context: *mut c_void) {
    // SAFETY: the context is that of a `ListeningReader`, boxed, which outlives the
    // reader; it is only ever shared.
    let context = unsafe { &*context.cast::<CallbackContext>() };
    // After a panic there is nobody any more.
    let Ok(mut inbox) = context.inbox.lock() else { return };
    inbox.serve();
    if !inbox.taker.is_waiting() {
        context.enough.notify_one();
    }
}

impl Drop for DdsEndpoint {
    fn drop(&mut self) {
        // SAFETY: it is open, `self` is its only owner, and Cyclone waits for its own
        // calls to end.
        unsafe { wiregauge_dds_close(self.0) }
    }
}

fn check(code: i32) -> Result<i32> {
    if code < 0 {
        // SAFETY: a constant of the library's, ended by a zero byte, for any code.
        let text = unsafe { CStr::from_ptr(wiregauge_dds_error(code)) };
        bail!("Cyclone DDS: {}", text.to_string_lossy());
    }
    Ok(code)
}

#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

/// What Cyclone calls, with the reader and a context.
type Listens = extern "C" fn(i32, *mut c_void);

extern "C" {
    fn wiregauge_dds_open(
        domain: u32,
        topics: *const *const c_char,
        count: usize,
        certificates: *const c_char,
        reliable: bool,
        depth: i32,
        patience: i64,
        kept: i32,
        shared: u32,
        configuration: *const c_char,
        listens: Option<Listens>,
        context: *mut c_void,
        opened: *mut *mut Handle,
    ) -> i32;
    fn wiregauge_dds_readers(dds: *mut Handle) -> i32;
    fn wiregauge_dds_acknowledged(dds: *mut Handle) -> i32;
    fn wiregauge_dds_write(dds: *mut Handle, topic: usize, bytes: *const u8, size: u32) -> i32;
    fn wiregauge_dds_lend(dds: *mut Handle, topic: usize, room: *mut *mut c_void) -> i32;
    fn wiregauge_dds_write_lent(dds: *mut Handle, topic: usize, room: *const u8) -> i32;
    fn wiregauge_dds_next(
        dds: *mut Handle,
        patience: i64,
        topic: *mut usize,
        bytes: *mut *const u8,
        size: *mut u32,
    ) -> i32;
    fn wiregauge_dds_close(dds: *mut Handle);
    fn wiregauge_dds_error(code: i32) -> *const c_char;
}
