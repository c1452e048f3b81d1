//! Ctrl-C while a file is read: Python's handlers of signals run a few times a second, and
//! what they raise ends the reading.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use wiregauge_system::interrupt;

/// How long a request may wait.
const PATIENCE: Duration = Duration::from_millis(50);

thread_local! {
    static ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
    static IS_IGNORED: Cell<bool> = const { Cell::new(false) };
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Lets whoever reads notice that the user asked to stop.
pub fn listen() {
    interrupt::listen_to(is_raised);
}

/// Lets this thread never ask: one of our own for which another thread waits, which may have
/// Python's lock.
pub fn ignore_in_this_thread() {
    IS_IGNORED.set(true);
}

/// What a handler of signals raised in this thread; once.
pub fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

/// Whether Python runs in this thread. It does not in those that unpack or fetch what comes next:
/// another thread waits for them, which may have Python's lock.
fn is_known_to_python() -> bool {
    // SAFETY: it reads a variable of this thread, for which nobody needs Python's lock; Python
    // was initialized before it loaded us.
    !unsafe { ffi::PyGILState_GetThisThreadState() }.is_null()
}

/// Lets Python's handlers run, now and then; whether one raised something. Outside of the
/// main thread none does.
fn is_raised() -> bool {
    if IS_IGNORED.get() || !is_known_to_python() {
        return false;
    }
    let now = Instant::now();
    let asked = ASKED.get();
    if asked.is_none_or(|asked| now - asked < PATIENCE) {
        if asked.is_none() {
            ASKED.set(Some(now));
        }
        return false;
    }
    ASKED.set(Some(now));
    match Python::attach(|python| python.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            RAISED.set(Some(error));
            true
        }
    }
}
