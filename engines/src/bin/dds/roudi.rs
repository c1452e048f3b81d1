//! RouDi, the daemon of iceoryx, which hands out the shared memory that Cyclone uses. A machine has
//! one, with memory of the sizes that it was started with, and whoever uses it is ended with it.
//!
//! So a run has one of its own, unless there is one that somebody else started: that one is used, and
//! left alone. Who comes first starts a guard, and that one RouDi. All participants hold a lock as
//! long as their processes live; when the guard gets it nobody is left, and it has RouDi clean up.
//! Who started the guard waits for it at its end: it would be killed with what a participant leaves
//! behind. Where guard and RouDi are killed, what they leave goes with the run's folder.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, ensure, Context, Result};
use wiregauge_participant::daemon::{end_with_parent, terminate, Signal};
use wiregauge_timing::scratch::{check_shared_memory, OutsideFiles};

/// The daemon.
const PROGRAM: &str = "iox-roudi";
/// The word by which this program is a guard.
pub const GUARD: &str = "--guard-roudi";
/// RouDi's socket, whatever the folder of temporary files is.
const SOCKET: &str = "/tmp/roudi";
/// What it holds as long as it runs.
const LOCK: &str = "/tmp/iox-unique-roudi.lock";
/// How the sockets of its users begin, before the number of the process.
const USER_SOCKET: &str = "/tmp/iceoryx_rt_";
/// What RouDi leaves when it is killed, besides the memory of samples.
const LEFT: [&str; 4] = ["/dev/shm/iceoryx_mgmt", SOCKET, "/tmp/roudi.lock", LOCK];
/// Where the memory of samples lies.
const MEMORY_FOLDER: &str = "/dev/shm/";
/// How the memory of samples is told of.
const MEMORY_LINE: &str = "in the shared memory [";
/// What a run has while its RouDi runs.
const TURN: &str = "wiregauge-roudi";
/// What a guard says where somebody else's runs.
const RUNS_ALREADY: &str = "it runs already";
/// What it says when it is there.
const READY_LINE: &str = "RouDi is ready for clients";

/// In the run's folder: what one of the participants holds that looks for a RouDi;
const SEARCH: &str = "roudi.search";
/// that there is one, for samples of which size;
const FOUND: &str = "roudi.found";
/// what it says;
const LOG: &str = "roudi.log";
/// and its configuration, by whose name runs know each other's.
const CONFIGURATION: &str = "wiregauge-roudi.toml";

/// How long a run waits for the RouDi of another run to go.
const OTHERS_PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to start. It fills all its memory.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to end. It waits a second for those of its users that were killed.
const END_PATIENCE: Duration = Duration::from_secs(10);
/// What it waits for them at most, in seconds.
const KILL_DELAY: &str = "1";
/// From one look to the next.
const PAUSE: Duration = Duration::from_millis(10);

/// Shared memory for samples: so many of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Of a sample, in bytes.
    pub size: usize,
    /// Samples that there may be at a time.
    pub count: usize,
}

/// Bytes that a sample takes besides, for Cyclone's header and iceoryx's.
const OVERHEAD: usize = 256;
/// RouDi's memory besides that of samples, in bytes.
const MANAGEMENT: u64 = 80 << 20;

impl Pool {
    /// A sample with what goes with it, in bytes.
    fn chunk(self) -> usize {
        (self.size + OVERHEAD).next_multiple_of(64)
    }

    /// Whether chunks of these sizes, so many of each, do: a sample gets one of the smallest that
    /// it fits into.
    fn check(self, pools: &[[usize; 2]]) -> Result<()> {
        let fitting = pools.iter().filter(|[size, _]| *size >= self.chunk());
        let [size, count] = fitting.min().copied().unwrap_or_default();
        ensure!(
            count >= self.count,
            "the RouDi of iceoryx that runs on this machine has {} for samples of {} B: end it, and \
             the run starts its own, or start it with {} chunks of {} B",
            match size {
                0 => "no memory".into(),
                _ => format!("{count} chunks"),
            },
            self.size,
            self.count,
            self.chunk()
        );
        Ok(())
    }

    /// Whether it is for samples of the size that the run has memory for.
    fn check_same(self, size: usize) -> Result<()> {
        ensure!(
            self.size == size,
            "samples of a run in RouDi's memory have one size, but there are some of {size} B and \
             of {} B",
            self.size
        );
        Ok(())
    }

    fn configuration(self) -> String {
        format!(
            "[general]\nversion = 1\n\n[[segment]]\n\n[[segment.mempool]]\nsize = {}\ncount = {}\n",
            self.chunk(),
            self.count
        )
    }
}

/// What is held to the end of this process: whoever gave it up before could be ended by a RouDi that
/// ends.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

struct Held {
    pool: Pool,
    users: OutsideFiles,
    /// Where this process started it.
    guard: Option<Child>,
}

