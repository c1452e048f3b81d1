//! A file in an archive: it is read by ranges, and nothing else of it is fetched.
//!
//! A request costs as much time as a megabyte does. So small reads are joined: each request is
//! for whole blocks, which are kept for a while; what is read in order is fetched in larger
//! and larger pieces, and the next one while the last one is used.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use wiregauge_system::interrupt;

/// What is fetched at least, and kept.
const BLOCK: u64 = 1 << 16;

/// How many blocks are kept: 16 MiB.
const KEPT: usize = 256;

/// A part of a file of at most so many bytes is fetched at once, and no request is for more.
const LARGEST: u64 = 4 << 20;

/// A piece of what is read in order is fetched before it is asked for once it has so many bytes.
const AHEAD: u64 = 1 << 20;

/// How long it is believed that a file is still the one that the archive told last: a verb opens
/// it more than once.
const FRESH: Duration = Duration::from_secs(10);

/// What is said of a file that is another one than before.
const CHANGED: &str = "it was changed while it was read; run the command again";

/// The schemes of addresses in archives.
const SCHEMES: [&str; 6] = ["s3", "s3a", "gs", "az", "http", "https"];

/// What fetches parts of one file.
pub trait RangeSource: Send + Sync + fmt::Debug {
    /// The bytes from a position on: so many, or as many as there are.
    ///
    /// # Errors
    /// In one line with the remedy, when they cannot be fetched, or the file was changed.
    fn fetch(&self, from: u64, length: u64) -> Result<FetchedRange>;
}

/// A part of a file that was fetched.
#[derive(Clone, Debug)]
pub struct FetchedRange {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
    /// What is another one when the file was changed; empty where the archive does not tell.
    pub version: String,
}

/// Which file it was: its size, and its version as in [`FetchedRange`].
pub type FileVersion = (u64, String);

/// Opens a file by its address.
type Opener = Box<dyn Fn(&str) -> Result<Box<dyn RangeSource>> + Send + Sync>;

static OPENER: OnceLock<Opener> = OnceLock::new();

/// The files that were read lately.
static KNOWN: Mutex<Vec<KnownFile>> = Mutex::new(Vec::new());

struct KnownFile {
    path: PathBuf,
    file: Arc<RemoteFile>,
}

/// What each file was when this process read it first, where it must stay that.
static KEPT_VERSIONS: OnceLock<Mutex<HashMap<PathBuf, FileVersion>>> = OnceLock::new();

/// Says how files in archives are opened. The first one stays.
pub fn set_opener(opener: impl Fn(&str) -> Result<Box<dyn RangeSource>> + Send + Sync + 'static) {
    let _ = OPENER.set(Box::new(opener));
}

/// From now on a file that becomes another one is an error, also where it is opened anew: a
/// command that reads a file more than once must not mix two.
pub fn keep_versions() {
    KEPT_VERSIONS.get_or_init(Mutex::default);
}

/// Whether it is the address of a file in an archive, and no path.
pub fn is_remote(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

/// Which file an address stands for now: the archive is asked, also where it was a moment ago.
///
/// # Errors
/// When it cannot be read.
pub fn identify(path: &Path) -> Result<FileVersion> {
    Ok(RemoteFile::open_anew(path)?.file_version())
}

/// Fails where a part of the file could not be fetched. Who saves what is whole of a damaged
/// file would take that for damage.
///
/// # Errors
/// With what went wrong.
pub fn require_fetched(path: &Path) -> Result<()> {
    if !is_remote(path) {
        return Ok(());
    }
    interrupt::check()?;
    known_file(path).map_or(Ok(()), |known| known.require_fetched())
}

/// What came of reading a file, unless a part of it could not be fetched: that is no damage.
pub(crate) fn unless_unfetched<T>(path: &Path, outcome: Result<T>) -> Result<T> {
    require_fetched(path)?;
    outcome
}

/// The file that is known of an address.
pub(crate) fn known_file(path: &Path) -> Option<Arc<RemoteFile>> {
    let known = locked(&KNOWN);
    known.iter().find(|known| known.path == path).map(|known| Arc::clone(&known.file))
}

/// A file in an archive.
pub(crate) struct RemoteFile {
    shown: String,
    source: Arc<dyn RangeSource>,
    size: u64,
    version: String,
    /// When the archive told last that this is the file.
    told: Mutex<Instant>,
    state: Mutex<ReadState>,
    /// Why a part of it could not be fetched.
    fault: OnceLock<String>,
}

/// What was fetched.
#[derive(Default)]
struct ReadState {
    blocks: HashMap<u64, Arc<Vec<u8>>>,
    /// In the order in which they came.
    order: VecDeque<u64>,
    /// Where the last piece ended, and how long it was.
    last: (u64, u64),
    /// What is being fetched before it is asked for, by its position.
    ahead: Option<(u64, JoinHandle<Result<Vec<u8>>>)>,
}

impl ReadState {
    /// Keeps the blocks of a piece that begins with one, but not what is half a block.
    fn keep(&mut self, from: u64, bytes: &[u8], size: u64) {
        for (number, block) in bytes.chunks(BLOCK as usize).enumerate() {
            let at = from / BLOCK + number as u64;
            let is_whole = block.len() as u64 == BLOCK.min(size.saturating_sub(at * BLOCK));
            if is_whole && self.blocks.insert(at, Arc::new(block.to_vec())).is_none() {
                self.order.push_back(at);
            }
        }
        while self.order.len() > KEPT {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.blocks.remove(&oldest));
        }
    }
}

