//! zenoh's shared memory: where samples are made, and how it is named. zenoh numbers it for the
//! whole machine, and a program that is killed leaves it there. Two functions stand before the
//! system's own in this program: they put the run's name before the number, so that whoever
//! outlives the run knows what to remove.

use std::ffi::{c_char, c_int, CStr, CString};
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Result};
use wiregauge_participant::sample::loss_timeout;
use wiregauge_participant::transport::Topic;
use wiregauge_timing::scratch::{check_shared_memory, shared_prefix};
use zenoh::shm::{
    AllocAlignment, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder,
    ZAllocError, ZLayoutAllocError, ZShmMut,
};
use zenoh::Wait;

/// Memory that unread samples may take, about, in bytes.
const KEPT: usize = 64 << 20;
/// Samples that are written or read, beside those that wait.
const AT_WORK: usize = 2;
/// Bytes that a sample takes besides, at most, and all of them together.
const OVERHEAD: [usize; 2] = [128, 64 << 10];
/// Samples that may wait for a reader: more than the memory has room for, so that none stays in
/// a socket, where nobody confirms that it is still wanted.
pub const MOST_WAITING: usize = 1 << 20;
/// How long a write waits for room at most, besides the time that a sample may take.
const BLOCKING: Duration = Duration::from_secs(10);
/// From one look for room to the next.
const PAUSE: Duration = Duration::from_micros(50);
/// What is told of it.
pub const ROOM: &str =
    "way=memory has room for 64 MiB of samples, at least 2 and at most 64 and 2 \
                        at work; a writer whose readers hold all tries again each 50 µs";
/// Of another one sizes would have to be multiples.
const ALIGNMENT: AllocAlignment = AllocAlignment::ALIGN_1_BYTE;
/// Where the system keeps shared memory.
const FOLDER: &str = "/dev/shm/";

/// Where samples are made.
pub struct Pool {
    provider: ShmProvider<PosixShmProviderBackend>,
    blocking: Duration,
}

impl Pool {
    /// Room for the samples of a topic.
    ///
    /// # Errors
    /// When there is not so much shared memory, or it may not be locked.
    pub fn new(topic: &Topic) -> Result<Pool> {
        let bytes = pool_bytes(topic);
        check_shared_memory(bytes as u64)?;
        name_shared_memory(topic.scratch.as_deref());
        let backend = PosixShmProviderBackend::builder((bytes, ALIGNMENT)).wait();
        let backend = backend.map_err(|error| {
            anyhow!(
                "zenoh cannot have {} MB of shared memory, which it also locks: {error}; raise \
                 'ulimit -l', or send smaller samples",
                bytes / 1_000_000
            )
        })?;
        let provider = ShmProviderBuilder::backend(backend).wait();
        let blocking = BLOCKING + Duration::from_nanos(loss_timeout(topic.size));
        Ok(Pool { provider, blocking })
    }

    /// Room for a sample: what was lent before, if it has this size.
    ///
    /// # Errors
    /// When readers hold all for too long.
    pub fn lend_into<'a>(
        &self,
        lent: &'a mut Option<ZShmMut>,
        size: usize,
    ) -> Result<&'a mut [u8]> {
        let kept = lent.take().filter(|lent| lent.len() == size);
        let room = match kept {
            Some(room) => room,
            None => self.lend(size)?,
        };
        Ok(lent.insert(room).as_mut())
    }

    /// New room for a sample. What readers are done with is taken back where there is none.
    fn lend(&self, size: usize) -> Result<ZShmMut> {
        let deadline = Instant::now() + self.blocking;
        loop {
            let room = self.provider.alloc((size, ALIGNMENT)).with_policy::<GarbageCollect>();
            match room.wait() {
                Ok(room) => return Ok(room),
                Err(ZLayoutAllocError::Alloc(ZAllocError::OutOfMemory)) => {}
                Err(error) => bail!("zenoh: {error}"),
            }
            if Instant::now() >= deadline {
                bail!("zenoh has no room for a sample: readers hold all");
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Shared memory of a topic, in bytes.
fn pool_bytes(topic: &Topic) -> usize {
    let [each, all] = OVERHEAD;
    let samples = match topic.varies {
        true => (KEPT / topic.size).max(2),
        false => (KEPT / topic.size).clamp(2, 64),
    };
    (samples + AT_WORK) * (topic.size + each) + all
}

/// What the names of shared memory begin with, once that is known.
static PREFIX: OnceLock<String> = OnceLock::new();

/// From now on shared memory has the name of this run.
pub fn name_shared_memory(scratch: Option<&Path>) {
    if let Some(scratch) = scratch {
        PREFIX.get_or_init(|| shared_prefix(scratch));
    }
}

/// Where shared memory of this name lies.
fn own_path(name: &CStr) -> Option<CString> {
    let name = name.to_str().ok()?.trim_start_matches('/');
    let prefix = PREFIX.get().map_or("", String::as_str);
    CString::new(format!("{FOLDER}{prefix}{name}")).ok()
}

/// The system's function of this name, for this program alone.
///
/// # Safety
/// The name is a text that ends with a zero.
#[no_mangle]
unsafe extern "C" fn shm_open(name: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: so the caller says.
    let Some(path) = own_path(unsafe { CStr::from_ptr(name) }) else { return -1 };
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the path is a text that ends with a zero.
    unsafe { libc::open(path.as_ptr(), flags, mode) }
}

/// The system's function of this name, for this program alone.
///
/// # Safety
/// The name is a text that ends with a zero.
#[no_mangle]
unsafe extern "C" fn shm_unlink(name: *const c_char) -> c_int {
    // SAFETY: so the caller says.
    let Some(path) = own_path(unsafe { CStr::from_ptr(name) }) else { return -1 };
    // SAFETY: the path is a text that ends with a zero.
    unsafe { libc::unlink(path.as_ptr()) }
}