extern "C" {
    fn atexit(call: extern "C" fn()) -> std::ffi::c_int;
}

/// Gives up what this process holds at its very end: what is asked for first comes last, behind
/// what iceoryx does then.
pub fn leave_at_exit() {
    // SAFETY: the function takes and gives nothing, and does not panic.
    unsafe { atexit(leave) };
}

extern "C" fn leave() {
    // Another thread may be at it as this process is ended.
    let held = HELD.try_lock().ok().and_then(|mut held| held.take());
    if let Some(Held { users, guard, .. }) = held {
        drop(users);
        if let Some(mut guard) = guard {
            let _ = guard.wait();
        }
    }
}

/// Makes sure that there is a RouDi with memory for these samples, from now to the end of this
/// process. The run has this folder.
///
/// # Errors
/// When it is not installed, there is no memory, or one runs that has none for such samples.
pub fn join(scratch: Option<&Path>, pool: Pool) -> Result<()> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = &*held {
        return pool.check_same(held.pool.size);
    }
    let scratch = scratch.context("way=memory is for runs on the machine of the conductor")?;
    let users = OutsideFiles::hold(scratch)?;
    users.add(&format!("{USER_SOCKET}{}_*", std::process::id()), None)?;
    let search = File::create(scratch.join(SEARCH))?;
    search.lock()?;
    let mut guard = None;
    match fs::read_to_string(scratch.join(FOUND)) {
        Ok(size) => pool.check_same(size.parse()?)?,
        Err(_) => {
            guard = find_or_start(scratch, pool)?;
            fs::write(scratch.join(FOUND), pool.size.to_string())?;
        }
    }
    *held = Some(Held { pool, users, guard });
    Ok(())
}

/// The guard, where one had to be started.
fn find_or_start(scratch: &Path, pool: Pool) -> Result<Option<Child>> {
    if !is_running()? {
        check_shared_memory((pool.chunk() * pool.count) as u64 + MANAGEMENT)?;
    }
    fs::write(scratch.join(CONFIGURATION), pool.configuration())?;
    let guard = start_guard(scratch)?;
    if guard.is_none() {
        pool.check(&running_pools()?)?;
    }
    Ok(guard)
}

/// A name that one run has at a time: the kernel takes it back however its owner ends.
fn take_turn() -> Result<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(TURN)?;
    let deadline = Instant::now() + OTHERS_PATIENCE;
    loop {
        match UnixDatagram::bind_addr(&name) {
            Ok(turn) => return Ok(turn),
            Err(error) if error.kind() == ErrorKind::AddrInUse => ensure!(
                Instant::now() < deadline,
                "another run of wiregauge uses iceoryx's RouDi, of which a machine has one; wait \
                 until it is over"
            ),
            Err(error) => return Err(error.into()),
        }
        thread::sleep(PAUSE);
    }
}

/// Whether there is one, whoever started it.
fn is_running() -> Result<bool> {
    match UnixDatagram::unbound()?.connect(SOCKET) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => bail!(
            "the RouDi of iceoryx that runs on this machine is another user's, and a machine has \
             one: end it, or use dds"
        ),
        // None, or the socket of one that was killed.
        Err(_) => Ok(false),
    }
}

/// Where its configuration is where it is not told.
const USUAL_CONFIGURATION: &str = "/etc/iceoryx/roudi_config.toml";
/// What it has where that is not there either.
const USUAL_POOLS: [[usize; 2]; 7] = [
    [128, 10_000],
    [1024, 5000],
    [16_384, 1000],
    [131_072, 200],
    [524_288, 50],
    [1_048_576, 30],
    [4_194_304, 10],
];

/// Why one cannot be used.
const UNKNOWN: &str =
    "a RouDi of iceoryx runs on this machine that is not iox-roudi with one segment \
                       of memory: end it, and the run starts its own";

/// Where the configuration of the RouDi that runs is, and whether its command line says so.
fn running_configuration() -> Result<(PathBuf, bool)> {
    let entries = fs::read_dir("/proc")?.flatten();
    let found = entries.filter_map(|process| {
        let words = fs::read(process.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        let is_roudi = words.split('\0').next()?.rsplit('/').next() == Some(PROGRAM);
        is_roudi.then_some((process.path(), words))
    });
    let (process, words) = found.last().context(UNKNOWN)?;
    let mut words = words.split('\0').skip_while(|word| {
        *word != "-c" && *word != "--config-file" && !word.starts_with("--config-file=")
    });
    let told = words.next().and_then(|word| match word.split_once('=') {
        Some((_, path)) => Some(path),
        None => words.next(),
    });
    let path = process.join("cwd").join(told.unwrap_or(USUAL_CONFIGURATION));
    Ok((path, told.is_some()))
}

/// Sizes of its chunks, and how many there are of each. They are looked up, as iceoryx ends a program
/// that asks for a larger one.
fn running_pools() -> Result<Vec<[usize; 2]>> {
    let (path, is_told) = running_configuration()?;
    match fs::read_to_string(&path) {
        Ok(text) => pools(&text).context(UNKNOWN),
        Err(_) if !is_told => Ok(USUAL_POOLS.to_vec()),
        Err(error) => bail!("{UNKNOWN}; {}: {error}", path.display()),
    }
}

/// Chunks of the only segment of a configuration.
fn pools(text: &str) -> Option<Vec<[usize; 2]>> {
    let (mut segments, mut pools) = (0, Vec::new());
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        match line.split_once('=').map(|(key, value)| (key.trim(), value.trim().parse().ok())) {
            None if line == "[[segment]]" => segments += 1,
            None if line == "[[segment.mempool]]" => pools.push([0; 2]),
            Some(("size", size)) => pools.last_mut()?[0] = size?,
            Some(("count", count)) => pools.last_mut()?[1] = count?,
            _ => {}
        }
    }
    (segments == 1).then_some(pools)
}