impl fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteFile({}, {} bytes)", self.shown, self.size)
    }
}

impl RemoteFile {
    /// Opens a file by its address; the same one as a moment ago.
    pub fn open(path: &Path) -> Result<Arc<RemoteFile>> {
        match known_file(path).filter(|known| known.is_fresh()) {
            Some(known) => Ok(known),
            None => RemoteFile::open_anew(path),
        }
    }

    /// Asks the archive for the file. What was fetched of it before stays, unless it is another
    /// one now.
    fn open_anew(path: &Path) -> Result<Arc<RemoteFile>> {
        let shown = path.display().to_string();
        let Some(opener) = OPENER.get() else {
            bail!(
                "{shown} lies in an archive, which this program does not read; copy it here first"
            );
        };
        let mut file = opener(&shown)
            .and_then(|source| RemoteFile::begin(&shown, source.into()))
            .and_then(|file| file.require_kept(path).map(|()| Arc::new(file)))
            .with_context(|| format!("cannot read {shown}"))?;
        let mut known = locked(&KNOWN);
        let is_kept = |known: &KnownFile| {
            Arc::strong_count(&known.file) > 1 || known.path == path || known.file.is_fresh()
        };
        known.retain(is_kept);
        match known.iter_mut().find(|known| known.path == path) {
            Some(before) if before.file.is_same(&file) => {
                before.file.renew();
                file = Arc::clone(&before.file);
            }
            // Whoever reads the other one keeps it.
            Some(before) => before.file = Arc::clone(&file),
            None => known.push(KnownFile { path: path.to_owned(), file: Arc::clone(&file) }),
        }
        Ok(file)
    }

    /// The first bytes tell the size.
    fn begin(shown: &str, source: Arc<dyn RangeSource>) -> Result<RemoteFile> {
        let first = source.fetch(0, BLOCK)?;
        let mut state = ReadState::default();
        state.keep(0, &first.bytes, first.size);
        state.last = (BLOCK, BLOCK);
        let (shown, state) = (shown.to_owned(), Mutex::new(state));
        let (size, version, told) = (first.size, first.version, Mutex::new(Instant::now()));
        Ok(RemoteFile { shown, source, size, version, told, state, fault: OnceLock::new() })
    }

    /// Which file it is.
    pub fn file_version(&self) -> FileVersion {
        (self.size, self.version.clone())
    }

    /// Whether it is still the file, as the archive told it a moment ago.
    fn is_fresh(&self) -> bool {
        locked(&self.told).elapsed() < FRESH && self.fault.get().is_none()
    }

    /// The archive told that it is still the file.
    fn renew(&self) {
        *locked(&self.told) = Instant::now();
    }

    /// Whether it can be read on in place of one that was opened later. Where the archive tells
    /// no version, nobody knows.
    fn is_same(&self, later: &RemoteFile) -> bool {
        let is_told = !self.version.is_empty() && self.fault.get().is_none();
        is_told && self.file_version() == later.file_version()
    }

