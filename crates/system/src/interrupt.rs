//! Ctrl-C. The first one is a request: whoever waits for a runner notices
//! within a tenth of a second and returns an error, so that everything
//! unwinds, children are killed and temporary folders go away. The second one
//! ends the program at once.

use std::fmt;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::group;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Who else knows of a request to stop.
static SOURCE: OnceLock<fn() -> bool> = OnceLock::new();

/// The user asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Listens for SIGINT, SIGTERM and SIGHUP from now on. Call it once, early in
/// `main`; further calls do nothing. Where SIGHUP is ignored, it stays so: `nohup` starts
/// programs that go on when the terminal is closed.
///
/// # Errors
/// When the system refuses the handlers.
pub fn install() -> io::Result<()> {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    if INSTALLED.set(()).is_err() {
        return Ok(());
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    // A thread instead of work in the handler: here locks may be taken.
    thread::Builder::new().name("interrupt".into()).spawn(move || {
        for signal in signals.forever() {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                group::kill_all();
                // Without at-exit hooks, which may be what hangs.
                signal_hook::low_level::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// Whether whoever started us wanted us not to notice this signal. Where the system does not
/// tell, we take it that nobody did.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Also asks this function from now on whether the user asked to stop: in the program of
/// others, whose handlers of signals are their own. It is asked for each message that is
/// read, so it must answer within nanoseconds. Further calls do nothing.
pub fn listen_to(source: fn() -> bool) {
    let _ = SOURCE.set(source);
}

/// Whether the user asked to stop.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed) || SOURCE.get().is_some_and(|source| source())
}

/// Returns an error once the user asked to stop; for loops that do not wait
/// for a process: `interrupt::check()?`.
///
/// # Errors
/// [`Interrupted`], and nothing else.
pub fn check() -> Result<(), Interrupted> {
    if interrupted() {
        Err(Interrupted)
    } else {
        Ok(())
    }
}