/// The guard, unless a RouDi runs already.
fn start_guard(scratch: &Path) -> Result<Option<Child>> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(GUARD).arg(scratch).stdin(Stdio::null()).stderr(Stdio::null());
    // It outlives those who are killed, and what is sent to their group.
    command.stdout(Stdio::piped()).process_group(0);
    let mut guard = command.spawn().context("cannot start the guard of RouDi")?;
    let mut said = String::new();
    let output = guard.stdout.take().context("no output")?;
    BufReader::new(output).read_line(&mut said)?;
    if said.trim() == READY_LINE {
        return Ok(Some(guard));
    }
    guard.wait()?;
    match said.trim() {
        RUNS_ALREADY => Ok(None),
        why => bail!("{why}"),
    }
}

/// Starts RouDi for the run with this folder, says so or why not in a line, and ends it once
/// nobody uses it any more.
pub fn guard(scratch: &Path) -> ExitCode {
    match RouDi::start(scratch) {
        Ok(Some(roudi)) => {
            println!("{READY_LINE}");
            // Waits until the last of them is gone.
            let _ = roudi.users.await_last();
            roudi.end();
        }
        Ok(None) => println!("{RUNS_ALREADY}"),
        Err(error) => println!("{}", format!("{error:#}").replace('\n', " ")),
    }
    ExitCode::SUCCESS
}

struct RouDi {
    child: Child,
    users: OutsideFiles,
    log: PathBuf,
    _turn: UnixDatagram,
}

impl RouDi {
    /// The run's own, unless there is one already that is nobody's who takes turns.
    fn start(scratch: &Path) -> Result<Option<RouDi>> {
        let turn = take_turn()?;
        let deadline = Instant::now() + END_PATIENCE;
        while is_running()? {
            // One whose guard was killed is about to end.
            let ends = running_configuration().is_ok_and(|(path, _)| path.ends_with(CONFIGURATION));
            if !ends || Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
        let users = OutsideFiles::open(scratch)?;
        for path in LEFT {
            users.add(path, Some(LOCK))?;
        }
        let path = scratch.join(LOG);
        let log = File::create(&path)?;
        let mut command = Command::new(PROGRAM);
        command.arg("-c").arg(scratch.join(CONFIGURATION)).args(["-k", KILL_DELAY]);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // SAFETY: it only asks the system for a signal.
        unsafe { command.pre_exec(end_with_parent(std::process::id(), Signal::Terminate)) };
        let child = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => anyhow!("{PROGRAM} is not installed; apt-get install iceoryx"),
            _ => anyhow!("cannot start {PROGRAM}: {error}"),
        })?;
        let mut roudi = RouDi { child, users, log: path, _turn: turn };
        match roudi.wait_until_ready() {
            Ok(()) => Ok(Some(roudi)),
            Err(error) => {
                roudi.end();
                Err(error)
            }
        }
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + START_PATIENCE;
        loop {
            let ended = self.child.try_wait()?;
            let said = fs::read_to_string(&self.log)?;
            if said.contains(READY_LINE) {
                return self.note_memory(&said);
            }
            if ended.is_some() || Instant::now() >= deadline {
                let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
                bail!("{PROGRAM} does not start; it says last: {last}");
            }
            thread::sleep(PAUSE);
        }
    }

    /// The memory of samples has the name of the user's group.
    fn note_memory(&self, said: &str) -> Result<()> {
        let lines = said.lines().filter_map(|line| line.split_once(MEMORY_LINE));
        for (name, _) in lines.filter_map(|(_, name)| name.split_once(']')) {
            self.users.add(&format!("{MEMORY_FOLDER}{name}"), Some(LOCK))?;
        }
        Ok(())
    }

    /// Has it end, and removes what it and its users did not.
    fn end(mut self) {
        let _ = terminate(&mut self.child, END_PATIENCE);
        self.users.remove();
    }
}