    /// Fails where this process has read another file at this address, and must not.
    fn require_kept(&self, path: &Path) -> Result<()> {
        let Some(kept) = KEPT_VERSIONS.get() else { return Ok(()) };
        let mut kept = locked(kept);
        let first = kept.entry(path.to_owned()).or_insert_with(|| self.file_version());
        ensure!(*first == self.file_version(), CHANGED);
        Ok(())
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads at a position, for who reads up to an end.
    pub fn read_at(&self, buffer: &mut [u8], at: u64, end: u64) -> io::Result<usize> {
        let end = end.min(self.size);
        if buffer.is_empty() || at >= end {
            return Ok(0);
        }
        let block = locked(&self.state).blocks.get(&(at / BLOCK)).cloned();
        if let Some(block) = block {
            return (&block[(at % BLOCK) as usize..]).read(buffer);
        }
        let wanted = buffer.len() as u64;
        let outcome = match self.fault.get() {
            Some(fault) => Err(anyhow!("{fault}")),
            None => self.fetch_for(at, end, wanted),
        };
        let (from, bytes) = outcome.map_err(|error| {
            // Whoever was interrupted is no fault of the file.
            if interrupt::check().is_ok() {
                let _ = self.fault.set(format!("{error:#}"));
            }
            io::Error::other(format!("cannot read {}: {error:#}", self.shown))
        })?;
        (&bytes[(at - from) as usize..]).read(buffer)
    }

    /// Fails where a part could not be fetched.
    pub fn require_fetched(&self) -> Result<()> {
        match self.fault.get() {
            Some(fault) => bail!("cannot read {}: {fault}", self.shown),
            None => Ok(()),
        }
    }

    /// Fetches what is read at a position and what is likely to be read behind it; where it
    /// begins, and its bytes.
    fn fetch_for(&self, at: u64, end: u64, wanted: u64) -> Result<(u64, Vec<u8>)> {
        let mut from = at / BLOCK * BLOCK;
        let mut state = locked(&self.state);
        let is_in_order = state.last.0 == from && from > 0;
        let is_small = end - at <= LARGEST;
        let stop = match (is_small, is_in_order) {
            (true, _) => end,
            (_, true) => from + (2 * state.last.1).min(LARGEST),
            (_, false) => at + wanted.min(LARGEST),
        };
        // At the end of a file stands what begins before its last block.
        if end == self.size && end - from < BLOCK && !is_in_order {
            from = from.saturating_sub(BLOCK);
        }
        let stop = (stop.min(end).div_ceil(BLOCK) * BLOCK).min(self.size);
        // What is there already is not fetched again.
        let is_known = |number: &u64| state.blocks.contains_key(number);
        let known = (at / BLOCK + 1..stop.div_ceil(BLOCK)).find(is_known);
        let stop = known.map_or(stop, |number| number * BLOCK);
        let ahead = state.ahead.take_if(|(begun, _)| *begun == from);
        drop(state);
        let bytes = match ahead {
            Some((_, handle)) => handle.join().map_err(|_| anyhow!("a thread failed"))??,
            None => fetch(&*self.source, from, stop - from, &self.file_version())?,
        };
        self.renew();
        let mut state = locked(&self.state);
        state.keep(from, &bytes, self.size);
        let next = from + bytes.len() as u64;
        state.last = (next, bytes.len() as u64);
        let is_worth_it = is_in_order && !is_small && bytes.len() as u64 >= AHEAD;
        if is_worth_it && next < end {
            let (source, version) = (Arc::clone(&self.source), self.file_version());
            let length = LARGEST.min(self.size - next);
            let handle = thread::spawn(move || fetch(&*source, next, length, &version));
            state.ahead = Some((next, handle));
        }
        Ok((from, bytes))
    }
}

/// Fetches a part that is known to be there.
fn fetch(source: &dyn RangeSource, from: u64, length: u64, file: &FileVersion) -> Result<Vec<u8>> {
    let fetched = source.fetch(from, length)?;
    ensure!((fetched.size, fetched.version) == *file, CHANGED);
    if fetched.bytes.len() as u64 != length {
        bail!("{} bytes came in place of {length}; try again", fetched.bytes.len());
    }
    Ok(fetched.bytes)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
